// Best trees of at most two levels for all root columns at once. Exact. Included once per
// instruction set.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.3, Algorithm 4, with the one-, two- and
// three-split solutions out of the same counts (end of 4.3.2). https://jmlr.org/papers/v23/20-520.html
//   D         -> rows of the node, as words           FQ(f_i, f_j) -> PairCounts::both
//   F         -> n_columns                            CS(f_i, f_j) -> Objective::score
//   BestLeftSubtree(f), BestRightSubtree(f) -> best_true, best_false
// Deviations: the paper scatters each row into a matrix of pair counts, then walks the matrix. Here
// the lanes of a vector are root columns j; a broadcast word of column i is and-ed with the words of
// 32 columns j, and a popcount of each lane is the pair count itself, 512 rows-times-columns an
// instruction and no sum across lanes. Scores are made of the counts while they are in registers and
// first-level cache, the maxima over i stay in registers, and the matrix of counts is only written
// when the similarity bound needs it. Taking all i for each j does every pair twice, which costs
// less than the reduction across lanes that counting each pair once would need.
// Sibling subtraction (the paper's incremental counts, 4.3.3, in another form): the counts of the
// other child are the parent's minus these, so both children are solved by counting the smaller.
// Time O(n_words * n_columns * stride / LANES); memory O(channels * tile).

// Adds the counts of pairs (i + a, 32 columns from j + b * LANES) over the words first..last.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_words(
    const std::uint16_t* words, int stride, int first, int last, int i, int j,
    Vector16 (&counts)[ROWS][VECTORS]) {
    for (int a = 0; a < ROWS; ++a)
        for (int b = 0; b < VECTORS; ++b) counts[a][b] = Vector16{};
    for (int start = first; start < last; start += STEPS_PER_FOLD) {
        const int end = last - start < STEPS_PER_FOLD ? last : start + STEPS_PER_FOLD;
        Vector16 partial[ROWS][VECTORS];
        for (int a = 0; a < ROWS; ++a)
            for (int b = 0; b < VECTORS; ++b) partial[a][b] = Vector16{};
        for (int w = start; w < end; ++w) {
            const std::uint16_t* row = words + static_cast<std::ptrdiff_t>(w) * stride;
            Vector16 columns[VECTORS];
            for (int b = 0; b < VECTORS; ++b)
                columns[b] = load_native<std::int16_t, VECTOR_BYTES>(row + j + b * LANES);
            for (int a = 0; a < ROWS; ++a) {
                const Vector16 spread = broadcast16(row + i + a);
                for (int b = 0; b < VECTORS; ++b)
                    partial[a][b] = add_popcount(partial[a][b], columns[b] & spread);
            }
        }
        for (int a = 0; a < ROWS; ++a)
            for (int b = 0; b < VECTORS; ++b)
                counts[a][b] = counts[a][b] + fold_counts(partial[a][b]);
    }
}

// A lane of 16 bits holds the counts of so many words.
constexpr int MAX_WORDS = 2047;

template <class Lane, int ROWS, int VECTORS>
SKTREE_INLINE void add_counts(
    Lane coefficient, const Vector16 (&counts)[ROWS][VECTORS], Lane* sums) {
    const Pack<Lane> factor = fill_pack(coefficient);
    for (int a = 0; a < ROWS; ++a)
        for (int b = 0; b < VECTORS; ++b) {
            Lane* sum = sums + (a * VECTORS + b) * LANES;
            store_pack(sum, load_pack(sum) + factor * widen<Lane>(counts[a][b]));
        }
}

// The same sums of real values, row by row: a row is added where it has column i, as `value` in the
// columns that it has and 0 elsewhere.
template <class Lane, int ROWS, int VECTORS>
SKTREE_INLINE void sum_tile(const SweepTask<Lane>& task, int i, int j, Lane* tile) {
    for (int k = 0; k < task.n_slots; ++k) {
        const std::uint8_t* row =
            task.rows + static_cast<std::ptrdiff_t>(task.slots[k]) * task.row_bytes;
        const double* values =
            task.values + static_cast<std::ptrdiff_t>(task.slots[k]) * task.n_all_channels;
        for (int a = 0; a < ROWS; ++a) {
            if (((row[(i + a) / 8] >> ((i + a) % 8)) & 1) == 0) continue;
            for (int c = 0; c < task.n_counted; ++c)
                for (int b = 0; b < VECTORS; ++b) {
                    Lane* sum = tile + ((c * ROWS + a) * VECTORS + b) * LANES;
                    store_pack(
                        sum, load_pack(sum) + fill_pack(static_cast<Lane>(values[c])) *
                                                  spread_bits<Lane>(row + (j + b * LANES) / 8));
                }
        }
    }
}

