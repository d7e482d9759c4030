"""Distinct trees and best subsets, one by one (``dtdistinct.hpp``, ``complete.hpp``)."""

import numpy as np

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.subset.lattice._subset_problem cimport (
    CppLatticeStats,
    SubsetProblem,
    lattice_stats_dict,
)
from sktree_opt.utils._control cimport SearchControl

ORDERS = {
    "frontier": <int> VisitOrder.FRONTIER,
    "frontier_cases": <int> VisitOrder.FRONTIER_CASES,
    "reverse": <int> VisitOrder.REVERSE,
    "fixed": <int> VisitOrder.FIXED,
}

# Rules of a search for the best tree, or for trees up to a cost, as keyword arguments.
DEFAULT_RULES = {
    "looks_ahead": True,
    "cuts_short": True,
    "leaves_out": True,
    "only_best": False,
    "slack": 0,  # the cost that corresponds to delta
    "prices": None,  # what each feature adds to the cost of a tree
    "limit": None,  # cost of the trees that are wanted, with prices
    "cost_limit": None,  # and without them
    "min_size": 0,  # features of the trees that are wanted
    "max_size": None,
    "by_size": False,  # the best tree has fewest features, and of those least cost
}


cdef BestRules make_rules(dict given) except *:
    cdef BestRules rules
    unknown = set(given) - set(DEFAULT_RULES)
    if unknown:
        raise TypeError(f"unknown rules: {sorted(unknown)}")
    chosen = {**DEFAULT_RULES, **given}
    rules.looks_ahead = chosen["looks_ahead"]
    rules.cuts_short = chosen["cuts_short"]
    rules.leaves_out = chosen["leaves_out"]
    rules.only_best = chosen["only_best"]
    rules.slack = chosen["slack"]
    if chosen["prices"] is not None:
        rules.prices = chosen["prices"]
    rules.min_size = chosen["min_size"]
    rules.by_size = chosen["by_size"]
    if chosen["limit"] is not None:
        rules.limit = chosen["limit"]
    if chosen["cost_limit"] is not None:
        rules.cost_limit = chosen["cost_limit"]
    if chosen["max_size"] is not None:
        rules.max_size = chosen["max_size"]
    return rules


cdef tuple tree_to_tuple(const FoundTree& tree):
    return np.array(tree.features, dtype=np.int64), tree.cost, tree.n_leaves


cdef FoundTree tuple_to_tree(given) except *:
    cdef FoundTree tree
    tree.features = list(given[0])
    tree.cost = given[1]
    tree.n_leaves = given[2]
    return tree


cdef tuple search_to_tuple(const SubSearch& search):
    return bytes(search.decisions), search.bound, search.size, search.share


cdef SubSearch tuple_to_search(given) except *:
    cdef SubSearch search
    decisions, search.bound, search.size, search.share = given
    search.decisions = list(decisions)
    return search


cdef class TreeStream:
    """An iterator over (features, cost, number of leaves) of trees; it can be left and resumed."""

    cdef SubsetProblem problem
    cdef SearchControl control
    # Ctrl-C may come at any time: the tree found last is kept until it is a tuple, and the last
    # tuple until the next one.
    cdef FoundTree found_tree
    cdef cbool has_found
    cdef readonly tuple last_handed_out
    cdef readonly int64_t n_handed_out

    def __iter__(self):
        return self

    cdef tuple hand_out(self):
        """What ``__next__`` returns after a step of the search."""
        cdef tuple tree
        self.problem.raise_pending(self.control)
        if not self.has_found:
            raise StopIteration
        tree = tree_to_tuple(self.found_tree)
        self.last_handed_out = tree
        self.n_handed_out += 1
        self.has_found = False
        return tree


