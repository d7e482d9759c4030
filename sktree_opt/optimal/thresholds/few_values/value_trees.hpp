// The exact squared errors of trees of two levels where columns have few values, for root tests
// that rough_tables.hpp did not exclude.
//
// Below a root test each side is a leaf or takes the best single test, which sums by column and
// code tell: n m additions with n rows and m columns, and no row is moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/thresholds/few_values/pair_layout.hpp"

namespace sktree_opt::thresholds {

class ValueTrees {
public:
    struct ValueTree {
        double cost = std::numeric_limits<double>::infinity();
        double least =
            std::numeric_limits<double>::infinity();  // of all trees that were looked at: less
                                                      // than `cost` by the tolerance at
                                                      // most
        RootTest root;                                // of no column: a leaf
        bool is_split[2] = {false, false};            // whether its children are
    };
    struct Sum {
        double weight = 0.0, target = 0.0;

        Sum& operator+=(const Sum& other) {
            weight += other.weight;
            target += other.target;
            return *this;
        }
        Sum minus(const Sum& other) const { return {weight - other.weight, target - other.target}; }
        double saved() const { return weight > 0.0 ? target * target / weight : 0.0; }
    };
    // What one thread works with.
    struct Work {
        std::vector<std::uint32_t> rows;
        std::vector<Sum> sums[2];  // of each side, by place in a line
    };

    // False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, const PairLayout& layout,
              SearchControl* control) {
        problem_ = &problem;
        layout_ = &layout;
        amount_.clear();
        square_.clear();
        for (std::uint32_t row = 0; row < node.n; ++row) {
            const double target = node.weight[row] * node.target[row];
            amount_.push_back({node.weight[row], target});
            square_.push_back(target * node.target[row]);
        }
        return booking_.set(control, bytes_of(amount_) + bytes_of(square_));
    }

    // The best tree of work.rows that is a leaf or begins with one of the tests.
    ValueTree best_of(const std::vector<RootTest>& tests, Work& work) const {
        Sum all;
        double squares = 0.0;
        for (const std::uint32_t row : work.rows) {
            all += amount_[row];
            squares += square_[row];
        }
        ValueTree best;
        best.cost = best.least = squares - all.saved();
        for (const RootTest& test : tests) {
            ValueTree tree;
            tree.root = test;
            sum_sides(test, work);
            tree.cost = squares + problem_->split_cost;
            for (int side = 0; side < 2; ++side) {
                tree.cost -= saved_by_side(work.sums[side], tree.is_split[side]);
            }
            tree.least = std::min(best.least, tree.cost);
            if (tree.cost < best.cost - problem_->tolerance) best = tree;
            best.least = tree.least;
        }
        return best;
    }

private:
    void sum_sides(const RootTest& test, Work& work) const {
        const std::size_t m = layout_->columns().size();
        const PairColumn& root = layout_->columns()[test.column_index];
        for (auto& sums : work.sums) sums.assign(layout_->line(), Sum());
        for (const std::uint32_t row : work.rows) {
            const int code = layout_->code(row, test.column_index);
            const bool right = code == root.n_values ? !test.missing_left : code > test.position;
            const std::uint16_t* const place = layout_->places(row);
            Sum* const sums = work.sums[right].data();
            for (std::size_t k = 0; k < m; ++k) sums[place[k]] += amount_[row];
        }
    }

    // A leaf, or the best single test where it is worth its cost.
    double saved_by_side(const std::vector<Sum>& sums, bool& is_split) const {
        Sum all;
        const PairColumn& first = layout_->columns()[0];
        for (int c = 0; c < first.n_codes(); ++c) all += sums[first.place + c];
        double most = 0.0;
        for (const PairColumn& column : layout_->columns()) {
            for (int way = 0; way <= column.has_missing; ++way) {
                Sum left = way == 1 ? sums[column.place + column.n_values] : Sum();
                for (int c = 0; c + 1 < column.n_codes() - way; ++c) {
                    left += sums[column.place + c];
                    most = std::max(most, left.saved() + all.minus(left).saved());
                }
            }
        }
        is_split = most - problem_->split_cost > all.saved();
        return std::max(most - problem_->split_cost, all.saved());
    }

    const ThresholdProblem* problem_ = nullptr;
    const PairLayout* layout_ = nullptr;
    Booking booking_;
    std::vector<Sum> amount_;     // of each row
    std::vector<double> square_;  // its weighted squares
};

}  // namespace sktree_opt::thresholds
