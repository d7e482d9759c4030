// The approximate cost of the best tree of depth two, in whole numbers and single precision, from
// tables of pairs of columns with few values. It excludes most root tests; ValueTrees solves
// the others, so the answer is exact. With m columns of d values, n m^2 / 2 additions and m^2 d^2 /
// 2 steps of one division.
//
// A second test of the root's own column is that of a pair, too: of the column with itself. With
// missing values on the left of a test their sums are added to those of the lowest value, and the
// same tables serve.
//
// A row's weight w is rounded to a multiple W of a unit, its target t, less the mean, to S = w t
// scale. Both are parts of one number, so one addition adds a row to a cell, or a cell to a sum.
// This takes half the memory and a fourth of the time of two sums in double precision. All sums are
// exact.
//
// Bound on the error. A tree costs the squared distance of the targets from the answers of its
// leaves, in the norm of the weights. Let D be the distance between the targets t and S / W in that
// norm, and Q the squared norm of all targets. With S / W instead of t, the root of the cost
// changes by at most D, and the cost by at most 2 D sqrt(Q) + D^2. Other weights change the cost by
// at most sum |w - W| (range of t)^2, and by at most the share max |w / W - 1|. Squares of sums by
// weights err by about 15 roundings of 2^-24: less than 2^-20 Q. Minima err by no more than the
// numbers that they are taken of.
//
// Errors of two classes come from the same tables: S is the weight W, negative for the first class.
// A leaf errs by (sum of W - |sum of S|) / 2. This is exact if weights are whole and sum to less
// than 2^24.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/thresholds/few_values/pair_layout.hpp"
#include "sktree_opt/optimal/thresholds/kernels/threshold_kernels.hpp"

namespace sktree_opt::thresholds {

class RoughTables {
public:
    using Cells = std::vector<std::uint64_t>;

    // What one thread works with.
    struct RoughWork {
        // By place in a line, [missing left]: sums up to the code; what is saved below and above
        // it.
        std::vector<std::int32_t> weight[2], target[2], rest_weight[2], rest_target[2];
        std::vector<float> below[2], above[2];
        // [missing left], of one column: the same by code and by lanes of rows.
        std::vector<float> below_rows[2], above_rows[2];
        double most_saved = 0.0;  // by the best tree, in whole numbers
    };

    explicit RoughTables(InstructionSet set) : kernels_(choose_kernels(set).rough_pairs) {}

    // Whether tables of a node pay for trees of two levels.
    static bool are_faster(const ThresholdProblem& problem, const ThresholdNode& node,
                           int n_splits) {
        if (n_splits < 3 || !problem.is_regression() || !PairLayout::can_have(problem, node)) {
            return false;
        }
        double cells = 0.0, traversed = 0.0;
        for (const NodeColumn& column : node.columns) {
            cells += PairLayout::stride_of(node, column);
            traversed += static_cast<double>((column.n_groups + 14) / 16 *
                                             (1 + (column.n_present < node.n)));
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        return 0.75 * m * m * node.n + cells * cells < 8.0 * traversed * m * node.n;
    }

    // Rows and the tables of all of them; `has_others`: costs of others than some rows are asked
    // for. False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, const PairLayout& layout,
              const std::vector<std::uint32_t>& rows, bool has_others, Watch& watch) {
        layout_ = &layout;
        has_missing_ = false;
        kept_.assign(layout.line(), ~std::uint64_t(0));
        for (const PairColumn& column : layout.columns()) {
            if (column.has_missing) kept_[column.place + column.n_values] = 0;
            has_missing_ |= column.has_missing;
        }
        is_error_ = !problem.is_regression();
        is_error_ ? round_weights(node) : round_targets(node);
        split_cost_ = problem.split_cost / exact_;
        all_.assign(layout.n_cells(), 0);
        std::int64_t bytes = bytes_of(amount_) + bytes_of(square_) + bytes_of(all_);
        if (!booking_.set(watch.control(), bytes)) return false;
        layout.add(amount_, rows.data(), rows.size(), all_);
        for (int way = 0; way < 2; ++way) {
            for (int second_way = 0; second_way < 2 && has_others; ++second_way) {
                bytes += sum_up(way, second_way);
            }
        }
        return booking_.set(watch.control(), bytes) && !watch.poll();
    }

