"""The optimum for every depth and number of leaves, out of one search."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch

from sktree_opt.optimal.estimators._base import class_problem, new_control, target_problem
from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run._session import Session
from sktree_opt.optimal.run.queries._path import find_path
from sktree_opt.utils._params import warn_of_limit
from sktree_opt.utils._typing import TableLike


def optimal_path(
    estimator: OptimalTreeClassifier | OptimalTreeRegressor,
    X: TableLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> Bunch:
    """Find the optimal tree for every depth, number of leaves and complexity cost.

    All searches share one cache, so that the whole table costs little more than its last entry.

    Read more in the :ref:`User Guide <optimal_paths>`.

    Parameters
    ----------
    estimator : OptimalTreeClassifier or OptimalTreeRegressor
        Its parameters are those of the trees, its `max_depth` and `max_leaf_nodes` the largest that
        are tried. Its `complexity_cost` must be 0, because the path has the trees for all of them.
        It is not fitted.

    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
        The rows.

    y : array-like of shape (n_samples,)
        Class labels or targets.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; None for equal ones.

    Returns
    -------
    path : Bunch
        ``objectives``, ndarray of shape (max_depth + 1, max_leaf_nodes): entry ``[d, k]`` is the
        objective of the best tree of at most depth `d` with at most ``k + 1`` leaves;
        ``lower_bounds``, of the same shape: no such tree has a smaller objective; ``tree_index``,
        of the same shape: the tree's place in ``trees``, a list of Tree, each under the least
        limits that reach its objective; ``answers``, a list of the same length: for a metric, the
        class that each node of the tree answers, otherwise None; ``complexity_costs`` and
        ``complexity_tree_index``: within `max_depth`, which tree is best for costs from each entry
        up to the next one; ``status``: "optimal" if all is proved; ``search_stats``: counters of
        the search. A search that is stopped fills the rest with the best trees it knows.

    See Also
    --------
    OptimalTreeClassifierCV : Chooses depth and number of leaves by cross-validation.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree", JMLR 23, 2022, sections 4.5.5 and 4.8.3.
    .. [2] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007, Figure 11.

    Examples
    --------
    >>> from sktree_opt import OptimalTreeClassifier, optimal_path
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> path = optimal_path(OptimalTreeClassifier(max_depth=2), X, [0, 1, 1, 0])
    >>> path.objectives[2]
    array([2., 2., 1., 0.])
    """
    if not isinstance(estimator, OptimalTreeClassifier | OptimalTreeRegressor):
        raise TypeError(
            "estimator must be an OptimalTreeClassifier or an OptimalTreeRegressor, got "
            f"{estimator!r}."
        )
    model = clone(estimator)
    path = path_of(model, X, y, sample_weight)
    found = "Trees of the path that were not proved to be optimal are the best ones found."
    warn_of_limit(model, path.status, found)
    return path


def path_of(model, X, y, sample_weight=None, interrupt=None):
    """The path of an unfitted estimator, which is then fitted except for its tree.

    Parameters
    ----------
    model : estimator

    X, y, sample_weight
        As of ``fit``.

    interrupt : HeldInterrupt or None
        Ctrl-C, where a search that is stopped is worth something.
    """
    refuse_what_paths_lack(model)
    session = Session(new_control(model), interrupt)
    if is_classifier(model):
        problem = class_problem(model, X, y, sample_weight)
    else:
        problem = target_problem(model, X, y, sample_weight, model.objective)
    plan = make_plan(
        problem,
        session,
        thresholds=model.thresholds,
        categorical_splits=model.categorical_splits,
        sums_one_tree=problem.objective.metric is None,
        prefers_tests=True,
    )
    model.optimality_scope_ = plan.scope()
    session.begin()
    return find_path(plan, session)


def refuse_what_paths_lack(model):
    """Refuse parameters that a path has no use for."""
    model._validate_params()
    if model.complexity_cost:
        raise ValueError(
            "complexity_cost must be 0, because a path has the trees for every complexity_cost, "
            f"got {model.complexity_cost!r}."
        )
    for name in ("warm_start", "checkpoint"):
        if getattr(model, name):
            raise ValueError(f"{name} is not supported by optimal_path.")
