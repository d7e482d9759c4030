// Best trees of at most two levels for all root columns at once. Exact. Included once per
// instruction set.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.3, Algorithm 4, with the one-, two-
// and three-split solutions out of the same counts (end of 4.3.2).
// https://jmlr.org/papers/v23/20-520.html
//   D         -> rows of the node, as words           FQ(f_i, f_j) -> PairCounts::both
//   F         -> n_columns                            CS(f_i, f_j) -> Objective::score
//   BestLeftSubtree(f), BestRightSubtree(f) -> with_column, without_column
// Deviations: the paper scatters each row into a matrix of pair counts, then reads the matrix. Here
// pairs are counted by blocks (see pair_counts.hpp), and scores are made of the counts while these
// are in registers. The matrix of counts is only written when the similarity bound needs it.
// Sibling subtraction (the paper's incremental counts, 4.3.3, in another form): the counts of the
// other child are the parent's minus these, so both children are solved by counting the smaller
// one. Each pair is met once. A block's four leaves are scored for i below root j, whose maxima
// stay in registers. They are also scored for j below root i, whose maxima are kept lane by lane in
// memory and reduced at the end. The last vector is seldom full, so it meets the fewest columns.
// Where the matrix of counts is wanted, each pair is met twice.
// Time O(n_words * n_columns * stride / LANES); memory O(channels * tile + n_columns * LANES).

// Running maxima over the second column of a pair, for a vector of root columns.
template <class Lane>
struct BestSides {
    Pack<Lane> with_column, without_column;
};

template <class Lane>
constexpr Lane lowest_score() {
    // Four scores can be added without overflow.
    return sizeof(Lane) == 2 ? -8192 : sizeof(Lane) == 4 ? -(1 << 29) : static_cast<Lane>(-1e300);
}

template <class Lane>
SKTREE_INLINE BestSides<Lane> no_sides() {
    const Pack<Lane> none = fill_pack(lowest_score<Lane>());
    return {none, none};
}

// Whether both leaves have the support they need, as a choice between two scores.
template <class A, class B, class Lane, class Both>
SKTREE_INLINE Pack<Lane> if_supported(const PairCounts<Lane, Both>& n,
                                      const ScoreParameters<Lane>& p, Pack<Lane> score) {
    const Pack<Lane> none = fill_pack(lowest_score<Lane>());
    for (int k = 0; k < p.n_supports; ++k) {
        const Pack<Lane> minimum = fill_pack(p.minimum_support[k]);
        score = where_at_least(A::count(n, p.n_channels + k), minimum, score, none);
        score = where_at_least(B::count(n, p.n_channels + k), minimum, score, none);
    }
    return score;
}

template <class LeafScore, class A, class B, bool SUPPORT, class Lane, class Both>
SKTREE_INLINE Pack<Lane> split_score(const PairCounts<Lane, Both>& n,
                                     const ScoreParameters<Lane>& p) {
    Pack<Lane> score = LeafScore::template score<A>(n, p) + LeafScore::template score<B>(n, p);
    if (SUPPORT) score = if_supported<A, B>(n, p, score);
    return score;
}

// Running maxima over pairs of columns.
template <class LeafScore, bool SUPPORT, class Lane>
struct Running {
    BestSides<Lane> best;

    static SKTREE_INLINE Running start() { return {no_sides<Lane>()}; }
    // Root columns j, with the test on column i below.
    template <class Both>
    SKTREE_INLINE void improve(const PairCounts<Lane, Both>& n, const ScoreParameters<Lane>& p) {
        best.with_column = larger(best.with_column,
                                  split_score<LeafScore, LeafBoth, LeafColumnOnly, SUPPORT>(n, p));
        best.without_column = larger(
            best.without_column, split_score<LeafScore, LeafRowOnly, LeafNeither, SUPPORT>(n, p));
    }
    // The same four leaves, with column i as the root and the tests on columns j below, by lane.
    template <class Both>
    SKTREE_INLINE void improve_row(const PairCounts<Lane, Both>& n,
                                   const ScoreParameters<Lane>& p) {
        best.with_column =
            larger(best.with_column, split_score<LeafScore, LeafBoth, LeafRowOnly, SUPPORT>(n, p));
        best.without_column =
            larger(best.without_column,
                   split_score<LeafScore, LeafColumnOnly, LeafNeither, SUPPORT>(n, p));
    }
    // Given the counts of the root's two sides.
    SKTREE_INLINE BestSides<Lane> sides(Pack<Lane>, Pack<Lane>) const { return best; }
};

