// The trees of backward elimination, built from scratch: SBE and PSBE.
//
// Paper: as elimination.hpp. SBE builds T_a for every feature of S. PSBE (ICML 2017) builds them
// for the features that T uses. As a black box, SBE cannot know which features T uses: T_a of a
// feature that is not used is a trial as any other, so that these leave one by one. All are there
// to be compared with DTsbe; no tree shares anything with another. Cost: one tree for each trial.
// Memory: one tree for each thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "sktree_opt/subset/elimination/elimination.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::subset {

class RebuiltTrees {
public:
    RebuiltTrees(const SearchProblem& problem, SearchControl& control, bool skips_unused,
                 bool is_black_box, int n_threads)
        : problem_(problem),
          control_(control),
          skips_unused_(skips_unused),
          is_black_box_(is_black_box),
          n_threads_(problem.has_rating() ? 1 : n_threads) {}

    void build(const std::uint8_t* is_in, EliminationStep& step) {
        is_in_ = is_in;
        describe(step);
    }

    void remove(EliminationStep& step) { describe(step); }

    // All trees are built, whatever they cost.
    void try_removals(const EliminationStep& current, Cost, std::vector<Trial>& trials,
                      EliminationStep& step) {
        std::vector<std::int32_t> tried;
        for (std::size_t u = 0; u < problem_.n_units(); ++u) {
            const auto unit = static_cast<std::int32_t>(u);
            if (is_in_[u] != IN || problem_.keeps(unit)) continue;
            const bool used = std::binary_search(current.units.begin(), current.units.end(), unit);
            if (used || !skips_unused_) {
                tried.push_back(unit);
            } else {
                ++step.n_unused;
            }
        }
        std::vector<Trial> built(tried.size());
        n_leaves_.assign(problem_.n_units(), 0);
        run_tasks(control_, n_threads_, tried.size(), [&](std::size_t i, int) {
            if (control_.stopped()) return;
            EliminationStep tree;
            grow(tried[i], tree);
            built[i] = {tried[i], tree.cost};
            n_leaves_[tried[i]] = tree.n_leaves;
        });
        step.n_built = static_cast<std::int64_t>(tried.size());
        for (const Trial& trial : built) {
            // T itself is not a trial: the rule for unused features takes care of it.
            if (is_black_box_ ||
                std::binary_search(current.units.begin(), current.units.end(), trial.unit)) {
                trials.push_back(trial);
            }
        }
    }

    std::int64_t count_leaves(std::int32_t unit) const { return n_leaves_[unit]; }

    const LatticeStats& stats() const { return stats_; }

private:
    void describe(EliminationStep& step) { grow(-1, step); }

    // DT(S) without a unit.
    void grow(std::int32_t without, EliminationStep& tree) {
        const FeatureSet set{&problem_, is_in_, without};
        Lattice lattice(problem_, control_, -1);
        lattice.restrict_to(set);
        TreeTraversal traversal(lattice);
        Outcome outcome;
        traversal.run(lattice.roots().data(), lattice.roots().size(), set, outcome);
        tree.units = outcome.units;
        tree.n_leaves = outcome.n_leaves;
        tree.cost = traversal.total(outcome, set);
        // One tree after the other, each with a lattice of its own.
        const std::lock_guard<std::mutex> guard(stats_mutex_);
        const std::int64_t peak = std::max(stats_.peak_bytes, lattice.stats().peak_bytes);
        stats_.add(lattice.stats());
        stats_.peak_bytes = peak;
    }

    const SearchProblem& problem_;
    SearchControl& control_;
    bool skips_unused_;
    bool is_black_box_;
    int n_threads_;
    const std::uint8_t* is_in_ = nullptr;
    std::vector<std::int64_t> n_leaves_;  // of the trees last built, by unit
    LatticeStats stats_;
    std::mutex stats_mutex_;
};

using RebuildingSearch = BackwardSearchWith<RebuiltTrees>;

}  // namespace sktree_opt::subset
