// What two columns make of one side of a root test: see _value_sweep.hpp. Included once per
// instruction set.
//
// F(a, b) sums the rows with codes <= a of column j and <= b of column k. The four quadrants at
// (a, b) are leaves that save s^2 / w each; those on one side of a are what the rows there save with
// the test b, and the other way round: four divisions serve both columns.

struct PairScores {
    static constexpr int STEP = 8;
    using Doubles = Native<double, VECTOR_BYTES>;
    static constexpr int WIDTH = VECTOR_BYTES / sizeof(double);

    static SKTREE_INLINE Doubles saved(Doubles weight, Doubles sum) {
        const Doubles least = splat<double>(std::numeric_limits<double>::min());
        // Without rows there is nothing but noise to save.
        return where_at_least(weight, least, sum * sum, splat<double>(0.0)) /
               where_at_least(weight, least, weight, splat<double>(1.0));
    }
};

inline void pair_scores(const PairTask& task) {
    using Doubles = PairScores::Doubles;
    constexpr int WIDTH = PairScores::WIDTH;
    const int n_first = task.n_first, stride = task.stride;
    const double* const last_weight = task.weight + (n_first - 1) * stride;
    const double* const last_sum = task.sum + (n_first - 1) * stride;
    for (int a = 0; a + 1 < n_first; ++a) {
        const double* const weight = task.weight + a * stride;
        const double* const sum = task.sum + a * stride;
        const Doubles row_weight = splat(weight[stride - 1]), row_sum = splat(sum[stride - 1]);
        const Doubles all_weight = splat(last_weight[stride - 1]);
        const Doubles all_sum = splat(last_sum[stride - 1]);
        Doubles below = splat(0.0), above = splat(0.0);
        for (int b = 0; b < stride; b += WIDTH) {
            const Doubles w = load(weight + b), s = load(sum + b);
            const Doubles column_w = load(last_weight + b), column_s = load(last_sum + b);
            const Doubles w01 = row_weight - w, s01 = row_sum - s;
            const Doubles w10 = column_w - w, s10 = column_s - s;
            const Doubles t00 = PairScores::saved(w, s), t01 = PairScores::saved(w01, s01);
            const Doubles t10 = PairScores::saved(w10, s10);
            const Doubles t11 = PairScores::saved(all_weight - column_w - w01,
                                                  all_sum - column_s - s01);
            below = larger(below, t00 + t01);
            above = larger(above, t10 + t11);
            store(task.below_second + b, larger(load(task.below_second + b), t00 + t10));
            store(task.above_second + b, larger(load(task.above_second + b), t01 + t11));
        }
        double lanes[2][WIDTH];
        store(lanes[0], below);
        store(lanes[1], above);
        for (int lane = 0; lane < WIDTH; ++lane) {
            task.below_first[a] = std::max(task.below_first[a], lanes[0][lane]);
            task.above_first[a] = std::max(task.above_first[a], lanes[1][lane]);
        }
    }
}