// Leaves a and b of one side score |a| + |b| = max(|a + b|, |a - b|). The sum a + b is that of the
// side, whatever the test. So |a - b| = |2a - (a + b)| is largest where a is largest or smallest.
// It is enough to keep the maximum and the minimum of one leaf's counts, and to score at the end.
// The order is (a - (a + b)) + a, because 2a may be too large for a lane.
template <class Lane>
struct Running<TwoClassScore, false, Lane> {
    Pack<Lane> most_with, least_with, most_without, least_without;

    static SKTREE_INLINE Running start() {
        const Pack<Lane> lowest = fill_pack(std::numeric_limits<Lane>::lowest());
        const Pack<Lane> highest = fill_pack(std::numeric_limits<Lane>::max());
        return {lowest, highest, lowest, highest};
    }
    template <class Both>
    SKTREE_INLINE void improve(const PairCounts<Lane, Both>& n, const ScoreParameters<Lane>&) {
        widen_range(LeafBoth::count(n, 0), LeafRowOnly::count(n, 0));
    }
    template <class Both>
    SKTREE_INLINE void improve_row(const PairCounts<Lane, Both>& n, const ScoreParameters<Lane>&) {
        widen_range(LeafBoth::count(n, 0), LeafColumnOnly::count(n, 0));
    }
    SKTREE_INLINE void widen_range(Pack<Lane> with, Pack<Lane> without) {
        most_with = larger(most_with, with);
        least_with = smaller(least_with, with);
        most_without = larger(most_without, without);
        least_without = smaller(least_without, without);
    }
    SKTREE_INLINE BestSides<Lane> sides(Pack<Lane> with, Pack<Lane> without) const {
        return {larger((most_with - with) + most_with, (with - least_with) - least_with),
                larger((most_without - without) + most_without,
                       (without - least_without) - least_without)};
    }
};

// Counts of the first channel on both sides of root columns j, and of root column i.
template <class Lane>
SKTREE_INLINE void column_counts(const SweepSide<Lane>& side, int j, Pack<Lane>& with,
                                 Pack<Lane>& without) {
    with = load_pack(side.marginals + j);
    without = fill_pack(side.totals[0]) - with;
}
template <class Lane>
SKTREE_INLINE void row_counts(const SweepSide<Lane>& side, int i, Pack<Lane>& with,
                              Pack<Lane>& without) {
    with = fill_pack(side.marginals[i]);
    without = fill_pack(side.totals[0]) - with;
}

template <class Lane, class Both>
SKTREE_INLINE PairCounts<Lane, Both> pair_counts(const SweepSide<Lane>& side, int stride, int i,
                                                 int j, Both both) {
    return {both, side.marginals + i, side.marginals + j, stride, side.totals};
}

// Best sums with one to three splits over the root columns of one vector.
template <class LeafScore, bool SUPPORT, class Lane>
SKTREE_INLINE void finish_vector(const SweepTask<Lane>& task, SweepSide<Lane>& side, int j,
                                 BestSides<Lane> best, Pack<Lane> (&sums)[3]) {
    const auto n = pair_counts<Lane>(side, task.stride, j, j, NoCounts());
    const Pack<Lane> with = LeafScore::template score<LeafColumn>(n, task.score);
    const Pack<Lane> without = LeafScore::template score<LeafNoColumn>(n, task.score);
    best.with_column = larger(best.with_column, with);
    best.without_column = larger(best.without_column, without);
    if (side.best_true != nullptr) {
        store_pack(side.best_true + j, best.with_column);
        store_pack(side.best_false + j, best.without_column);
        store_pack(side.leaf_true + j, with);
        store_pack(side.leaf_false + j, without);
    }
    Pack<Lane> found[3] = {with + without,
                           larger(best.with_column + without, with + best.without_column),
                           best.with_column + best.without_column};
    for (int k = 0; k < 3; ++k) {
        if (SUPPORT) found[k] = if_supported<LeafColumn, LeafNoColumn>(n, task.score, found[k]);
        sums[k] = larger(sums[k], found[k]);
    }
}

