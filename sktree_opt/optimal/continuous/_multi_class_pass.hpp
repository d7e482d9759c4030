// One pass of the depth-two solver for any number of classes, or of answers with costs. Included
// once per instruction set.
//
// A test with a leaf on either side saves max_a below_a + max_a above_a, where below_a sums over the
// rows of one branch what answer a saves. Along a column's order these sums only grow, so each
// maximum is kept up to date by the channel that has just changed, whatever the number of classes:
// a walk from the far end writes the second maximum for every position, a walk from the near end
// adds the first.

template <class Lane>
struct MultiClassSide {
    Lane* channel;                 // [channel][WIDTH]: sums of the branch
    Vector<Lane> top;              // their maximum
    Vector<Lane> best, best_supported;
    Vector<Lane> count[2], count_total[2];
};

template <class Lane>
SKTREE_INLINE void empty_channels(const PassTask<Lane>& task, MultiClassSide<Lane>& side) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int a = 0; a < task.n_channels; ++a) store(side.channel + a * WIDTH, splat<Lane>(0));
    side.top = side.count[0] = side.count[1] = splat<Lane>(0);
}

template <class Lane>
SKTREE_INLINE void raise_channel(MultiClassSide<Lane>& side, int a, Vector<Lane> amount) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    const Vector<Lane> sum = load(side.channel + a * WIDTH) + amount;
    store(side.channel + a * WIDTH, sum);
    side.top = larger(side.top, sum);
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_row(
    const PassTask<Lane>& task, std::uint32_t row, int offset, MultiClassSide<Lane> sides[2]) {
    const int label = task.label[row];
    for (int b = 0; b < 2; ++b) {
        const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
        if (UNIT) {
            raise_channel(sides[b], label, member);
        } else if (task.gain == nullptr) {
            raise_channel(sides[b], label, member * splat<Lane>(task.value[row]));
        } else {
            const Vector<Lane> weight = member * splat<Lane>(task.value[row]);
            for (int a = 0; a < task.n_channels; ++a)
                raise_channel(
                    sides[b], a, weight * splat<Lane>(task.gain[label * task.n_channels + a]));
        }
        if (SUPPORTS)
            for (int s = 0; s < task.n_supports; ++s) {
                const Lane amount = task.support[s] == nullptr ? Lane(1) : task.support[s][row];
                sides[b].count[s] = sides[b].count[s] + member * splat<Lane>(amount);
            }
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_rows(
    const PassTask<Lane>& task, const std::uint32_t* order, std::uint32_t begin, std::uint32_t end,
    int offset, MultiClassSide<Lane> sides[2]) {
    for (std::uint32_t i = begin; i < end; ++i)
        add_row<Lane, UNIT, SUPPORTS>(task, order[i] & ROW_MASK, offset, sides);
}

// Takes in the test whose branches save `side.top` and `other`.
template <class Lane, bool SUPPORTS>
SKTREE_INLINE void consider_pair(
    const PassTask<Lane>& task, MultiClassSide<Lane>& side, Vector<Lane> other) {
    Vector<Lane> sum = side.top + other;
    side.best = larger(side.best, sum);
    if (SUPPORTS) {
        const Vector<Lane> zero = splat<Lane>(0);
        for (int s = 0; s < task.n_supports; ++s) {
            const Vector<Lane> minimum = splat<Lane>(task.minimum[s]);
            sum = where_at_least(side.count[s], minimum, sum, zero);
            sum = where_at_least(side.count_total[s] - side.count[s], minimum, sum, zero);
        }
        side.best_supported = larger(side.best_supported, sum);
    }
}

// Rows of one class: their channel is kept in registers.
template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_run(
    const PassTask<Lane>& task, const std::uint32_t* order, std::uint32_t begin,
    const Run& run, int offset, MultiClassSide<Lane> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    if (SUPPORTS || (!UNIT && task.gain != nullptr)) {
        add_rows<Lane, UNIT, SUPPORTS>(task, order, begin, run.end, offset, sides);
        return;
    }
    Lane* const channel[2] = {
        sides[0].channel + run.label * WIDTH, sides[1].channel + run.label * WIDTH};
    Vector<Lane> sum[2] = {load(channel[0]), load(channel[1])};
    for (std::uint32_t i = begin; i < run.end; ++i) {
        const std::uint32_t row = order[i] & ROW_MASK;
        const int line = task.key[row] * BATCH + offset;
        for (int b = 0; b < 2; ++b) {
            const Vector<Lane> member = load(task.member[b] + line);
            sum[b] = sum[b] + (UNIT ? member : member * splat<Lane>(task.value[row]));
        }
    }
    for (int b = 0; b < 2; ++b) {
        store(channel[b], sum[b]);
        sides[b].top = larger(sides[b].top, sum[b]);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void walk_rows(
    const PassTask<Lane>& task, const PassColumn& column, int offset,
    MultiClassSide<Lane> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    const std::uint32_t n = column.n_present;
    Lane* above = task.above;
    for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
    for (std::uint32_t i = n; i-- > 0;) {
        add_row<Lane, UNIT, false>(task, column.order[i] & ROW_MASK, offset, sides);
        for (int b = 0; b < 2; ++b) store(above + (2 * i + b) * WIDTH, sides[b].top);
    }
    for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (int b = 0; b < 2; ++b)
            consider_pair<Lane, SUPPORTS>(task, sides[b], load(above + (2 * i + b) * WIDTH));
        add_row<Lane, UNIT, SUPPORTS>(task, column.order[i] & ROW_MASK, offset, sides);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void walk_runs(
    const PassTask<Lane>& task, const PassColumn& column, int offset, bool missing_below,
    MultiClassSide<Lane> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    const std::uint32_t n = column.n_present, n_runs = column.n_runs;
    for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
    if (!missing_below)
        add_rows<Lane, UNIT, false>(task, column.order, n, task.n_rows, offset, sides);
    // above[2 * k + b]: what the rows from run k on save.
    Lane* above = task.above;
    for (int b = 0; b < 2; ++b) store(above + (2 * n_runs + b) * WIDTH, sides[b].top);
    for (std::uint32_t k = n_runs; k-- > 0;) {
        const std::uint32_t begin = k == 0 ? 0 : column.runs[k - 1].end;
        add_run<Lane, UNIT, false>(task, column.order, begin, column.runs[k], offset, sides);
        for (int b = 0; b < 2; ++b) store(above + (2 * k + b) * WIDTH, sides[b].top);
    }
    for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
    if (missing_below)
        add_rows<Lane, UNIT, SUPPORTS>(task, column.order, n, task.n_rows, offset, sides);
    std::uint32_t i = 0;
    for (std::uint32_t k = 0; k < n_runs; ++k) {
        if (column.runs[k].starts_position)
            for (int b = 0; b < 2; ++b)
                consider_pair<Lane, SUPPORTS>(
                    task, sides[b], load(above + (2 * k + b) * WIDTH));
        add_run<Lane, UNIT, SUPPORTS>(task, column.order, i, column.runs[k], offset, sides);
        i = column.runs[k].end;
    }
    for (int b = 0; b < 2; ++b)
        consider_pair<Lane, SUPPORTS>(task, sides[b], load(above + (2 * n_runs + b) * WIDTH));
}

// One category, or only what is missing, against the rest.
template <class Lane, bool SUPPORTS>
SKTREE_INLINE void consider_category(
    const PassTask<Lane>& task, int offset, MultiClassSide<Lane> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int b = 0; b < 2; ++b) {
        Vector<Lane> rest = splat<Lane>(0);
        for (int a = 0; a < task.n_channels; ++a)
            rest = larger(rest, load(task.channel_total[b] + a * BATCH + offset) -
                                    load(sides[b].channel + a * WIDTH));
        consider_pair<Lane, SUPPORTS>(task, sides[b], rest);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void walk_categories(
    const PassTask<Lane>& task, const PassColumn& column, int offset, bool missing_below,
    MultiClassSide<Lane> sides[2]) {
    std::uint32_t i = 0, k = 0;
    do {
        for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
        if (missing_below)
            add_rows<Lane, UNIT, SUPPORTS>(
                task, column.order, column.n_present, task.n_rows, offset, sides);
        if (k == 0 && missing_below) consider_category<Lane, SUPPORTS>(task, offset, sides);
        do {
            add_run<Lane, UNIT, SUPPORTS>(task, column.order, i, column.runs[k], offset, sides);
            i = column.runs[k].end;
            ++k;
        } while (k < column.n_runs && !column.runs[k].starts_position);
        consider_category<Lane, SUPPORTS>(task, offset, sides);
    } while (k < column.n_runs);
}

template <class Lane, bool UNIT, bool SUPPORTS>
void multi_class_lanes(PassTask<Lane>& task) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int offset = 0; offset < task.n_lanes; offset += WIDTH) {
        MultiClassSide<Lane> sides[2];
        for (int b = 0; b < 2; ++b) {
            const Vector<Lane> zero = splat<Lane>(0);
            sides[b].channel = task.channels + b * task.n_channels * WIDTH;
            sides[b].best = sides[b].best_supported = zero;
            for (int s = 0; s < task.n_supports; ++s)
                sides[b].count_total[s] = load(task.support_total[b][s] + offset);
        }
        for (int k = 0; k < task.n_columns; ++k) {
            const PassColumn& column = task.columns[k];
            if (column.by_rows) {
                walk_rows<Lane, UNIT, SUPPORTS>(task, column, offset, sides);
                continue;
            }
            const int n_variants = column.n_present < task.n_rows ? 2 : 1;
            for (int missing_below = 0; missing_below < n_variants; ++missing_below) {
                if (column.is_nominal) {
                    walk_categories<Lane, UNIT, SUPPORTS>(
                        task, column, offset, missing_below != 0, sides);
                } else {
                    walk_runs<Lane, UNIT, SUPPORTS>(
                        task, column, offset, missing_below != 0, sides);
                }
            }
            if (task.poll(task.poll_argument)) return;
        }
        for (int b = 0; b < 2; ++b) {
            store(task.best[b][0] + offset, sides[b].best);
            store(task.best[b][1] + offset, sides[b].best_supported);
        }
    }
}

template <class Lane, bool SUPPORTS>
void multi_class_pass(PassTask<Lane>& task) {
    if (task.value == nullptr && task.gain == nullptr) {
        multi_class_lanes<Lane, true, SUPPORTS>(task);
    } else {
        multi_class_lanes<Lane, false, SUPPORTS>(task);
    }
}
