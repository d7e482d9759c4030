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
// Missing values are one more code of a column. With them on the right of a test it comes last; with
// them on the left its rows are added to those of the lowest value, and the same tables serve.
//
// Only without categories and minima for leaves.
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
        int column_index = -1;  // of the node's columns; -1: no test does better than the limit
        int position = 0;
        bool missing_left = false;
    };
    struct Sum {
        double weight = 0.0, target = 0.0;

        void add(const Sum& other) {
            weight += other.weight;
            target += other.target;
        }
        Sum plus(const Sum& other) const { return {weight + other.weight, target + other.target}; }
        Sum minus(const Sum& other) const { return {weight - other.weight, target - other.target}; }
    };
    // What one thread works with.
    struct Work {
        // All tables of the sides of a root test, and of the rows that miss its column.
        std::vector<Sum> left, right, missing, left_with_missing;
        std::vector<double> weight, sum;        // prefix sums of one pair
        // [missing left][column][code]: most saved below and above it
        std::vector<std::vector<double>> below[2], above[2];
        std::vector<Sum> prefix;
        Booking booking;
    };

    explicit ValueSweep(InstructionSet set) : scores_(choose_pair_scores(set)) {}

    static bool is_faster(const Problem& problem, const NodeRows& node, int n_splits) {
        if (!problem.use.value_sweep || !problem.is_regression() || problem.is_absolute ||
            n_splits < 7 || problem.min_rows > 1.0 || problem.min_weight > 0.0)
            return false;
        double padded = 0.0, cells = 0.0, size = 0.0, values = 0.0, walked = 0.0;
        for (const NodeColumn& column : node.columns) {
            if (column.is_nominal || column.n_groups > MOST_VALUES) return false;
            // With missing values each test is two.
            const double n_ways = column.n_present < node.n ? 2.0 : 1.0;
            // Of the pairs with the columns before.
            cells += padded * column.n_groups * n_ways;
            size += padded * (column.n_groups + n_ways);
            padded += stride_of(node, column) * n_ways;
            values += (column.n_groups - 1.0) * n_ways;
            walked += std::min(column.n_groups - 1.0, 12.0) * n_ways;
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        const double swept = 0.7 * m * m * m * node.n + 2.0 * values * (2.0 * cells + 50.0 * m);
        return size * 48.0 < MOST_BYTES && swept < walked * m * node.n * (5.0 + 0.8 * m);
    }

    // Tables of all rows. False when a limit ended it.
    bool open(const Problem& problem, const NodeRows& node, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        list_columns();
        if (!booking_.set(watch.control(), bytes_of(code_) + bytes_of(all_))) return false;
        squares_ = 0.0;
        for (std::uint32_t row = 0; row < node.n; ++row) {
            add(row, all_);
            squares_ += node.weight[row] * node.target[row] * node.target[row];
        }
        return !watch.poll();
    }

    // The best root test of column `k` of a tree that costs less than `limit`. Cut short by a limit.
    Result sweep(int k, double limit, Work& work, Watch& watch) const {
        const NodeColumn& column = node_->columns[k];
        const std::uint32_t* order = node_->order(k);
        Result best;
        best.cost = limit;
        work.left.assign(all_.size(), Sum());
        work.missing.assign(columns_[k].has_missing ? all_.size() : 0, Sum());
        work.left_with_missing.resize(work.missing.size());
        work.right.resize(all_.size());
        if (!work.booking.set(watch.control(), bytes_of(work.left) + bytes_of(work.right) +
                                                   2 * bytes_of(work.missing)))
            return best;
        for (std::uint32_t i = column.n_present; i < node_->n; ++i)
            add(order[i] & ROW_MASK, work.missing);
        int position = 0;
        for (std::uint32_t i = 0; i < column.n_present; ++i) {
            if (i > 0 && (order[i] & FIRST_OF_GROUP)) {
                try_position(k, position, true, work, best);
                ++position;
                if (watch.walked(static_cast<std::uint32_t>(all_.size()) + 1)) return best;
            }
            add(order[i] & ROW_MASK, work.left);
        }
        // Present against missing.
        if (columns_[k].has_missing) try_position(k, position, false, work, best);
        return best;
    }

private:
    static constexpr std::uint32_t MOST_VALUES = 64;
    static constexpr double MOST_BYTES = 1 << 25;

    struct Column {
        int n_values = 0;
        bool has_missing = false;
        int stride = 0;        // padded number of codes
        std::size_t own = 0;   // where its own table begins
    };
    struct Pair {
        int first, second;
        std::size_t offset;
    };

    static int stride_of(const NodeRows& node, const NodeColumn& column) {
        return static_cast<int>((column.n_groups + (column.n_present < node.n) + 7) / 8 * 8);
    }

    void list_columns() {
        const std::size_t m = node_->columns.size();
        code_.resize(m * node_->n);
        columns_.clear();
        std::size_t size = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const NodeColumn& column = node_->columns[k];
            columns_.push_back({static_cast<int>(column.n_groups), column.n_present < node_->n,
                                stride_of(*node_, column), size});
            size += columns_.back().stride;
            const std::uint32_t* order = node_->order(k);
            int code = -1;
            for (std::uint32_t i = 0; i < node_->n; ++i) {
                if (i == 0 || i == column.n_present || (order[i] & FIRST_OF_GROUP)) ++code;
                code_[(order[i] & ROW_MASK) * m + k] = static_cast<std::uint8_t>(code);
            }
        }
        pairs_.clear();
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = j + 1; k < m; ++k) {
                pairs_.push_back({static_cast<int>(j), static_cast<int>(k), size});
                size += static_cast<std::size_t>(columns_[j].n_values + columns_[j].has_missing) *
                        columns_[k].stride;
            }
        all_.assign(size, Sum());
    }

    void add(std::uint32_t row, std::vector<Sum>& tables) const {
        const std::size_t m = columns_.size();
        const std::uint8_t* code = &code_[row * m];
        const double weight = node_->weight[row];
        const Sum amount{weight, weight * node_->target[row]};
        for (std::size_t j = 0; j < m; ++j) tables[columns_[j].own + code[j]].add(amount);
        const Pair* pair = pairs_.data();
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = j + 1; k < m; ++k, ++pair)
                tables[pair->offset + code[j] * columns_[k].stride + code[k]].add(amount);
    }

    // The rows of work.left against the others, and, `both_ways`, with missing values among them.
    void try_position(int k, int position, bool both_ways, Work& work, Result& best) const {
        for (int way = 0; way <= (both_ways && columns_[k].has_missing); ++way) {
            // Not by adding to `left` what is taken away afterwards: real numbers would drift.
            std::vector<Sum>& left = way == 0 ? work.left : work.left_with_missing;
            for (std::size_t c = 0; way == 1 && c < all_.size(); ++c)
                left[c] = work.left[c].plus(work.missing[c]);
            for (std::size_t c = 0; c < all_.size(); ++c) work.right[c] = all_[c].minus(left[c]);
            const double cost = squares_ + problem_->split_cost - saved_by(left, work) -
                                saved_by(work.right, work);
            if (cost < best.cost - problem_->tolerance) best = {cost, k, position, way == 1};
        }
    }

    static double square(const Sum& sum) {
        return sum.weight > 0.0 ? sum.target * sum.target / sum.weight : 0.0;
    }

    // The most that a tree of depth two saves, its tests paid.
    double saved_by(const std::vector<Sum>& tables, Work& work) const {
        const std::size_t m = columns_.size();
        for (int way = 0; way < 2; ++way) {
            work.below[way].resize(m);
            work.above[way].resize(m);
            for (std::size_t j = 0; j < m; ++j) {
                work.below[way][j].assign(columns_[j].stride, 0.0);
                work.above[way][j].assign(columns_[j].stride, 0.0);
            }
        }
        for (const Pair& pair : pairs_) score(pair, tables, work);
        double most = 0.0;
        for (std::size_t j = 0; j < m; ++j)
            for (int way = 0; way <= columns_[j].has_missing; ++way)
                most = std::max(most, best_of_column(static_cast<int>(j), way, tables, work));
        return most;
    }

    void score(const Pair& pair, const std::vector<Sum>& tables, Work& work) const {
        const Column& first = columns_[pair.first];
        const Column& second = columns_[pair.second];
        const Sum* const table = tables.data() + pair.offset;
        PairTask task;
        task.stride = second.stride;
        for (int way = 0; way <= first.has_missing; ++way)
            for (int second_way = 0; second_way <= second.has_missing; ++second_way) {
                task.n_first = first.n_values + (first.has_missing && way == 0);
                const std::size_t size = static_cast<std::size_t>(task.n_first) * task.stride;
                work.weight.resize(size);
                work.sum.resize(size);
                for (int a = 0; a < task.n_first; ++a)
                    add_prefix(table + a * task.stride, a, a > 0, second, second_way, work);
                if (way == 1)
                    for (int a = 0; a < task.n_first; ++a)
                        add_prefix(table + first.n_values * task.stride, a, false, second,
                                   second_way, work, true);
                task.weight = work.weight.data();
                task.sum = work.sum.data();
                task.below_first = work.below[way][pair.first].data();
                task.above_first = work.above[way][pair.first].data();
                task.below_second = work.below[second_way][pair.second].data();
                task.above_second = work.above[second_way][pair.second].data();
                scores_(task);
            }
    }

    // Line `a` of the prefix sums of a pair: those of `cells`, and of the line before, or what stands
    // there already.
    static void add_prefix(const Sum* cells, int a, bool adds_line_before, const Column& second,
                           int second_way, Work& work, bool adds_itself = false) {
        const std::size_t stride = second.stride, begin = a * stride;
        Sum running;
        if (second_way == 1) running = cells[second.n_values];
        for (std::size_t b = 0; b < stride; ++b) {
            const std::size_t c = begin + b;
            if (second_way == 0 || static_cast<int>(b) != second.n_values) running.add(cells[b]);
            double weight = running.weight, sum = running.target;
            if (adds_line_before) {
                weight += work.weight[c - stride];
                sum += work.sum[c - stride];
            }
            if (adds_itself) {
                weight += work.weight[c];
                sum += work.sum[c];
            }
            work.weight[c] = weight;
            work.sum[c] = sum;
        }
    }

    // Of trees whose first test asks about column j: its leaves, tests of other columns below it
    // (below and above), or of its own. A single leaf, too. `way` 1: with missing values on the left.
    double best_of_column(int j, int way, const std::vector<Sum>& tables, Work& work) const {
        const Column& column = columns_[j];
        const int d = column.n_values + (column.has_missing && way == 0);
        const double split_cost = problem_->split_cost;
        const Sum* const own = tables.data() + column.own;
        const Sum missing = column.has_missing ? own[column.n_values] : Sum();
        work.prefix.assign(1, Sum());
        for (int a = 0; a < d; ++a) {
            work.prefix.push_back(work.prefix.back().plus(own[a]));
            if (a == 0 && way == 1) work.prefix.back().add(missing);
        }
        auto sum = [&](int from, int to) { return work.prefix[to].minus(work.prefix[from]); };
        auto between = [&](int from, int to) { return square(sum(from, to)); };
        double most = between(0, d);
        for (int a = 1; a < d; ++a) {
            double below = work.below[way][j][a - 1], above = work.above[way][j][a - 1];
            for (int b = 1; b < a; ++b) below = std::max(below, between(0, b) + between(b, a));
            for (int b = a + 1; b < d; ++b) above = std::max(above, between(a, b) + between(b, d));
            // The second test has missing values on its other side.
            for (int b = 1; way == 1 && b <= a; ++b)
                below = std::max(below, square(sum(0, b).minus(missing)) +
                                            square(sum(b, a).plus(missing)));
            for (int b = a + 1; column.has_missing && way == 0 && b < d - 1; ++b)
                above = std::max(above, square(sum(a, b).plus(missing)) + between(b, d - 1));
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
    std::vector<Column> columns_;
    std::vector<Pair> pairs_;
    std::vector<Sum> all_;                 // all tables of all rows
    double squares_ = 0.0;
};

}  // namespace continuous
}  // namespace sktree_opt
