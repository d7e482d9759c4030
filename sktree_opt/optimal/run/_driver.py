"""From tests and an objective to a proved tree: what every optimal estimator runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sktree_opt.optimal.bits._engine import Engine, visit_nodes
from sktree_opt.optimal.objectives._leaf_objectives import LeafObjective, refuse_many_classes
from sktree_opt.optimal.run._floors import equal_rows_floor, may_stop
from sktree_opt.optimal.run._initial import is_within
from sktree_opt.optimal.run._warm import KeptSearch, fingerprint
from sktree_opt.preprocessing import Table
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.tree import NODE_DTYPE, Tree
from sktree_opt.tree._node import CATEGORY_KINDS, LEAF
from sktree_opt.utils._callbacks import SECONDS_A_CHUNK, Progress
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._validation import TrainingData

# What caches may take when the user sets no limit.
DEFAULT_CACHE_BYTES = 1 << 30

# The gap of a proved search that took less is of no interest.
SECONDS_WITHOUT_FLOOR = 0.1

# Work for a smaller tree than the first that costs as little as any might, by that for the first.
SHARE_FOR_SIZE = 0.4

# Trees with more levels are searched for by limited discrepancy, too.
PROVABLE_DEPTH = 5

# Columns of all ranks, everywhere.
MOST_DISCREPANCIES = 40


@dataclass
class SearchLimits:
    """Constraints on the tree, and on the search for it.

    Attributes
    ----------
    max_depth, max_splits : int
    min_samples_leaf : int
    min_weight_leaf : float
    split_cost : float
        In units of the objective.
    time_limit : float or None
    memory_limit : int or None
        Bytes.
    n_threads : int
    """

    max_depth: int
    max_splits: int
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    split_cost: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    n_threads: int = 1


@dataclass
class SearchResult:
    """What a search found.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes, 3)
        Test or -1, child of the rows that pass it, child of the others.
    cost, lower_bound : float
        In units of the objective, splits included.
    status : str
    incumbents : list of (float, float, float)
        Seconds, cost and lower bound.
    stats : dict
    """

    nodes: np.ndarray
    cost: float
    lower_bound: float
    status: str
    incumbents: list
    stats: dict


@dataclass
class Problem:
    """What a search is about.

    Attributes
    ----------
    tests : BinaryTests or None
        None until a search over all thresholds of `table` has chosen some.
    y : ndarray
        Class codes or targets.
    weights : ndarray or None
        None when all are 1.
    leaf_form : LeafObjective
    limits : SearchLimits
    data : TrainingData or None
        What trees are made with; a search does without.
    n_categories : ndarray or None
        By feature, -1 for numeric ones; as `data`.
    table : Table or None
        What a search over all thresholds takes instead of `tests`.
    thresholds : list of ndarray or None
        Of `table`, by column, above each code, if codes are intervals; None if they are values.
    few_tests : FewTests or None
        Some tests of `table`, for when a search over all of it is stopped.
    started : SearchControl or None
        What may end the search, with the clock that runs since the fit began; None: a new one.
    cost_of : callable or None
        From nodes to the objective of the tree.
    attributes_of : callable or None
        From nodes, and what they answer, to the attributes of an estimator fitted with them.
    node_costs : callable or None
        From the number of a group by row to what each group costs as a leaf.
    costs_in : callable or None
        From ``NodeRows`` to what each node costs as a leaf.
    progress : Progress or None
        Callbacks to be told.
    kept : KeptSearch or None
        Where the search is kept for the next one.
    initial : ndarray or None
        Nodes of a tree that is known.
    """

    tests: BinaryTests | None
    y: np.ndarray
    weights: np.ndarray | None
    leaf_form: LeafObjective
    limits: SearchLimits
    data: TrainingData | None = None
    n_categories: np.ndarray | None = None
    table: Table | None = None
    thresholds: list | None = None
    few_tests: object | None = None
    started: SearchControl | None = None
    cost_of: Callable | None = None
    attributes_of: Callable | None = None
    node_costs: Callable | None = None
    costs_in: Callable | None = None
    progress: Progress | None = None
    kept: KeptSearch | None = None
    initial: np.ndarray | None = None

    def in_units(self, cost):
        """An engine's cost in units of the objective."""
        return self.leaf_form.scale * cost + self.leaf_form.constant

    def in_engine_units(self, objective):
        """The reverse."""
        return (objective - self.leaf_form.constant) / self.leaf_form.scale

    def rows_in(self, nodes):
        """What reaches each of some nodes, breadth first."""
        return NodeRows.of(self, breadth_first(nodes)[0])

    @property
    def is_watched(self):
        """Whether there is a callback to be told."""
        return self.progress is not None and self.progress.is_watched

    def chunk(self, control, name, work, answer_of):
        """``Progress.chunk`` for trees.

        `answer_of` gives, from what `work` returned, the nodes of the best tree and, if it is not
        the most frequent one, the class that each of them answers.
        """
        if not self.is_watched:
            return work()
        return self.progress.chunk(
            control, name, work, lambda result: lambda: self.attributes_of(*answer_of(result))
        )

    def moments_in_units(self, moments):
        """(seconds, cost, bound) of an engine in units of the objective."""
        return [(t, self.in_units(cost), self.in_units(bound)) for t, cost, bound in moments]

    def control(self):
        """What may end the search."""
        if self.started is not None:
            return self.started
        return SearchControl(self.limits.time_limit, self.limits.memory_limit)

    def open(self, kind, make):
        """Control and search: those of the last fit on the same data, or new ones.

        Parameters
        ----------
        kind : tuple
            What kind of search; whatever else it depends on.
        make : callable
            From a control to a new search.

        Returns
        -------
        control : SearchControl
        search : object
        close : callable
            To be called when the search is over, for the next fit, with the nodes of its tree.
        """
        if self.kept is None:
            control = self.control()
            return control, make(control), lambda nodes: None
        name = fingerprint(self, kind)
        found = self.kept.take(name)
        if found is None:
            control = self.control()
            found = control, make(control)
        else:
            limit = self.limits.time_limit
            left = None if limit is None else max(0.0, limit - self.control().seconds)
            *found, nodes = found
            found[0].restart(left, self.limits.memory_limit)
            if self.initial is None and nodes is not None and is_within(nodes, self.limits):
                self.initial = nodes
        return *found, lambda nodes: self.kept.keep(name, *found, nodes)

    def engine(self, control, off=(), **order):
        """An engine for the problem; see ``_engine.Engine`` for `off` and `order`."""
        refuse_many_classes(self.leaf_form)
        limits = self.limits
        no_limit = limits.memory_limit is None
        return Engine(
            self.tests.bits,
            self.tests.n_tests,
            self.y,
            self.weights,
            self.leaf_form,
            control,
            min_samples_leaf=limits.min_samples_leaf,
            min_weight_leaf=limits.min_weight_leaf,
            cache_bytes=DEFAULT_CACHE_BYTES if no_limit else limits.memory_limit,
            off=off,
            **order,
        )


