"""The objectives of a search: costs of leaves, and metrics of two classes.

- ``_leaf_objectives.py``: one class and one line of a registry for each objective.
- ``objectives.hpp``: the scores of leaves, for the kernels; ``scores.hpp``: their names.
- ``_metrics.py``: metrics that are not sums over leaves.
- ``_for_data.py``: an objective together with the rows of a fit.
- ``_forest_targets.py``: the answers of a forest, which may take the place of the given targets.
"""
