// Lower bounds for the trees of depth two of a large node, by column and part of its range, had
// from tables of pairs of binned columns: no pass walks the rows for them.
//
// The values of a numeric column are cut into bins of about as many rows. A test somewhere within a
// bin sends all rows of lower bins to one side and those of higher bins to the other; whatever
// becomes of the bin's own rows, it errs on the others no less than if the bin were not there:
//   errors(test in bin k) >= leaf(rows below bin k) + leaf(rows above bin k).
// With the table of the rows by the bins of two columns and by class, the least of these bounds over
// the tests of one column is known for both sides of every cut between bins of the other. From the
// values at the cuts the interval bounds of _intervals.hpp exclude the root tests between them.
// Nominal columns are binned by category; where there are too many, the rarest share a bin.
//
// A table costs one addition for each row: with m columns m^2 / 2 for each row, which is less than
// one pass for each family (_depth_two.hpp) costs, and no more where values are missing.
//
// For errors of rows of any number of classes and any weights.
//
//   cut, lane     what is on the left of a root test: bins below it; of nominal columns, one bin
//   variant       1: rows that miss the column are on the left, too
//   root, second  columns of the two tests
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/continuous/_families.hpp"
#include "sktree_opt/optimal/continuous/_pass_kernels.hpp"
#include "sktree_opt/optimal/continuous/_stump.hpp"

namespace sktree_opt {
namespace continuous {

// How the groups of a node's column fall into bins; rows that miss it come in one more.
struct ColumnBins {
    int n_bins = 0;
    bool is_nominal = false;
    bool has_missing = false;
    std::vector<int> bin_of_group;
    std::vector<bool> is_wide;   // by bin: whether it has several groups
    std::size_t first_lane = 0;

    int n_raw() const { return n_bins + has_missing; }
    // Of a numeric column the cuts, both ends with them; else bins, and "is it missing?".
    int n_lanes() const { return is_nominal ? n_raw() : n_bins + 1; }
};

// Errors at least, by side, with no test and with one test at most.
struct SideBounds {
    double of[2][2] = {};
};

template <class Sum>
class BinTables {
public:
    explicit BinTables(InstructionSet set) : scores_(choose_bin_scores<Sum>(set)) {}

    // Fills `bounds` ([lane][variant]) of the columns that are `wanted` as roots. False when a limit
    // ended it.
    bool fill(const Problem& problem, const NodeRows& node, const std::vector<ColumnBins>& bins,
              const std::vector<std::uint8_t>& bin_of_row, const std::vector<char>& wanted,
              std::vector<SideBounds>& bounds, Watch& watch) {
        open(problem, node, bins, bin_of_row);
        least_.assign(4 * bounds.size(), most_);
        leaf_.assign(4 * bounds.size(), 0);
        const int m = static_cast<int>(bins.size());
        for (int j = 0; j < m; ++j)
            for (int k = j; k < m; ++k) {
                if (!wanted[j] && !wanted[k]) continue;
                if (watch.walked(node.n)) return false;
                count(j, k);
                const int row = stride_, column = n_classes_;
                if (wanted[j]) score(bins[j], bins[k], row, column, j == k);
                if (wanted[k] && j != k) score(bins[k], bins[j], column, row, false);
            }
        for (std::size_t i = 0; i < bounds.size(); ++i)
            for (int side = 0; side < 2; ++side) {
                const double leaf = static_cast<double>(leaf_[2 * i + side]);
                bounds[i].of[side][0] = leaf;
                bounds[i].of[side][1] = std::min(
                    leaf, static_cast<double>(least_[2 * i + side]) + problem.split_cost);
            }
        return true;
    }

private:
    static constexpr int PADDING = 16;

    void open(const Problem& problem, const NodeRows& node, const std::vector<ColumnBins>& bins,
              const std::vector<std::uint8_t>& bin_of_row) {
        node_ = &node;
        std::vector<int> place(problem.n_classes, 0);
        n_classes_ = 0;
        most_ = 0;
        for (int c = 0; c < problem.n_classes; ++c) {
            most_ += static_cast<Sum>(node.sums[c]);
            if (node.sums[c] > 0.0) place[c] = n_classes_++;
        }
        n_classes_ = std::max(n_classes_, 2);
        most_bins_ = 0;
        for (const ColumnBins& column : bins) most_bins_ = std::max(most_bins_, column.n_raw());
        stride_ = most_bins_ * n_classes_;
        table_.resize(static_cast<std::size_t>(stride_) * most_bins_);
        bin_ = bin_of_row.data();
        const std::size_t n = node.n, m = bins.size();
        cell_.resize(n * m);
        for (std::size_t k = 0; k < m; ++k)
            for (std::size_t row = 0; row < n; ++row)
                cell_[k * n + row] = static_cast<std::uint16_t>(
                    bin_[k * n + row] * n_classes_ + place[node.label[row]]);
        is_unit_ = true;
        for (const double weight : node.weight) is_unit_ = is_unit_ && weight == 1.0;
        weight_.clear();
        if (!is_unit_) weight_.assign(node.weight.begin(), node.weight.end());
    }

