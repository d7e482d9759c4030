"""The trees of a set: a graph and what is needed to make a tree of it when one is asked for."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from sktree_opt.optimal.run._trees import NodeRows, make_tree, rows_in, tree_and_objective
from sktree_opt.optimal.tree_sets._tree_graph import graph_of, units_of_split
from sktree_opt.tree._mixin import TIE_TOLERANCE
from sktree_opt.utils._control import SearchControl

# Digits of an objective, as large as that of a single leaf.
DIGITS = 11

# Costs are sums of rounded numbers: costs that differ by so few units of the grid count as equal.
ROUNDING_UNITS = 64

# Outcomes of tests that are held in memory.
CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class OptionTable:
    """The trees of a set, or the first of them, as nodes with options.

    A node is a set of rows. A tree takes one of the node's options, a test that leads to two other
    nodes, or it has a leaf there. Costs are whole numbers.

    Attributes
    ----------
    nodes : list of [leaf_cost, bound, options]
        The cost of a leaf is -1 where there is none. Trees of the node that cost more than `bound`
        do not count. Each option is a list [first_child, second_child, test, ...] of tests that
        part the rows alike; a test is ~test where the rows that pass it are those of the second
        child.

    n_tests : int
        Number of tests.

    split_cost, max_splits : int
        Cost of a test, and how many a tree may have.

    counts_tests : bool
        Whether trees are different by their tests; else each option counts once.

    unit, offset, price : float
        The objective is ``offset + unit * cost_of_leaves + price * n_splits``.

    n_trees : int
        How many trees the table has, the first of the set.

    trees : list of Tree
        First one for each test, which is at its root; together they have each node of the table.

    places : list of (int, int)
        A tree, and the node of it that a node of the table is.
    """

    nodes: list
    n_tests: int
    split_cost: int
    max_splits: int
    counts_tests: bool
    unit: float
    offset: float
    price: float
    n_trees: int
    trees: list
    places: list


class FoundTrees:
    """The first trees of a graph, in order of their objective and then of their size.

    Trees of one objective and size are a *kind*; a ranking may tell kinds by more. Trees are made
    when they are asked for.

    Parameters
    ----------
    problem : Problem
        Whose rows trees are made with; the table itself is not kept.

    tests : BinaryTests
        What the graph refers to.

    graph : TreeGraph

    counted : CountedTrees
        The trees of the graph.

    number : int or infinity
        Maximum number of trees of the set.

    unit, offset : float
        An objective is a cost of the graph times `unit`, plus `offset`.

    order : RankedOrder or None, default=None
        Another order of the trees, and limits on them.

    Attributes
    ----------
    n_trees : int
        Number of trees.
    """

    def __init__(self, problem, tests, graph, counted, number, unit, offset, order=None):
        self.problem = problem.without_matrix()
        self.tests, self.graph, self.number = tests, graph, number
        self.unit, self.offset, self.order = unit, offset, order
        self._count(counted)

    def _count(self, counted):
        self._counted = counted
        # Kinds in the order of the set, and ranks at which they end.
        objectives = self._objectives(counted)
        if self.order is None:
            self._places = np.lexsort((counted.n_splits, objectives))
        else:
            self._places = self.order.places(counted, objectives)
        self._counts = [counted.counts[place] for place in self._places.tolist()]
        self._ends = list(accumulate(self._counts))
        self.n_trees = int(min(self._ends[-1], self.number)) if self._ends else 0

    def __getstate__(self):
        made = ("_counted", "_places", "_counts", "_ends", "n_trees")
        return {k: v for k, v in vars(self).items() if k not in made}

    def __setstate__(self, state):
        vars(self).update(state)
        if self.graph.n_nodes == 0:
            raise ValueError(
                "The graph of a tree set is lost by formats without compiled objects, such "
                "as skops: save the set with pickle, or its trees one by one."
            )
        self._count(self.graph.count(SearchControl()))

    @property
    def n_kinds(self):
        """Number of kinds of which the set has trees."""
        return bisect_right(self._ends, self.n_trees - 1) + 1

    def kinds(self):
        """Objective, number of splits and number of trees of each kind.

        Returns
        -------
        objectives : ndarray of float64, shape (n_kinds,)

        n_splits : ndarray of int64, shape (n_kinds,)

        counts : list of int
        """
        n = self.n_kinds
        places = self._places[:n]
        counts = self._counts[:n]
        counts[-1] -= self._ends[n - 1] - self.n_trees
        return self._objectives(self._counted)[places], self._counted.n_splits[places], counts

    def _objectives(self, counted):
        """Objective of each kind of the graph."""
        n_splits = counted.n_splits
        if self.order is not None and self.order.is_swapped:
            leaf_costs = counted.seconds
        else:
            # The cost of a split has been rounded, that of leaves often not.
            leaf_costs = counted.costs - n_splits * self.graph.split_cost
        objectives = self.offset + self.unit * leaf_costs
        objectives += self.problem.limits.split_cost * n_splits
        return rounded(objectives, self.unit, self.offset)

    def _numbers(self):
        """The number of trees that the set has of each kind of the graph."""
        numbers = [0] * len(self._counted.counts)
        for place, count in zip(self._places.tolist(), self.kinds()[2], strict=False):
            numbers[place] = count
        return numbers

    def objectives(self, n_trees):
        """Objectives of the first trees."""
        objectives, _, counts = self.kinds()
        ends = np.array([min(end, n_trees) for end in accumulate(counts)], dtype=np.int64)
        return np.repeat(objectives, np.diff(ends, prepend=0))

    def nodes(self, rank):
        """Nodes of the tree of a rank, and their places in the graph."""
        kind = bisect_right(self._ends, rank)
        place = int(self._places[kind])
        return self._counted.find(place, rank - (self._ends[kind - 1] if kind else 0))

    def tree(self, rank):
        """The tree of a rank, and its objective."""
        return self.made(self.nodes(rank)[0])

    def made(self, nodes):
        """The tree of some nodes, and its objective."""
        return tree_and_objective(self.problem, self.tests, nodes)

    def in_order(self, control):
        """Nodes of the trees, in order, until a search is stopped."""
        rank = 0
        while rank < self.n_trees and not control.poll():
            yield self.nodes(rank)[0]
            rank += 1

    def without(self, features, control):
        """The trees that do without some features, in order.

        Yields
        ------
        nodes : ndarray
        """
        is_asked = np.isin(self.tests.feature, features)
        counted = self.graph.count(SearchControl(), ~is_asked)
        place_of = {kind: place for place, kind in enumerate(names_of_kinds(counted))}
        names = names_of_kinds(self._counted)
        for at, kind in enumerate(self._places[: self.n_kinds].tolist()):
            place = place_of.get(names[kind])
            if place is None:
                continue
            number = counted.counts[place]
            if at == self.n_kinds - 1:
                # Perhaps the set has only the first trees of it.
                numbers = self._numbers()
                found = self._counted.reliance(is_asked, numbers, SearchControl())
                number = found[0][kind]
            for rank in range(number):
                if control.poll():
                    return
                yield counted.find(place, rank)[0]

    def reliance(self, feature):
        """How far the trees rely on a feature.

        Returns
        -------
        share : float
            Of the trees that cannot do without it.

        least, largest : float
            The share of what a tree lowers the objective by, at its splits by the feature: the
            least and the largest of all trees.
        """
        counted, numbers = self._counted, self._numbers()
        is_asked = self.tests.feature == feature
        n_without, least, largest = counted.reliance(is_asked, numbers, SearchControl())
        split_cost = self.graph.split_cost * counted.n_splits
        lowered = self.graph.root_cost - (counted.costs - split_cost)
        has_trees = np.array([number > 0 for number in numbers])
        ranges = []
        for sums, choose in ((least, np.min), (largest, np.max)):
            shares = np.divide(sums, lowered, out=np.zeros(len(sums)), where=lowered > 0)
            ranges.append(float(choose(shares[has_trees])))
        n_needing = self.n_trees - sum(n_without)
        return n_needing, *ranges

    def option_table(self, most_options, most_trees, *, by_path=False):
        """The trees as an ``OptionTable``.

        The graph, if the set has all of its trees and it has no more than `most_options` options
        and kinds of trees; else the first trees, at most `most_trees`. With `by_path`, a node is
        always reached by the same tests.
        """
        size = max(self.graph.n_options, len(self._ends))
        is_whole = self.n_trees == self._ends[-1] and self.order is None
        if is_whole and size <= most_options and not by_path:
            return self._table_of(self.graph, self.n_trees)
        n_trees = min(self.n_trees, most_trees)
        trees = [self.nodes(rank)[0] for rank in range(n_trees)]
        unit = self.graph.grid
        return self._table_of(graph_of_trees(self.problem, self.tests, trees, unit), n_trees)

    def _table_of(self, graph, n_trees):
        # What a pickle of the graph keeps.
        arrays, split_cost, counts_tests, _, max_splits, *_ = graph.__reduce__()[1]
        lists = {name: values.tolist() for name, values in arrays.items()}
        nodes = [
            [cost if is_leaf else -1, bound, []]
            for cost, is_leaf, bound in zip(
                lists["leaf_cost"], lists["may_be_leaf"], lists["bound"], strict=True
            )
        ]
        used = graph.tests.tolist()
        number_of = {test: number for number, test in enumerate(used)}
        trees = [self.made(nodes_of_path([(test, 0)]))[0] for test in used] or [self.tree(0)[0]]
        # The tests above each node, with branches; and where a tree has it.
        paths, places = {0: []}, {0: (0, 0)}
        for at in range(graph.n_nodes):
            for option in range(*lists["option_begin"][at : at + 2]):
                children = lists["child"][2 * option : 2 * option + 2]
                if children[0] < 0:
                    # Only the sum of the costs of these two leaves is known.
                    children = [len(nodes), len(nodes) + 1]
                    cost = lists["cost"][option]
                    nodes += [[cost, cost, []], [0, 0, []]]
                tests = lists["tests"][slice(*lists["test_begin"][option : option + 2])]
                numbers = [number_of[t] if t >= 0 else ~number_of[~t] for t in tests]
                nodes[at][2].append([*children, *numbers])
                if places.keys() >= set(children):
                    continue
                test, is_swapped = (tests[0], 0) if tests[0] >= 0 else (~tests[0], 1)
                trees.append(self.made(nodes_of_path([*paths[at], (test, 0)]))[0])
                for side, child in enumerate(children):
                    branch = side ^ is_swapped
                    paths.setdefault(child, [*paths[at], (test, branch)])
                    places.setdefault(child, (len(trees) - 1, 2 * len(paths[at]) + 1 + branch))
        return OptionTable(
            nodes=nodes,
            n_tests=len(used),
            split_cost=split_cost,
            max_splits=min(max_splits, 2**31),
            counts_tests=bool(counts_tests),
            unit=self.unit,
            offset=self.offset,
            price=self.problem.limits.split_cost,
            n_trees=n_trees,
            trees=trees,
            places=[places[at] for at in range(len(nodes))],
        )

    def answers(self, matrix, n_threads, control):
        """Shares of the trees by answer for each row.

        For a regression, the mean of the answers and the mean of their squares.
        """
        data = self.problem.data
        n_classes = 0 if data.classes is None else len(data.classes)
        sums = np.zeros((len(matrix), max(n_classes, 2)))
        n_at_once = max(1, CELLS_AT_ONCE // max(1, self.tests.n_tests))
        for first in range(0, len(matrix), n_at_once):
            passes = self._outcomes(matrix[first : first + n_at_once])
            # Rows that pass the same tests have the same answers.
            rows, inverse = np.unique(passes, axis=0, return_inverse=True)
            found = self._counted.answers(rows, self._numbers(), n_classes, n_threads, control)
            sums[first : first + n_at_once] = found[inverse.ravel()]
        # The sums are rounded, and shares sum to 1.
        if n_classes:
            sums = sums[:, :n_classes]
            return sums / sums.sum(axis=1, keepdims=True)
        return sums / float(self.n_trees)

    def _outcomes(self, matrix):
        """Which tests of the graph each row of an encoded matrix passes."""
        passes = np.zeros((len(matrix), self.tests.n_tests), dtype=np.uint8)
        n_values = 1 if self.problem.data.classes is None else len(self.problem.data.classes)
        ones = np.ones((3, n_values))
        for test in self.graph.tests.tolist():
            stump = NodeRows(
                nodes=np.array([[test, 1, 2], [-1, -1, -1], [-1, -1, -1]], dtype=np.int32),
                weights=ones,
                n_rows=np.ones(3, dtype=np.int64),
                leaves=np.empty(0, dtype=np.int32),
            )
            tree = make_tree(self.problem.data, self.tests, stump, ones, np.zeros(3))
            passes[:, test] = tree.walk(matrix)[0] == 1
        return passes


def nodes_of_path(path):
    """A tree of some tests, each below a branch of the one before, and of leaves."""
    nodes, at = [[-1, -1, -1]], 0
    for test, branch in path:
        nodes[at] = [test, len(nodes), len(nodes) + 1]
        at = len(nodes) + branch
        nodes += [[-1, -1, -1], [-1, -1, -1]]
    return np.array(nodes, dtype=np.int32)


def rounded(costs, unit, offset):
    """Costs without the digits that are rounding: the least of those that count as equal."""
    order = np.argsort(costs)
    is_new = np.diff(costs[order], prepend=-np.inf) > ROUNDING_UNITS * unit
    least = np.empty(len(costs))
    least[order] = costs[order][is_new][np.cumsum(is_new) - 1]
    largest = 2.0**40 * unit + abs(offset)
    return np.round(least, DIGITS - int(np.ceil(np.log10(largest))))


def names_of_kinds(counted):
    """What tells kinds of trees apart."""
    columns = (counted.costs, counted.n_splits, counted.depths, counted.seconds)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def worth_of_answers(problem):
    """The worth of each answer for a row of each class, and the tolerance of equal worth."""
    costs = problem.objective.costs
    if costs is None:
        return np.eye(len(problem.data.classes)), TIE_TOLERANCE
    return -costs, TIE_TOLERANCE * float(np.abs(costs).max())


def shape_of_rows(problem, tests, nodes):
    """The row sets of a tree's nodes; equal for trees that are not different."""
    reached = rows_in(problem, tests, nodes)
    keys = np.random.default_rng(0).integers(0, 2**63, len(reached.leaves), dtype=np.uint64)
    sums = np.zeros(len(reached.nodes), dtype=np.uint64)
    np.bitwise_xor.at(sums, reached.leaves, keys)
    for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
        sums[at] = sums[reached.nodes[at, 1]] ^ sums[reached.nodes[at, 2]]
    return frozenset(sums.tolist())


