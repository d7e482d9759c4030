"""The best tree by a metric of two classes' errors: the search of fronts, and what bounds it.

A metric is not a sum over leaves. The tree sets engine finds the front of pairs of errors that no
tree betters in both (Demirović and Stuckey, AAAI 2021); the optimum of every metric that falls with
neither error is on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import two_class_form
from sktree_opt.optimal.objectives._metrics import losses_of
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._problem import Solution, closed, raised
from sktree_opt.optimal.run._trees import Prunings, equal_rows_bound, rows_in
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, nodes_from_preorder
from sktree_opt.optimal.tree_sets._set_search import ParetoSearch
from sktree_opt.utils._control import SearchControl

# Seconds that it takes to find the best answers of known trees.
READING_SECONDS = 0.04

# Weights of false positives and false negatives whose sums bound a metric.
SLOPES = ((1.0, 1.0), (1.0, 4.0), (4.0, 1.0))

# Pieces that the false positives are cut in to bound a metric.
N_PIECES = 512

# Prunings of each tree that are tried, spread from none to all of its tests.
N_SIZES = 24


def find_tree_by_metric(plan, session):
    """Find the best tree by a metric.

    Parameters
    ----------
    plan : Plan
        With `tests`, and a metric as objective.

    session : Session

    Returns
    -------
    solution : Solution
        With `answers` and `front`.
    """
    tests, limits = plan.tests, plan.problem.limits
    is_mirrored = plan.problem.objective.positive == 0
    problem = mirrored(plan.problem) if is_mirrored else plan.problem
    metric = problem.objective.metric

    def in_given_codes(answers):
        return np.where(answers < 0, answers, 1 - answers) if is_mirrored else answers

    def make(control):
        return MetricSearch(problem, tests, control)

    def step(name, work, answer_of):
        def tree_of(found):
            columns, answers = answer_of(found)
            return tests, nodes_from_preorder(columns), in_given_codes(answers)

        return session.step(plan.problem, name, work, tree_of)

    opened = session.open(problem, tests, ("metric", limits.n_threads), make)
    search, control = opened.search, session.control
    search.ask(problem)
    bound, by_slope = -np.inf, {}
    if limits.max_depth > 1 and session.may_stop(limits):
        by_slope = short_searches(problem, tests, session)
        session.keep_back(READING_SECONDS)
        bound = bound_of_metric(
            problem,
            tests,
            lambda errors: losses_of(metric, errors, search.totals),
            search.totals,
            by_slope,
        )
    best = search.solve(limits.max_depth, limits.max_splits, step)
    if control.stopped and by_slope:
        best = better_of(problem, tests, search, by_slope, best)
    session.close(opened, None)
    moments = [(t, cost, raised(least, bound, cost)) for t, cost, least in best.incumbents]
    bound = raised(best.lower_bound, bound, best.objective)
    return Solution(
        tests=tests,
        nodes=nodes_from_preorder(best.columns),
        cost=best.objective,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(moments, control.seconds, best.objective, bound),
        stats=best.stats | {"seconds": control.seconds},
        answers=in_given_codes(best.answers),
        front=best.front,
    )


def mirrored(problem):
    """The problem with its two classes in each other's place: code 1 is the positive one."""
    data, objective = problem.data, problem.objective
    y = (1 - data.y).astype(data.y.dtype)
    return replace(
        problem,
        data=replace(data, y=y, classes=data.classes[::-1]),
        objective=replace(
            objective,
            targets=y,
            classes=data.classes[::-1],
            class_weights=objective.class_weights[::-1].copy(),
            positive=1,
        ),
    )


def short_searches(problem, tests, session):
    """Plain searches whose sums of errors bound a metric, by slope."""
    plain, seconds = problem.within(split_cost=0.0), share_of_time(problem.limits) / len(SLOPES)
    return {
        slope: short_search(plain.by(two_class_form(*slope)), tests, session, seconds)
        for slope in SLOPES
    }


