// Lower bounds for the trees of depth two of a large node, by column and part of its range, from
// tables of pairs of binned columns. No pass over the rows is needed.
//
// The values of a numeric column are cut into bins of about as many rows. A test somewhere within a
// bin sends all rows of lower bins to one side and those of higher bins to the other; whatever
// becomes of the bin's own rows, it errs on the others no less than if the bin were not there:
//   errors(test in bin k) >= leaf(rows below bin k) + leaf(rows above bin k).
// With the table of the rows by the bins of two columns and by class, the least of these bounds
// over the tests of one column is known for both sides of every cut between bins of the other. From
// the values at the cuts the interval bounds of intervals.hpp exclude the root tests between them.
// Nominal columns are binned by category; where there are too many, the rarest share a bin.
//
// A table costs one addition for each row: with m columns m^2 / 2 for each row, which is less than
// one pass for each family (depth_two_passes.hpp) costs, and no more where values are missing.
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

#include "sktree_opt/optimal/thresholds/families.hpp"
#include "sktree_opt/optimal/thresholds/kernels/kernels.hpp"
#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/stump.hpp"

namespace sktree_opt::thresholds {

// The values of a node's columns in bins, and what bounds by bins say of trees of depth two.
//
// Numeric columns are cut into bins of about as many rows. Nominal ones are binned by category;
// where there are too many, the rarest share a bin. Rows that miss a column have a bin of their
// own.

// How the groups of a node's column fall into bins; rows that miss it come in one more.
struct ColumnBins {
    int n_bins = 0;
    bool is_nominal = false;
    bool has_missing = false;
    std::vector<std::uint8_t> bin_of_group;
    std::vector<bool> is_wide;   // by bin: whether it has several groups
    std::size_t first_lane = 0;  // of the node's lanes

    int n_raw() const { return n_bins + has_missing; }
    // Numeric columns: the cuts, including both ends. Nominal columns: the bins, and "is it
    // missing?".
    int n_lanes() const { return is_nominal ? n_raw() : n_bins + 1; }
};

// Errors at least, by side, with no test and with one test at most.
struct SideBounds {
    double of[2][2] = {};
};

class NodeBins {
public:
    std::vector<ColumnBins> columns;   // of the node
    std::vector<std::uint8_t> of_row;  // [column][row]
    std::size_t n_lanes = 0;

    // False when a limit ended it.
    bool open(const ThresholdNode& node, Watch& watch) {
        node_ = &node;
        const std::size_t m = node.columns.size();
        columns.resize(m);
        of_row.resize(m * node.n);
        n_lanes = 0;
        for (std::size_t k = 0; k < m; ++k) {
            if (watch.walked(node.n)) return false;
            bin_column(static_cast<int>(k));
            columns[k].first_lane = n_lanes;
            n_lanes += columns[k].n_lanes();
        }
        return booking_.set(watch.control(), bytes_of(of_row));
    }

private:
    static constexpr std::size_t MOST_BINS = 32;
    static constexpr int FEWEST_BINS = 8;
    // Rows to the square of the number of bins: tables take about as long as counting them.
    static constexpr double ROWS_TO_SQUARE = 24.0;

    void bin_column(int k) {
        const NodeColumn& column = node_->columns[k];
        ColumnBins& bins = columns[k];
        bins.is_nominal = column.is_nominal;
        bins.has_missing = column.n_present < node_->n;
        const std::uint32_t* order = node_->order(k);
        begin_.clear();
        for (std::uint32_t i = 0; i < column.n_present; ++i) {
            if (i == 0 || (order[i] & FIRST_OF_GROUP)) begin_.push_back(i);
        }
        begin_.push_back(column.n_present);
        if (column.is_nominal) bin_categories(bins);
        else bin_numbers(bins);
        std::uint8_t* const bin = &of_row[static_cast<std::size_t>(k) * node_->n];
        for (std::size_t g = 0; g + 1 < begin_.size(); ++g) {
            for (std::uint32_t i = begin_[g]; i < begin_[g + 1]; ++i) {
                bin[order[i] & ROW_MASK] = static_cast<std::uint8_t>(bins.bin_of_group[g]);
            }
        }
        for (std::uint32_t i = column.n_present; i < node_->n; ++i) {
            bin[order[i] & ROW_MASK] = static_cast<std::uint8_t>(bins.n_bins);
        }
    }

