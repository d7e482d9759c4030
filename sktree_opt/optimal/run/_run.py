"""One tree: which search answers a plan."""

from __future__ import annotations

from sktree_opt.optimal.run._bits_solver import find_tree_of_tests
from sktree_opt.optimal.run._f1 import find_tree_by_f1
from sktree_opt.optimal.run._metric import find_tree_by_metric
from sktree_opt.optimal.run._one_column import find_tree_of_column
from sktree_opt.optimal.run._thresholds_solver import find_tree_of_table


def find_tree(plan, session):
    """Find the best tree of a plan.

    Parameters
    ----------
    plan : Plan

    session : Session

    Returns
    -------
    solution : Solution
    """
    if plan.problem.objective.metric is not None and plan.table is not None:
        return find_tree_by_f1(plan, session)
    if plan.problem.objective.metric is not None:
        return find_tree_by_metric(plan, session)
    if plan.engine == "bits":
        return find_tree_of_tests(plan.problem, plan.tests, session, plan.off)
    found = find_tree_of_column(plan, session) if plan.engine == "column" else None
    return find_tree_of_table(plan, session) if found is None else found
