"""Which search answers a plan."""

from __future__ import annotations

from sktree_opt.optimal.run._bits_solver import find_tree_of_tests
from sktree_opt.optimal.run._f1 import find_tree_by_f1
from sktree_opt.optimal.run._look_ahead import LookAhead, find_tree_by_look_ahead
from sktree_opt.optimal.run._metric import find_tree_by_metric
from sktree_opt.optimal.run._one_column import find_tree_of_column
from sktree_opt.optimal.run._thresholds_solver import search_thresholds
from sktree_opt.utils._workers import has_local_backend


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
    looks_ahead, metric = plan.problem.limits.looks_ahead, plan.problem.objective.metric
    if looks_ahead and metric is not None:
        raise ValueError(f"search='lookahead' is not supported with objective={metric!r}.")
    if session.checkpoint is not None and (looks_ahead or metric is not None):
        asked = "search='lookahead'" if looks_ahead else f"objective={metric!r}"
        raise ValueError(f"checkpoint is not supported with {asked}.")
    if metric is not None and plan.table is not None:
        return find_tree_by_f1(plan, session)
    if metric is not None:
        return find_tree_by_metric(plan, session)
    record, is_remote = session.record("tree", plan), not has_local_backend()
    if plan.engine == "bits":
        problem, tests = plan.problem, plan.tests
        return find_tree_of_tests(problem, tests, session, plan.off, record, is_remote)
    found = find_tree_of_column(plan, session) if plan.engine == "column" else None
    if found is not None:
        return found
    if looks_ahead:
        return find_tree_by_look_ahead(plan, session)
    return search_thresholds(plan, session, LookAhead.of_plan(plan, session), record, is_remote)