def search(problem, off=(), **order):
    """Find the best tree of binary tests.

    Parameters
    ----------
    problem : Problem
    off : tuple of str
        Techniques to do without (see ``_engine.SWITCHES``).
    **order
        `column_order` and `seed` of ``_engine.Engine``.

    Returns
    -------
    result : SearchResult
    """
    limits = problem.limits
    control, engine, close = problem.open(
        "depths", lambda control: problem.engine(control, off, **order)
    )
    begin(problem, engine, limits.max_depth, limits.max_splits)
    dives = Dives(problem, control, engine)
    for depth in range(3, limits.max_depth + 1):
        dives.go_on(depth)
        if control.poll() or engine.cost <= engine.lower_bound:
            break
        deepen(problem, control, engine, depth)
        dives.level_is_done()
    control.raise_pending()
    proved = engine.cost <= engine.lower_bound
    stats = {}
    if proved and engine.is_at_floor and not is_plain_search(problem):
        nodes, stats = plain_tree(problem, control, engine, off)
    else:
        nodes = engine.known_tree() if dives.has_ended_it else engine.tree(SHARE_FOR_SIZE)
        stats = {"has_fewest_tests": engine.has_fewest_splits}
    control.raise_pending()
    close(nodes)
    status = "optimal" if proved else control.status
    moments = problem.moments_in_units(engine.incumbents)
    cost = problem.in_units(engine.cost)
    floor = -np.inf
    has_gap = not proved or control.seconds > SECONDS_WITHOUT_FLOOR
    if has_gap and limits.max_depth > 3 and may_stop(problem):
        floor = equal_rows_floor(problem)
    return SearchResult(
        nodes=nodes,
        cost=cost,
        lower_bound=max(problem.in_units(engine.lower_bound), min(floor, cost)),
        status=status,
        incumbents=[(t, cost, max(bound, min(floor, cost))) for t, cost, bound in moments],
        stats=engine.stats | stats | {"seconds": control.seconds},
    )