// Counts of a tile of pairs, by channel: tile[((c * ROWS + a) * VECTORS + b) * LANES].
template <class Lane, int ROWS, int VECTORS>
SKTREE_INLINE void count_tile(const SweepTask<Lane>& task, int i, int j, Lane* tile) {
    const int per_channel = ROWS * VECTORS * LANES;
    for (int k = 0; k < task.n_counted * per_channel; k += LANES)
        store_pack(tile + k, fill_pack<Lane>(0));
    if (sizeof(Lane) == sizeof(double) && task.values != nullptr) {
        sum_tile<Lane, ROWS, VECTORS>(task, i, j, tile);
        return;
    }
    for (int s = 0; s < task.n_segments; ++s) {
        const Span span = task.spans[s];
        const int end = span.first_word + span.n_words;
        for (int first = span.first_word; first < end; first += MAX_WORDS) {
            const int last = end - first < MAX_WORDS ? end : first + MAX_WORDS;
            Vector16 counts[ROWS][VECTORS];
            count_words<ROWS, VECTORS>(task.words, task.stride, first, last, i, j, counts);
            for (int c = 0; c < task.n_counted; ++c) {
                const Lane coefficient = task.coefficients[s * task.n_all_channels + c];
                if (coefficient != 0)
                    add_counts<Lane, ROWS, VECTORS>(coefficient, counts, tile + c * per_channel);
            }
        }
    }
}

// Running maxima of one vector of root columns.
template <class Lane>
struct BestSides {
    Pack<Lane> with_column, without_column;
};

template <class Lane>
constexpr Lane lowest_score() {
    // Four scores can be added without overflow.
    return sizeof(Lane) == 2 ? -8192 : sizeof(Lane) == 4 ? -(1 << 29) : static_cast<Lane>(-1e300);
}

// Whether both leaves have the support they need, as a choice between two scores.
template <class A, class B, class Lane>
SKTREE_INLINE Pack<Lane> if_supported(
    const PairCounts<Lane>& n, const ScoreParameters<Lane>& p, Pack<Lane> score) {
    const Pack<Lane> none = fill_pack(lowest_score<Lane>());
    for (int k = 0; k < p.n_supports; ++k) {
        const Pack<Lane> minimum = fill_pack(p.minimum_support[k]);
        score = where_at_least(A::count(n, p.n_channels + k), minimum, score, none);
        score = where_at_least(B::count(n, p.n_channels + k), minimum, score, none);
    }
    return score;
}

template <class Objective, class A, class B, bool SUPPORT, class Lane>
SKTREE_INLINE Pack<Lane> split_score(const PairCounts<Lane>& n, const ScoreParameters<Lane>& p) {
    Pack<Lane> score =
        Objective::template score<A>(n, p) + Objective::template score<B>(n, p);
    if (SUPPORT) score = if_supported<A, B>(n, p, score);
    return score;
}

template <class Objective, bool SUPPORT, class Lane>
SKTREE_INLINE void improve(
    const PairCounts<Lane>& n, const ScoreParameters<Lane>& p, BestSides<Lane>& best) {
    best.with_column = larger(
        best.with_column,
        split_score<Objective, LeafBoth, LeafColumnOnly, SUPPORT>(n, p));
    best.without_column = larger(
        best.without_column,
        split_score<Objective, LeafRowOnly, LeafNeither, SUPPORT>(n, p));
}

template <class Lane>
SKTREE_INLINE PairCounts<Lane> pair_counts(
    const SweepSide<Lane>& side, int stride, int i, int j, const Lane* both, int both_step) {
    return {both, both_step, side.marginals + i, side.marginals + j, stride, side.totals};
}

