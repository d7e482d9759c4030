// Tables of pairs of columns with few values, for squared errors; and the best tree of depth two that
// follows from them: exact.
//
// For every pair of columns a table has weight and summed targets by both values (Demirovic et al.,
// "MurTree", JMLR 2022, section 4.2, does so for binary columns). No test divides the node, sorts or
// walks rows: with n rows and m columns of d values it takes n m^2 / 2 additions and m^2 d^2 / 2 steps
// of two divisions.
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

class ValueTables {
public:
    struct Sum {
        double weight = 0.0, target = 0.0;

        void add(const Sum& other) {
            weight += other.weight;
            target += other.target;
        }
        Sum plus(const Sum& other) const { return {weight + other.weight, target + other.target}; }
        Sum minus(const Sum& other) const { return {weight - other.weight, target - other.target}; }
        double saved() const { return weight > 0.0 ? target * target / weight : 0.0; }
    };
    using Tables = std::vector<Sum>;

    struct Column {
        int n_values = 0;
        bool has_missing = false;
        int stride = 0;           // padded number of codes
        std::size_t place = 0;    // of its first code in a line of all columns
        std::size_t width = 0;    // of a line of the columns after it
        std::size_t lines = 0;    // where those of its codes begin, with each of these columns
        // Where the line of a code would begin if the columns before it stood there, too.
        std::size_t line(std::size_t code) const { return lines + code * width; }
        int n_codes() const { return n_values + has_missing; }
    };

    // The best tree of depth two of some rows.
    struct Tree {
        double saved = 0.0;      // of the weighted squares, tests paid
        double most = 0.0;       // what any tree saves: more than `saved` by the tolerance at most
        int column_index = -1;   // of the node's columns; -1: a leaf
        int position = 0;
        bool missing_left = false;
        bool is_split[2] = {false, false};  // whether its children are
    };

    // What one thread works with.
    struct Work {
        // By place in a line, [missing left]: sums up to the code; what is saved below and above it,
        // by code and by lanes of rows.
        std::vector<double> weight[2], sum[2];
        std::vector<double> below[2], above[2], below_rows[2], above_rows[2];
        std::vector<Sum> prefix;             // of one column
        std::vector<double> below_own, above_own;
    };

    static constexpr std::uint32_t MOST_VALUES = PairTask::MOST_CODES - 8;

    explicit ValueTables(InstructionSet set) : scores_(choose_pair_scores(set)) {}

    // Whether tables of a node are worth their while for trees of two levels.
    static bool are_faster(const Problem& problem, const NodeRows& node, int n_splits) {
        if (n_splits < 3 || !can_have(problem, node)) return false;
        double cells = 0.0, walked = 0.0;
        for (const NodeColumn& column : node.columns) {
            cells += stride_of(node, column);
            walked += (column.n_groups + 14) / 16 * (1 + (column.n_present < node.n));
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        return 0.75 * m * m * node.n + cells * cells < 8.0 * walked * m * node.n;
    }

    // Rows, columns, and the tables of all rows. False when a limit ended it.
    bool open(const Problem& problem, const NodeRows& node, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        list_rows();
        list_columns();
        if (!booking_.set(watch.control(), bytes_of(place_) + bytes_of(amount_) + bytes_of(all_)))
            return false;
        for (std::uint32_t row = 0; row < amount_.size(); ++row) add(row, all_);
        squares_ = 0.0;
        for (const double square : square_) squares_ += square;
        return !watch.poll();
    }

    const Tables& all() const { return all_; }
    double squares() const { return squares_; }
    const std::vector<Column>& columns() const { return columns_; }
    std::size_t n_rows() const { return amount_.size(); }
    double square(std::size_t row) const { return square_[row]; }
    int code(std::size_t row, std::size_t k) const {
        return static_cast<int>(place_[row * columns_.size() + k] - columns_[k].place);
    }

    // Little more than an addition for each pair of columns.
    void add(std::uint32_t row, Tables& tables) const {
        const std::size_t m = columns_.size();
        const std::uint16_t* const place = &place_[row * m];
        const Sum amount = amount_[row];
        const auto add_to = [&](std::size_t line, std::size_t k) {
            Sum* const cells = tables.data() + line;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 4
#endif
            for (; k < m; ++k) cells[place[k]].add(amount);
        };
        add_to(0, 0);
        for (std::size_t j = 0; j < m; ++j)
            add_to(columns_[j].line(place[j] - columns_[j].place), j + 1);
    }

    // The tree that saves most of some rows.
    Tree best_tree(const Tables& tables, Work& work) const {
        const std::size_t m = columns_.size();
        begin_scores(tables, work);
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t k = j + 1; k < m; ++k) score(j, k, tables, work);
        Tree best;
        for (std::size_t j = 0; j < m; ++j)
            for (int way = 0; way <= columns_[j].has_missing; ++way)
                improve(static_cast<int>(j), way, tables, work, best);
        return best;
    }

