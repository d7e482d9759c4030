// DTdistinct: all distinct trees in the order of the paper; DTaccept: a good one, with its pruning.
//
// Problem: the distinct trees over the subsets of F, each put out once (DTdistinct); a feature set
// whose error is at most delta above the least (DTaccept). Exact.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// Algorithms 2, 3 and 4, Definitions 8 and 9, http://jmlr.org/papers/v20/18-035.html.
// frontier_cases is the order of the ICML 2017 paper, section 4.2.
//
// Features that are in or out together (units) take the place of features throughout.
//
//   R, S                -> Call::is_required, Call::is_possible
//   T = DT(R u S)       -> GrownNodes, in preorder
//   U = features(T)     -> GrownNodes::features
//   rk_frontier(T)      -> order
//   W, greedy_delta     -> keep_worthwhile
//   lberr               -> lower_bound: the error of T with 0 for the subtrees cut off
//   e_acc, S_acc        -> best_
//
// Deviations: the recursion is a stack, so that it can be left and taken up again after each tree;
// trees are traversals of the lattice, which rebuilds nothing that did not change. Errors of shared
// rows are not a sum over nodes: lberr counts them as 0. The penalty in lberr counts the features
// of what is left of T: those of S n W may not be used by the trees cut off.
//
// Threads share the features of a case set that is ranked; the order of the trees is the same.
//
// Cost: one traversal for each tree built. Memory: at most N + 1 calls are on the stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/subset/complete/on_demand.hpp"

namespace sktree_opt::subset {

enum class VisitOrder : int { FRONTIER = 0, FRONTIER_CASES = 1, REVERSE = 2, FIXED = 3 };

struct PreorderNode {
    std::int32_t unit;  // -1: a leaf
    std::uint32_t end;  // past its subtree
    std::uint32_t n_cases;
    Cost cost;  // of the whole rows below
};

struct DistinctStats {
    std::int64_t n_built = 0;
    std::int64_t n_distinct = 0;
    std::int64_t n_pruned = 0;  // features that greedy_delta cut off
    std::int64_t max_alive = 0;
};

class DistinctTrees {
public:
    DistinctTrees(const SearchProblem& problem, VisitOrder order, bool accepts,
                  const BestRules& rules, SearchControl& control, std::int64_t budget,
                  int n_threads)
        : problem_(problem),
          order_(order),
          accepts_(accepts),
          rules_(rules),
          control_(control),
          lattice_(problem, control, budget, n_threads),
          traversal_(lattice_) {
        waiting_.is_required.assign(problem.n_units(), 0);
        waiting_.is_possible.assign(problem.n_units(), 1);
    }

    // The next distinct tree (DTaccept: the next better one); false at the end, or when stopped.
    bool next(FoundTree& tree) {
        while (!control_.poll()) {
            if (has_waiting_) {
                has_waiting_ = false;
                if (open_call(tree)) return true;
                continue;
            }
            if (calls_.empty()) return false;
            Call& call = calls_.back();
            if (call.position > 0) {
                call.is_possible[call.order[call.position - 1]] = 1;  // l. 11
            }
            if (call.position == call.order.size()) {
                calls_.pop_back();
                continue;
            }
            call.is_required[call.order[call.position++]] = 0;  // l. 9
            waiting_.is_required = call.is_required;
            waiting_.is_possible = call.is_possible;
            waiting_.share = call.share;
            has_waiting_ = true;
        }
        return false;
    }

    bool is_done() const { return calls_.empty() && !has_waiting_ && !control_.stopped(); }
    double progress() const { return progress_; }
    const DistinctStats& stats() const { return stats_; }
    const LatticeStats& lattice_stats() const { return lattice_.stats(); }

private:
    struct Call {
        std::vector<std::uint8_t> is_required, is_possible;  // R and S
        std::vector<std::int32_t> order;
        std::size_t position = 0;
        double share = 1.0;
    };