    void add(const std::uint32_t* rows, std::size_t n, Cells& cells) const {
        layout_->add(amount_, rows, n, cells);
    }
    const Cells& all() const { return all_; }
    // Rounded weighted squares, in the units of costs.
    double square(std::size_t row) const { return square_[row]; }
    double squares() const { return squares_; }

    // The approximate cost of the best tree for the rows in the cells, or for all the others, whose
    // targets have the given sum of squares. It is at most error() away.
    double cost(const Cells& cells, double squares, bool of_others, RoughWork& work) const {
        work.most_saved = most_saved(cells, of_others, work);
        return squares - exact_ * work.most_saved;
    }
    double error() const { return error_; }
    // After cost(): the root tests of trees that cost as much, or more by so little that the best
    // tree may be among them. Only a leaf may be better than all of them.
    void list_good(const RoughWork& work, std::vector<RootTest>& tests) const {
        tests.clear();
        const double least = work.most_saved - 2.0 * error_ / exact_;
        for (std::size_t j = 0; j < layout_->columns().size(); ++j) {
            const PairColumn& column = layout_->columns()[j];
            for (int way = 0; way <= column.has_missing; ++way) {
                for (int a = 0; a + 1 < column.n_codes() - way; ++a) {
                    if (saved_at(column.place + a, way, work) >= least) {
                        tests.push_back({static_cast<int>(j), a, way == 1});
                    }
                }
            }
        }
    }

    // What the best single test of a column saves.
    double saved_by_one(std::size_t k) const {
        const PairColumn& column = layout_->columns()[k];
        std::uint64_t total = 0, left = 0;
        for (int c = 0; c < column.n_codes(); ++c) total += all_[column.own(c)];
        double most = 0.0;
        for (int c = 0; c + 1 < column.n_codes(); ++c) {
            left += all_[column.own(c)];
            most = std::max(most, saved(weight_of(left), target_of(left)) +
                                      saved(weight_of(total - left), target_of(total - left)));
        }
        return exact_ * most;
    }

private:
    static constexpr double LARGEST = 1 << 30;     // differences of sums do not overflow either
    static constexpr double MOST_FLOAT = 1 << 24;  // whole numbers below it are exact floats

    static std::int32_t weight_of(std::uint64_t cell) { return static_cast<std::int32_t>(cell); }
    static std::int32_t target_of(std::uint64_t cell) {
        return static_cast<std::int32_t>(cell >> 32);
    }
    double saved(std::int32_t weight, std::int32_t target) const {
        if (is_error_) return std::fabs(static_cast<double>(target));
        return weight > 0 ? static_cast<double>(target) * target / weight : 0.0;
    }

    void round_weights(const ThresholdNode& node) {
        double weight = 0.0;
        bool whole = true;
        for (std::uint32_t row = 0; row < node.n; ++row) {
            weight += node.weight[row];
            whole = whole && node.weight[row] == std::floor(node.weight[row]);
        }
        const double unit = whole && weight < LARGEST ? 1.0 : std::max(weight, 1e-290) / LARGEST;
        exact_ = unit / 2.0;
        amount_.resize(node.n);
        square_.resize(node.n);
        squares_ = 0.0;
        error_ = weight < unit * MOST_FLOAT ? 0.0 : std::ldexp(weight, -20);
        for (std::uint32_t row = 0; row < node.n; ++row) {
            const auto units = static_cast<std::int64_t>(std::nearbyint(node.weight[row] / unit));
            const std::int64_t target = node.label[row] == 0 ? -units : units;
            amount_[row] = (static_cast<std::uint64_t>(target) << 32) + units;
            square_[row] = exact_ * static_cast<double>(units);
            squares_ += square_[row];
            error_ += std::fabs(node.weight[row] - unit * static_cast<double>(units));
        }
    }

