// The rows of a node, sorted by every column, and their division by a test.
//
// Each column keeps its rows in the order of their codes, as 32-bit entries: a row number local to
// the node, and in the top bit whether the row's code differs from the one before. Rows with a
// missing value come last, rows of one class together among equal codes. Children inherit the order
// by one pass over it, with new row numbers, so that all that is looked up by row stays dense and
// near: nothing is sorted after the root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/limits.hpp"
#include "sktree_opt/optimal/thresholds/threshold_problem.hpp"

namespace sktree_opt::thresholds {

constexpr std::uint32_t FIRST_OF_GROUP = 0x80000000u;
constexpr std::uint32_t ROW_MASK = 0x7fffffffu;

// A column on which the node's rows differ.
struct NodeColumn {
    std::int32_t column = 0;
    bool is_nominal = false;
    std::uint32_t n_present = 0;
    std::uint32_t n_groups = 0;  // distinct codes, missing apart
};

struct ThresholdNode {
    std::uint32_t n = 0;
    std::vector<std::uint32_t> row;  // row of the table
    std::vector<std::uint16_t> label;
    std::vector<double> weight;
    std::vector<double> target;            // of a regression
    std::vector<std::uint32_t> by_target;  // absolute errors: rows in the order of targets
    std::vector<NodeColumn> columns;
    std::vector<std::uint32_t> entries;  // [k * n ...]: order of columns[k]
    std::vector<double> sums;            // see Problem::n_sums()
    double least_target = 0.0, largest_target = 0.0;
    Booking booking;

    const std::uint32_t* order(std::size_t k) const { return entries.data() + k * n; }

    bool book(SearchControl* control) {
        return booking.set(control, bytes_of(row) + bytes_of(label) + bytes_of(weight) +
                                        bytes_of(target) + bytes_of(by_target) + bytes_of(entries));
    }

    // For as many rows as may come; `add` counts them.
    void open(const ThresholdProblem& problem, std::uint32_t most) {
        n = 0;
        row.resize(most);
        label.resize(most);
        weight.resize(most);
        target.resize(problem.is_regression() ? most : 0);
        sums.assign(problem.n_sums(), 0.0);
        columns.clear();
        by_target.clear();
    }
    void close() {
        row.resize(n);
        label.resize(n);
        weight.resize(n);
        if (target.empty() || n == 0) return;
        target.resize(n);
        const auto range = std::minmax_element(target.begin(), target.end());
        least_target = *range.first;
        largest_target = *range.second;
    }
    void add_sums(std::uint32_t i, double* to) const {
        if (target.empty()) {
            to[label[i]] += weight[i];
        } else {
            to[0] += weight[i];
            to[1] += weight[i] * target[i];
            to[2] += weight[i] * target[i] * target[i];
        }
    }
};

// Cost of a leaf, and the cost if every row met its worst answer.
struct LeafCost {
    double cost = 0.0;
    double worst = 0.0;
};

inline LeafCost leaf_cost(const ThresholdProblem& problem, const double* sums) {
    LeafCost result;
    if (problem.is_regression()) {
        if (sums[0] > 0.0) result.cost = std::max(0.0, sums[2] - sums[1] * sums[1] / sums[0]);
        return result;
    }
    const int n_classes = problem.n_classes;
    double best = 0.0;
    for (int c = 0; c < n_classes; ++c) result.worst += sums[c] * problem.worst[c];
    for (int answer = 0; answer < n_classes; ++answer) {
        double gain = 0.0;
        if (problem.is_error) {
            gain = sums[answer];
        } else {
            for (int c = 0; c < n_classes; ++c) {
                gain += sums[c] * problem.gain[c * n_classes + answer];
            }
        }
        best = std::max(best, gain);
    }
    result.cost = result.worst - best;
    return result;
}

inline bool supports_leaf(const ThresholdProblem& problem, double n_rows, double weight) {
    return n_rows >= problem.min_rows && weight >= problem.min_weight;
}

inline double weight_of(const ThresholdProblem& problem, const double* sums) {
    if (problem.is_regression()) return sums[0];
    double weight = 0.0;
    for (int c = 0; c < problem.n_classes; ++c) weight += sums[c];
    return weight;
}

// Adds column `j`, sorted by counting its codes, unless all rows have the same. `start` is room.
inline void add_root_column(const ThresholdProblem& problem, int j, ThresholdNode& node,
                            std::vector<std::uint32_t>& start) {
    const ColumnView& view = problem.columns[j];
    const std::uint32_t n = problem.n_rows;
    start.assign(view.n_values + 2, 0);
    for (std::uint32_t row = 0; row < n; ++row) ++start[code_at(view, row) + 1];
    NodeColumn column;
    column.column = j;
    column.is_nominal = view.is_nominal != 0;
    column.n_present = n - start[view.n_values + 1];
    for (std::uint32_t code = 0; code < view.n_values; ++code) {
        column.n_groups += start[code + 1] > 0;
    }
    if (column.n_groups + (column.n_present < n) < 2) return;
    for (std::uint32_t code = 0; code <= view.n_values; ++code) start[code + 1] += start[code];
    const std::size_t offset = node.entries.size();
    node.entries.resize(offset + n);
    const std::vector<std::uint32_t> first(start);
    for (std::uint32_t row = 0; row < n; ++row) {
        const std::uint32_t code = code_at(view, node.row[row]);
        const bool is_first = start[code] == first[code] && code < view.n_values;
        node.entries[offset + start[code]++] = row | (is_first ? FIRST_OF_GROUP : 0);
    }
    node.columns.push_back(column);
}

// All rows of the table. False when a limit ended it: then some columns are absent.
inline bool root_rows(const ThresholdProblem& problem, ThresholdNode& node, Watch& watch) {
    const std::uint32_t n = problem.n_rows;
    node.open(problem, n);
    node.n = n;
    for (std::uint32_t row = 0; row < n; ++row) node.row[row] = row;
    // Numbered class by class: sorting by code, which is stable, then keeps classes together.
    std::stable_sort(node.row.begin(), node.row.end(), [&](std::uint32_t a, std::uint32_t b) {
        return problem.label[a] < problem.label[b];
    });
    for (std::uint32_t i = 0; i < n; ++i) {
        node.label[i] = problem.label[node.row[i]];
        node.weight[i] = problem.weight[node.row[i]];
        if (problem.is_regression()) node.target[i] = problem.target[node.row[i]];
        node.add_sums(i, node.sums.data());
    }
    node.close();
    if (problem.is_absolute) {
        node.by_target.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) node.by_target[i] = i;
        std::stable_sort(
            node.by_target.begin(), node.by_target.end(),
            [&](std::uint32_t a, std::uint32_t b) { return node.target[a] < node.target[b]; });
    }
    std::size_t most = 0;
    for (int j = 0; j < problem.n_columns; ++j) most += problem.columns[j].representative == j;
    Booking planned;
    const std::size_t bytes = sizeof(std::uint32_t) * n * most;
    if (!planned.set(watch.control(), static_cast<std::int64_t>(bytes))) return false;
    // One allocation: what a vector leaves behind when it grows would be as large as itself.
    node.entries.clear();
    node.entries.reserve(n * most);
    std::vector<std::uint32_t> start;
    for (int j = 0; j < problem.n_columns; ++j) {
        if (problem.columns[j].representative != j) continue;
        if (watch.after_rows(n)) return false;
        add_root_column(problem, j, node, start);
    }
    planned.set(watch.control(), 0);
    return node.book(watch.control());
}

