"""The thresholds engine: the best tree over every threshold and category of a table, by ranks.

``search_thresholds`` is the whole search. ``ThresholdsSolver`` finds optima within several limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import sktree_opt.optimal.thresholds._threshold_search as _threshold_search
from sktree_opt.optimal.run._bits_solver import Answer, n_useful_splits
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._trees import checked_nodes, tree_and_objective
from sktree_opt.optimal.run.remote._rounds import explore_intervals
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.preprocessing._bits import row_bytes_for
from sktree_opt.tree._node import CATEGORY_ONE, IS_MISSING, NUMERIC
from sktree_opt.utils._equal_rows import group_equal_rows

AT_MOST, ONE_CATEGORY, MISSING, PRESENT = range(4)

# Errors of a regression that are closer than this share of all count as equal.
TOLERANCE = 1e-12

# Class codes have 16 bits.
MOST_CLASSES = 1 << 16

# Every sum of weights and costs is below 2 ** SUM_BITS units, so that doubles add them exactly.
SUM_BITS = 50

# The look-ahead takes such a share of a turn besides. A step that is not done ends a little after
# its turn.
SHARE_OF_LOOK_AHEAD, GRACE = 0.5, 1.2

# Targets with more decimal digits than these are rounded to a power of two.
MOST_DIGITS = 6


def search_thresholds(plan, session, first=None, record=None, is_remote=False):
    """Find the tree of least cost over all thresholds and categories of a table.

    Parameters
    ----------
    plan : Plan
        With a `table`, an objective that ``can_search`` accepts, and techniques to do without
        (see ``thresholds._threshold_search.SWITCHES``), and "equal_rows".

    session : Session

    first : LookAhead or None, default=None
        With a tree to begin with.

    record : Record or None, default=None
        What is known of the search, and where it is written.

    is_remote : bool, default=False
        Whether workers search the last level.

    Returns
    -------
    solution : Solution
        Its tests are those that the tree asks.
    """
    problem, table, limits = plan.problem, plan.table, plan.problem.limits
    leaves, group = LEAVES[problem.form.score](problem), None
    max_depth = min(limits.max_depth, table.n_rows)
    max_splits = min(limits.max_splits, 2 ** min(max_depth, 30) - 1)
    # Two levels are proved sooner than equal rows are grouped.
    is_short = min(max_depth, max_splits) <= 2 or session.control.stopped
    if not is_short and "equal_rows" not in plan.off:
        table, leaves, group = with_equal_rows(problem, table, leaves)
    units = Units(problem, leaves, max_splits)
    weights = units.weights(leaves.weights)
    arrays = leaves.label, weights, leaves.savings, leaves.target
    numbers = {
        "max_depth": max_depth,
        "max_splits": max_splits,
        "n_classes": leaves.n_classes,
        "split_cost": units.split_cost,
        "tolerance": 0.0 if units.breaks_ties else leaves.tolerance * units.total,
        "no_loss": units.step,
        "min_rows": float(limits.min_samples_leaf),
        "min_weight": float(units.weights(limits.min_weight_leaf)),
        "n_threads": limits.n_threads,
        "lower_bound": 0.0 if group is None else cost_of_groups(leaves, weights, group),
        "known_cost": np.inf if first is None else units.of_tree(*first.of_leaves()),
        "is_absolute": problem.form.score == "absolute",
        "off": [name for name in plan.off if name not in ("equal_rows", "look_ahead")],
    }
    engine = _threshold_search.ThresholdSearch(table, *arrays, session.control, **numbers)

    def best_tree(_=None):
        is_best = is_first_best(problem, units, engine.outcome(), session, first)
        found = first.plan() if is_best else engine.plan()
        return tests_of_plan(found, plan.table, plan.around)

    inputs = (table, arrays, numbers) if is_remote else None
    explore(problem, session, engine, best_tree, first, record, inputs)
    least = numbers["lower_bound"] + max(units.step, 2.0 * numbers["tolerance"])
    is_first_found = is_remote and not is_short and engine.outcome()["cost"] <= least
    if is_first_found and not session.control.stopped:
        # The search has ended at the first tree that costs as little as any might. Workers find
        # another one first than this machine does (see ``tree_of_one_thread``).
        alone = _threshold_search.ThresholdSearch(table, *arrays, session.control, **numbers)
        explore(problem, session.alone(), alone, best_tree, first)
        engine = engine if session.control.stopped else alone
    return solution_of(problem, units, engine.outcome(), session, first, *best_tree())


def with_equal_rows(problem, table, leaves):
    """The table, its leaves, and a group for each set of equal rows that are not one row now."""
    group = None if problem.form.score == "absolute" else equal_rows(table)
    if group is not None and leaves.target is not None and problem.limits.min_samples_leaf <= 1:
        return *merge_rows(table, leaves, group), None
    return table, leaves, group


def is_first_best(problem, units, outcome, session, first):
    """Whether the tree of the look-ahead is the answer.

    It has become better since the search began; that does not decide which of equally good trees a
    finished search answers.
    """
    if first is None or outcome["is_known"]:
        # The engine has rounded its cost, and no better tree.
        return first is not None
    may_be = session.control.stopped or session.is_watched
    return may_be and first.cost <= problem.in_units(units.objective(outcome["cost"]))


def solution_of(problem, units, outcome, session, first, tests, nodes):
    """The answer of the engine, in the units of the objective."""
    stats = outcome["stats"] | {"seconds": session.control.seconds}
    if problem.form.score == "absolute":
        is_settled = session.control.status == "optimal" and not outcome["gave_up"]
        stats["has_fewest_tests"] = units.breaks_ties and is_settled

    def in_units(cost):
        return problem.in_units(units.objective(cost))

    moments = [(t, in_units(cost), in_units(low)) for t, cost, low in outcome["incumbents"]]
    cost, bound = in_units(outcome["cost"]), in_units(outcome["lower_bound"])
    if first is not None:
        moments = merged_moments(moments, first.incumbents, in_units(0.0))
        if is_first_best(problem, units, outcome, session, first):
            # Its leaves were summed in another order.
            cost = tree_and_objective(problem, tests, nodes)[1]
            moments = closed(moments, session.control.seconds, cost, min(bound, cost))
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=bound,
        status=session.control.status,
        incumbents=moments,
        stats=stats,
    )


class Units:
    """Weights and costs as the search takes them, so that sums are exact.

    Where leaves are whole, a test costs a little more, less in all than two different costs can
    differ by: of equally good trees the one with the fewest tests costs least.

    Parameters
    ----------
    problem : Problem
    leaves : Leaves
    max_splits : int
        Maximum number of tests in the tree.

    Attributes
    ----------
    total : float
        Weight of all rows.
    split_cost : float
        Cost of a test.
    breaks_ties : bool
        Whether a test costs more than the objective says.
    step : float
        Then, what the costs of the objective are multiples of; otherwise 0.
    """

    def __init__(self, problem, leaves, max_splits):
        self.weight_unit = common_unit(leaves.weights)
        self.cost_unit = self.weight_unit * leaves.scale
        self.constant = leaves.constant
        self.total = float(leaves.weights.sum() / self.weight_unit)
        split_cost = problem.limits.split_cost / problem.form.scale / self.cost_unit
        self.grid = grid_for(self.total * leaves.largest_saving + split_cost * max_splits)
        step = self.grid * 2.0 ** max_splits.bit_length()
        self.breaks_ties = bool(leaves.is_whole and step <= 1.0)
        self.step = float(step) if self.breaks_ties else 0.0
        if self.breaks_ties:
            self.split_cost = float(round_to(split_cost, step) + self.grid)
        else:
            self.split_cost = float(round_to(split_cost, self.grid))

    def weights(self, weights):
        """Weights in their common unit."""
        return round_to(weights / self.weight_unit, self.grid)

    def objective(self, cost):
        """A cost of the search as the objective has it: without what breaks ties."""
        if self.breaks_ties and np.isfinite(cost):
            cost = np.floor(cost / self.step) * self.step
        return cost * self.cost_unit + self.constant

    def of_tree(self, leaves_cost, n_splits):
        """The cost of a tree as the search has it; the cost of its leaves is an objective."""
        cost = (leaves_cost - self.constant) / self.cost_unit
        if self.breaks_ties:
            cost = float(round_to(cost, self.step))
        return max(0.0, cost) + n_splits * self.split_cost


def merged_moments(moments, others, bound):
    """Incumbents of two searches: (seconds, cost, bound), and (seconds, cost).

    `bound` is one that is known before.
    """
    least, merged = np.inf, []
    both = moments + [(seconds, cost, bound) for seconds, cost in others]
    for seconds, cost, low in sorted(both):
        if cost < least or low > bound:
            least, bound = min(least, cost), max(bound, low)
            merged.append((seconds, least, min(bound, least)))
    return merged


def explore(problem, session, engine, best_tree, first=None, record=None, inputs=None):
    """Let a search run to its end; callbacks are told of each step, and may stop it.

    Workers explore the last level if they are given the `inputs` of the engine.

    If it may be stopped before it has a proof, the tree to begin with becomes better in a third of
    the time. A step of the search may take much longer than its turn: it then ends with the turn,
    and begins anew in the next one.
    """
    control = session.control
    session.step(problem, "depth 2", engine.begin, best_tree)
    if record is not None and record.state is not None:
        with record.reading():
            engine.resume(checked_state(record.state))
    improves = first is not None and session.may_stop(problem.limits)
    steps = first.improvements() if improves else iter(())
    turn = first.seconds_a_turn if improves else np.inf
    turn_end = control.seconds + turn

    def search():
        seconds = min(turn_end - control.seconds, session.seconds_a_step)
        with session.for_seconds(GRACE * (turn_end - control.seconds)):
            is_done = deepen(engine, control, seconds)
            is_cut_short = control.stopped
        return is_done and not is_cut_short

    def improve():
        end = control.seconds + SHARE_OF_LOOK_AHEAD * turn
        return any(control.poll() or control.seconds > end for _ in steps)

    is_done = False
    if inputs is not None:
        while engine.level < engine.max_depth and not control.stopped:
            engine.deepen(session.seconds_a_step)
        if engine.level == engine.max_depth:
            engine.deepen(0.0)
        explore_intervals(problem, session, engine, inputs, record, best_tree)
    while not is_done and not control.stopped:
        is_done = session.step(problem, f"depth {engine.level}", search, best_tree)
        if record is not None and (is_done or record.is_due):
            record.write(engine.state)
        if not is_done and not control.stopped and control.seconds >= turn_end:
            improves = session.step(problem, "look-ahead", improve, best_tree)
            turn = first.growth_of_turns * turn if improves else np.inf
            turn_end = control.seconds + turn


def deepen(engine, control, seconds):
    """Search level by level for some seconds; True when there is nothing more to do."""
    end = control.seconds + seconds
    while engine.level <= engine.max_depth and not control.stopped:
        if not engine.deepen(end - control.seconds):
            return False
    return True


def checked_state(state):
    """The state of an engine out of a file; raises unless its plan is a tree."""
    plan = state["plan"].tolist()
    nodes = [
        [column, at + 1, right] if column >= 0 else [-1] * 3
        for at, (column, *_, right) in enumerate(plan)
    ]
    checked_nodes(nodes, 2**31 - 1)
    return state


class ThresholdsSolver:
    """Optima over all thresholds by depth and number of splits, as ``BitsSolver`` gives them.

    Each is found by a search of its own.

    Parameters
    ----------
    plan : Plan
        With a `table`.

    session : Session
    """

    def __init__(self, plan, session):
        self.plan, self.session = plan, session
        self.lower_bound = 0.0
        self.stats = {}

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.session.control.stopped

    def poll(self):
        """Read the clock; True if the search has to end."""
        return self.session.control.poll()

    def solve(self, max_depth, max_splits, upper=np.inf):
        """Best tree within the limits that costs less than `upper`; None if there is none.

        After a stop, the best tree known, proved or not.
        """
        max_splits = n_useful_splits(max_depth, max_splits)
        max_depth = min(max_depth, max_splits)
        problem = self.plan.problem.within(
            max_depth=max_depth, max_splits=max_splits, split_cost=0.0
        )
        found = search_thresholds(replace(self.plan, problem=problem), self.session)
        cost = problem.in_engine_units(found.cost)
        self.lower_bound = problem.in_engine_units(found.lower_bound)
        is_proved = not self.stopped
        if is_proved and not cost < upper:
            return None
        return Answer(max_depth, max_splits, cost, found.tests, found.nodes, is_proved)


def equal_rows(table):
    """The group of each row, of rows that are equal in all columns; None if there are none."""
    if any(len(values) == table.n_rows for values in table.values):
        return None
    group, n_groups = group_equal_rows(table.codes)
    return None if n_groups == table.n_rows else group


def bound_of_equal_rows(problem, table):
    """A lower bound on the objective of all trees: equal rows end in the same leaf."""
    leaves = LEAVES[problem.form.score](problem)
    units = Units(problem, leaves, 1)
    group = None if problem.form.score == "absolute" else equal_rows(table)
    bound = 0.0
    if group is not None:
        bound = cost_of_groups(leaves, units.weights(leaves.weights), group)
    return problem.in_units(units.objective(bound))


def cost_of_groups(leaves, weights, group):
    """Sum the cost of each group of equal rows as a leaf. No tree costs less.

    Equal rows end in the same leaf (Angelino et al., "Learning Certifiably Optimal Rule Lists",
    JMLR 2018).
    """
    if leaves.target is not None:
        total, sums, squares = (np.bincount(group, weights * leaves.target**k) for k in range(3))
        return float(np.maximum(0.0, squares - sums**2 / np.where(total > 0.0, total, 1.0)).sum())
    cells = group.astype(np.intp) * leaves.n_classes + leaves.label
    n_cells = (int(group.max()) + 1) * leaves.n_classes
    by_class = np.bincount(cells, weights, n_cells).reshape(-1, leaves.n_classes)
    if leaves.savings is None:
        return float((by_class.sum(axis=1) - by_class.max(axis=1)).sum())
    worst = by_class @ leaves.savings.max(axis=1)
    return float((worst - (by_class @ leaves.savings).max(axis=1)).sum())


def merge_rows(table, leaves, group):
    """One row for each group of equal ones, where leaves cost squared errors: exact.

    Equal rows end in the same leaf. There they cost what their mean does, with their weight, and
    their squared distances from it, whatever the tree.

    Returns
    -------
    table : Table
        With the same codes.

    leaves : Leaves
    """
    _, first = np.unique(group, return_index=True)
    weights = np.bincount(group, leaves.weights)
    sums = np.bincount(group, leaves.weights * leaves.target)
    # The target of a group without weight does not matter.
    target = sums / np.where(weights > 0.0, weights, 1.0)
    distances = (leaves.target - target[group]) ** 2
    merged = replace(
        leaves,
        label=np.zeros(len(first), dtype=np.uint16),
        weights=weights,
        target=target,
        constant=leaves.scale * float(np.sum(leaves.weights * distances)),
    )
    return recoded(table, [codes[first] for codes in table.codes], first), merged


@dataclass
class Leaves:
    """The rows as the search takes them: their part in the cost of a leaf.

    Attributes
    ----------
    label : ndarray of uint16, shape (n_rows,)
    weights : ndarray of float64, shape (n_rows,)
    n_classes : int
    savings : ndarray of shape (n_classes, n_classes) or None
        What each answer (column) saves over the worst one; None for errors.
    target : ndarray of float64, shape (n_rows,), or None
        Of a regression.
    scale : float
        Units of the objective in one of the search.
    tolerance : float
        By weight: costs as far apart count as equal.
    constant : float
        Of the objective, what every tree costs besides.
    is_whole : bool
        Whether targets, and weights in their common unit, are integers whose costs sum exactly.
    """

    label: np.ndarray
    weights: np.ndarray
    n_classes: int = 1
    savings: np.ndarray | None = None
    target: np.ndarray | None = None
    scale: float = 1.0
    tolerance: float = 0.0
    constant: float = 0.0
    is_whole: bool = False

    @property
    def largest_saving(self):
        """The most that a row of weight 1 can cost, or 1."""
        costs = np.abs(self.target) if self.savings is None and self.is_whole else self.savings
        return 1.0 if costs is None else max(1.0, float(costs.max()))


def cost_leaves(problem):
    """Leaves that cost what the cheapest answer does."""
    label = np.ascontiguousarray(problem.objective.targets, dtype=np.uint16)
    weights = np.ones(len(label)) if problem.weights is None else problem.weights
    form = problem.form
    own = diagonal(form)
    if own is not None and (problem.limits.min_weight_leaf == 0.0 or (own == 1.0).all()):
        # An error costs the same whatever the answer: it weighs more, instead.
        return Leaves(label, weights * own[label], n_classes=len(own))
    savings = np.diag(own) if own is not None else form.channel_matrix()
    return Leaves(label, weights, n_classes=len(savings), savings=savings)


def squared_leaves(problem):
    """Leaves that cost the squared distances from their means."""
    # Squares of very large and very small numbers overflow or underflow.
    targets = problem.objective.targets
    largest = float(np.abs(targets).max()) or 1.0
    return leaves_of_targets(problem, targets / largest, 2, scale=largest**2)


def absolute_leaves(problem):
    """Leaves that cost the distances from their medians, in whole units if sums then are exact."""
    targets = problem.objective.targets
    largest = float(np.abs(targets).max()) or 1.0
    leaves = leaves_of_targets(problem, targets / largest, 1, scale=largest)
    counts = leaves.weights / common_unit(leaves.weights)
    if (counts != np.rint(counts)).any():
        return leaves
    # The other bits are for the cost of ties.
    n_splits = n_useful_splits(problem.limits.max_depth, problem.limits.max_splits)
    n_units = 2.0 ** (SUM_BITS - n_splits.bit_length()) / counts.sum()
    units, unit = decimal_units(problem.objective.given_targets)
    if unit is None or np.abs(units).max() > n_units:
        unit = 2.0 ** np.ceil(np.log2(2.0 * largest / n_units))
        if unit > leaves.tolerance * largest:
            return leaves
        units = from_the_middle(problem.objective.given_targets) / unit
    return replace(leaves, target=np.rint(units), scale=unit, tolerance=0.0, is_whole=True)


def decimal_units(targets):
    """Targets in whole units of 1, 0.1, ..., from the middle one, and the unit, or None."""
    for digits in range(MOST_DIGITS + 1):
        units = np.rint(targets * 10.0**digits)
        if np.array_equal(units / 10.0**digits, targets):
            return from_the_middle(units), 10.0**-digits
    return targets, None


def from_the_middle(numbers):
    """Differences from the middle number, whatever the order of the numbers."""
    return numbers - np.sort(numbers)[len(numbers) // 2]


def gini_leaves(problem):
    """Leaves that cost the impurity of two classes.

    It is twice the squared distance of 0 and 1 from their mean: ``2 a b / (a + b)`` where they
    weigh `a` and `b`.
    """
    return leaves_of_targets(problem, problem.objective.targets.astype(np.float64), 2, scale=2.0)


def leaves_of_targets(problem, target, power, scale):
    """Leaves of a regression of numbers that are at most 1."""
    weights = np.ones(len(target)) if problem.weights is None else problem.weights
    return Leaves(
        np.zeros(len(target), dtype=np.uint16),
        weights,
        target=np.ascontiguousarray(target),
        scale=scale,
        tolerance=TOLERANCE * float(np.average(np.abs(target) ** power, weights=weights)),
    )


# By leaf score (see ``LeafObjective``), those that the search knows.
LEAVES = {
    "two_class": cost_leaves,
    "largest": cost_leaves,
    "gini": gini_leaves,
    "squared": squared_leaves,
    "absolute": absolute_leaves,
}


def can_search(form):
    """Whether the search knows the leaf score of a ``LeafObjective``."""
    n_classes = len(form.class_mass)
    return form.score in LEAVES and n_classes < (3 if form.score == "gini" else MOST_CLASSES)


def coarse_table(table, cuts, n_threads=1):
    """A table of intervals instead of numbers.

    Parameters
    ----------
    table : Table
    cuts : list of ndarray
        By column, the codes after which it may be cut (ascending); of nominal ones, any.
    n_threads : int

    Returns
    -------
    coarse : Table
    around : list of ndarray of shape (n_cuts, 2)
        By column, the values on both sides of the threshold above each interval but the last.
    """
    places, around = [], []
    for j, (codes, values) in enumerate(zip(table.codes, table.values, strict=True)):
        if table.is_nominal[j]:
            places.append(codes)
            around.append(np.empty((0, 2)))
        else:
            of_codes = np.searchsorted(cuts[j], np.arange(len(values) + 1), side="left")
            places.append(of_codes[codes])
            around.append(np.column_stack([values[cuts[j]], values[cuts[j] + 1]]))
    return recoded(table, places, slice(None), n_threads), around


def recoded(table, places, rows, n_threads=1):
    """A table of some `rows` with other codes: `places` of these rows, where none is missing."""
    matrix = np.empty((len(places[0]), table.n_columns), dtype=np.float64, order="F")
    for j, (codes, values) in enumerate(zip(table.codes, table.values, strict=True)):
        matrix[:, j] = np.where(codes[rows] < len(values), places[j], np.nan)
    n_values = [len(values) for values in table.values]
    return type(table).from_matrix(matrix, np.where(table.is_nominal, n_values, -1), n_threads)


def diagonal(form):
    """What the own class saves for a row of each class, if no other answer saves anything."""
    if form.score == "two_class":
        return form.class_mass
    matrix = form.class_channels
    if matrix.ndim == 1:
        return matrix
    if matrix.shape[0] != matrix.shape[1]:
        return None
    own = matrix.diagonal()
    return own if np.array_equal(matrix, np.diag(own)) else None


def common_unit(weights):
    """The unit of weights: integers count faster, and none may be lost on the grid.

    The least weight if all others are whole multiples of it, 1 for other integers, else the power
    of two below the largest one.
    """
    least = weights.min(where=weights > 0.0, initial=np.inf)
    if not np.isfinite(least):
        return 1.0
    multiples = np.rint(weights / least)
    if np.array_equal(multiples * least, weights):
        return float(least)
    if weights.sum() < 2**SUM_BITS and np.array_equal(np.rint(weights), weights):
        return 1.0
    return 2.0 ** np.floor(np.log2(weights.max()))


def grid_for(largest_sum):
    """The power of two that is the unit of all weights and costs."""
    return 2.0 ** (np.ceil(np.log2(max(largest_sum, 1.0))) - SUM_BITS)


def round_to(values, grid):
    """The nearest multiples of `grid`, a power of two."""
    return np.rint(values / grid) * grid


def tests_of_plan(plan, table, around):
    """The tests of a plan, and its nodes as the other searches give them.

    Parameters
    ----------
    plan : list of tuple
        Nodes in preorder: column or -1, kind of test, branch of missing values, code, next code of
        the node's rows, and where branch 1 begins.

    table : Table

    around : list of ndarray or None
        By column, the values on both sides of the threshold above each code, if codes are
        intervals; None if they are values.

    Returns
    -------
    tests : BinaryTests
        One for each inner node.

    nodes : ndarray of shape (n_nodes, 3)
        Test or -1, child of the rows that pass it, child of the others.
    """
    nodes = np.full((len(plan), 3), -1, dtype=np.int32)
    inner = [place for place, node in enumerate(plan) if node[0] >= 0]
    tests = BinaryTests(
        kind=np.full(len(inner), NUMERIC, dtype=np.uint8),
        feature=np.array([plan[place][0] for place in inner], dtype=np.int32),
        lower=np.full(len(inner), np.nan),
        upper=np.full(len(inner), np.nan),
        category=np.full(len(inner), -1, dtype=np.int32),
        missing_branch=np.array([plan[place][2] for place in inner], dtype=np.int32),
        bits=np.zeros((table.n_rows, row_bytes_for(len(inner))), dtype=np.uint8),
    )
    for index, place in enumerate(inner):
        column, kind, missing_branch, code, next_code, right = plan[place]
        children = place + 1, right
        codes, values = table.codes[column], table.values[column]
        missing = codes == len(values)
        if kind == AT_MOST:
            pair = (values[code], values[next_code]) if around is None else around[column][code]
            tests.lower[index], tests.upper[index] = pair
            passed = codes <= code
        elif kind == ONE_CATEGORY:
            tests.kind[index], tests.category[index] = CATEGORY_ONE, code
            passed = codes == code
        else:
            tests.kind[index], missing_branch = IS_MISSING, 0
            # Missing values pass; a chain's last test has them on its other side.
            children = children if kind == MISSING else children[::-1]
            passed = missing
        passed = np.where(missing, missing_branch == 0, passed)
        tests.bits[:, index >> 3] |= passed.astype(np.uint8) << (index & 7)
        nodes[place] = index, *children
    return tests, nodes