def is_plain_search(problem):
    """Whether a search is the one that decides ties at the floor, see ``plain_tree``."""
    return problem.kept is None and problem.initial is None and problem.limits.n_threads == 1


def plain_tree(problem, control, engine, off):
    """The tree of a search that has ended at the first tree that costs as little as any might.

    Which one that is depends on threads and on what was known. So it is the one that a single
    thread finds that begins with nothing.
    """
    limits = replace(problem.limits, n_threads=1)
    plain = replace(problem, limits=limits, started=control, progress=None, kept=None, initial=None)
    found = search(plain, off)
    if control.stopped:
        return engine.known_tree(), {"has_fewest_tests": False}
    return found.nodes, {"has_fewest_tests": found.stats["has_fewest_tests"]}


class Dives:
    """When a search looks for good trees of full depth, between the levels that it proves.

    Beyond ``PROVABLE_DEPTH`` levels whichever is expected to take less work goes first: one more
    discrepancy, about three times the last dive, or one more level, half as many times the last one
    as there are columns. Up to that depth a greedy tree is enough. It is there whether or not the
    search may be stopped: of equally good trees, the answer is not to depend on that.
    """

    def __init__(self, problem, control, engine):
        self.problem, self.control, self.engine = problem, control, engine
        self.is_deep = problem.limits.max_depth > PROVABLE_DEPTH
        self.discrepancies = 0
        self.dive_work = self.level_work = self.before_level = 0
        self.has_ended_it = False

    def go_on(self, depth):
        """Dive as long as that is cheaper than searching to `depth`."""
        if self.discrepancies is None or depth == self.problem.limits.max_depth == 3:
            return
        n_columns = self.engine.stats["n_distinct_tests"]
        level_work = max(self.level_work, 2) * n_columns / 2
        while self.engine.cost > self.engine.lower_bound and not self.control.poll():
            if 3 * self.dive_work > level_work or self.discrepancies > MOST_DISCREPANCIES:
                return
            before = self.work()
            self.problem.chunk(
                self.control,
                f"{self.discrepancies} discrepancies",
                partial(self.engine.dive, self.discrepancies),
                lambda _: (self.engine.known_tree(),),
            )
            self.before_level = self.work()
            self.dive_work = self.before_level - before
            self.discrepancies = self.discrepancies + 1 if self.is_deep else None
            self.has_ended_it = self.is_deep and self.engine.cost <= self.engine.lower_bound
            if not self.is_deep:
                return

    def level_is_done(self):
        """Note how much work it was."""
        self.level_work = self.work() - self.before_level
        self.before_level = self.work()

    def work(self):
        """Sweeps of rows so far; one out of the cache takes about half as long."""
        stats = self.engine.stats
        return stats["n_depth_two_counted"] + stats["n_depth_two_cached"] // 2


def begin(problem, engine, max_depth, max_splits):
    """Start an engine's search, with the tree that is known."""
    engine.begin(max_depth, max_splits, problem.limits.split_cost / problem.leaf_form.scale)
    if problem.initial is not None:
        engine.offer(problem.initial, problem.in_engine_units(problem.cost_of(problem.initial)))


