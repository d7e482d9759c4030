// The best tree of depth three for squared errors where columns have few values: exact.
//
// A root column is cut at its positions: the rows on the left of one are added to tables of pairs of
// columns (_value_tables.hpp), those on the right are taken from the tables of all rows, and from the
// tables alone follow the best trees of depth two of both sides. Positions are halved from the middle:
// of a column that is no good the middle excludes all others, by the bounds of _intervals.hpp.
//
// With n rows and m columns of d values at most: m n m^2 / 2 log d additions and m d trees of depth
// two. The search by walks (_depth_two.hpp) takes about min(d, 12) m^2 n (m + 6), with larger
// factors: see is_faster().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/continuous/_value_tables.hpp"

namespace sktree_opt {
namespace continuous {

class ValueSweep {
public:
    using Sum = ValueTables::Sum;
    using Tables = ValueTables::Tables;
    using Column = ValueTables::Column;

    struct Result {
        double cost = 0.0;
        int column_index = -1;  // of the node's columns; -1: no test does better than the limit
        int position = 0;
        bool missing_left = false;
        // What trees with a root test of the column that was swept cost at least.
        double floor = std::numeric_limits<double>::infinity();
    };
    // What one thread works with.
    struct Work {
        std::vector<Tables> left;               // of left sides, by depth of the bisection
        Tables right, missing, left_with_missing;
        ValueTables::Work scores;
        Booking booking;
        // Of the column that is swept, by position + 1; both ends of the chain stand here too.
        std::vector<std::uint32_t> order;       // rows by their codes
        std::vector<std::uint32_t> begin;       // of the right side in that order
        std::vector<std::uint32_t> next;        // where the next row of a code goes
        std::vector<double> squares;            // of the left side
        std::vector<double> least[2][2];        // [missing left][side]: what it costs at least
        std::vector<double> cost[2];            // [missing left]
        double missing_squares = 0.0;
        double floor = 0.0;                     // of what is known by now

        std::int64_t n_bytes() const {
            std::int64_t n = bytes_of(right) + bytes_of(missing) + bytes_of(left_with_missing);
            for (const Tables& tables : left) n += bytes_of(tables);
            return n;
        }
    };

    explicit ValueSweep(InstructionSet set) : tables_(set) {}

