// The problem as the search sees it: rows by segment, distinct columns, and what a row costs.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"
#include "sktree_opt/optimal/bits/kernels/rough_sums.hpp"
#include "sktree_opt/optimal/bits/row_set.hpp"

namespace sktree_opt {

// The tests on a node's path and their outcomes: what caches use as a key instead of its rows.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.5.1 (branch-based caching), after the
// itemset cache of DL8 (Nijssen and Fromont, KDD 2007).
//   branch, itemset -> sum of literals               f, not f -> literal(column, true / false)
// Deviation: the paper sorts a branch and hashes the array. Here a branch's 128-bit key is the sum
// of random numbers, one for each test and outcome, so that any order of tests has the same one,
// and a child's is made of its parent's by one addition. Two branches share a key by chance only
// (2^-128). Branches with the same rows pass for different problems: this is why row sets
// (row_set.hpp) are the rule, and branches are there to compare with. Time O(1) a child; memory
// O(n_columns).

struct Branches {
    std::vector<Key> literals;  // [column][outcome]; none: nodes are known by their rows

    void build(int n_columns) {
        literals.resize(2 * static_cast<std::size_t>(n_columns));
        std::uint64_t state = 0xB5297A4D3F84D5B5ull;
        for (Key& literal : literals) {
            literal.low = split_mix(state);
            literal.high = split_mix(state);
        }
    }
    bool are_keys() const { return !literals.empty(); }

    // Key of the branch that goes on with this outcome of a column's test.
    Key extend(Key branch, int column, bool outcome) const {
        return branch + literals[2 * static_cast<std::size_t>(column) + outcome];
    }
};

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

// In which order columns are tried at the root of a subtree (see ColumnOrder in bit_search.hpp).
enum class Order { BOUNDS, LOOK_AHEAD, INDEX, GINI, RANDOM };

// Techniques that tests and benchmarks switch off: the optimum stays, the search is slower.
// clang-format off
#define SKTREE_BIT_SWITCHES(SWITCH)                                                     \
    SWITCH(merge_rows)         /* rows that are equal are merged at the start */        \
    SWITCH(merge_columns)      /* columns that are equal are merged at the start */     \
    SWITCH(merge_node_columns) /* columns that are equal are merged at each node */     \
    SWITCH(similarity)         /* bounds from solved nodes with similar rows */         \
    SWITCH(size)               /* bounds from the number of tests that a tree has at least */\
    SWITCH(inheritance)        /* bounds from the children of the parent */             \
    SWITCH(removal)            /* bounds from the node's own optimum with one level less */\
    SWITCH(cache)              /* optima and bounds of nodes are kept */                \
    SWITCH(small_cache)        /* optima of two levels are kept */                      \
    SWITCH(row_sets)           /* caches know a node by its rows, not by its branch */  \
    SWITCH(look_ahead)         /* trees of fewer levels come first, and order columns */\
    SWITCH(dynamic_order)      /* columns are ordered by what is known of them */       \
    SWITCH(rough_sweeps)       /* squared errors are first bounded in single precision */\
    SWITCH(subtraction)        /* a sibling's counts are what is left of the parent's */\
    SWITCH(side_bounds)        /* a column goes as soon as one side costs too much */
// clang-format on
struct BitSwitches {
#define SWITCH(name) bool name = true;
    SKTREE_BIT_SWITCHES(SWITCH)
#undef SWITCH
    Order column_order = Order::BOUNDS;  // in every search but those for a tree of known cost
    std::uint64_t seed = 0;              // of a random order

    static std::vector<std::string> names() {
#define SWITCH(name) #name,
        return {SKTREE_BIT_SWITCHES(SWITCH)};
#undef SWITCH
    }

    // Null if there is none of this name.
    bool* find(const std::string& asked) {
#define SWITCH(name) \
    if (asked == #name) return &name;
        SKTREE_BIT_SWITCHES(SWITCH)
#undef SWITCH
        return nullptr;
    }
};

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

// Slots are positions in words: 16 to a word, segments filled up with empty ones.
template <class Lane>
struct BitProblem {
    BitObjective objective;
    BitConstraints constraints;
    BitSwitches switches;
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
