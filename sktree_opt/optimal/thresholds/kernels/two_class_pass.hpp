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

template <class Lane, bool UNIT, bool SUPPORTS>
struct TwoClassSide {
    struct Branch {
        Vector<Lane> sum, count[SUPPORTS ? 2 : 1];

        SKTREE_INLINE void clear() {
            sum = splat<Lane>(0);
            for (auto& each : count) each = splat<Lane>(0);
        }
        SKTREE_INLINE Branch times(Vector<Lane> factor) const {
            Branch scaled = *this;
            scaled.sum = sum * factor;
            return scaled;
        }
        SKTREE_INLINE Branch plus(const Branch& other) const {
            Branch both = *this;
            both.sum = sum + other.sum;
            if (SUPPORTS) {
                for (int s = 0; s < 2; ++s) both.count[s] = count[s] + other.count[s];
            }
            return both;
        }
    };
    Branch branch;
    Vector<Lane> low, high, low_supported, high_supported;
    Supports<Lane, SUPPORTS> supports;

    SKTREE_INLINE void open(const PassTask<Lane>& task, int offset, int b) {
        low = high = low_supported = high_supported = splat<Lane>(0);
        supports.open(task, offset, b);
    }
    SKTREE_INLINE void consider(const PassTask<Lane>& task, const Branch& tried) {
        low = smaller(low, tried.sum);
        high = larger(high, tried.sum);
        if constexpr (SUPPORTS) {
            const Vector<Lane> sum = supports.where_met(task, tried.count, tried.sum);
            low_supported = smaller(low_supported, sum);
            high_supported = larger(high_supported, sum);
        }
    }
    SKTREE_INLINE void add_row(const PassTask<Lane>& task, std::uint32_t row, int offset, int b) {
        if (UNIT) {
            const int line = task.signed_key[row] * BATCH + offset;
            branch.sum = branch.sum + load(task.signed_member[b] + line);
            if (!SUPPORTS) return;
        }
        const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
        if (!UNIT) branch.sum = branch.sum + member * splat<Lane>(task.value[row]);
        Supports<Lane, SUPPORTS>::add_row(task, row, member, branch.count);
    }
    SKTREE_INLINE void add_sums(const PassTask<Lane>& task, const Lane* sums, int offset, int b) {
        branch.sum = branch.sum + amount_of_run(task, sums, 0, offset, b);
        Supports<Lane, SUPPORTS>::add_sums(task, sums, offset, b, branch.count);
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
        walk_columns<TwoClassSide<Lane, true, SUPPORTS>>(task);
    } else {
        walk_columns<TwoClassSide<Lane, false, SUPPORTS>>(task);
    }
}
