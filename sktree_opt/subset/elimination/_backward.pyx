"""Sequential backward elimination (see ``elimination.hpp``)."""

from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.subset.lattice._subset_problem cimport (
    CppLatticeStats,
    CppProblem,
    SubsetProblem,
    lattice_stats_dict,
)
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/subset/elimination/elimination.hpp" \
        namespace "sktree_opt::subset" nogil:
    cdef cppclass EliminationStep:
        vector[int32_t] removed
        vector[int32_t] units
        int64_t cost
        int64_t n_leaves
        int64_t n_built
        int64_t n_given_up
        int64_t n_unused
        int64_t n_unchanged

    cdef cppclass EliminationRules:
        cbool tie_goes_on
        int64_t min_features
        int64_t max_features
        int64_t target_features
        cbool unused_leave_at_once

    cdef cppclass BackwardSearch:
        cbool next(EliminationStep& step) except +
        CppLatticeStats stats()


cdef extern from "sktree_opt/subset/elimination/dtsbe.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass IncrementalSearch(BackwardSearch):
        IncrementalSearch(
            const CppProblem& problem,
            const EliminationRules& rules,
            CppSearchControl& control,
            int64_t budget,
            int n_threads,
            int64_t min_parallel_work,
            cbool gives_up,
        ) except +


cdef extern from "sktree_opt/subset/elimination/sbe.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass RebuildingSearch(BackwardSearch):
        RebuildingSearch(
            const CppProblem& problem,
            const EliminationRules& rules,
            CppSearchControl& control,
            cbool skips_unused,
            cbool is_black_box,
            int n_threads,
        ) except +

METHODS = ("dtsbe", "psbe", "sbe", "black_box")


cdef class BackwardStream:
    """Iterator over the steps of a backward elimination: the full tree, then each removal.

    Parameters
    ----------
    problem : SubsetProblem

    control : SearchControl

    method : str
        One of ``METHODS``.

    tie_goes_on : bool

    min_features : int

    max_features : int or None

    target_features : int or None

    n_threads : int

    budget : int
        Bytes of the lattice that may be kept.

    min_parallel_work : int
        Minimum number of cases times features at a node for which "dtsbe" uses several threads.

    gives_up : bool
        Whether "dtsbe" gives up trees that cost too much.
    """

    cdef SubsetProblem problem
    cdef SearchControl control
    cdef unique_ptr[BackwardSearch] cpp

    def __init__(
        self,
        SubsetProblem problem not None,
        SearchControl control not None,
        *,
        method="dtsbe",
        bint tie_goes_on=True,
        int64_t min_features=0,
        max_features=None,
        target_features=None,
        int n_threads=1,
        int64_t budget=1 << 30,
        int64_t min_parallel_work=4000,
        bint gives_up=True,
    ):
        cdef EliminationRules rules
        cdef cbool skips_unused = method in ("dtsbe", "psbe")
        cdef cbool is_black_box = method == "black_box"
        rules.tie_goes_on = tie_goes_on
        rules.min_features = min_features
        if max_features is not None:
            rules.max_features = max_features
        rules.target_features = -1 if target_features is None else target_features
        self.problem, self.control = problem, control
        # The user's own error is not a sum over nodes: there only whole trees can be spared.
        if method == "dtsbe" and problem.cpp.rating == NULL:
            self.cpp.reset(
                new IncrementalSearch(
                    problem.cpp,
                    rules,
                    control.cpp[0],
                    budget,
                    n_threads,
                    min_parallel_work,
                    gives_up,
                )
            )
            return
        rules.unused_leave_at_once = not is_black_box
        self.cpp.reset(
            new RebuildingSearch(
                problem.cpp, rules, control.cpp[0], skips_unused, is_black_box, n_threads
            )
        )

    def __iter__(self):
        return self

    def __next__(self):
        cdef EliminationStep step
        cdef cbool found
        with nogil:
            found = self.cpp.get().next(step)
        self.problem.raise_pending(self.control)
        if not found:
            raise StopIteration
        return {
            "removed": self.problem.features_of(step.removed),
            "features": self.problem.features_of(step.units),
            "cost": step.cost,
            "n_leaves": step.n_leaves,
            "n_built": step.n_built,
            "n_given_up": step.n_given_up,
            "n_unused": step.n_unused,
            "n_unchanged": step.n_unchanged,
        }

    @property
    def stats(self):
        """Counters."""
        return lattice_stats_dict(self.cpp.get().stats())


def eliminate(problem, control, **options):
    """All steps of a backward elimination, as a list, and its counters; see ``BackwardStream``."""
    stream = BackwardStream(problem, control, **options)
    return list(stream), stream.stats