def deepen(problem, control, engine, depth, upper=np.inf):
    """Let an engine search to `depth`; callbacks are told of each chunk, and may stop it."""
    seconds = SECONDS_A_CHUNK if problem.is_watched else np.inf
    is_done = False
    while not is_done and not control.stopped:
        is_done = problem.chunk(
            control,
            f"depth {depth}",
            lambda: engine.deepen(depth, upper, problem.limits.n_threads, seconds),
            lambda _: (engine.known_tree(),),
        )


def breadth_first(nodes):
    """Nodes of a search result level by level, siblings side by side.

    Returns
    -------
    ordered : ndarray of int32, shape (n_nodes, 3)
    order : list of int
        Index of each of them in `nodes`.
    """
    given = nodes.tolist()
    order, ordered = [0], []
    for index in order:
        test, with_test, without = given[index]
        if test < 0:
            ordered.append((-1, -1, -1))
        else:
            ordered.append((test, len(order), len(order) + 1))
            order += [with_test, without]
    return np.array(ordered, dtype=np.int32), order


@dataclass
class NodeRows:
    """What reaches the nodes of a search result.

    Attributes
    ----------
    nodes : ndarray of int32, shape (n_nodes, 3)
        Breadth first.
    weights : ndarray of float64, shape (n_nodes, n_classes)
        By class; one column for a regression.
    n_rows : ndarray of int64, shape (n_nodes,)
    leaves : ndarray of int32, shape (n_rows,)
        Where each row ends.
    """

    nodes: np.ndarray
    weights: np.ndarray
    n_rows: np.ndarray
    leaves: np.ndarray

    @classmethod
    def of(cls, problem, nodes):
        """The rows of a problem in breadth-first nodes."""
        data, n_nodes = problem.data, len(nodes)
        is_classifier = data.classes is not None
        reached = cls(
            nodes=nodes,
            weights=np.zeros((n_nodes, len(data.classes) if is_classifier else 1)),
            n_rows=np.zeros(n_nodes, dtype=np.int64),
            leaves=np.empty(len(data.y), dtype=np.int32),
        )
        visit_nodes(
            problem.tests.bits,
            nodes,
            data.y if is_classifier else np.zeros(len(data.y), dtype=np.int32),
            data.weights,
            reached.weights,
            reached.n_rows,
            reached.leaves,
        )
        return reached


def make_tree(problem, reached, values, impurities, n_features):
    """The immutable tree of a search result; `values` and `impurities` are by node."""
    tests, n_categories = problem.tests, problem.n_categories
    is_inner = reached.nodes[:, 0] >= 0
    test = reached.nodes[is_inner, 0]
    records = np.zeros(len(reached.nodes), dtype=NODE_DTYPE)
    records["kind"] = LEAF
    records["missing_branch"] = records["feature"] = records["first_child"] = -1
    records["category_start"] = -1
    records["threshold"] = np.nan
    records["impurity"], records["weight"] = impurities, reached.weights.sum(axis=1)
    records["n_samples"] = reached.n_rows
    records["kind"][is_inner] = tests.kind[test]
    records["missing_branch"][is_inner] = tests.missing_branch[test]
    records["feature"][is_inner] = tests.feature[test]
    records["first_child"][is_inner] = reached.nodes[is_inner, 1]
    records["n_children"][is_inner] = 2
    records["threshold"][is_inner] = tests.threshold[test]
    branches = []
    for at in np.flatnonzero(np.isin(records["kind"], CATEGORY_KINDS)):
        branch = tests.category_branch(reached.nodes[at, 0], n_categories[records["feature"][at]])
        records["category_start"][at] = sum(map(len, branches))
        records["n_categories"][at] = len(branch)
        branches.append(branch)
    return Tree(
        records,
        values,
        np.concatenate(branches) if branches else (),
        n_features=n_features,
        is_classifier=problem.data.classes is not None,
        is_sound=True,
    )