    // Of about equal numbers of rows.
    void bin_numbers(ColumnBins& bins) {
        const std::size_t n_groups = begin_.size() - 1;
        const double n_present = begin_.back();
        const int affordable = static_cast<int>(std::sqrt(n_present / ROWS_TO_SQUARE));
        const int most = std::max(FEWEST_BINS, std::min<int>(MOST_BINS, affordable));
        const bool is_each_its_own = n_groups <= static_cast<std::size_t>(most);
        bins.bin_of_group.resize(n_groups);
        bins.is_wide.clear();
        int bin = -1, last = -1;
        for (std::size_t g = 0; g < n_groups; ++g) {
            const int wanted = is_each_its_own ? static_cast<int>(g)
                                               : static_cast<int>(begin_[g] * most / n_present);
            if (wanted != last) {
                ++bin;
                bins.is_wide.push_back(false);
            } else {
                bins.is_wide.back() = true;
            }
            last = wanted;
            bins.bin_of_group[g] = static_cast<std::uint8_t>(bin);
        }
        bins.n_bins = bin + 1;
    }

    void bin_categories(ColumnBins& bins) {
        const std::size_t n_groups = begin_.size() - 1;
        bins.bin_of_group.resize(n_groups);
        bins.n_bins = static_cast<int>(std::min<std::size_t>(n_groups, MOST_BINS));
        bins.is_wide.assign(bins.n_bins, false);
        std::vector<std::size_t> turn(n_groups);
        std::iota(turn.begin(), turn.end(), 0);
        if (n_groups > MOST_BINS) {
            std::stable_sort(turn.begin(), turn.end(), [&](std::size_t a, std::size_t b) {
                return begin_[a + 1] - begin_[a] > begin_[b + 1] - begin_[b];
            });
        }
        for (std::size_t i = 0; i < n_groups; ++i) {
            bins.bin_of_group[turn[i]] =
                static_cast<std::uint8_t>(std::min<std::size_t>(i, MOST_BINS - 1));
        }
        if (n_groups > MOST_BINS) bins.is_wide.back() = true;
    }

    const ThresholdNode* node_ = nullptr;
    Booking booking_;
    std::vector<std::uint32_t> begin_;  // of the groups of a column, and its end
};

// Lower bound on the errors of any depth-two tree of a node, by lane; or for a part of its lanes
// only.
class TreeBounds {
public:
    // `bounds`: [lane][variant]; `known` and `wanted` by column of the node: what is known without
    // bins, and whether these say anything.
    void sum_up(const NodeBins& bins, const SideBounds* bounds, double split_cost,
                const std::vector<char>& wanted, std::vector<double> known) {
        by_column = std::move(known);
        one_test = 0.0;
        lower = INFEASIBLE;
        for (std::size_t k = 0; k < bins.columns.size(); ++k) {
            const ColumnBins& column = bins.columns[k];
            const SideBounds* const own = bounds + 2 * column.first_lane;
            if (wanted[k]) {
                by_column[k] = std::max(by_column[k], least_of(column, own) + split_cost);
                // All rows on the left.
                if (!column.is_nominal) {
                    one_test =
                        std::max(one_test, own[2 * column.n_bins + column.has_missing].of[0][1]);
                }
            }
            lower = std::min(lower, by_column[k]);
        }
        lower = std::min(lower, one_test);
    }

