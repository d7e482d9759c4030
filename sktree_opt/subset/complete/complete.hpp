// A complete search cut into sub-searches, for any number of threads or machines.
//
// Problem: as on_demand.hpp. Exact.
// The search is a pool of decisions below which nothing has been searched (SubSearch). It goes on
// in rounds. A round runs a few sub-searches of the pool, each for a number of decisions and
// against the best tree that was known when the round began. Their trees and their remaining work
// are then put together in their order. The sub-searches of a round and their lengths depend on the
// rounds before alone, so the result is the same for any number of threads, and wherever the
// sub-searches are run. Rounds take the newest sub-searches, which keeps the pool small and the
// lattice near.
//
// Memory: the pool, some decisions for each sub-search; a lattice for each thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/subset/complete/on_demand.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::subset {

// What came of a sub-search.
struct SliceResult {
    std::vector<FoundTree> trees;
    std::vector<SubSearch> remaining;
    double progress = 0.0;
    std::int64_t n_decisions = 0;
};

// The sub-searches of a round.
struct Round {
    std::vector<SubSearch> searches;
    std::int64_t n_decisions = 0;  // of each
};

inline void run_slice(OnDemandSearch& search, const SubSearch& from, std::int64_t n_decisions,
                      const FoundTree* best, SliceResult& result) {
    search.start(from, best);
    const std::int64_t first = search.stats().n_decisions, end = first + n_decisions;
    FoundTree tree;
    while (search.next(tree, end)) result.trees.push_back(tree);
    result.remaining = search.remaining();
    result.progress = search.progress();
    result.n_decisions = search.stats().n_decisions - first;
}

class CompleteSearch {
public:
    static constexpr std::int64_t SEARCHES_PER_ROUND = 16;
    static constexpr std::int64_t FIRST_DECISIONS = 64, MOST_DECISIONS = 16384;
    // A decision takes longer with more cases. A sub-search forgets its failures when it is cut, so
    // that many short ones take more decisions than few long ones.
    static constexpr std::int64_t MOST_CASES = std::int64_t{1} << 23;

    CompleteSearch(const SearchProblem& problem, const BestRules& rules, SearchControl& control,
                   std::int64_t budget, int n_threads)
        : problem_(problem),
          rules_(rules),
          control_(control),
          n_threads_(problem.has_rating() ? 1 : std::max(1, n_threads)),
          budget_(budget / n_threads_) {
        searches_.resize(static_cast<std::size_t>(n_threads_));
        std::int64_t n_cases = 1;
        for (const PartCases& part : problem.parts) n_cases += part.cases.size();
        most_decisions_ = std::clamp(MOST_CASES / n_cases, FIRST_DECISIONS, MOST_DECISIONS);
        problem.prepare_orders(control);
    }

    // Without any, the search begins with nothing decided.
    void add(const SubSearch& search) { pool_.push_back(search); }
    void begin() {
        SubSearch whole;
        whole.decisions = first_decisions(problem_);
        // A user's error may be negative.
        if (problem_.has_rating()) whole.bound = std::numeric_limits<Cost>::min() / 2;
        pool_.push_back(whole);
    }
    // An upper limit that is known before: the search is for what is better.
    void start_from(const FoundTree& tree) {
        best_ = tree;
        has_best_ = true;
    }
    // Where an earlier search was.
    void set_round(std::int64_t round, std::int64_t n_decisions) {
        n_rounds_ = round;
        n_decisions_ = n_decisions;
    }

    // The next tree; false at the end, or when stopped. When the best is searched for, each tree is
    // better than the last one.
    bool next(FoundTree& tree) {
        while (found_.empty()) {
            if (!run_round()) return false;
        }
        return take(tree);
    }

    // False at the end, and when stopped.
    bool run_round() {
        if (control_.stopped() || pool_.empty()) return false;
        const Round round = plan();
        std::vector<SliceResult> results(round.searches.size());
        run_tasks(control_, n_threads_, results.size(), [&](std::size_t i, int thread) {
            auto& search = searches_[static_cast<std::size_t>(thread)];
            if (search == nullptr) {
                search = std::make_unique<OnDemandSearch>(problem_, rules_, control_, budget_);
            }
            run_slice(*search, round.searches[i], round.n_decisions, has_best_ ? &best_ : nullptr,
                      results[i]);
        });
        merge(results);
        return true;
    }