    void round_targets(const ThresholdNode& node) {
        double weight = 0.0, target = 0.0, sum = 0.0;
        bool whole = true;
        for (std::uint32_t row = 0; row < node.n; ++row) {
            weight += node.weight[row];
            target += node.weight[row] * node.target[row];
            whole = whole && node.weight[row] == std::floor(node.weight[row]);
        }
        const double unit = whole && weight < LARGEST ? 1.0 : std::max(weight, 1e-290) / LARGEST;
        const double mean = weight > 0.0 ? target / weight : 0.0;
        for (std::uint32_t row = 0; row < node.n; ++row) {
            sum += node.weight[row] * std::fabs(node.target[row] - mean);
        }
        // Rounding adds a half for each row at most.
        const double scale = sum > 1e-290 ? (LARGEST - node.n) / sum : 1.0;
        exact_ = 1.0 / scale / scale / unit;
        amount_.resize(node.n);
        square_.resize(node.n);
        squares_ = 0.0;
        double moved = 0.0, weights_moved = 0.0, share_moved = 0.0;
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (std::uint32_t row = 0; row < node.n; ++row) {
            const double w = node.weight[row], t = node.target[row] - mean;
            const double units = std::nearbyint(w / unit);
            const double scaled = units > 0.0 ? std::nearbyint(w * t * scale) : 0.0;
            amount_[row] = (static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled)) << 32) +
                           static_cast<std::uint64_t>(units);
            square_[row] = units > 0.0 ? scaled * scaled / units * exact_ : 0.0;
            squares_ += square_[row];
            weights_moved += std::fabs(w - units * unit);
            least = std::min(least, t);
            most = std::max(most, t);
            if (w == 0.0) continue;
            share_moved = units > 0.0 ? std::max(share_moved, std::fabs(w / (units * unit) - 1.0))
                                      : std::numeric_limits<double>::infinity();
            if (units == 0.0) continue;
            const double distance = t - scaled / (units * unit * scale);
            moved += units * unit * distance * distance;
        }
        const double norm = std::sqrt(squares_), away = std::sqrt(moved);
        const double by_range = weights_moved * (most - least) * (most - least);
        const double by_share = share_moved * (norm + away) * (norm + away);
        error_ = std::ldexp(squares_, -20) + 2.0 * away * norm + moved +
                 std::min(by_range, share_moved < 0.5 ? by_share : by_range);
    }

    // Sums up to both codes of all rows, with missing values of the first and of the second column
    // on the right or on the left. Returns their bytes.
    std::int64_t sum_up(int way, int second_way) {
        Cells& whole = whole_[way][second_way];
        whole.resize(way + second_way == 0 || has_missing_ ? layout_->n_cells() : 0);
        if (whole.empty()) return 0;
        const std::size_t m = layout_->columns().size();
        for (std::size_t j = 0; j < m; ++j) {
            const PairColumn& first = layout_->columns()[j];
            if (way > first.has_missing) continue;
            for (std::size_t k = j; k < m; ++k) {
                const PairColumn& second = layout_->columns()[k];
                if (second_way > second.has_missing) continue;
                std::uint64_t line[RoughPairTask::MOST_STRIDE] = {};
                const auto add_line = [&](int code) {
                    const std::uint64_t* const cells =
                        all_.data() + first.line(code) + second.place;
                    std::uint64_t running = second_way == 1 ? cells[second.n_values] : 0;
                    for (int b = 0; b < second.stride; ++b) {
                        if (b < second.n_codes() - second_way) running += cells[b];
                        line[b] += running;
                    }
                };
                if (way == 1) add_line(first.n_values);
                for (int a = 0; a < first.n_codes() - way; ++a) {
                    add_line(a);
                    std::copy(line, line + second.stride,
                              whole.data() + first.line(a) + second.place);
                }
            }
        }
        return bytes_of(whole);
    }

    double most_saved(const Cells& cells, bool of_others, RoughWork& work) const {
        begin_scores(cells, of_others, work);
        double most = 0.0;
        const std::size_t m = layout_->columns().size();
        for (std::size_t j = 0; j < m; ++j) {
            const PairColumn& first = layout_->columns()[j];
            for (int way = 0; way <= first.has_missing; ++way) {
                const std::size_t n = first.stride * RoughPairTask::ROW_LANES;
                work.below_rows[way].assign(n, 0.0f);
                work.above_rows[way].assign(n, 0.0f);
            }
            for (std::size_t k = j; k < m; ++k) score(j, k, cells, of_others, work);
            // Now all pairs of column j are known.
            for (int way = 0; way <= first.has_missing; ++way) {
                most = std::max(most, most_of_column(first, way, work));
            }
        }
        return most;
    }

    // Sums of each column alone; resets what is known of pairs.
    void begin_scores(const Cells& cells, bool of_others, RoughWork& work) const {
        for (int way = 0; way <= has_missing_; ++way) {
            work.weight[way].resize(layout_->line());
            work.target[way].resize(layout_->line());
            work.rest_weight[way].resize(layout_->line());
            work.rest_target[way].resize(layout_->line());
            work.below[way].assign(layout_->line(), 0.0f);
            work.above[way].assign(layout_->line(), 0.0f);
        }
        for (const PairColumn& column : layout_->columns()) {
            for (int way = 0; way <= column.has_missing; ++way) {
                const auto own = [&](int c) {
                    const std::uint64_t cell = cells[column.own(c)];
                    return of_others ? all_[column.own(c)] - cell : cell;
                };
                std::uint64_t running = way == 1 ? own(column.n_values) : 0;
                for (int c = 0; c < column.stride; ++c) {
                    if (c < column.n_codes() - way) running += own(c);
                    work.weight[way][column.place + c] = weight_of(running);
                    work.target[way][column.place + c] = target_of(running);
                }
                // Beyond the last code stand the sums of all.
                const std::size_t first = column.place, last = first + column.stride - 1;
                for (std::size_t at = first; at <= last; ++at) {
                    work.rest_weight[way][at] = work.weight[way][last] - work.weight[way][at];
                    work.rest_target[way][at] = work.target[way][last] - work.target[way][at];
                }
            }
        }
    }

    void score(std::size_t j, std::size_t k, const Cells& cells, bool of_others,
               RoughWork& work) const {
        const PairColumn& first = layout_->columns()[j];
        const PairColumn& second = layout_->columns()[k];
        const std::size_t at = first.line(0) + second.place;
        RoughPairTask task;
        task.lines = cells.data() + at;
        task.next_line = static_cast<std::ptrdiff_t>(first.width);
        task.n_second = second.n_codes();
        for (int way = 0; way <= first.has_missing; ++way) {
            for (int second_way = 0; second_way <= second.has_missing; ++second_way) {
                if (of_others) task.whole = whole_[way][second_way].data() + at;
                task.n_first = first.n_codes() - way;
                task.line_before =
                    way == 0 ? nullptr : task.lines + first.n_values * task.next_line;
                task.code_before = second_way == 0 ? -1 : second.n_values;
                task.kept = second_way == 0 ? nullptr : &kept_[second.place];
                task.first_weight = &work.weight[way][first.place];
                task.first_target = &work.target[way][first.place];
                task.second_weight = &work.weight[second_way][second.place];
                task.second_target = &work.target[second_way][second.place];
                task.rest_weight = &work.rest_weight[way][first.place];
                task.rest_target = &work.rest_target[way][first.place];
                task.below_first = work.below_rows[way].data();
                task.above_first = work.above_rows[way].data();
                task.below_second = &work.below[second_way][second.place];
                task.above_second = &work.above[second_way][second.place];
                (is_error_ ? kernels_.errors : kernels_.squares)[of_others](task);
            }
        }
    }

    // The largest saving of the trees whose first test is on a column, or of a single leaf.
    double most_of_column(const PairColumn& column, int way, RoughWork& work) const {
        const int n_positions = column.n_codes() - way - 1;
        kernels_.largest_of_rows(work.below_rows[way].data(), n_positions,
                                 &work.below[way][column.place]);
        kernels_.largest_of_rows(work.above_rows[way].data(), n_positions,
                                 &work.above[way][column.place]);
        const std::size_t last = column.place + column.stride - 1;
        double most = saved(work.weight[way][last], work.target[way][last]);
        for (int a = 0; a < n_positions; ++a) {
            most = std::max(most, saved_at(column.place + a, way, work));
        }
        return most;
    }
    // Trees with one root test: its leaves, or second tests on either side.
    double saved_at(std::size_t at, int way, const RoughWork& work) const {
        const double left = saved(work.weight[way][at], work.target[way][at]);
        const double right = saved(work.rest_weight[way][at], work.rest_target[way][at]);
        return std::max(left, work.below[way][at] - split_cost_) +
               std::max(right, work.above[way][at] - split_cost_) - split_cost_;
    }

    RoughPairKernels kernels_;
    const PairLayout* layout_ = nullptr;
    Booking booking_;
    bool is_error_ = false;              // of two classes, not squared
    bool has_missing_ = false;           // any column
    Cells kept_;                         // by place in a line: 0 for missing values, else all bits
    std::vector<std::uint64_t> amount_;  // of each row
    std::vector<double> square_;         // what it costs if nothing is saved
    double squares_ = 0.0;
    double exact_ = 1.0;       // costs in one of whole numbers
    double split_cost_ = 0.0;  // in whole numbers
    double error_ = 0.0;
    Cells all_;          // of all rows
    Cells whole_[2][2];  // [missing left][of the second]: sums up to both codes
};

}  // namespace sktree_opt::thresholds