// Divides `node` into children[0] and children[1].
class Divider {
public:
    // False when a limit ended it; then the children are of no use. A null `watch` lets it finish.
    bool divide(const ThresholdProblem& problem, const ThresholdNode& node,
                const ThresholdTest& test, ThresholdNode* const children[2], Watch* watch) {
        const ColumnView& view = problem.columns[test.column];
        place_.resize(node.n);
        for (int b = 0; b < 2; ++b) children[b]->open(problem, node.n);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const int b = branch_of(test, code_at(view, node.row[i]), view.n_values);
            ThresholdNode& child = *children[b];
            place_[i] = child.n << 1 | static_cast<std::uint32_t>(b);
            child.row[child.n] = node.row[i];
            child.label[child.n] = node.label[i];
            child.weight[child.n] = node.weight[i];
            if (problem.is_regression()) child.target[child.n] = node.target[i];
            node.add_sums(i, child.sums.data());
            ++child.n;
        }
        for (int b = 0; b < 2; ++b) {
            children[b]->close();
            children[b]->by_target.reserve(node.by_target.empty() ? 0 : children[b]->n);
            // One entry more than needed: the pass below writes before it knows the side.
            children[b]->entries.resize(node.columns.size() * children[b]->n + 1);
        }
        for (const std::uint32_t row : node.by_target) {
            children[place_[row] & 1]->by_target.push_back(place_[row] >> 1);
        }
        for (int b = 0; watch != nullptr && b < 2; ++b) {
            if (!children[b]->book(watch->control())) return false;
        }
        for (std::size_t k = 0; k < node.columns.size(); ++k) {
            if (watch != nullptr && watch->after_rows(node.n)) return false;
            divide_column(node, k, children);
        }
        return true;
    }

private:
    void divide_column(const ThresholdNode& node, std::size_t k, ThresholdNode* const children[2]) {
        const NodeColumn& column = node.columns[k];
        const std::uint32_t* order = node.order(k);
        std::uint32_t* out[2];
        for (int b = 0; b < 2; ++b) {
            out[b] = children[b]->entries.data() + children[b]->columns.size() * children[b]->n;
        }
        std::uint32_t count[2] = {0, 0}, pending[2] = {0, 0}, groups[2] = {0, 0};
        for (std::uint32_t i = 0; i < column.n_present; ++i) {
            const std::uint32_t entry = order[i], place = place_[entry & ROW_MASK];
            const int b = place & 1;
            // A group starts in a child at its first row there.
            const std::uint32_t first = entry & FIRST_OF_GROUP;
            pending[0] |= first;
            pending[1] |= first;
            out[b][count[b]++] = place >> 1 | pending[b];
            groups[b] += pending[b] >> 31;
            pending[b] = 0;
        }
        const std::uint32_t present[2] = {count[0], count[1]};
        for (std::uint32_t i = column.n_present; i < node.n; ++i) {
            const std::uint32_t place = place_[order[i]];
            out[place & 1][count[place & 1]++] = place >> 1;
        }
        for (int b = 0; b < 2; ++b) {
            if (groups[b] + (present[b] < children[b]->n) < 2) continue;
            NodeColumn kept = column;
            kept.n_present = present[b];
            kept.n_groups = groups[b];
            children[b]->columns.push_back(kept);
        }
    }

    std::vector<std::uint32_t> place_;  // by row of the node: 2 * its number in its child + which
};

}  // namespace sktree_opt::thresholds
