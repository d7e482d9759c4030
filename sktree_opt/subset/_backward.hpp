// Backward elimination by any of its methods: what the extension module calls.
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/subset/_dtsbe.hpp"
#include "sktree_opt/subset/_sbe.hpp"

namespace sktree_opt::subset {

enum class EliminationMethod : int { DTSBE = 0, PSBE = 1, SBE = 2 };

template <class Trees>
LatticeStats eliminate_with(const Problem& problem, Trees&& trees, const EliminationRules& rules,
                            SearchControl& control,
                            std::vector<EliminationStep>& steps) {
    Elimination<std::remove_reference_t<Trees>>(problem, trees, rules, control).run(steps);
    return trees.stats();
}

inline LatticeStats eliminate_backward(const Problem& problem, EliminationMethod method,
                                       const EliminationRules& rules, SearchControl& control,
                                       std::int64_t budget, int n_threads,
                                       std::int64_t min_parallel_work, bool gives_up,
                                       std::vector<EliminationStep>& steps) {
    // The user's own error is not a sum over nodes: there only whole trees can be spared.
    if (method == EliminationMethod::DTSBE && !problem.has_rating()) {
        return eliminate_with(
            problem,
            IncrementalTrees(problem, control, budget, n_threads, min_parallel_work, gives_up),
            rules, control, steps);
    }
    const bool skips_unused = method != EliminationMethod::SBE;
    return eliminate_with(problem, RebuiltTrees(problem, control, skips_unused, n_threads), rules,
                          control, steps);
}

}  // namespace sktree_opt::subset
