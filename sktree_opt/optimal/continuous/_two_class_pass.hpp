// One pass of the depth-two solver for two classes. Included once per instruction set.
//
// Rows of one class count +w, the other's -w. A leaf pair errs on (weight of the negative rows) +
// (signed sum D of the branch that answers negative), or the same with signs turned, so the best
// test of a side follows from the smallest and the largest D over all tests of all columns: no
// division into left and right counts, no minimum over answers, nothing to reset between columns.
//
// Why it is fast: a column's order is walked once for BATCH root tests. Each row adds one line of a
// small table (which root tests send it left, times its sign) that stays in the first-level cache:
// for 32 lanes of 16 bits and both sides that is two additions, two minima and two maxima.

template <class Lane>
struct TwoClassSide {
    Vector<Lane> sum, low, high, low_supported, high_supported;
    Vector<Lane> count[2], count_total[2];
};

// Takes in the branch whose signed sum is `sum` and whose supports are `count`.
template <class Lane, bool SUPPORTS>
SKTREE_INLINE void consider_branch(
    const PassTask<Lane>& task, TwoClassSide<Lane>& side, Vector<Lane> sum,
    const Vector<Lane>* count) {
    side.low = smaller(side.low, sum);
    side.high = larger(side.high, sum);
    if (SUPPORTS) {
        const Vector<Lane> zero = splat<Lane>(0);
        for (int s = 0; s < task.n_supports; ++s) {
            const Vector<Lane> minimum = splat<Lane>(task.minimum[s]);
            sum = where_at_least(count[s], minimum, sum, zero);
            sum = where_at_least(side.count_total[s] - count[s], minimum, sum, zero);
        }
        side.low_supported = smaller(side.low_supported, sum);
        side.high_supported = larger(side.high_supported, sum);
    }
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_row(
    const PassTask<Lane>& task, std::uint32_t row, int offset, TwoClassSide<Lane> sides[2]) {
    for (int b = 0; b < 2; ++b) {
        if (UNIT) {
            const int line = task.signed_key[row] * BATCH + offset;
            sides[b].sum = sides[b].sum + load(task.signed_member[b] + line);
        } else {
            const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
            sides[b].sum = sides[b].sum + member * splat<Lane>(task.value[row]);
        }
        if (SUPPORTS) {
            const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
            for (int s = 0; s < task.n_supports; ++s) {
                const Lane amount = task.support[s] == nullptr ? Lane(1) : task.support[s][row];
                sides[b].count[s] = sides[b].count[s] + member * splat<Lane>(amount);
            }
        }
    }
}

template <class Lane>
SKTREE_INLINE void empty_branch(TwoClassSide<Lane>& side) {
    side.sum = splat<Lane>(0);
    side.count[0] = side.count[1] = splat<Lane>(0);
}

// The sums of the rows in [begin, end) of an order.
template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void add_rows(
    const PassTask<Lane>& task, const std::uint32_t* order, std::uint32_t begin, std::uint32_t end,
    int offset, TwoClassSide<Lane> sides[2]) {
    for (std::uint32_t i = begin; i < end; ++i)
        add_row<Lane, UNIT, SUPPORTS>(task, order[i] & ROW_MASK, offset, sides);
}

// A column without missing values, row by row: no branches. Between rows of equal codes there is no
// test: what is considered there is the empty branch.
template <class Lane, bool UNIT, bool SUPPORTS, bool TIES>
SKTREE_INLINE void walk_rows(
    const PassTask<Lane>& task, const PassColumn& column, int offset,
    TwoClassSide<Lane> sides[2]) {
    TwoClassSide<Lane> s[2] = {sides[0], sides[1]};
    const std::uint32_t* order = column.order;
    const std::uint32_t n = column.n_present;
    for (std::uint32_t i = 0; i < n; ++i) {
        const Vector<Lane> is_test = splat<Lane>(static_cast<Lane>(order[i] >> 31));
        for (int b = 0; b < 2; ++b)
            consider_branch<Lane, SUPPORTS>(
                task, s[b], TIES ? s[b].sum * is_test : s[b].sum, s[b].count);
        add_row<Lane, UNIT, SUPPORTS>(task, order[i] & ROW_MASK, offset, s);
    }
    sides[0] = s[0];
    sides[1] = s[1];
}

template <class Lane, bool UNIT, bool SUPPORTS>
SKTREE_INLINE void walk_runs(
    const PassTask<Lane>& task, const PassColumn& column, int offset,
    TwoClassSide<Lane> sides[2]) {
    const bool has_missing = column.n_present < task.n_rows;
    TwoClassSide<Lane> missing[2] = {sides[0], sides[1]};
    add_rows<Lane, UNIT, SUPPORTS>(
        task, column.order, column.n_present, task.n_rows, offset, missing);
    TwoClassSide<Lane> s[2] = {sides[0], sides[1]};
    auto consider = [&](int b) SKTREE_INLINE_LAMBDA {
        consider_branch<Lane, SUPPORTS>(task, s[b], s[b].sum, s[b].count);
        if (has_missing) {
            Vector<Lane> count[2] = {s[b].count[0] + missing[b].count[0],
                                     s[b].count[1] + missing[b].count[1]};
            consider_branch<Lane, SUPPORTS>(task, s[b], s[b].sum + missing[b].sum, count);
        }
    };
    std::uint32_t i = 0;
    for (std::uint32_t k = 0; k < column.n_runs; ++k) {
        const Run& run = column.runs[k];
        // What came before is a branch, and so is a category alone.
        if (run.starts_position)
            for (int b = 0; b < 2; ++b) {
                if (i > 0 || !column.is_nominal) consider(b);
                if (column.is_nominal) empty_branch(s[b]);
            }
        add_rows<Lane, UNIT, SUPPORTS>(task, column.order, i, run.end, offset, s);
        i = run.end;
    }
    for (int b = 0; b < 2; ++b) consider(b);
    if (column.is_nominal && has_missing)
        for (int b = 0; b < 2; ++b)
            consider_branch<Lane, SUPPORTS>(task, s[b], missing[b].sum, missing[b].count);
    sides[0] = s[0];
    sides[1] = s[1];
}

template <class Lane, bool UNIT, bool SUPPORTS>
void two_class_lanes(PassTask<Lane>& task) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int offset = 0; offset < task.n_lanes; offset += WIDTH) {
        TwoClassSide<Lane> sides[2];
        for (int b = 0; b < 2; ++b) {
            const Vector<Lane> zero = splat<Lane>(0);
            sides[b] = {zero, zero, zero, zero, zero, {zero, zero}, {zero, zero}};
            for (int s = 0; s < task.n_supports; ++s)
                sides[b].count_total[s] = load(task.support_total[b][s] + offset);
        }
        for (int k = 0; k < task.n_columns; ++k) {
            const PassColumn& column = task.columns[k];
            for (int b = 0; b < 2; ++b) empty_branch(sides[b]);
            if (column.walk == Walk::ROWS) {
                walk_rows<Lane, UNIT, SUPPORTS, false>(task, column, offset, sides);
            } else if (column.walk == Walk::ROWS_WITH_TIES) {
                walk_rows<Lane, UNIT, SUPPORTS, true>(task, column, offset, sides);
            } else {
                walk_runs<Lane, UNIT, SUPPORTS>(task, column, offset, sides);
            }
            if (task.poll(task.poll_argument)) return;
        }
        for (int b = 0; b < 2; ++b) {
            store(task.low[b][0] + offset, sides[b].low);
            store(task.high[b][0] + offset, sides[b].high);
            store(task.low[b][1] + offset, sides[b].low_supported);
            store(task.high[b][1] + offset, sides[b].high_supported);
        }
    }
}

template <class Lane, bool SUPPORTS>
void two_class_pass(PassTask<Lane>& task) {
    if (task.value == nullptr) {
        two_class_lanes<Lane, true, SUPPORTS>(task);
    } else {
        two_class_lanes<Lane, false, SUPPORTS>(task);
    }
}