    static bool is_faster(const Problem& problem, const NodeRows& node, int n_splits) {
        if (n_splits < 7 || !ValueTables::can_have(problem, node)) return false;
        double padded = 0.0, cells = 0.0, values = 0.0, walked = 0.0;
        for (const NodeColumn& column : node.columns) {
            // With missing values each test is two.
            const double n_ways = column.n_present < node.n ? 2.0 : 1.0;
            // Of the pairs with the columns before.
            cells += padded * column.n_groups * n_ways;
            padded += ValueTables::stride_of(node, column) * n_ways;
            values += (column.n_groups - 1.0) * n_ways;
            walked += std::min(column.n_groups - 1.0, 12.0) * n_ways;
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        const double swept = 0.7 * m * m * m * node.n + 2.0 * values * (2.0 * cells + 50.0 * m);
        return swept < walked * m * node.n * (5.0 + 0.8 * m);
    }

    // Tables of all rows. False when a limit ended it.
    bool open(const Problem& problem, const NodeRows& node, Watch& watch) {
        problem_ = &problem;
        return tables_.open(problem, node, watch);
    }

    // What trees of two levels cost at least.
    double least_of_two_levels(Work& work) const {
        return tables_.squares() - tables_.best_tree(tables_.all(), work.scores).most;
    }

    // Columns by what their best single test saves: the first ones make a low incumbent.
    std::vector<int> promising_first() const {
        std::vector<double> most(tables_.columns().size(), 0.0);
        std::vector<int> order(tables_.columns().size());
        for (std::size_t k = 0; k < tables_.columns().size(); ++k) {
            order[k] = static_cast<int>(k);
            const Sum* const own = tables_.all().data() + tables_.columns()[k].place;
            const int n_codes = tables_.columns()[k].n_codes();
            Sum total, left;
            for (int c = 0; c < n_codes; ++c) total.add(own[c]);
            for (int c = 0; c + 1 < n_codes; ++c) {
                left.add(own[c]);
                most[k] = std::max(most[k], left.saved() + total.minus(left).saved());
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](int j, int k) { return most[j] > most[k]; });
        return order;
    }

    // The best root test of column `k` of a tree that costs less than `limit`. Cut short by a limit.
    //
    // `incumbent` is the least cost that any thread knows. It serves to exclude what costs more by a
    // margin, and so never excludes one of several best tests: which of them is found does not depend
    // on who found what first.
    //
    // `floor` is a bound from elsewhere on the cost of all these trees.
    Result sweep(int k, double limit, double floor, std::atomic<double>& incumbent, Work& work,
                 Watch& watch) const {
        Result best;
        best.cost = limit;
        best.floor = floor;
        if (is_too_much(floor - problem_->split_cost, incumbent)) return best;
        if (!begin_column(k, work, watch)) return best;
        const int n_positions = static_cast<int>(work.begin.size()) - 2;
        explore(k, 0, 0, n_positions - 1, incumbent, work, watch);
        for (int p = 0; p < n_positions; ++p)
            for (int way = 0; way < 2; ++way) {
                const double cost = work.cost[way][p + 1];
                if (cost < best.cost - problem_->tolerance) best = {cost, k, p, way == 1, 0.0};
            }
        best.floor = std::max(floor, work.floor);
        return best;
    }

private:
    // The positions of column k: where their sides meet, and that nothing is known of them.
    bool begin_column(std::size_t k, Work& work, Watch& watch) const {
        const Column& column = tables_.columns()[k];
        list_sides(k, work);
        const std::uint32_t first_missing = work.begin[column.n_values];
        const std::size_t n_rows = tables_.n_rows();
        for (int way = 0; way < 2; ++way) {
            for (auto& least : work.least[way]) least.assign(work.begin.size(), 0.0);
            work.cost[way].assign(work.begin.size(), std::numeric_limits<double>::infinity());
        }
        work.missing_squares = tables_.squares() - work.squares[column.n_values];
        work.floor = std::numeric_limits<double>::infinity();
        if (work.left.empty()) work.left.resize(1);
        work.left[0].assign(tables_.all().size(), Sum());
        work.missing.assign(column.has_missing ? tables_.all().size() : 0, Sum());
        work.left_with_missing.resize(work.missing.size());
        work.right.resize(tables_.all().size());
        for (std::size_t i = first_missing; i < n_rows; ++i)
            tables_.add(work.order[i], work.missing);
        return work.booking.set(watch.control(), work.n_bytes());
    }

    // Sorts the rows by their codes of column k, missing values last: before the first code, between
    // each two, and after the last one is a place where the sides of a position meet, or an end.
    void list_sides(std::size_t k, Work& work) const {
        const Column& column = tables_.columns()[k];
        const std::size_t n_rows = tables_.n_rows();
        const int n_codes = column.n_codes();
        work.begin.assign(n_codes + 1, 0);
        work.squares.assign(n_codes + 1, 0.0);
        for (std::size_t row = 0; row < n_rows; ++row) {
            ++work.begin[tables_.code(row, k) + 1];
            work.squares[tables_.code(row, k) + 1] += tables_.square(row);
        }
        for (int code = 0; code < n_codes; ++code) {
            work.begin[code + 1] += work.begin[code];
            work.squares[code + 1] += work.squares[code];
        }
        work.order.resize(n_rows);
        work.next.assign(work.begin.begin(), work.begin.end());
        for (std::size_t row = 0; row < n_rows; ++row)
            work.order[work.next[tables_.code(row, k)]++] = static_cast<std::uint32_t>(row);
    }

    // Positions lo..hi, those beside them known; work.left[depth] are the rows on the left of the one
    // before. Left sides only grow along the chain, and with them what they cost at least, and right
    // sides shrink: between two known positions a tree costs at least the left side of the first
    // and the right side of the second. So where a column is a bad one, its middle excludes all others.
    void explore(int k, std::size_t depth, int lo, int hi, std::atomic<double>& incumbent,
                 Work& work, Watch& watch) const {
        if (lo > hi || is_excluded(k, lo, hi, incumbent, work) ||
            watch.walked(static_cast<std::uint32_t>(tables_.all().size()) + 1))
            return;
        const std::uint32_t begin = work.begin[lo], end = work.begin[hi + 2];
        int p = lo;
        while (p < hi && work.begin[p + 1] - begin < end - work.begin[p + 1]) ++p;
        if (depth + 1 == work.left.size()) {
            work.left.emplace_back();
            work.left.back().reserve(tables_.all().size());
            if (!work.booking.set(watch.control(), work.n_bytes())) return;
        }
        Tables& left = work.left[depth + 1];
        left = work.left[depth];
        for (std::uint32_t i = begin; i < work.begin[p + 1]; ++i) tables_.add(work.order[i], left);
        try_position(k, p, lo == hi, depth + 1, incumbent, work);
        explore(k, depth + 1, p + 1, hi, incumbent, work, watch);
        explore(k, depth, lo, p - 1, incumbent, work, watch);
    }

    // Whether no tree with a root test at positions lo..hi is as good as the incumbent.
    bool is_excluded(int k, int lo, int hi, const std::atomic<double>& incumbent,
                     Work& work) const {
        if (!problem_->use.intervals) return false;
        double least = std::numeric_limits<double>::infinity();
        for (int way = 0; way <= tables_.columns()[k].has_missing; ++way)
            least = std::min(least, work.least[way][0][lo] + work.least[way][1][hi + 2]);
        if (!is_too_much(least, incumbent)) return false;
        work.floor = std::min(work.floor, least + problem_->split_cost);
        return true;
    }
    bool is_too_much(double sides, const std::atomic<double>& incumbent) const {
        // Of costs that count as equal, none excludes another.
        const double margin = 4.0 * problem_->tolerance;
        return sides + problem_->split_cost > incumbent.load(std::memory_order_relaxed) + margin;
    }

    // The rows of work.left[depth] against the others, and, where missing values come into it, with
    // them. Of a position that stands `alone`, the right side matters only if the tree may be good.
    void try_position(int k, int position, bool alone, std::size_t depth,
                      std::atomic<double>& incumbent, Work& work) const {
        const int at = position + 1;
        const bool both_ways =
            tables_.columns()[k].has_missing && at + 2 < static_cast<int>(work.begin.size());
        for (int way = 0; way <= both_ways; ++way) {
            // Not by adding to `left` what is taken away afterwards: real numbers would drift.
            const Tables& left = way == 0 ? work.left[depth] : work.left_with_missing;
            for (std::size_t c = 0; way == 1 && c < tables_.all().size(); ++c)
                work.left_with_missing[c] = work.left[depth][c].plus(work.missing[c]);
            const double squares = work.squares[at] + (way == 1 ? work.missing_squares : 0.0);
            const double of_left = squares - tables_.best_tree(left, work.scores).most;
            work.least[way][0][at] = of_left;
            double& right_least = work.least[way][1][at];
            right_least = work.least[way][1][at + 1];
            if (alone && problem_->use.intervals &&
                is_too_much(of_left + right_least, incumbent)) {
                work.floor = std::min(work.floor, of_left + right_least + problem_->split_cost);
                continue;
            }
            for (std::size_t c = 0; c < work.right.size(); ++c)
                work.right[c] = tables_.all()[c].minus(left[c]);
            right_least =
                tables_.squares() - squares - tables_.best_tree(work.right, work.scores).most;
            const double cost = of_left + right_least + problem_->split_cost;
            work.cost[way][at] = cost;
            work.floor = std::min(work.floor, cost);
            lower_to(incumbent, cost);
        }
    }

    static void lower_to(std::atomic<double>& incumbent, double cost) {
        double known = incumbent.load(std::memory_order_relaxed);
        while (cost < known && !incumbent.compare_exchange_weak(known, cost)) {
        }
    }

    const Problem* problem_ = nullptr;
    ValueTables tables_;
};

}  // namespace continuous
}  // namespace sktree_opt
