"""The best tree of a table of one numeric column, by dynamic programming over its cuts.

A tree on one column divides its values into intervals, one for each leaf, and every division into
at most ``2 ** max_depth`` intervals is a tree of that depth. So the best tree is the best division,
which is found from left to right: the best one of the values below each cut ends with an interval,
and what comes before that interval is itself the best. Where a leaf costs the least of several sums
over its rows, one for each answer, the last interval and its answer grow value by value.
"""

from __future__ import annotations

import functools

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import PessimisticError, SquaredError
from sktree_opt.optimal.run._problem import Solution
from sktree_opt.optimal.run._thresholds_solver import AT_MOST, TOLERANCE, tests_of_plan
from sktree_opt.optimal.run._trees import tree_and_objective

# Additions of a search, in the worst case, beyond which the engine may be faster.
MOST_WORK = 1 << 31

# The clock is read after so many values.
POLLED_VALUES = 256


def find_tree_of_column(plan, session):
    """Find the best tree of a plan whose table has one column.

    Parameters
    ----------
    plan : Plan
        With a `table` of one column of numbers, none of them missing.

    session : Session

    Returns
    -------
    solution : Solution or None
        None if the costs of many intervals are not known at once (absolute and pessimistic
        errors), or if there are too many values or too little time: see ``MOST_WORK``.
    """
    table, problem = plan.table, plan.problem
    sums = sums_by_value(problem, table.codes[0], len(table.values[0]))
    if sums is None or sums.size * len(sums) > MOST_WORK:
        return None
    limits = problem.limits
    most = min(limits.max_splits + 1, 2 ** min(limits.max_depth, 30))
    division = Division(problem, table.codes[0], sums)
    cuts = division.best_cuts(session)
    if cuts is not None and len(cuts) >= most:
        is_large = most * len(sums) ** 2 > MOST_WORK
        cuts = None if is_large else division.best_few_cuts(session, most)
    if cuts is None:
        return None
    tests, nodes = tests_of_plan(balanced_tree(cuts), table, plan.around)
    cost = tree_and_objective(problem, tests, nodes)[1]
    seconds = session.control.seconds
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=cost,
        status="optimal",
        incumbents=[(seconds, cost, cost)],
        stats={"has_fewest_tests": True, "seconds": seconds},
    )


def sums_by_value(problem, codes, n_values):
    """Sums over the rows of each value, from which costs follow; None for some objectives.

    Returns
    -------
    sums : ndarray of shape (n_values, n_sums) or None
        Weight of each class, or weight, weighted targets and weighted squares of targets.
    """
    data, objective = problem.data, problem.objective
    if isinstance(objective.rule, SquaredError):
        t, weights = objective.targets, data.weights
        columns = [weights, weights * t, weights * t**2]
        return np.stack([np.bincount(codes, c, n_values) for c in columns], axis=1)
    if data.classes is None or isinstance(objective.rule, PessimisticError):
        return None
    cells = codes.astype(np.int64) * len(data.classes) + data.y
    counts = np.bincount(cells, data.weights, n_values * len(data.classes))
    return counts.reshape(n_values, -1)