def bound_of_metric(problem, tests, losses, totals, by_slope):
    """Lower bound of a metric that falls with neither error.

    Every tree has ``a * fp + b * fn >= c`` for the least such sums. Within a piece of the false
    positives the metric is at least what it is at its left end, with as many false negatives as
    these sums ask for at its right end.

    Parameters
    ----------
    problem : Problem
    tests : BinaryTests
    losses : callable
        From pairs of errors, of shape (n, 2), to the metric.
    totals : ndarray of shape (2,)
        Weight of each class.
    by_slope : dict
        See ``short_searches``.
    """
    lines = [(1.0, 1.0, equal_rows_bound(problem, tests))]
    lines += [(*slope, found.lower_bound) for slope, found in by_slope.items()]
    ends = np.linspace(0.0, totals[0], N_PIECES + 1)
    least = np.max([(c - a * ends[1:]) / b for a, b, c in lines], axis=0)
    # Sums of real weights are rounded.
    least = np.maximum(0.0, least - 1e-9 * totals.sum())
    possible = least <= totals[1]
    errors = np.column_stack([ends[:-1], least])[possible]
    last = [[totals[0], 0.0]]
    return float(losses(np.append(errors, last, axis=0)).min())


def find_places_by_metric(plan, session):
    """Find the best tree by a metric for every depth and number of tests.

    All searches share one cache. After a stop, the rest is filled with pruned trees of short
    searches and with the trees of smaller limits.

    Parameters
    ----------
    plan : Plan
        With `tests`, and a metric as objective.

    session : Session

    Returns
    -------
    places : dict of MetricTree
        By depth and number of tests; one that is no better than with smaller limits is the same.

    stats : dict
        Counters of the search.
    """
    tests, limits = plan.tests, plan.problem.limits
    is_mirrored = plan.problem.objective.positive == 0
    problem = mirrored(plan.problem) if is_mirrored else plan.problem
    search, control = MetricSearch(problem, tests, session.control), session.control
    search.ask(problem)
    by_slope = {}
    if limits.max_depth > 1 and session.may_stop(limits):
        by_slope = short_searches(problem, tests, session)
    places = {}
    for depth, splits in np.ndindex(limits.max_depth + 1, limits.max_splits + 1):
        before = [places[at] for at in ((depth - 1, splits), (depth, splits - 1)) if at in places]
        # The first of equal ones has the least limits.
        best = min(before, key=lambda one: one.objective) if before else None
        is_possible = depth <= splits <= 2**depth - 1
        if best is None or (
            is_possible and not control.poll() and best.objective > best.lower_bound
        ):
            found = search.collect_one(depth, splits)
            best = found if best is None or found.objective < best.objective else best
        if is_possible and control.stopped and by_slope:
            within = problem.within(max_depth=depth, max_splits=splits)
            best = better_of(within, tests, search, by_slope, best)
        places[depth, splits] = best
    if is_mirrored:
        for one in {id(one): one for one in places.values()}.values():
            one.answers = np.where(one.answers < 0, one.answers, 1 - one.answers)
    return places, search.search.statistics()


@dataclass
class MetricTree:
    """The best tree by a metric, and the front it was chosen from.

    Attributes
    ----------
    columns, answers : ndarray of int32
        The tree in preorder: column of each split (first the child with it) or -1; class that each
        leaf answers or -1.

    objective : float
        Loss, plus the cost of the splits.

    lower_bound : float
        No tree has less.

    front : ndarray, shape (n_points,)
        Record array: ``false_positives``, ``false_negatives`` (weights), ``n_splits``, ``loss``.

    incumbents : list of (float, float, float)
        Seconds, objective and bound after each level of depth.

    stats : dict
        Counters of the search.
    """

    columns: np.ndarray
    answers: np.ndarray
    objective: float
    lower_bound: float
    front: np.ndarray
    incumbents: list
    stats: dict


FRONT_DTYPE = np.dtype(
    [
        ("false_positives", np.float64),
        ("false_negatives", np.float64),
        ("n_splits", np.int64),
        ("loss", np.float64),
    ]
)


