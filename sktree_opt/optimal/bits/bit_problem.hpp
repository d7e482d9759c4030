// The problem as the search sees it: rows by segment, distinct columns, and what a row costs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/bits/branch.hpp"
#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"
#include "sktree_opt/optimal/bits/kernels/rough_sums.hpp"

namespace sktree_opt {

// An objective: cost of a tree = unit * (base_factor * base - sum of leaf scores) + splits' costs,
// where base is a sum over rows. With a target (regression) the score's channels are weight and
// weighted target, and the base sums the weighted squares.
struct Objective {
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

struct Constraints {
    int max_depth = 3;
    std::int64_t min_samples_leaf = 1;
    double min_weight_leaf = 0.0;
};

// In which order columns are tried at the root of a subtree (see column_order.hpp).
enum class Order { BOUNDS, LOOK_AHEAD, INDEX, GINI, RANDOM };

// Which techniques are on: all of them, but for tests.
struct Switches {
    bool merge_rows = true;
    bool merge_columns = true;
    bool merge_node_columns = true;
    bool similarity = true;
    bool size = true;
    bool inheritance = true;
    bool removal = true;
    bool cache = true;
    bool small_cache = true;
    bool row_sets = true;    // caches know a node by its rows, not by its branch
    bool look_ahead = true;  // iterative deepening and its order
    bool dynamic_order = true;
    bool rough_sweeps = true;
    bool subtraction = true;
    bool side_bounds = true;
    Order column_order = Order::BOUNDS;  // of all searches that are not for a tree of known cost
    std::uint64_t seed = 0;              // of a random order
};

// Rows as given: bits by row, and classes or targets.
struct Rows {
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

inline ChannelPlan plan_channels(const Objective& objective, const Constraints& constraints) {
    return {objective.n_channels, constraints.min_samples_leaf > 1,
            constraints.min_weight_leaf > 0.0, objective.has_target()};
}

// Slots are positions in words: 16 to a word, segments filled up with empty ones.
template <class Lane>
struct Problem {
    Objective objective;
    Constraints constraints;
    Switches switches;
    ChannelPlan channels;
    Branches branches;  // if caches know nodes by them
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
    // Costs that differ by no more are equal: sums of reals may be rounded to neighbouring
    // multiples, depending on which child was counted and which was left over.
    double slack = 0.5;
    // Where costs are whole, a part of a split's cost, too small for the sum over any tree to reach
    // a unit: so of equally good trees the one with the fewest splits costs least.
    double tie_cost = 0.0;
    double unit = 1.0;  // true costs are multiples of it if there is a tie cost
    // A cost, or a bound on costs, without what ties add.
    double true_cost(double cost) const {
        return tie_cost > 0.0 ? std::floor(cost / unit) * unit : cost;
    }
    // Whether a tree is as good as trees can be, and only its size counts.
    bool is_perfect(double cost) const { return cost < unit && split_cost == tie_cost; }
    std::vector<double> x_log_x;
};

}  // namespace sktree_opt
