"""A bound on all trees that is had without a search, for one that may not come to its end."""

import numpy as np

from sktree_opt.preprocessing._equal_rows import group_equal_rows


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