def graph_of_trees(problem, tests, trees, unit):
    """A graph of some trees that are different: they share the root alone.

    Parameters
    ----------
    problem : Problem
    tests : BinaryTests
    trees : list of ndarray of int32, shape (n_nodes, 3)
    unit : float
        Of the costs of the graph.
    """
    split_cost = units_of_split(problem.limits.split_cost, unit)
    names = ("leaf_cost", "leaf_answer", "may_be_leaf", "bound", "level")
    rows, options = [], []

    def add_node(cost, answer, is_leaf, level):
        rows.append([cost, answer, is_leaf, cost, level])
        options.append([])
        return len(rows) - 1

    def add_subtree(tree, at, level, place):
        """Add what is below a node of a tree, which is at a place of the graph; its cost."""
        nodes, costs, answers = tree
        test, *children = nodes[at]
        if test < 0:
            return costs[at]
        below = [
            add_node(costs[child], answers[child], nodes[child][0] < 0, level + 1)
            for child in children
        ]
        options[place].append((test, *below))
        total = split_cost
        for child, new in zip(children, below, strict=True):
            rows[new][3] = add_subtree(tree, child, level + 1, new)
            total += rows[new][3]
        return total

    for tree in (tree_in_units(problem, tests, nodes, unit) for nodes in trees):
        nodes, costs, answers = tree
        if not rows:
            add_node(costs[0], answers[0], False, 0)
        rows[0][2] |= nodes[0][0] < 0
        rows[0][3] = max(rows[0][3], add_subtree(tree, 0, 0, 0))
    arrays = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    flat = [option for mine in options for option in mine]
    arrays |= {
        "option_begin": list(accumulate(map(len, options), initial=0)),
        "child": [child for _, *children in flat for child in children],
        "cost": [0] * len(flat),
        "answer": [0.0] * (2 * len(flat)),
        "test_begin": list(range(len(flat) + 1)),
        "tests": [test for test, _, _ in flat],
    }
    # Trees are different as they are: idle tests are tests.
    return graph_of(arrays, split_cost=split_cost, counts_tests=True, grid=unit)


def tree_in_units(problem, tests, nodes, unit):
    """Nodes of a tree, what each costs as a leaf, and what it answers, as a graph holds them."""
    reached = rows_in(problem, tests, nodes)
    values, costs = problem.objective.node_values(reached)
    if problem.data.classes is None:
        answers = values[:, 0]
    else:
        worth, tolerance = worth_of_answers(problem)
        of_answers = values / np.maximum(values.sum(axis=1, keepdims=True), 1e-290) @ worth
        least = of_answers.max(axis=1, keepdims=True) - tolerance
        answers = np.argmax(of_answers >= least, axis=1).astype(float)
    units = np.rint(costs / unit).astype(np.int64)
    return reached.nodes.tolist(), units.tolist(), answers.tolist()