class Division:
    """The values of a column, and the cheapest ways to divide them into intervals.

    Parameters
    ----------
    problem : Problem

    codes : ndarray
        Place of each row's value among the values.

    sums : ndarray of shape (n_values, n_sums)
        See ``sums_by_value``.
    """

    def __init__(self, problem, codes, sums):
        self.problem, self.limits, n_values = problem, problem.limits, len(sums)
        self.sums = summed(sums)
        self.rows = summed(np.bincount(codes, minlength=n_values))
        self.weights = summed(np.bincount(codes, problem.data.weights, n_values))
        self.tolerance = TOLERANCE * float(self.costs(np.zeros(1, dtype=np.int64), n_values)[0])

    def costs(self, starts, end):
        """Cost of each interval from a cut to `end`; infinite where it is too small for a leaf."""
        sums, objective = self.sums[end] - self.sums[starts], self.problem.objective
        if self.problem.data.classes is None:
            weights = np.where(sums[:, 0] > 0.0, sums[:, 0], 1.0)
            costs = np.maximum(sums[:, 2] - sums[:, 1] ** 2 / weights, 0.0)
        else:
            costs = objective.rule.leaf_costs(sums, objective.class_weights, objective.costs)
        is_small = self.rows[end] - self.rows[starts] < self.limits.min_samples_leaf
        is_small |= self.weights[end] - self.weights[starts] < self.limits.min_weight_leaf
        return np.where(is_small, np.inf, costs)

    def best_cuts(self, session):
        """Cuts of the cheapest division, the fewest of several; None if the search is stopped."""
        end, split_cost = len(self.rows) - 1, self.limits.split_cost
        has_minima = self.limits.min_samples_leaf > 1 or self.limits.min_weight_leaf > 0.0
        if not has_minima and hasattr(self.problem.objective.rule, "costs"):
            return self.best_cuts_by_answer(session)
        best = np.full(end + 1, np.inf)
        n_intervals, last_cut = (np.zeros(end + 1, dtype=np.int64) for _ in range(2))
        best[0] = -split_cost
        # A cut from which an interval reached too far stays too far for all that come later: to
        # end the interval there, and to begin another, costs no more.
        near = np.zeros(end + 1, dtype=np.int64)
        n_near = 1
        for place in range(1, end + 1):
            if session.control.poll():
                return None
            starts = near[:n_near]
            until = best[starts] + self.costs(starts, place)
            least = until.min()
            if least < np.inf:
                as_good = starts[until <= least + self.tolerance]
                last_cut[place] = as_good[n_intervals[as_good].argmin()]
                best[place] = least + split_cost
                n_intervals[place] = n_intervals[last_cut[place]] + 1
            if not has_minima:
                starts = starts[until <= best[place] + self.tolerance]
            n_near = len(starts) + 1
            near[: n_near - 1], near[n_near - 1] = starts, place
        return cuts_before(last_cut, end)

    def best_cuts_by_answer(self, session):
        """As ``best_cuts``, in time that is linear in the number of values.

        The best division of the first values whose last interval has some answer either goes on
        with that answer at the last value, or begins the interval there. No cut is needed between
        values that one class alone has.
        """
        objective, split_cost = self.problem.objective, self.limits.split_cost
        costs = objective.rule.costs(objective.class_weights, objective.costs)
        by_value = np.diff(self.sums, axis=0)
        has_class = by_value > 0.0
        goes_on = (has_class[1:] == has_class[:-1]).all(axis=1) & (has_class[1:].sum(axis=1) == 1)
        starts = np.append(0, 1 + np.flatnonzero(~goes_on))
        rises = np.add.reduceat(by_value, starts) @ costs
        best, n_intervals, last_cut = -split_cost, 0, [0]
        # By answer: cost, number of intervals, first value of the last one.
        open_ = [(np.inf, 0, 0)] * rises.shape[1]
        for place, by_answer in enumerate(rises.tolist()):
            if place % POLLED_VALUES == 0 and session.control.poll():
                return None
            begun = best + split_cost, n_intervals + 1, place
            for answer, rise in enumerate(by_answer):
                cost, number, start = self.better(open_[answer], begun)
                open_[answer] = cost + rise, number, start
            best, n_intervals, start = functools.reduce(self.better, open_)
            last_cut.append(start)
        return [int(starts[cut]) for cut in cuts_before(last_cut, len(last_cut) - 1)]

    def better(self, one, other):
        """The division that costs less, or else has fewer intervals."""
        if abs(one[0] - other[0]) <= self.tolerance:
            return other if other[1] < one[1] else one
        return other if other[0] < one[0] else one

    def best_few_cuts(self, session, most):
        """As ``best_cuts``, for at most so many intervals."""
        end, split_cost = len(self.rows) - 1, self.limits.split_cost
        best = np.full((most + 1, end + 1), np.inf)
        last_cut = np.zeros((most + 1, end + 1), dtype=np.int64)
        best[0, 0] = -split_cost
        starts = np.arange(end + 1)
        for place in range(1, end + 1):
            if session.control.poll():
                return None
            until = best[:-1, :place] + self.costs(starts[:place], place)
            last_cut[1:, place] = until.argmin(axis=1)
            best[1:, place] = until.min(axis=1) + split_cost
        totals = best[:, end]
        n_intervals = int(np.argmax(totals <= totals.min() + self.tolerance))
        cuts = [end]
        for count in range(n_intervals, 0, -1):
            cuts.append(last_cut[count, cuts[-1]])
        return cuts[-2:0:-1]


def cuts_before(last_cut, end):
    """The cuts of a division, from the last one before each of them and before the end."""
    cuts = [end]
    while cuts[-1] > 0:
        cuts.append(last_cut[cuts[-1]])
    return cuts[-2:0:-1]


def summed(values):
    """Sums of the first values, from none to all of them."""
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])


def balanced_tree(cuts):
    """The tree of the fewest levels with some cuts, as ``tests_of_plan`` reads it."""
    if not cuts:
        return [(-1, 0, 0, 0, 0, 0)]
    middle = len(cuts) // 2
    below, above = balanced_tree(cuts[:middle]), balanced_tree(cuts[middle + 1 :])
    code = int(cuts[middle])
    moved = [(*node[:5], node[5] + 1 + len(below)) if node[0] >= 0 else node for node in above]
    left = [(*node[:5], node[5] + 1) if node[0] >= 0 else node for node in below]
    return [(0, AT_MOST, 1, code - 1, code, 1 + len(below)), *left, *moved]