    // The table of all rows by the bins of columns j and k and by class.
    void count(int j, int k) {
        std::fill(table_.begin(), table_.end(), Sum(0));
        const std::size_t n = node_->n;
        const std::uint8_t* const first = bin_ + j * n;
        const std::uint16_t* const second = cell_.data() + k * n;
        Sum* const table = table_.data();
        if (is_unit_) {
            for (std::size_t row = 0; row < n; ++row)
                table[first[row] * stride_ + second[row]] += Sum(1);
        } else {
            for (std::size_t row = 0; row < n; ++row)
                table[first[row] * stride_ + second[row]] += weight_[row];
        }
    }

    // Takes in one table; `root_step` and `second_step` lead to the next bin.
    void score(const ColumnBins& root, const ColumnBins& second, int root_step, int second_step,
               bool with_leaves) {
        const int n_slots = (second.n_raw() + PADDING - 1) / PADDING * PADDING;
        task_.n_slots = n_slots;
        task_.n_classes = n_classes_;
        task_.has_holes = second.has_missing;
        task_.n_parts = root.n_lanes();
        task_.most = most_;
        const std::size_t size = task_.part_stride();
        parts_.resize((root.n_lanes() + 2) * size);
        Sum* const parts = parts_.data();
        Sum* const whole = parts + root.n_lanes() * size;
        Sum* const missing = whole + size;
        std::fill(whole, missing + size, Sum(0));
        if (!root.is_nominal) std::fill(parts, parts + size, Sum(0));
        for (int r = 0; r < root.n_bins; ++r) {
            // The bins below a cut.
            Sum* const part = parts + (r + !root.is_nominal) * size;
            sum_up(second, table_.data() + r * root_step, second_step, part);
            Sum* const sums = root.is_nominal ? whole : part;
            const Sum* const more = root.is_nominal ? part : part - size;
            for (std::size_t i = 0; i < size; ++i) sums[i] += more[i];
        }
        if (!root.is_nominal) std::copy(whole - size, whole, whole);
        if (root.has_missing) {
            sum_up(second, table_.data() + root.n_bins * root_step, second_step, missing);
            for (std::size_t i = 0; i < size; ++i) whole[i] += missing[i];
            if (root.is_nominal) std::copy(missing, missing + size, whole - size);
        }
        task_.parts = parts;
        task_.whole = whole;
        task_.missing = root.has_missing ? missing : nullptr;
        task_.least = &least_[4 * root.first_lane];
        scores_(task_);
        if (with_leaves) count_leaves(root);
    }

    // One bin of the root by the tests of the second column.
    void sum_up(const ColumnBins& second, const Sum* cells, int step, Sum* part) const {
        const int n_slots = task_.n_slots;
        for (int c = 0; c < n_classes_; ++c, part += task_.class_stride()) {
            std::fill(part, part + task_.class_stride(), Sum(0));
            Sum total = 0;
            for (int b = 0; b < second.n_bins; ++b) {
                const Sum cell = cells[b * step + c];
                const bool is_wide = second.is_wide[b];
                if (second.is_nominal) {
                    part[b] = is_wide ? Sum(0) : cell;
                    part[n_slots + b] = cell;
                } else {
                    part[b] = total;
                    part[n_slots + b] = is_wide ? total + cell : total;
                }
                total += cell;
            }
            if (second.has_missing) {
                // Missing against present.
                part[second.n_bins] = part[n_slots + second.n_bins] = total;
                const Sum holes = cells[second.n_bins * step + c];
                part[task_.holes_at()] = holes;
                total += holes;
            }
            part[task_.total_at()] = total;
        }
    }

    void count_leaves(const ColumnBins& root) {
        for (int i = 0; i < root.n_lanes(); ++i)
            for (int variant = 0; variant <= root.has_missing; ++variant) {
                Sum all[2] = {0, 0}, most[2] = {0, 0};
                for (int c = 0; c < n_classes_; ++c) {
                    const std::size_t at = c * task_.class_stride() + task_.total_at();
                    Sum left = task_.parts[i * task_.part_stride() + at];
                    if (variant == 1) left += task_.missing[at];
                    const Sum sides[2] = {left, task_.whole[at] - left};
                    for (int side = 0; side < 2; ++side) {
                        all[side] += sides[side];
                        most[side] = std::max(most[side], sides[side]);
                    }
                }
                for (int side = 0; side < 2; ++side)
                    leaf_[4 * (root.first_lane + i) + 2 * variant + side] = all[side] - most[side];
            }
    }

