// Finds the root columns that may be best for squared errors, in whole numbers and single
// precision: two to three times as fast as in double precision. Included once per instruction set.
//
// Only the best two-level trees of a node's children are wanted. Targets are rounded to whole
// numbers, whose sums are exact in 32 bits, and scores of leaves to 24 bits. So each root column
// gets its best score up to a small error. The few columns within twice that error of the largest
// score are solved again in double precision (solve_column.hpp). All others cost more, so the
// answer is exact. A node's own pairs are summed and scored in the same way, or are those of its
// parent less those of the other child. Such sums are exact. The speed comes from twice as many
// lanes in a vector, from empty leaves that need no choice (a sum of whole numbers is exactly 0),
// and from one division for two leaves. As in depth_two.hpp, a pair of columns is met once, for
// both children and with both columns as the root.
//   weight, target -> n, s      leaf score s^2 / n      both, column_only, ... -> of a pair (i, j)
// Time O(n_columns * stride * (n_slots + 60) / LANES); memory O(n_columns * stride) at each level.

typedef Native<float, VECTOR_BYTES> Floats;
typedef Native<std::int32_t, VECTOR_BYTES> Wholes;
constexpr int FLOATS = VECTOR_BYTES / static_cast<int>(sizeof(float));

// Columns are taken in units of a vector of sums, or of a byte of bits if that is more. So little
// is wasted on columns before i and beyond the last one.
constexpr int UNIT = FLOATS < 8 ? 8 : FLOATS;
constexpr int UNITS = LANES / UNIT;  // in a vector of counts
constexpr int STRIP = 2 * LANES;     // columns at a time, and lanes of a channel of a tile

// Channels FIRST .. LAST of the rows listed, in N_UNITS units of columns from j:
// tile[channel * STRIP + lane].
template <int FIRST, int LAST, int N_UNITS>
SKTREE_INLINE void sum_wholes(const RoughTask& task, const std::int32_t* last, int j,
                              std::int32_t* tile) {
    sum_listed<LAST - FIRST, N_UNITS*(UNIT / FLOATS)>(task, task.values + FIRST, ROUGH_CHANNELS,
                                                      last, j, tile + FIRST * STRIP, STRIP);
}

// Weights of pairs where all rows weigh 1, of VECTORS vectors of columns from j.
template <int VECTORS>
SKTREE_INLINE void count_wholes(const RoughTask& task, int i, int j, std::int32_t* tile) {
    for (int b = 0; b < VECTORS; ++b) store_pack(tile + b * LANES, fill_pack<std::int32_t>(0));
    for (int first = 0; first < task.n_words; first += MAX_WORDS) {
        const int last = task.n_words - first < MAX_WORDS ? task.n_words : first + MAX_WORDS;
        Vector16 counts[1][VECTORS];
        for (int b = 0; b < VECTORS; ++b) {
            counts[0][b] = Vector16{};
        }
        count_words<1, VECTORS>(task.words, task.stride, first, last, i, j, counts);
        for (int b = 0; b < VECTORS; ++b) {
            store_pack(tile + b * LANES,
                       load_pack(tile + b * LANES) + widen<std::int32_t>(counts[0][b]));
        }
    }
}

// Rows of column i, or those without it where they are fewer.
struct RoughRows {
    const std::int32_t* last;
    bool are_without;
};
SKTREE_INLINE RoughRows list_few(const RoughTask& task, int i) {
    // Where rows weigh alike, how many there are is known.
    if (task.weigh_alike) {
        const bool are_most = 2 * task.counted.marginals[i] > task.n_slots;
        return {list_rows(task, i, !are_most), are_most};
    }
    const std::int32_t* last = list_rows(task, i, true);
    if (2 * (last - task.listed) <= task.n_slots) {
        return {last, false};
    }
    return {list_rows(task, i, false), true};
}