template <class LeafScore, class Lane>
SKTREE_INLINE void finish_side(const SweepTask<Lane>& task, SweepSide<Lane>& side,
                               Pack<Lane> (&sums)[3]) {
    const auto n = pair_counts<Lane>(side, task.stride, 0, 0, NoCounts());
    side.best[0] = largest_lane(LeafScore::template score<LeafAll>(n, task.score));
    for (int k = 0; k < 3; ++k) {
        const Lane best = largest_lane(sums[k]);
        side.best[k + 1] = best > side.best[k] ? best : side.best[k];
    }
}

// Memory for the maxima of root columns i over lanes: by side, with and without the column; after
// those of both sides there is room for reduce_rows.
template <class Lane>
SKTREE_INLINE Lane* row_maxima(const SweepTask<Lane>& task, int side, bool with, int i) {
    const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(side) * 2 + with) * task.stride + i;
    return task.work + at * LANES;
}

template <class Lane>
SKTREE_INLINE void keep_row_maxima(const SweepTask<Lane>& task, int side, int i, int j,
                                   BestSides<Lane> best) {
    Lane* with = row_maxima(task, side, true, i);
    Lane* without = row_maxima(task, side, false, i);
    if (j > 0) {  // else these are the first columns that it meets
        best.with_column = larger(best.with_column, load_pack(with));
        best.without_column = larger(best.without_column, load_pack(without));
    }
    store_pack(with, best.with_column);
    store_pack(without, best.without_column);
}

// The larger of each two neighbours: `n` numbers out of 2 n. With a narrower index, whose doubling
// could wrap around, compilers make no vectors of it.
template <class Lane>
SKTREE_INLINE void halve(const Lane* __restrict from, std::ptrdiff_t n, Lane* __restrict to) {
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        to[k] = from[2 * k] > from[2 * k + 1] ? from[2 * k] : from[2 * k + 1];
    }
}

// Reduces each row of lanes to its maximum, for all columns at once so that vectors stay full.
// `spare` has room for half of the rows.
template <class Lane>
SKTREE_INLINE const Lane* reduce_rows(const SweepTask<Lane>& task, Lane* lanes, Lane* spare) {
    for (int left = LANES / 2; left > 0; left /= 2) {
        halve(lanes, task.n_columns * left, spare);
        Lane* const emptied = lanes;
        lanes = spare;
        spare = emptied;
    }
    for (int j = task.n_columns; j < task.stride; ++j) lanes[j] = lowest_score<Lane>();
    return lanes;
}

// Memory for the maxima of root columns j over the rows, by side, with and without the column.
template <class Lane>
SKTREE_INLINE Lane* column_maxima(const SweepTask<Lane>& task, int side, bool with) {
    return row_maxima(task, 2, true, 0) + (2 * side + with) * task.stride;
}

// Scores one row of a block. `counts(b)` are its counts, `others(b)` those of the sibling.
template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING, int VECTORS, class Counts,
          class Others>
SKTREE_INLINE void score_row(const SweepTask<Lane>& task, int i, int j, const Counts& counts,
                             const Others& others, Running<LeafScore, SUPPORT, Lane>* best,
                             Running<LeafScore, SUPPORT, Lane>* best_sibling) {
    typedef Running<LeafScore, SUPPORT, Lane> Maxima;
    Maxima row = Maxima::start(), row_sibling = Maxima::start();
    for (int b = 0; b < VECTORS; ++b) {
        const auto n = pair_counts(*task.counted, task.stride, i, j + b * LANES, counts(b));
        best[b].improve(n, task.score);
        if (!SIBLING) continue;
        row.improve_row(n, task.score);
        const auto m = pair_counts(*task.sibling, task.stride, i, j + b * LANES, others(b));
        best_sibling[b].improve(m, task.score);
        row_sibling.improve_row(m, task.score);
    }
    if (!SIBLING) return;
    Pack<Lane> with, without;
    row_counts(*task.counted, i, with, without);
    keep_row_maxima(task, 0, i, j, row.sides(with, without));
    row_counts(*task.sibling, i, with, without);
    keep_row_maxima(task, 1, i, j, row_sibling.sides(with, without));
}

