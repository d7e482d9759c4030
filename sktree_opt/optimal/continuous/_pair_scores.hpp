// What two columns make of one side of a root test: see _value_sweep.hpp. Included once per
// instruction set.
//
// F(a, b) sums the rows with codes <= a of column j and <= b of column k. The four quadrants at
// (a, b) are leaves that save s^2 / w each; those on one side of a are what the rows there save with
// the test b, and the other way round: the same four numbers serve both columns. Divisions take most
// of the time, so two leaves share one.

struct PairScores {
    static constexpr int STEP = 8;
    using Doubles = Native<double, VECTOR_BYTES>;
    static constexpr int WIDTH = VECTOR_BYTES / sizeof(double);

    struct Two {
        Doubles first, second;
    };

    // Without rows a sum is nothing but noise, the square of which does not count.
    static SKTREE_INLINE Doubles divisor(Doubles weight) {
        return where_at_least(
            weight, splat(std::numeric_limits<double>::min()), weight, splat(1.0));
    }
    static SKTREE_INLINE Two saved(Doubles w0, Doubles s0, Doubles w1, Doubles s1) {
        const Doubles d0 = divisor(w0), d1 = divisor(w1);
        const Doubles share = splat(1.0) / (d0 * d1);
        return {s0 * s0 * (share * d1), s1 * s1 * (share * d0)};
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
            const PairScores::Two low = PairScores::saved(w, s, row_weight - w, row_sum - s);
            const PairScores::Two high =
                PairScores::saved(w10, s10, rest_weight - w10, rest_sum - s10);
            below = larger(below, low.first + low.second);
            above = larger(above, high.first + high.second);
            store(task.below_second + b,
                  larger(load(task.below_second + b), low.first + high.first));
            store(task.above_second + b,
                  larger(load(task.above_second + b), low.second + high.second));
        }
        store(to_below, below);
        store(to_above, above);
    }
}
