"""The best tree over every threshold of a table: what drives the search and reads its answer."""

import numpy as np

from sktree_opt.optimal import _driver
from sktree_opt.optimal.continuous import _search
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.preprocessing._bits import row_bytes_for
from sktree_opt.tree._node import CATEGORY_ONE, IS_MISSING, NUMERIC

AT_MOST, ONE_CATEGORY, MISSING, PRESENT = range(4)

# Leaf scores (see ``LeafObjective``) that the search knows.
SCORES = ("two_class", "largest")

# Class codes have 16 bits.
MOST_CLASSES = 1 << 16

# Every sum of weights and costs is below 2 ** SUM_BITS units, so that doubles add them exactly.
SUM_BITS = 50

# Thresholds above which a search over ranks is faster than one over a binary column for each.
MANY_THRESHOLDS = 300


def search(problem, off=()):
    """Find the tree of least cost over all thresholds and categories of a table.

    Parameters
    ----------
    problem : _driver.Problem
        With a `table`, and a leaf form that ``can_search`` accepts.

    off : tuple of str
        Techniques to do without (see ``_search.SWITCHES``).

    Returns
    -------
    tests : BinaryTests
        Those that the tree asks.

    result : _driver.SearchResult
        Its nodes refer to `tests`.
    """
    limits, table = problem.limits, problem.table
    control = problem.control()
    weights = np.ones(table.n_rows) if problem.weights is None else problem.weights
    label = np.ascontiguousarray(problem.y, dtype=np.uint16)
    savings = savings_of(problem.leaf_form)
    own = diagonal(savings)
    if own is not None and (limits.min_weight_leaf == 0.0 or (own == 1.0).all()):
        # An error costs the same whatever the answer: it weighs more, instead.
        weights, savings = weights * own[label], None
    max_depth = min(limits.max_depth, table.n_rows)
    max_splits = min(limits.max_splits, 2 ** min(max_depth, 30) - 1)
    unit = common_unit(weights)
    # From here on in units of weight.
    split_cost = limits.split_cost / problem.leaf_form.scale / unit
    total = weights.sum() / unit
    largest = 1.0 if savings is None else max(1.0, float(savings.max()))
    grid = grid_for(total * largest + split_cost * max_splits)
    outcome = _search.search(
        table,
        label,
        round_to(weights / unit, grid),
        savings,
        control,
        max_depth=max_depth,
        max_splits=max_splits,
        n_classes=problem.leaf_form.class_channels.shape[0],
        split_cost=float(round_to(split_cost, grid)),
        min_rows=float(limits.min_samples_leaf),
        min_weight=float(round_to(limits.min_weight_leaf / unit, grid)),
        n_threads=limits.n_threads,
        off=off,
    )
    tests, nodes = tests_of_plan(outcome["plan"], table)
    result = _driver.SearchResult(
        nodes=nodes,
        cost=problem.in_units(outcome["cost"] * unit),
        lower_bound=problem.in_units(outcome["lower_bound"] * unit),
        status=control.status,
        incumbents=[
            (seconds, problem.in_units(cost * unit)) for seconds, cost, _ in outcome["incumbents"]
        ],
        stats=outcome["stats"] | {"seconds": control.seconds},
    )
    return tests, result


def can_search(form):
    """Whether the search knows the leaf score of a ``LeafObjective``."""
    return form.score in SCORES and len(form.class_mass) < MOST_CLASSES


def has_many_thresholds(table):
    """Whether a search over ranks beats one that makes a binary column of every threshold."""
    n_thresholds = sum(
        len(values) - 1
        for values, is_nominal in zip(table.values, table.is_nominal, strict=True)
        if not is_nominal and len(values) > 0
    )
    return n_thresholds >= MANY_THRESHOLDS


def savings_of(form):
    """What each answer (column) saves for a row of each class, over its worst answer."""
    if form.score == "two_class":
        return np.diag(form.class_mass)
    return np.asarray(form.class_channels, dtype=np.float64)


def diagonal(matrix):
    """The diagonal of a matrix that has nothing else, else None."""
    if matrix.shape[0] != matrix.shape[1]:
        return None
    own = matrix.diagonal()
    return own if np.array_equal(matrix, np.diag(own)) else None


def common_unit(weights):
    """The least weight if all others are whole multiples of it, else 1: integers count faster."""
    least = weights.min(where=weights > 0.0, initial=np.inf)
    if not np.isfinite(least):
        return 1.0
    multiples = np.rint(weights / least)
    return float(least) if np.array_equal(multiples * least, weights) else 1.0


def grid_for(largest_sum):
    """The power of two that is the unit of all weights and costs."""
    return 2.0 ** (np.ceil(np.log2(max(largest_sum, 1.0))) - SUM_BITS)


def round_to(values, grid):
    """The nearest multiples of `grid`, a power of two."""
    return np.rint(values / grid) * grid


def tests_of_plan(plan, table):
    """The tests of a plan, and its nodes as the other searches give them.

    Parameters
    ----------
    plan : list of tuple
        Nodes in preorder: column or -1, kind of test, branch of missing values, code, next code of
        the node's rows, and where branch 1 begins.

    table : Table

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
        threshold=np.full(len(inner), np.nan),
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
            tests.threshold[index] = midpoint(values[code], values[next_code])
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


def midpoint(lower, upper):
    """A threshold between two values: their middle, or `lower` where that rounds to `upper`."""
    middle = lower / 2.0 + upper / 2.0
    return middle if lower <= middle < upper else lower
