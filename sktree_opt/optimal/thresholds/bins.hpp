// The values of a node's columns in bins, and what bounds by bins say of trees of depth two.
//
// Numeric columns are cut into bins of about as many rows. Nominal ones are binned by category;
// where there are too many, the rarest share a bin. Rows that miss a column have a bin of their
// own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/stump.hpp"

namespace sktree_opt::thresholds {

// How the groups of a node's column fall into bins; rows that miss it come in one more.
struct ColumnBins {
    int n_bins = 0;
    bool is_nominal = false;
    bool has_missing = false;
    std::vector<std::uint8_t> bin_of_group;
    std::vector<bool> is_wide;   // by bin: whether it has several groups
    std::size_t first_lane = 0;  // of the node's lanes

    int n_raw() const { return n_bins + has_missing; }
    // Of a numeric column the cuts, both ends with them; else bins, and "is it missing?".
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
    bool open(const NodeRows& node, Watch& watch) {
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

    const NodeRows* node_ = nullptr;
    Booking booking_;
    std::vector<std::uint32_t> begin_;  // of the groups of a column, and its end
};

// Errors of the trees of depth two of a node at least, by lane; or of none but a part of its lanes.
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

}  // namespace sktree_opt::thresholds
