// The vector kernels of the thresholds engine: their arguments, and the choice among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/simd/instruction_sets.hpp"

namespace sktree_opt::thresholds {

constexpr int BATCH = 32;  // root tests of one pass: lanes, whatever the vector's width
constexpr int ALL_LANES = BATCH + 1;
constexpr int NO_LANE = BATCH;
constexpr int N_KEYS = BATCH + 2;

// Consecutive entries of an order whose rows have one class; see list_runs().
struct Run {
    std::uint32_t end;
    std::uint16_t label;
    bool starts_position;  // the rows before it are a branch of some test
};

// How a column's order is traversed: by runs, whose ends are branches to mispredict, or row by row
// where runs are short, with or without equal codes among which no test can divide.
enum class Traversal { RUNS, ROWS_WITH_TIES, ROWS };

struct PassColumn {
    const std::uint32_t* order;
    const Run* runs;
    std::uint32_t n_runs;
    std::uint32_t n_present;
    bool is_nominal;
    Traversal traversal;
};

// One pass: for each of BATCH root tests ("lanes"), the best single test of every column on each of
// its two sides. `key[row]` says which lanes send the row left: it indexes `member[0]`, whose rows
// of BATCH lanes are 1 for left, and `member[1]`, its complement.
template <class Lane>
struct PassTask {
    std::uint32_t n_rows = 0;
    const PassColumn* columns = nullptr;
    int n_columns = 0;
    int n_lanes = 0;  // lanes in use; the others are computed and ignored
    const std::uint8_t* key = nullptr;
    const Lane* member[2] = {};
    const Lane* signed_member[2] = {};  // two classes, unit weights: by key and class
    const std::uint8_t* signed_key = nullptr;
    const Lane* value = nullptr;           // by row: weight, two classes: signed; null when all 1;
                                           // squared errors: weight times target
    const std::uint16_t* label = nullptr;  // by row: channel; more than two classes
    const Lane* gain = nullptr;            // [label][channel]: costs; null for errors
    int n_channels = 0;
    const Lane* channel_total[2] = {};  // [channel][BATCH]
    int n_supports = 0;                 // 0, 1 or 2 amounts of which each leaf needs a minimum
    const Lane* support[2] = {};        // by row; null when all 1
    Lane minimum[2] = {};
    Lane support_total[2][2][BATCH] = {};  // [side][support]

    const Lane* weight = nullptr;  // squared errors: by row; null when all 1
    Lane mean[2][BATCH] = {};      // of the targets of each side
    Lane weight_total[2][BATCH] = {};

    // OUT, two classes: smallest and largest signed sum of a branch; with minimal leaves in [1].
    Lane low[2][2][BATCH];
    Lane high[2][2][BATCH];
    // OUT, more classes: largest sum of the channels that two leaves answer. Squared errors: the
    // most that a test saves.
    Lane best[2][2][BATCH];

    Lane* channels = nullptr;       // WORK: 4 * n_channels * BATCH
    Lane* tops = nullptr;           // WORK: 2 * (n_rows + 1) vectors
    bool (*poll)(void*) = nullptr;  // true: give up
    void* poll_argument = nullptr;
};

// A table of two columns: by codes of the first a line by codes of the second. A cell has the
// weight below, the target above its bit 32. And what a test of one saves at most with the best
// test of the other below and above it (IN and OUT, the largest so far, by code).
//
// For the rows in the lines, or for all others.
struct RoughPairTask {
    static constexpr int MOST_STRIDE = 72;  // codes of a column
    static constexpr int ROW_LANES = 16;

    const std::uint64_t* lines = nullptr;
    const std::uint64_t* whole =
        nullptr;  // sums up to both codes of all rows, where others are meant
    std::ptrdiff_t next_line = 0;
    const std::uint64_t* line_before = nullptr;  // on the left of all tests of the first column
    int n_first = 0;
    int n_second = 0;      // codes
    int code_before = -1;  // on the left of all tests of the second column
    const std::uint64_t* kept =
        nullptr;  // null, or what to keep of cells: all but those of code_before
    // Sums up to each code; of the first column those of the rest, too.
    const std::int32_t* first_weight = nullptr;
    const std::int32_t* first_target = nullptr;
    const std::int32_t* rest_weight = nullptr;
    const std::int32_t* rest_target = nullptr;
    const std::int32_t* second_weight = nullptr;
    const std::int32_t* second_target = nullptr;
    float* below_first = nullptr;  // [code][ROW_LANES]: the largest of these counts
    float* above_first = nullptr;
    float* below_second = nullptr;  // [code]
    float* above_second = nullptr;
};
struct RoughPairKernels {
    // Squared errors, and errors of two classes: of the rows in the lines, of the others.
    void (*squares[2])(const RoughPairTask&) = {};
    void (*errors[2])(const RoughPairTask&) = {};
    void (*largest_of_rows)(const float* rows, int n, float* to) = nullptr;
};

template <class Lane>
struct PassKernels {
    void (*two_class[2])(PassTask<Lane>&) = {};  // without and with supports
    void (*multi_class[2])(PassTask<Lane>&) = {};
    void (*squares[2])(PassTask<Lane>&) = {};  // doubles only
};

struct ThresholdKernels {
    PassKernels<std::int16_t> narrow;
    PassKernels<std::int32_t> wide;
    PassKernels<double> real;
    RoughPairKernels rough_pairs;

    template <class Lane>
    const PassKernels<Lane>& passes() const {
        if constexpr (std::is_same_v<Lane, std::int16_t>) return narrow;
        else if constexpr (std::is_same_v<Lane, std::int32_t>) return wide;
        else return real;
    }
};

}  // namespace sktree_opt::thresholds

namespace sktree_opt {

// compile_threshold_kernels.hpp, compiled once per instruction set.
namespace portable {
thresholds::ThresholdKernels threshold_kernels();
}
namespace neon {
thresholds::ThresholdKernels threshold_kernels();
}
namespace avx2 {
thresholds::ThresholdKernels threshold_kernels();
}
namespace avx512 {
thresholds::ThresholdKernels threshold_kernels();
}

namespace thresholds {

inline ThresholdKernels choose_kernels(InstructionSet set) {
    switch (set) {
#if defined(SKTREE_X86)
        case InstructionSet::AVX512BITALG:
        case InstructionSet::AVX512:
            return avx512::threshold_kernels();
        case InstructionSet::AVX2:
            return avx2::threshold_kernels();
#endif
#if defined(SKTREE_NEON)
        case InstructionSet::NEON:
            return neon::threshold_kernels();
#endif
        default:
            return portable::threshold_kernels();
    }
}

}  // namespace thresholds
}  // namespace sktree_opt