// Writes the counts of a tile where they are wanted, and makes the sibling's counts.
template <class Lane, bool SIBLING, int ROWS, int VECTORS>
SKTREE_APART void pass_on(const SweepTask<Lane>& task, int i, int j) {
    constexpr int STEP = ROWS * VECTORS * LANES;
    const std::ptrdiff_t channel_step = static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    for (int c = 0; c < task.n_counted; ++c) {
        const Lane* tile = task.tile + c * STEP;
        Lane* other = task.tile + (task.n_counted + c) * STEP;
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                const std::ptrdiff_t at = c * channel_step + (i + a) * task.stride + j + b * LANES;
                const int in_tile = (a * VECTORS + b) * LANES;
                const Pack<Lane> counts = load_pack(tile + in_tile);
                if (task.pairs != nullptr) store_pack(task.pairs + at, counts);
                if (SIBLING) {
                    store_pack(other + in_tile, load_pack(task.parent_pairs + at) - counts);
                }
            }
        }
    }
}

// A row of a tile. A function of its own, or compilers make too much code of all the variants.
template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING>
SKTREE_APART void score_tile_row(const SweepTask<Lane>& task, int i, int j, const Lane* row,
                                 int step, int n_vectors, Running<LeafScore, SUPPORT, Lane>* best,
                                 Running<LeafScore, SUPPORT, Lane>* best_sibling) {
    const Lane* other = row + static_cast<std::ptrdiff_t>(task.n_counted) * step;
    for (int b = 0; b < n_vectors; ++b, row += LANES, other += LANES) {
        score_row<LeafScore, Lane, SUPPORT, SIBLING, 1>(
            task, i, j + b * LANES, [=](int) { return CountsInMemory<Lane>{row, step}; },
            [=](int) { return CountsInMemory<Lane>{other, step}; }, best + b, best_sibling + b);
    }
}

// Columns i .. i + ROWS against VECTORS vectors of columns from j.
template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING, int ROWS, int VECTORS>
SKTREE_INLINE void meet_block(const SweepTask<Lane>& task, int i, int j,
                              Running<LeafScore, SUPPORT, Lane>* best,
                              Running<LeafScore, SUPPORT, Lane>* best_sibling) {
    constexpr int STEP = ROWS * VECTORS * LANES;
    count_tile<Lane, ROWS, VECTORS>(task, i, j, task.tile);
    if (task.pairs != nullptr || SIBLING) pass_on<Lane, SIBLING, ROWS, VECTORS>(task, i, j);
    for (int a = 0; a < ROWS; ++a) {
        score_tile_row<LeafScore, Lane, SUPPORT, SIBLING>(
            task, i + a, j, task.tile + a * VECTORS * LANES, STEP, VECTORS, best, best_sibling);
    }
}

// The same where the counts of one channel stay in registers. The only other channel is the mass.
template <class LeafScore, bool SIBLING, int ROWS, int VECTORS>
SKTREE_INLINE void meet_signed_block(const SweepTask<std::int16_t>& task, int i, int j,
                                     Running<LeafScore, false, std::int16_t>* best,
                                     Running<LeafScore, false, std::int16_t>* best_sibling) {
    typedef std::int16_t Lane;
    const std::ptrdiff_t channel_step = static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    Vector16 counts[ROWS][VECTORS], mass[ROWS][VECTORS];
    if constexpr (SIBLING) count_signed<ROWS, VECTORS>(task, i, j, counts);
    else count_signed_and_mass<ROWS, VECTORS>(task, i, j, counts, mass);
    SKTREE_UNROLL
    for (int a = 0; a < ROWS; ++a) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i + a) * task.stride + j;
        for (int b = 0; b < VECTORS && !SIBLING; ++b) {
            Lane* pairs = task.pairs + at + b * LANES;
            store_native<Lane, VECTOR_BYTES>(pairs, counts[a][b]);
            store_native<Lane, VECTOR_BYTES>(pairs + channel_step, mass[a][b]);
        }
        const auto of_pair = [&](int b) { return CountsInRegister<Lane>{{{counts[a][b]}}}; };
        const auto of_sibling = [&](int b) {
            const Pack<Lane> all = load_pack(task.parent_pairs + at + b * LANES);
            return CountsInRegister<Lane>{all - Pack<Lane>{{counts[a][b]}}};
        };
        score_row<LeafScore, Lane, false, SIBLING, VECTORS>(task, i + a, j, of_pair, of_sibling,
                                                            best, best_sibling);
    }
}