// The first channels of the rows with columns i and j, N_UNITS units of columns from j, in a tile
// of the columns from the vector that holds j on.
template <int CHANNELS, int N_UNITS>
SKTREE_INLINE void sum_strip(const RoughTask& task, RoughRows few, int i, int j,
                             std::int32_t* tile) {
    const int base = j / LANES * LANES;
    std::int32_t* const at_j = tile + (j - base);
    if (task.weigh_alike) {
        if (j + N_UNITS * UNIT - base > LANES) count_wholes<2>(task, i, base, tile);
        else count_wholes<1>(task, i, base, tile);
        sum_wholes<1, CHANNELS, N_UNITS>(task, few.last, j, at_j);
    } else {
        sum_wholes<0, CHANNELS, N_UNITS>(task, few.last, j, at_j);
    }
    if (!few.are_without) return;
    for (int c = task.weigh_alike ? 1 : 0; c < CHANNELS; ++c) {
        for (int k = 0; k < N_UNITS * UNIT; k += FLOATS) {
            std::int32_t* sum = at_j + c * STRIP + k;
            const Wholes all = load_native<std::int32_t, VECTOR_BYTES>(task.counted.marginals +
                                                                       c * task.stride + j + k);
            store_native<std::int32_t, VECTOR_BYTES>(
                sum, all - load_native<std::int32_t, VECTOR_BYTES>(sum));
        }
    }
}

// Scores of two leaves.
SKTREE_INLINE void score_leaves(Wholes n_a, Wholes s_a, Wholes n_b, Wholes s_b, Floats& score_a,
                                Floats& score_b) {
    const Wholes one = fill_native<std::int32_t, VECTOR_BYTES>(1);
    const Floats a = to_float_native<VECTOR_BYTES>(larger_native(n_a, one));
    const Floats b = to_float_native<VECTOR_BYTES>(larger_native(n_b, one));
    const Floats share = fill_native<float, VECTOR_BYTES>(1.0f) / (a * b);
    const Floats sum_a = to_float_native<VECTOR_BYTES>(s_a);
    const Floats sum_b = to_float_native<VECTOR_BYTES>(s_b);
    score_a = sum_a * sum_a * (share * b);
    score_b = sum_b * sum_b * (share * a);
}

struct RoughBest {
    Floats with, without;
};

// A vector of pairs of one side: best scores of columns j, and of row i.
SKTREE_INLINE void meet_roughly(const RoughSide& side, int stride, int i, int j, Wholes n_both,
                                Wholes s_both, RoughBest& row) {
    const std::int32_t* n = side.marginals;
    const std::int32_t* s = side.marginals + stride;
    const Wholes n_column = load_native<std::int32_t, VECTOR_BYTES>(n + j) - n_both;
    const Wholes s_column = load_native<std::int32_t, VECTOR_BYTES>(s + j) - s_both;
    const Wholes n_row = fill_native<std::int32_t, VECTOR_BYTES>(n[i]) - n_both;
    const Wholes s_row = fill_native<std::int32_t, VECTOR_BYTES>(s[i]) - s_both;
    const Wholes n_rest = fill_native<std::int32_t, VECTOR_BYTES>(side.totals[0] - n[i]) - n_column;
    const Wholes s_rest = fill_native<std::int32_t, VECTOR_BYTES>(side.totals[1] - s[i]) - s_column;
    Floats both, column_only, row_only, neither;
    score_leaves(n_both, s_both, n_rest, s_rest, both, neither);
    score_leaves(n_column, s_column, n_row, s_row, column_only, row_only);
    float* const with = side.best + j;
    float* const without = with + stride;
    store_native<float, VECTOR_BYTES>(
        with, larger_native(load_native<float, VECTOR_BYTES>(with), both + column_only));
    store_native<float, VECTOR_BYTES>(
        without, larger_native(load_native<float, VECTOR_BYTES>(without), row_only + neither));
    row.with = larger_native(row.with, both + row_only);
    row.without = larger_native(row.without, column_only + neither);
}

// For each lane the lane `left` places on. In memory, because compilers do not turn loops into
// constants.
struct LanesOn {
    alignas(VECTOR_BYTES) std::int32_t by[FLOATS][FLOATS];
    constexpr LanesOn() : by() {
        for (int left = 0; left < FLOATS; ++left) {
            for (int k = 0; k < FLOATS; ++k) by[left][k] = (k + left) % FLOATS;
        }
    }
};
constexpr LanesOn LANES_ON;