    double lower = 0.0;             // of all trees
    double one_test = 0.0;          // of those of one test
    std::vector<double> by_column;  // of those whose root asks about a column of the node

private:
    static double least_of(const ColumnBins& column, const SideBounds* own) {
        double least = INFEASIBLE;
        for (int variant = 0; variant <= column.has_missing; ++variant) {
            for (int i = 0; i < column.n_lanes(); ++i) {
                double left = own[2 * i + variant].of[0][1], right = own[2 * i + variant].of[1][1];
                if (i < column.n_bins && column.is_wide[i]) {
                    // One of its categories: of the others of this bin nothing is known.
                    if (column.is_nominal) left = 0.0;
                    else right = own[2 * (i + 1) + variant].of[1][1];
                }
                least = std::min(least, left + right);
            }
        }
        return least;
    }
};

// Tables of pairs of binned columns, and the bounds that they give: see bin_bounds.hpp.

// The two sides of tests of one column: below each cut between bins, or one category.
struct SweepPlan {
    int column_index = 0;
    std::vector<int> cuts;            // numeric: numbers of bins below
    std::vector<std::uint32_t> ends;  // of the segments in the column's order: up to each cut or
                                      // of each category, and of what is left of the present rows
    int n_tests = 0;                  // cuts, or categories and "is it missing?"
    bool has_missing = false;

    std::size_t side(int test, int variant, int b) const { return 4 * test + 2 * variant + b; }
    std::size_t n_sides() const { return std::size_t{4} * n_tests; }
};

template <class Sum>
class BinTables {
public:
    explicit BinTables(InstructionSet set) : scores_(choose_kernels(set).bin_scores<Sum>()) {}

    void open(const ThresholdProblem& problem, const ThresholdNode& node, const NodeBins& bins) {
        problem_ = &problem;
        node_ = &node;
        bins_ = &bins;
        std::vector<int> place(problem.n_classes, 0);
        n_classes_ = 0;
        most_ = 0;
        for (int c = 0; c < problem.n_classes; ++c) {
            most_ += static_cast<Sum>(node.sums[c]);
            if (node.sums[c] > 0.0) place[c] = n_classes_++;
        }
        n_classes_ = std::max(n_classes_, 2);
        int most_bins = 0;
        for (const ColumnBins& column : bins.columns) {
            most_bins = std::max(most_bins, column.n_raw());
        }
        stride_ = most_bins * n_classes_;
        table_.resize(static_cast<std::size_t>(stride_) * most_bins);
        const std::size_t n = node.n, m = bins.columns.size();
        cell_.resize(n * m);
        for (std::size_t k = 0; k < m; ++k) {
            for (std::size_t row = 0; row < n; ++row) {
                cell_[k * n + row] = static_cast<std::uint16_t>(
                    bins.of_row[k * n + row] * n_classes_ + place[node.label[row]]);
            }
        }
        bool is_unit = true;
        for (const double weight : node.weight) is_unit = is_unit && weight == 1.0;
        weight_.clear();
        if (!is_unit) weight_.assign(node.weight.begin(), node.weight.end());
    }

    // Fills `bounds` ([lane][variant]) of the columns that are `wanted` as roots. False when a
    // limit ended it.
    bool fill(const std::vector<char>& wanted, std::vector<SideBounds>& bounds, Watch& watch) {
        const std::vector<ColumnBins>& columns = bins_->columns;
        bounds.resize(2 * bins_->n_lanes);
        clear(2 * bounds.size());
        const int m = static_cast<int>(columns.size());
        const std::size_t n = node_->n;
        for (int j = 0; j < m; ++j) {
            for (int k = j; k < m; ++k) {
                if (!wanted[j] && !wanted[k]) continue;
                if (watch.walked(node_->n)) return false;
                count(&bins_->of_row[j * n], &cell_[k * n], weight_.data(), 0, node_->n);
                for (int turn = 0; turn <= (j != k); ++turn) {
                    const int root = turn == 0 ? j : k;
                    if (!wanted[root]) continue;
                    set_task(columns[root], columns[turn == 0 ? k : j]);
                    parts_.resize(n_sums());
                    prepare(columns[root], columns[turn == 0 ? k : j], turn != 0, parts_.data());
                    score(columns[root], parts_.data(), 0, j == k);
                }
            }
        }
        read(bounds);
        return true;
    }