// Best sums with one to three splits over the root columns of one vector.
template <class Objective, bool SUPPORT, class Lane>
SKTREE_INLINE void finish_vector(
    const SweepTask<Lane>& task, SweepSide<Lane>& side, int j, BestSides<Lane> best,
    Pack<Lane> (&sums)[3]) {
    const PairCounts<Lane> n = pair_counts<Lane>(side, task.stride, j, j, nullptr, 0);
    const Pack<Lane> with = Objective::template score<LeafColumn>(n, task.score);
    const Pack<Lane> without = Objective::template score<LeafNoColumn>(n, task.score);
    best.with_column = larger(best.with_column, with);
    best.without_column = larger(best.without_column, without);
    if (side.best_true != nullptr) {
        store_pack(side.best_true + j, best.with_column);
        store_pack(side.best_false + j, best.without_column);
        store_pack(side.leaf_true + j, with);
        store_pack(side.leaf_false + j, without);
    }
    Pack<Lane> found[3] = {
        with + without,
        larger(best.with_column + without, with + best.without_column),
        best.with_column + best.without_column};
    for (int k = 0; k < 3; ++k) {
        if (SUPPORT) found[k] = if_supported<LeafColumn, LeafNoColumn>(n, task.score, found[k]);
        sums[k] = larger(sums[k], found[k]);
    }
}

template <class Objective, class Lane>
SKTREE_INLINE void finish_side(
    const SweepTask<Lane>& task, SweepSide<Lane>& side, Pack<Lane> (&sums)[3]) {
    const PairCounts<Lane> n = pair_counts<Lane>(side, task.stride, 0, 0, nullptr, 0);
    side.best[0] = largest_lane(Objective::template score<LeafAll>(n, task.score));
    for (int k = 0; k < 3; ++k) {
        const Lane best = largest_lane(sums[k]);
        side.best[k + 1] = best > side.best[k] ? best : side.best[k];
    }
}

// Writes the counts of a tile where they are wanted, and makes the sibling's beside them.
template <class Lane, bool SIBLING, int VECTORS>
SKTREE_INLINE void pass_on(const SweepTask<Lane>& task, int i, int j) {
    constexpr int STEP = BLOCK_ROWS * VECTORS * LANES;
    const std::ptrdiff_t channel_step = static_cast<std::ptrdiff_t>(task.n_columns) * task.stride;
    const int rows = task.n_columns - i < BLOCK_ROWS ? task.n_columns - i : BLOCK_ROWS;
    for (int c = 0; c < task.n_counted; ++c) {
        const Lane* tile = task.tile + c * STEP;
        Lane* other = task.tile + (task.n_counted + c) * STEP;
        for (int a = 0; a < rows; ++a)
            for (int b = 0; b < VECTORS; ++b) {
                const std::ptrdiff_t at = c * channel_step + (i + a) * task.stride + j + b * LANES;
                const int in_tile = (a * VECTORS + b) * LANES;
                const Pack<Lane> counts = load_pack(tile + in_tile);
                if (task.pairs != nullptr) store_pack(task.pairs + at, counts);
                if (SIBLING)
                    store_pack(other + in_tile, load_pack(task.parent_pairs + at) - counts);
            }
        // Past the last column nothing is left to subtract from: no row has it.
        if (SIBLING)
            for (int k = rows * VECTORS * LANES; k < STEP; k += LANES)
                store_pack(other + k, fill_pack<Lane>(0));
    }
}