    // Lines 1-7: builds the tree, and says whether it is put out.
    bool open_call(FoundTree& tree) {
        Call call = waiting_;
        std::vector<std::uint8_t> set = call.is_required;
        for (std::size_t u = 0; u < set.size(); ++u) set[u] |= call.is_possible[u];
        build({&problem_, set.data(), -1}, tree);
        if (control_.stopped()) {
            has_waiting_ = true;
            return false;
        }
        ++stats_.n_built;
        bool is_out = true;  // R <= U
        for (std::size_t u = 0; u < set.size(); ++u) is_out &= !call.is_required[u] || is_used_[u];
        stats_.n_distinct += is_out;
        if (accepts_) is_out = accept(tree);
        std::vector<std::int32_t> kept;  // S n U
        for (std::int32_t unit : used_) {
            if (call.is_possible[unit]) kept.push_back(unit);
        }
        rank(call.is_required, kept);
        if (accepts_) keep_worthwhile(kept);
        for (std::int32_t unit : kept) {
            call.is_required[unit] = 1;
            call.is_possible[unit] = 0;
        }
        call.order = std::move(kept);
        call.position = 0;
        call.share /= static_cast<double>(call.order.size() + 1);
        progress_ += call.share;
        calls_.push_back(std::move(call));
        stats_.max_alive = std::max(stats_.max_alive, static_cast<std::int64_t>(calls_.size()));
        if (lattice_.is_over_budget()) lattice_.clear_unpinned();
        return is_out;
    }

    void build(const FeatureSet& set, FoundTree& tree) {
        nodes_.clear();
        is_used_.assign(problem_.n_units(), 0);
        used_.clear();
        tree = FoundTree();
        bool has_shared = false;
        for (CaseNode* root : lattice_.roots()) {
            tree.cost += grow(root, set, tree.n_leaves, has_shared);
        }
        for (std::size_t u = 0; u < is_used_.size(); ++u) {
            if (is_used_[u]) used_.push_back(static_cast<std::int32_t>(u));
        }
        tree.features = features_of(problem_, used_);
        if (control_.stopped()) return;
        if (problem_.has_rating()) {
            tree.cost = problem_.rate(tree.features);
        } else if (has_shared) {
            tree.cost += traversal_.vote(set);
        }
    }

    Cost grow(CaseNode* node, const FeatureSet& set, std::int64_t& n_leaves, bool& has_shared) {
        const std::size_t at = nodes_.size();
        RankedSplit* ranked = lattice_.first_split(node, set);
        const std::int32_t unit = ranked == nullptr ? -1 : problem_.unit_of[ranked->feature];
        nodes_.push_back({unit, 0, node->cases.size(), node->leaf_cost});
        if (ranked != nullptr) {
            is_used_[unit] = 1;
            const Children children = lattice_.split(node, ranked);
            Cost cost = 0;
            for (std::uint32_t b = 0; b < children.n; ++b) {
                cost += grow(children.nodes[b], set, n_leaves, has_shared);
            }
            nodes_[at].cost = cost;
        } else {
            ++n_leaves;
            has_shared |= !node->search.shared.empty();
        }
        nodes_[at].end = static_cast<std::uint32_t>(nodes_.size());
        return nodes_[at].cost;
    }

    void rank(const std::vector<std::uint8_t>& is_required, std::vector<std::int32_t>& units) {
        if (order_ == VisitOrder::FIXED) {
            std::reverse(units.begin(), units.end());
        } else if (order_ == VisitOrder::FRONTIER_CASES) {
            std::vector<std::int64_t> n_cases(problem_.n_units(), 0);
            for (const PreorderNode& node : nodes_) {
                if (node.unit >= 0) n_cases[node.unit] += node.n_cases;
            }
            std::stable_sort(units.begin(), units.end(),
                             [&](auto a, auto b) { return n_cases[a] < n_cases[b]; });
        } else {
            rank_by_frontier(is_required, units);
            if (order_ == VisitOrder::REVERSE) std::reverse(units.begin(), units.end());
        }
    }

