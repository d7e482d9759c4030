"""The search over all thresholds, called on tables of any size."""

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal.objectives._for_data import class_objective
from sktree_opt.optimal.run._plan import Plan
from sktree_opt.optimal.run._problem import Limits, Problem
from sktree_opt.optimal.run._thresholds_solver import search_thresholds
from sktree_opt.optimal.run._trees import tree_and_objective
from sktree_opt.tree import Tree
from tests.optimal.common import new_session, training_data


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
    if objective is None:
        objective = "error" if cost_matrix is None else "cost"
    data = training_data(np.empty((len(y), table.n_columns)), y, weights, n_classes)
    data.encoder.n_categories_ = [
        len(values) if nominal else -1
        for values, nominal in zip(table.values, table.is_nominal, strict=True)
    ]
    limits = Limits(
        max_depth=max_depth,
        max_splits=2**max_depth - 1 if max_splits is None else max_splits,
        split_cost=complexity_cost * data.weights.sum(),
        **limits,
    )
    problem = Problem(data, class_objective(objective, data, cost_matrix), limits)
    found = search_thresholds(Plan(problem, "", table=table, off=off), new_session(limits))
    tree, _ = tree_and_objective(problem, found.tests, found.nodes)
    return Solution(
        tree, found.cost, found.lower_bound, found.status, found.incumbents, found.stats
    )


def matrix_of(table):
    """The matrix that a table was made of."""
    columns = []
    for codes, values in zip(table.codes, table.values, strict=True):
        columns.append(np.append(values, np.nan)[codes])
    return np.column_stack(columns)
