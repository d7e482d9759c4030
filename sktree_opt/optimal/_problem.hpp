// The problem as the search sees it: rows by segment, distinct columns, and what a row costs.
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/_buffer.hpp"
#include "sktree_opt/optimal/_kernels.hpp"

namespace sktree_opt {

// An objective: cost of a tree = unit * (base_factor * mass - sum of leaf scores) + splits' costs.
struct Objective {
    Score score = Score::TWO_CLASS;
    int n_classes = 2;
    int n_channels = 1;
    std::vector<double> class_channels;  // [class][channel]: what a row of weight 1 adds
    std::vector<double> class_mass;      // [class]
    double unit = 0.5;
    double base_factor = 1.0;
    double loss_factor = 1.0;   // the most that a row of mass 1 can add to the cost
    bool loss_is_bounded = true;  // whether rows never lower the cost and add at most their loss
    bool cancels = true;        // equal rows of two classes cancel, except for a constant
    double z = 0.0;
};

struct Constraints {
    int max_depth = 3;
    int max_splits = 7;
    std::int64_t min_samples_leaf = 1;
    double min_weight_leaf = 0.0;
    double split_cost = 0.0;
};

// Which techniques are on; all of them in every fit, and one by one off in tests.
struct Switches {
    bool merge_rows = true;
    bool merge_columns = true;
    bool merge_node_columns = true;
    bool sibling_subtraction = true;
    bool similarity = true;
    bool inheritance = true;
    bool cache = true;
    bool small_cache = true;
    bool look_ahead = true;   // iterative deepening and its order
    bool dynamic_order = true;
};

// Rows as given: bits by row, classes and weights.
struct Rows {
    const std::uint8_t* bits = nullptr;  // [row][row_bytes], little-endian; row_bytes of STRIDE bits
    std::int64_t n_rows = 0;
    int row_bytes = 0;
    int n_columns = 0;
    const std::int32_t* classes = nullptr;
    const double* weights = nullptr;     // null: all 1
};

// Slots are positions in words: 16 to a word, segments filled up with empty ones.
template <class Lane>
struct Problem {
    Objective objective;
    Constraints constraints;
    Switches switches;
    Kernels<Lane> kernels;
    ScoreParameters<Lane> score;
    int n_all_channels = 0;          // score's, supports, mass
    int mass_channel = 0;
    std::vector<Lane> coefficients;  // [segment][n_all_channels]
    std::vector<Span> spans;
    int n_words = 0;
    int n_columns = 0;               // distinct ones
    int stride = 0;
    std::vector<std::int32_t> columns;  // original index of each
    Buffer<std::uint16_t> words;
    Buffer<std::uint16_t> present;   // bits of the slots that hold a row
    double constant = 0.0;           // cost that no tree avoids
    double grid = 1.0;               // all costs are multiples of it
};

}  // namespace sktree_opt
