// Passes over the columns with running sums. Included once per instruction set.
//
// A Side is one side of the root tests of all lanes. It has BranchLanes, the sums of the rows that
// have been traversed, and keeps the best test among the branches that it is asked to consider.

// Sums of a branch's rows, and the amounts that each leaf needs a minimum of.
template <class Lane, int N_SUMS, bool SUPPORTS>
struct BranchLanes {
    Vector<Lane> sum[N_SUMS], count[SUPPORTS ? 2 : 1];

    SKTREE_INLINE void clear() {
        for (auto& each : sum) each = splat<Lane>(0);
        for (auto& each : count) each = splat<Lane>(0);
    }
    // Sums times a factor, which is 0 or 1.
    SKTREE_INLINE BranchLanes times(Vector<Lane> factor) const {
        BranchLanes scaled = *this;
        for (auto& each : scaled.sum) each = each * factor;
        return scaled;
    }
    SKTREE_INLINE BranchLanes plus(const BranchLanes& other) const {
        BranchLanes both = *this;
        for (int k = 0; k < N_SUMS; ++k) both.sum[k] = sum[k] + other.sum[k];
        if (SUPPORTS) {
            for (int s = 0; s < 2; ++s) both.count[s] = count[s] + other.count[s];
        }
        return both;
    }
};

// A column without missing values, row by row: no branches of the processor. Rows of equal codes
// cannot be divided, so the empty branch is considered between them.
template <class Side, bool TIES, class Lane>
SKTREE_INLINE void traverse_rows(const PassTask<Lane>& task, const PassColumn& column, int offset,
                                 Side sides[2]) {
    Side s[2] = {sides[0], sides[1]};
    const std::uint32_t* order = column.order;
    const std::uint32_t n = column.n_present;
    for (std::uint32_t i = 0; i < n; ++i) {
        const Vector<Lane> is_test = splat<Lane>(static_cast<Lane>(order[i] >> 31));
        const std::uint32_t row = order[i] & ROW_MASK;
        for (int b = 0; b < 2; ++b) {
            s[b].consider(task, TIES ? s[b].branch.times(is_test) : s[b].branch);
        }
        for (int b = 0; b < 2; ++b) s[b].add_row(task, row, offset, b);
    }
    sides[0] = s[0];
    sides[1] = s[1];
}

template <class Side, class Lane>
SKTREE_INLINE void traverse_runs(const PassTask<Lane>& task, const PassColumn& column, int offset,
                                 Side sides[2]) {
    const bool has_missing = column.n_present < task.n_rows;
    Side missing[2] = {sides[0], sides[1]};
    auto add_rows = [&](Side to[2], std::uint32_t begin, std::uint32_t end) SKTREE_INLINE_LAMBDA {
        for (std::uint32_t i = begin; i < end; ++i) {
            for (int b = 0; b < 2; ++b) to[b].add_row(task, column.order[i] & ROW_MASK, offset, b);
        }
    };
    add_rows(missing, column.n_present, task.n_rows);
    Side s[2] = {sides[0], sides[1]};
    auto consider = [&](int b) SKTREE_INLINE_LAMBDA {
        s[b].consider(task, s[b].branch);
        if (has_missing) s[b].consider(task, s[b].branch.plus(missing[b].branch));
    };
    std::uint32_t i = 0;
    for (std::uint32_t k = 0; k < column.n_runs; ++k) {
        const Run& run = column.runs[k];
        // The rows so far are a branch, and so is a single category.
        if (run.starts_position) {
            for (int b = 0; b < 2; ++b) {
                if (i > 0 || !column.is_nominal) consider(b);
                if (column.is_nominal) s[b].branch.clear();
            }
        }
        add_rows(s, i, run.end);
        i = run.end;
    }
    for (int b = 0; b < 2; ++b) consider(b);
    if (column.is_nominal && has_missing) {
        for (int b = 0; b < 2; ++b) s[b].consider(task, missing[b].branch);
    }
    sides[0] = s[0];
    sides[1] = s[1];
}

template <class Side, class Lane>
void traverse_columns(PassTask<Lane>& task) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Lane);
    for (int offset = 0; offset < task.n_lanes; offset += WIDTH) {
        Side sides[2];
        for (int b = 0; b < 2; ++b) sides[b].open(task, offset, b);
        for (int k = 0; k < task.n_columns; ++k) {
            const PassColumn& column = task.columns[k];
            for (int b = 0; b < 2; ++b) sides[b].branch.clear();
            if (column.traversal == Traversal::ROWS) {
                traverse_rows<Side, false>(task, column, offset, sides);
            } else if (column.traversal == Traversal::ROWS_WITH_TIES) {
                traverse_rows<Side, true>(task, column, offset, sides);
            } else {
                traverse_runs<Side>(task, column, offset, sides);
            }
            if (task.poll(task.poll_argument)) return;
        }
        for (int b = 0; b < 2; ++b) sides[b].close(task, offset, b);
    }
}

// Amounts that each leaf needs a minimum of: rows or weight.
template <class Lane, bool SUPPORTS>
struct Supports {
    Vector<Lane> total[SUPPORTS ? 2 : 1];

    SKTREE_INLINE void open(const PassTask<Lane>& task, int offset, int b) {
        if constexpr (SUPPORTS) {
            for (int s = 0; s < task.n_supports; ++s) {
                total[s] = load(task.support_total[b][s] + offset);
            }
        }
    }
    // `value` where both branches have the minima, else 0.
    SKTREE_INLINE Vector<Lane> where_met(const PassTask<Lane>& task, const Vector<Lane>* count,
                                         Vector<Lane> value) const {
        if constexpr (SUPPORTS) {
            const Vector<Lane> zero = splat<Lane>(0);
            for (int s = 0; s < task.n_supports; ++s) {
                const Vector<Lane> minimum = splat<Lane>(task.minimum[s]);
                value = where_at_least(count[s], minimum, value, zero);
                value = where_at_least(total[s] - count[s], minimum, value, zero);
            }
        }
        return value;
    }
    SKTREE_INLINE static void add_row(const PassTask<Lane>& task, std::uint32_t row,
                                      Vector<Lane> member, Vector<Lane>* count) {
        if constexpr (SUPPORTS) {
            for (int s = 0; s < task.n_supports; ++s) {
                const Lane amount = task.support[s] == nullptr ? Lane(1) : task.support[s][row];
                count[s] = count[s] + member * splat<Lane>(amount);
            }
        }
    }
};
