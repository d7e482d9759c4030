"""The optimum for every depth and number of splits, out of one search."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.optimal.objectives._leaf_objectives import REGRESSION_OBJECTIVES
from sktree_opt.optimal.run._driver import deepen
from sktree_opt.optimal.run._first_look import go_down, known_trees
from sktree_opt.optimal.run._floors import may_stop
from sktree_opt.optimal.run._queries import Solver, lower_hull, solve_path
from sktree_opt.optimal.run._questions import is_metric
from sktree_opt.optimal.run._solver import ThresholdSolver
from sktree_opt.optimal.run._table_search import few_thresholds
from sktree_opt.utils._typing import TableLike

# Of a time limit, at most, for making the trees; what one place of the table takes, in seconds.
READING_SHARE, READING_SECONDS = 0.25, 2e-5

# What a path cannot do, by parameter.
PLAIN = {
    "ranking": None,
    "max_error": None,
    "n_trees": 1,
    "warm_start": False,
    "initial_tree": None,
}


def optimal_path(
    X: TableLike,
    y: ArrayLike,
    *,
    max_depth: int = 3,
    max_splits: int | None = None,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> Bunch:
    """Find the optimal tree for every depth, number of tests and complexity cost.

    All searches share one cache, so that the whole table costs little more than its last entry.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
        The rows.

    y : array-like of shape (n_samples,)
        Class labels, or targets with ``objective="squared_error"``.

    max_depth : int, default=3
        Largest depth.

    max_splits : int or None, default=None
        Largest number of tests; None for as many as `max_depth` allows.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights; None for equal ones.

    **params : dict
        Other parameters of :class:`OptimalTreeClassifier` or, with ``objective="squared_error"``,
        of :class:`OptimalTreeRegressor`: a sum over leaves as `objective`, `min_samples_leaf`,
        `time_limit` and so on, but no `complexity_cost`, since the path has the trees for all of
        them.

    Returns
    -------
    path : Bunch
        ``objectives``, ndarray of shape (max_depth + 1, max_splits + 1): objective of the best tree
        with at most that depth and that number of tests; ``lower_bounds``, of the same shape: no
        such tree has a smaller objective; ``tree_index``, of the same shape: the tree's place in
        ``trees``, a list of Tree, each under the least limits that reach its objective;
        ``complexity_costs`` and ``complexity_tree_index``: within `max_depth`, which tree is best
        for costs from each entry up to the next one; ``status``: "optimal" if all is proved;
        ``search_stats``: counters of the search. A search that is stopped fills the rest with the
        best trees it knows.

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
    is_regression = params.get("objective") in REGRESSION_OBJECTIVES
    estimator = OptimalTreeRegressor if is_regression else OptimalTreeClassifier
    model = estimator(max_depth=max_depth, max_splits=max_splits, **params)
    path, _ = path_of(model, X, y, sample_weight)
    if path.status != "optimal":
        warnings.warn(
            f"The search ended by {path.status} before the whole path was proved.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return path


def path_of(model, X, y, sample_weight=None):
    """Path of an unfitted estimator, and the estimator fitted but for its tree."""
    check_path(model)
    problem = model._prepare(
        X,
        y,
        sample_weight,
        is_classifier=is_classifier(model),
        class_weight=getattr(model, "class_weight", None),
        prefers_tests=True,
    )
    limits, control = problem.limits, problem.control()
    n_places = (limits.max_depth + 1) * (limits.max_splits + 1)
    control.keep_back(min(READING_SHARE * (limits.time_limit or 0.0), n_places * READING_SECONDS))
    solver, first_look = solver_of(problem, control)
    has_look = limits.max_depth > 2 and limits.max_splits > 2 and may_stop(problem)
    found = solve_path(
        solver, limits.max_depth, limits.max_splits, look=first_look if has_look else None
    )
    control.raise_pending()
    model.status_ = control.status
    made = [model._make_tree(problem, answer.nodes) for answer in found.answers]
    stats = solver.stats | {"seconds": control.seconds}
    return bunch_of(problem, found, *zip(*made, strict=True), control.status, stats), model


def check_path(model):
    """Refuse parameters that a path has no use for."""
    model._validate_params()
    if is_metric(model.objective):
        raise ValueError(f"A path needs a sum over leaves, not objective={model.objective!r}.")
    if model.complexity_cost:
        raise ValueError("A path has the trees for every complexity_cost; leave it at 0.")
    for name, value in PLAIN.items():
        if getattr(model, name, value) != value:
            raise ValueError(f"A path has no use for {name}={getattr(model, name)!r}.")


def solver_of(problem, control):
    """What finds each tree of a path, and what looks for good ones before."""
    if problem.table is not None:
        solver = ThresholdSolver(problem, control)
        solve = few_solver(problem, control, solver) or solver.solve
        return solver, partial(known_trees, problem, control, solve, keeps_all=False)
    engine = problem.engine(control)
    solver = Solver(
        engine,
        0.0,
        partial(deepen, problem, control, engine),
        partial(go_down, problem, control, engine),
    )
    with_dives = partial(solver.solve, dives=True)
    return solver, partial(known_trees, problem, control, with_dives, keeps_all=True)


def few_solver(problem, control, solver):
    """What looks for good trees among the tests of few thresholds; None where that has no use."""
    n_thresholds = few_thresholds(problem)[1]
    if n_thresholds == 0:
        return None
    few = replace(problem, tests=problem.few_tests.make(n_thresholds), table=None)
    engine = few.engine(control)
    few_solver = Solver(engine, 0.0, go_down=partial(go_down, few, control, engine))

    def solve(max_depth, max_splits):
        answer = few_solver.solve(max_depth, max_splits, dives=True)
        nodes = answer.nodes.copy()
        nodes[nodes[:, 0] >= 0, 0] += solver.append(few.tests)
        return replace(answer, nodes=nodes)

    return solve


def bunch_of(problem, found, trees, tree_costs, status, stats):
    """A path as ``optimal_path`` returns it."""
    index = found.tree_index
    n_splits, costs = lower_hull(found.costs[-1])
    # Of the trees themselves, whose sums an engine rounds otherwise.
    objectives = np.array(tree_costs)[index]
    is_proved = found.lower_bounds >= found.costs
    bounds = np.minimum(problem.in_units(found.lower_bounds), objectives)
    return Bunch(
        objectives=objectives,
        lower_bounds=np.where(is_proved, objectives, bounds),
        tree_index=index,
        trees=list(trees),
        complexity_costs=problem.leaf_form.scale * costs / problem.data.weights.sum(),
        complexity_tree_index=index[-1, n_splits],
        status=status,
        search_stats=stats,
    )


def with_tree(model, tree):
    """Let a classifier from ``path_of`` predict by another tree."""
    model.tree_ = tree
    return model