    // The same for both sides of the tests of a column, from one count of all rows: `bounds` is
    // [side of a test][lane][variant].
    bool sweep(const SweepPlan& plan, std::vector<SideBounds>& bounds, Watch& watch) {
        const std::vector<ColumnBins>& columns = bins_->columns;
        bounds.resize(plan.n_sides() * 2 * bins_->n_lanes);
        clear(2 * bounds.size());
        sort_rows(plan.column_index);
        const int m = static_cast<int>(columns.size());
        const std::size_t n = node_->n;
        const std::size_t n_segments = plan.ends.size() + plan.has_missing;
        for (int j = 0; j < m; ++j) {
            for (int k = j; k < m; ++k) {
                if (watch.walked(node_->n)) return false;
                for (int turn = 0; turn <= (j != k); ++turn) {
                    set_task(columns[turn == 0 ? j : k], columns[turn == 0 ? k : j]);
                    segments_[turn].resize(n_segments * n_sums());
                }
                std::uint32_t begin = 0;
                for (std::size_t s = 0; s < n_segments; ++s) {
                    const std::uint32_t end = s < plan.ends.size() ? plan.ends[s] : node_->n;
                    count(&sorted_bin_[j * n], &sorted_cell_[k * n], sorted_weight_.data(), begin,
                          end);
                    begin = end;
                    for (int turn = 0; turn <= (j != k); ++turn) {
                        const ColumnBins& root = columns[turn == 0 ? j : k];
                        const ColumnBins& second = columns[turn == 0 ? k : j];
                        set_task(root, second);
                        prepare(root, second, turn != 0, &segments_[turn][s * n_sums()]);
                    }
                }
                for (int turn = 0; turn <= (j != k); ++turn) {
                    set_task(columns[turn == 0 ? j : k], columns[turn == 0 ? k : j]);
                    score_sides(plan, columns[turn == 0 ? j : k], segments_[turn], j == k);
                }
            }
        }
        read(bounds);
        return true;
    }

    std::int64_t n_bytes() const {
        return bytes_of(cell_) + bytes_of(weight_) + bytes_of(sorted_bin_) +
               bytes_of(sorted_cell_) + bytes_of(sorted_weight_) + bytes_of(least_) +
               bytes_of(leaf_);
    }

private:
    static constexpr int PADDING = 16;

    void clear(std::size_t size) {
        least_.assign(size, most_);
        leaf_.assign(size, Sum(0));
    }

    void read(std::vector<SideBounds>& bounds) const {
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            for (int side = 0; side < 2; ++side) {
                const double leaf = static_cast<double>(leaf_[2 * i + side]);
                bounds[i].of[side][0] = leaf;
                bounds[i].of[side][1] = std::min(
                    leaf, static_cast<double>(least_[2 * i + side]) + problem_->split_cost);
            }
        }
    }

