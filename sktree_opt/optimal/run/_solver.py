"""Optima of one table within several limits, as paths and rankings ask for them."""

from dataclasses import fields, replace

import numpy as np

from sktree_opt.optimal.run._queries import Answer, n_useful_splits
from sktree_opt.optimal.run._solve import search
from sktree_opt.preprocessing._binary_tests import BinaryTests


class ThresholdSolver:
    """Optima over all thresholds by depth and number of splits, as ``_queries.Solver`` gives them.

    Each is found by a search of its own.

    Parameters
    ----------
    problem : _driver.Problem
        With a `table`; its `tests` grow by those that each answer asks.

    control : SearchControl
    """

    def __init__(self, problem, control):
        self.problem, self.control = problem, control
        self.lower_bound = 0.0
        self.stats = {}

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.control.stopped

    def poll(self):
        """Look at the clock; True if no further search is worth beginning."""
        return self.control.poll()

    def solve(self, max_depth, max_splits, upper=np.inf):
        """Best tree within the limits that costs less than `upper`; None if there is none.

        After a stop, the best tree known, proved or not.
        """
        max_splits = n_useful_splits(max_depth, max_splits)
        max_depth = min(max_depth, max_splits)
        form = self.problem.leaf_form
        limits = replace(
            self.problem.limits, max_depth=max_depth, max_splits=max_splits, split_cost=0.0
        )
        tests, found = search(self.problem, limits=limits, control=self.control)
        cost = (found.cost - form.constant) / form.scale
        self.lower_bound = (found.lower_bound - form.constant) / form.scale
        is_proved = not self.stopped
        if is_proved and not cost < upper:
            return None
        nodes = found.nodes.copy()
        nodes[nodes[:, 0] >= 0, 0] += self.append(tests)
        return Answer(max_depth, max_splits, cost, nodes, is_proved)

    def append(self, tests):
        """Where the tests begin among those of the problem."""
        known = self.problem.tests
        if known is None:
            self.problem.tests = tests
            return 0
        # A row's bits begin at a whole byte: the tests between are never asked.
        first = 8 * known.bits.shape[1]
        joined = {
            field.name: np.concatenate(
                [
                    np.resize(getattr(known, field.name), first),
                    getattr(tests, field.name),
                ]
            )
            for field in fields(BinaryTests)
            if field.name != "bits"
        }
        self.problem.tests = BinaryTests(bits=np.hstack([known.bits, tests.bits]), **joined)
        return first
