"""The plain search within a share of the time, for questions whose own search may find less.

Rankings of several trees, metrics and paths come to deep trees late. What the plain search finds of
them in a moment, by limited discrepancy beyond five levels, is what they answer when they have
found nothing better; and its bound says how far they are from the optimum.
"""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import two_class_form
from sktree_opt.optimal.run import _driver
from sktree_opt.optimal.run._floors import equal_rows_floor
from sktree_opt.optimal.run._prunings import Prunings
from sktree_opt.utils._control import SearchControl

# Share of a time limit, or else seconds.
SHARE, SECONDS = 0.25, 2.0

# Weights of false positives and false negatives whose sums bound a metric.
SLOPES = ((1.0, 1.0), (1.0, 4.0), (4.0, 1.0))

# Pieces that the false positives are cut in to bound a metric.
N_PIECES = 512


@dataclass
class Look:
    """What a plain search has found in its time.

    Attributes
    ----------
    lower_bound : float
        In units of the engine; no tree costs less.

    nodes : ndarray
        The best tree, as ``Engine.tree`` gives it.
    """

    lower_bound: float
    nodes: np.ndarray


def share_of_time(problem, n_searches=1):
    """Seconds that each of some plain searches may take."""
    limit = problem.limits.time_limit
    return (SECONDS if limit is None else SHARE * limit) / n_searches


@contextmanager
def for_seconds(control, seconds):
    """Let a control end what is inside after some time, and then go on with the rest of it."""
    limit = control.begin_share(seconds)
    try:
        yield
    finally:
        control.end_share(limit)


def look(problem, leaf_form, n_searches=1, seconds=None):
    """Search for the least sum over leaves, within a share of the time.

    Parameters
    ----------
    problem : Problem
    leaf_form : LeafObjective
        The sum, if need be another one than the problem's own.
    n_searches : int
        How many such searches there are.
    seconds : float or None
        How long it may take; None for its share of the time.

    Returns
    -------
    found : Look
    """
    seconds = share_of_time(problem, n_searches) if seconds is None else seconds
    control = SearchControl(seconds, problem.limits.memory_limit)
    plain = replace(
        problem, leaf_form=leaf_form, started=None, progress=None, kept=None, initial=None
    )
    engine = plain.engine(control)
    _driver.begin(plain, engine, plain.limits.max_depth, plain.limits.max_splits)
    go_down(plain, control, engine, plain.limits.max_depth)
    control.raise_pending()
    return Look(engine.lower_bound, engine.known_tree())


def go_down(problem, control, engine, max_depth, upper=np.inf):
    """Search an engine's levels for trees that cost less than `upper`, dives between them.

    Returns
    -------
    has_ended_it : bool
        Whether a dive of many levels has come to the least cost there is.
    """
    limits = replace(problem.limits, max_depth=max_depth)
    dives = _driver.Dives(replace(problem, limits=limits), control, engine)
    for depth in range(3, max_depth + 1):
        dives.go_on(depth)
        if control.poll() or engine.cost <= engine.lower_bound:
            break
        _driver.deepen(problem, control, engine, depth, upper)
        dives.level_is_done()
    return dives.has_ended_it


def looks_at_metric(problem):
    """Plain searches whose sums of errors bound a metric, by slope."""
    plain = replace(problem, limits=replace(problem.limits, split_cost=0.0))
    return {slope: look(plain, two_class_form(*slope), len(SLOPES)) for slope in SLOPES}


def metric_floor(problem, losses, totals, looks):
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
    looks : dict
        See ``looks_at_metric``.
    """
    lines = [(1.0, 1.0, equal_rows_floor(problem))]
    lines += [(*slope, found.lower_bound) for slope, found in looks.items()]
    ends = np.linspace(0.0, totals[0], N_PIECES + 1)
    least = np.max([(c - a * ends[1:]) / b for a, b, c in lines], axis=0)
    # Sums of real weights are rounded.
    least = np.maximum(0.0, least - 1e-9 * totals.sum())
    possible = least <= totals[1]
    errors = np.column_stack([ends[:-1], least])[possible]
    last = [[totals[0], 0.0]]
    return float(losses(np.append(errors, last, axis=0)).min())


def known_trees(problem, control, solve, keeps_all):
    """Trees for a path that may be stopped: the best in a share of the time, by depth.

    Half of the share is for the largest depth, the rest for the others, if the searches to come
    have a use for what is found (`keeps_all`). `solve` searches within a depth and a size.
    """
    limits, seconds = problem.limits, share_of_time(problem) / 2.0
    known = KnownTrees(problem)
    for depth in range(limits.max_depth, 2, -1):
        with for_seconds(control, seconds):
            nodes = solve(depth, limits.max_splits).nodes
        # Cut off, the deepest is one for the other depths.
        known.offer(nodes, range(depth + 1) if depth == limits.max_depth else [depth])
        control.raise_pending()
        seconds = share_of_time(problem) / 2.0 / max(1, limits.max_depth - 3)
        if control.stopped or not keeps_all:
            break
    return known


class KnownTrees:
    """Trees for every depth and number of splits, made of a few by pruning.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    costs : ndarray of shape (max_depth + 1, max_splits + 1)
        Of the best of them, in units of the engine; infinity where there is none.
    """

    def __init__(self, problem):
        limits = problem.limits
        self.problem = problem
        self.costs = np.full((limits.max_depth + 1, limits.max_splits + 1), np.inf)
        self._source = {}

    def offer(self, nodes, depths):
        """Prune a tree, as ``Engine.tree`` gives it, for some depths."""
        reached = self.problem.rows_in(nodes)
        leaf_costs = self.problem.costs_in(reached)
        for depth in depths:
            pruned = Prunings(reached.nodes, leaf_costs, depth)
            sizes = pruned.useful_sizes()
            row = self.costs[depth]
            # With at most so many splits: the largest useful size within.
            best = sizes[np.searchsorted(sizes, np.arange(len(row)), side="right") - 1]
            costs = self.problem.in_engine_units(pruned.costs[best])
            for splits in np.flatnonzero(costs < row).tolist():
                row[splits] = costs[splits]
                self._source[depth, splits] = pruned, best[splits]

    def nodes(self, depth, splits):
        """The tree for one depth and number of splits."""
        pruned, size = self._source[depth, splits]
        return pruned.tree(size)[0]