    // Bins and cells in the order of a column, so that the rows of a segment are together.
    void sort_rows(int column_index) {
        const std::size_t n = node_->n, m = bins_->columns.size();
        const std::uint32_t* const order = node_->order(column_index);
        sorted_bin_.resize(n * m);
        sorted_cell_.resize(n * m);
        for (std::size_t k = 0; k < m; ++k) {
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t row = k * n + (order[i] & ROW_MASK);
                sorted_bin_[k * n + i] = bins_->of_row[row];
                sorted_cell_[k * n + i] = cell_[row];
            }
        }
        sorted_weight_.resize(weight_.size());
        for (std::size_t i = 0; i < weight_.size(); ++i) {
            sorted_weight_[i] = weight_[order[i] & ROW_MASK];
        }
    }

    // The table of rows begin..end by the bins of two columns and by class.
    void count(const std::uint8_t* first, const std::uint16_t* second, const Sum* weight,
               std::uint32_t begin, std::uint32_t end) {
        std::fill(table_.begin(), table_.end(), Sum(0));
        Sum* const table = table_.data();
        const int stride = stride_;
        if (weight_.empty()) {
            for (std::uint32_t i = begin; i < end; ++i) {
                table[first[i] * stride + second[i]] += Sum(1);
            }
        } else {
            for (std::uint32_t i = begin; i < end; ++i) {
                table[first[i] * stride + second[i]] += weight[i];
            }
        }
    }

    void set_task(const ColumnBins& root, const ColumnBins& second) {
        task_.n_slots = (second.n_raw() + PADDING - 1) / PADDING * PADDING;
        task_.n_classes = n_classes_;
        task_.has_holes = second.has_missing;
        task_.n_parts = root.n_lanes();
        task_.most = most_;
    }

    // A node's lanes, then all its rows, then those that miss the root's column.
    std::size_t n_sums() const {
        return static_cast<std::size_t>(task_.n_parts + 2) * task_.part_stride();
    }

    // Such sums from the table; `is_turned`: its columns belong to the root.
    void prepare(const ColumnBins& root, const ColumnBins& second, bool is_turned,
                 Sum* parts) const {
        const int root_step = is_turned ? n_classes_ : stride_;
        const int second_step = is_turned ? stride_ : n_classes_;
        const std::size_t size = task_.part_stride();
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
        if (!root.has_missing) return;
        sum_up(second, table_.data() + root.n_bins * root_step, second_step, missing);
        for (std::size_t i = 0; i < size; ++i) whole[i] += missing[i];
        if (root.is_nominal) std::copy(missing, missing + size, whole - size);
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

    // Takes in the sums of one node; `place`: where its lanes begin.
    void score(const ColumnBins& root, const Sum* parts, std::size_t place, bool with_leaves) {
        const std::size_t size = task_.part_stride();
        task_.parts = parts;
        task_.whole = parts + root.n_lanes() * size;
        task_.missing = root.has_missing ? task_.whole + size : nullptr;
        task_.least = &least_[4 * (place + root.first_lane)];
        scores_(task_);
        if (with_leaves) count_leaves(root, &leaf_[4 * (place + root.first_lane)]);
    }

    // Sums are linear in rows: those of a side are those of its segments.
    void score_sides(const SweepPlan& plan, const ColumnBins& root,
                     const std::vector<Sum>& segments, bool with_leaves) {
        const std::size_t size = n_sums(), n_present = plan.ends.size();
        const Sum* const missing = plan.has_missing ? &segments[n_present * size] : nullptr;
        const bool is_chain = !plan.cuts.empty();
        whole_.assign(segments.begin(), segments.begin() + size);
        for (std::size_t s = 1; s < n_present + plan.has_missing; ++s) {
            for (std::size_t i = 0; i < size; ++i) whole_[i] += segments[s * size + i];
        }
        left_.assign(size, Sum(0));
        right_.resize(size);
        for (int test = 0; test < plan.n_tests; ++test) {
            const Sum* const own = &segments[test * size];
            if (is_chain) {
                for (std::size_t i = 0; i < size; ++i) {
                    left_[i] += own[i];
                }
            } else {
                std::copy(own, own + size, left_.begin());
            }
            const bool asks_for_missing = own == missing;
            for (int variant = 0; variant <= (plan.has_missing && !asks_for_missing); ++variant) {
                for (std::size_t i = 0; variant == 1 && i < size; ++i) left_[i] += missing[i];
                for (std::size_t i = 0; i < size; ++i) right_[i] = whole_[i] - left_[i];
                for (int side = 0; side < 2; ++side) {
                    score(root, side == 0 ? left_.data() : right_.data(),
                          plan.side(test, variant, side) * bins_->n_lanes, with_leaves);
                }
            }
            if (plan.has_missing && !asks_for_missing) {
                for (std::size_t i = 0; i < size; ++i) left_[i] -= missing[i];
            }
        }
    }

    void count_leaves(const ColumnBins& root, Sum* leaf) const {
        for (int i = 0; i < root.n_lanes(); ++i) {
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
                for (int side = 0; side < 2; ++side) {
                    leaf[4 * i + 2 * variant + side] = all[side] - most[side];
                }
            }
        }
    }

    void (*scores_)(const BinTask<Sum>&);
    BinTask<Sum> task_;
    const ThresholdProblem* problem_ = nullptr;
    const ThresholdNode* node_ = nullptr;
    const NodeBins* bins_ = nullptr;
    int n_classes_ = 2, stride_ = 0;
    Sum most_ = 0;                     // weight of all rows
    std::vector<std::uint16_t> cell_;  // [column][row]: bin and class
    std::vector<Sum> weight_;          // by row; empty when all 1
    std::vector<std::uint8_t> sorted_bin_;
    std::vector<std::uint16_t> sorted_cell_;
    std::vector<Sum> sorted_weight_;
    std::vector<Sum> table_, parts_, segments_[2], whole_, left_, right_;
    std::vector<Sum> least_, leaf_;  // [lane][variant][side]
};