class MetricSearch:
    """Search for the best tree by a metric of the two classes' errors.

    Parameters
    ----------
    problem : Problem
        Of two classes.

    tests : BinaryTests

    control : SearchControl
        What may end the search.
    """

    def __init__(self, problem, tests, control):
        data, limits = problem.data, problem.limits
        self.table = bit_rows(tests.bits, tests.n_tests, data.y, data.weights, 2)
        self.totals = self.table.totals()
        self.control = control
        self.search = ParetoSearch(
            self.table,
            control,
            min_rows=limits.min_samples_leaf,
            min_weight=limits.min_weight_leaf,
            n_threads=limits.n_threads,
        )
        # Fronts are the same for all metrics and costs of tests.
        self.metric, self.complexity_cost = None, 0.0

    def ask(self, problem):
        """Take over what is asked for: the metric, and what a test costs."""
        self.metric = problem.objective.metric
        self.complexity_cost = problem.limits.split_cost / float(problem.data.weights.sum())

    def solve(self, max_depth, max_splits, step):
        """Best tree within `max_depth` and `max_splits`.

        Parameters
        ----------
        max_depth, max_splits : int

        step : callable
            From a name, work and what gives columns and answers of its result, to the result; it
            tells callbacks of each stage.

        Returns
        -------
        best : MetricTree
        """
        best = self.evaluate(self.search.front(0, 0))
        incumbents = [self.log_entry(best)]
        points = [best]
        for depth, splits in self.stages(max_depth, max_splits):
            # Short stages do not read the clock themselves.
            if self.control.poll() or self.cannot_improve(best, splits):
                break
            found = self.solve_stage(depth, splits, best, step)
            points.append(found)
            if found.value < best.value:
                best = found
                incumbents.append(self.log_entry(best))
        return self.collect(best, points, incumbents)

    def collect_one(self, depth, splits):
        """Best tree within a depth and a number of splits, by one search; costs nothing extra."""
        found = self.evaluate(self.search.front(depth, splits))
        return replace(self.collect(found, [found], []), lower_bound=self.least_loss())

    def solve_stage(self, depth, splits, best, step):
        """The best tree of one stage."""

        def work():
            return self.evaluate(self.search.front(depth, splits))

        def answer_of(found):
            return self.tree_of(min(found, best, key=lambda one: one.value))

        return step(f"depth {depth}, {splits} tests", work, answer_of)

    def tree_of(self, found):
        """Columns and answers of the best tree of a front."""
        # Reading a tree solves small parts of the search again, after a stop too.
        return found.front.tree(found.rank, SearchControl())

    def stages(self, max_depth, max_splits):
        """Limits to solve for, one after the other: deeper, or with one split more."""
        if self.complexity_cost == 0.0:
            return [(depth, max_splits) for depth in range(1, max_depth + 1)]
        most = min(max_splits, 2**max_depth - 1)
        return [(max_depth, splits) for splits in range(1, most + 1)]

    def cannot_improve(self, best, splits):
        if self.complexity_cost == 0.0:
            # The least loss is not enough: more levels may lengthen the front.
            return not best.front.sums[best.rank].any()
        return self.least_loss() + splits * self.complexity_cost >= best.value

    def least_loss(self):
        """Loss of a tree without errors."""
        return float(losses_of(self.metric, np.zeros((1, 2)), self.totals)[0])

    def evaluate(self, front):
        errors = front.sums * self.table.unit
        losses = losses_of(self.metric, errors, self.totals)
        values = losses + self.complexity_cost * front.n_splits
        # Equal values: the fewest splits, then the fewest false positives.
        rank = np.lexsort((errors[:, 0], front.n_splits, values))[0]
        points = np.empty(len(errors), dtype=FRONT_DTYPE)
        points["false_positives"], points["false_negatives"] = errors.T
        points["n_splits"] = front.n_splits
        points["loss"] = losses
        return Evaluated(front, points, int(rank), float(values[rank]))

    def log_entry(self, best):
        return self.control.seconds, best.value, self.least_loss()

    def collect(self, best, found, incumbents):
        finished = self.control.status == "optimal"
        columns, answers = self.tree_of(best)
        return MetricTree(
            columns=columns,
            answers=answers,
            objective=best.value,
            lower_bound=best.value if finished else self.least_loss(),
            front=pareto_points(np.concatenate([one.points for one in found])),
            incumbents=incumbents,
            stats=self.search.statistics(),
        )


