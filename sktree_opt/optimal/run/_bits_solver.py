"""The bits engine: the best tree of binary tests, level by level.

``find_tree_of_tests`` is the whole search. ``BitsSolver`` asks the same engine for optima within
several limits, one after the other: what a search has found stays in the engine's cache, so that
the next one costs only what is new (MurTree, JMLR 23(26), section 4.5.5).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sktree_opt.optimal.bits._bit_engine import ANY_DEPTH, BitEngine
from sktree_opt.optimal.objectives._leaf_objectives import refuse_many_classes
from sktree_opt.optimal.run._problem import Solution, raised
from sktree_opt.optimal.run._trees import (
    checked_nodes,
    equal_rows_bound,
    is_within,
    tree_and_objective,
)
from sktree_opt.optimal.run.remote._rounds import solve_columns
from sktree_opt.preprocessing._binary_tests import BinaryTests

# Bytes that caches may take when the user sets no limit.
DEFAULT_CACHE_BYTES = 1 << 30

# A search that took less and is proved needs no bound on its way there.
SECONDS_WITHOUT_BOUND = 0.1

# Work for a smaller tree than the first that costs as little as any might, by that for the first.
SHARE_FOR_SIZE = 0.4

# Trees with more levels are searched for by limited discrepancy, too; in tables of so many slots of
# rows times tests, trees with more levels than a few.
PROVABLE_DEPTH, FEW_LEVELS = 5, 3
LARGE_TABLE = 1_000_000

# Trees of all depths at once are first searched for with so many sweeps of rows, or fewer in large
# tables: at most so many slots of rows times pairs of tests. Then with twice as many each time.
# Costs up to these shares of the gap are ruled out one after the other, and limited discrepancy
# takes such a share of the work.
FIRST_SWEEPS, FIRST_WORK, GROWTH_OF_SWEEPS = 16384, 1 << 38, 2
SHARES_OF_GAP, SHARE_OF_DISCREPANCIES = (0.125, 0.25, 0.5, 0.5, 1.0), 0.25

# Discrepancies of a search that looks ahead. Those in between would take half as much time again.
DISCREPANCIES_AHEAD = (0, 2, 5)

# Columns of all ranks, everywhere.
MOST_DISCREPANCIES = 40


def make_engine(problem, tests, control, off=()):
    """An engine for a problem; `off` as in ``find_tree_of_tests``."""
    refuse_many_classes(problem.form)
    limits = problem.limits
    has_no_limit = limits.memory_limit is None
    return BitEngine(
        tests.bits,
        tests.n_tests,
        problem.objective.targets,
        problem.weights,
        problem.form,
        control,
        min_samples_leaf=limits.min_samples_leaf,
        min_weight_leaf=limits.min_weight_leaf,
        cache_bytes=DEFAULT_CACHE_BYTES if has_no_limit else limits.memory_limit,
        off=off,
    )


def open_engine(problem, tests, session, off=()):
    """The engine of the last fit, or a new one (see ``Session.open``)."""

    def make(control):
        return make_engine(problem, tests, control, off)

    return session.open(problem, tests, ("depths",), make)


def find_tree_of_tests(problem, tests, session, off=(), record=None, is_remote=False):
    """Find the best tree of binary tests.

    Parameters
    ----------
    problem : Problem

    tests : BinaryTests

    session : Session

    off : tuple of str
        Techniques to do without (see ``bits._bit_engine.SWITCHES``).

    record : Record or None
        What is known of the search, and where it is written.

    is_remote : bool, default=False
        Whether workers search the last level.

    Returns
    -------
    solution : Solution
    """
    opened = open_engine(problem, tests, session, off)
    control, engine, limits = session.control, opened.search, problem.limits
    start = control.seconds
    max_depth = ANY_DEPTH if limits.any_depth else limits.max_depth
    engine.begin(max_depth, limits.max_splits, limits.split_cost / problem.form.scale)
    # A deep tree is put together from one sweep of all rows for each level.
    session.keep_back((limits.max_depth - 2) * (control.seconds - start))
    levels = Levels(problem, tests, session, engine, record, is_remote)
    if opened.known is not None:
        levels.offer(opened.known)
    levels.take_up()
    looks_ahead = limits.looks_ahead and limits.max_depth > 2
    levels.look_ahead() if looks_ahead else levels.search(limits.max_depth)
    levels.write()
    is_proved = engine.cost <= engine.lower_bound
    is_alone = session.kept is None and limits.n_threads == 1 and not is_remote
    if is_proved and engine.costs_nothing and not (is_alone or looks_ahead):
        nodes, has_fewest_tests = tree_of_one_thread(problem, tests, session, engine, off)
    else:
        is_known = levels.ended_by_discrepancy or looks_ahead
        nodes = engine.known_tree() if is_known else engine.tree(SHARE_FOR_SIZE)
        has_fewest_tests = engine.has_fewest_splits
    session.close(opened, nodes)
    status = "optimal" if is_proved else control.status
    if looks_ahead and not is_proved and not control.stopped:
        status = "lookahead"
    cost, bound = problem.in_units(engine.cost), -np.inf
    has_gap = not is_proved or control.seconds > SECONDS_WITHOUT_BOUND
    if has_gap and (looks_ahead or (limits.max_depth > 3 and session.may_stop(limits))):
        bound = equal_rows_bound(problem, tests)
    moments = problem.moments_in_units(engine.incumbents)
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=raised(problem.in_units(engine.lower_bound), bound, cost),
        status=status,
        incumbents=[(t, cost, raised(least, bound, cost)) for t, cost, least in moments],
        stats=engine.stats | {"has_fewest_tests": has_fewest_tests, "seconds": control.seconds},
    )


def tree_of_one_thread(problem, tests, session, engine, off):
    """The tree of a search that has ended at the first tree that costs as little as any might.

    Several trees may, and threads and earlier fits decide which is found first. The answer is the
    one that a single thread finds without an earlier fit.

    Returns
    -------
    nodes : ndarray

    has_fewest_tests : bool
    """
    alone = session.alone()
    found = find_tree_of_tests(problem.within(n_threads=1), tests, alone, off)
    if session.control.stopped:
        return engine.known_tree(), False
    return found.nodes, found.stats["has_fewest_tests"]


class Levels:
    """The search of an engine: level by level, with limited discrepancy search in between.

    Limited discrepancy search finds good trees of full depth before the levels are proved. Up to
    ``PROVABLE_DEPTH`` levels, or few in large tables, the greedy tree is enough. Beyond them, the
    step that is expected to take less work goes first. One more discrepancy takes about three times
    the work of the last one; one more level takes the work of the last one times half the number of
    columns. Both are done whether or not the search may be stopped, so that a limit does not change
    the answer among equally good trees.

    Parameters
    ----------
    problem : Problem

    tests : BinaryTests

    session : Session

    engine : BitEngine
        Whose search has begun.

    record : Record or None, default=None
        What is known of the search, and where it is written: the best tree, and what is known of
        the root's columns in each level.

    is_remote : bool, default=False
        Whether workers search the last level.
    """

    def __init__(self, problem, tests, session, engine, record=None, is_remote=False):
        self.problem, self.tests, self.session, self.engine = problem, tests, session, engine
        self.record, self.columns, self.is_remote = record, {}, is_remote
        self.discrepancies = 0
        self.pass_work = self.level_work = self.before_level = 0
        self.ended_by_discrepancy = False

    def search(self, max_depth, upper=np.inf, by_discrepancy=True):
        """Search all levels to a depth for trees that cost less than `upper`."""
        engine, control = self.engine, self.session.control
        for depth in range(3, max_depth + 1):
            if by_discrepancy:
                self._allow_discrepancies(depth, max_depth)
            if control.poll() or engine.cost <= engine.lower_bound:
                return
            if engine.covers_any_depth:
                self._search_any_depth(upper, by_discrepancy)
                return
            self._deepen(depth, upper)
            self.level_work = self._work() - self.before_level
            self.before_level = self._work()

    def offer(self, nodes):
        """Begin with a tree that is known."""
        cost = tree_and_objective(self.problem, self.tests, nodes)[1]
        self.engine.offer(nodes, self.problem.in_engine_units(cost))

    def take_up(self):
        """Go on where the search was when it was written."""
        state = None if self.record is None else self.record.state
        if state is None:
            return
        with self.record.reading():
            nodes = checked_nodes(state["nodes"], self.tests.n_tests)
            if is_within(nodes, self.problem.limits):
                self.offer(nodes)
            self.discrepancies = state["discrepancies"]
            if self.discrepancies is not None:
                self.discrepancies = operator.index(self.discrepancies)
            self.columns = {int(depth): known for depth, known in state["columns"].items()}

    def write(self):
        """Write where the search is."""
        if self.record is not None:
            self.record.write(
                {
                    "nodes": self.engine.known_tree(),
                    "discrepancies": self.discrepancies,
                    "columns": {str(depth): known for depth, known in self.columns.items()},
                }
            )

    def look_ahead(self):
        """Search for a good tree alone."""
        for discrepancies in DISCREPANCIES_AHEAD:
            if self.session.control.poll() or self.engine.cost <= self.engine.lower_bound:
                return
            self._search_discrepancies(discrepancies)

    def _deepen(self, depth, upper):
        """Search one level; callbacks are told of each step, and may stop it."""
        self._begin_level(depth, upper)
        if self.is_remote and depth == self.problem.limits.max_depth:
            self.engine.deepen(depth, upper, self.problem.limits.n_threads, 0.0)
            solve_columns(self, depth)
        is_done = False
        while not is_done and not self.session.control.stopped:
            is_done = self._search_level(depth, upper)

    def _begin_level(self, depth, upper):
        """Take up what is known of a level, which is begun, no more."""
        if depth in self.columns:
            with self.record.reading():
                n_threads = self.problem.limits.n_threads
                self.engine.deepen(depth, upper, n_threads, 0.0, self.columns[depth])

    def _search_level(self, depth, upper, sweeps=np.inf):
        """Search on in a level; False if the time of a step, or `sweeps`, ended it before."""
        session, n_threads = self.session, self.problem.limits.n_threads
        seconds, name = (
            session.seconds_a_step,
            "any depth" if depth == ANY_DEPTH else f"depth {depth}",
        )
        work = partial(self.engine.deepen, depth, upper, n_threads, seconds, None, sweeps)
        is_done = session.step(self.problem, name, work, self.best_tree)
        self.keep_columns(depth)
        return is_done

    def keep_columns(self, depth):
        """Keep what is known of the root's columns, where somebody wants to know."""
        if self.record is not None or self.is_remote:
            self.columns[depth] = largest_of_each(*self.engine.known_columns)
        if self.record is not None and self.record.is_due:
            self.write()

    def _search_any_depth(self, upper, by_discrepancy):
        """Search trees of all depths at once; bounds rise and trees improve step by step."""
        engine, stats = self.engine, self.engine.stats
        work_a_sweep = stats["n_row_slots"] * stats["n_distinct_tests"] ** 2
        sweeps = min(FIRST_SWEEPS, 1 + FIRST_WORK // max(1, work_a_sweep))
        self._begin_level(ANY_DEPTH, upper)
        if self._search_below(upper, sweeps):
            return
        for share in SHARES_OF_GAP:
            limit = engine.lower_bound + share * (engine.cost - engine.lower_bound)
            limit = min(limit, upper) if share < 1.0 else upper
            while not self._search_below(limit, sweeps):
                sweeps *= GROWTH_OF_SWEEPS
                if by_discrepancy:
                    self._keep_up_with(sweeps)

    def _keep_up_with(self, sweeps):
        """Allow more discrepancies until one more would take a share of so many sweeps."""
        self.discrepancies = self.discrepancies or 0
        while self.discrepancies <= MOST_DISCREPANCIES and not self.session.control.poll():
            if 3 * self.pass_work >= SHARE_OF_DISCREPANCIES * sweeps:
                return
            before = self._work()
            self._search_discrepancies(self.discrepancies)
            self.discrepancies += 1
            self.pass_work = self._work() - before

    def _search_below(self, upper, sweeps):
        """Search trees of all depths for one that costs less; False if `sweeps` were over."""
        if self.session.control.poll() or self.engine.cost <= self.engine.lower_bound:
            return True
        return self._search_level(ANY_DEPTH, upper, sweeps)

    def _allow_discrepancies(self, depth, max_depth):
        """Allow more discrepancies as long as that is cheaper than searching to `depth`."""
        if self.discrepancies is None or depth == max_depth == 3:
            return
        engine, control = self.engine, self.session.control
        is_large = engine.stats["n_row_slots"] * engine.stats["n_distinct_tests"] >= LARGE_TABLE
        is_deep = max_depth > (FEW_LEVELS if is_large else PROVABLE_DEPTH)
        level_work = max(self.level_work, 2) * engine.stats["n_distinct_tests"] / 2
        while engine.cost > engine.lower_bound and not control.poll():
            if 3 * self.pass_work > level_work or self.discrepancies > MOST_DISCREPANCIES:
                return
            before = self._work()
            self._search_discrepancies(self.discrepancies)
            self.before_level = self._work()
            self.pass_work = self.before_level - before
            if not is_deep:
                self.discrepancies = None
                return
            self.discrepancies += 1
            self.ended_by_discrepancy = engine.cost <= engine.lower_bound
            if engine.covers_any_depth:
                # More are allowed as that search goes on.
                return

    def _search_discrepancies(self, discrepancies):
        work = partial(self.engine.search_discrepancies, discrepancies)
        self.session.step(self.problem, f"{discrepancies} discrepancies", work, self.best_tree)

    def best_tree(self, _=None):
        """The best tree so far: tests and nodes."""
        return self.tests, self.engine.known_tree()

    def _work(self):
        """Sweeps of rows so far; one out of the cache takes about half as long."""
        stats = self.engine.stats
        return stats["n_depth_two_counted"] + stats["n_depth_two_cached"] // 2


def largest_of_each(places, bounds):
    """The largest bounds of each place."""
    found, at = np.unique(places, axis=0, return_inverse=True)
    largest = np.full((len(found), 2), -np.inf)
    np.maximum.at(largest, at.ravel(), bounds)
    return found, largest


@dataclass(frozen=True)
class Answer:
    """The optimum within some limits.

    Attributes
    ----------
    max_depth, max_splits : int
        The limits.

    cost : float
        Cost of the tree, in the engine's units.

    tests : BinaryTests
        What the nodes refer to.

    nodes : ndarray
        The tree.

    is_proved : bool
        Whether no tree within the limits costs less.
    """

    max_depth: int
    max_splits: int
    cost: float
    tests: BinaryTests
    nodes: np.ndarray
    is_proved: bool

    @property
    def n_splits(self):
        """Number of splits of the tree."""
        return int(np.count_nonzero(self.nodes[:, 0] >= 0))


def n_useful_splits(max_depth, max_splits):
    """Splits that a tree of some depth may have at most."""
    most = 2 ** min(max_depth, 30) - 1
    return most if max_splits is None else min(max_splits, most)


class BitsSolver:
    """Optima of one engine by depth and number of splits.

    Parameters
    ----------
    problem : Problem
        Its limits on depth and size are not used.

    tests : BinaryTests

    session : Session

    engine : BitEngine or None, default=None
        None for a new one.

    split_cost : float, default=0.0
        Added to the cost for each split, in the engine's units.

    Attributes
    ----------
    lower_bound, full_bound : float
        No tree within the limits costs less: those of the last search, and of the last one that
        allowed discrepancies.

    full_moments : list
        Incumbents of the latter, as ``BitEngine.incumbents``.
    """

    def __init__(self, problem, tests, session, engine=None, split_cost=0.0):
        self.problem, self.tests, self.session = problem, tests, session
        self.engine = make_engine(problem, tests, session.control) if engine is None else engine
        self.split_cost = split_cost
        self.lower_bound = self.full_bound = 0.0
        self.full_moments = []

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.session.control.stopped

    @property
    def stats(self):
        """Counters of the searches."""
        return self.engine.stats

    def poll(self):
        """Read the clock, which short searches do not; True if the search has to end."""
        return self.session.control.poll()

    def search(self, max_depth, max_splits, upper=np.inf, by_discrepancy=False):
        """Let the engine search within some limits; returns the ``Levels`` that did."""
        self.engine.begin(max_depth, max_splits, self.split_cost)
        levels = Levels(self.problem, self.tests, self.session, self.engine)
        levels.search(max_depth, upper, by_discrepancy)
        return levels

    def solve(self, max_depth, max_splits, upper=np.inf, by_discrepancy=False):
        """Best tree within the limits that costs less than `upper`; None if there is none.

        After a stop, the best tree known, proved or not; a good one if the search goes
        `by_discrepancy` too.
        """
        max_splits = n_useful_splits(max_depth, max_splits)
        max_depth = min(max_depth, max_splits)
        engine, levels = self.engine, self.search(max_depth, max_splits, upper, by_discrepancy)
        is_proved = not self.stopped
        self.lower_bound = engine.lower_bound
        if by_discrepancy:
            self.full_bound, self.full_moments = engine.lower_bound, engine.incumbents
        if is_proved and not engine.cost < upper:
            return None
        # Limited discrepancy has spared the levels that would decide among equally good trees.
        nodes = engine.known_tree() if levels.ended_by_discrepancy else engine.tree()
        return Answer(max_depth, max_splits, engine.cost, self.tests, nodes, is_proved)


def at_most(cost):
    """An upper bound, exclusive, that lets trees of this cost through."""
    return np.nextafter(cost, np.inf) + abs(cost) * 2.0**-50
