"""The best tree over every threshold of a table: what drives the search and reads its answer."""

from dataclasses import dataclass, field

import numpy as np

from sktree_opt.optimal.continuous import _search
from sktree_opt.tree import Tree
from sktree_opt.tree._node import CATEGORY_ONE, IS_MISSING, NODE_DTYPE, NUMERIC
from sktree_opt.utils._control import SearchControl

AT_MOST, ONE_CATEGORY, MISSING, PRESENT = range(4)

# Every sum of weights and costs is below 2 ** SUM_BITS units, so that doubles add them exactly.
SUM_BITS = 50

# Binary columns above which a search over ranks is the faster one.
MANY_THRESHOLDS = 300


@dataclass(frozen=True)
class SearchResult:
    """What a search over all thresholds found.

    Attributes
    ----------
    tree : Tree
    objective : float
        Cost of the leaves plus complexity cost, in units of weight.
    lower_bound : float
        No tree within the limits costs less.
    status : str
        "optimal", or what ended the search before its proof.
    incumbents : list of (seconds, objective, lower bound)
    stats : dict
    """

    tree: Tree
    objective: float
    lower_bound: float
    status: str
    incumbents: list = field(repr=False)
    stats: dict = field(repr=False)


def solve_table(
    table,
    y,
    weights=None,
    *,
    n_classes,
    max_depth,
    max_splits=None,
    min_samples_leaf=1,
    min_weight_leaf=0.0,
    complexity_cost=0.0,
    cost_matrix=None,
    n_threads=1,
    control=None,
):
    """Find the tree of least cost over all thresholds and categories of `table`.

    Parameters
    ----------
    table : Table
        Rows without weight left out.

    y : ndarray of shape (n_rows,)
        Class codes.

    weights : ndarray of shape (n_rows,) or None, default=None
        Positive; None weighs every row 1.

    n_classes : int

    max_depth : int

    max_splits : int or None, default=None
        None for as many as the depth allows.

    min_samples_leaf : int, default=1
        Rows of each leaf.

    min_weight_leaf : float, default=0.0
        Weight of each leaf.

    complexity_cost : float, default=0.0
        Cost of each test, as a share of the total weight.

    cost_matrix : ndarray of shape (n_classes, n_classes) or None, default=None
        Cost of each answer (column) to each class (row), not negative; None counts errors.

    n_threads : int, default=1

    control : SearchControl or None, default=None

    Returns
    -------
    result : SearchResult
        ``stats`` counts; ``incumbents`` tell when each better tree was found.

    Raises
    ------
    ValueError
        When not even a single leaf meets the minima.
    """
    control = SearchControl() if control is None else control
    weights = np.ones(table.n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    label = np.ascontiguousarray(y, dtype=np.uint16)
    if min_samples_leaf > table.n_rows or min_weight_leaf > weights.sum():
        raise ValueError(
            f"min_samples_leaf={min_samples_leaf} or min_weight_leaf={min_weight_leaf} is more "
            f"than all {table.n_rows} rows of weight {weights.sum():g} have."
        )
    max_depth = min(max_depth, table.n_rows)
    deepest = 2 ** min(max_depth, 30) - 1
    max_splits = deepest if max_splits is None else min(max_splits, deepest)
    scale = common_unit(weights)
    total_weight = weights.sum() / scale
    offset, matrix, largest = 0.0, None, 1.0
    if cost_matrix is not None:
        matrix = np.asarray(cost_matrix, dtype=np.float64)
        # What even the best answer to a class costs is paid by every tree.
        cheapest = matrix.min(axis=1)
        offset = float(cheapest[label] @ weights)
        matrix = matrix - cheapest[:, None]
        largest = max(float(matrix.max()), 1.0)
    grid = grid_for(total_weight * max(largest, 1.0 + complexity_cost * max_splits))
    outcome = _search.search(
        table,
        label,
        round_to(weights / scale, grid),
        matrix,
        control,
        max_depth=max_depth,
        max_splits=max_splits,
        n_classes=n_classes,
        split_cost=float(round_to(complexity_cost * total_weight, grid)),
        min_rows=float(min_samples_leaf),
        min_weight=float(round_to(min_weight_leaf / scale, grid)),
        n_threads=n_threads,
    )
    return SearchResult(
        tree=build_tree(outcome["plan"], table, label, weights, n_classes, cost_matrix),
        objective=outcome["cost"] * scale + offset,
        lower_bound=outcome["lower_bound"] * scale + offset,
        status=control.status,
        incumbents=[
            (seconds, cost * scale + offset, lower * scale + offset)
            for seconds, cost, lower in outcome["incumbents"]
        ],
        stats=outcome["stats"] | {"seconds": control.seconds},
    )


def has_many_thresholds(table):
    """Whether a search over ranks beats one that makes a binary column of every threshold."""
    n_thresholds = sum(
        len(values) - 1
        for values, is_nominal in zip(table.values, table.is_nominal, strict=True)
        if not is_nominal and len(values) > 0
    )
    return n_thresholds >= MANY_THRESHOLDS


def common_unit(weights):
    """The least weight if all others are whole multiples of it, else 1: integers count faster."""
    least = weights.min()
    multiples = np.rint(weights / least)
    return float(least) if np.array_equal(multiples * least, weights) else 1.0


def grid_for(largest_sum):
    """The power of two that is the unit of all weights and costs."""
    return 2.0 ** (np.ceil(np.log2(largest_sum)) - SUM_BITS)


def round_to(values, grid):
    """The nearest multiples of `grid`, a power of two."""
    return np.rint(values / grid) * grid


def build_tree(plan, table, label, weights, n_classes, cost_matrix):
    """The Tree of a plan: numbered level by level, with class weights of the training rows."""
    costs = 1.0 - np.eye(n_classes) if cost_matrix is None else np.asarray(cost_matrix)
    nodes = np.zeros(len(plan), dtype=NODE_DTYPE)
    nodes["first_child"] = nodes["feature"] = nodes["missing_branch"] = -1
    nodes["category_start"] = -1
    nodes["threshold"] = np.nan
    values = np.zeros((len(plan), n_classes))
    category_branch = []
    # (place in the plan, rows) of each node, in the order of the tree.
    queue = [(0, np.arange(table.n_rows))]
    for index in range(len(plan)):
        place, rows = queue[index]
        queue[index] = None
        node = nodes[index]
        values[index] = np.bincount(label[rows], weights=weights[rows], minlength=n_classes)
        node["weight"] = values[index].sum()
        # What the node would cost as a leaf, by weight.
        node["impurity"] = (values[index] @ costs).min() / node["weight"]
        node["n_samples"] = len(rows)
        column, *test, right = plan[place]
        if column < 0:
            continue
        node["first_child"], node["n_children"] = len(queue), 2
        branch = set_test(node, column, test, table, rows, category_branch)
        # A tree's missing values take branch 0 of the test that asks for them.
        places = (right, place + 1) if test[0] == PRESENT else (place + 1, right)
        queue.extend((places[b], rows[branch == b]) for b in range(2))
    return Tree(nodes, values, category_branch, n_features=table.n_columns, is_classifier=True)


def set_test(node, column, test, table, rows, category_branch):
    """Write a test into its node; the branch of each row."""
    kind, missing_branch, code, next_code = test
    codes = table.codes[column][rows]
    n_values = len(table.values[column])
    missing = codes == n_values
    node["feature"] = column
    if kind in (MISSING, PRESENT):
        node["kind"], node["missing_branch"] = IS_MISSING, 0
        return np.where(missing, 0, 1)
    node["missing_branch"] = missing_branch
    if kind == AT_MOST:
        node["kind"] = NUMERIC
        node["threshold"] = midpoint(table.values[column][code], table.values[column][next_code])
        branch = codes > code
    else:
        node["kind"] = CATEGORY_ONE
        node["category_start"], node["n_categories"] = len(category_branch), n_values
        category_branch.extend(int(category != code) for category in range(n_values))
        branch = codes != code
    return np.where(missing, missing_branch, branch)


def midpoint(lower, upper):
    """A threshold between two values: their middle, or `lower` where that rounds to `upper`."""
    middle = lower / 2.0 + upper / 2.0
    return middle if lower <= middle < upper else lower
