"""Searches over all thresholds of a table, and over few of them for trees that they come to late.

The search over all thresholds goes level by level. Where it is stopped before the last one, a good
tree of full depth is found in the rest of the time among the tests of few thresholds.
"""

from dataclasses import replace

import numpy as np

from sktree_opt.optimal import continuous
from sktree_opt.optimal._first_look import look
from sktree_opt.optimal._floors import may_stop
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.preprocessing._thresholds import QuantileThresholds

# Of each column.
N_THRESHOLDS = 32

# Of a time limit, or else seconds, for the search among few thresholds.
SHARE, SECONDS = 0.2, 2.0

# Outcomes of tests that are packed and laid out in a second, about.
OUTCOMES_PER_SECOND = 2e8


class FewTests:
    """Tests of few thresholds of a table, made when they are asked for.

    Parameters
    ----------
    table : Table
    cuts : list of ndarray or None
        The thresholds that are allowed, as ``BinaryTests.from_table`` takes them.
    data : TrainingData
    split : class
        A value of ``CATEGORICAL_SPLITS``.
    """

    def __init__(self, table, cuts, data, split):
        self.table, self.cuts, self.data, self.split = table, cuts, data, split

    def make(self):
        """The tests."""
        if self.cuts is None:
            cuts = QuantileThresholds(N_THRESHOLDS).codes(self.table, self.data)
        else:
            cuts = [thinned(codes) for codes in self.cuts]
        return BinaryTests.from_table(
            self.table, cuts, self.data.encoder.feature_names_, self.split
        )

    def can_be_had_in(self, seconds):
        """Whether making them leaves half of some time for a search."""
        n_outcomes = self.table.n_rows * self.table.n_columns * N_THRESHOLDS
        return 2 * n_outcomes <= seconds * OUTCOMES_PER_SECOND


def thinned(codes):
    """At most ``N_THRESHOLDS`` of some thresholds, spread evenly."""
    if len(codes) <= N_THRESHOLDS:
        return codes
    return codes[np.linspace(0, len(codes) - 1, N_THRESHOLDS).astype(np.intp)]


def seconds_for_few(problem):
    """Time for a search among few thresholds, if the one over all is stopped; 0 for none."""
    limits = problem.limits
    if problem.few_tests is None or not may_stop(problem):
        return 0.0
    seconds = SECONDS if limits.time_limit is None else SHARE * limits.time_limit
    is_deep = limits.max_depth > 2 and limits.max_splits > 2
    return seconds if is_deep and problem.few_tests.can_be_had_in(seconds) else 0.0


def search_table(problem):
    """Find the best tree over all thresholds of a table.

    Returns
    -------
    tests : BinaryTests
        Those that the tree asks, and perhaps others.
    result : SearchResult
        Its nodes refer to `tests`.
    """
    seconds = seconds_for_few(problem)
    control = problem.control()
    control.keep_back(seconds)
    tests, result = continuous.search(problem, control=control)
    if seconds == 0.0 or result.status in ("optimal", "stopped"):
        return tests, result
    few_tests = problem.few_tests.make()
    found = look(
        replace(problem, tests=few_tests, table=None), problem.leaf_form, seconds=seconds / 2.0
    )
    problem.tests = few_tests
    cost = problem.cost_of(found.nodes)
    if not cost < result.cost:
        return tests, result
    moments = [*result.incumbents, (control.seconds, cost, result.lower_bound)]
    return few_tests, replace(result, nodes=found.nodes, cost=cost, incumbents=moments)
