// One pass of the depth-two solver for squared errors. Included once per instruction set.
//
// Let a side have weight W and mean m, and a branch of it weight w and summed targets s. A test
// that makes this branch lowers the squared error by W d^2 / (w (W - w)), d = s - m w. Fractions
// are compared by cross-multiplication, so the only division is at the end.

template <class Lane, bool UNIT, bool SUPPORTS>
struct SquaresSide {
    using Sums = BranchLanes<Lane, 2, SUPPORTS>;  // of weighted targets, and of weights
    struct Fraction {
        Vector<Lane> above, below;

        SKTREE_INLINE void take_larger(Vector<Lane> other_above, Vector<Lane> other_below) {
            const Vector<Lane> mine = above * other_below, others = other_above * below;
            above = where_at_least(mine, others, above, other_above);
            below = where_at_least(mine, others, below, other_below);
        }
    };
    Sums branch;
    Vector<Lane> mean, weight;
    Fraction best, best_supported;
    Supports<Lane, SUPPORTS> supports;

    SKTREE_INLINE void open(const PassTask<Lane>& task, int offset, int b) {
        mean = load(task.mean[b] + offset);
        weight = load(task.weight_total[b] + offset);
        best = best_supported = {splat<Lane>(0), splat<Lane>(1)};
        supports.open(task, offset, b);
    }
    SKTREE_INLINE void consider(const PassTask<Lane>& task, const Sums& tried) {
        const Vector<Lane> zero = splat<Lane>(0);
        const Vector<Lane> distance = tried.sum[0] - mean * tried.sum[1];
        const Vector<Lane> below = tried.sum[1] * (weight - tried.sum[1]);
        // Weights are exact: this is 0 where one branch is empty, and then the numerator is noise.
        const Vector<Lane> least = splat<Lane>(std::numeric_limits<Lane>::min());
        const Vector<Lane> above = where_at_least(below, least, distance * distance, zero);
        best.take_larger(above, below);
        if constexpr (SUPPORTS) {
            best_supported.take_larger(supports.where_met(task, tried.count, above), below);
        }
    }
    SKTREE_INLINE void add_row(const PassTask<Lane>& task, std::uint32_t row, int offset, int b) {
        const Vector<Lane> member = load(task.member[b] + task.key[row] * BATCH + offset);
        branch.sum[0] = branch.sum[0] + member * splat<Lane>(task.value[row]);
        branch.sum[1] = branch.sum[1] + (UNIT ? member : member * splat<Lane>(task.weight[row]));
        Supports<Lane, SUPPORTS>::add_row(task, row, member, branch.count);
    }
    SKTREE_INLINE void close(PassTask<Lane>& task, int offset, int b) const {
        store(task.best[b][0] + offset, weight * best.above / best.below);
        store(task.best[b][1] + offset, weight * best_supported.above / best_supported.below);
    }
};

template <class Lane, bool SUPPORTS>
void squares_pass(PassTask<Lane>& task) {
    if (task.weight == nullptr) {
        traverse_columns<SquaresSide<Lane, true, SUPPORTS>>(task);
    } else {
        traverse_columns<SquaresSide<Lane, false, SUPPORTS>>(task);
    }
}