    // The next tree of those found already.
    bool take(FoundTree& tree) {
        if (found_.empty()) return false;
        tree = found_.front();
        found_.pop_front();
        return true;
    }

    // Takes the sub-searches of the next round out of the pool. Until they are merged, the pool is
    // not all that is left to do.
    Round plan() {
        Round round;
        const std::size_t n = std::min<std::size_t>(SEARCHES_PER_ROUND, pool_.size());
        const auto middle = pool_.end() - static_cast<std::ptrdiff_t>(n);
        round.searches.assign(std::make_reverse_iterator(pool_.end()),
                              std::make_reverse_iterator(middle));
        pool_.erase(middle, pool_.end());
        const int doublings = static_cast<int>(std::min<std::int64_t>(n_rounds_++, 16));
        // Few sub-searches do not keep threads busy for long: they had better leave some work.
        const auto share = std::min(FIRST_DECISIONS << doublings, most_decisions_) *
                           static_cast<std::int64_t>(n) / SEARCHES_PER_ROUND;
        round.n_decisions = std::max(share, FIRST_DECISIONS);
        return round;
    }

    // Puts the results of a round together, in the order of its sub-searches.
    void merge(const std::vector<SliceResult>& results) {
        for (const SliceResult& result : results) {
            n_decisions_ += result.n_decisions;
            progress_ += result.progress;
            for (const FoundTree& tree : result.trees) {
                if (rules_.only_best) {
                    if (has_best_ && !rules_.is_better(tree, best_)) continue;
                    start_from(tree);
                }
                found_.push_back(tree);
            }
        }
        for (auto result = results.rbegin(); result != results.rend(); ++result) {
            pool_.insert(pool_.end(), result->remaining.rbegin(), result->remaining.rend());
        }
        if (rules_.only_best && has_best_) drop_hopeless();
    }

    bool is_done() const { return pool_.empty() && found_.empty() && !control_.stopped(); }
    double progress() const { return progress_; }
    const std::vector<SubSearch>& pool() const { return pool_; }
    std::int64_t round() const { return n_rounds_; }
    std::int64_t n_decisions() const { return n_decisions_; }
    const FoundTree* best() const { return has_best_ ? &best_ : nullptr; }

    // No tree costs less than this, prices included; by size, no tree has fewer features.
    Cost lower_bound() const {
        if (rules_.by_size) return least_size();
        Cost bound = std::numeric_limits<Cost>::max();
        if (has_best_) bound = rules_.rate(best_) - rules_.slack;
        for (const SubSearch& search : pool_) bound = std::min(bound, search.bound);
        return pool_.empty() && !has_best_ ? 0 : bound;
    }

    DecisionStats stats() const {
        DecisionStats stats;
        for (const auto& search : searches_) {
            if (search != nullptr) stats.add(search->stats());
        }
        return stats;
    }
    LatticeStats lattice_stats() const {
        LatticeStats stats;
        for (const auto& search : searches_) {
            if (search != nullptr) stats.add(search->lattice_stats());
        }
        return stats;
    }

private:
    std::int64_t least_size() const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        if (has_best_) least = static_cast<std::int64_t>(best_.features.size());
        for (const SubSearch& search : pool_) least = std::min(least, search.size);
        return pool_.empty() && !has_best_ ? 0 : least;
    }

    void drop_hopeless() {
        const auto is_hopeless = [&](const SubSearch& search) {
            return rules_.is_hopeless(search.bound, search.size, best_);
        };
        for (const SubSearch& search : pool_) {
            if (is_hopeless(search)) progress_ += search.share;
        }
        pool_.erase(std::remove_if(pool_.begin(), pool_.end(), is_hopeless), pool_.end());
    }

    const SearchProblem& problem_;
    BestRules rules_;
    SearchControl& control_;
    int n_threads_;
    std::int64_t budget_;
    std::int64_t most_decisions_;                            // of a sub-search in a round
    std::vector<std::unique_ptr<OnDemandSearch>> searches_;  // by thread
    std::vector<SubSearch> pool_;
    std::deque<FoundTree> found_;  // and not taken yet
    FoundTree best_;
    bool has_best_ = false;
    std::int64_t n_rounds_ = 0, n_decisions_ = 0;
    double progress_ = 0.0;
};

}  // namespace sktree_opt::subset
