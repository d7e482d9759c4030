// What two columns make of one side of a root test: see _value_sweep.hpp. Included once per
// instruction set.
//
// F(a, b) sums the rows with codes <= a of column j and <= b of column k. The four quadrants at
// (a, b) are leaves that save s^2 / w each; those on one side of a are what the rows there save with
// the test b, and the other way round: the same four numbers serve both columns. Divisions take most
// of the time, so the four share one. Weights are multiples of 2^-50 of all: no product underflows.

// What is added up on the way from one position of the first column to the next: F of its line, and what
// the line adds to it.
struct PairLine {
    double weight[PairTask::MOST_CODES] = {}, sum[PairTask::MOST_CODES] = {};
    double own_weight[PairTask::MOST_CODES], own_sum[PairTask::MOST_CODES];
};

// In vectors of so many bytes.
template <int BYTES>
struct PairScores {
    using Doubles = Native<double, BYTES>;
    static constexpr int WIDTH = BYTES / sizeof(double);

    struct Leaves {
        Doubles of[4];
    };

    static SKTREE_INLINE Doubles load(const double* from) {
        return load_native<double, BYTES>(from);
    }
    static SKTREE_INLINE Doubles splat(double value) { return fill_native<double, BYTES>(value); }
    static SKTREE_INLINE void raise(double* to, Doubles value) {
        store_native<double, BYTES>(to, larger(load(to), value));
    }
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

    // Position a of the first column against positions b .. b + WIDTH of the second.
    static SKTREE_INLINE void meet(
        const PairTask& task, int a, int b, PairLine& line, Doubles& below, Doubles& above) {
        const Doubles row_weight = splat(task.first_weight[a]), row_sum = splat(task.first_sum[a]);
        const Doubles w = load(line.weight + b) + load(line.own_weight + b);
        const Doubles s = load(line.sum + b) + load(line.own_sum + b);
        store_native<double, BYTES>(line.weight + b, w);
        store_native<double, BYTES>(line.sum + b, s);
        const Doubles w10 = load(task.second_weight + b) - w;
        const Doubles s10 = load(task.second_sum + b) - s;
        // Below and above a, and in each below and above b.
        const Leaves leaf = saved(
            {w, row_weight - w, w10, splat(task.total_weight) - row_weight - w10},
            {s, row_sum - s, s10, splat(task.total_sum) - row_sum - s10});
        below = larger(below, leaf.of[0] + leaf.of[1]);
        above = larger(above, leaf.of[2] + leaf.of[3]);
        raise(task.below_second + b, leaf.of[0] + leaf.of[2]);
        raise(task.above_second + b, leaf.of[1] + leaf.of[3]);
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
    // The widest vectors divide as slowly as two of half their width: a short rest takes one of these.
    constexpr int REST_BYTES = VECTOR_BYTES == 64 ? 32 : VECTOR_BYTES;
    using Wide = PairScores<VECTOR_BYTES>;
    using Rest = PairScores<REST_BYTES>;
    static_assert(Wide::WIDTH <= PairTask::ROW_LANES, "a vector has a place in a row");
    PairLine line;
    if (task.line_before != nullptr) sum_line(task, task.line_before, line.weight, line.sum);
    const double* cells = task.lines;
    // After the last code there is nothing to divide.
    const int n_positions = task.n_second - 1;
    for (int a = 0; a + 1 < task.n_first; ++a, cells += task.next_line) {
        sum_line(task, cells, line.own_weight, line.own_sum);
        double* const to_below = task.below_first + a * PairTask::ROW_LANES;
        double* const to_above = task.above_first + a * PairTask::ROW_LANES;
        typename Wide::Doubles below = Wide::load(to_below), above = Wide::load(to_above);
        int b = 0;
        for (; n_positions - b > Rest::WIDTH; b += Wide::WIDTH)
            Wide::meet(task, a, b, line, below, above);
        store(to_below, below);
        store(to_above, above);
        if (b >= n_positions) continue;
        typename Rest::Doubles rest_below = Rest::load(to_below), rest_above = Rest::load(to_above);
        Rest::meet(task, a, b, line, rest_below, rest_above);
        Rest::raise(to_below, rest_below);
        Rest::raise(to_above, rest_above);
    }
}
