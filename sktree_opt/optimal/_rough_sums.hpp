// Targets and weights as whole numbers, by node: what rough sweeps read (see _rough_squares.hpp).
//
// A row's target s is rounded to s * scale, which errs by 1/2 at most, and a weight counts units. So
// with S = s * scale, n >= the number of rows, the score S^2 / n of a leaf errs by less than |S| + n,
// and those of all leaves of a tree by less than sum |S| + n <= sqrt(n * sum S^2) + n (Cauchy); what
// single precision adds is less than 2^-20 of the score: a dozen roundings of 2^-24 each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sktree_opt/optimal/_buffer.hpp"
#include "sktree_opt/optimal/_kernel_types.hpp"

namespace sktree_opt {

// Of all rows; empty if they have no targets, or weights that are no multiples of one.
struct RoughValues {
    Buffer<std::int32_t> values;  // [slot][2]: weight, target
    bool are_there = false;
    bool weigh_alike = false;
    double unit = 1.0;            // of weights
    double scale = 1.0;           // of targets

    // Of a leaf's score in double precision, in units of the rough ones.
    double score(double exact) const { return exact * scale * scale * unit; }
    // The most that a rough score of a tree errs, for rows of so much weight and weighted squares.
    double error(double score, double weight, double squares) const {
        const double n = weight / unit;
        return std::ldexp(score, -20) + scale * std::sqrt(weight * squares) + 2.0 * n + 1.0;
    }
};

// The same of a node.
struct RoughSums {
    Buffer<std::int32_t> values;     // [slot][2]
    Buffer<std::int32_t> marginals;  // [2][stride]
    Buffer<std::int32_t> pairs;      // [2][n_columns][stride]: columns from the vector of the row's on
    std::int32_t totals[2] = {};
};

// Rounds the values [slot][n_channels] of the rows, whose first are weight and weighted target.
inline void round_values(
    const double* values, int n_slots, int n_channels, double common_weight, RoughValues& out) {
    constexpr double LARGEST = 1 << 30;  // so that differences of sums do not overflow either
    out.weigh_alike = common_weight > 0.0;
    out.unit = out.weigh_alike ? common_weight : 1.0;
    double weight = 0.0, targets = 0.0;
    out.are_there = true;
    for (int k = 0; k < n_slots; ++k) {
        const double units = values[k * n_channels] / out.unit;
        out.are_there = out.are_there && units == std::floor(units);
        weight += units;
        targets += std::fabs(values[k * n_channels + 1]);
    }
    out.are_there = out.are_there && weight < LARGEST && n_slots < LARGEST / 2;
    if (!out.are_there) return;
    out.scale = targets > 1e-290 ? (LARGEST / 2) / targets : 1.0;
    std::int32_t* to = out.values.need(2 * static_cast<std::size_t>(n_slots));
    for (int k = 0; k < n_slots; ++k) {
        const double* row = values + static_cast<std::ptrdiff_t>(k) * n_channels;
        to[2 * k] = static_cast<std::int32_t>(row[0] / out.unit);
        to[2 * k + 1] = static_cast<std::int32_t>(std::nearbyint(row[1] * out.scale));
    }
}

// Sums by column of the two sides of column j, [2][stride] each, and of all rows of each.
inline void split_sums(
    const RoughSums& node, int n_columns, int stride, int j, std::int32_t* with,
    std::int32_t* without, std::int32_t (&totals_with)[2], std::int32_t (&totals_without)[2]) {
    for (int c = 0; c < 2; ++c) {
        const std::int32_t* pairs =
            node.pairs.data() + static_cast<std::ptrdiff_t>(c) * n_columns * stride;
        const std::int32_t* all = node.marginals.data() + c * stride;
        for (int g = 0; g < stride; ++g) {
            const bool is_before = g < j;
            const std::ptrdiff_t row = is_before ? g : j, column = is_before ? j : g;
            const std::int32_t sum = g < n_columns ? pairs[row * stride + column] : 0;
            with[c * stride + g] = sum;
            without[c * stride + g] = all[g] - sum;
        }
        totals_with[c] = all[j];
        totals_without[c] = node.totals[c] - all[j];
    }
}

}  // namespace sktree_opt
