// The problem as the search sees it: rows by segment, distinct columns, and what a row costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/kernels/bit_kernels.hpp"
#include "sktree_opt/optimal/bits/row_set.hpp"
#include "sktree_opt/utils/switches.hpp"

namespace sktree_opt {

// An objective: cost of a tree = unit * (base_factor * base - sum of leaf scores) + splits' costs,
// where base is a sum over rows. With a target (regression) the score's channels are weight and
// weighted target, and the base sums the weighted squares.
struct BitObjective {
    Score score = Score::TWO_CLASS;
    int n_classes = 2;
    int n_channels = 1;
    std::vector<double> class_channels;  // [class][channel]: what a row of weight 1 adds
    bool is_diagonal = false;            // of that only the diagonal, the rest is 0
    std::vector<double> class_mass;      // [class]: base of a row of weight 1
    double unit = 0.5;
    double base_factor = 1.0;
    double leaf_cost = 0.0;       // without a base: of the leaf that has all rows
    double loss_factor = 1.0;     // the most that a row of mass 1 can add to the cost
    bool loss_is_bounded = true;  // whether rows never lower the cost and add at most their loss
    bool cancels = true;          // equal rows of two classes cancel, except for a constant
    double z = 0.0;               // pessimistic error: normal quantile of the confidence
    double cf = 0.25;
    double least_weight = 1.0;  // of a row
    double channel(int class_, int c) const {
        if (is_diagonal) return class_ == c ? class_channels[c] : 0.0;
        return class_channels[static_cast<std::size_t>(class_) * n_channels + c];
    }
    double pair_cost() const { return class_mass.empty() ? 0.0 : class_mass[0]; }
    bool has_target() const { return score == Score::SQUARED; }
};

struct BitConstraints {
    int max_depth = 3;
    std::int64_t min_samples_leaf = 1;
    double min_weight_leaf = 0.0;
};

// In which order columns are tried as the root of a subtree (see sort_columns in bit_search.hpp).
enum class Order { BOUNDS, LOOK_AHEAD, INDEX };

// clang-format off
#define SKTREE_BIT_SWITCHES(SWITCH)                                                     \
    SWITCH(merge_rows)         /* rows that are equal are merged at the start */        \
    SWITCH(merge_columns)      /* columns that are equal are merged at the start */     \
    SWITCH(merge_node_columns) /* and again at each node, on the node's rows */         \
    SWITCH(similarity)         /* bounds from solved nodes with similar rows */         \
    SWITCH(size)               /* bounds from the number of tests that a tree has at least */\
    SWITCH(inheritance)        /* bounds from the children of the parent */             \
    SWITCH(removal)            /* bounds from the node's own optimum with one level less */\
    SWITCH(cache)              /* optima and bounds of nodes are kept */                \
    SWITCH(small_cache)        /* optima of two levels are kept */                      \
    SWITCH(look_ahead)         /* trees of fewer levels come first, and order columns */\
    SWITCH(dynamic_order)      /* columns are ordered by what is known of them */       \
    SWITCH(signed_counts)      /* counts of two classes stay in registers, with their sign */\
    SWITCH(narrow_lanes)       /* 16 bits for each count, where all counts fit */       \
    SWITCH(rough_sweeps)       /* squared errors are first bounded in single precision */\
    SWITCH(subtraction)        /* a sibling's counts are what is left of the parent's */\
    SWITCH(side_bounds)        /* a column goes as soon as one side costs too much */ \
    SWITCH(any_depth)          /* trees of all depths at once, where splits have a cost */
// clang-format on
SKTREE_SWITCHES(BitSwitches, SKTREE_BIT_SWITCHES);

// Rows as given: bits by row, and classes or targets.
struct InputRows {
    const std::uint8_t* bits = nullptr;  // [row][row_bytes], little-endian
    std::int64_t n_rows = 0;
    int row_bytes = 0;  // stride / 8
    int n_columns = 0;
    const std::int32_t* classes = nullptr;  // null with targets
    const double* targets = nullptr;
    const double* weights = nullptr;  // null: all 1
};

// Channels: the score's, then rows (min_samples_leaf), weight (min_weight_leaf), mass, base.
struct ChannelPlan {
    int n_channels = 1;
    bool counts_rows = false;
    bool sums_weights = false;
    bool has_own_base = false;
    int n_supports() const { return counts_rows + sums_weights; }
    int rows() const { return n_channels; }
    int weights() const { return n_channels + counts_rows; }
    int mass() const { return n_channels + n_supports(); }
    int base() const { return mass() + has_own_base; }
    int n_all() const { return base() + 1; }
};

inline ChannelPlan plan_channels(const BitObjective& objective, const BitConstraints& constraints) {
    return {objective.n_channels, constraints.min_samples_leaf > 1,
            constraints.min_weight_leaf > 0.0, objective.has_target()};
}

// Targets and weights as whole numbers, which rough sweeps read (see rough_squares.hpp).
//
// A row's target s is rounded to s * scale, with an error of at most 1/2, and weights count units.
// Let S = s * scale, and let n be at least the number of rows. Then the score S^2 / n of a leaf
// errs by less than |S| + n. The scores of all leaves of a tree err by less than sum |S| + n, which
// is at most sqrt(n * sum S^2) + n (Cauchy). Single precision adds less than 2^-20 of the score: a
// dozen roundings of 2^-24 each. Bounds may use too much mass but not too little, so masses are
// rounded up to multiples of a power of two, in the values themselves. Their sums are exact, in
// whole numbers and in double precision.

// Values of all rows. Empty without targets, or if the weights have no common unit.
struct RoughValues {
    Buffer<std::int32_t> values;  // [slot][ROUGH_CHANNELS]: weight, target, mass
    bool are_there = false;
    bool weigh_alike = false;
    double unit = 1.0;   // of weights
    double scale = 1.0;  // of targets
    double mass_unit = 1.0;

