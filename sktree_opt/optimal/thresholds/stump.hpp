// The best tree with at most one test, exactly: every test of every column, missing values on
// either side. Plain sums, class by class; used where a tree is written down and at depth one.
#pragma once

#include <limits>
#include <vector>

#include "sktree_opt/optimal/thresholds/absolute.hpp"
#include "sktree_opt/optimal/thresholds/column_tests.hpp"

namespace sktree_opt::thresholds {

constexpr double INFEASIBLE = std::numeric_limits<double>::infinity();

struct SmallTree {
    double cost = INFEASIBLE;  // split_cost included; infinite when a minimum forbids even a leaf
    double free_cost = 0.0;    // the same without minima for leaves: never above `cost`
    ThresholdTest test;        // column -1: a leaf
};

class StumpSolver {
public:
    // Ties go to a leaf, then to the lowest column, then to the lowest threshold.
    // A limit cuts it short, then `free_cost` is 0; a null `watch` lets it finish.
    SmallTree solve(const ThresholdProblem& problem, const ThresholdNode& node, bool may_split,
                    Watch* watch) {
        SmallTree best;
        if (problem.is_absolute) absolute_.open(node, nullptr);
        best.free_cost =
            problem.is_absolute ? absolute_.leaf_cost() : leaf_cost(problem, node.sums.data()).cost;
        if (supports_leaf(problem, node.n, weight_of(problem, node.sums.data()))) {
            best.cost = best.free_cost;
        }
        if (!may_split || node.n < 2 || best.cost <= problem.tolerance) return best;
        for (std::size_t k = 0; k < node.columns.size(); ++k) {
            const bool has_missing = node.columns[k].n_present < node.n;
            for (int missing_left = 0; missing_left <= (has_missing ? 1 : 0); ++missing_left) {
                if (watch != nullptr && watch->after_rows(node.n)) {
                    best.free_cost = 0.0;
                    return best;
                }
                try_column(problem, node, static_cast<int>(k), missing_left != 0, best);
            }
        }
        return best;
    }

private:
    void add(const ThresholdNode& node, std::uint32_t row) {
        node.add_sums(row, left_.data());
        n_left_ += 1.0;
    }

    void clear(const ThresholdProblem& problem) {
        left_.assign(problem.n_sums(), 0.0);
        n_left_ = 0.0;
    }

    void add_missing(const ThresholdNode& node, int k) {
        const std::uint32_t* order = node.order(k);
        for (std::uint32_t i = node.columns[k].n_present; i < node.n; ++i) {
            add(node, order[i] & ROW_MASK);
        }
    }

    void try_column(const ThresholdProblem& problem, const ThresholdNode& node, int k,
                    bool missing_left, SmallTree& best) {
        describe_column_tests(problem, node, k, missing_left, tests_);
        if (problem.is_absolute) {
            const std::vector<AbsoluteDivision>& divisions = absolute_.divide(k, missing_left);
            for (int p = 0; p < tests_.n_positions; ++p) {
                const AbsoluteDivision& one = divisions[p];
                offer(problem, node, p, one.cost + problem.split_cost, one.n_left, one.weight_left,
                      best);
            }
            return;
        }
        const std::uint32_t* order = node.order(k);
        std::uint32_t i = 0;
        clear(problem);
        if (missing_left) add_missing(node, k);
        for (int p = 0; p < tests_.n_positions; ++p) {
            const bool missing_only = asks_for_missing(tests_, node.columns[k], p);
            if (!tests_.is_chain) {
                clear(problem);
                if (missing_left || missing_only) add_missing(node, k);
            }
            if (tests_.is_chain || !missing_only) {
                for (; i < tests_.end_at(p); ++i) add(node, order[i] & ROW_MASK);
            }
            try_position(problem, node, p, best);
        }
    }

    void try_position(const ThresholdProblem& problem, const ThresholdNode& node, int p,
                      SmallTree& best) {
        right_.resize(problem.n_sums());
        for (std::size_t c = 0; c < right_.size(); ++c) right_[c] = node.sums[c] - left_[c];
        const double cost = problem.split_cost + leaf_cost(problem, left_.data()).cost +
                            leaf_cost(problem, right_.data()).cost;
        offer(problem, node, p, cost, n_left_, weight_of(problem, left_.data()), best);
    }

    void offer(const ThresholdProblem& problem, const ThresholdNode& node, int p, double cost,
               double n_left, double weight_left, SmallTree& best) {
        if (cost < best.free_cost) best.free_cost = cost;
        const double weight_right = weight_of(problem, node.sums.data()) - weight_left;
        if (cost < best.cost - problem.tolerance && supports_leaf(problem, n_left, weight_left) &&
            supports_leaf(problem, node.n - n_left, weight_right)) {
            best.cost = cost;
            best.test = test_at(problem, node, tests_, p);
        }
    }

    AbsoluteErrors absolute_;
    ColumnTests tests_;
    std::vector<double> left_, right_;
    double n_left_ = 0.0;
};

}  // namespace sktree_opt::thresholds