    void (*scores_)(const BinTask<Sum>&);
    BinTask<Sum> task_;
    const NodeRows* node_ = nullptr;
    int n_classes_ = 2, most_bins_ = 0, stride_ = 0;
    bool is_unit_ = true;
    Sum most_ = 0;                      // weight of all rows
    const std::uint8_t* bin_ = nullptr; // [column][row]
    std::vector<std::uint16_t> cell_;   // [column][row]: bin and class
    std::vector<Sum> weight_, table_, parts_;
    std::vector<Sum> least_, leaf_;     // [lane][variant][side]
};

class BinBounds {
public:
    explicit BinBounds(InstructionSet set) : set_(set) {}

    // Whether bounds may save more than they cost.
    static bool is_worthwhile(const Problem& problem, const NodeRows& node) {
        if (!problem.use.bins || !problem.use.intervals || problem.is_regression() ||
            !problem.is_error || problem.n_classes > MOST_CLASSES)
            return false;
        return !problem.use.large_bins ||
               (node.n >= LEAST_ROWS && node.columns.size() >= LEAST_COLUMNS);
    }

    // Bounds of `node`; of columns that are known to cost `cap` or more not again. False when a limit
    // ended it: then they are of no use.
    bool open(const Problem& problem, const NodeRows& node, bool is_whole,
              const std::vector<double>* known, double cap, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        const std::size_t m = node.columns.size();
        bins_.resize(m);
        bin_of_row_.resize(m * node.n);
        std::size_t n_lanes = 0;
        for (std::size_t k = 0; k < m; ++k) {
            if (watch.walked(node.n)) return false;
            bin_column(static_cast<int>(k));
            bins_[k].first_lane = n_lanes;
            n_lanes += bins_[k].n_lanes();
        }
        wanted_.assign(m, 1);
        known_.assign(m, 0.0);
        for (std::size_t k = 0; known != nullptr && k < m; ++k) {
            known_[k] = (*known)[node.columns[k].column];
            wanted_[k] = known_[k] < cap;
        }
        bounds_.assign(2 * n_lanes, SideBounds());
        if (!booking_.set(watch.control(), bytes_of(bin_of_row_) * 3 + bytes_of(bounds_)))
            return false;
        if (is_whole && weight_of(problem, node.sums.data()) < 1e9) {
            if (!whole_) whole_ = std::make_unique<BinTables<std::int32_t>>(set_);
            if (!whole_->fill(problem, node, bins_, bin_of_row_, wanted_, bounds_, watch))
                return false;
        } else {
            if (!real_) real_ = std::make_unique<BinTables<double>>(set_);
            if (!real_->fill(problem, node, bins_, bin_of_row_, wanted_, bounds_, watch))
                return false;
        }
        sum_up();
        return true;
    }

    bool has(int column_index) const { return wanted_[column_index] != 0; }
    const ColumnBins& bins(int column_index) const { return bins_[column_index]; }
    const SideBounds& at(int column_index, int lane, bool missing_left) const {
        return bounds_[2 * (bins_[column_index].first_lane + lane) + missing_left];
    }
    // What every tree of depth two costs at least, and what trees of one test do.
    double lower() const { return lower_; }
    double one_test() const { return one_test_; }
    // Of the trees whose root asks about a column.
    double lower_of(int column_index) const { return known_[column_index]; }

private:
    static constexpr int MOST_BINS = 32, FEWEST_BINS = 8;
    static constexpr int MOST_CLASSES = 8;
    // Rows to the square of the number of bins: tables take about as long as counting them.
    static constexpr double ROWS_TO_SQUARE = 24.0;
    static constexpr std::uint32_t LEAST_ROWS = 3000;
    static constexpr std::size_t LEAST_COLUMNS = 8;

