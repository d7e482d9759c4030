// A good tree of any depth quickly, and better ones with more time. Heuristic: it proves nothing.
//
// Papers: Harvey and Ginsberg, "Limited discrepancy search", IJCAI 1995; for optimal trees Kiossou,
// Schaus, Nijssen and Houndji, "Time constrained DL8.5 using limited discrepancy search", ECML PKDD
// 2022. At each node, a heuristic ranks the columns. The greedy tree takes the first column
// everywhere; the search tries all trees that take another one in few places. Deviations: the last
// two levels are solved exactly, because each node knows their optimum. A column of rank r costs 1
// + floor(log2 r) discrepancies instead of one or r, so each further discrepancy tries twice as
// many columns. Two rankings take turns: by errors with one more test, and by Gini gain (variance,
// with targets), because errors say little far from the leaves. With a limit on splits, a node
// answers the best tree for each number of splits, and the limit is shared out exactly over the
// chosen columns. After a stop, the best trees found so far are put together.
//   discrepancies -> discrepancies; what a node answers -> Curve of Plans, by number of splits
// Kernel: a node of few rows takes microseconds, and is made by the templates of node_maker.hpp.
// Time: max_depth sweeps of all rows, and about three times as much for each further discrepancy.
// Memory: the plans of the best trees of each node on the path.
#pragma once

#include <algorithm>
#include <vector>

#include "sktree_opt/optimal/bits/child_bounds.hpp"
#include "sktree_opt/optimal/bits/node_maker.hpp"
#include "sktree_opt/optimal/bits/reconstruct.hpp"

namespace sktree_opt {

// Sum over sides and channels of squared sums by mass: the gain of Gini and variance, up to a
// constant.
template <class Lane>
double gini_gain(const BitProblem<Lane>& problem, const BitNode<Lane>& node, int j) {
    const int mass = problem.channels.mass();
    const double all = static_cast<double>(node.totals[mass]);
    const double with = static_cast<double>(node.marginal_row(mass)[j]);
    double sum = 0.0;
    for (int c = 0; c < problem.channels.n_channels; ++c) {
        const double of_true = static_cast<double>(node.marginal_row(c)[j]);
        const double of_false = static_cast<double>(node.totals[c]) - of_true;
        if (with > 0.0) sum += of_true * of_true / with;
        if (all > with) sum += of_false * of_false / (all - with);
    }
    return sum;
}

template <class Lane>
class DiscrepancySearch {
public:
    explicit DiscrepancySearch(BitSearch<Lane>& search)
        : search_(search), problem_(search.problem()), tree_(search, Order::INDEX) {}

    // The best tree within `discrepancies`, if it costs less than `upper`.
    BitIncumbent search_discrepancies(int depth, int budget, int discrepancies, double upper) {
        binds_ = budget < full_budget(depth);
        budget_ = budget;
        plans_.clear();
        const Curve curve = solve(0, depth, discrepancies);
        BitIncumbent found;
        if (!(cost(curve.back()) < upper)) return found;
        found.cost = cost(curve.back());
        search_.maker().may_poll = false;
        rebuild(0, curve.back());
        search_.maker().may_poll = true;
        found.nodes = tree_.take();
        return found;
    }

private:
    // A subtree: a column and the plans of its children, or the best tree of two levels with
    // `splits`.
    struct Subtree {
        double cost;
        int splits;
        int column = -1;
        int with = -1, without = -1;
    };
    // The best plan with at most 0, 1, ... splits; without a limit on them, the best alone.
    using Curve = std::vector<int>;

    static constexpr std::size_t MOST_GARBAGE = 4096;

    double cost(int plan) const { return plans_[plan].cost; }

    int add(const Subtree& plan) {
        plans_.push_back(plan);
        return static_cast<int>(plans_.size()) - 1;
    }

    Curve two_levels(const double* costs, int most_small, int most) {
        Curve curve;
        for (int k = 0; k <= most_small; ++k) {
            curve.push_back(add({costs[k], k}));
        }
        if (!binds_) {
            return {curve.back()};
        }
        curve.resize(std::max(most, most_small) + 1, curve.back());
        return curve;
    }

    // Drops the plans from `start` on that `curve` does not use. Children come before parents.
    void forget_others(std::size_t start, Curve& curve) {
        const int first = static_cast<int>(start);
        places_.assign(plans_.size() - start, -1);
        const auto keep = [&](int plan) {
            if (plan >= first) places_[plan - first] = plan;
        };
        const auto moved = [&](int plan) { return plan < first ? plan : places_[plan - first]; };
        for (const int plan : curve) keep(plan);
        for (std::size_t k = plans_.size(); k-- > start;) {
            if (places_[k - start] < 0) continue;
            keep(plans_[k].with);
            keep(plans_[k].without);
        }
        std::size_t n = start;
        for (std::size_t k = start; k < plans_.size(); ++k) {
            if (places_[k - start] < 0) continue;
            Subtree plan = plans_[k];
            plan.with = moved(plan.with);
            plan.without = moved(plan.without);
            places_[k - start] = static_cast<int>(n);
            plans_[n++] = plan;
        }
        plans_.resize(n);
        for (int& plan : curve) plan = moved(plan);
    }