template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING, bool SIGNED>
struct Meeting {
    typedef Running<LeafScore, SUPPORT, Lane> Maxima;

    template <int ROWS, int VECTORS>
    static SKTREE_INLINE void meet(const SweepTask<Lane>& task, int i, int j, Maxima* best,
                                   Maxima* best_sibling) {
        if constexpr (SIGNED) {
            meet_signed_block<LeafScore, SIBLING, ROWS, VECTORS>(task, i, j, best, best_sibling);
        } else {
            meet_block<LeafScore, Lane, SUPPORT, SIBLING, ROWS, VECTORS>(task, i, j, best,
                                                                         best_sibling);
        }
    }

    // Columns first .. last against VECTORS vectors from j.
    template <int VECTORS>
    static SKTREE_INLINE void meet_all(const SweepTask<Lane>& task, int first, int last, int j,
                                       Maxima* best, Maxima* best_sibling) {
        int i = first;
        for (; i + BLOCK_ROWS <= last; i += BLOCK_ROWS) {
            meet<BLOCK_ROWS, VECTORS>(task, i, j, best, best_sibling);
        }
        // Maxima may meet a column twice, so a whole block replaces many single columns.
        if (2 * (last - i) >= BLOCK_ROWS && last >= BLOCK_ROWS) {
            meet<BLOCK_ROWS, VECTORS>(task, last - BLOCK_ROWS, j, best, best_sibling);
            return;
        }
        for (; i < last; ++i) {
            for (int b = 0; b < VECTORS; ++b) {
                meet<1, 1>(task, i, j + b * LANES, best + b, best_sibling + b);
            }
        }
    }
};

// Root columns j .. j + VECTORS * LANES against all columns; with a sibling, against those among
// and after them, whose maxima are kept by row.
template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING, bool SIGNED, int VECTORS>
SKTREE_INLINE void sweep_vectors(const SweepTask<Lane>& task, int j, Pack<Lane> (&sums)[3]) {
    typedef Meeting<LeafScore, Lane, SUPPORT, SIBLING, SIGNED> Meet;
    Running<LeafScore, SUPPORT, Lane> best[2][VECTORS];
    for (auto& side : best) {
        for (auto& maxima : side) maxima = Running<LeafScore, SUPPORT, Lane>::start();
    }
    Pack<Lane> with, without;
    const int n = task.n_columns;
    if (!SIBLING) {
        Meet::template meet_all<VECTORS>(task, 0, n, j, best[0], best[1]);
        for (int b = 0; b < VECTORS; ++b) {
            column_counts(*task.counted, j + b * LANES, with, without);
            finish_vector<LeafScore, SUPPORT>(task, *task.counted, j + b * LANES,
                                              best[0][b].sides(with, without), sums);
        }
        return;
    }
    static_assert(VECTORS <= 2, "columns of the first vector meet that one, others both");
    const int after = j + LANES < n ? j + LANES : n;
    Meet::template meet_all<1>(task, j, after, j, best[0], best[1]);
    Meet::template meet_all<VECTORS>(task, after, n, j, best[0], best[1]);
    for (int side = 0; side < 2; ++side) {
        for (int b = 0; b < VECTORS; ++b) {
            const int at = j + b * LANES;
            column_counts(side == 0 ? *task.counted : *task.sibling, at, with, without);
            const BestSides<Lane> found = best[side][b].sides(with, without);
            store_pack(column_maxima(task, side, true) + at, found.with_column);
            store_pack(column_maxima(task, side, false) + at, found.without_column);
        }
    }
}

// With a sibling: combines the maxima over rows and over lanes, which are those over all columns.
template <class LeafScore, class Lane, bool SUPPORT>
SKTREE_INLINE void finish_rows(const SweepTask<Lane>& task, int which, SweepSide<Lane>& side,
                               Pack<Lane> (&sums)[3]) {
    Lane* spare = row_maxima(task, 2, false, 0);
    const Lane* with = reduce_rows(task, row_maxima(task, which, true, 0), spare);
    const Lane* without =
        reduce_rows(task, row_maxima(task, which, false, 0), spare + task.stride * (LANES / 2));
    for (int j = 0; j < task.n_columns; j += LANES) {
        const BestSides<Lane> best = {
            larger(load_pack(with + j), load_pack(column_maxima(task, which, true) + j)),
            larger(load_pack(without + j), load_pack(column_maxima(task, which, false) + j))};
        finish_vector<LeafScore, SUPPORT>(task, side, j, best, sums);
    }
}

