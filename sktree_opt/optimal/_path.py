"""The optimum for every depth and number of splits, out of one search."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from sktree_opt.optimal._classifier import OptimalTreeClassifier
from sktree_opt.optimal._queries import Solver, lower_hull, solve_path
from sktree_opt.optimal._questions import is_metric


def optimal_path(X, y, *, max_depth=3, max_splits=None, sample_weight=None, **params):
    """Find the optimal tree for every depth, number of tests and complexity cost.

    All searches share one cache, so that the whole table costs little more than its last entry.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
        The rows.

    y : array-like of shape (n_samples,)
        Class labels.

    max_depth : int, default=3
        Largest depth.

    max_splits : int or None, default=None
        Largest number of tests; None for as many as `max_depth` allows.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; None for equal ones.

    **params : dict
        Other parameters of :class:`OptimalTreeClassifier`: a sum over leaves as `objective`,
        `min_samples_leaf`, `time_limit` and so on, but no `complexity_cost`, since the path has the
        trees for all of them.

    Returns
    -------
    path : Bunch
        ``objectives``, ndarray of shape (max_depth + 1, max_splits + 1): objective of the best tree
        with at most that depth and that number of tests; ``tree_index``, of the same shape: its
        place in ``trees``, a list of Tree, each under the least limits that reach its objective;
        ``complexity_costs`` and ``complexity_tree_index``: within `max_depth`, which tree is best
        for costs from each entry up to the next one; ``status``: "optimal" if all is proved.

    See Also
    --------
    OptimalTreeClassifierCV : Chooses depth and number of tests by cross-validation.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree", JMLR 23, 2022, sections 4.5.5 and 4.8.3.
    .. [2] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007, Figure 11.

    Examples
    --------
    >>> from sktree_opt.optimal import optimal_path
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> path = optimal_path(X, [0, 1, 1, 0], max_depth=2)
    >>> path.objectives[2]
    array([2., 2., 1., 0.])
    """
    model = OptimalTreeClassifier(max_depth=max_depth, max_splits=max_splits, **params)
    path, _ = path_of(model, X, y, sample_weight)
    if path.status != "optimal":
        warnings.warn(
            f"The search ended by {path.status} before the whole path was proved.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return path


def path_of(model, X, y, sample_weight=None):
    """Path of an unfitted classifier, and the classifier fitted but for its tree."""
    model._validate_params()
    if is_metric(model.objective):
        raise ValueError(f"A path needs a sum over leaves, not objective={model.objective!r}.")
    if model.complexity_cost:
        raise ValueError("A path has the trees for every complexity_cost; leave it at 0.")
    problem = model._prepare(
        X,
        y,
        sample_weight,
        is_classifier=True,
        class_weight=model.class_weight,
        all_thresholds=False,
    )
    limits, control = problem.limits, problem.control()
    solver = Solver(problem.engine(control), 0.0, limits.n_threads)
    found = solve_path(solver, limits.max_depth, limits.max_splits)
    control.raise_pending()
    trees = [model._make_tree(problem, answer.nodes)[0] for answer in found.answers]
    index = found.tree_index
    n_splits, costs = lower_hull(found.costs[-1])
    path = Bunch(
        objectives=problem.in_units(found.costs),
        tree_index=index,
        trees=trees,
        complexity_costs=problem.leaf_form.scale * costs / problem.data.weights.sum(),
        complexity_tree_index=index[-1, n_splits],
        status=control.status,
    )
    model.status_ = control.status
    model._answers = None
    return path, model


def with_tree(model, tree):
    """Let a classifier from ``path_of`` predict by another tree."""
    model.tree_ = tree
    return model


def least_limits(path, index):
    """Least depth and number of tests under which a tree is the optimum."""
    depth, splits = np.argwhere(path.tree_index == index)[0]
    return int(depth), int(splits)
