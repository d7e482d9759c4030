// What the depth-two solver hands to the vector kernels; the same for every instruction set.
#pragma once

#include <cstdint>

namespace sktree_opt {
namespace continuous {

constexpr int BATCH = 32;       // root tests of one pass: lanes, whatever the vector's width
constexpr int ALL_LANES = BATCH + 1;
constexpr int NO_LANE = BATCH;
constexpr int N_KEYS = BATCH + 2;

// Consecutive entries of an order whose rows have one class; see list_runs().
struct Run {
    std::uint32_t end;
    std::uint16_t label;
    bool starts_position;  // the rows before it are a branch of some test
};

// How a column's order is walked: by runs, whose ends are branches to mispredict, or row by row where
// runs are short, with or without equal codes among which no test can divide.
// Runs of many rows of real numbers are summed by key once for all lanes, and their sums are walked.
enum class Walk { RUNS, SUMS, ROWS_WITH_TIES, ROWS };

struct PassColumn {
    const std::uint32_t* order;
    const Run* runs;
    std::uint32_t n_runs;
    std::uint32_t n_present;
    bool is_nominal;
    Walk walk;
    std::size_t first_sum;  // Walk::SUMS: of its runs in PassTask::run_sums
};

// One pass: for each of BATCH root tests ("lanes"), the best single test of every column on each of
// its two sides. `key[row]` says which lanes send the row left: it indexes `member[0]`, whose rows
// of BATCH lanes are 1 for left, and `member[1]`, its complement.
template <class Lane>
struct PassTask {
    std::uint32_t n_rows = 0;
    const PassColumn* columns = nullptr;
    int n_columns = 0;
    int n_lanes = 0;                      // lanes in use; the others are computed and ignored
    const std::uint8_t* key = nullptr;
    const Lane* member[2] = {};
    const Lane* signed_member[2] = {};    // two classes, unit weights: by key and class
    const std::uint8_t* signed_key = nullptr;
    const Lane* value = nullptr;          // by row: weight, two classes: signed; null when all 1;
                                          // squared errors: weight times target
    const std::uint16_t* label = nullptr; // by row: channel; more than two classes
    const Lane* gain = nullptr;           // [label][channel]: costs; null for errors
    int n_channels = 0;
    const Lane* channel_total[2] = {};    // [channel][BATCH]
    int n_supports = 0;                   // 0, 1 or 2 amounts of which each leaf needs a minimum
    const Lane* support[2] = {};          // by row; null when all 1
    Lane minimum[2] = {};
    Lane support_total[2][2][BATCH] = {}; // [side][support]

    const Lane* weight = nullptr;         // squared errors: by row; null when all 1
    Lane mean[2][BATCH] = {};             // of the targets of each side
    Lane weight_total[2][BATCH] = {};

    // Sums of the runs of Walk::SUMS, of the rows with a missing value after the last run: of the
    // rows on the left by amount and lane, then of all rows by amount. Amounts are values, weights
    // and supports.
    const Lane* run_sums = nullptr;
    int n_amounts = 0;

    // OUT, two classes: smallest and largest signed sum of a branch; with minimal leaves in [1].
    Lane low[2][2][BATCH];
    Lane high[2][2][BATCH];
    // OUT, more classes: largest sum of the channels that two leaves answer. Squared errors: the most
    // that a test saves.
    Lane best[2][2][BATCH];

    Lane* channels = nullptr;             // WORK: 4 * n_channels * BATCH
    Lane* tops = nullptr;                 // WORK: 2 * (n_rows + 1) vectors
    bool (*poll)(void*) = nullptr;        // true: give up
    void* poll_argument = nullptr;
};

// A table of two columns: by codes of the first a line of (weight, target) by codes of the second.
// And what a test of one saves at most with the best test of the other below and above it (IN and
// OUT, the largest so far, by code).
struct PairTask {
    static constexpr int MOST_CODES = 72;  // of the second
    static constexpr int ROW_LANES = 8;

    const double* lines = nullptr;
    std::ptrdiff_t next_line = 0;
    const double* line_before = nullptr;  // of rows that are on the left of all tests of the first
    int n_first = 0;
    int n_second = 0;                     // codes
    int stride = 0;                       // as many, or more: a multiple of 8
    int code_before = -1;                 // of rows that are on the left of all tests of the second
    // Sums up to each code, of each column alone; `total_*` of all rows.
    const double* first_weight = nullptr;
    const double* first_sum = nullptr;
    const double* second_weight = nullptr;
    const double* second_sum = nullptr;
    double total_weight = 0.0, total_sum = 0.0;
    double* below_first = nullptr;        // [code][ROW_LANES]: the largest of these counts
    double* above_first = nullptr;
    double* below_second = nullptr;       // [code]
    double* above_second = nullptr;
};

// Rows of one side of root tests, by class, against the tests of a second, binned column. A "part" is
// a block of sums for every class: by test, of the rows that are surely on its first branch, then of
// those that may be; then of all rows, and of those that miss the second column.
template <class Sum>
struct BinTask {
    int n_parts = 0;
    int n_slots = 0;   // tests, padded to a multiple of 16
    int n_classes = 0;
    bool has_holes = false;          // of the second column
    const Sum* parts = nullptr;      // on the left of each root test; what misses its column not
    const Sum* whole = nullptr;
    const Sum* missing = nullptr;    // rows that miss the root's column; null: none
    Sum most = 0;                    // weight of all rows
    Sum* least = nullptr;            // IN and OUT: [part][missing left][side]: errors with one test

    int total_at() const { return 2 * n_slots; }
    int holes_at() const { return 2 * n_slots + 1; }
    int class_stride() const { return 2 * n_slots + 16; }
    int part_stride() const { return n_classes * class_stride(); }
};

template <class Lane>
struct PassKernels {
    void (*two_class[2])(PassTask<Lane>&) = {};    // without and with supports
    void (*multi_class[2])(PassTask<Lane>&) = {};
    void (*squares[2])(PassTask<Lane>&) = {};  // doubles only
};

}  // namespace continuous
}  // namespace sktree_opt
