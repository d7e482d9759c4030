// The best tree of depth three for squared errors where columns have few values: exact.
//
// For every pair of columns a table has weight and summed targets by both values. A root column is
// swept from its lowest value to its highest: each row is added once to all tables, which then have
// the left side of a root test, and, taken from those of all rows, its right side. From the tables
// alone follow the best trees of depth two of both sides (Demirovic et al., "MurTree", JMLR 2022,
// section 4.2, does so for binary columns): no root test divides the node, sorts or walks rows.
//
// With n rows and m columns of d values: m n m^2 / 2 additions and m d m^2 d^2 / 2 steps of four
// divisions. The search by walks (_depth_two.hpp) takes about min(d, 12) m^2 n (m + 6), with larger
// factors: see is_faster().
//
// Only without missing values, categories and minima for leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/continuous/_families.hpp"
#include "sktree_opt/optimal/continuous/_pass_kernels.hpp"

namespace sktree_opt {
namespace continuous {

class ValueSweep {
public:
    struct Result {
        double cost = 0.0;
        int column_index = -1;  // of the node's columns; -1: no test does better than `limit`
        int position = 0;
    };

    explicit ValueSweep(InstructionSet set) : scores_(choose_pair_scores(set)) {}

    static bool is_faster(const Problem& problem, const NodeRows& node, int n_splits) {
        if (!problem.use.value_sweep || !problem.is_regression() || problem.is_absolute ||
            n_splits < 7 || problem.min_rows > 1.0 || problem.min_weight > 0.0)
            return false;
        double padded = 0.0, cells = 0.0, values = 0.0, walked = 0.0;
        for (const NodeColumn& column : node.columns) {
            if (column.is_nominal || column.n_present < node.n || column.n_groups > MOST_VALUES)
                return false;
            // Of the pairs with the columns before.
            cells += padded * column.n_groups;
            padded += stride_of(column);
            values += column.n_groups - 1.0;
            walked += std::min(column.n_groups - 1.0, 12.0);
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        const double swept = 0.7 * m * m * m * node.n + 2.0 * values * (2.0 * cells + 50.0 * m);
        return cells * 48.0 < MOST_BYTES && swept < walked * m * node.n * (5.0 + 0.8 * m);
    }

    // The best root test of a tree that costs less than `limit`. Cut short by a limit.
    Result solve(const Problem& problem, const NodeRows& node, double limit, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        open();
        Result best;
        best.cost = limit;
        if (!booking_.set(watch.control(), n_bytes())) return best;
        for (std::uint32_t row = 0; row < node.n; ++row) add(row, all_);
        double squares = 0.0;
        for (std::uint32_t row = 0; row < node.n; ++row)
            squares += node.weight[row] * node.target[row] * node.target[row];
        for (std::size_t k = 0; k < node.columns.size(); ++k)
            if (!sweep(static_cast<int>(k), squares, best, watch)) break;
        return best;
    }

private:
    static constexpr std::uint32_t MOST_VALUES = 64;
    static constexpr double MOST_BYTES = 1 << 25;

    struct Sum {
        double weight = 0.0, target = 0.0;
    };
    struct Pair {
        int first, second;
        std::size_t offset;
    };

    static int stride_of(const NodeColumn& column) {
        return static_cast<int>((column.n_groups + 7) / 8 * 8);
    }

    std::int64_t n_bytes() const {
        return bytes_of(code_) + bytes_of(all_) + bytes_of(left_) + bytes_of(right_);
    }

    void open() {
        const std::size_t m = node_->columns.size();
        code_.resize(m * node_->n);
        stride_.clear();
        for (std::size_t k = 0; k < m; ++k) {
            stride_.push_back(stride_of(node_->columns[k]));
            const std::uint32_t* order = node_->order(k);
            int code = -1;
            for (std::uint32_t i = 0; i < node_->n; ++i) {
                if (i == 0 || (order[i] & FIRST_OF_GROUP)) ++code;
                code_[(order[i] & ROW_MASK) * m + k] = static_cast<std::uint8_t>(code);
            }
        }
        pairs_.clear();
        std::size_t size = 0;
        own_.clear();
        for (std::size_t j = 0; j < m; ++j) {
            own_.push_back(size);
            size += stride_[j];
        }
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = j + 1; k < m; ++k) {
                pairs_.push_back({static_cast<int>(j), static_cast<int>(k), size});
                size += static_cast<std::size_t>(node_->columns[j].n_groups) * stride_[k];
            }
        all_.assign(size, Sum());
        left_.assign(size, Sum());
        right_.resize(size);
    }

    void add(std::uint32_t row, std::vector<Sum>& tables) const {
        const std::size_t m = stride_.size();
        const std::uint8_t* code = &code_[row * m];
        const double weight = node_->weight[row], target = weight * node_->target[row];
        for (std::size_t j = 0; j < m; ++j) {
            Sum& own = tables[own_[j] + code[j]];
            own.weight += weight;
            own.target += target;
        }
        const Pair* pair = pairs_.data();
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = j + 1; k < m; ++k, ++pair) {
                Sum& sum = tables[pair->offset + code[j] * stride_[k] + code[k]];
                sum.weight += weight;
                sum.target += target;
            }
    }