// Root columns j .. j + VECTORS * LANES against all columns.
template <class Objective, class Lane, bool SUPPORT, bool SIBLING, int VECTORS>
SKTREE_INLINE void sweep_vectors(
    const SweepTask<Lane>& task, int j, Pack<Lane> (&sums)[2][3]) {
    constexpr int STEP = BLOCK_ROWS * VECTORS * LANES;
    BestSides<Lane> best[2][VECTORS];
    for (int b = 0; b < VECTORS; ++b) {
        const Pack<Lane> none = fill_pack(lowest_score<Lane>());
        best[0][b] = best[1][b] = {none, none};
    }
    for (int i = 0; i < task.n_columns; i += BLOCK_ROWS) {
        count_tile<Lane, BLOCK_ROWS, VECTORS>(task, i, j, task.tile);
        if (task.pairs != nullptr || SIBLING) pass_on<Lane, SIBLING, VECTORS>(task, i, j);
        for (int a = 0; a < BLOCK_ROWS; ++a)
            for (int b = 0; b < VECTORS; ++b) {
                const Lane* both = task.tile + (a * VECTORS + b) * LANES;
                improve<Objective, SUPPORT>(
                    pair_counts(*task.counted, task.stride, i + a, j + b * LANES, both, STEP),
                    task.score, best[0][b]);
                if (SIBLING)
                    improve<Objective, SUPPORT>(
                        pair_counts(
                            *task.sibling, task.stride, i + a, j + b * LANES,
                            both + task.n_counted * STEP, STEP),
                        task.score, best[1][b]);
            }
    }
    for (int b = 0; b < VECTORS; ++b) {
        finish_vector<Objective, SUPPORT>(task, *task.counted, j + b * LANES, best[0][b], sums[0]);
        if (SIBLING)
            finish_vector<Objective, SUPPORT>(
                task, *task.sibling, j + b * LANES, best[1][b], sums[1]);
    }
}

template <class Objective, class Lane, bool SUPPORT, bool SIBLING>
void sweep(SweepTask<Lane>& task) {
    Pack<Lane> sums[2][3];
    for (auto& side : sums)
        for (auto& sum : side) sum = fill_pack(lowest_score<Lane>());
    constexpr int WIDE = BLOCK_VECTORS * LANES;
    int j = 0;
    for (; j + WIDE <= task.n_columns || (WIDE <= STRIDE && j < task.n_columns); j += WIDE) {
        if (task.poll != nullptr && task.poll(task.poll_argument)) return;
        sweep_vectors<Objective, Lane, SUPPORT, SIBLING, BLOCK_VECTORS>(task, j, sums);
    }
    for (; j < task.n_columns; j += LANES)
        sweep_vectors<Objective, Lane, SUPPORT, SIBLING, 1>(task, j, sums);
    finish_side<Objective>(task, *task.counted, sums[0]);
    if (SIBLING) finish_side<Objective>(task, *task.sibling, sums[1]);
}

template <class Lane>
void sum_marginals(const SweepTask<Lane>& task, Lane* marginals) {
    for (int k = 0; k < task.n_slots; ++k) {
        const std::ptrdiff_t slot = task.slots[k];
        const double* values = task.values + slot * task.n_all_channels;
        for (int c = 0; c < task.n_all_channels; ++c)
            for (int j = 0; j < task.n_columns; j += LANES) {
                Lane* sum = marginals + c * task.stride + j;
                store_pack(
                    sum, load_pack(sum) +
                             fill_pack(static_cast<Lane>(values[c])) *
                                 spread_bits<Lane>(task.rows + slot * task.row_bytes + j / 8));
            }
    }
}

// Counts of each column alone, by channel.
template <class Lane>
void count_marginals(const SweepTask<Lane>& task, Lane* marginals) {
    for (int k = 0; k < task.n_all_channels * task.stride; k += LANES)
        store_pack(marginals + k, fill_pack<Lane>(0));
    if (sizeof(Lane) == sizeof(double) && task.values != nullptr) {
        sum_marginals(task, marginals);
        return;
    }
    for (int s = 0; s < task.n_segments; ++s) {
        const Lane* coefficients = task.coefficients + s * task.n_all_channels;
        const int end = task.spans[s].first_word + task.spans[s].n_words;
        for (int j = 0; j < task.n_columns; j += LANES)
            for (int first = task.spans[s].first_word; first < end; first += STEPS_PER_FOLD) {
                const int last = end - first < STEPS_PER_FOLD ? end : first + STEPS_PER_FOLD;
                Vector16 counts = Vector16{};
                for (int w = first; w < last; ++w) {
                    const Vector16 bits = load_native<std::int16_t, VECTOR_BYTES>(
                        task.words + static_cast<std::ptrdiff_t>(w) * task.stride + j);
                    counts = add_popcount(counts, bits);
                }
                const Pack<Lane> wide = widen<Lane>(fold_counts(counts));
                for (int c = 0; c < task.n_all_channels; ++c) {
                    Lane* sum = marginals + c * task.stride + j;
                    store_pack(sum, load_pack(sum) + fill_pack(coefficients[c]) * wide);
                }
            }
    }
}
