"""The search over all thresholds, called on tables of any size."""

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal.bits._engine import available_instruction_sets
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run import _driver, _solve
from sktree_opt.tree import Tree
from sktree_opt.utils._validation import TrainingData

# Those that the search over all thresholds has, as far as this processor has them.
INSTRUCTION_SETS = [
    name for name in ("portable", "avx2", "avx512") if name in available_instruction_sets()
]


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
    problem.tests, found = _solve.search(problem, off)
    problem.data = TrainingData(
        matrix=None,
        y=y,
        weights=unit,
        has_unit_weights=weights is None,
        classes=np.arange(n_classes),
        encoder=None,
        kept_rows=slice(None),
    )
    problem.n_categories = [
        len(values) if nominal else -1
        for values, nominal in zip(table.values, table.is_nominal, strict=True)
    ]
    reached = _driver.NodeRows.of(problem, _driver.breadth_first(found.nodes)[0])
    tree = _driver.make_tree(
        problem,
        reached,
        reached.weights,
        OBJECTIVES[objective].leaf_costs(reached.weights, class_weights, costs),
        table.n_columns,
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