    bool sweep(int k, double squares, Result& best, Watch& watch) {
        const std::uint32_t* order = node_->order(k);
        std::fill(left_.begin(), left_.end(), Sum());
        int position = 0;
        for (std::uint32_t i = 0; i < node_->n; ++i) {
            if (i > 0 && (order[i] & FIRST_OF_GROUP)) {
                for (std::size_t c = 0; c < all_.size(); ++c) {
                    right_[c].weight = all_[c].weight - left_[c].weight;
                    right_[c].target = all_[c].target - left_[c].target;
                }
                const double cost = squares + problem_->split_cost - saved_by(left_) -
                                    saved_by(right_);
                if (cost < best.cost - problem_->tolerance) best = {cost, k, position};
                ++position;
                if (watch.walked(static_cast<std::uint32_t>(all_.size()) + 1)) return false;
            }
            add(order[i] & ROW_MASK, left_);
        }
        return true;
    }

    static double square(const Sum& sum) {
        return sum.weight > 0.0 ? sum.target * sum.target / sum.weight : 0.0;
    }

    // The most that a tree of depth two saves, its tests paid.
    double saved_by(const std::vector<Sum>& tables) {
        const std::size_t m = stride_.size();
        below_.resize(m);
        above_.resize(m);
        for (std::size_t j = 0; j < m; ++j) {
            below_[j].assign(stride_[j], 0.0);
            above_[j].assign(stride_[j], 0.0);
        }
        for (const Pair& pair : pairs_) score(pair, tables);
        double most = 0.0;
        for (std::size_t j = 0; j < m; ++j)
            most = std::max(most, best_of_column(static_cast<int>(j), tables));
        return most;
    }

    void score(const Pair& pair, const std::vector<Sum>& tables) {
        PairTask task;
        task.n_first = static_cast<int>(node_->columns[pair.first].n_groups);
        task.stride = stride_[pair.second];
        const std::size_t size = static_cast<std::size_t>(task.n_first) * task.stride;
        weight_.resize(size);
        sum_.resize(size);
        const Sum* table = tables.data() + pair.offset;
        std::size_t c = 0;
        for (int a = 0; a < task.n_first; ++a) {
            Sum running;
            for (int b = 0; b < task.stride; ++b, ++c) {
                running.weight += table[c].weight;
                running.target += table[c].target;
                weight_[c] = running.weight + (a > 0 ? weight_[c - task.stride] : 0.0);
                sum_[c] = running.target + (a > 0 ? sum_[c - task.stride] : 0.0);
            }
        }
        task.weight = weight_.data();
        task.sum = sum_.data();
        task.below_first = below_[pair.first].data();
        task.above_first = above_[pair.first].data();
        task.below_second = below_[pair.second].data();
        task.above_second = above_[pair.second].data();
        scores_(task);
    }

    // Of trees whose first test asks about column j: its leaves, tests of other columns below it
    // (below_ and above_), or of its own. A single leaf, too.
    double best_of_column(int j, const std::vector<Sum>& tables) {
        const int d = static_cast<int>(node_->columns[j].n_groups);
        const double split_cost = problem_->split_cost;
        prefix_.assign(1, Sum());
        for (int a = 0; a < d; ++a) {
            const Sum& own = tables[own_[j] + a];
            prefix_.push_back({prefix_.back().weight + own.weight,
                               prefix_.back().target + own.target});
        }
        auto between = [&](int from, int to) {
            return square({prefix_[to].weight - prefix_[from].weight,
                           prefix_[to].target - prefix_[from].target});
        };
        double most = between(0, d);
        for (int a = 1; a < d; ++a) {
            double below = below_[j][a - 1], above = above_[j][a - 1];
            for (int b = 1; b < a; ++b) below = std::max(below, between(0, b) + between(b, a));
            for (int b = a + 1; b < d; ++b) above = std::max(above, between(a, b) + between(b, d));
            most = std::max(most, std::max(between(0, a), below - split_cost) +
                                      std::max(between(a, d), above - split_cost) - split_cost);
        }
        return most;
    }

    void (*scores_)(const PairTask&);
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
    Booking booking_;
    std::vector<std::uint8_t> code_;       // [row][column]
    std::vector<int> stride_;              // padded number of values by column
    std::vector<std::size_t> own_;         // where a column's own table begins
    std::vector<Pair> pairs_;
    std::vector<Sum> all_, left_, right_;  // all tables of all rows and of both sides
    std::vector<double> weight_, sum_;     // prefix sums of one pair
    std::vector<std::vector<double>> below_, above_;  // [column][code]: most saved below and above it
    std::vector<Sum> prefix_;
};

}  // namespace continuous
}  // namespace sktree_opt