    // Definition 9: the last first, each the one of largest frontier given those after it.
    void rank_by_frontier(std::vector<std::uint8_t> is_fixed, std::vector<std::int32_t>& units) {
        std::vector<std::int32_t> ranked;
        std::vector<std::int32_t> left = units;
        while (!left.empty()) {
            count_frontiers(is_fixed);
            std::size_t best = 0;
            for (std::size_t i = 1; i < left.size(); ++i) {
                if (frontier_[left[i]] > frontier_[left[best]]) best = i;
            }
            is_fixed[left[best]] = 1;
            ranked.push_back(left[best]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
        }
        units.assign(ranked.rbegin(), ranked.rend());
    }

    // Definition 8, for all units: how many not in R' are tested below their frontier nodes.
    void count_frontiers(const std::vector<std::uint8_t>& is_fixed) {
        const std::size_t n = problem_.n_units();
        frontier_.assign(n, 0);
        is_below_.assign(n * n, 0);
        for (std::uint32_t i = 0; i < nodes_.size();) {
            const std::int32_t a = nodes_[i].unit;
            if (a < 0 || is_fixed[a]) {
                ++i;
                continue;
            }
            for (std::uint32_t j = i; j < nodes_[i].end; ++j) {
                const std::int32_t b = nodes_[j].unit;
                if (b < 0 || is_fixed[b]) continue;
                std::uint8_t& seen = is_below_[static_cast<std::size_t>(a) * n + b];
                frontier_[a] += !seen;
                seen = 1;
            }
            i = nodes_[i].end;
        }
    }

    // Algorithm 3, l. 4-7, with the penalty and ties of section 5.
    bool accept(const FoundTree& tree) {
        if (has_best_ && !rules_.is_better(tree, best_)) return false;
        best_ = tree;
        has_best_ = true;
        return true;
    }

    // Algorithm 4. Nothing is cut where the error is not a sum over nodes.
    void keep_worthwhile(std::vector<std::int32_t>& kept) {
        std::vector<std::uint8_t> is_cut(problem_.n_units(), 0);
        std::vector<std::int32_t> worthwhile;
        for (std::int32_t unit : kept) {
            is_cut[unit] = 1;
            Cost n_features = 0;
            Cost bound = lower_bound(is_cut, n_features);
            if (problem_.has_rating()) bound = std::numeric_limits<Cost>::min() / 2;
            if (rules_.has_prices()) bound += price_of_left();
            if (rules_.is_hopeless(bound, n_features, best_)) {
                ++stats_.n_pruned;
            } else {
                is_cut[unit] = 0;
                worthwhile.push_back(unit);
            }
        }
        kept = std::move(worthwhile);
    }

    // lberr: what is left of T is part of every tree that is cut off, with its cost and features.
    Cost lower_bound(const std::vector<std::uint8_t>& is_cut, Cost& n_features) {
        Cost bound = 0;
        is_left_.assign(problem_.n_units(), 0);
        for (std::uint32_t i = 0; i < nodes_.size();) {
            const PreorderNode& node = nodes_[i];
            if (node.unit >= 0 && is_cut[node.unit]) {
                i = node.end;
                continue;
            }
            if (node.unit < 0) {
                bound += node.cost;
            } else if (!is_left_[node.unit]) {
                is_left_[node.unit] = 1;
                n_features += problem_.unit_size(node.unit);
            }
            ++i;
        }
        return bound;
    }

    // Of the units that `lower_bound` has seen.
    Cost price_of_left() const {
        Cost price = 0;
        for (std::size_t u = 0; u < is_left_.size(); ++u) {
            if (is_left_[u]) price += rules_.price_of(problem_.units[u]);
        }
        return price;
    }

    const SearchProblem& problem_;
    VisitOrder order_;
    bool accepts_;
    BestRules rules_;
    SearchControl& control_;
    Lattice lattice_;
    TreeTraversal traversal_;
    Call waiting_;
    bool has_waiting_ = true;
    std::vector<Call> calls_;
    std::vector<PreorderNode> nodes_;
    std::vector<std::int32_t> used_;  // units of the tree built last
    std::vector<std::uint8_t> is_used_, is_below_, is_left_;
    std::vector<std::int64_t> frontier_;
    FoundTree best_;
    bool has_best_ = false;
    double progress_ = 0.0;
    DistinctStats stats_;
};

}  // namespace sktree_opt::subset
