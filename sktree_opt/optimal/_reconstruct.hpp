// The tree behind an optimum.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.5.6: caches keep values and roots, the
// tree is found again from the top. Here the value alone decides: of all trees that cost as little,
// the one taken has, at each node, the fewest levels, then the first column in look-ahead order
// (best with one split a side; ties by index). Neither threads nor what caches happen to hold can
// change that. After a stop there is no search: cached roots where known, else two levels.
#pragma once

#include <vector>

#include "sktree_opt/optimal/_search.hpp"

namespace sktree_opt {

struct TreeNode {
    std::int32_t column = -1;  // original index; -1: leaf
    std::int32_t with = -1;    // child of the rows that have the column
    std::int32_t without = -1;
};

template <class Lane>
class Reconstruction {
public:
    Reconstruction(Search<Lane>& search, bool may_search)
        : search_(search), problem_(search.problem()), may_search_(may_search) {
        search_.maker().may_poll = may_search;
    }
    ~Reconstruction() { search_.maker().may_poll = true; }

    // The tree of the node at `level` that costs `target`; its index in `nodes`.
    int build(int level, int depth, int budget, double target) {
        Node<Lane>& node = search_.node(level);
        const int at = static_cast<int>(nodes.size());
        nodes.emplace_back();
        if (depth == 0 || budget == 0 || is_within(node.small_costs[0], target)) return at;
        const int most = std::min({budget, full_budget(depth), 3});
        for (int splits = 1; splits <= most; ++splits)
            if (is_within(node.small_costs[splits], target)) return grow_small(level, splits, at);
        if (depth > 2 && may_search_ && grow_deep(level, depth, budget, target, at)) return at;
        if (depth > 2 && grow_known(level, depth, budget, target, at)) return at;
        // Stopped, and not in the caches: the best with two levels.
        if (node.small_costs[most] < node.small_costs[0])
            grow_small(level, fewest_splits(node, most), at);
        return at;
    }

    // The incumbent's tree, its children out of the caches.
    int build_incumbent(const Incumbent& incumbent) {
        nodes.emplace_back();
        grow(0, incumbent.column, 0, incumbent.depth - 1, incumbent.budget_true,
             incumbent.budget_false, incumbent.cost_true, incumbent.cost_false);
        return 0;
    }

    std::vector<TreeNode> nodes;

private:
    bool is_within(double cost, double target) const {
        return cost <= target + problem_.slack;
    }

    static int fewest_splits(const Node<Lane>& node, int most) {
        int splits = most;
        while (splits > 1 && node.small_costs[splits - 1] == node.small_costs[most]) --splits;
        return splits;
    }

    // `cost` of a side of a column, from its base and score.
    double side_cost(const Node<Lane>& node, int j, bool side, Lane score) const {
        const int base = problem_.channels.base();
        const Lane with = node.marginal_row(base)[j];
        const double mass = static_cast<double>(side ? with : node.totals[base] - with);
        return problem_.objective.unit *
               (problem_.objective.base_factor * mass - static_cast<double>(score));
    }

    // The first column whose best tree with `splits` splits and two levels is the node's optimum.
    int grow_small(int level, int splits, int at) {
        Node<Lane>& node = search_.node(level);
        const double target = node.small_costs[splits];
        int best_column = -1, best_true = 0;
        double best_cost = std::numeric_limits<double>::infinity();
        for (int j = 0; j < node.n_columns; ++j) {
            if (!is_supported(problem_, node, j)) continue;
            for (int of_true = 1; of_true >= 0; --of_true) {
                const int of_false = splits - 1 - of_true;
                if (of_false < 0 || of_false > 1) continue;
                const Lane with = of_true ? node.best_true[j] : node.leaf_true[j];
                const Lane without = of_false ? node.best_false[j] : node.leaf_false[j];
                const double cost = search_.maker().snap(
                                        side_cost(node, j, true, with) +
                                        side_cost(node, j, false, without)) +
                                    splits * problem_.split_cost;
                if (cost >= best_cost) continue;
                best_cost = cost;
                best_column = j;
                best_true = of_true;
            }
            if (is_within(best_cost, target)) break;
        }
        if (best_column < 0) return at;
        grow(level, best_column, at, 1, best_true, splits - 1 - best_true, -1.0, -1.0);
        return at;
    }

    // Children of a column. A negative target: the best there is.
    void grow(
        int level, int j, int at, int depth, int budget_true, int budget_false, double target_true,
        double target_false) {
        const int column = search_.node(level).columns[j];
        nodes[at].column = problem_.columns[column];
        for (const bool side : {true, false}) {
            const Node<Lane>& child = search_.make_child(level, j, side);
            const int budget = side ? budget_true : budget_false;
            double target = side ? target_true : target_false;
            if (target < 0.0) target = search_.small_cost(child, depth, budget);
            const int index = build(level + 1, depth, budget, target);
            (side ? nodes[at].with : nodes[at].without) = index;
        }
    }

    bool grow_deep(int level, int depth, int budget, double target, int at) {
        const double upper = target + 2.0 * problem_.slack;
        for (int d = 3; d <= depth; ++d) {
            if (!is_within(search_.search(level, d, budget, upper), target)) continue;
            int j = -1;
            const double cost =
                search_.explore(level, d, std::min(budget, full_budget(d)), upper, j, true);
            if (search_.control().stopped() || j < 0) return false;
            return grow_share(level, d, j, cost, at);
        }
        return false;
    }

    // Children of column j, just solved: the first way to share the splits that costs `cost`.
    bool grow_share(int level, int depth, int j, double cost, int at) {
        Node<Lane>& node = search_.node(level);
        Phase& phase = node.phases[depth];
        for (int k = 0; k < phase.n_budgets; ++k) {
            const int rest = phase.n_budgets - 1 - k;
            const double with = phase.true_bounds(k, node.stride)[j];
            const double without = phase.false_bounds(rest, node.stride)[j];
            if (!is_within(with + without + problem_.split_cost, cost)) continue;
            grow(level, j, at, depth - 1, phase.first_budget + k, phase.first_budget + rest, with,
                 without);
            return true;
        }
        return false;
    }

    // Without a search: the root that the cache has, and the first way to share its splits that is
    // known to cost `target`.
    bool grow_known(int level, int depth, int budget, double target, int at) {
        Node<Lane>& node = search_.node(level);
        for (int d = 3; d <= depth; ++d) {
            const int splits = std::min(budget, full_budget(d));
            Bounds known;
            if (!search_.caches().bounds.find(search_.cache_key(node.key, d, splits), known) ||
                !known.exact || known.column < 0 || !is_within(known.bound, target))
                continue;
            const auto place = std::find(node.columns.begin(), node.columns.end(), known.column);
            if (place == node.columns.end()) return false;
            const int j = static_cast<int>(place - node.columns.begin());
            const int most = full_budget(d - 1);
            for (int of_true = std::max(0, splits - 1 - most);
                 of_true <= std::min(most, splits - 1); ++of_true) {
                const int of_false = splits - 1 - of_true;
                const double with = search_.known_cost(level, j, true, d - 1, of_true);
                const double without = search_.known_cost(level, j, false, d - 1, of_false);
                if (!is_within(with + without + problem_.split_cost, target)) continue;
                grow(level, j, at, d - 1, of_true, of_false, with, without);
                return true;
            }
        }
        return false;
    }

    Search<Lane>& search_;
    const Problem<Lane>& problem_;
    const bool may_search_;
};

}  // namespace sktree_opt
