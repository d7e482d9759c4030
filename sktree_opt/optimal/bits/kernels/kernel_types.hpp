// What the search hands to the vector kernels, the same for every instruction set.
//
// Words: a node's rows stand in segments (rows that count alike: a class, or one bit of a weight),
// 16 rows to a word; words[w * stride + j] are the 16 rows of word w in column j. The last word of
// a segment is filled up with rows whose bits are all 0. `stride` is a multiple of 32.
// Channels: what is summed over rows, e.g. one count for each class. A segment with s rows adds
// coefficient * s to each of its channels. Where rows carry real numbers (many different weights,
// the targets of a regression) each row has its own value for each channel instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sktree_opt {

constexpr int STRIDE = 32;         // columns: the widest vector has 32 lanes of 16 bits
constexpr int ROUGH_CHANNELS = 3;  // whole numbers of a row: weight, target, mass

struct Span {
    int first_word;
    int n_words;
};

// What a score needs besides counts; see objectives.hpp.
template <class Lane>
struct ScoreParameters {
    int n_channels = 1;  // summed channels that the score reads
    int n_supports = 0;  // channels after them, each with a minimum for every leaf
    Lane minimum_support[2] = {};
    const double* x_log_x = nullptr;  // entropy: table for whole counts below n_x_log_x
    int n_x_log_x = 0;
    double z = 0.0;         // pessimistic error: the normal quantile of
    double cf = 0.25;       // this confidence
    Lane least_weight = 0;  // a leaf of less is empty, but for rounding
};

// Rows whose best small trees are wanted: counts of each column and of all, by channel.
template <class Lane>
struct SweepSide {
    const Lane* marginals = nullptr;  // IN: [channel][stride]
    const Lane* totals = nullptr;     // IN: [channel]
    Lane best[4] = {};                // OUT: largest sum of leaf scores with 0, 1, 2, 3 splits
    Lane* best_true = nullptr;        // OUT or null: by root column, best of its true side split
    Lane* best_false = nullptr;       // OUT or null: the same of its false side
    Lane* leaf_true = nullptr;        // OUT or null: by column, score of its true side as a leaf
    Lane* leaf_false = nullptr;       // OUT or null: the same of its false side
};

template <class Lane>
struct SweepTask {
    const std::uint16_t* words = nullptr;
    const Span* spans = nullptr;
    int n_segments = 0;
    int stride = 0;
    int n_columns = 0;
    const Lane* coefficients = nullptr;  // [segment][n_all_channels]
    int n_all_channels = 0;
    int n_counted = 0;  // channels to count: the score's, or all
    SweepSide<Lane>* counted = nullptr;
    SweepSide<Lane>* sibling = nullptr;  // null, or the rows of the parent that are not counted
    const Lane* parent_pairs = nullptr;  // with sibling: [channel][column][stride] of the parent
    Lane* pairs = nullptr;               // OUT or null: [channel][column][stride]
    Lane* tile = nullptr;                // WORK: 2 * n_counted * LARGEST_TILE lanes
    Lane* work = nullptr;                // WORK with sibling: sweep_work(stride) lanes
    // Where channels are a score's only one, to which each row adds a power of two or minus one,
    // and the sum of these without signs: the largest one. Else 0.
    int largest_power = 0;
    // Channels that are sums of reals, in place of words, spans and coefficients; else null.
    const double* values = nullptr;      // [slot][n_all_channels]
    const std::uint8_t* rows = nullptr;  // [slot][row_bytes]
    int row_bytes = 0;
    const std::int32_t* slots = nullptr;  // of the rows to count
    int n_slots = 0;
    std::int32_t* listed = nullptr;  // WORK: n_slots + 32
    double common_weight = 0.0;      // first channel of every row, or 0 if they differ
    ScoreParameters<Lane> score;
    bool (*poll)(void*) = nullptr;  // true: give up
    void* poll_argument = nullptr;
};

// One side of a root column of a rough sweep (see rough_squares.hpp), in whole numbers: weight and
// target by column and of all.
struct RoughSide {
    const std::int32_t* marginals = nullptr;  // IN: [channel][stride]
    std::int32_t totals[ROUGH_CHANNELS] = {};
    float* best = nullptr;   // OUT: [2][stride]: best sum of scores with two and with three splits
    float* sides = nullptr;  // OUT or null: [2][stride]: best of the true and of the false side
    float largest[2] = {};   // OUT: the largest of each of `best`
};

struct RoughTask {
    const std::uint16_t* words = nullptr;
    int n_words = 0;
    int stride = 0;
    int n_columns = 0;
    const std::int32_t* values = nullptr;  // [slot][ROUGH_CHANNELS]
    const std::uint8_t* rows = nullptr;    // [slot][row_bytes]
    int row_bytes = 0;
    const std::int32_t* slots = nullptr;  // of the rows to sum
    int n_slots = 0;
    std::int32_t* listed = nullptr;  // WORK: n_slots + 32
    bool weigh_alike = false;        // whether all weights are 1
    std::int32_t* pairs = nullptr;   // IN of a sweep, OUT of sums: [channel][n_columns][stride]
    // Null, or of a node: what the rows to sum leave of its pairs is wanted, in its columns
    // `in_parent`.
    const std::int32_t* parent_pairs = nullptr;
    const std::int32_t* in_parent = nullptr;
    int parent_columns = 0;
    int parent_stride = 0;
    RoughSide counted, sibling;
    bool (*poll)(void*) = nullptr;
    void* poll_argument = nullptr;
};

// Lanes of a block of pairs, and of the maxima by row, at the widest vector.
constexpr int LARGEST_TILE = 8 * 2 * 32;
inline std::size_t sweep_work(int stride) {
    return static_cast<std::size_t>(stride) * (5 * 32 + 4);
}

// Each byte as eight numbers 0 or 1.
struct SpreadByte {
    double of[256][8];
    SpreadByte() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = (byte >> bit) & 1;
        }
    }
};
inline const SpreadByte SPREAD_BYTE;

// Each byte as eight masks.
template <class T>
struct ByteMasks {
    T of[256][8];
    ByteMasks() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = static_cast<T>(-((byte >> bit) & 1));
        }
    }
};
inline const ByteMasks<std::int16_t> BYTE_MASKS;
inline const ByteMasks<std::int32_t> WORD_MASKS;

// By byte and its half (the lower one first), how many bits each nibble has in common with it.
struct CommonBits {
    alignas(64) std::uint8_t of[256][2][16];
    CommonBits() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int nibble = 0; nibble < 16; ++nibble) {
                for (int half = 0; half < 2; ++half) {
                    int common = (half == 0 ? byte & 15 : byte >> 4) & nibble;
                    std::uint8_t count = 0;
                    for (; common != 0; common &= common - 1) ++count;
                    of[byte][half][nibble] = count;
                }
            }
        }
    }
};
inline const CommonBits COMMON_BITS;

// Optimum of one side of a solved column, and what the similarity bound makes of it.
struct SolvedSides {
    double optimum_true;
    double optimum_false;
};

}  // namespace sktree_opt
