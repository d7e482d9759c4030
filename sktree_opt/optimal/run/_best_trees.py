"""The k best trees of a problem: the search, and reading the trees in time."""

from __future__ import annotations

from functools import partial

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import refuse_many_classes
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._trees import Prunings, rows_in, tree_and_objective
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, nodes_from_preorder, target_rows
from sktree_opt.optimal.tree_sets._k_best import KBestSearch
from sktree_opt.utils._control import SearchControl

# Seconds that it takes to read a tree.
READING_SECONDS = 2e-4

# Seconds by which reading may be late.
LATE_SECONDS = 0.05


def find_best_trees(plan, session, n_trees):
    """Find the best trees, each deeper search bounded by the one before.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    n_trees : int
        Number of trees.

    Returns
    -------
    solution : Solution
        The best tree, and the others as `ranked`.
    """
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    split_cost = limits.split_cost / problem.form.scale
    kind = ("k best", n_trees, split_cost, limits.n_threads)
    opened = session.open(
        problem, tests, kind, partial(make_search, problem, tests, n_trees, split_cost)
    )
    search, control = opened.search, session.control
    end = session.keep_back(n_trees * READING_SECONDS)
    first = None
    if limits.max_depth > 1 and session.may_stop(limits):
        first = short_search(problem, tests, session, share_of_time(limits))
    bound = 0.0 if first is None else first.lower_bound
    ranking, incumbents = search_levels(problem, tests, session, search, n_trees, bound)
    choice = Choice(problem, tests, ranking, first if control.stopped else None)
    nodes, cost = choice.best()
    # What ended the search, not what ends the reading of its trees.
    status = control.status
    ranked, is_complete = choice.others(nodes, n_trees, control, end)
    session.close(opened, None)
    cost = float(problem.in_units(cost))
    bound = cost if status == "optimal" else min(cost, float(problem.in_units(bound)))
    return Solution(
        tests=tests,
        nodes=nodes,
        cost=cost,
        lower_bound=bound,
        status="time_limit" if status == "optimal" and not is_complete else status,
        incumbents=closed(problem.moments_in_units(incumbents), control.seconds, cost, bound),
        stats=search.statistics() | {"seconds": control.seconds},
        ranked=ranked,
    )


def make_search(problem, tests, n_trees, split_cost, control):
    """The engine's search for a problem."""
    data, limits, form = problem.data, problem.limits, problem.form
    refuse_many_classes(form)
    rows = tests.bits, tests.n_tests, problem.objective.targets, data.weights
    # A form may have one class more than there are.
    n_classes = len(form.class_mass)
    return KBestSearch(
        target_rows(*rows) if data.classes is None else bit_rows(*rows, n_classes),
        form,
        control,
        n_best=n_trees,
        split_cost=split_cost,
        min_rows=limits.min_samples_leaf,
        min_weight=limits.min_weight_leaf,
        n_threads=limits.n_threads,
    )


def search_levels(problem, tests, session, search, n_trees, bound):
    """Search depth by depth.

    Returns
    -------
    ranking : Ranking
        Of the last depth that has given a better one.

    incumbents : list of (float, float, float)
        Seconds, cost and lower bound, in the engine's units.
    """
    control, limits = session.control, problem.limits
    ranking = search.rank(0, 0)
    incumbents = [(control.seconds, ranking.costs[0], bound)]
    for depth in range(1, limits.max_depth + 1):
        upper = ranking.costs[-1] if len(ranking.costs) == n_trees else np.inf
        deeper = session.step(
            problem,
            f"depth {depth}",
            partial(search.rank, depth, limits.max_splits, upper),
            lambda found, best=ranking: (tests, tree_of(found if len(found.costs) else best, 0)),
        )
        if control.stopped and not is_better(deeper, ranking):
            break
        ranking = deeper
        incumbents.append((control.seconds, ranking.costs[0], bound))
        if control.stopped:
            break
    return ranking, incumbents


def tree_of(ranking, rank):
    """Nodes of a tree of a ranking."""
    return nodes_from_preorder(ranking.tree(rank, SearchControl()))


def is_better(ranking, other):
    """Whether a ranking has as many trees as another, and a better first one."""
    return len(ranking.costs) >= len(other.costs) and ranking.costs[0] < other.costs[0]


class Choice:
    """The trees of a ranking and, after a stop, prunings of a known tree: whichever are better.

    Parameters
    ----------
    problem : Problem

    tests : BinaryTests

    ranking : Ranking

    first : ShortSearch or None
        A known tree; None where the ranking has all trees.
    """

    def __init__(self, problem, tests, ranking, first):
        self.problem, self.tests, self.ranking = problem, tests, ranking
        self.pruned = None
        self.entries = [
            (cost, n_splits, 0, rank)
            for rank, (cost, n_splits) in enumerate(
                zip(ranking.costs.tolist(), ranking.n_splits.tolist(), strict=True)
            )
        ]
        if first is not None:
            split_cost = problem.limits.split_cost
            self.pruned = Prunings.of(problem, tests, first.nodes)
            sizes = self.pruned.useful_sizes(split_cost)
            costs = problem.in_engine_units(self.pruned.costs[sizes] + split_cost * sizes)
            self.entries += [
                (cost, size, 1, size)
                for cost, size in zip(costs.tolist(), sizes.tolist(), strict=True)
            ]
            self.entries.sort()

    def best(self):
        """Nodes and cost of the best tree."""
        return self._read(self.entries[0]), self.entries[0][0]

    def others(self, best, n_trees, control, end):
        """The other trees and their objectives, as many as there is time to read.

        Returns
        -------
        ranked : list of (Tree, float)

        is_complete : bool
            Whether there was the time for all.
        """
        known = {shape_of_rows(self.problem, self.tests, best)}
        ranked = []
        for entry in self.entries[1:]:
            if len(ranked) + 1 == n_trees:
                break
            if control.seconds > end + LATE_SECONDS:
                return ranked, False
            nodes = self._read(entry)
            if self.pruned is not None:
                shape = shape_of_rows(self.problem, self.tests, nodes)
                if shape in known:
                    continue
                known.add(shape)
            ranked.append(tree_and_objective(self.problem, self.tests, nodes))
        return ranked, True

    def _read(self, entry):
        _, _, is_pruned, at = entry
        return self.pruned.tree(at)[0] if is_pruned else tree_of(self.ranking, at)


def shape_of_rows(problem, tests, nodes):
    """The row sets of a tree's nodes; equal for trees that are not different."""
    reached = rows_in(problem, tests, nodes)
    keys = np.random.default_rng(0).integers(0, 2**63, len(reached.leaves), dtype=np.uint64)
    sums = np.zeros(len(reached.nodes), dtype=np.uint64)
    np.bitwise_xor.at(sums, reached.leaves, keys)
    for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
        sums[at] = sums[reached.nodes[at, 1]] ^ sums[reached.nodes[at, 2]]
    return frozenset(sums.tolist())