// Bounds on the two sides of the tests of a column, from a sweep.
struct SweptTests {
    SweepPlan plan;
    std::vector<TreeBounds> sides;  // see SweepPlan::side()
    std::vector<int> positions;     // of the cuts in a chain
};

class BinBounds {
public:
    explicit BinBounds(InstructionSet set) : set_(set) {}

    // Whether bounds may save more than they cost.
    static bool is_worthwhile(const ThresholdProblem& problem, const ThresholdNode& node) {
        if (!problem.use.bins || !problem.use.intervals || problem.is_regression() ||
            !problem.is_error || problem.n_classes > MOST_CLASSES) {
            return false;
        }
        return !problem.use.large_bins ||
               (node.n >= LEAST_ROWS && node.columns.size() >= LEAST_COLUMNS);
    }

    // Bounds of `node`; of columns that are known to cost `cap` or more not again. False when a
    // limit ended it: then they are of no use.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, bool is_whole,
              const std::vector<double>* known, double cap, Watch& watch) {
        if (!begin(problem, node, is_whole, watch)) return false;
        const std::size_t m = node.columns.size();
        std::vector<double> known_here(m, 0.0);
        for (std::size_t k = 0; known != nullptr && k < m; ++k) {
            known_here[k] = (*known)[node.columns[k].column];
            wanted_[k] = known_here[k] < cap;
        }
        const bool is_done =
            whole_ ? whole_->fill(wanted_, bounds_, watch) : real_->fill(wanted_, bounds_, watch);
        if (!is_done || !book(watch)) return false;
        trees_.sum_up(bins_, bounds_.data(), problem.split_cost, wanted_, std::move(known_here));
        return true;
    }

    // Before sweep(). False when a limit ended it.
    bool begin(const ThresholdProblem& problem, const ThresholdNode& node, bool is_whole,
               Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        if (!bins_.open(node, watch)) return false;
        wanted_.assign(node.columns.size(), 1);
        if (is_whole && weight_of(problem, node.sums.data()) < 1e9) {
            real_.reset();
            if (!whole_) whole_ = std::make_unique<BinTables<std::int32_t>>(set_);
            whole_->open(problem, node, bins_);
        } else {
            whole_.reset();
            if (!real_) real_ = std::make_unique<BinTables<double>>(set_);
            real_->open(problem, node, bins_);
        }
        return book(watch);
    }

    // Bounds of both sides of tests of a column; without tests when its categories are too many.
    // False when a limit ended it.
    bool sweep(int column_index, SweptTests& swept, Watch& watch) {
        plan_sweep(column_index, swept);
        swept.sides.clear();
        if (swept.plan.n_tests == 0) return true;
        const bool is_done = whole_ ? whole_->sweep(swept.plan, bounds_, watch)
                                    : real_->sweep(swept.plan, bounds_, watch);
        if (!is_done || !book(watch)) return false;
        swept.sides.resize(swept.plan.n_sides());
        for (std::size_t i = 0; i < swept.sides.size(); ++i) {
            swept.sides[i].sum_up(bins_, &bounds_[i * 2 * bins_.n_lanes], problem_->split_cost,
                                  wanted_, std::vector<double>(wanted_.size(), 0.0));
        }
        return true;
    }

    bool has(int column_index) const { return wanted_[column_index] != 0; }
    const ColumnBins& bins(int column_index) const { return bins_.columns[column_index]; }
    const SideBounds& at(int column_index, int lane, bool missing_left) const {
        return bounds_[2 * (bins(column_index).first_lane + lane) + missing_left];
    }
    const TreeBounds& trees() const { return trees_; }