    // Whether there can be tables of a node.
    static bool can_have(const Problem& problem, const NodeRows& node) {
        if (!problem.use.value_sweep || !problem.is_regression() || problem.is_absolute ||
            problem.min_rows > 1.0 || problem.min_weight > 0.0 || node.columns.empty())
            return false;
        double line = 0.0, cells = 0.0;
        for (const NodeColumn& column : node.columns) {
            if (column.is_nominal || column.n_groups > MOST_VALUES) return false;
            cells += line * (column.n_groups + 1.0);
            line += stride_of(node, column);
        }
        return cells * 48.0 < MOST_BYTES;
    }
    static int stride_of(const NodeRows& node, const NodeColumn& column) {
        return static_cast<int>((column.n_groups + (column.n_present < node.n) + 7) / 8 * 8);
    }

private:
    static constexpr double MOST_BYTES = 1 << 25;

    void list_rows() {
        const NodeRows& node = *node_;
        amount_.clear();
        square_.clear();
        for (std::uint32_t row = 0; row < node.n; ++row) {
            const double target = node.weight[row] * node.target[row];
            amount_.push_back({node.weight[row], target});
            square_.push_back(target * node.target[row]);
        }
    }

    // Tables stand one after the other: a line of all columns, by their codes; then for each column
    // and code a line of the columns after it. A row's place in a line is the same in all of them.
    void list_columns() {
        const std::size_t m = node_->columns.size();
        place_.resize(m * amount_.size());
        columns_.clear();
        std::size_t size = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const NodeColumn& column = node_->columns[k];
            columns_.push_back({static_cast<int>(column.n_groups), column.n_present < node_->n,
                                stride_of(*node_, column), size});
            size += columns_.back().stride;
            const std::uint32_t* order = node_->order(k);
            auto place = static_cast<std::uint16_t>(columns_.back().place - 1);
            for (std::uint32_t i = 0; i < node_->n; ++i) {
                if (i == 0 || i == column.n_present || (order[i] & FIRST_OF_GROUP)) ++place;
                place_[(order[i] & ROW_MASK) * m + k] = place;
            }
        }
        line_ = size;
        for (Column& column : columns_) {
            const std::size_t before = column.place + column.stride;
            column.width = line_ - before;
            column.lines = size - before;
            size += column.n_codes() * column.width;
        }
        all_.assign(size, Sum());
    }

    // Of each column alone, and that nothing is known of pairs.
    void begin_scores(const Tables& tables, Work& work) const {
        for (int way = 0; way < 2; ++way) {
            work.weight[way].resize(line_);
            work.sum[way].resize(line_);
            work.below[way].assign(line_, 0.0);
            work.above[way].assign(line_, 0.0);
            work.below_rows[way].assign(line_ * PairTask::ROW_LANES, 0.0);
            work.above_rows[way].assign(line_ * PairTask::ROW_LANES, 0.0);
        }
        for (const Column& column : columns_)
            for (int way = 0; way <= column.has_missing; ++way) {
                const Sum* const own = tables.data() + column.place;
                Sum running = way == 1 ? own[column.n_values] : Sum();
                for (int c = 0; c < column.stride; ++c) {
                    if (way == 0 || c != column.n_values) running.add(own[c]);
                    work.weight[way][column.place + c] = running.weight;
                    work.sum[way][column.place + c] = running.target;
                }
            }
    }

    void score(std::size_t j, std::size_t k, const Tables& tables, Work& work) const {
        const Column& first = columns_[j];
        const Column& second = columns_[k];
        const auto line = [&](std::size_t code) {
            return &tables[first.line(code) + second.place].weight;
        };
        PairTask task;
        task.lines = line(0);
        task.next_line = 2 * static_cast<std::ptrdiff_t>(first.width);
        task.n_second = second.n_codes();
        task.stride = second.stride;
        for (int way = 0; way <= first.has_missing; ++way)
            for (int second_way = 0; second_way <= second.has_missing; ++second_way) {
                task.n_first = way == 0 ? first.n_codes() : first.n_values;
                task.line_before = way == 0 ? nullptr : line(first.n_values);
                task.code_before = second_way == 0 ? -1 : second.n_values;
                task.first_weight = &work.weight[way][first.place];
                task.first_sum = &work.sum[way][first.place];
                task.second_weight = &work.weight[second_way][second.place];
                task.second_sum = &work.sum[second_way][second.place];
                task.total_weight = task.first_weight[first.stride - 1];
                task.total_sum = task.first_sum[first.stride - 1];
                task.below_first = &work.below_rows[way][first.place * PairTask::ROW_LANES];
                task.above_first = &work.above_rows[way][first.place * PairTask::ROW_LANES];
                task.below_second = &work.below[second_way][second.place];
                task.above_second = &work.above[second_way][second.place];
                scores_(task);
            }
    }

    static double largest_of(const std::vector<double>& rows, std::size_t place) {
        const double* const lanes = &rows[place * PairTask::ROW_LANES];
        return *std::max_element(lanes, lanes + PairTask::ROW_LANES);
    }

    // Trees whose first test asks about column j: its leaves, tests of other columns below it (below
    // and above), or of its own. A single leaf, too. `way` 1: with missing values on the left.
    void improve(int j, int way, const Tables& tables, Work& work, Tree& best) const {
        const Column& column = columns_[j];
        const int d = way == 0 ? column.n_codes() : column.n_values;
        list_own_tests(column, way, tables, work);
        const auto leaf = [&](int from, int to) {
            return work.prefix[to].minus(work.prefix[from]).saved();
        };
        const double split_cost = problem_->split_cost, one_leaf = leaf(0, d);
        best.most = std::max(best.most, one_leaf);
        if (one_leaf > best.saved) best = {one_leaf, best.most};
        for (int a = 1; a < d; ++a) {
            const std::size_t place = column.place + a - 1;
            const double below = std::max({work.below[way][place], work.below_own[a],
                                           largest_of(work.below_rows[way], place)}) - split_cost;
            const double above = std::max({work.above[way][place], work.above_own[a],
                                           largest_of(work.above_rows[way], place)}) - split_cost;
            const double leaves[2] = {leaf(0, a), leaf(a, d)};
            const double saved =
                std::max(leaves[0], below) + std::max(leaves[1], above) - split_cost;
            best.most = std::max(best.most, saved);
            if (saved > best.saved + problem_->tolerance)
                best = {saved, best.most, j, a - 1, way == 1,
                        {below > leaves[0], above > leaves[1]}};
        }
    }

    // What a second test of the same column saves below and above its first one, by the codes on the
    // left of that; and `prefix`.
    void list_own_tests(const Column& column, int way, const Tables& tables, Work& work) const {
        const int d = way == 0 ? column.n_codes() : column.n_values;
        const Sum* const own = tables.data() + column.place;
        const Sum missing = column.has_missing ? own[column.n_values] : Sum();
        work.prefix.assign(1, Sum());
        for (int a = 0; a < d; ++a) {
            work.prefix.push_back(work.prefix.back().plus(own[a]));
            if (a == 0 && way == 1) work.prefix.back().add(missing);
        }
        const auto sum = [&](int from, int to) {
            return work.prefix[to].minus(work.prefix[from]);
        };
        work.below_own.assign(d + 1, 0.0);
        work.above_own.assign(d + 1, 0.0);
        for (int a = 1; a < d; ++a) {
            const double below_a = sum(0, a).saved();
            for (int b = a + 1; b < d; ++b) {
                const double between = sum(a, b).saved();
                work.below_own[b] = std::max(work.below_own[b], below_a + between);
                work.above_own[a] = std::max(work.above_own[a], between + sum(b, d).saved());
            }
        }
        if (!column.has_missing) return;
        // The second test has missing values on its other side.
        for (int a = 1; a < d; ++a) {
            for (int b = 1; way == 1 && b <= a; ++b)
                work.below_own[a] = std::max(
                    work.below_own[a],
                    sum(0, b).minus(missing).saved() + sum(b, a).plus(missing).saved());
            for (int b = a + 1; way == 0 && b < d - 1; ++b)
                work.above_own[a] = std::max(
                    work.above_own[a],
                    sum(a, b).plus(missing).saved() + sum(b, d - 1).saved());
        }
    }

    void (*scores_)(const PairTask&);
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
    Booking booking_;
    std::vector<Sum> amount_;              // of each row
    std::vector<double> square_;           // its weighted squares
    std::vector<std::uint16_t> place_;     // [row][column]: of the row's code in a line
    std::vector<Column> columns_;
    std::size_t line_ = 0;                 // places of a line of all columns
    Tables all_;                           // of all rows
    double squares_ = 0.0;
};

}  // namespace continuous
}  // namespace sktree_opt