@dataclass
class Evaluated:
    """A front with losses, and its best point."""

    front: object
    points: np.ndarray
    rank: int
    value: float


def pareto_points(points):
    """Those that no other betters in both errors, by rising false positives; no pair twice."""
    order = np.lexsort((points["n_splits"], points["false_negatives"], points["false_positives"]))
    points = points[order]
    least_before = np.minimum.accumulate(np.append(np.inf, points["false_negatives"]))[:-1]
    return points[points["false_negatives"] < least_before]


def better_of(problem, tests, search, by_slope, best):
    """The result of a stopped search, or a pruned tree of a short search if that is better.

    Leaves of the largest shares of the positive class answer it, for each number of such leaves.

    Parameters
    ----------
    problem : Problem
    tests : BinaryTests
    search : MetricSearch
    by_slope : dict
        See ``short_searches``.
    best : MetricTree
        What was found.

    Returns
    -------
    best : MetricTree
    """
    candidates = [
        one
        for slope, found in by_slope.items()
        for one in prunings_by_slope(problem, tests, found, *slope)
        if one[1] <= problem.limits.max_splits
    ]
    points = [points_of(search, *one) for one in candidates]
    values = [one["loss"] + search.complexity_cost * one["n_splits"] for one in points]
    best = replace(best, front=pareto_points(np.concatenate([best.front, *points])))
    for candidate, value in zip(candidates, values, strict=True):
        n_positive = int(value.argmin())
        if value[n_positive] < best.objective:
            pruned, size, weights = candidate
            columns, answers = answered(pruned, size, weights, n_positive)
            best = replace(
                best, columns=columns, answers=answers, objective=float(value[n_positive])
            )
    return best


def prunings_by_slope(problem, tests, found, fp_cost, fn_cost):
    """Prunings of a tree by what its errors cost, each size, and what reaches the whole tree."""
    reached = rows_in(problem, tests, found.nodes)
    # Cost of a leaf that answers 1, and 0.
    costs = np.minimum(fp_cost * reached.weights[:, 0], fn_cost * reached.weights[:, 1])
    pruned = Prunings(reached.nodes, costs, problem.limits.max_depth)
    sizes = pruned.useful_sizes()
    some = np.linspace(0, len(sizes) - 1, min(len(sizes), N_SIZES)).astype(np.intp)
    return [(pruned, int(size), reached.weights) for size in sizes[some]]


def points_of(search, pruned, size, weights):
    """Errors with each number of leaves that answer 1, as points of a front."""
    leaves = leaves_by_share(pruned, size, weights)[1]
    passed = np.vstack([np.zeros(2), np.cumsum(weights[leaves], axis=0)])
    points = np.empty(len(passed), dtype=FRONT_DTYPE)
    points["false_positives"] = passed[:, 0]
    points["false_negatives"] = np.maximum(0.0, search.totals[1] - passed[:, 1])
    points["n_splits"] = size
    errors = np.column_stack([points["false_positives"], points["false_negatives"]])
    points["loss"] = losses_of(search.metric, errors, search.totals)
    return points


def leaves_by_share(pruned, size, weights):
    """Leaves of a pruned tree, and which nodes of the whole tree they are; positive ones first."""
    nodes, origin = pruned.tree(size)
    leaves = np.flatnonzero(nodes[:, 0] < 0)
    totals = weights[origin[leaves]]
    order = np.argsort(-totals[:, 1] / totals.sum(axis=1), kind="stable")
    return leaves[order], origin[leaves[order]]


def answered(pruned, size, weights, n_positive):
    """Columns and answers of a pruned tree, as ``MetricTree`` has them."""
    columns = pruned.tree(size)[0][:, 0]
    leaves, _ = leaves_by_share(pruned, size, weights)
    answers = np.full(len(columns), -1, dtype=np.int32)
    answers[leaves] = 0
    answers[leaves[:n_positive]] = 1
    return columns, answers
