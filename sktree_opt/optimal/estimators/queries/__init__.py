"""Estimators that answer questions with several limits (see ``run.queries``).

- ``_smallest_tree.py``, ``_smallest_tree_regressor.py``: the smallest tree that is good enough, in
  any order of error, size and depth.
- ``_fair_tree.py``: the best tree whose answers differ little between groups; ``_rates.py``, the
  rates that are compared.
"""
