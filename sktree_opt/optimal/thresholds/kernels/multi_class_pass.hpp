// One pass of the depth-two solver for any number of classes, or of answers with costs. Included
// once per instruction set.
//
// A test with a leaf on either side saves max_a below_a + max_a above_a, where below_a sums over
// the rows of one branch what answer a saves. Along a column's order these sums only grow, so each
// maximum is kept up to date by the channel that has just changed, whatever the number of classes.

template <class Lane, bool SUPPORTS>
struct MultiClassSide {
    Lane* channel;     // [channel][WIDTH]: sums of the branch
    Vector<Lane> top;  // their maximum
    Vector<Lane> best, best_supported;
    Vector<Lane> count[SUPPORTS ? 2 : 1];
    Supports<Lane, SUPPORTS> supports;
};

template <class Lane, bool SUPPORTS>
SKTREE_INLINE void empty_channels(const PassTask<Lane>& task,
                                  MultiClassSide<Lane, SUPPORTS>& side) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int a = 0; a < task.n_channels; ++a) store(side.channel + a * WIDTH, splat<Lane>(0));
    side.top = splat<Lane>(0);
    for (auto& each : side.count) each = splat<Lane>(0);
}

template <class Lane, bool SUPPORTS>
SKTREE_INLINE void raise_channel(MultiClassSide<Lane, SUPPORTS>& side, int a, Vector<Lane> amount) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    const Vector<Lane> sum = load(side.channel + a * WIDTH) + amount;
    store(side.channel + a * WIDTH, sum);
    side.top = larger(side.top, sum);
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_row(const PassTask<Lane>& task, std::uint32_t row, int offset,
                           MultiClassSide<Lane, SUPPORTS> sides[2]) {
    const int label = task.label[row];
    for (int b = 0; b < 2; ++b) {
        const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
        if (UNIT) {
            raise_channel(sides[b], label, member);
        } else if (task.gain == nullptr) {
            raise_channel(sides[b], label, member * splat<Lane>(task.value[row]));
        } else {
            const Vector<Lane> weight = member * splat<Lane>(task.value[row]);
            for (int a = 0; a < task.n_channels; ++a) {
                raise_channel(sides[b], a,
                              weight * splat<Lane>(task.gain[label * task.n_channels + a]));
            }
        }
        Supports<Lane, SUPPORTS>::add_row(task, row, member, sides[b].count);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_rows(const PassTask<Lane>& task, const std::uint32_t* order,
                            std::uint32_t begin, std::uint32_t end, int offset,
                            MultiClassSide<Lane, SUPPORTS> sides[2]) {
    for (std::uint32_t i = begin; i < end; ++i) {
        add_row<Lane, UNIT, SUPPORTS>(task, order[i] & ROW_MASK, offset, sides);
    }
}

// Takes in a test whose two branches save `sum`.
template <class Lane, bool SUPPORTS>
SKTREE_INLINE void consider_pair(const PassTask<Lane>& task, MultiClassSide<Lane, SUPPORTS>& side,
                                 Vector<Lane> sum) {
    side.best = larger(side.best, sum);
    if (SUPPORTS) {
        side.best_supported =
            larger(side.best_supported, side.supports.where_met(task, side.count, sum));
    }
}

// Rows of one class: their channel is kept in registers.
template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_run(const PassTask<Lane>& task, const std::uint32_t* order,
                           std::uint32_t begin, const Run& run, int offset,
                           MultiClassSide<Lane, SUPPORTS> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    if (SUPPORTS || (!UNIT && task.gain != nullptr)) {
        add_rows<Lane, UNIT, SUPPORTS>(task, order, begin, run.end, offset, sides);
        return;
    }
    Lane* const channel[2] = {sides[0].channel + run.label * WIDTH,
                              sides[1].channel + run.label * WIDTH};
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

// Adds element k of a column: a row, or a run of them.
template <class Lane, bool UNIT, bool SUPPORTS, Traversal TRAVERSAL>
SKTREE_INLINE void add_element(const PassTask<Lane>& task, const PassColumn& column,
                               std::uint32_t k, int offset,
                               MultiClassSide<Lane, SUPPORTS> sides[2]) {
    if (TRAVERSAL != Traversal::RUNS) {
        add_row<Lane, UNIT, SUPPORTS>(task, column.order[k] & ROW_MASK, offset, sides);
    } else {
        const std::uint32_t begin = k == 0 ? 0 : column.runs[k - 1].end;
        add_run<Lane, UNIT, SUPPORTS>(task, column.order, begin, column.runs[k], offset, sides);
    }
}

// Takes in the test before element k; between rows of equal codes there is none.
template <class Lane, bool SUPPORTS, Traversal TRAVERSAL>
SKTREE_INLINE void consider_element(const PassTask<Lane>& task, const PassColumn& column,
                                    std::uint32_t k, MultiClassSide<Lane, SUPPORTS> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    if (TRAVERSAL == Traversal::RUNS && !column.runs[k].starts_position) return;
    for (int b = 0; b < 2; ++b) {
        const Vector<Lane> other = load(task.tops + (2 * k + b) * WIDTH);
        if (TRAVERSAL == Traversal::ROWS_WITH_TIES) {
            const Lane is_test = static_cast<Lane>(column.order[k] >> 31);
            consider_pair<Lane, SUPPORTS>(task, sides[b],
                                          (sides[b].top + other) * splat<Lane>(is_test));
        } else {
            consider_pair<Lane, SUPPORTS>(task, sides[b], sides[b].top + other);
        }
    }
}

// Traverses the column from both ends at once. Until the two meet, each stores its maxima.
// Afterwards each adds its own maxima to those that the other stored. The two do not depend on each
// other, so the latencies of one hide behind those of the other.
template <class Lane, bool UNIT, bool SUPPORTS, Traversal TRAVERSAL>
SKTREE_INLINE void traverse_chain(const PassTask<Lane>& task, const PassColumn& column, int offset,
                                  bool missing_below, MultiClassSide<Lane, SUPPORTS> up[2],
                                  MultiClassSide<Lane, SUPPORTS> down[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    const std::uint32_t n = TRAVERSAL == Traversal::RUNS ? column.n_runs : column.n_present;
    const std::uint32_t half = n / 2;
    // tops[2 * k + b]: below element k in the first half, from it on in the second.
    Lane* const tops = task.tops;
    for (int b = 0; b < 2; ++b) {
        empty_channels(task, up[b]);
        empty_channels(task, down[b]);
    }
    add_rows<Lane, UNIT, SUPPORTS>(task, column.order, column.n_present, task.n_rows, offset,
                                   missing_below ? up : down);
    for (int b = 0; b < 2; ++b) store(tops + (2 * n + b) * WIDTH, down[b].top);
    for (std::uint32_t k = 0; k < n - half; ++k) {
        const std::uint32_t last = n - 1 - k;
        if (k < half) {
            for (int b = 0; b < 2; ++b) store(tops + (2 * k + b) * WIDTH, up[b].top);
            add_element<Lane, UNIT, SUPPORTS, TRAVERSAL>(task, column, k, offset, up);
        }
        add_element<Lane, UNIT, SUPPORTS, TRAVERSAL>(task, column, last, offset, down);
        for (int b = 0; b < 2; ++b) store(tops + (2 * last + b) * WIDTH, down[b].top);
    }
    for (std::uint32_t k = half; k < n; ++k) {
        consider_element<Lane, SUPPORTS, TRAVERSAL>(task, column, k, up);
        add_element<Lane, UNIT, SUPPORTS, TRAVERSAL>(task, column, k, offset, up);
        if (n - 1 - k >= half) continue;
        const std::uint32_t first = n - 1 - k;
        add_element<Lane, UNIT, SUPPORTS, TRAVERSAL>(task, column, first, offset, down);
        consider_element<Lane, SUPPORTS, TRAVERSAL>(task, column, first, down);
    }
    for (int b = 0; b < 2; ++b) {
        consider_pair<Lane, SUPPORTS>(task, up[b], up[b].top + load(tops + (2 * n + b) * WIDTH));
    }
}

// One category, or only what is missing, against the rest.
template <class Lane, bool SUPPORTS>
SKTREE_INLINE void consider_category(const PassTask<Lane>& task, int offset,
                                     MultiClassSide<Lane, SUPPORTS> sides[2]) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int b = 0; b < 2; ++b) {
        Vector<Lane> rest = splat<Lane>(0);
        for (int a = 0; a < task.n_channels; ++a) {
            rest = larger(rest, load(task.channel_total[b] + a * BATCH + offset) -
                                    load(sides[b].channel + a * WIDTH));
        }
        consider_pair<Lane, SUPPORTS>(task, sides[b], sides[b].top + rest);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void traverse_categories(const PassTask<Lane>& task, const PassColumn& column,
                                       int offset, bool missing_below,
                                       MultiClassSide<Lane, SUPPORTS> sides[2]) {
    std::uint32_t i = 0, k = 0;
    do {
        for (int b = 0; b < 2; ++b) empty_channels(task, sides[b]);
        if (missing_below) {
            add_rows<Lane, UNIT, SUPPORTS>(task, column.order, column.n_present, task.n_rows,
                                           offset, sides);
        }
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
        MultiClassSide<Lane, SUPPORTS> up[2], down[2];
        for (int b = 0; b < 2; ++b) {
            const Vector<Lane> zero = splat<Lane>(0);
            up[b].channel = task.channels + b * task.n_channels * WIDTH;
            up[b].best = up[b].best_supported = zero;
            up[b].supports.open(task, offset, b);
            down[b] = up[b];
            down[b].channel = task.channels + (2 + b) * task.n_channels * WIDTH;
        }
        for (int k = 0; k < task.n_columns; ++k) {
            const PassColumn& column = task.columns[k];
            const int n_variants = column.n_present < task.n_rows ? 2 : 1;
            for (int variant = 0; variant < n_variants; ++variant) {
                if (column.is_nominal) {
                    traverse_categories<Lane, UNIT, SUPPORTS>(task, column, offset, variant != 0,
                                                              up);
                } else if (column.traversal == Traversal::ROWS) {
                    traverse_chain<Lane, UNIT, SUPPORTS, Traversal::ROWS>(task, column, offset,
                                                                          false, up, down);
                } else if (column.traversal == Traversal::ROWS_WITH_TIES) {
                    traverse_chain<Lane, UNIT, SUPPORTS, Traversal::ROWS_WITH_TIES>(
                        task, column, offset, false, up, down);
                } else {
                    traverse_chain<Lane, UNIT, SUPPORTS, Traversal::RUNS>(task, column, offset,
                                                                          variant != 0, up, down);
                }
            }
            if (task.poll(task.poll_argument)) return;
        }
        for (int b = 0; b < 2; ++b) {
            store(task.best[b][0] + offset, larger(up[b].best, down[b].best));
            store(task.best[b][1] + offset, larger(up[b].best_supported, down[b].best_supported));
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
