// What a greedy learner looks at: columns of codes, the cases at a node, and their targets.
//
// Columns are those of an encoded table (preprocessing/_column.hpp): ranks of numbers, codes of
// categories. Rank order is value order, so searches never see the values themselves.
//
// A case set is a list of distinct rows, each with a weight. Weights are 1 (`weights` is empty) until
// sample weights are given or a row with a missing value has gone down several branches.
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/preprocessing/ranked_column.hpp"

namespace sktree_opt::greedy {

struct Column : ColumnView {
    const double* values = nullptr;  // numeric: the value of each rank

    Column(const ColumnView& view, const double* values_of_ranks)
        : ColumnView(view), values(values_of_ranks) {}
};

// Calls f with the column's codes as a pointer to their own type.
template <class F>
inline auto with_codes(const Column& column, F&& f) {
    switch (column.itemsize) {
        case 1:
            return f(static_cast<const std::uint8_t*>(column.codes));
        case 2:
            return f(static_cast<const std::uint16_t*>(column.codes));
        default:
            return f(static_cast<const std::uint32_t*>(column.codes));
    }
}

// What the tree learns, for each row of the table. `n_classes` is 0 for a regression target.
struct Target {
    std::uint32_t n_classes = 0;
    const std::uint16_t* classes = nullptr;  // n_rows class codes
    const double* values = nullptr;          // n_rows numbers

    bool is_classification() const { return n_classes > 0; }
    std::uint32_t n_outputs() const { return is_classification() ? n_classes : 1; }
};

// How the weights of a case set may be summed: without reading them, exactly, or in float64.
enum class WeightKind : std::uint8_t { UNIT, INTEGER, FRACTIONAL };

struct CaseSet {
    std::vector<std::uint32_t> rows;  // increasing
    std::vector<double> weights;      // one per row; empty when all are 1
    WeightKind kind = WeightKind::UNIT;

    std::uint32_t size() const { return static_cast<std::uint32_t>(rows.size()); }
};

// The targets of some cases under their position in the case set, as measures read them.
struct Cases {
    const std::uint16_t* classes = nullptr;
    const double* values = nullptr;
    const double* weights = nullptr;  // null when all are 1

    double weight(std::uint32_t index) const { return weights == nullptr ? 1.0 : weights[index]; }
};

// Sums over the cases of one node.
struct NodeTotals {
    double weight = 0.0;
    std::int64_t n_samples = 0;
    std::vector<double> outputs;  // weight of each class; regression: the mean
    double impurity = 0.0;
    bool is_pure = true;          // one class only; regression: one value only
};

}  // namespace sktree_opt::greedy
