// Solves a single root column of a node, or of its children, in full precision, for columns that
// rough sweeps (rough_squares.hpp) do not rule out. Included once per instruction set.
//
// Scores and names as in depth_two.hpp, for both children at once. Time of a column as of a sweep,
// divided by the number of columns.

// Raises the best sums of a side by column i as the root, and keeps the best of both sides of i.
template <class Lane>
SKTREE_INLINE void finish_column(SweepSide<Lane>& side, int i, BestSides<Lane> best) {
    const Lane leaf = side.leaf_true[i], other = side.leaf_false[i];
    const Lane with = std::max(leaf, largest_lane(best.with_column));
    const Lane without = std::max(other, largest_lane(best.without_column));
    side.best[2] = std::max({side.best[2], with + other, leaf + without});
    side.best[3] = std::max({side.best[3], side.best[2], with + without});
    if (side.best_true == nullptr) return;
    side.best_true[i] = with;
    side.best_false[i] = without;
}

// The pairs of column i with all others.
inline void sum_pairs_of(const SweepTask<double>& task, int i) {
    const std::ptrdiff_t stride = task.stride, channel_step = task.n_columns * stride;
    for (int j = 0; j < task.n_columns; j += LANES) {
        sum_tile<1, 1>(task, i, j, task.tile);
        for (int c = 0; c < task.n_counted; ++c) {
            store_pack(task.pairs + c * channel_step + i * stride + j,
                       load_pack(task.tile + c * LANES));
        }
    }
}

// A node's own column i, whose pairs are summed.
template <class LeafScore, class Lane>
void score_pairs_of(SweepTask<Lane>& task, int i) {
    const std::ptrdiff_t stride = task.stride, channel_step = task.n_columns * stride;
    SweepSide<Lane>& side = *task.counted;
    auto best = Running<LeafScore, false, Lane>::start();
    for (int j = 0; j < task.n_columns; j += LANES) {
        const CountsInMemory<Lane> both = {task.pairs + i * stride + j,
                                           static_cast<int>(channel_step)};
        best.improve_row(pair_counts(side, task.stride, i, j, both), task.score);
    }
    Pack<Lane> with, without;
    row_counts(side, i, with, without);
    finish_column(side, i, best.sides(with, without));
}

// The best sums of both sides with column i as the root, and those of one split of all columns.
template <class LeafScore, class Lane>
void solve_column(SweepTask<Lane>& task, int i) {
    typedef Running<LeafScore, false, Lane> Maxima;
    Maxima row[2] = {Maxima::start(), Maxima::start()};
    for (int j = 0; j < task.n_columns; j += LANES) {
        count_tile<Lane, 1, 1>(task, i, j, task.tile);
        pass_on<Lane, true, 1, 1>(task, i, j);
        SweepSide<Lane>* const sides[2] = {task.counted, task.sibling};
        for (int k = 0; k < 2; ++k) {
            const CountsInMemory<Lane> both = {task.tile + k * task.n_counted * LANES, LANES};
            const auto n = pair_counts(*sides[k], task.stride, i, j, both);
            row[k].improve_row(n, task.score);
        }
    }
    SweepSide<Lane>* const sides[2] = {task.counted, task.sibling};
    for (int k = 0; k < 2; ++k) {
        SweepSide<Lane>& side = *sides[k];
        Pack<Lane> n_with, n_without;
        row_counts(side, i, n_with, n_without);
        finish_column(side, i, row[k].sides(n_with, n_without));
    }
}

// The best sums of a node, or of both sides, with at most one split; the scores of leaves by
// column.
template <class LeafScore, class Lane>
void solve_leaves(SweepTask<Lane>& task) {
    for (SweepSide<Lane>* side : {task.counted, task.sibling}) {
        if (side == nullptr) continue;
        Pack<Lane> sums = fill_pack(lowest_score<Lane>());
        for (int j = 0; j < task.n_columns; j += LANES) {
            const auto n = pair_counts<Lane>(*side, task.stride, j, j, NoCounts());
            const Pack<Lane> with = LeafScore::template score<LeafColumn>(n, task.score);
            const Pack<Lane> without = LeafScore::template score<LeafNoColumn>(n, task.score);
            store_pack(side->leaf_true + j, with);
            store_pack(side->leaf_false + j, without);
            sums = larger(sums, with + without);
        }
        const auto n = pair_counts<Lane>(*side, task.stride, 0, 0, NoCounts());
        side->best[0] = largest_lane(LeafScore::template score<LeafAll>(n, task.score));
        side->best[1] = side->best[2] = side->best[3] = std::max(side->best[0], largest_lane(sums));
    }
}
