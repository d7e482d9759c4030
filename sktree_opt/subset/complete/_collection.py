"""All distinct trees up to a cost, collected in one fit or in several."""

import heapq
from collections import Counter

import numpy as np

from sktree_opt.subset.complete._complete_run import CompleteRun, checked_tree, whole
from sktree_opt.utils._params import warn_of_limit, warn_user


class BestTrees:
    """Trees of least cost, then of fewest features, fewest leaves, and lowest indices.

    Parameters
    ----------
    n_kept : int
        How many.
    """

    def __init__(self, n_kept):
        self.n_kept = n_kept
        self._heap = []

    def add(self, features, cost, n_leaves):
        """Keep a tree if it is one of the best so far."""
        if self.n_kept == 0:
            return
        # The worst on top.
        entry = (-cost, -len(features), -n_leaves, tuple((-features).tolist()))
        push = heapq.heappush if len(self._heap) < self.n_kept else heapq.heappushpop
        push(self._heap, entry)

    @property
    def state(self):
        """What is kept, in the form of a checkpoint."""
        return self._heap

    def take_up(self, entries, n_features):
        """Begin with what has been written."""
        for cost, _, n_leaves, features in entries:
            self.add(*checked_tree([-one for one in features], -cost, -n_leaves, n_features))

    def in_order(self):
        """(features, cost, number of leaves) of those kept, best first."""
        return [
            (-np.array(features, dtype=np.int64), -cost, -n_leaves)
            for cost, _, n_leaves, features in sorted(self._heap, reverse=True)
        ]


class Collection:
    """Trees whose cost is at most `slack` above that of the best one.

    Parameters
    ----------
    best : tuple
        (features, cost, number of leaves) of the selected tree, which is always included.

    slack : int
        The cost that corresponds to `delta`.

    n_kept : int
        How many trees, the best ones, are kept.

    largest : int or None, default=None
        Cost up to which trees are wanted, instead of that of the best one and `slack`.

    **sizes
        Rules "min_size" and "max_size" of the wanted trees.

    Attributes
    ----------
    is_done : bool
        Whether all trees have been found.
    """

    def __init__(self, best, slack, n_kept, largest=None, **sizes):
        self.best, self.asked = best, (slack, n_kept, largest, sizes)
        self.slack, self.largest, self.sizes = slack, largest, sizes
        self.is_done, self._state = False, None
        self._kept, self._n_by_cost, self._n_using = BestTrees(n_kept), Counter(), {}
        self._has_best = False

    def is_for(self, best, slack, n_kept, largest=None, **sizes):
        """Whether another fit asks for the same."""
        is_same = np.array_equal(best[0], self.best[0]) and best[1] == self.best[1]
        return is_same and (slack, n_kept, largest, sizes) == self.asked

    def go_on(self, problem, search):
        """Search until the end, or a limit."""
        if self.is_done:
            return
        # The selected tree may be worse than the best one, by at most `slack`.
        limit = self.best[1] + self.slack if self.largest is None else self.largest
        run = CompleteRun(
            problem,
            search,
            state=self._state,
            record="collection",
            counts=self,
            limit=limit,
            **self.sizes,
        )
        for _ in search.watch("subsets", run.pieces()):
            pass
        run.write()
        self._state, self.is_done = run.stream.state, run.stream.is_done
        if not self._has_best and not self.is_done:
            self.add(*self.best)
            self._has_best = True

    @property
    def state(self):
        """What has been found, in the form of a checkpoint."""
        using = [(cost, list(counts.items())) for cost, counts in self._n_using.items()]
        return {
            "kept": self._kept.state,
            "n_by_cost": list(self._n_by_cost.items()),
            "n_using": using,
            "has_best": self._has_best,
        }

    def take_up(self, known, n_features):
        """Begin with what has been written."""
        self._kept.take_up(known["kept"], n_features)
        self._n_by_cost = Counter({whole(cost): whole(n) for cost, n in known["n_by_cost"]})
        for cost, counts in known["n_using"]:
            features, numbers = zip(*counts, strict=True) if counts else ((), ())
            indices, *_ = checked_tree(features, cost, 0, n_features)
            using = dict(zip(indices.tolist(), map(whole, numbers), strict=True))
            self._n_using[whole(cost)] = Counter(using)
        self._has_best = bool(known["has_best"])

    def add(self, features, cost, n_leaves):
        """Count a tree, and keep it if it is one of the best so far."""
        if np.array_equal(features, self.best[0]):
            if self._has_best:
                return
            self._has_best = True
        self._kept.add(features, cost, n_leaves)
        self._n_by_cost[cost] += 1
        self._n_using.setdefault(cost, Counter()).update(features.tolist())

    @property
    def _limit(self):
        least = min(self._n_by_cost, default=self.best[1])
        return least + self.slack if self.largest is None else self.largest

    def verdicts(self, n_features, least_cost):
        """For each feature whether "all", "some" or "none" of the acceptable trees use it.

        Also the share of those found that use it.

        Before the end of the search a verdict is given only if the trees found so far prove it, and
        is "open" otherwise. No tree costs less than `least_cost`; a tree is certainly acceptable if
        its cost is at most `least_cost` + slack.
        """
        limit = self._limit
        if not self.is_done and self.largest is None:
            limit = min(limit, least_cost + self.slack)
        n_trees, n_using = 0, np.zeros(n_features, dtype=np.int64)
        for cost, using in self._n_using.items():
            if cost <= limit:
                n_trees += self._n_by_cost[cost]
                for feature, n in using.items():
                    n_using[feature] += n
        verdicts = np.full(n_features, "open", dtype=object)
        verdicts[(n_using > 0) & (n_using < n_trees)] = "some"
        if self.is_done:
            verdicts[n_using == n_trees] = "all"
            verdicts[n_using == 0] = "none"
        return verdicts, n_using / max(1, n_trees)

    @property
    def n_acceptable(self):
        """How many have been found."""
        return sum(n for cost, n in self._n_by_cost.items() if cost <= self._limit)

    def in_order(self):
        """(features, cost, number of leaves) of those kept, best first."""
        return [tree for tree in self._kept.in_order() if tree[1] <= self._limit]


def warn_of_short_list(selector):
    """Warn of acceptable subsets that are not listed, if that is not said already."""
    n_listed, n_found = len(selector.acceptable_subsets_), selector.n_acceptable_
    if selector.collect_status_ != "optimal" and selector.status_ == "optimal":
        warn_of_limit(
            selector,
            selector.collect_status_,
            f"acceptable_subsets_ has the {n_found} subsets found so far; there may be more.",
        )
    if n_listed < n_found:
        warn_user(
            f"{n_found} subsets are acceptable; acceptable_subsets_ lists the {n_listed} of least "
            "error. Increase max_collected to list more."
        )