SKTREE_INLINE float largest_float(Floats values) {
#if defined(__GNUC__) && !defined(__clang__)
    // Stays in a register: that takes less time than going through memory.
    SKTREE_UNROLL
    for (int left = FLOATS / 2; left > 0; left /= 2) {
        const Wholes other = load_native<std::int32_t, VECTOR_BYTES>(LANES_ON.by[left]);
        values = larger_native(values, __builtin_shuffle(values, other));
    }
    return values[0];
#else
    float lanes[FLOATS];
    store_native<float, VECTOR_BYTES>(lanes, values);
    for (int left = FLOATS / 2; left > 0; left /= 2) {
        for (int k = 0; k < left; ++k) {
            lanes[k] = lanes[k] > lanes[k + left] ? lanes[k] : lanes[k + left];
        }
    }
    return lanes[0];
#endif
}

SKTREE_INLINE void keep_rough_row(const RoughSide& side, int stride, int i, RoughBest row) {
    float* const best = side.best + i;
    const float with = largest_float(row.with), without = largest_float(row.without);
    best[0] = best[0] > with ? best[0] : with;
    best[stride] = best[stride] > without ? best[stride] : without;
}

// Column i against N_UNITS units of columns from j.
template <int N_UNITS>
SKTREE_INLINE void meet_strip(const RoughTask& task, RoughRows few, int i, int j,
                              RoughBest (&row)[2]) {
    std::int32_t tile[2 * STRIP];
    sum_strip<2, N_UNITS>(task, few, i, j, tile);
    const std::int32_t* const at_j = tile + j % LANES;
    const std::int32_t* parent_n = task.pairs + static_cast<std::ptrdiff_t>(i) * task.stride;
    const std::int32_t* parent_s =
        parent_n + static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    for (int k = 0; k < N_UNITS * UNIT; k += FLOATS) {
        const Wholes n = load_native<std::int32_t, VECTOR_BYTES>(at_j + k);
        const Wholes s = load_native<std::int32_t, VECTOR_BYTES>(at_j + STRIP + k);
        meet_roughly(task.counted, task.stride, i, j + k, n, s, row[0]);
        meet_roughly(task.sibling, task.stride, i, j + k,
                     load_native<std::int32_t, VECTOR_BYTES>(parent_n + j + k) - n,
                     load_native<std::int32_t, VECTOR_BYTES>(parent_s + j + k) - s, row[1]);
    }
}

// Makes the sums with two and with three splits by root column from the best of each side.
SKTREE_INLINE void finish_roughly(const RoughTask& task, RoughSide& side) {
    const int stride = task.stride;
    side.largest[0] = side.largest[1] = 0.0f;
    for (int j = 0; j < task.n_columns; ++j) {
        const float n = static_cast<float>(side.marginals[j]);
        const float s = static_cast<float>(side.marginals[stride + j]);
        const float rest = static_cast<float>(side.totals[0] - side.marginals[j]);
        const float s_rest = static_cast<float>(side.totals[1] - side.marginals[stride + j]);
        const float leaf = s * s / (n > 1.0f ? n : 1.0f);
        const float other = s_rest * s_rest / (rest > 1.0f ? rest : 1.0f);
        const float with = side.best[j] > leaf ? side.best[j] : leaf;
        const float without = side.best[stride + j] > other ? side.best[stride + j] : other;
        if (side.sides != nullptr) {
            side.sides[j] = with;
            side.sides[stride + j] = without;
        }
        const float by_with = with + other, by_without = leaf + without;
        side.best[j] = by_with > by_without ? by_with : by_without;
        side.best[stride + j] = with + without;
    }
    for (int k = 0; k < 2; ++k) {
        for (int j = 0; j < task.n_columns; ++j) {
            const float sum = side.best[k * stride + j];
            side.largest[k] = side.largest[k] > sum ? side.largest[k] : sum;
        }
    }
}

// Number of columns between two polls.
constexpr int COLUMNS_A_POLL = 64;

