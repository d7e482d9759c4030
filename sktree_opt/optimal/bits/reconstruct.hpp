// Finds the tree behind an optimum. Among trees of equal cost it is always the same one, for any
// number of threads, any order of rows and any content of the caches.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.5.6: caches keep values and roots,
// the tree is found again from the top. Here the value alone decides. The tree with the fewest
// splits wins: it is found by searches with fewer and fewer splits. Then, at each node from the
// root down, the fewest levels win, then the first column, then the fewest splits on the side that
// has it. A search for a tree of a known cost is cheap, because everything else is pruned at once.
// Where costs are counted, each split costs a little more, which has found the fewest splits.
#pragma once

#include <algorithm>
#include <vector>

#include "sktree_opt/optimal/bits/bit_search.hpp"
#include "sktree_opt/optimal/bits/child_bounds.hpp"

namespace sktree_opt {

template <class Lane>
class Reconstruction {
public:
    // Columns in order of index, or, if any tree will do, in the order that finds one sooner.
    Reconstruction(BitSearch<Lane>& search, Order order)
        : search_(search), problem_(search.problem()), order_(order) {}

    // A tree of the root with the fewest levels among those that cost `target`, or more only by tie
    // costs. The results of this and of the next functions are meaningless if `failed`.
    std::vector<TreeNode> shallowest(int most, int budget, double target) {
        const double cost = problem_.true_cost(target);
        const double upper = problem_.tie_cost > 0.0 ? cost + problem_.unit : upper_bound(cost);
        for (int depth = 2; depth <= most && !search_.stopped(); ++depth) {
            const double found = search_.search(0, depth, budget, upper);
            if (found < upper) return smallest(depth, budget, found);
        }
        failed_ = true;
        return {};
    }

    // The tree of the root that costs `target`.
    std::vector<TreeNode> smallest(int depth, int budget, double target) {
        budget = std::min(budget, full_budget(depth));
        const double small = search_.small_cost(search_.root(), depth, budget);
        const int useful = std::min(budget, useful_splits(target));
        if (depth > 2 && !is_within(small, target) && sizes_may_tie()) {
            const int fewest = fewest_splits(std::min(depth, ANY_DEPTH - 1), useful, target);
            if (fewest < useful) depth = std::min(depth, ANY_DEPTH - 1);
            if (depth < ANY_DEPTH) budget = fewest;
        }
        build(0, depth, budget, target);
        return std::move(nodes_);
    }

    // A tree with this column at the root.
    std::vector<TreeNode> below(const SolvedColumn& root) {
        nodes_.emplace_back();
        grow(0, root, 0);
        return std::move(nodes_);
    }

    // The best tree of at most two levels. Does not poll: serves after a stop, too.
    std::vector<TreeNode> two_levels(int depth, int budget) {
        search_.maker().may_poll = false;
        depth = std::min(depth, 2);
        build(0, depth, budget, search_.small_cost(search_.root(), depth, budget));
        search_.maker().may_poll = true;
        return std::move(nodes_);
    }

    // The search was stopped, or rounding has hidden the tree.
    bool failed() const { return failed_ || search_.stopped(); }

    // For trees that are put together elsewhere.
    int add_node() {
        nodes_.emplace_back();
        return static_cast<int>(nodes_.size()) - 1;
    }
    void set_column(int at, int column) { nodes_[at].column = problem_.columns[column]; }
    void set_child(int at, bool side, int child) {
        (side ? nodes_[at].with : nodes_[at].without) = child;
    }
    std::vector<TreeNode> take() { return std::move(nodes_); }

    // The first column whose best tree with `splits` splits and two levels is the node's optimum.
    void grow_small(int level, int splits, int at) {
        BitNode<Lane>& node = search_.node(level);
        const double target = node.small_costs[splits];
        int best_column = -1, best_true = 0;
        double best_cost = std::numeric_limits<double>::infinity();
        for (int j = 0; j < node.n_columns; ++j) {
            if (!is_supported(problem_, node, j)) continue;
            for (int of_true = 0; of_true <= 1; ++of_true) {
                const int of_false = splits - 1 - of_true;
                if (of_false < 0 || of_false > 1) continue;
                if (cost_of(node, j, of_true, of_false) >= best_cost) continue;
                search_.maker().score_sides(node, j);
                const double cost = cost_of(node, j, of_true, of_false);
                if (cost >= best_cost) continue;
                best_cost = cost;
                best_column = j;
                best_true = of_true;
            }
            if (is_within(best_cost, target)) break;
        }
        if (best_column < 0) {
            failed_ = true;
            return;
        }
        grow(level, {best_column, 2, best_true, splits - 1 - best_true, -1.0, -1.0}, at);
    }

private:
    // Two levels, with column j at the root and so many splits on either side; a bound, where
    // scores are bounds.
    double cost_of(const BitNode<Lane>& node, int j, int of_true, int of_false) {
        const Lane with = of_true ? node.best_true[j] : node.leaf_true[j];
        const Lane without = of_false ? node.best_false[j] : node.leaf_false[j];
        return search_.maker().snap(side_cost(problem_, node, j, true, with) +
                                    side_cost(problem_, node, j, false, without)) +
               (1 + of_true + of_false) * problem_.split_cost;
    }

