"""The k best trees of a problem: the search, and reading the trees in time."""

from functools import partial

import numpy as np

from sktree_opt.optimal.bits._bit_rows import bit_rows, nodes_from_preorder, target_rows
from sktree_opt.optimal.objectives._leaf_objectives import refuse_many_classes
from sktree_opt.optimal.run._first_look import look
from sktree_opt.optimal.run._floors import may_stop
from sktree_opt.optimal.run._found import Found, closed
from sktree_opt.optimal.run._prunings import Prunings
from sktree_opt.optimal.tree_sets._k_best import KBestSearch
from sktree_opt.utils._control import SearchControl

# Of a time limit, at most, for reading the trees; what one takes, in seconds.
READING_SHARE, READING_SECONDS = 0.25, 2e-4

# By which reading may be late.
LATE_SECONDS = 0.05


def search_k_best(problem, n_trees):
    """The best trees, each deeper search bounded by the one before."""
    limits, form = problem.limits, problem.leaf_form
    refuse_many_classes(form)
    split_cost = limits.split_cost / form.scale
    kind = ("k best", n_trees, split_cost, limits.n_threads)
    control, search, close = problem.open(kind, partial(make_search, problem, n_trees, split_cost))
    end = control.seconds + control.seconds_left
    control.keep_back(min(READING_SHARE * end, n_trees * READING_SECONDS))
    first = None
    if limits.max_depth > 1 and may_stop(problem):
        first = look(problem, form)
    floor = 0.0 if first is None else first.lower_bound
    ranking = search.rank(0, 0)
    incumbents = [(control.seconds, ranking.costs[0], floor)]
    for depth in range(1, limits.max_depth + 1):
        bound = ranking.costs[-1] if len(ranking.costs) == n_trees else np.inf
        deeper = problem.chunk(
            control,
            f"depth {depth}",
            partial(search.rank, depth, limits.max_splits, bound),
            lambda found, best=ranking: (tree_of(found if len(found.costs) else best, 0),),
        )
        if control.stopped and not is_better(deeper, ranking):
            break
        ranking = deeper
        incumbents.append((control.seconds, ranking.costs[0], floor))
        if control.stopped:
            break
    choice = Choice(problem, ranking, first if control.stopped else None, n_trees, end)
    nodes, cost = choice.first()
    close(None)
    cost = float(problem.in_units(cost))
    bound = cost if control.status == "optimal" else min(cost, float(problem.in_units(floor)))
    found = Found(
        nodes=nodes,
        cost=cost,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(problem.moments_in_units(incumbents), control.seconds, cost, bound),
        stats=search.statistics() | {"seconds": control.seconds},
    )
    found.others = choice.others(control, found)
    return found


def make_search(problem, n_trees, split_cost, control):
    """The kernel's search for a problem."""
    limits, form = problem.limits, problem.leaf_form
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    rows = problem.tests.bits, problem.tests.n_tests, problem.y, weights
    # A form may have one class more than there are.
    n_classes = len(form.class_mass)
    return KBestSearch(
        target_rows(*rows) if problem.data.classes is None else bit_rows(*rows, n_classes),
        form,
        control,
        n_best=n_trees,
        split_cost=split_cost,
        min_rows=limits.min_samples_leaf,
        min_weight=limits.min_weight_leaf,
        n_threads=limits.n_threads,
    )


def tree_of(ranking, rank):
    """Nodes of a tree of a ranking."""
    return nodes_from_preorder(ranking.tree(rank, SearchControl()))


def is_better(ranking, other):
    """Whether a ranking has as many trees as another, and a better first one."""
    return len(ranking.costs) >= len(other.costs) and ranking.costs[0] < other.costs[0]


class Choice:
    """The trees of a ranking and, after a stop, of a plain search: whichever are better.

    Parameters
    ----------
    problem : Problem
    ranking : Ranking
    first : Look or None
        The plain search; None where the ranking has all that is asked for.
    n_trees : int
    end : float
        By which second of the control the trees should have been read; may be infinity.
    """

    def __init__(self, problem, ranking, first, n_trees, end):
        self.problem, self.n_trees, self.end = problem, n_trees, end
        self.ranking = ranking
        self.is_mixed = first is not None
        entries = [
            (cost, n_splits, 0, rank)
            for rank, (cost, n_splits) in enumerate(
                zip(ranking.costs.tolist(), ranking.n_splits.tolist(), strict=True)
            )
        ]
        if first is not None:
            reached = problem.rows_in(first.nodes)
            split_cost = problem.limits.split_cost
            self.pruned = Prunings(
                reached.nodes, problem.costs_in(reached), problem.limits.max_depth
            )
            sizes = self.pruned.useful_sizes(split_cost)
            costs = problem.in_engine_units(self.pruned.costs[sizes] + split_cost * sizes)
            entries += [
                (cost, size, 1, size)
                for cost, size in zip(costs.tolist(), sizes.tolist(), strict=True)
            ]
            entries.sort()
        self.entries = entries

    def first(self):
        """Nodes and cost of the best tree."""
        return self._read(self.entries[0]), self.entries[0][0]

    def others(self, control, found):
        """Nodes of the other trees, in time; `found` is told if that was too short."""
        known = {shape_of_rows(self.problem, found.nodes)} if self.is_mixed else None
        n_read = 1
        for entry in self.entries[1:]:
            if n_read == self.n_trees:
                return
            if control.seconds > self.end + LATE_SECONDS:
                found.status = "time_limit"
                return
            nodes = self._read(entry)
            if known is not None:
                shape = shape_of_rows(self.problem, nodes)
                if shape in known:
                    continue
                known.add(shape)
            n_read += 1
            yield nodes

    def _read(self, entry):
        _, _, is_pruned, at = entry
        return self.pruned.tree(at)[0] if is_pruned else tree_of(self.ranking, at)


def shape_of_rows(problem, nodes):
    """Which sets of rows a tree's nodes have: equal for trees that are not different."""
    reached = problem.rows_in(nodes)
    keys = np.random.default_rng(0).integers(0, 2**63, len(reached.leaves), dtype=np.uint64)
    sums = np.zeros(len(reached.nodes), dtype=np.uint64)
    np.bitwise_xor.at(sums, reached.leaves, keys)
    for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
        sums[at] = sums[reached.nodes[at, 1]] ^ sums[reached.nodes[at, 2]]
    return frozenset(sums.tolist())