    void bin_column(int k) {
        const NodeColumn& column = node_->columns[k];
        ColumnBins& bins = bins_[k];
        bins.is_nominal = column.is_nominal;
        bins.has_missing = column.n_present < node_->n;
        const std::uint32_t* order = node_->order(k);
        begin_.clear();
        for (std::uint32_t i = 0; i < column.n_present; ++i)
            if (i == 0 || (order[i] & FIRST_OF_GROUP)) begin_.push_back(i);
        begin_.push_back(column.n_present);
        if (column.is_nominal) bin_categories(bins);
        else bin_numbers(bins);
        std::uint8_t* const bin = &bin_of_row_[static_cast<std::size_t>(k) * node_->n];
        for (std::size_t g = 0; g + 1 < begin_.size(); ++g)
            for (std::uint32_t i = begin_[g]; i < begin_[g + 1]; ++i)
                bin[order[i] & ROW_MASK] = static_cast<std::uint8_t>(bins.bin_of_group[g]);
        for (std::uint32_t i = column.n_present; i < node_->n; ++i)
            bin[order[i] & ROW_MASK] = static_cast<std::uint8_t>(bins.n_bins);
    }

    // Of about equal numbers of rows.
    void bin_numbers(ColumnBins& bins) {
        const std::size_t n_groups = begin_.size() - 1;
        const double n_present = begin_.back();
        const int most = std::max(
            FEWEST_BINS, std::min(MOST_BINS, static_cast<int>(std::sqrt(n_present / ROWS_TO_SQUARE))));
        const bool is_each_its_own = n_groups <= static_cast<std::size_t>(most);
        bins.bin_of_group.resize(n_groups);
        bins.is_wide.clear();
        int bin = -1, last = -1;
        for (std::size_t g = 0; g < n_groups; ++g) {
            const int wanted = is_each_its_own
                                   ? static_cast<int>(g)
                                   : static_cast<int>(begin_[g] * most / n_present);
            if (wanted != last) {
                ++bin;
                bins.is_wide.push_back(false);
            } else {
                bins.is_wide.back() = true;
            }
            last = wanted;
            bins.bin_of_group[g] = bin;
        }
        bins.n_bins = bin + 1;
    }

    void bin_categories(ColumnBins& bins) {
        const std::size_t n_groups = begin_.size() - 1;
        bins.bin_of_group.resize(n_groups);
        std::iota(bins.bin_of_group.begin(), bins.bin_of_group.end(), 0);
        bins.n_bins = static_cast<int>(std::min<std::size_t>(n_groups, MOST_BINS));
        bins.is_wide.assign(bins.n_bins, false);
        if (n_groups <= static_cast<std::size_t>(MOST_BINS)) return;
        std::vector<int> by_size(bins.bin_of_group);
        std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
            return begin_[a + 1] - begin_[a] > begin_[b + 1] - begin_[b];
        });
        for (std::size_t i = 0; i < n_groups; ++i)
            bins.bin_of_group[by_size[i]] = std::min<int>(static_cast<int>(i), MOST_BINS - 1);
        bins.is_wide.back() = true;
    }

    // The least of all bounds, by column.
    void sum_up() {
        const double split_cost = problem_->split_cost;
        one_test_ = 0.0;
        lower_ = INFEASIBLE;
        for (std::size_t k = 0; k < bins_.size(); ++k) {
            if (wanted_[k]) known_[k] = std::max(known_[k], least_of(static_cast<int>(k)) + split_cost);
            lower_ = std::min(lower_, known_[k]);
        }
        // All rows on the left.
        for (std::size_t k = 0; k < bins_.size(); ++k)
            if (wanted_[k] && !bins_[k].is_nominal)
                one_test_ = std::max(
                    one_test_, at(static_cast<int>(k), bins_[k].n_bins, bins_[k].has_missing).of[0][1]);
        lower_ = std::min(lower_, one_test_);
    }

    double least_of(int k) const {
        const ColumnBins& bins = bins_[k];
        double least = INFEASIBLE;
        for (int variant = 0; variant <= bins.has_missing; ++variant)
            for (int i = 0; i < bins.n_lanes(); ++i) {
                const SideBounds& here = at(k, i, variant != 0);
                double right = here.of[1][1], left = here.of[0][1];
                if (i < bins.n_bins && bins.is_wide[i]) {
                    if (bins.is_nominal) left = right = 0.0;
                    else right = at(k, i + 1, variant != 0).of[1][1];
                }
                least = std::min(least, left + right);
            }
        return least;
    }

    InstructionSet set_;
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
    Booking booking_;
    std::vector<ColumnBins> bins_;              // by column of the node
    std::vector<std::uint8_t> bin_of_row_;      // [column][row]
    std::vector<std::uint32_t> begin_;          // of the groups of a column, and its end
    std::vector<char> wanted_;                  // by column: whether it has bounds
    std::vector<double> known_;                 // by column
    std::vector<SideBounds> bounds_;            // [lane][variant]
    std::unique_ptr<BinTables<std::int32_t>> whole_;
    std::unique_ptr<BinTables<double>> real_;
    double lower_ = 0.0, one_test_ = 0.0;
};

}  // namespace continuous
}  // namespace sktree_opt
