"""Bounds on all trees that are had before a search, for one that may not come to its end."""

from dataclasses import replace

import numpy as np

from sktree_opt.optimal.objectives import two_class_form
from sktree_opt.preprocessing._equal_rows import group_equal_rows
from sktree_opt.utils._control import SearchControl

# Share of a time limit, or else seconds, for the searches that bound a harder one.
SHARE, SECONDS = 0.1, 2.0

# Weights of false positives and false negatives whose sums bound a metric.
SLOPES = ((1.0, 1.0), (1.0, 4.0), (4.0, 1.0))

# Pieces that the false positives are cut in to bound a metric.
N_PIECES = 512


def may_stop(problem):
    """Whether a search may leave a tree before it has a proof."""
    limits = problem.limits
    has_limit = limits.time_limit is not None or limits.memory_limit is not None
    return has_limit or problem.is_watched


def equal_rows_floor(problem):
    """What rows that pass the same tests cost in every tree, since they end in one leaf.

    Of objectives that cost no less when leaves are joined; 0 for others.
    """
    if not problem.leaf_form.loss_is_bounded or problem.node_costs is None:
        return 0.0
    bits = problem.tests.bits
    if bits.shape[1] == 0:
        group = np.zeros(len(bits), dtype=np.intp)
    else:
        group, _ = group_equal_rows(list(bits.T))
    return float(problem.node_costs(group).sum())


def engine_floor(problem, leaf_form, n_searches=1):
    """Lower bound, in units of the engine, of a sum over leaves; within a share of the time."""
    limit = problem.limits.time_limit
    seconds = SECONDS if limit is None else SHARE * limit
    control = SearchControl(seconds / n_searches, problem.limits.memory_limit)
    bounding = replace(problem, leaf_form=leaf_form, started=None, progress=None, kept=None)
    engine = bounding.engine(control)
    limits = problem.limits
    engine.begin(limits.max_depth, limits.max_splits, limits.split_cost / leaf_form.scale)
    for depth in range(3, limits.max_depth + 1):
        engine.deepen(depth, np.inf, limits.n_threads)
    control.raise_pending()
    return engine.lower_bound


def metric_floor(problem, losses, totals):
    """Lower bound of a metric that falls with neither error.

    Every tree has ``a * fp + b * fn >= c`` for the least such sums. Within a piece of the false
    positives the metric is at least what it is at its left end, with as many false negatives as
    these sums ask for at its right end.

    Parameters
    ----------
    problem : Problem
    losses : callable
        From pairs of errors, of shape (n, 2), to the metric.
    totals : ndarray of shape (2,)
        Weight of each class.
    """
    plain = replace(problem, limits=replace(problem.limits, split_cost=0.0))
    lines = [(1.0, 1.0, equal_rows_floor(problem))]
    for a, b in SLOPES:
        lines.append((a, b, engine_floor(plain, two_class_form(a, b), len(SLOPES))))
    ends = np.linspace(0.0, totals[0], N_PIECES + 1)
    least = np.max([(c - a * ends[1:]) / b for a, b, c in lines], axis=0)
    # Sums of real weights are rounded.
    least = np.maximum(0.0, least - 1e-9 * totals.sum())
    possible = least <= totals[1]
    errors = np.column_stack([ends[:-1], least])[possible]
    last = [[totals[0], 0.0]]
    return float(losses(np.append(errors, last, axis=0)).min())
