"""All trees that are nearly as good as the best one, or the k best: bounds, and what to do in time.

The search for a graph of trees needs a bound. The least cost gives it: for all trees within
`epsilon` at once, for the k best in steps, where the number of trees within one bound gives the
next. A search that is stopped answers with the last bound for which it was complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import refuse_many_classes
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._found_trees import (
    ROUNDING_UNITS,
    FoundTrees,
    graph_of_trees,
    shape_of_rows,
    worth_of_answers,
)
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._session import fingerprint
from sktree_opt.optimal.run._trees import Prunings
from sktree_opt.optimal.run.remote._graphs import GraphsOfWorkers
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, target_rows, with_rows_once
from sktree_opt.optimal.tree_sets._tree_graph import (
    MOST_UNITS,
    CountedTrees,
    GraphSearch,
    TreeGraph,
)
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._workers import has_local_backend

# Trees of a set if neither their number nor a distance is given.
DEFAULT_NUMBER = 10

# A bound that no tree reaches, in units of the grid, of which all rows cost some 2**40.
LARGE_BOUND, NO_BOUND = 2.0**44, 2.0**58

# The first excess over the least cost as a share of the cost of a single leaf; by how much an
# excess grows; and how many more trees than asked for one aims at.
FIRST_EXCESS = 1 / 256
LEAST_GROWTH, MOST_GROWTH = 1.1, 2.0
SURPLUS = 2.5

# After a stop trees are read one by one: at most so many, in so many seconds each; and
# reading may be so late.
MOST_AFTER_STOP = 1000
READING_SECONDS = 5e-4
LATE_SECONDS = 0.05

# A checkpoint has the costs of nodes so many levels below the root, with two levels at least, or
# three: there are many of less, and they are found soon.
LEVELS_BELOW, LEAST_DEPTH = 2, 2

# Beyond so many times the trees asked for, a graph is made smaller.
TOO_MANY = 20


@dataclass(frozen=True)
class Wanted:
    """The trees that are asked for.

    Attributes
    ----------
    n_trees : int or None
        At most so many; None for no limit.

    epsilon : float or None
        How much more than the best one they may cost; None for no limit.

    is_relative : bool
        Whether `epsilon` is a share of the best objective; else it is in its units.

    counts_tests : bool
        Whether trees with different tests are different; else those that part the rows otherwise.
    """

    n_trees: int | None
    epsilon: float | None
    is_relative: bool
    counts_tests: bool

    @property
    def number(self):
        """Maximum number of trees, or infinity."""
        if self.n_trees is not None:
            return self.n_trees
        return DEFAULT_NUMBER if self.epsilon is None else np.inf

    def largest(self, objective):
        """The largest objective that is wanted, given the best one."""
        if self.epsilon is None:
            return np.inf
        return objective * (1.0 + self.epsilon) if self.is_relative else objective + self.epsilon


@dataclass(frozen=True)
class Complete:
    """All trees up to a bound, counted.

    Attributes
    ----------
    graph : TreeGraph
    counted : CountedTrees
    bound : float
        In units of the grid.
    """

    graph: TreeGraph
    counted: CountedTrees
    bound: float

    @property
    def least(self):
        """The least cost."""
        return float(self.counted.costs[0])

    @property
    def n_trees(self):
        """Number of trees."""
        return sum(self.counted.counts)

    @property
    def n_settled(self):
        """Number of trees whose places in the order no tree beyond the bound can take."""
        return self.n_within(self.bound - ROUNDING_UNITS)

    def n_within(self, bound):
        """Number of trees up to a smaller bound."""
        return sum(self.counted.counts[: np.searchsorted(self.counted.costs, bound, "right")])

    def best(self):
        """Nodes of the best tree."""
        return self.counted.find(0, 0)[0]


def find_best_trees(plan, session, wanted):
    """Find a set of trees.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    wanted : Wanted

    Returns
    -------
    solution : Solution
        The best tree, and all of them as `found`.
    """
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    opened, search = open_search(problem, tests, session, wanted, ("tree set",))
    control = session.control
    first = None
    if limits.max_depth > 1 and session.may_stop(limits):
        first = short_search(problem, tests, session, share_of_time(limits))
    lower_bound = 0.0 if first is None else first.lower_bound
    end = session.keep_back(READING_SECONDS * min(wanted.number, MOST_AFTER_STOP))
    levels = DepthSearch(problem, tests, session, search, lower_bound)
    with recorded(search, session.record("set", plan, wanted), limits.max_depth):
        levels.search()
        is_found = not control.stopped
        if is_found:
            levels.widen(wanted)
    session.close(opened, None)
    is_whole = is_found or first is None
    found = levels.answer(wanted) if is_whole else levels.answer_after_stop(wanted, first, end)
    nodes = found.nodes(0)[0]
    cost = float(found.objectives(1)[0])
    bound = cost if is_found else min(cost, float(problem.in_units(lower_bound)))
    moments = problem.moments_in_units(levels.incumbents)
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(moments, control.seconds, cost, bound),
        stats=search.statistics()
        | {
            "n_graph_nodes": found.graph.n_nodes,
            "n_graph_options": found.graph.n_options,
            "seconds": control.seconds,
        },
        found=found,
    )


@contextmanager
def recorded(search, record, max_depth):
    """Write the costs that a search finds inside to a record, after taking those it has."""
    if record is None:
        yield
        return
    search.remember_costs(LEAST_DEPTH if max_depth <= 3 else max(3, max_depth - LEVELS_BELOW))
    if record.state is not None:
        with record.reading():
            search.take(*record.state["costs"])

    def state():
        return {"costs": search.remembered}

    with record.while_running(state):
        yield
    record.write(state())


def open_search(problem, tests, session, wanted, kind, answers_of=None, **shapes):
    """The search of the last fit or a new one, and what asks it: workers, where there are any.

    `kind` is what it depends on besides, the rest as ``make_search`` takes it.
    """
    limits = problem.limits
    kind += (limits.split_cost, wanted.counts_tests, limits.n_threads)
    make = partial(make_search, problem, tests, wanted, answers_of=answers_of, **shapes)
    opened = session.open(problem, tests, kind, make)
    if has_local_backend():
        return opened, opened.search
    answers_of = None if answers_of is None else answers_of.without_matrix()
    one = problem.within(n_threads=1).without_matrix()
    make = partial(make_search, one, tests, wanted, answers_of=answers_of, **shapes)
    name = fingerprint(problem, tests, kind, "graph")
    return opened, GraphsOfWorkers(opened.search, make, name, session, limits)


def make_search(problem, tests, wanted, control, answers_of=None, **shapes):
    """The engine's search for a problem.

    `answers_of` is a problem by whose objective leaves answer, `shapes` what tells trees apart.
    """
    data, limits, form = problem.data, problem.limits, problem.form
    refuse_many_classes(form)
    rows = tests.bits, tests.n_tests, problem.objective.targets, data.weights
    common: dict[str, Any] = {
        "feature": tests.feature,
        "split_cost": limits.split_cost / form.scale,
        "minima": limits.minima,
        "counts_tests": wanted.counts_tests,
        "n_threads": limits.n_threads,
        **shapes,
    }
    if data.classes is None:
        centre = float(problem.objective.given_targets[0] - problem.objective.targets[0])
        table = with_rows_once(target_rows(*rows), limits.minima)
        return GraphSearch(table, form, control, centre=centre, **common)
    # A form may have one class more than there are.
    second = shapes.get("second")
    n_classes = max(len(one.class_mass) for one in (form, second) if one is not None)
    worth, tolerance = worth_of_answers(problem if answers_of is None else answers_of)
    worth = np.pad(worth, ((0, n_classes - len(worth)), (0, 0)))
    table = with_rows_once(bit_rows(*rows, n_classes), limits.minima)
    return GraphSearch(table, form, control, worth=worth, tolerance=tolerance, **common)


class DepthSearch:
    """A search by depth, and then by bound.

    Parameters
    ----------
    problem : Problem
    tests : BinaryTests
    session : Session
    search : GraphSearch
    lower_bound : float
        No tree costs less, in units of the engine.

    Attributes
    ----------
    known : Complete
        The last set that was found completely: the best trees of a depth, or all up to a bound.

    incumbents : list of (float, float, float)
        Seconds, cost and lower bound, in units of the engine.
    """

    def __init__(self, problem, tests, session, search, lower_bound):
        self.problem, self.tests, self.session = problem, tests, session
        self.search_, self.lower_bound = search, lower_bound
        self.limits, self.control = problem.limits, session.control
        leaf = search.build(0, 0, NO_BOUND)
        self.known = Complete(leaf, leaf.count(SearchControl()), NO_BOUND)
        self.leaf_cost = self.known.least
        self.incumbents = [self._moment()]

    def search(self):
        """Find the best trees of each depth."""
        deepest = min(self.limits.max_depth, self.limits.max_splits)
        for depth in range(1, deepest + 1):
            found = self._step(f"depth {depth}", partial(self._best_of_depth, depth))
            if found is None:
                break
            self.known = found
            self.incumbents.append(self._moment())
            if self.control.stopped:
                break

    def widen(self, wanted):
        """Find all trees within the bound that is wanted, or wider ones until there are enough."""
        least = self.known.least
        largest = wanted.largest(self.problem.in_units(least * self.search_.grid))
        most = min(np.floor(min(self._in_grid(largest), NO_BOUND)) + ROUNDING_UNITS, NO_BOUND)
        if wanted.number == np.inf:
            self._widen_to(most)
            return
        excess = np.ceil(FIRST_EXCESS * self.leaf_cost) + ROUNDING_UNITS
        # Trees beyond the bound by a rounding error may be smaller.
        while self.known.n_settled < wanted.number and self.known.bound < most:
            bound = least + excess
            if bound > LARGE_BOUND + self.limits.max_splits * self.leaf_cost:
                bound = NO_BOUND
            if not self._widen_to(min(bound, most)):
                return
            excess = np.ceil(excess * self._growth(least, excess, wanted.number))
        if self.known.n_trees > TOO_MANY * wanted.number:
            ends = np.cumsum(np.array(self.known.counted.counts, dtype=object))
            last = int(np.searchsorted(ends, wanted.number))
            self._widen_to(float(self.known.counted.costs[last]) + ROUNDING_UNITS)

    def _in_grid(self, objective):
        """An objective as a bound on costs in units of the grid."""
        problem, grid = self.problem, self.search_.grid
        cost, split_cost = problem.in_engine_units(objective), self.limits.split_cost
        split_cost /= problem.form.scale
        if objective == np.inf or split_cost <= MOST_UNITS * grid:
            return cost / grid
        # A split has fewer units than it costs there, and more than the leaves of any tree.
        n_splits, rest = divmod(cost * (1.0 + 1e-12), split_cost)
        return n_splits * MOST_UNITS + min(rest / grid, MOST_UNITS - 2.0 * ROUNDING_UNITS)

    def answer(self, wanted):
        """The trees that are known."""
        unit, offset = self.problem.form.scale * self.search_.grid, self.problem.form.constant
        known = self.known
        return FoundTrees(
            self.problem, self.tests, known.graph, known.counted, wanted.number, unit, offset
        )

    def answer_after_stop(self, wanted, first, end):
        """The same with the prunings of a tree `first`, as many as there is time for.

        `end` is the second of the clock by which to be done.
        """
        problem, split_cost = self.problem, self.limits.split_cost
        found = self.answer(wanted)
        number = int(min(wanted.number, MOST_AFTER_STOP))
        pruned = Prunings.of(problem, self.tests, first.nodes)
        sizes = pruned.useful_sizes(split_cost)
        entries = [(pruned.costs[size] + split_cost * size, size, 1, size) for size in sizes]
        objectives = found.objectives(min(number, found.n_trees)).tolist()
        entries += [(cost, 0, 0, rank) for rank, cost in enumerate(objectives)]
        entries.sort()
        largest, trees = wanted.largest(entries[0][0]), {}
        for objective, _, is_pruned, at in entries:
            is_late = self.control.seconds > end + LATE_SECONDS
            if trees and (len(trees) == number or is_late or objective > largest):
                break
            nodes = pruned.tree(at)[0] if is_pruned else found.nodes(at)[0]
            trees.setdefault(shape_of_rows(problem, self.tests, nodes), nodes)
        graph = graph_of_trees(problem, self.tests, list(trees.values()), found.unit)
        counted = graph.count(SearchControl())
        return FoundTrees(problem, self.tests, graph, counted, number, found.unit, 0.0)

    def _best_of_depth(self, depth):
        least = self.search_.least_cost(depth, self.limits.max_splits)
        return None if self.control.stopped else self._all_within(depth, least + ROUNDING_UNITS)

    def _widen_to(self, bound):
        found = self._step(
            f"objectives up to {self.problem.in_units(bound * self.search_.grid):g}",
            partial(self._all_within, self.limits.max_depth, bound),
        )
        if found is not None:
            self.known = found
        return found is not None and not self.control.stopped

    def _all_within(self, depth, bound):
        """All trees of a depth up to a bound; None when stopped."""
        graph = self.search_.build(depth, self.limits.max_splits, bound)
        if graph is None:
            return None
        counted = graph.count(self.control)
        return Complete(graph, counted, bound) if len(counted.costs) else None

    def _step(self, name, work):
        def answer_of(found):
            return self.tests, (self.known if found is None else found).best()

        return self.session.step(self.problem, name, work, answer_of)

    def _growth(self, least, excess, number):
        """By how much to raise an excess, if the number of trees is a power of it."""
        n_trees, n_half = self.known.n_trees, self.known.n_within(least + excess / 2.0)
        power = np.log2(n_trees / max(1, n_half))
        if power < 0.5:
            return MOST_GROWTH
        growth = (SURPLUS * float(number) / n_trees) ** (1.0 / power)
        return float(np.clip(growth, LEAST_GROWTH, MOST_GROWTH))

    def _moment(self):
        return self.control.seconds, self.known.least * self.search_.grid, self.lower_bound