cdef class DistinctStream(TreeStream):
    """Algorithms 2 and 3: the distinct trees in the order of the paper.

    Parameters
    ----------
    problem : SubsetProblem

    control : SearchControl

    order : str
        A key of ``ORDERS``.

    accepts : bool
        Whether only trees better than all before are wanted (Algorithm 3).

    slack : int
        The cost that corresponds to delta.

    prices : list of int or None
        Cost that each feature adds.

    budget : int
        Bytes of the lattice that may be kept.

    n_threads : int
        Threads that rank the features of a node.
    """

    cdef unique_ptr[DistinctTrees] cpp

    def __init__(
        self,
        SubsetProblem problem not None,
        SearchControl control not None,
        *,
        order="frontier",
        bint accepts=False,
        slack=0,
        prices=None,
        int64_t budget=1 << 30,
        int n_threads=1,
    ):
        cdef VisitOrder chosen = <VisitOrder> <int> ORDERS[order]
        cdef BestRules rules = make_rules({"slack": slack, "prices": prices})
        self.problem, self.control = problem, control
        with nogil:
            self.cpp.reset(
                new DistinctTrees(
                    problem.cpp,
                    chosen,
                    accepts,
                    rules,
                    control.cpp[0],
                    budget,
                    n_threads,
                )
            )

    def __next__(self):
        if not self.has_found:
            with nogil:
                self.has_found = self.cpp.get().next(self.found_tree)
        return self.hand_out()

    @property
    def is_done(self):
        """Whether all trees have been seen."""
        return bool(self.cpp.get().is_done())

    @property
    def progress(self):
        """Estimated share of the search that is done."""
        return self.cpp.get().progress()

    @property
    def stats(self):
        """Counters."""
        cdef const DistinctStats* stats = &self.cpp.get().stats()
        return {
            "n_built": stats.n_built,
            "n_distinct": stats.n_distinct,
            "n_pruned": stats.n_pruned,
            "max_alive": stats.max_alive,
            **lattice_stats_dict(self.cpp.get().lattice_stats()),
        }


cdef class OnDemandStream(TreeStream):
    """Search by decisions on demand: all distinct trees, or better and better trees up to the best.

    Parameters
    ----------
    problem : SubsetProblem

    control : SearchControl

    start : tuple or None
        (features, cost, number of leaves) of a tree; only better ones are wanted.

    state : dict or None
        ``state`` of a search that was stopped, to go on from.

    n_threads, budget : int
        Threads, and the bytes of the lattice that may be kept.

    **rules
        See ``DEFAULT_RULES``.
    """

    cdef unique_ptr[CompleteSearch] cpp

    def __init__(
        self,
        SubsetProblem problem not None,
        SearchControl control not None,
        *,
        start=None,
        state=None,
        int n_threads=1,
        int64_t budget=1 << 30,
        **rules,
    ):
        cdef BestRules chosen = make_rules(rules)
        self.problem, self.control = problem, control
        with nogil:
            self.cpp.reset(
                new CompleteSearch(problem.cpp, chosen, control.cpp[0], budget, n_threads)
            )
        if state is None:
            self.cpp.get().begin()
        else:
            for search in state["searches"]:
                self.cpp.get().add(tuple_to_search(search))
            self.cpp.get().set_round(state["round"], state["n_decisions"])
        if start is not None:
            self.cpp.get().start_from(tuple_to_tree(start))

    def __next__(self):
        if not self.has_found:
            with nogil:
                self.has_found = self.cpp.get().next(self.found_tree)
        return self.hand_out()

    def run_round(self):
        """Run a round and return the trees it found; None at the end."""
        cdef cbool goes_on
        with nogil:
            goes_on = self.cpp.get().run_round()
        self.problem.raise_pending(self.control)
        return self.take_found() if goes_on else None

    cdef list take_found(self):
        cdef FoundTree tree
        found_trees = []
        while self.cpp.get().take(tree):
            found_trees.append(tree_to_tuple(tree))
        return found_trees

    def plan(self):
        """Remove and return the sub-searches of the next round; None at the end."""
        cdef Round planned
        if self.cpp.get().pool().empty() or self.control.stopped:
            return None
        planned = self.cpp.get().plan()
        searches = [search_to_tuple(search) for search in planned.searches]
        return searches, planned.n_decisions, self.best

    def merge(self, results):
        """Merge what ``search_slices`` returned for the sub-searches; return the trees found."""
        cdef vector[SliceResult] merged
        cdef SliceResult result
        for trees, remaining, progress, n_decisions in results:
            result.trees.clear()
            result.remaining.clear()
            for found in trees:
                result.trees.push_back(tuple_to_tree(found))
            for search in remaining:
                result.remaining.push_back(tuple_to_search(search))
            result.progress, result.n_decisions = progress, n_decisions
            merged.push_back(result)
        self.cpp.get().merge(merged)
        return self.take_found()

    @property
    def state(self):
        """The sub-searches that are left, from which another search can go on."""
        cdef const vector[SubSearch]* pool = &self.cpp.get().pool()
        cdef size_t i
        searches = [search_to_tuple(pool[0][i]) for i in range(pool.size())]
        return {
            "searches": searches,
            "round": self.cpp.get().round(),
            "n_decisions": self.cpp.get().n_decisions(),
        }

    @property
    def best(self):
        """The best tree so far, handed out or not; None without any."""
        if self.cpp.get().best() == NULL:
            return None
        return tree_to_tuple(self.cpp.get().best()[0])

    @property
    def is_done(self):
        """Whether the search has come to its end."""
        return bool(self.cpp.get().is_done())

    @property
    def progress(self):
        """Estimated share of the search that is done."""
        return self.cpp.get().progress()

    @property
    def lower_bound(self):
        """No tree, with its prices, costs less; by size, no tree has fewer features."""
        return self.cpp.get().lower_bound()

    @property
    def stats(self):
        """Counters."""
        return stats_dict(self.cpp.get().stats(), self.cpp.get().lattice_stats())