    bool is_within(double cost, double target) const { return cost <= target + problem_.slack; }
    double upper_bound(double target) const { return target + 2.0 * problem_.slack; }

    // Whether trees of different size may cost the same. Counted costs give each split a little
    // more than its cost.
    static constexpr bool sizes_may_tie() { return sizeof(Lane) == sizeof(double); }

    // Splits that a tree of this cost can have, and that tell rows apart. Searches keep bounds for
    // each number of splits up to their budget, so a budget of 2^20 must not reach them.
    int useful_splits(double target) const {
        double most = problem_.n_words * 16;
        if (problem_.split_cost > 0.0) {
            most = std::min(most, upper_bound(target) / problem_.split_cost);
        }
        return std::max(3, static_cast<int>(most));
    }

    // Trees of up to two splits have two levels and were ruled out. Usually no tree with fewer
    // splits is as good, so the first step down is small.
    int fewest_splits(int depth, int known, double target) {
        int below = 2;
        for (int step = 1; known - below > 1 && !search_.stopped();) {
            const int fewer = std::max(known - step, (known + below) / 2);
            const double cost =
                search_.search(0, std::min(depth, fewer), fewer, upper_bound(target));
            const bool is_enough = is_within(cost, target);
            (is_enough ? known : below) = fewer;
            step = is_enough ? 2 * step : 1;
        }
        return known;
    }

    // The tree of the node at `level` that costs `target`; its index.
    int build(int level, int depth, int budget, double target) {
        BitNode<Lane>& node = search_.node(level);
        const int at = add_node();
        if (depth == 0 || budget == 0 || is_within(node.small_costs[0], target)) return at;
        const int most = std::min({budget, full_budget(depth), 3});
        for (int splits = 1; splits <= most; ++splits) {
            if (!is_within(node.small_costs[splits], target)) continue;
            grow_small(level, splits, at);
            return at;
        }
        for (int d = depth == ANY_DEPTH ? depth : 3; d <= depth; ++d) {
            if (grow_deep(level, d, std::min(budget, full_budget(d)), target, at)) return at;
        }
        failed_ = true;
        return at;
    }

    bool grow_deep(int level, int depth, int budget, double target, int at) {
        const double upper = upper_bound(target);
        if (!is_within(search_.search(level, depth, budget, upper), target)) return false;
        int j = -1;
        const double cost = search_.explore(level, depth, budget, upper, j, order_);
        if (search_.stopped() || j < 0) return false;
        const SolvedColumn root =
            search_.share_of(search_.node(level).child_bounds[depth], depth, j, cost, level);
        if (root.column < 0) return false;
        grow(level, root, at);
        return true;
    }

    // Grows the children of a column. A negative cost asks for the best tree.
    void grow(int level, const SolvedColumn& root, int at) {
        set_column(at, search_.node(level).columns[root.column]);
        for (const bool side : {true, false}) {
            if (root.depth <= 2 && grow_single(level, root, side, at)) continue;
            const BitNode<Lane>& child = search_.make_child(level, root.column, side);
            if (search_.stopped() && search_.maker().may_poll) return;
            const int budget = side ? root.budget_true : root.budget_false;
            double target = side ? root.cost_true : root.cost_false;
            const int depth = depth_below(root.depth);
            if (target < 0.0) target = search_.small_cost(child, depth, budget);
            set_child(at, side, build(level + 1, depth, budget, target));
        }
    }

    // A child of one test or none, whose rows are not needed; false where they are.
    bool grow_single(int level, const SolvedColumn& root, bool side, int at) {
        BitNode<Lane>& node = search_.node(level);
        const bool may_split = (side ? root.budget_true : root.budget_false) > 0;
        const int column = may_split ? search_.maker().best_single(node, root.column, side) : -1;
        if (column < -1) return false;
        const int child = add_node();
        set_child(at, side, child);
        if (column < 0) return true;
        set_column(child, node.columns[column]);
        for (const bool branch : {true, false}) set_child(child, branch, add_node());
        return true;
    }

    BitSearch<Lane>& search_;
    const BitProblem<Lane>& problem_;
    const Order order_;
    std::vector<TreeNode> nodes_;
    bool failed_ = false;
};

}  // namespace sktree_opt