    Curve solve(int level, int depth, int discrepancies) {
        BitNode<Lane>& node = search_.node(level);
        const std::size_t start = plans_.size();
        const int most = std::min(budget_, full_budget(depth));
        Curve curve = two_levels(node.small_costs, std::min(most, 3), most);
        if (depth <= 2 || problem_.true_cost(cost(curve.back())) <= 0.0) return curve;
        // Larger trees than those of two levels have three splits.
        if (!binds_ && cost(curve.back()) <= 3.0 * problem_.split_cost) return curve;
        // At depth three more columns are tried, because each takes a single sweep of few rows.
        const int most_here = depth == 3 ? discrepancies + 3 : discrepancies;
        const std::vector<std::int32_t> columns = ranking(node, depth, most_here);
        for (std::size_t rank = 0; rank < columns.size(); ++rank) {
            const int rest = most_here - discrepancies_of(rank);
            if (rest < 0 || search_.control().stopped()) break;
            const int j = columns[rank];
            if (depth == 3) {
                search_.poll_now_and_then();
                offer_pair(node, j, curve);
                if (plans_.size() - start > MOST_GARBAGE) forget_others(start, curve);
                continue;
            }
            const Curve with = solve_side(level, depth, j, true, rest);
            const Curve without = solve_side(level, depth, j, false, rest);
            offer(node.columns[j], with, without, curve);
            forget_others(start, curve);
        }
        forget_others(start, curve);
        return curve;
    }

    Curve solve_side(int level, int depth, int j, bool side, int discrepancies) {
        // The node knows the child's best tree of at most one level. After a stop it is the answer.
        BitNode<Lane>& node = search_.node(level);
        search_.maker().score_sides(node, j);
        double costs[2] = {
            side_cost(problem_, node, j, side, side ? node.leaf_true[j] : node.leaf_false[j]),
            side_cost(problem_, node, j, side, side ? node.best_true[j] : node.best_false[j])};
        costs[0] = search_.maker().snap(costs[0]);
        costs[1] = std::min(costs[0], search_.maker().snap(costs[1]) + problem_.split_cost);
        if (!search_.control().stopped()) search_.make_child(level, j, side);
        if (search_.control().stopped()) return two_levels(costs, std::min(budget_, 1), 0);
        return solve(level + 1, depth - 1, discrepancies);
    }

    void offer_pair(BitNode<Lane>& node, int j, Curve& curve) {
        SmallCosts with, without;
        if (!search_.solve_both(node, j, with, without)) return;
        const int most = std::min(budget_, 3);
        const Curve first = two_levels(with.costs, most, most);
        offer(node.columns[j], first, two_levels(without.costs, most, most), curve);
    }

    // Puts trees with a column at the root into `curve` where they cost less.
    void offer(int column, const Curve& with, const Curve& without, Curve& curve) {
        for (std::size_t a = 0; a < with.size(); ++a) {
            for (std::size_t b = 0; b < without.size(); ++b) {
                const std::size_t splits = binds_ ? a + b + 1 : 0;
                if (splits >= curve.size()) break;
                const double sum = cost(with[a]) + cost(without[b]) + problem_.split_cost;
                if (sum >= cost(curve[splits])) continue;
                curve[splits] = add({sum, static_cast<int>(splits), column, with[a], without[b]});
            }
        }
        for (std::size_t k = 1; k < curve.size(); ++k) {
            if (cost(curve[k - 1]) < cost(curve[k])) curve[k] = curve[k - 1];
        }
    }

    static int discrepancies_of(std::size_t rank) {
        int count = 0;
        for (; rank > 0; rank /= 2) ++count;
        return count;
    }

    // The first columns of two rankings in turn: far from the leaves, Gini gain goes first.
    std::vector<std::int32_t> ranking(const BitNode<Lane>& node, int depth, int discrepancies) {
        std::vector<std::int32_t> all;
        for (int j = 0; j < node.n_columns; ++j) {
            if (is_supported(problem_, node, j)) all.push_back(j);
        }
        std::size_t n = all.size();
        if (discrepancies < 20) n = std::min(n, std::size_t(1) << discrepancies);
        std::vector<double> errors(node.n_columns), gains(node.n_columns);
        for (const int j : all) {
            errors[j] =
                static_cast<double>(node.best_true[j]) + static_cast<double>(node.best_false[j]);
            gains[j] = gini_gain(problem_, node, j);
        }
        std::vector<std::int32_t> by_error = all, by_gain = all, both;
        const auto sort = [n](auto& columns, const std::vector<double>& score) {
            std::partial_sort(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(n),
                              columns.end(), [&score](int a, int b) {
                                  return score[a] > score[b] || (score[a] == score[b] && a < b);
                              });
        };
        sort(by_error, errors);
        sort(by_gain, gains);
        const auto& first = depth > 4 ? by_gain : by_error;
        const auto& second = depth > 4 ? by_error : by_gain;
        std::vector<char> taken(node.n_columns, 0);
        for (std::size_t k = 0; k < n && both.size() < n; ++k) {
            for (const int j : {first[k], second[k]}) {
                if (!taken[j]) {
                    taken[j] = 1;
                    both.push_back(j);
                }
            }
        }
        return both;
    }

    int rebuild(int level, int index) {
        const Subtree plan = plans_[index];
        const int at = tree_.add_node();
        const BitNode<Lane>& node = search_.node(level);
        if (plan.column < 0) {
            int splits = plan.splits;
            while (splits > 0 && node.small_costs[splits - 1] == node.small_costs[splits]) --splits;
            if (splits > 0) tree_.grow_small(level, splits, at);
            return at;
        }
        tree_.set_column(at, plan.column);
        const auto place = std::lower_bound(node.columns.begin(), node.columns.end(), plan.column);
        const int column = static_cast<int>(place - node.columns.begin());
        for (const bool side : {true, false}) {
            search_.make_child(level, column, side);
            const int child = rebuild(level + 1, side ? plan.with : plan.without);
            tree_.set_child(at, side, child);
        }
        return at;
    }

    BitSearch<Lane>& search_;
    const BitProblem<Lane>& problem_;
    Reconstruction<Lane> tree_;
    std::vector<Subtree> plans_;
    std::vector<int> places_;
    bool binds_ = false;
    int budget_ = 0;
};

}  // namespace sktree_opt
