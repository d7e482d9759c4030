// The vector kernels of the bits engine: their arguments, and the choice among them.
//
// Words: a node's rows are grouped into segments (rows that count alike: a class, or one bit of a
// weight), 16 rows to a word; words[w * stride + j] are the 16 rows of word w in column j. The last
// word of a segment is filled up with rows whose bits are all 0. `stride` is a multiple of 32.
// Channels: what is summed over rows, e.g. one count for each class. A segment with s rows adds
// coefficient * s to each of its channels. Where rows carry real numbers (many different weights,
// the targets of a regression) each row has its own value for each channel instead.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "sktree_opt/optimal/objectives/scores.hpp"
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/utils/upper_errors.hpp"

namespace sktree_opt {

constexpr int STRIDE = 32;         // columns: the widest vector has 32 lanes of 16 bits
constexpr int ROUGH_CHANNELS = 3;  // whole numbers of a row: weight, target, mass

struct Span {
    int first_word;
    int n_words;
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
    // The largest power of two, if there are two channels: a score's only one, to which each row
    // adds a power of two or its negative, and the sum of these without signs. Else 0.
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
    // Null, or the pairs of a node from which those of the rows are subtracted.
    const std::int32_t* parent_pairs = nullptr;
    RoughSide counted, sibling;
    bool (*poll)(void*) = nullptr;
    void* poll_argument = nullptr;
};

// Lanes of a block of pairs, and of the maxima by row, at the widest vector.
constexpr int LARGEST_TILE = 8 * 2 * 32;
inline std::size_t sweep_work(int stride) {
    return static_cast<std::size_t>(stride) * (5 * 32 + 4);
}

// Optima of both sides of a solved column, from which the similarity bound follows.
struct SolvedSides {
    double optimum_true;
    double optimum_false;
};

// Indexed by: has sibling.
template <class Lane>
struct SweepTable {
    void (*plain[2])(SweepTask<Lane>&);
    void (*supported[2])(SweepTask<Lane>&);
    void (*with_signs[2])(SweepTask<Lane>&);  // null: the score has no such form
    void operator()(SweepTask<Lane>& task) const {
        const bool has_sibling = task.sibling != nullptr;
        if (task.score.n_supports > 0) return supported[has_sibling](task);
        if (task.largest_power > 0 && with_signs[0] != nullptr) {
            return with_signs[has_sibling](task);
        }
        plain[has_sibling](task);
    }
};

template <class Lane>
struct Kernels {
    SweepTable<Lane> sweep;
    void (*count_marginals)(const SweepTask<Lane>&, Lane*);
    void (*refresh_bounds)(const Lane*, const Lane*, Lane, Lane, double, SolvedSides, int, double*,
                           double*);
    // Of squared errors; see rough_squares.hpp.
    void (*solve_leaves)(SweepTask<Lane>&) = nullptr;
    void (*solve_column)(SweepTask<Lane>&, int) = nullptr;
    void (*sum_pairs_of)(const SweepTask<Lane>&, int) = nullptr;
    void (*score_pairs_of)(SweepTask<Lane>&, int) = nullptr;
    void (*sweep_roughly)(RoughTask&) = nullptr;
    void (*score_rough_pairs)(RoughTask&) = nullptr;
    void (*sum_rough_pairs)(RoughTask&) = nullptr;
    void (*sum_rough_marginals)(const RoughTask&, std::int32_t*) = nullptr;
};

struct BitKernels {
    void (*rows_to_words)(const std::uint8_t*, int, const std::int32_t*, int, std::uint16_t*, int);
    void (*words_to_rows)(const std::uint16_t*, int, int, std::uint8_t*, int);
    int (*list_side)(const std::uint16_t*, const std::uint16_t*, int, int, bool, int, int,
                     std::int32_t*);
    int (*count_column)(const std::uint16_t*, int, int);
};

// compile_bit_kernels.hpp, compiled once per instruction set.
#define SKTREE_KERNELS_OF(name)                       \
    namespace name {                                  \
    bool find_kernels(Score, Kernels<std::int16_t>&); \
    bool find_kernels(Score, Kernels<std::int32_t>&); \
    bool find_kernels(Score, Kernels<double>&);       \
    BitKernels bit_kernels();                         \
    }
SKTREE_KERNELS_OF(portable)
SKTREE_KERNELS_OF(avx2)
SKTREE_KERNELS_OF(avx512)
SKTREE_KERNELS_OF(neon)
#undef SKTREE_KERNELS_OF
// Other kernels gain nothing from BITALG.
namespace avx512bitalg {
bool find_kernels(Score, Kernels<std::int16_t>&);
}

template <class Lane>
bool choose_kernels(InstructionSet set, Score score, Kernels<Lane>& kernels) {
    switch (set) {
#if defined(SKTREE_X86)
        case InstructionSet::AVX2:
            return avx2::find_kernels(score, kernels);
        case InstructionSet::AVX512BITALG:
            if constexpr (sizeof(Lane) == sizeof(std::int16_t)) {
                return avx512bitalg::find_kernels(score, kernels);
            } else {
                return avx512::find_kernels(score, kernels);
            }
        case InstructionSet::AVX512:
            return avx512::find_kernels(score, kernels);
#endif
#if defined(SKTREE_NEON)
        case InstructionSet::NEON:
            return neon::find_kernels(score, kernels);
#endif
        default:
            return portable::find_kernels(score, kernels);
    }
}

inline BitKernels choose_bit_kernels(InstructionSet set) {
    switch (set) {
#if defined(SKTREE_X86)
        case InstructionSet::AVX2:
            return avx2::bit_kernels();
        case InstructionSet::AVX512BITALG:
        case InstructionSet::AVX512:
            return avx512::bit_kernels();
#endif
#if defined(SKTREE_NEON)
        case InstructionSet::NEON:
            return neon::bit_kernels();
#endif
        default:
            return portable::bit_kernels();
    }
}

}  // namespace sktree_opt
