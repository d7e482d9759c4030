// Tables of pairs of binned columns, and the bounds that they give: see bin_bounds.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/bins.hpp"
#include "sktree_opt/optimal/thresholds/kernels/kernels.hpp"

namespace sktree_opt::thresholds {

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

    void open(const Problem& problem, const NodeRows& node, const NodeBins& bins) {
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
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
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

}  // namespace sktree_opt::thresholds
