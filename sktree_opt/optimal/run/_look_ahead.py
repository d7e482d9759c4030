"""The first tree over all thresholds, in polynomial time; it may be the answer.

``LookAhead.grow`` begins with the greedy tree of Gini impurities or squared errors, which takes the
least time. Then it makes another tree from the root down. At each node, the bits engine finds a
good tree of full depth among some quantiles of the node's own rows, by limited discrepancy; the
last two levels are the best over all thresholds where the node is small enough. The test at the top
of that tree stays, and each of its sides is grown anew, so that thresholds become finer with the
depth. The better one of both trees goes on. For three levels of a large table, the other tree is
the one of an ensemble's thresholds.

``LookAhead.improvements`` then lowers the cost in two ways. A test is replaced by the best test of
any column for the two subtrees below it, which stay as they are (Carreira-Perpinan and Tavallali,
"Alternating optimization of decision trees", NeurIPS 2018). A subtree is replaced by one that the
engines find with more quantiles and more discrepancies.

The work depends on the table and on no clock: a search that is not stopped finds the same tree on
any machine. Time: O(max_depth) sweeps of the rows with a limited number of pairs of tests each, and
O(n_rows n_columns) for each test that is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sktree_opt.greedy._grow import MEASURES, NOMINAL_SPLITS, Induction
from sktree_opt.optimal.bits._bit_engine import SCORES
from sktree_opt.optimal.objectives._leaf_objectives import MAX_CLASSES
from sktree_opt.optimal.run._bits_solver import make_engine
from sktree_opt.optimal.run._fallback import FewTests
from sktree_opt.optimal.run._plan import Plan
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._session import Session
from sktree_opt.optimal.run._thresholds_solver import (
    AT_MOST,
    MISSING,
    ONE_CATEGORY,
    bound_of_equal_rows,
    recoded,
    search_thresholds,
    tests_of_plan,
)
from sktree_opt.optimal.run._trees import NodeRows, tree_and_objective
from sktree_opt.preprocessing._binary_tests import OneVsRest
from sktree_opt.preprocessing._thresholds import EnsembleThresholds
from sktree_opt.tree._node import CATEGORY_ONE, LEAF, NUMERIC

# Pairs of tests by rows of a search by the bits engine, the least and largest number of quantiles
# of a column, and cells of the rows that a search looks at: others are left out at even distances.
# They are for the first tree; one more effort takes twice as much.
PAIRS = {True: 4e9, False: 8e8}
LEAST_QUANTILES, MOST_QUANTILES = 6, 40
MOST_CELLS = 4_000_000

# Tests that the quantiles of all columns make, unless one of each column is more.
MOST_TESTS = 3000

# Rows by squared columns of a node whose two levels are solved over all thresholds.
MOST_EXACT_WORK = 3_000_000

# Trees of fewer levels are proved as soon, and so are those of tables with fewer rows by squared
# tests. A level more is this many times the work.
LEAST_DEPTH, LEAST_WORK, WORK_OF_A_LEVEL = 4, 150_000_000, 10

# Three levels are proved as soon in tables of fewer rows by squared columns.
LEAST_FOR_THREE = 20_000_000

# Levels below the root whose nodes are searched; what these find below is left as it is.
MOST_LEVELS = 7

# Passes over the first tree, the effort for a tree before it, and the most that later ones take.
MOST_PASSES, LEAST_EFFORT, MOST_EFFORT = 3, -3, 3

# An improvement by less than this share of the cost is rounding.
ROUNDING = 1e-12


@dataclass
class GrowingNode:
    """A node of a tree that grows.

    Attributes
    ----------
    rows : ndarray of intp

    cost : float
        As a leaf.

    test : tuple or None
        Column, kind, branch of missing values, code, and next code of the node's rows.

    sides : list of GrowingNode
        For the rows that pass the test, and for the others.
    """

    rows: np.ndarray
    cost: float
    test: tuple | None = None
    sides: list = field(default_factory=list)

    @property
    def n_splits(self):
        """Number of tests."""
        return 0 if self.test is None else 1 + sum(side.n_splits for side in self.sides)


class LookAhead:
    """A tree for some rows of a table, and ways to make it better.

    Parameters
    ----------
    problem : Problem

    table : Table
        Of ranks, or of codes of intervals.

    session : Session
        Its limits and Ctrl-C stop the look-ahead, too; the best tree so far is then the answer.

    most_cells : int, default=MOST_CELLS
        Cells of the rows that a search at one node looks at.

    Attributes
    ----------
    root : GrowingNode
        The tree.

    incumbents : list of (float, float)
        Seconds and cost, each time the tree became better.

    seconds_a_turn, growth_of_turns : float
        Seconds of the exact search before the first turn of the look-ahead, and the factor by which
        each turn is longer than the last.
    """

    seconds_a_turn, growth_of_turns = 0.2, 2.0

    def __init__(self, problem, table, session, most_cells=MOST_CELLS):
        self.problem, self.table, self.most_cells = problem, table, most_cells
        limits, self._clock = problem.limits, session.control
        left = self._clock.seconds_left
        # A search that takes too much memory ends the look-ahead alone.
        aside = session.aside(left if left < np.inf else None, limits.memory_limit)
        self.control = aside.control
        self.is_whole = problem.data.classes is not None and problem.data.has_unit_weights
        # A tree in which no limit on splits binds has 2**depth - 1 of them.
        self.binds = limits.max_splits < 2**limits.max_depth - 1
        self.root = self._leaf(np.arange(table.n_rows))
        self.incumbents = []
        self._note()

    @property
    def cost(self):
        """Cost of the tree, that of its tests included."""
        return self.incumbents[-1][1]

    def of_leaves(self):
        """Summed cost of the leaves in units of the engine, and number of tests."""
        n_splits = self.root.n_splits
        cost = self.cost - n_splits * self.problem.limits.split_cost
        return self.problem.in_engine_units(cost), n_splits

    def cost_of(self, branch):
        """The same of a subtree."""
        if branch.test is None:
            return branch.cost
        return self.problem.limits.split_cost + sum(map(self.cost_of, branch.sides))

    def grow(self):
        """Make the first tree: the better one of a greedy tree and another."""
        self._take(self.root, self._grow_greedily())
        if not (has_three_levels(self.problem, self.table) and self._take_ensemble()):
            self._take_from_root()
        for _ in range(MOST_PASSES):
            if not any(list(self._improve_all(0))):
                break
        return self

    def _take_from_root(self):
        """Take a tree that is made from the root down, if it is better."""
        limits, rows = self.problem.limits, self.root.rows
        other = self._leaf(rows)
        self._replace(other, limits.max_depth, limits.max_splits, LEAST_EFFORT)
        self._take(self.root, other)
        self._grow(other, limits.max_depth, limits.max_splits)
        self._take(self.root, other)

    def _take_ensemble(self):
        """Take the tree of ``thresholds="ensemble"``; False if it is not better, or not found."""
        problem, table = self.problem, self.table
        form = problem.form
        if form.score not in SCORES or len(form.class_mass) > MAX_CLASSES:
            return False
        cuts = EnsembleThresholds().codes(table, problem.data, self.control)
        few = FewTests(table, cuts, problem.data, OneVsRest)
        if few.count() > MOST_TESTS:
            return False
        tests, nodes = self._search_tests(problem, few.make(), 3, problem.limits.max_splits, 1)
        lower, upper = tests.lower.copy(), tests.upper.copy()
        for test in np.flatnonzero(tests.kind == NUMERIC):
            values = table.values[tests.feature[test]]
            lower[test], upper[test] = np.searchsorted(values, (lower[test], upper[test]))
        tests = replace(tests, lower=lower, upper=upper)
        return self._take(self.root, self._branch(table, tests, nodes, 0, self.root.rows))

    @classmethod
    def of_plan(cls, plan, session):
        """A tree for a plan; None where the whole search is as soon done."""
        problem, table = plan.problem, plan.table
        depth = min(problem.limits.max_depth, problem.limits.max_splits)
        n_tests = sum(map(len, table.values))
        work = table.n_rows * n_tests**2 * WORK_OF_A_LEVEL ** (min(depth, 20) - LEAST_DEPTH)
        is_small = depth < LEAST_DEPTH or work < LEAST_WORK
        is_small = is_small and not has_three_levels(problem, table)
        if is_small or "look_ahead" in plan.off or session.control.poll():
            return None
        look_ahead = cls(problem, table, session)
        tests_of = partial(tests_of_plan, table=table, around=plan.around)
        return session.step(
            problem, "look-ahead", look_ahead.grow, lambda found: tests_of(found.plan())
        )

    def improvements(self, most=MOST_EFFORT):
        """Iterator that makes the tree better, a step each time, with more and more effort."""
        for effort in range(1, most + 1):
            is_better = True
            while is_better and not self.control.stopped:
                is_better = False
                for step in self._improve_all(effort):
                    is_better |= step
                    yield

    def plan(self):
        """The tree in preorder, as the thresholds engine gives it."""
        found = []

        def add(branch):
            at = len(found)
            found.append((-1, 0, 1, 0, 0, -1))
            if branch.test is not None:
                add(branch.sides[0])
                found[at] = (*branch.test[:4], self._next_code(branch), len(found))
                add(branch.sides[1])

        add(self.root)
        return found

    def _next_code(self, branch):
        """The code above a threshold among all rows of the node: engines have seen some of them."""
        column, kind, _, code, _ = branch.test
        if kind != AT_MOST:
            return 0
        codes = self.table.codes[column][branch.rows]
        above = codes[(codes > code) & (codes < len(self.table.values[column]))]
        return int(above.min(initial=len(self.table.values[column]) - 1))

    def _grow_greedily(self):
        """The greedy tree of all rows, pruned: a small part of the work of the other one."""
        problem, data, limits = self.problem, self.problem.data, self.problem.limits
        # Small numbers, whose squares do not overflow.
        largest = 1.0 if data.has_unit_weights else float(data.weights.max())
        weights = None if data.has_unit_weights else data.weights / largest
        if weights is not None and not weights.all():
            return self._leaf(self.root.rows)
        is_classifier, targets = data.classes is not None, data.y
        if not is_classifier:
            targets = problem.objective.targets
            targets = targets / (np.abs(targets).max() or 1.0)
        grown = Induction(
            self.table,
            targets,
            len(data.classes) if is_classifier else 0,
            weights,
            measure=MEASURES["gini" if is_classifier else "squared_error"],
            nominal_split=NOMINAL_SPLITS["one_vs_rest"],
            min_split_weight=0.0,
            min_leaf_weight=limits.min_weight_leaf / largest,
            min_leaf_rows=limits.min_samples_leaf,
            every_branch=True,
            missing_to_heaviest=True,
            max_depth=limits.max_depth,
            max_leaf_nodes=limits.max_splits + 1 if self.binds else None,
        ).grow(self.control)
        nodes, _, category_branch = grown.to_arrays()
        return self._pruned_branch(nodes, category_branch, 0, self.root.rows)

    def _pruned_branch(self, nodes, category_branch, at, rows):
        """A greedy tree, without the tests that cost more than they save."""
        branch, node = self._leaf(rows), nodes[at]
        if node["kind"] == LEAF or not len(rows):
            return branch
        column, first = int(node["feature"]), int(node["first_child"])
        children = [first, first + 1]
        # Where no value is missing, none of a greedy tree's branches is for them.
        missing_branch = max(0, int(node["missing_branch"]))
        if node["kind"] == NUMERIC:
            values = self.table.values[column]
            code = int(np.searchsorted(values, node["threshold"], side="right")) - 1
            kind, above = AT_MOST, code + 1
        else:
            start = int(node["category_start"])
            side = category_branch[start : start + int(node["n_categories"])]
            alone = int(np.count_nonzero(side == 0) != 1)
            code, kind, above = int(np.argmax(side == alone)), ONE_CATEGORY, 0
            if alone:
                children, missing_branch = children[::-1], 1 - missing_branch
        test = (column, kind, missing_branch, code, above)
        parts = self._divide(rows, test)
        if not all(map(self._is_allowed, parts)):
            return branch
        sides = [
            self._pruned_branch(nodes, category_branch, child, part)
            for child, part in zip(children, parts, strict=True)
        ]
        split = GrowingNode(rows, branch.cost, test, sides)
        return split if self.cost_of(split) < branch.cost else branch

    def _grow(self, branch, depth, splits, levels=MOST_LEVELS):
        self._replace(branch, depth, splits, 0)
        if branch.test is None or depth <= 2 or levels == 1:
            return
        for side in branch.sides:
            self._grow(side, depth - 1, self._allowed(side, depth - 1, splits), levels - 1)

    def _improve_all(self, effort):
        limits = self.problem.limits
        return self._improve(self.root, limits.max_depth, limits.max_splits, effort)

    def _improve(self, branch, depth, splits, effort, levels=MOST_LEVELS):
        """Yields whether the tree is better after each step."""
        if depth == 0 or levels == 0 or self.control.poll():
            return
        yield self._replace(branch, depth, splits, effort)
        if branch.test is None:
            return
        for side in branch.sides:
            yield from self._improve(
                side, depth - 1, self._allowed(side, depth - 1, splits), effort, levels - 1
            )
        yield self._move_test(branch, effort)

    def _allowed(self, branch, depth, splits):
        return branch.n_splits if self.binds else min(splits, 2**depth - 1)

    def _replace(self, branch, depth, splits, effort):
        """Take what the engines find for a node, if it costs less."""
        limits = self.problem.limits
        least = max(2 * limits.min_samples_leaf, 2)
        has_rows = len(branch.rows) >= least
        if splits < 1 or not has_rows or self.cost_of(branch) <= limits.split_cost:
            return False
        return not self.control.poll() and self._take(
            branch, self._search(branch.rows, depth, splits, effort)
        )

    def _take(self, branch, found):
        """Replace a subtree if another one costs less."""
        is_less = self.cost_of(found) < self.cost_of(branch) - ROUNDING * self.root.cost
        if is_less:
            branch.test, branch.sides = found.test, found.sides
            self._note()
        return is_less

    def _note(self):
        """Record the tree, unless it is another one that has become better."""
        cost = self.cost_of(self.root)
        if not self.incumbents or cost < self.incumbents[-1][1]:
            self.incumbents.append((self._clock.seconds, cost))

    def _some(self, rows, effort):
        """The rows that a search looks at: more of them with more effort."""
        return evenly(rows, max(1, int(self.most_cells * 2.0**effort) // self.table.n_columns))

    def _search(self, rows, depth, splits, effort):
        """The best tree that an engine finds for some rows."""
        n_columns, has_bits = self.table.n_columns, self.problem.form.score in SCORES
        some = self._some(rows, effort)
        if not has_bits:
            # The first two levels, whatever is below them.
            depth, splits = min(depth, 2), min(splits, 3)
            some = evenly(some, max(2, MOST_EXACT_WORK // n_columns**2))
        problem = of_rows(self.problem, some, len(some) / len(rows), depth, splits)
        table = recoded(self.table, [codes[some] for codes in self.table.codes], some)
        few = FewTests(table, None, problem.data, OneVsRest)
        if not has_bits or (depth <= 2 and len(some) * n_columns**2 <= MOST_EXACT_WORK):
            solution = search_thresholds(Plan(problem, "", None, table), Session(self.control))
            found = solution.tests, solution.nodes
        else:
            found = self._search_quantiles(problem, few, depth, splits, effort)
        if found is None:
            return self._leaf(rows)
        tests, nodes = found
        return self._branch(table, tests, nodes, 0, rows)

    def _search_quantiles(self, problem, few, depth, splits, effort):
        n_rows, n_columns = few.table.n_rows, few.table.n_columns
        n_tests = np.sqrt(PAIRS[self.is_whole] * 2.0**effort / n_rows)
        most = max(LEAST_QUANTILES, MOST_QUANTILES * 2.0**effort)
        n_quantiles = int(np.clip(n_tests / n_columns, LEAST_QUANTILES, most))
        n_quantiles = min(n_quantiles, few.number_within(MOST_TESTS))
        if len(problem.form.class_mass) > MAX_CLASSES or n_quantiles == 0:
            return None
        return self._search_tests(problem, few.make(n_quantiles), depth, splits, max(0, effort))

    def _search_tests(self, problem, tests, depth, splits, most_discrepancies):
        engine = make_engine(problem, tests, self.control)
        engine.begin(depth, splits, problem.limits.split_cost / problem.form.scale)
        for discrepancies in range(1 + most_discrepancies):
            engine.search_discrepancies(discrepancies)
        return tests, engine.known_tree()

    def _branch(self, table, tests, nodes, at, rows):
        """A tree of an engine, with all rows."""
        branch, test = self._leaf(rows), nodes[at, 0]
        if test < 0:
            return branch
        column, kind = int(tests.feature[test]), tests.kind[test]
        code = next_code = 0
        if kind == NUMERIC:
            # The values of a table of some rows are the codes of the whole one.
            code, next_code = int(tests.lower[test]), int(tests.upper[test])
        elif kind == CATEGORY_ONE:
            code = int(tests.category[test])
        kind = {NUMERIC: AT_MOST, CATEGORY_ONE: ONE_CATEGORY}.get(kind, MISSING)
        asked = (column, kind, int(tests.missing_branch[test]), code, next_code)
        parts = self._divide(rows, asked)
        if not all(map(self._is_allowed, parts)):
            return branch
        branch.test = asked
        branch.sides = [
            self._branch(table, tests, nodes, nodes[at, 1 + k], part)
            for k, part in enumerate(parts)
        ]
        return branch

    def _divide(self, rows, test):
        """Rows that pass a test, and the others."""
        passed = self._passes(rows, test)
        return rows[passed], rows[~passed]

    def _passes(self, rows, test):
        column, kind, missing_branch, code, _ = test
        codes, n_values = self.table.codes[column][rows], len(self.table.values[column])
        if kind == MISSING:
            passed = codes == n_values
        else:
            passed = codes <= code if kind == AT_MOST else codes == code
            if self.table.n_missing[column]:
                passed = np.where(codes == n_values, missing_branch == 0, passed)
        return passed

    def _is_allowed(self, rows):
        limits, weights = self.problem.limits, self.problem.data.weights
        if len(rows) < max(1, limits.min_samples_leaf):
            return False
        return limits.min_weight_leaf == 0.0 or weights[rows].sum() >= limits.min_weight_leaf

    def _leaf(self, rows):
        return GrowingNode(rows, leaf_values(self.problem, rows)[1])

    def _move_test(self, branch, effort):
        """Replace a test by the best one of any column for the subtrees below it."""
        rows, some = branch.rows, self._some(branch.rows, effort)
        passing, failing = (self._row_costs(side, some) for side in branch.sides)
        found = self._best_test(some, passing - failing)
        if found is None:
            return False
        test, is_swapped = found
        sides = branch.sides[::-1] if is_swapped else branch.sides
        return self._take(
            branch, self._with_rows(GrowingNode(rows, branch.cost, test, sides), rows)
        )

    def _best_test(self, rows, rise):
        """The test that adds the least, and whether the sides are swapped; None if there is none.

        `rise` is how much more each row costs if it passes.
        """
        table, best, found = self.table, np.inf, None
        total = float(rise.sum())
        for j in range(table.n_columns):
            if self.control.poll():
                return None
            codes, n_values = table.codes[j][rows], len(table.values[j])
            if len(rows) < n_values:
                present, codes = np.unique(codes, return_inverse=True)
            else:
                present = np.arange(n_values + 1)
            rises = np.bincount(codes, rise, minlength=len(present))
            missing = float(rises[-1]) if present[-1] == n_values else 0.0
            if present[-1] == n_values:
                present, rises = present[:-1], rises[:-1]
            if not table.is_nominal[j]:
                rises = np.cumsum(rises)[:-1]
            if len(rises) == 0:
                continue
            for is_swapped in (False, True):
                sums = total - missing - rises if is_swapped else rises
                at = int(sums.argmin())
                cost = float(sums[at]) + min(0.0, missing)
                if not cost < best:
                    continue
                best = cost
                missing_branch = int((missing < 0.0) == is_swapped)
                code = int(present[at])
                kind, above = ONE_CATEGORY, 0
                if not table.is_nominal[j]:
                    kind, above = AT_MOST, int(present[at + 1])
                found = (j, kind, missing_branch, code, above), is_swapped
        return found

    def _row_costs(self, branch, rows):
        """The cost of each of some rows if the subtree answers it as it does now."""
        costs = np.empty(len(rows))

        def send(branch, places):
            if branch.test is None:
                costs[places] = self._row_cost(branch.rows, rows[places])
                return
            passed = self._passes(rows[places], branch.test)
            send(branch.sides[0], places[passed])
            send(branch.sides[1], places[~passed])

        send(branch, np.arange(len(rows)))
        return costs

    def _with_rows(self, branch, rows):
        """The same tests for other rows; a node with too few of them is a leaf."""
        other = self._leaf(rows)
        if branch.test is not None:
            parts = self._divide(rows, branch.test)
            if all(map(self._is_allowed, parts)):
                other.test = branch.test
                other.sides = [
                    self._with_rows(side, part)
                    for side, part in zip(branch.sides, parts, strict=True)
                ]
        return other

    def _row_cost(self, of_leaf, rows):
        """The cost of each of `rows` in a leaf with the answer of the rows `of_leaf`."""
        problem, data = self.problem, self.problem.data
        weights = data.weights[rows]
        values = leaf_values(problem, of_leaf)[0]
        if data.classes is None:
            return weights * np.abs(data.y[rows] - values[0]) ** problem.objective.rule.power
        if problem.form.score == "gini":
            return weights * (data.y[rows] - values[1] / values.sum()) ** 2
        savings = problem.form.channel_matrix()
        saved = savings[:, (values @ savings).argmax()]
        return weights * (savings.max(axis=1) - saved)[data.y[rows]]


def has_three_levels(problem, table):
    """Whether trees have three levels, and the table is so large that their proof takes long."""
    depth = min(problem.limits.max_depth, problem.limits.max_splits)
    return depth == 3 and table.n_rows * table.n_columns**2 >= LEAST_FOR_THREE


def find_tree_by_look_ahead(plan, session):
    """The tree of the look-ahead alone, and a lower bound.

    Parameters
    ----------
    plan : Plan
        With a `table`.

    session : Session

    Returns
    -------
    solution : Solution
    """
    problem, control = plan.problem, session.control
    look_ahead = LookAhead(problem, plan.table, session)

    def tests_and_nodes(_=None):
        return tests_of_plan(look_ahead.plan(), plan.table, plan.around)

    def grow():
        for _ in look_ahead.grow().improvements(1):
            pass

    if not control.poll():
        session.step(problem, "look-ahead", grow, tests_and_nodes)
    tests, nodes = tests_and_nodes()
    bound = problem.in_units(0.0) if control.poll() else bound_of_equal_rows(problem, plan.table)
    moments = [(seconds, known, bound) for seconds, known in look_ahead.incumbents]
    # Its leaves were summed in another order.
    cost = tree_and_objective(problem, tests, nodes)[1]
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=min(bound, cost),
        status=control.status if control.stopped else "lookahead",
        incumbents=closed(moments, control.seconds, cost, min(bound, cost)),
        stats={"seconds": control.seconds},
    )


def evenly(rows, most):
    """At most that many of some rows, at even distances."""
    return rows if len(rows) <= most else rows[:: -(-len(rows) // most)]


def of_rows(problem, rows, share, depth, splits):
    """A problem of a `share` of some rows, within a depth and a size."""
    data, objective = problem.data, problem.objective
    y, weights = data.y[rows], data.weights[rows]
    arrays = {"targets": objective.targets[rows]}
    if data.classes is None:
        arrays |= {"given_targets": objective.given_targets[rows], "weights": weights}
    limits = problem.limits
    part = replace(
        problem,
        data=replace(data, matrix=None, y=y, weights=weights),
        objective=replace(objective, **arrays),
        given=None,
    )
    return part.within(
        max_depth=depth,
        max_splits=min(splits, 2**depth - 1),
        split_cost=limits.split_cost * share,
        min_samples_leaf=int(np.ceil(limits.min_samples_leaf * share)),
        min_weight_leaf=limits.min_weight_leaf * share,
        n_threads=1,
    )


def leaf_values(problem, rows):
    """Answer and cost of rows as a leaf."""
    data = problem.data
    part = of_rows(problem, rows, 1.0, 0, 0)
    if data.classes is None:
        sums = np.array([[part.data.weights.sum()]])
    else:
        sums = np.bincount(part.data.y, part.data.weights, len(data.classes))[np.newaxis]
    reached = NodeRows(
        nodes=np.full((1, 3), -1, dtype=np.int32),
        weights=sums,
        n_rows=np.array([len(rows)]),
        leaves=np.zeros(len(rows), dtype=np.int32),
    )
    values, costs = part.objective.node_values(reached)
    return values[0], float(costs[0])
