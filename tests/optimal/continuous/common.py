"""The search over all thresholds, called on tables of any size."""

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal import _driver, continuous
from sktree_opt.optimal.objectives import OBJECTIVES
from sktree_opt.tree import Tree


@dataclass
class Solution:
    """A search's result, and its tree."""

    tree: Tree
    objective: float
    lower_bound: float
    status: str
    incumbents: list
    stats: dict


def solve(
    table,
    y,
    weights=None,
    *,
    max_depth,
    n_classes=None,
    max_splits=None,
    objective=None,
    complexity_cost=0.0,
    cost_matrix=None,
    off=(),
    **limits,
):
    """The best tree on `table`, whatever the number of its thresholds."""
    y = np.asarray(y).astype(np.int32)
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    unit = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    if objective is None:
        objective = "error" if cost_matrix is None else "cost"
    class_weights = np.bincount(y, weights=unit, minlength=n_classes)
    costs = cost_matrix
    if objective == "balanced_error":
        costs = OBJECTIVES[objective].costs(class_weights)
    problem = _driver.Problem(
        tests=None,
        y=y,
        weights=None if weights is None else unit,
        leaf_form=OBJECTIVES[objective].leaf_form(class_weights, unit, costs),
        limits=_driver.SearchLimits(
            max_depth=max_depth,
            max_splits=2**max_depth - 1 if max_splits is None else max_splits,
            split_cost=complexity_cost * unit.sum(),
            **limits,
        ),
        table=table,
    )
    tests, found = continuous.search(problem, off)
    order, rows = _driver.rows_by_node(tests, found.nodes)
    values = np.array([np.bincount(y[r], weights=unit[r], minlength=n_classes) for r in rows])
    counts = [
        len(values) if nominal else -1
        for values, nominal in zip(table.values, table.is_nominal, strict=True)
    ]
    tree = _driver.make_tree(
        tests,
        found.nodes,
        values,
        OBJECTIVES[objective].leaf_costs(values, class_weights, costs),
        values.sum(axis=1),
        [len(r) for r in rows],
        order,
        table.n_columns,
        counts,
        True,
    )
    return Solution(
        tree, found.cost, found.lower_bound, found.status, found.incumbents, found.stats
    )


def matrix_of(table):
    """The matrix that a table was made of."""
    columns = []
    for codes, values in zip(table.codes, table.values, strict=True):
        columns.append(np.append(values, np.nan)[codes])
    return np.column_stack(columns)
