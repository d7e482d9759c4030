// Targets and weights as whole numbers, by node: what rough sweeps read (see rough_squares.hpp).
//
// A row's target s is rounded to s * scale, which errs by 1/2 at most, and a weight counts units.
// So with S = s * scale, n >= the number of rows, the score S^2 / n of a leaf errs by less than |S|
// + n, and those of all leaves of a tree by less than sum |S| + n <= sqrt(n * sum S^2) + n
// (Cauchy); what single precision adds is less than 2^-20 of the score: a dozen roundings of 2^-24
// each. Masses, of which bounds need no less than there is, are rounded up to multiples of a power
// of two, in the values themselves: so their sums are exact, in whole numbers and in double
// precision alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

namespace sktree_opt {

// Values of all rows; empty without targets, or if weights are not multiples of a common one.
struct RoughValues {
    Buffer<std::int32_t> values;  // [slot][ROUGH_CHANNELS]: weight, target, mass
    bool are_there = false;
    bool weigh_alike = false;
    double unit = 1.0;   // of weights
    double scale = 1.0;  // of targets
    double mass_unit = 1.0;

    // A rough score in units of the exact ones.
    double exact_score(double rough) const { return rough / scale / scale / unit; }
    // The most that a rough score of a tree errs, for rows of so much weight and weighted squares.
    double error(double score, double weight, double squares) const {
        const double n = weight / unit;
        return std::ldexp(score, -20) + scale * std::sqrt(weight * squares) + 2.0 * n + 1.0;
    }
};

// The same of a node.
struct RoughSums {
    Buffer<std::int32_t> values;     // [slot][channel]
    Buffer<std::int32_t> marginals;  // [channel][stride]
    Buffer<std::int32_t>
        pairs;  // [channel][n_columns][stride], of columns from the row's vector on
    std::int32_t totals[ROUGH_CHANNELS] = {};

    void need(int n_columns, int stride) {
        marginals.need(ROUGH_CHANNELS * static_cast<std::size_t>(stride));
        pairs.need(ROUGH_CHANNELS * static_cast<std::size_t>(n_columns) * stride);
    }
    // Sums over the rows with columns i and j.
    std::int32_t of_pair(int channel, int n_columns, int stride, int i, int j) const {
        const std::ptrdiff_t row = std::min(i, j), column = std::max(i, j);
        return pairs[(static_cast<std::ptrdiff_t>(channel) * n_columns + row) * stride + column];
    }
};

// Rounds masses up to what 32 bits can sum up.
inline void round_masses(double* masses, int n_slots, int step, RoughValues& out) {
    double total = 0.0;
    for (int k = 0; k < n_slots; ++k) total += masses[static_cast<std::ptrdiff_t>(k) * step];
    // Half of the range is for what rounding adds: less than a unit a slot.
    const int power = std::ilogb(std::max(total, 1e-290)) + 1 - 29;
    out.mass_unit = std::ldexp(1.0, power);
    for (int k = 0; k < n_slots; ++k) {
        double& mass = masses[static_cast<std::ptrdiff_t>(k) * step];
        const double units = std::ceil(mass / out.mass_unit);
        out.values[ROUGH_CHANNELS * static_cast<std::size_t>(k) + 2] =
            static_cast<std::int32_t>(units);
        mass = units * out.mass_unit;
    }
}

// Rounds the values [slot][n_channels] of the rows: weight, weighted target, and mass.
inline void round_values(double* values, int n_slots, int n_channels, double common_weight,
                         RoughValues& out) {
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
    std::int32_t* to = out.values.need(ROUGH_CHANNELS * static_cast<std::size_t>(n_slots));
    for (int k = 0; k < n_slots; ++k) {
        const double* row = values + static_cast<std::ptrdiff_t>(k) * n_channels;
        to[ROUGH_CHANNELS * k] = static_cast<std::int32_t>(row[0] / out.unit);
        to[ROUGH_CHANNELS * k + 1] = static_cast<std::int32_t>(std::nearbyint(row[1] * out.scale));
    }
    round_masses(values + 2, n_slots, n_channels, out);
}

// Sums by column of the two sides of column j, [channel][stride] each, and of all rows of each, for
// the first channels.
inline void split_sums(const RoughSums& node, int n_channels, int n_columns, int stride, int j,
                       std::int32_t* with, std::int32_t* without, std::int32_t* totals_with,
                       std::int32_t* totals_without) {
    for (int c = 0; c < n_channels; ++c) {
        const std::int32_t* all = node.marginals.data() + c * stride;
        for (int g = 0; g < stride; ++g) {
            const std::int32_t sum = g < n_columns ? node.of_pair(c, n_columns, stride, j, g) : 0;
            with[c * stride + g] = sum;
            without[c * stride + g] = all[g] - sum;
        }
        totals_with[c] = all[j];
        totals_without[c] = node.totals[c] - all[j];
    }
}

}  // namespace sktree_opt