cdef dict stats_dict(const DecisionStats& stats, const CppLatticeStats& lattice_stats):
    return {
        "n_decisions": stats.n_decisions,
        "n_trees": stats.n_trees,
        "n_pruned": stats.n_pruned,
        "max_open": stats.max_open,
        **lattice_stats_dict(lattice_stats),
    }


def search_slices(
    SubsetProblem problem not None,
    searches,
    n_decisions,
    best,
    dict rules,
    *,
    time_limit=None,
    memory_limit=None,
    int64_t budget=1 << 30,
):
    """Run some sub-searches of a round, in this process.

    Parameters
    ----------
    problem : SubsetProblem

    searches, n_decisions, best
        As ``OnDemandStream.plan`` gave them, or some of the sub-searches.

    rules : dict
        Those of the stream.

    time_limit, memory_limit, budget
        As of any search.

    Returns
    -------
    results : list of tuple
        For ``OnDemandStream.merge``.

    status : str
        That of the search control.

    stats : dict
    """
    cdef BestRules chosen = make_rules(rules)
    cdef SearchControl control = SearchControl(time_limit, memory_limit)
    cdef unique_ptr[OnDemandSearch] search
    cdef SubSearch start
    cdef FoundTree best_tree
    cdef const FoundTree* to_beat = NULL
    cdef SliceResult result
    cdef int64_t most = n_decisions
    if best is not None:
        best_tree = tuple_to_tree(best)
        to_beat = &best_tree
    with nogil:
        search.reset(new OnDemandSearch(problem.cpp, chosen, control.cpp[0], budget))
    results = []
    for given in searches:
        start = tuple_to_search(given)
        result.trees.clear()
        with nogil:
            run_slice(search.get()[0], start, most, to_beat, result)
        problem.raise_pending(control)
        results.append(
            (
                [tree_to_tuple(tree) for tree in result.trees],
                [search_to_tuple(left) for left in result.remaining],
                result.progress,
                result.n_decisions,
            )
        )
    return results, control.status, stats_dict(search.get().stats(), search.get().lattice_stats())
