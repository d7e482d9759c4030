"""Optima where two sums over leaves matter: an objective, and C4.5's estimate of the error.

A tree of the least objective need not have the least estimate among its equals, nor one within a
limit. The search keeps, at every node, the pairs of sums that no other tree betters in both.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import refuse_many_classes, two_class_form
from sktree_opt.optimal.run._bits_solver import Answer, n_useful_splits
from sktree_opt.optimal.run._trees import LEAF_ALONE, tree_and_objective
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, nodes_from_preorder
from sktree_opt.optimal.tree_sets._set_search import SumSearch
from sktree_opt.utils._control import SearchControl

# Sums of rounded costs that differ by so few units are equal.
ROUNDING_UNITS = 64

# The first excess over the least sum as a share of what a single leaf costs, and its growth.
FIRST_EXCESS, GROWTH = 1 / 64, 2.0

# All rows cost some 2**40 units.
LARGE_BOUND = 2.0**43


class PairSolver:
    """Optima by depth and number of splits under a limit on a second sum.

    Parameters
    ----------
    problem : Problem
        Its limits on depth and size are not used.

    tests : BinaryTests

    session : Session

    estimate : ClassObjective or None
        The second sum; None for none, where the classes of a leaf are limited.

    max_estimate : float or None
        Its limit.

    Attributes
    ----------
    lower_bound, full_bound : float
        No tree within the limits costs less, in the engine's units.
    """

    # Incumbents are not kept.
    full_moments = ()

    def __init__(self, problem, tests, session, estimate=None, max_estimate=None):
        refuse_many_classes(problem.form)
        limits = problem.limits
        self.problem, self.tests = problem, tests
        n_classes = len(problem.form.class_mass)
        second = two_class_form(0.0, 0.0) if estimate is None else estimate.form
        if estimate is None:
            second = replace(
                second, class_channels=np.zeros((n_classes, 1)), class_mass=np.zeros(n_classes)
            )
        most = np.inf if max_estimate is None else max_estimate
        rows = (tests.bits, tests.n_tests, problem.objective.targets, problem.data.weights)
        # Room for rounding: what is left over is left out of the answers.
        make = partial(
            SumSearch,
            bit_rows(*rows, n_classes),
            costs=[problem.form, second],
            minima=limits.minima,
            split_cost=limits.split_cost / problem.form.scale,
            max_second=most * (1.0 + 1e-9) + 1e-6,
            n_threads=limits.n_threads,
        )
        kind = ("pairs", second.score, second.cf, most, limits.split_cost, limits.n_threads)
        self.opened = session.open(problem, tests, kind, make)
        self.engine, self.control = self.opened.search, session.control
        self.session = session
        self.unit, self.unit_of_estimate = self.engine.unit.tolist()
        self.most_second = np.inf
        if max_estimate is not None:
            self.keep_estimate_within(max_estimate / self.unit_of_estimate)
        self.lower_bound = self.full_bound = 0.0
        self.best = None

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.control.stopped

    @property
    def stats(self):
        """Counters of the searches."""
        return self.engine.statistics()

    def poll(self):
        """Read the clock; True if the search has to end."""
        return self.control.poll()

    def keep_estimate_within(self, most):
        """From here on, larger second sums are not acceptable; in units of the search."""
        self.most_second = most + ROUNDING_UNITS

    def solve(self, max_depth, max_splits, upper=np.inf, by_discrepancy=False):
        """Best tree within the limits that costs less than `upper`; None if there is none.

        After a stop, a tree that was found before, proved or not.
        """
        depth, splits = limits_of_shape(max_depth, max_splits)
        most = min(LARGE_BOUND + splits * self.problem.limits.split_cost / self.unit, 2.0**52)
        if upper < np.inf:
            most = min(most, np.floor(upper / self.unit) + ROUNDING_UNITS)
        if most < 0.0:
            return None
        least = self.engine.least(depth, splits, most)
        if self.stopped:
            return self._after_stop(depth, splits)
        if least is None:
            self.lower_bound = most * self.unit
            return None
        bound, excess = float(least), FIRST_EXCESS * most
        while True:
            found = self._search(depth, splits, min(bound, most))
            good = np.flatnonzero(found.sums[:, 1] <= self.most_second)
            if self.stopped:
                self._note(found, good[:1], depth, splits, False)
                return self._after_stop(depth, splits)
            self.lower_bound = min(bound, most) * self.unit
            if by_discrepancy:
                self.full_bound = self.lower_bound
            if len(good) or bound >= most:
                break
            bound, excess = bound + np.ceil(excess), excess * GROWTH
        if len(good) == 0:
            return None
        answer = self._note(found, good[:1], depth, splits, True)
        self.lower_bound = answer.cost
        if by_discrepancy:
            self.full_bound = answer.cost
        return answer

    def tighten_estimate(self, answer, upper):
        """Take the least second sum of the trees of an answer's limits as the limit from here on.

        `upper` limits their cost. Returns the best tree within all limits.
        """
        least = self.least_estimate(answer, upper)
        if self.stopped or least is None:
            return replace(answer, is_proved=answer.is_proved and not self.stopped)
        self.keep_estimate_within(least)
        return self.solve(answer.max_depth, answer.max_splits, upper)

    def least_estimate(self, answer, upper):
        """The least second sum within an answer's limits, in units; None without a tree."""
        most = 2.0**52
        if upper < np.inf:
            most = min(most, np.floor(upper / self.unit) + ROUNDING_UNITS)
        if most < 0.0:
            return None
        found = self._search(*limits_of_shape(answer.max_depth, answer.max_splits), most)
        return float(found.sums[:, 1].min()) if len(found.sums) else None

    def _search(self, depth, splits, bound):
        return self.session.step(
            self.problem,
            f"depth {depth}, {splits} tests",
            partial(self.engine.up_to, depth, splits, bound),
            lambda _: (self.tests, LEAF_ALONE if self.best is None else self.best.nodes),
        )

    def _note(self, found, ranks, depth, splits, is_proved):
        if len(ranks) == 0:
            return None
        rank = int(ranks[0])
        # Reading a tree solves small parts of the search again, after a stop too.
        columns, _ = found.tree(rank, SearchControl())
        cost = float(found.sums[rank, 0]) * self.unit
        nodes = nodes_from_preorder(columns)
        self.best = Answer(depth, splits, cost, self.tests, nodes, is_proved)
        return self.best

    def _after_stop(self, depth, splits):
        if self.best is not None:
            return replace(self.best, max_depth=depth, max_splits=splits, is_proved=False)
        # Perhaps it does not fulfil the limits.
        leaf = tree_and_objective(self.problem, self.tests, LEAF_ALONE)[1]
        cost = self.problem.in_engine_units(leaf)
        return Answer(depth, splits, cost, self.tests, LEAF_ALONE, False)


def limits_of_shape(max_depth, max_splits):
    """Limits on depth and splits, each no larger than the other allows."""
    max_splits = n_useful_splits(max_depth, max_splits)
    return min(max_depth, max_splits), max_splits
