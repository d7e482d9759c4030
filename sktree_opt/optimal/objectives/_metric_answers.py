"""The best answers of a known tree's leaves by a metric, for a search that was stopped."""

from dataclasses import replace

import numpy as np

from sktree_opt.optimal.objectives._metrics import FRONT_DTYPE, losses_of, pareto_points
from sktree_opt.optimal.run._prunings import Prunings

# Of each tree, spread from none to all of its tests.
N_SIZES = 24


def better_of(problem, search, looks, best):
    """What a stopped search has found, or a pruned tree of a plain search if that is better.

    Leaves of the largest shares of the positive class answer it, for each number of such leaves.

    Parameters
    ----------
    problem : Problem
    search : MetricSearch
    looks : dict
        See ``_first_look.looks_at_metric``.
    best : MetricTree
        What was found.

    Returns
    -------
    best : MetricTree
    """
    candidates = [
        one for slope, found in looks.items() for one in prunings_by_slope(problem, found, *slope)
    ]
    points = [points_of(search, *one) for one in candidates]
    values = [one["loss"] + search.complexity_cost * one["n_splits"] for one in points]
    best = replace(best, front=pareto_points(np.concatenate([best.front, *points])))
    for candidate, value in zip(candidates, values, strict=True):
        n_positive = int(value.argmin())
        if value[n_positive] < best.objective:
            pruned, size, weights = candidate
            columns, answers = answered(pruned, size, weights, n_positive)
            best = replace(
                best, columns=columns, answers=answers, objective=float(value[n_positive])
            )
    return best


def prunings_by_slope(problem, found, fp_cost, fn_cost):
    """Prunings of a tree by what its errors cost, each size, and what reaches the whole tree."""
    reached = problem.rows_in(found.nodes)
    # What a leaf costs that answers 1, and 0.
    costs = np.minimum(fp_cost * reached.weights[:, 0], fn_cost * reached.weights[:, 1])
    pruned = Prunings(reached.nodes, costs, problem.limits.max_depth)
    sizes = pruned.useful_sizes()
    some = np.linspace(0, len(sizes) - 1, min(len(sizes), N_SIZES)).astype(np.intp)
    return [(pruned, int(size), reached.weights) for size in sizes[some]]


def points_of(search, pruned, size, weights):
    """Errors with each number of leaves that answer 1, as points of a front."""
    leaves = leaves_by_share(pruned, size, weights)[1]
    passed = np.vstack([np.zeros(2), np.cumsum(weights[leaves], axis=0)])
    points = np.empty(len(passed), dtype=FRONT_DTYPE)
    points["false_positives"] = passed[:, 0]
    points["false_negatives"] = np.maximum(0.0, search.totals[1] - passed[:, 1])
    points["n_splits"] = size
    errors = np.column_stack([points["false_positives"], points["false_negatives"]])
    points["loss"] = losses_of(search.metric, errors, search.totals)
    return points


def leaves_by_share(pruned, size, weights):
    """Leaves of a pruned tree, and which nodes of the whole tree they are; positive ones first."""
    nodes, origin = pruned.tree(size)
    leaves = np.flatnonzero(nodes[:, 0] < 0)
    totals = weights[origin[leaves]]
    order = np.argsort(-totals[:, 1] / totals.sum(axis=1), kind="stable")
    return leaves[order], origin[leaves[order]]


def answered(pruned, size, weights, n_positive):
    """Columns and answers of a pruned tree, as ``MetricTree`` has them."""
    columns = pruned.tree(size)[0][:, 0]
    leaves, _ = leaves_by_share(pruned, size, weights)
    answers = np.full(len(columns), -1, dtype=np.int32)
    answers[leaves] = 0
    answers[leaves[:n_positive]] = 1
    return columns, answers
