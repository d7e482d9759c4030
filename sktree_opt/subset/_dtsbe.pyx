"""Sequential backward elimination (see ``_dtsbe.hpp``)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.subset._problem cimport (
    CppLatticeStats,
    CppProblem,
    SubsetProblem,
    lattice_stats_dict,
)
from sktree_opt.utils._control cimport CppSearchControl, SearchControl


cdef extern from "sktree_opt/subset/_dtsbe.hpp" namespace "sktree_opt::subset" nogil:
    cdef cppclass EliminationStep:
        int32_t removed
        int64_t cost
        uint32_t n_leaves
        int64_t n_built
        int64_t n_unused
        int64_t n_unchanged
        vector[int32_t] features

    cdef cppclass EliminationRules:
        cbool tie_goes_on
        int64_t min_features
        int64_t target_features
        int n_threads
        int policy

    cdef cppclass BackwardElimination:
        BackwardElimination(
            const CppProblem& problem,
            const EliminationRules& rules,
            CppSearchControl& control,
            int64_t budget,
        ) except +
        void run(vector[EliminationStep]& steps) except +
        void add_stats(CppLatticeStats& stats)


def eliminate(
    SubsetProblem problem not None,
    SearchControl control not None,
    *,
    bint tie_goes_on=True,
    int64_t min_features=0,
    target_features=None,
    int n_threads=1,
    int policy=0,
    int64_t budget=1 << 30,
):
    """Run the elimination.

    Returns
    -------
    steps : list of dict
        The full tree first, then one entry for each removal.

    stats : dict
    """
    cdef EliminationRules rules
    cdef vector[EliminationStep] steps
    cdef CppLatticeStats stats
    cdef unique_ptr[BackwardElimination] search
    rules.tie_goes_on = tie_goes_on
    rules.min_features = min_features
    rules.target_features = -1 if target_features is None else target_features
    rules.n_threads = n_threads
    rules.policy = policy
    with nogil:
        search.reset(new BackwardElimination(problem.cpp, rules, control.cpp, budget))
        search.get().run(steps)
        search.get().add_stats(stats)
        search.reset()
    control.raise_pending()
    return [
        {
            "removed": step.removed,
            "cost": step.cost,
            "n_leaves": step.n_leaves,
            "n_built": step.n_built,
            "n_unused": step.n_unused,
            "n_unchanged": step.n_unchanged,
            "features": np.array(step.features, dtype=np.int64),
        }
        for step in steps
    ], lattice_stats_dict(stats)