    // A rough score in units of the exact ones.
    double exact_score(double rough) const { return rough / scale / scale / unit; }
    // The largest error of a tree's rough score, for rows of this weight and these weighted
    // squares.
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

// Rounds masses up to multiples whose sum fits in 32 bits.
inline void round_masses(double* masses, int n_slots, int step, RoughValues& out) {
    double total = 0.0;
    for (int k = 0; k < n_slots; ++k) total += masses[static_cast<std::ptrdiff_t>(k) * step];
    // Half of the range is for rounding, which adds less than a unit for each slot.
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

// Slots are positions in words: 16 to a word, segments filled up with empty ones.
template <class Lane>
struct BitProblem {
    BitObjective objective;
    BitConstraints constraints;
    BitSwitches switches;
    ChannelPlan channels;
    Kernels<Lane> kernels;
    BitKernels bits;
    ScoreParameters<Lane> score;
    std::vector<Lane> coefficients;  // [segment][channel]
    std::vector<Span> spans;
    int n_words = 0;
    int n_columns = 0;  // distinct ones
    int stride = 0;
    std::vector<std::int32_t> columns;  // original index of each
    Buffer<std::uint16_t> words;
    Buffer<std::uint16_t> present;  // bits of the slots that hold a row
    Buffer<double> values;          // [slot][channel] if rows carry real numbers
    bool has_values = false;
    double common_weight = 0.0;  // see SweepTask
    RoughValues rough;           // the same in whole numbers
    int largest_power = 0;       // see SweepTask
    double split_cost = 0.0;     // that of ties among it
    double constant = 0.0;       // cost that no tree avoids
    double grid = 1.0;           // all costs are multiples of it
    // Costs that differ by no more count as equal. Sums of real numbers may be rounded to
    // neighbouring multiples, depending on which child was counted.
    double slack = 0.5;
    // Where costs are whole, each split costs this little more. The sum over a tree stays below a
    // unit, so among equally good trees the one with the fewest splits costs least.
    double tie_cost = 0.0;
    double unit = 1.0;  // true costs are multiples of it if there is a tie cost
    // A cost, or a bound on costs, without tie costs.
    double true_cost(double cost) const {
        return tie_cost > 0.0 ? std::floor(cost / unit) * unit : cost;
    }
    // Whether no tree can be better, so that only the size counts.
    bool is_perfect(double cost) const { return cost < unit && split_cost == tie_cost; }
    std::vector<double> x_log_x;
};

}  // namespace sktree_opt