// Sums of real numbers are costly, so those of a pair are made once for both of its columns.
template <class LeafScore, bool SUPPORT>
SKTREE_APART void sweep_values(SweepTask<double>& task) {
    const std::ptrdiff_t stride = task.stride, channel_step = task.n_columns * stride;
    for (int i = 0; i < task.n_columns; ++i) {
        if (i % 16 == 0 && task.poll != nullptr && task.poll(task.poll_argument)) return;
        for (int j = i / LANES * LANES; j < task.n_columns; j += LANES) {
            sum_tile<1, 1>(task, i, j, task.tile);
            for (int c = 0; c < task.n_counted; ++c) {
                store_pack(task.pairs + c * channel_step + i * stride + j,
                           load_pack(task.tile + c * LANES));
            }
        }
    }
    for (int c = 0; c < task.n_counted; ++c) {
        for (int first = 0; first < task.n_columns; first += 8) {
            for (int i = first; i < first + 8 && i < task.n_columns; ++i) {
                for (int j = 0; j < i / LANES * LANES; ++j) {
                    task.pairs[c * channel_step + i * stride + j] =
                        task.pairs[c * channel_step + j * stride + i];
                }
            }
        }
    }
    Pack<double> sums[3];
    for (auto& sum : sums) sum = fill_pack(lowest_score<double>());
    for (int j = 0; j < task.n_columns; j += LANES) {
        auto best = Running<LeafScore, SUPPORT, double>::start();
        for (int i = 0; i < task.n_columns; ++i) {
            const CountsInMemory<double> both = {task.pairs + i * stride + j,
                                                 static_cast<int>(channel_step)};
            const auto n = pair_counts(*task.counted, task.stride, i, j, both);
            best.improve(n, task.score);
        }
        Pack<double> with, without;
        column_counts(*task.counted, j, with, without);
        finish_vector<LeafScore, SUPPORT>(task, *task.counted, j, best.sides(with, without), sums);
    }
    finish_side<LeafScore>(task, *task.counted, sums);
}

template <class LeafScore, class Lane, bool SUPPORT, bool SIBLING, bool SIGNED>
void sweep(SweepTask<Lane>& given) {
    if constexpr (sizeof(Lane) == sizeof(double) && !SIBLING) {
        if (given.values != nullptr) return sweep_values<LeafScore, SUPPORT>(given);
    }
    // A local copy: no store to memory can change it, so compilers read it once.
    SweepTask<Lane> task = given;
    SweepSide<Lane> counted = *given.counted, sibling;
    task.counted = &counted;
    if (SIBLING) {
        sibling = *given.sibling;
        task.sibling = &sibling;
    }
    Pack<Lane> sums[2][3];
    for (auto& side : sums) {
        for (auto& sum : side) sum = fill_pack(lowest_score<Lane>());
    }
    constexpr int WIDE = BLOCK_VECTORS * LANES;
    int j = 0;
    for (; j + WIDE <= task.stride && j + WIDE - LANES < task.n_columns; j += WIDE) {
        if (task.poll != nullptr && task.poll(task.poll_argument)) return;
        sweep_vectors<LeafScore, Lane, SUPPORT, SIBLING, SIGNED, BLOCK_VECTORS>(task, j, sums[0]);
    }
    for (; j < task.n_columns; j += LANES) {
        sweep_vectors<LeafScore, Lane, SUPPORT, SIBLING, SIGNED, 1>(task, j, sums[0]);
    }
    if (SIBLING) {
        finish_rows<LeafScore, Lane, SUPPORT>(task, 0, counted, sums[0]);
        finish_rows<LeafScore, Lane, SUPPORT>(task, 1, sibling, sums[1]);
        finish_side<LeafScore>(task, sibling, sums[1]);
        *given.sibling = sibling;
    }
    finish_side<LeafScore>(task, counted, sums[0]);
    *given.counted = counted;
}
