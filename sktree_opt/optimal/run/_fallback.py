"""The answer of a search that is stopped early: a tree that the bits engine finds in a moment.

Searches of many thresholds, of several trees, by metrics and of paths come to deep trees late. The
bits engine finds good ones at once, by limited discrepancy beyond five levels. They are the answer
where the search itself has found nothing better, and their bound says how far it is from optimal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import MAX_CLASSES
from sktree_opt.optimal.run._bits_solver import BitsSolver
from sktree_opt.optimal.run._trees import Prunings
from sktree_opt.preprocessing._binary_tests import MAX_TESTS, BinaryTests
from sktree_opt.preprocessing._thresholds import QuantileThresholds

# Share and maximum of a time limit; seconds without a limit.
SHARE, MOST_SECONDS, SECONDS = 0.25, 5.0, 2.0

# The same for trees of few thresholds, and the share of that time for the search itself.
SHARE_FOR_FEW, SECONDS_FOR_FEW = 0.2, 2.0
SEARCH_SHARE = 0.6

# Thresholds of each column, at most and at least.
MOST_THRESHOLDS, LEAST_THRESHOLDS = 32, 4

# Pairs of tests by rows that are counted in a second, approximately: whole numbers, and others.
PAIRS_PER_SECOND, REAL_PAIRS_PER_SECOND = 5e11, 8e10

# Outcomes of tests, eight to a byte, that are made in a second.
BYTES_PER_SECOND = 2.5e8

# Work for a first deep tree, in sweeps of all pairs and rows.
SWEEPS = 8


@dataclass(frozen=True)
class ShortSearch:
    """The result of a short search by the bits engine.

    Attributes
    ----------
    lower_bound : float
        In units of the engine; no tree costs less.

    nodes : ndarray
        The best tree.
    """

    lower_bound: float
    nodes: np.ndarray


def share_of_time(limits):
    """Seconds for a short search."""
    limit = limits.time_limit
    return SECONDS if limit is None else min(MOST_SECONDS, SHARE * limit)


def short_search(problem, tests, session, seconds):
    """Search for the least sum over leaves for some seconds, with a clock of its own."""
    aside = session.aside(seconds, problem.limits.memory_limit)
    limits = problem.limits
    split_cost = limits.split_cost / problem.form.scale
    solver = BitsSolver(problem, tests, aside, split_cost=split_cost)
    engine = solver.engine
    solver.search(limits.max_depth, limits.max_splits, by_discrepancy=True)
    aside.control.raise_pending()
    return ShortSearch(engine.lower_bound, engine.known_tree())


def number_of_few_thresholds(plan, session):
    """Time for a search among few thresholds, and how many; 0 of both where it has no use."""
    limits = plan.problem.limits
    is_deep = limits.max_depth > 2 and limits.max_splits > 2
    has_few_classes = len(plan.problem.form.class_mass) <= MAX_CLASSES
    is_useful = plan.few_tests is not None and is_deep and has_few_classes
    if not is_useful or not session.may_stop(limits):
        return 0.0, 0
    limit = limits.time_limit
    seconds = SECONDS_FOR_FEW if limit is None else SHARE_FOR_FEW * limit
    # Half of the time: other programs may use the processor, too.
    n_thresholds = plan.few_tests.number_in(SEARCH_SHARE / 2.0 * seconds)
    return (seconds, n_thresholds) if n_thresholds >= LEAST_THRESHOLDS else (0.0, 0)


class FewTests:
    """Tests of few thresholds of a table, made on demand.

    Parameters
    ----------
    table : Table
    cuts : list of ndarray or None
        The allowed thresholds, as ``BinaryTests.from_table`` takes them.
    data : TrainingData
    split : class
        A value of ``CATEGORICAL_SPLITS``.
    """

    def __init__(self, table, cuts, data, split):
        self.table, self.cuts, self.data, self.split = table, cuts, data, split

    def make(self, n_thresholds=None):
        """Tests of at most that many thresholds of each column; of all for None."""
        if n_thresholds is None:
            cuts = self.cuts
        elif self.cuts is None:
            cuts = QuantileThresholds(n_thresholds).codes(self.table, self.data)
        else:
            cuts = [thinned(codes, n_thresholds) for codes in self.cuts]
        return BinaryTests.from_table(
            self.table, cuts, self.data.encoder.feature_names_, self.split
        )

    def number_in(self, seconds):
        """Number of thresholds a column with which a deep tree can be found in some time."""
        is_whole = self.data.classes is not None and self.data.has_unit_weights
        rate = PAIRS_PER_SECOND if is_whole else REAL_PAIRS_PER_SECOND
        n_tests = math.sqrt(seconds * rate / (SWEEPS * self.table.n_rows))
        n_thresholds = min(MOST_THRESHOLDS, int(n_tests / self.table.n_columns))
        n_made = self.count(n_thresholds)
        making = n_made * self.table.n_rows / 8 / BYTES_PER_SECOND
        # Categories are not thinned: there may be more than can be searched, or made in time.
        return n_thresholds if n_made <= MAX_TESTS and making <= seconds else 0

    def number_within(self, n_tests):
        """Maximum number of thresholds a column for so many tests; at least 1, 0 if too many."""
        least, above = 1, n_tests + 1
        while above - least > 1:
            middle = (least + above) // 2
            least, above = (middle, above) if self.count(middle) <= n_tests else (least, middle)
        return least if self.count(least) <= MAX_TESTS else 0

    def count(self, n_thresholds=None):
        """Number of tests of at most that many thresholds of each column; of all for None."""
        is_nominal = self.table.is_nominal
        n_values = np.array([len(values) for values in self.table.values], dtype=np.int64)
        of_numbers = np.maximum(0, n_values - 1)
        if self.cuts is not None:
            of_numbers = np.array([len(codes) for codes in self.cuts], dtype=np.int64)
        if n_thresholds is not None:
            of_numbers = np.minimum(of_numbers, n_thresholds)
        n_asked = [len(self.split.questions(n, name)[0]) for n, name in self._nominal()]
        n_tests = of_numbers.copy()
        n_tests[is_nominal] = n_asked
        return int(np.where(self.table.n_missing > 0, 2 * n_tests + 1, n_tests).sum())

    def _nominal(self):
        """Number of categories, and name, of each nominal column."""
        names = self.data.encoder.feature_names_
        return [
            (len(self.table.values[j]), names[j]) for j in np.flatnonzero(self.table.is_nominal)
        ]


def thinned(codes, n_thresholds):
    """At most that many of some thresholds, spread evenly."""
    if len(codes) <= n_thresholds:
        return codes
    return codes[np.linspace(0, len(codes) - 1, n_thresholds).astype(np.intp)]


def known_trees(problem, session, solve, keeps_all):
    """Trees for a path that may be stopped: the best in a share of the time, by depth.

    Half of the share is for the largest depth. The rest is for the others, if later searches can
    use what is found (`keeps_all`). `solve` searches within a depth and a size.
    """
    limits, seconds = problem.limits, share_of_time(problem.limits) / 2.0
    known = KnownTrees(problem)
    for depth in range(limits.max_depth, 2, -1):
        with session.for_seconds(seconds):
            answer = solve(depth, limits.max_splits)
        # Pruned, the deepest tree serves the other depths.
        known.offer(answer, range(depth + 1) if depth == limits.max_depth else [depth])
        seconds = share_of_time(limits) / 2.0 / max(1, limits.max_depth - 3)
        if session.control.stopped or not keeps_all:
            break
    return known


class KnownTrees:
    """Trees for every depth and number of splits, made of a few by pruning.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    costs : ndarray of shape (max_depth + 1, max_splits + 1)
        Of the best of them, in units of the engine; infinity where there is none.
    """

    def __init__(self, problem):
        limits = problem.limits
        self.problem = problem
        self.costs = np.full((limits.max_depth + 1, limits.max_splits + 1), np.inf)
        self._source = {}

    def offer(self, answer, depths):
        """Prune a tree for some depths."""
        for depth in depths:
            pruned = Prunings.of(self.problem.within(max_depth=depth), answer.tests, answer.nodes)
            sizes = pruned.useful_sizes()
            row = self.costs[depth]
            # With at most so many splits: the largest useful size within.
            best = sizes[np.searchsorted(sizes, np.arange(len(row)), side="right") - 1]
            costs = self.problem.in_engine_units(pruned.costs[best])
            for splits in np.flatnonzero(costs < row).tolist():
                row[splits] = costs[splits]
                self._source[depth, splits] = answer.tests, pruned, best[splits]

    def tree(self, depth, splits):
        """Tests and nodes of the tree for one depth and number of splits."""
        tests, pruned, size = self._source[depth, splits]
        return tests, pruned.tree(size)[0]
