// Backward elimination by any of its methods: what the extension module calls.
#pragma once

#include <cstdint>
#include <memory>

#include "sktree_opt/subset/elimination/dtsbe.hpp"
#include "sktree_opt/subset/elimination/sbe.hpp"

namespace sktree_opt::subset {

enum class EliminationMethod : int { DTSBE = 0, PSBE = 1, SBE = 2, BLACK_BOX };

// An elimination and its trees; it can be left between steps.
class BackwardSearch {
public:
    virtual ~BackwardSearch() = default;
    // As Elimination::next; not to be called again when it has been false.
    virtual bool next(EliminationStep& step) = 0;
    virtual LatticeStats stats() const = 0;
};

template <class Trees>
class BackwardSearchWith final : public BackwardSearch {
public:
    template <class... Arguments>
    BackwardSearchWith(const SearchProblem& problem, const EliminationRules& rules,
                       SearchControl& control, Arguments... arguments)
        : trees_(problem, control, arguments...), elimination_(problem, trees_, rules, control) {}

    bool next(EliminationStep& step) override { return elimination_.next(step); }
    LatticeStats stats() const override { return trees_.stats(); }

private:
    Trees trees_;
    Elimination<Trees> elimination_;
};

inline std::unique_ptr<BackwardSearch> make_backward_search(
    const SearchProblem& problem, EliminationMethod method, const EliminationRules& rules,
    SearchControl& control, std::int64_t budget, int n_threads, std::int64_t min_parallel_work,
    bool gives_up) {
    // The user's own error is not a sum over nodes: there only whole trees can be spared.
    if (method == EliminationMethod::DTSBE && !problem.has_rating()) {
        return std::make_unique<BackwardSearchWith<IncrementalTrees>>(
            problem, rules, control, budget, n_threads, min_parallel_work, gives_up);
    }
    const bool is_black_box = method == EliminationMethod::BLACK_BOX;
    const bool skips_unused = method != EliminationMethod::SBE && !is_black_box;
    EliminationRules own_rules = rules;
    own_rules.unused_leave_at_once = !is_black_box;
    return std::make_unique<BackwardSearchWith<RebuiltTrees>>(
        problem, own_rules, control, skips_unused, is_black_box, n_threads);
}

}  // namespace sktree_opt::subset
