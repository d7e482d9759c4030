// Lower bounds for every tree on a node, had without looking at a test.
//
// Few leaves: a tree of k leaves costs no less than its rows cut into k groups whatever their
// columns say, and the best such groups are intervals of sorted targets (1-D k-means; in trees: van
// den Bos, van der Linden, Demirovic, "Piecewise Constant and Linear Regression Trees", ICML 2024).
// With W, S, Q the prefix sums of weight, weight * target and weight * target^2, the best cost of
// the first i targets in k groups is
//   f_k(i) = min over j of f_{k-1}(j) + (Q_i - Q_j) - (S_i - S_j)^2 / (W_i - W_j),
// whose best j rises with i (Knuth's quadrangle inequality): divide and conquer takes O(k n log n).
//
// Equal rows: rows that no test tells apart end in one leaf, and cost together what they cost alone
// (Angelino et al., "Learning Certifiably Optimal Rule Lists", JMLR 2018). The cost of each group
// is stored at its first row; a node never has a part of a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"

namespace sktree_opt::thresholds {

class TargetGroups {
public:
    // Steps of the recursion above which a bound costs more than it may save.
    static constexpr double MOST_STEPS = 1e8;

    // Minimum squared error of the node's targets in at most `n_leaves` groups, with `split_cost`
    // for each group except one. 0 if computing it would take too long.
    double bound(const ThresholdNode& node, int n_leaves, double split_cost) {
        sum_up(node);
        const std::size_t n = weight_.size() - 1;
        if (static_cast<double>(n) * n_leaves * 20.0 > MOST_STEPS) return 0.0;
        best_.assign(n + 1, 0.0);
        for (std::size_t i = 1; i <= n; ++i) best_[i] = error(0, i);
        double least = best_[n];
        for (int k = 2; k <= n_leaves; ++k) {
            next_.assign(n + 1, 0.0);
            divide(1, n, 0, n - 1);
            best_.swap(next_);
            least = std::min(least, best_[n] + (k - 1) * split_cost);
        }
        return least;
    }

private:
    void sum_up(const ThresholdNode& node) {
        weight_.assign(1, 0.0);
        sum_.assign(1, 0.0);
        square_.assign(1, 0.0);
        double last = 0.0;
        for (const std::uint32_t row : node.by_target) {
            const double target = node.target[row], weight = node.weight[row];
            if (weight_.size() == 1 || target != last) {
                weight_.push_back(weight_.back());
                sum_.push_back(sum_.back());
                square_.push_back(square_.back());
            }
            weight_.back() += weight;
            sum_.back() += weight * target;
            square_.back() += weight * target * target;
            last = target;
        }
    }

    double error(std::size_t j, std::size_t i) const {
        const double weight = weight_[i] - weight_[j], sum = sum_[i] - sum_[j];
        if (weight <= 0.0) return 0.0;
        return std::max(0.0, square_[i] - square_[j] - sum * sum / weight);
    }

    // next_[first..last], whose best cuts are in lowest..highest.
    void divide(std::size_t first, std::size_t last, std::size_t lowest, std::size_t highest) {
        if (first > last) return;
        const std::size_t middle = first + (last - first) / 2;
        std::size_t cut = lowest;
        double least = best_[lowest] + error(lowest, middle);
        for (std::size_t j = lowest + 1; j <= std::min(highest, middle - 1); ++j) {
            const double cost = best_[j] + error(j, middle);
            if (cost < least) {
                least = cost;
                cut = j;
            }
        }
        next_[middle] = least;
        divide(first, middle - 1, lowest, cut);
        divide(middle + 1, last, cut, highest);
    }

    std::vector<double> weight_, sum_, square_, best_, next_;
};

// Cost of the groups of equal rows, each at its first row; empty when all rows differ.
inline std::vector<double> equal_row_costs(const ThresholdProblem& problem) {
    std::vector<double> costs;
    if (problem.equal_rows == nullptr || problem.is_absolute || !problem.use.equal_rows) {
        return costs;
    }
    const std::size_t n_sums = problem.n_sums();
    std::vector<double> sums(n_sums * problem.n_groups, 0.0);
    for (std::uint32_t row = 0; row < problem.n_rows; ++row) {
        double* const to = &sums[n_sums * problem.equal_rows[row]];
        const double weight = problem.weight[row];
        if (!problem.is_regression()) {
            to[problem.label[row]] += weight;
            continue;
        }
        to[0] += weight;
        to[1] += weight * problem.target[row];
        to[2] += weight * problem.target[row] * problem.target[row];
    }
    costs.assign(problem.n_rows, 0.0);
    std::vector<bool> is_known(problem.n_groups, false);
    for (std::uint32_t row = 0; row < problem.n_rows; ++row) {
        const std::uint32_t group = problem.equal_rows[row];
        if (is_known[group]) continue;
        is_known[group] = true;
        costs[row] = leaf_cost(problem, &sums[n_sums * group]).cost;
    }
    return costs;
}

}  // namespace sktree_opt::thresholds
