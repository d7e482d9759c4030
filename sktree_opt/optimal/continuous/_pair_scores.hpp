// What two columns make of one side of a root test: see _value_sweep.hpp. Included once per
// instruction set.
//
// F(a, b) sums the rows with codes <= a of column j and <= b of column k. The four quadrants at
// (a, b) are leaves that save s^2 / w each; those on one side of a are what the rows there save with
// the test b, and the other way round: the same four numbers serve both columns. Divisions take most
// of the time, so the four share one. Weights are multiples of 2^-50 of all: no product underflows.

struct PairScores {
    static constexpr int STEP = 8;
    using Doubles = Native<double, VECTOR_BYTES>;
    static constexpr int WIDTH = VECTOR_BYTES / sizeof(double);

    struct Leaves {
        Doubles of[4];
    };

    // Without rows a sum is nothing but noise, the square of which does not count.
    static SKTREE_INLINE Doubles divisor(Doubles weight) {
        return where_at_least(
            weight, splat(std::numeric_limits<double>::min()), weight, splat(1.0));
    }
    static SKTREE_INLINE Leaves saved(const Doubles (&weight)[4], const Doubles (&sum)[4]) {
        const Doubles d0 = divisor(weight[0]), d1 = divisor(weight[1]);
        const Doubles d2 = divisor(weight[2]), d3 = divisor(weight[3]);
        const Doubles d01 = d0 * d1, d23 = d2 * d3;
        const Doubles share = splat(1.0) / (d01 * d23);
        const Doubles share01 = share * d23, share23 = share * d01;
        return {{sum[0] * sum[0] * (share01 * d1), sum[1] * sum[1] * (share01 * d0),
                 sum[2] * sum[2] * (share23 * d3), sum[3] * sum[3] * (share23 * d2)}};
    }
};

// Sums of a line up to each code; beyond the last one, of all.
inline void sum_line(const PairTask& task, const double* cells, double* weight, double* sum) {
    double running_weight = 0.0, running_sum = 0.0;
    if (task.code_before >= 0) {
        running_weight = cells[2 * task.code_before];
        running_sum = cells[2 * task.code_before + 1];
    }
    int b = 0;
    for (; b < task.n_second; ++b) {
        if (b != task.code_before) {
            running_weight += cells[2 * b];
            running_sum += cells[2 * b + 1];
        }
        weight[b] = running_weight;
        sum[b] = running_sum;
    }
    for (; b < task.stride; ++b) {
        weight[b] = running_weight;
        sum[b] = running_sum;
    }
}

inline void pair_scores(const PairTask& task) {
    using Doubles = PairScores::Doubles;
    constexpr int WIDTH = PairScores::WIDTH;
    static_assert(WIDTH <= PairTask::ROW_LANES, "a vector has a place in a row");
    const int stride = task.stride;
    // F of the line, and what the line adds to it.
    double weight[PairTask::MOST_CODES] = {}, sum[PairTask::MOST_CODES] = {};
    double line_weight[PairTask::MOST_CODES], line_sum[PairTask::MOST_CODES];
    if (task.line_before != nullptr) sum_line(task, task.line_before, weight, sum);
    const Doubles all_weight = splat(task.total_weight), all_sum = splat(task.total_sum);
    const double* cells = task.lines;
    for (int a = 0; a + 1 < task.n_first; ++a, cells += task.next_line) {
        sum_line(task, cells, line_weight, line_sum);
        const Doubles row_weight = splat(task.first_weight[a]), row_sum = splat(task.first_sum[a]);
        const Doubles rest_weight = all_weight - row_weight, rest_sum = all_sum - row_sum;
        double* const to_below = task.below_first + a * PairTask::ROW_LANES;
        double* const to_above = task.above_first + a * PairTask::ROW_LANES;
        Doubles below = load(to_below), above = load(to_above);
        for (int b = 0; b < stride; b += WIDTH) {
            const Doubles w = load(weight + b) + load(line_weight + b);
            const Doubles s = load(sum + b) + load(line_sum + b);
            store(weight + b, w);
            store(sum + b, s);
            const Doubles w10 = load(task.second_weight + b) - w;
            const Doubles s10 = load(task.second_sum + b) - s;
            // Below and above a, and in each below and above b.
            const PairScores::Leaves leaf = PairScores::saved(
                {w, row_weight - w, w10, rest_weight - w10}, {s, row_sum - s, s10, rest_sum - s10});
            below = larger(below, leaf.of[0] + leaf.of[1]);
            above = larger(above, leaf.of[2] + leaf.of[3]);
            store(task.below_second + b,
                  larger(load(task.below_second + b), leaf.of[0] + leaf.of[2]));
            store(task.above_second + b,
                  larger(load(task.above_second + b), leaf.of[1] + leaf.of[3]));
        }
        store(to_below, below);
        store(to_above, above);
    }
}