private:
    static constexpr int MOST_CLASSES = 8;
    static constexpr std::uint32_t LEAST_ROWS = 6000;
    static constexpr std::size_t LEAST_COLUMNS = 8;
    // Number of parts that a sweep cuts a numeric column into, and of categories.
    static constexpr int SEGMENTS = 8, MOST_CATEGORIES = 12;

    bool book(Watch& watch) {
        return booking_.set(watch.control(), bytes_of(bounds_) + (whole_ ? whole_->n_bytes() : 0) +
                                                 (real_ ? real_->n_bytes() : 0));
    }

    void plan_sweep(int column_index, SweptTests& swept) const {
        const NodeColumn& column = node_->columns[column_index];
        const ColumnBins& bins = bins_.columns[column_index];
        SweepPlan& plan = swept.plan;
        plan = SweepPlan();
        plan.column_index = column_index;
        plan.has_missing = bins.has_missing;
        swept.positions.clear();
        if (bins.is_nominal && bins.n_bins > MOST_CATEGORIES) return;
        for (int i = 1; !bins.is_nominal && i < SEGMENTS; ++i) {
            const int cut = bins.n_bins * i / SEGMENTS;
            if (cut > 0 && (plan.cuts.empty() || cut > plan.cuts.back())) plan.cuts.push_back(cut);
        }
        // Where groups end, and with them segments.
        const std::uint32_t* const order = node_->order(column_index);
        std::size_t next = 0;
        for (std::uint32_t i = 1, group = 0; i < column.n_present; ++i) {
            if (!(order[i] & FIRST_OF_GROUP)) continue;
            ++group;
            if (bins.is_nominal) {
                plan.ends.push_back(i);
            } else if (next < plan.cuts.size() && bins.bin_of_group[group] == plan.cuts[next]) {
                plan.ends.push_back(i);
                swept.positions.push_back(static_cast<int>(group) - 1);
                ++next;
            }
        }
        plan.ends.push_back(column.n_present);
        plan.n_tests = bins.is_nominal ? bins.n_raw() : static_cast<int>(plan.cuts.size());
    }

    InstructionSet set_;
    const ThresholdProblem* problem_ = nullptr;
    const ThresholdNode* node_ = nullptr;
    Booking booking_;
    NodeBins bins_;
    std::vector<char> wanted_;        // by column: whether it has bounds
    std::vector<SideBounds> bounds_;  // [lane][variant]
    TreeBounds trees_;
    std::unique_ptr<BinTables<std::int32_t>> whole_;
    std::unique_ptr<BinTables<double>> real_;
};

}  // namespace sktree_opt::thresholds
