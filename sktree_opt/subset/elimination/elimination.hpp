// Sequential backward elimination (SBE): the rule by which features leave.
//
// Problem: starting from all features F, remove the feature whose removal leaves the smallest
// error, as long as the error does not grow: heuristic.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// section 6, http://jmlr.org/papers/v20/18-035.html; "Enumerating Distinct Decision Trees", ICML
// 2017, section 5, http://proceedings.mlr.press/v70/ruggieri17a.html.
//
//   S                 -> is_in             features not removed yet
//   T = DT(S)         -> EliminationStep   the tree after a step
//   U = features(T)   -> EliminationStep::features
//   T_a = DT(S \ {a}) -> Trial
//
// Features that are kept or dropped together (units) take the place of features throughout; a tree
// that uses one of them keeps them all.
//
// The rule, step by step:
// 1. If the best T_a has a smaller error than T, a is removed. Ties go to the smallest tree, then
//    to the lowest index.
// 2. Else, where ties go on (JMLR: "lower or equal"), the features that T does not use are removed
//    all at once: removing one of them is a tie (T_a = T by Lemma 6), and so is the next removal.
// 3. Else, where ties go on and the best T_a ties, a is removed.
// 4. Else the elimination ends. Where ties stop (ICML: "lower") it ends after 1.
// With a target number of features it goes on, whatever the error, until T uses no more than that,
// and then ends. With a maximum it goes on, whatever the error, until T uses no more, and then by
// the rule. Features that are kept are never removed, and count among those that T uses.
//
// Where the trees T_a come from is the business of a Trees class: dtsbe.hpp does not build what is
// known or costs more than is of use, sbe.hpp builds them all. The steps are the same, which a test
// shows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sktree_opt/subset/lattice/tree_traversal.hpp"

namespace sktree_opt::subset {

struct EliminationRules {
    bool tie_goes_on = true;
    std::int64_t min_features = 0;  // a tree that uses fewer is not accepted
    std::int64_t max_features = std::numeric_limits<std::int64_t>::max();  // whatever the error
    std::int64_t target_features = -1;                                     // negative: no target
    bool unused_leave_at_once = true;  // else one by one, as where the learner is a black box
};

// The tree T = DT(S), and how it was found.
struct EliminationStep {
    std::vector<std::int32_t> removed;  // units, since the step before
    std::vector<std::int32_t> units;    // that the tree uses, increasing
    Cost cost = 0;
    std::int64_t n_leaves = 0;
    std::int64_t n_built = 0;      // trees T_a that were built to their end
    std::int64_t n_given_up = 0;   // built in part: they cost too much by then
    std::int64_t n_unused = 0;     // not built: a is not in features(T)
    std::int64_t n_unchanged = 0;  // not built: the feature removed last is not in features(T_a)
};

// The tree T_a.
struct Trial {
    std::int32_t unit = -1;
    Cost cost = 0;
};

template <class Trees>
class Elimination {
public:
    Elimination(const SearchProblem& problem, Trees& trees, const EliminationRules& rules,
                const SearchControl& control)
        : problem_(problem),
          trees_(trees),
          rules_(rules),
          control_(control),
          is_in_(problem.n_units(), IN) {}

    // The full tree, then a step for each removal; false at the end, and when stopped: the last
    // whole step stands.
    bool next(EliminationStep& step) {
        EliminationStep following;
        if (!has_begun_) {
            has_begun_ = true;
            trees_.build(is_in_.data(), following);
        } else {
            if (!choose(current_, following) || control_.stopped()) return false;
            for (std::int32_t unit : following.removed) is_in_[unit] = OUT;
            trees_.remove(following);
            if (count_features(following) < rules_.min_features) return false;
        }
        if (control_.stopped()) return false;
        step = current_ = std::move(following);
        return true;
    }

private:
    std::int64_t count_features(const EliminationStep& step) const {
        std::int64_t n = 0;
        for (std::size_t u = 0; u < is_in_.size(); ++u) {
            const auto unit = static_cast<std::int32_t>(u);
            if (problem_.keeps(unit) || is_used(step, unit)) n += problem_.unit_size(unit);
        }
        return n;
    }

    static bool is_used(const EliminationStep& step, std::int32_t unit) {
        return std::binary_search(step.units.begin(), step.units.end(), unit);
    }

    // Fills `removed` and the counts of the next step; false at the end.
    bool choose(const EliminationStep& current, EliminationStep& step) {
        const std::int64_t n_features = count_features(current);
        if (n_features <= std::max(rules_.min_features, rules_.target_features)) return false;
        const bool has_target = rules_.target_features >= 0 || n_features > rules_.max_features;
        const bool goes_on = rules_.tie_goes_on || has_target;
        constexpr Cost NO_LIMIT = std::numeric_limits<Cost>::max();
        Cost least = has_target ? NO_LIMIT : current.cost - !goes_on;
        trials_.clear();
        trees_.try_removals(current, least, trials_, step);
        if (control_.stopped()) return false;
        const auto is_too_dear = [&](const Trial& trial) { return trial.cost > least; };
        for (const Trial& trial : trials_) least = std::min(least, trial.cost);
        trials_.erase(std::remove_if(trials_.begin(), trials_.end(), is_too_dear), trials_.end());
        const bool is_gain = !trials_.empty() && least < current.cost;
        if (!is_gain && goes_on && rules_.unused_leave_at_once) {
            for (std::size_t u = 0; u < is_in_.size(); ++u) {
                const auto unit = static_cast<std::int32_t>(u);
                if (is_in_[u] == IN && !problem_.keeps(unit) && !is_used(current, unit)) {
                    step.removed.push_back(unit);
                }
            }
            if (!step.removed.empty()) return true;
        }
        if (trials_.empty()) return false;
        step.removed = {smallest_trial()};
        return !control_.stopped();
    }

    // The trials cost the same: returns the one of the smallest tree, then of the lowest index.
    std::int32_t smallest_trial() {
        if (trials_.size() == 1) return trials_[0].unit;
        std::int32_t smallest = -1;
        std::int64_t fewest = 0;
        for (const Trial& trial : trials_) {
            const std::int64_t n_leaves = trees_.count_leaves(trial.unit);
            if (smallest < 0 || n_leaves < fewest ||
                (n_leaves == fewest && trial.unit < smallest)) {
                smallest = trial.unit;
                fewest = n_leaves;
            }
        }
        return smallest;
    }

    const SearchProblem& problem_;
    Trees& trees_;
    EliminationRules rules_;
    const SearchControl& control_;
    std::vector<std::uint8_t> is_in_;
    EliminationStep current_;
    bool has_begun_ = false;
    std::vector<Trial> trials_;
};

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

}  // namespace sktree_opt::subset
