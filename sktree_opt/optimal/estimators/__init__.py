"""The public estimators: they check what they are given, call ``run`` and keep attributes.

Problem: each estimator is a question with scikit-learn's ``fit`` and ``predict``; ``run`` decides
which search answers it. Read the files in this order:

- ``_base.py``: the parameters that all share, the steps of a fit, and how its result is kept.
- ``_classifier.py``, ``_regressor.py``: one optimal tree.
- ``_optimal_path.py``: the optimum for every depth and number of leaves.
- ``_tree_set.py``, ``_tree_set_classifier.py``, ``_tree_set_regressor.py``: many good trees;
  ``_tree_set_conditions.py``, what is asked of them.
- ``_cv.py``, ``_cv_classifier.py``, ``_cv_regressor.py``: parameters that predict best in
  cross-validation; ``_cv_grid.py``, which are tried; ``_cv_folds.py``, the searches.
- ``queries/``: the smallest tree that is good enough, and the best one that treats groups alike.

Terms: the *grid* is all combinations of parameters that are tried. A *set* is a sequence of fitted
trees, the best one first.
"""
