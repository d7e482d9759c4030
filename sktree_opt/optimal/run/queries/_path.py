"""The optimum for every depth and number of splits, and so for every cost of a test."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.utils import Bunch

from sktree_opt.optimal.run._bits_solver import Answer, BitsSolver, at_most, n_useful_splits
from sktree_opt.optimal.run._fallback import known_trees, number_of_few_thresholds
from sktree_opt.optimal.run._metric import find_places_by_metric
from sktree_opt.optimal.run._thresholds_solver import ThresholdsSolver
from sktree_opt.optimal.run._trees import fitted_attributes, tree_and_objective
from sktree_opt.optimal.tree_sets._bit_rows import nodes_from_preorder

# Seconds that it takes to make the tree of one place of the table.
READING_SECONDS = 2e-5


def find_path(plan, session):
    """Find the optimum for every depth and number of splits.

    Parameters
    ----------
    plan : Plan

    session : Session

    Returns
    -------
    path : Bunch
        As ``optimal_path`` returns it.
    """
    problem, limits = plan.problem, plan.problem.limits
    if problem.objective.metric is not None:
        return find_path_by_metric(plan, session)
    session.keep_back((limits.max_depth + 1) * (limits.max_splits + 1) * READING_SECONDS)
    if plan.engine == "bits":
        solver = BitsSolver(problem, plan.tests, session)
        solve = partial(solver.solve, by_discrepancy=True)
    else:
        solver = ThresholdsSolver(plan, session)
        solve = solve_few_thresholds(plan, session) or solver.solve
    find_known = None
    if limits.max_depth > 2 and limits.max_splits > 2 and session.may_stop(limits):
        # What the bits engine finds stays in the cache of its later searches.
        find_known = partial(known_trees, problem, session, solve, keeps_all=plan.engine == "bits")
    found = solve_path(solver, limits.max_depth, limits.max_splits, find_known=find_known)
    session.control.raise_pending()
    stats = solver.stats | {"seconds": session.control.seconds}
    return bunch_of(problem, found, session.control.status, stats)


def solve_few_thresholds(plan, session):
    """What looks for good trees among the tests of few thresholds; None where it has no use."""
    n_thresholds = number_of_few_thresholds(plan, session)[1]
    if n_thresholds == 0:
        return None
    solver = BitsSolver(plan.problem, plan.few_tests.make(n_thresholds), session)
    return partial(solver.solve, by_discrepancy=True)


def find_path_by_metric(plan, session):
    """The path of a metric, whose trees are not sums over leaves."""
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    depth, splits = limits.max_depth, limits.max_splits
    places, stats = find_places_by_metric(plan, session)
    session.control.raise_pending()
    status, seconds = session.control.status, session.control.seconds
    found = list({id(one): one for one in places.values()}.values())
    place_of = {id(one): k for k, one in enumerate(found)}
    shape = (depth + 1, splits + 1)
    index = np.array([place_of[id(places[at])] for at in np.ndindex(shape)]).reshape(shape)
    objectives = np.array([one.objective for one in found])[index]
    bound = objectives if status == "optimal" else np.full(shape, found[0].lower_bound)
    n_splits, costs = lower_hull(objectives[-1])
    fitted = [
        fitted_attributes(problem, tests, nodes_from_preorder(one.columns), one.answers)
        for one in found
    ]
    return Bunch(
        objectives=objectives,
        lower_bounds=bound,
        tree_index=index,
        trees=[one["tree_"] for one in fitted],
        answers=[one["_answers"] for one in fitted],
        complexity_costs=costs,
        complexity_tree_index=index[-1, n_splits],
        status=status,
        search_stats=stats | {"seconds": seconds},
    )


def bunch_of(problem, found, status, stats):
    """A path as ``optimal_path`` returns it."""
    trees, tree_costs = zip(
        *(tree_and_objective(problem, one.tests, one.nodes) for one in found.answers), strict=True
    )
    index = found.tree_index
    n_splits, costs = lower_hull(found.costs[-1])
    # The trees' own objectives, because engines round their sums in another way.
    objectives = np.array(tree_costs)[index]
    is_proved = found.lower_bounds >= found.costs
    bounds = np.minimum(problem.in_units(found.lower_bounds), objectives)
    return Bunch(
        objectives=objectives,
        lower_bounds=np.where(is_proved, objectives, bounds),
        tree_index=index,
        trees=list(trees),
        answers=[None] * len(trees),
        complexity_costs=problem.form.scale * costs / problem.data.weights.sum(),
        complexity_tree_index=index[-1, n_splits],
        status=status,
        search_stats=stats,
    )


@dataclass
class Path:
    """Optima for every depth and number of splits.

    Attributes
    ----------
    costs : ndarray of shape (max_depth + 1, max_splits + 1)
        Cost of the optimum with at most that depth and so many splits, without costs of splits.

    tree_index : ndarray of int64, same shape
        Its place in `answers`.

    lower_bounds : ndarray of float64, same shape
        No tree within these limits costs less.

    answers : list of Answer
        Each tree once, under the least limits that reach its cost.

    is_proved : bool
        Whether the whole table is.
    """

    costs: np.ndarray
    tree_index: np.ndarray
    lower_bounds: np.ndarray
    answers: list = field(default_factory=list)
    is_proved: bool = True


def solve_path(solver, max_depth, max_splits, least_cost=0.0, find_known=None):
    """Optima for every depth and number of splits, each search within the last one's bound.

    A larger limit is searched only for trees below the cost that a smaller limit reaches. Where
    that is `least_cost`, the table is filled without searching. After a stop, it is filled with
    the trees that `find_known` has found (see ``_fallback.known_trees``), where they are better.
    """
    max_splits = n_useful_splits(max_depth, max_splits)
    costs = np.full((max_depth + 1, max_splits + 1), np.inf)
    index = np.zeros(costs.shape, dtype=np.int64)
    path = Path(costs, index, np.zeros(costs.shape), [solver.solve(0, 0)])
    known = None if find_known is None else find_known()
    costs[0], costs[:, 0] = path.answers[0].cost, path.answers[0].cost
    path.lower_bounds[0], path.lower_bounds[:, 0] = costs[0], costs[:, 0]
    for depth in range(1, max_depth + 1):
        for splits in range(1, max_splits + 1):
            fill_place(path, solver, depth, splits, least_cost, known)
    # A bound for larger limits holds for smaller ones.
    bounds = path.lower_bounds[::-1, ::-1]
    for axis in (0, 1):
        np.maximum.accumulate(bounds, axis=axis, out=bounds)
    np.minimum(path.lower_bounds, costs, out=path.lower_bounds)
    path.is_proved = not solver.stopped
    return path


def fill_place(path, solver, depth, splits, least_cost, known):
    """Cost and tree for one depth and number of splits."""
    costs, index = path.costs, path.tree_index
    before = min((depth - 1, splits), (depth, splits - 1), key=costs.__getitem__)
    costs[depth, splits], index[depth, splits] = costs[before], index[before]
    is_possible = depth <= splits <= n_useful_splits(depth, None)
    known_cost = np.inf if known is None else known.costs[depth, splits]
    if is_possible and costs[before] > least_cost and not solver.poll():
        # Lets through as costly a tree as the known one, whose cost is rounded otherwise: which
        # tree it is has not to depend on the time that there was to find one before.
        upper = min(costs[before], at_most(known_cost) + 1e-9 * abs(known_cost))
        found = solver.solve(depth, splits, upper)
        if solver.stopped:
            path.lower_bounds[depth, splits] = solver.lower_bound
        if found is not None and found.cost < costs[before]:
            keep(path, depth, splits, found)
    if known_cost < costs[depth, splits] - (0.0 if solver.stopped else 1e-9 * abs(known_cost)):
        answer = Answer(depth, splits, known_cost, *known.tree(depth, splits), False)
        keep(path, depth, splits, answer)
    if not solver.stopped:
        path.lower_bounds[depth, splits] = costs[depth, splits]


def keep(path, depth, splits, answer):
    """Put a tree in its place."""
    path.costs[depth, splits], path.tree_index[depth, splits] = answer.cost, len(path.answers)
    path.answers.append(answer)


def lower_hull(costs):
    """Numbers of splits that are best for some cost per split, and from which one on.

    Parameters
    ----------
    costs : ndarray of shape (n,)
        Optimum with at most 0, 1, ..., n - 1 splits.

    Returns
    -------
    n_splits : ndarray of int64
        Corners of the lower convex hull, falling.

    split_costs : ndarray of float64
        Each is best from this cost of a split up to the next one's; the first is 0.
    """
    corners = []
    for splits, cost in enumerate(costs.tolist()):
        if corners and cost >= corners[-1][1]:
            continue
        while len(corners) > 1 and not turns_up(*corners[-2:], splits, cost):
            corners.pop()
        corners.append((splits, cost))
    n_splits = np.array([splits for splits, _ in corners[::-1]], dtype=np.int64)
    values = np.array([cost for _, cost in corners[::-1]])
    slopes = np.diff(values) / -np.diff(n_splits)
    return n_splits, np.append(0.0, slopes)


def turns_up(first, second, splits, cost):
    """Whether three points, with a new last one, are a corner of a convex curve."""
    return (second[1] - first[1]) * (splits - second[0]) < (cost - second[1]) * (
        second[0] - first[0]
    )
