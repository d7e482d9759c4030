// One pass of the depth-two solver for two classes. Included once per instruction set.
//
// Rows of one class count +w, those of the other -w. Let D be the signed sum of the branch that
// answers negative. A pair of leaves errs on (weight of the negative rows) + D, or on the same with
// signs turned. So the best test of a side follows from the smallest and the largest D over all
// tests of all columns. The pass needs neither left and right counts nor a minimum over answers,
// and resets nothing between columns.
//
// Why it is fast: a column's order is traversed once for BATCH root tests. Each row adds one line
// of a small table (which root tests send it left, times its sign) that stays in the first-level
// cache. For 32 lanes of 16 bits and both sides that is two additions, two minima and two maxima.

template <class Lane, bool UNIT, bool SUPPORTS>
struct TwoClassSide {
    using Sums = BranchLanes<Lane, 1, SUPPORTS>;
    Sums branch;
    Vector<Lane> low, high, low_supported, high_supported;
    Supports<Lane, SUPPORTS> supports;

    SKTREE_INLINE void open(const PassTask<Lane>& task, int offset, int b) {
        low = high = low_supported = high_supported = splat<Lane>(0);
        supports.open(task, offset, b);
    }
    SKTREE_INLINE void consider(const PassTask<Lane>& task, const Sums& tried) {
        low = smaller(low, tried.sum[0]);
        high = larger(high, tried.sum[0]);
        if constexpr (SUPPORTS) {
            const Vector<Lane> sum = supports.where_met(task, tried.count, tried.sum[0]);
            low_supported = smaller(low_supported, sum);
            high_supported = larger(high_supported, sum);
        }
    }
    SKTREE_INLINE void add_row(const PassTask<Lane>& task, std::uint32_t row, int offset, int b) {
        if (UNIT) {
            const int line = task.signed_key[row] * BATCH + offset;
            branch.sum[0] = branch.sum[0] + load(task.signed_member[b] + line);
            if (!SUPPORTS) return;
        }
        const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
        if (!UNIT) branch.sum[0] = branch.sum[0] + member * splat<Lane>(task.value[row]);
        Supports<Lane, SUPPORTS>::add_row(task, row, member, branch.count);
    }
    SKTREE_INLINE void close(PassTask<Lane>& task, int offset, int b) const {
        store(task.low[b][0] + offset, low);
        store(task.high[b][0] + offset, high);
        store(task.low[b][1] + offset, low_supported);
        store(task.high[b][1] + offset, high_supported);
    }
};

template <class Lane, bool SUPPORTS>
void two_class_pass(PassTask<Lane>& task) {
    if (task.value == nullptr) {
        traverse_columns<TwoClassSide<Lane, true, SUPPORTS>>(task);
    } else {
        traverse_columns<TwoClassSide<Lane, false, SUPPORTS>>(task);
    }
}