inline void sweep_roughly(RoughTask& task) {
    for (RoughSide* side : {&task.counted, &task.sibling}) {
        for (int k = 0; k < 2 * task.stride; ++k) side->best[k] = 0.0f;
    }
    for (int i = 0; i < task.n_columns; ++i) {
        if (i % COLUMNS_A_POLL == 0 && task.poll(task.poll_argument)) return;
        const RoughRows few = list_few(task, i);
        const Floats none = fill_native<float, VECTOR_BYTES>(0.0f);
        RoughBest row[2] = {{none, none}, {none, none}};
        for (int j = i / UNIT * UNIT; j < task.n_columns;) {
            const int end = j / LANES * LANES + STRIP;
            const int left = (end < task.n_columns ? end : task.n_columns) - j;
            switch ((left + UNIT - 1) / UNIT) {
                case 1:
                    meet_strip<1>(task, few, i, j, row);
                    break;
                case 2:
                    meet_strip<2>(task, few, i, j, row);
                    break;
                case 3:
                    meet_strip<UNITS == 1 ? 2 : 3>(task, few, i, j, row);
                    break;
                default:
                    meet_strip<2 * UNITS>(task, few, i, j, row);
            }
            j = end;
        }
        keep_rough_row(task.counted, task.stride, i, row[0]);
        keep_rough_row(task.sibling, task.stride, i, row[1]);
    }
    finish_roughly(task, task.counted);
    finish_roughly(task, task.sibling);
}

// The same of a single node, whose pairs are summed.
inline void score_rough_pairs(RoughTask& task) {
    RoughSide& side = task.counted;
    for (int k = 0; k < 2 * task.stride; ++k) side.best[k] = 0.0f;
    const std::ptrdiff_t channel_step = static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    const Floats none = fill_native<float, VECTOR_BYTES>(0.0f);
    for (int i = 0; i < task.n_columns; ++i) {
        RoughBest row = {none, none};
        const std::int32_t* n = task.pairs + static_cast<std::ptrdiff_t>(i) * task.stride;
        for (int j = i / FLOATS * FLOATS; j < task.n_columns; j += FLOATS) {
            meet_roughly(side, task.stride, i, j, load_native<std::int32_t, VECTOR_BYTES>(n + j),
                         load_native<std::int32_t, VECTOR_BYTES>(n + channel_step + j), row);
        }
        keep_rough_row(side, task.stride, i, row);
    }
    finish_roughly(task, side);
}

// Row i of a channel of pairs: replaces the sums of the rows outside of the node by its own.
inline void subtract_from_parent(const RoughTask& task, int channel, int i) {
    std::int32_t* const pairs =
        task.pairs + static_cast<std::ptrdiff_t>(channel) * task.n_columns * task.stride;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * task.stride;
    std::int32_t* __restrict const row = pairs + at;
    const std::int32_t* __restrict const all =
        task.parent_pairs + static_cast<std::ptrdiff_t>(channel) * task.n_columns * task.stride +
        at;
    for (int j = i; j < task.n_columns; ++j) row[j] = all[j] - row[j];
    // Columns before i in its vector: the same pair the other way around.
    for (int j = i / LANES * LANES; j < i; ++j) {
        row[j] = pairs[static_cast<std::ptrdiff_t>(j) * task.stride + i];
    }
}

// Sums of all pairs (i, j), of columns j from the vector that holds i on.
inline void sum_rough_pairs(RoughTask& task) {
    const std::ptrdiff_t channel_step = static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    for (int i = 0; i < task.n_columns; ++i) {
        if (i % COLUMNS_A_POLL == 0 && task.poll(task.poll_argument)) return;
        const RoughRows few = list_few(task, i);
        for (int j = i / LANES * LANES; j < task.n_columns; j += LANES) {
            std::int32_t tile[ROUGH_CHANNELS * STRIP];
            sum_strip<ROUGH_CHANNELS, UNITS>(task, few, i, j, tile);
            std::int32_t* to = task.pairs + static_cast<std::ptrdiff_t>(i) * task.stride + j;
            for (int c = 0; c < ROUGH_CHANNELS; ++c) {
                store_pack(to + c * channel_step, load_pack(tile + c * STRIP));
            }
        }
        for (int c = 0; c < ROUGH_CHANNELS && task.parent_pairs != nullptr; ++c) {
            subtract_from_parent(task, c, i);
        }
    }
}

inline void sum_rough_marginals(const RoughTask& task, std::int32_t* marginals) {
    sum_marginals(task, task.values, ROUGH_CHANNELS, marginals);
}
