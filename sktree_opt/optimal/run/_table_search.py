"""Searches over all thresholds of a table, and over few of them for trees that they come to late.

The search over all thresholds goes level by level. Where it is stopped before the last one, a good
tree of full depth is found in the rest of the time among the tests of few thresholds.
"""

import math
from dataclasses import replace

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import MAX_CLASSES
from sktree_opt.optimal.run import _solve
from sktree_opt.optimal.run._first_look import look
from sktree_opt.optimal.run._floors import may_stop
from sktree_opt.preprocessing._binary_tests import MAX_TESTS, BinaryTests
from sktree_opt.preprocessing._thresholds import QuantileThresholds

# Of each column, at most and at least.
MOST_THRESHOLDS, LEAST_THRESHOLDS = 32, 4

# Of a time limit, or else seconds, for the search among few thresholds.
SHARE, SECONDS = 0.2, 2.0

# Of that time, for the search itself, not for what comes before and after.
LOOK_SHARE = 0.6

# Pairs of tests by rows that are counted in a second, about: whole numbers, and others.
PAIRS_PER_SECOND, REAL_PAIRS_PER_SECOND = 5e11, 8e10

# Outcomes of tests, eight to a byte, that are made in a second.
BYTES_PER_SECOND = 2.5e8

# What a first deep tree takes, in sweeps of all pairs and rows.
SWEEPS = 8


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

    def make(self, n_thresholds):
        """The tests of so many thresholds of each column."""
        if self.cuts is None:
            cuts = QuantileThresholds(n_thresholds).codes(self.table, self.data)
        else:
            cuts = [thinned(codes, n_thresholds) for codes in self.cuts]
        return BinaryTests.from_table(
            self.table, cuts, self.data.encoder.feature_names_, self.split
        )

    def number_in(self, seconds):
        """Of how many thresholds of each column a deep tree can be found in some time."""
        is_whole = self.data.classes is not None and self.data.has_unit_weights
        rate = PAIRS_PER_SECOND if is_whole else REAL_PAIRS_PER_SECOND
        n_tests = math.sqrt(seconds * rate / (SWEEPS * self.table.n_rows))
        n_thresholds = min(MOST_THRESHOLDS, int(n_tests / self.table.n_columns))
        n_made = self.count(n_thresholds)
        making = n_made * self.table.n_rows / 8 / BYTES_PER_SECOND
        # Categories are not thinned: there may be more than can be searched, or made in time.
        return n_thresholds if n_made <= MAX_TESTS and making <= seconds else 0

    def count(self, n_thresholds):
        """Most tests that so many thresholds of each column make."""
        is_nominal = self.table.is_nominal
        n_values = np.array([len(values) for values in self.table.values], dtype=np.int64)
        of_numbers = np.clip(n_values - 1, 0, n_thresholds)
        n_tests = np.where(is_nominal, n_values, of_numbers)
        return int(np.where(self.table.n_missing > 0, 2 * n_tests + 1, n_tests).sum())


def thinned(codes, n_thresholds):
    """At most so many of some thresholds, spread evenly."""
    if len(codes) <= n_thresholds:
        return codes
    return codes[np.linspace(0, len(codes) - 1, n_thresholds).astype(np.intp)]


def few_thresholds(problem):
    """Time for a search among few thresholds, and how many; 0 of both where it has no use."""
    limits = problem.limits
    is_deep = limits.max_depth > 2 and limits.max_splits > 2
    has_few_classes = len(problem.leaf_form.class_mass) <= MAX_CLASSES
    if problem.few_tests is None or not (is_deep and has_few_classes) or not may_stop(problem):
        return 0.0, 0
    seconds = SECONDS if limits.time_limit is None else SHARE * limits.time_limit
    # Half of what is there for it: other programs may have the processor, too.
    n_thresholds = problem.few_tests.number_in(LOOK_SHARE / 2.0 * seconds)
    return (seconds, n_thresholds) if n_thresholds >= LEAST_THRESHOLDS else (0.0, 0)


def search_table(problem):
    """Find the best tree over all thresholds of a table.

    Returns
    -------
    tests : BinaryTests
        Those that the tree asks, and perhaps others.
    result : SearchResult
        Its nodes refer to `tests`.
    """
    seconds, n_thresholds = few_thresholds(problem)
    control = problem.control()
    end = control.seconds + control.seconds_left
    control.keep_back(seconds)
    tests, result = _solve.search(problem, control=control)
    if seconds == 0.0 or result.status in ("optimal", "stopped"):
        return tests, result
    few_tests = problem.few_tests.make(n_thresholds)
    few = replace(problem, tests=few_tests, table=None)
    left = max(0.0, min(seconds, end - control.seconds))
    found = look(few, problem.leaf_form, seconds=LOOK_SHARE * left)
    problem.tests = few_tests
    cost = problem.cost_of(found.nodes)
    if not cost < result.cost:
        return tests, result
    moments = [*result.incumbents, (control.seconds, cost, result.lower_bound)]
    return few_tests, replace(result, nodes=found.nodes, cost=cost, incumbents=moments)
