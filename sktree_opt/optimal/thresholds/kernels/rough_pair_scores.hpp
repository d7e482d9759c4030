// The best trees of two columns for one side of a root test, in whole numbers and single precision:
// see rough_tables.hpp. Included once per instruction set.
//
// F(a, b) sums the rows with codes <= a of column j and <= b of column k. The four quadrants at (a,
// b) are leaves that save s^2 / w each. The two quadrants on one side of a are what the rows there
// save with the test b, and the same holds for the sides of b. So the same four numbers serve both
// columns. Divisions take most of the time. Therefore two leaves share one, in single precision,
// with twice as many positions in a vector. The two sums of a cell are one whole number, so sums up
// to a code are exact. Only the scores of leaves are rounded.
//
// Errors of two classes need no division: a leaf saves |s|.

// In vectors of so many bytes.
template <int BYTES, bool ERRORS>
struct RoughScores {
    using Floats = Native<float, BYTES>;
    using Ints = Native<std::int32_t, BYTES>;
    using Cells = Native<std::uint64_t, BYTES>;
    static constexpr int WIDTH = BYTES / sizeof(float);

    // Weights and targets of WIDTH cells.
    struct CellSums {
        Ints weight, target;
    };

    static SKTREE_INLINE Cells load_cells(const std::uint64_t* from) {
        return load_native<std::uint64_t, BYTES>(from);
    }
    static SKTREE_INLINE Ints load_ints(const std::int32_t* from) {
        return load_native<std::int32_t, BYTES>(from);
    }
    static SKTREE_INLINE Floats load_floats(const float* from) {
        return load_native<float, BYTES>(from);
    }
    static SKTREE_INLINE Ints splat_int(std::int32_t value) {
        return fill_native<std::int32_t, BYTES>(value);
    }
    static SKTREE_INLINE void raise(float* to, Floats value) {
        store_native<float, BYTES>(to, larger(load_floats(to), value));
    }
    static SKTREE_INLINE CellSums split(Cells low, Cells high) {
        return {halves_native<BYTES, 0>(low, high), halves_native<BYTES, 1>(low, high)};
    }
    static SKTREE_INLINE Floats divisor(Ints weight) {
        return to_float_native<BYTES>(larger(weight, splat_int(1)));
    }
    static SKTREE_INLINE Floats squared(Ints target) {
        const Floats number = to_float_native<BYTES>(target);
        return number * number;
    }
    static SKTREE_INLINE Floats distance(Ints target) {
        return to_float_native<BYTES>(larger(target, splat_int(0) - target));
    }
    // Of two leaves. Weights are below 2^31: their products neither overflow nor vanish.
    static SKTREE_INLINE void save(const CellSums& a, const CellSums& b, Floats& of_a,
                                   Floats& of_b) {
        if constexpr (ERRORS) {
            of_a = distance(a.target);
            of_b = distance(b.target);
            return;
        }
        const Floats divisor_a = divisor(a.weight), divisor_b = divisor(b.weight);
        const Floats share = fill_native<float, BYTES>(1.0f) / (divisor_a * divisor_b);
        of_a = squared(a.target) * (share * divisor_b);
        of_b = squared(b.target) * (share * divisor_a);
    }

    // Sums of cells b .. b + WIDTH of a line, added to what is there. `before`: of the cells before
    // them, and of what is on the left of all tests, whose cell is left out; then of these, too.
    static SKTREE_INLINE void add_line(const std::uint64_t* cells, const std::uint64_t* kept,
                                       std::uint64_t& before, Cells& low, Cells& high) {
        constexpr int HALF = WIDTH / 2;
        Cells own_low = load_cells(cells), own_high = load_cells(cells + HALF);
        if (kept != nullptr) {
            own_low = own_low & load_cells(kept);
            own_high = own_high & load_cells(kept + HALF);
        }
        own_low = sums_native<BYTES>(own_low) + fill_native<std::uint64_t, BYTES>(before);
        own_high = sums_native<BYTES>(own_high) +
                   fill_native<std::uint64_t, BYTES>(last_lane_native<BYTES>(own_low));
        before = last_lane_native<BYTES>(own_high);
        low = low + own_low;
        high = high + own_high;
    }

    // All positions of the first column against b .. b + WIDTH of the second. `before` as in
    // add_line(), by lines, the last one of what is on the left of all tests of the first column.
    template <bool OTHERS>
    static SKTREE_INLINE void meet(const RoughPairTask& task, int b, std::uint64_t* before) {
        constexpr int HALF = WIDTH / 2;
        Cells low = {}, high = {};
        const std::uint64_t* const kept = task.kept == nullptr ? nullptr : task.kept + b;
        const int n_positions = task.n_first - 1;
        if (task.line_before != nullptr) {
            add_line(task.line_before + b, kept, before[n_positions], low, high);
        }
        const Ints second_weight = load_ints(task.second_weight + b);
        const Ints second_target = load_ints(task.second_target + b);
        Floats below_second = load_floats(task.below_second + b);
        Floats above_second = load_floats(task.above_second + b);
        const std::uint64_t* cells = task.lines + b;
        const std::uint64_t* whole = OTHERS ? task.whole + b : nullptr;
        for (int a = 0; a < n_positions; ++a, cells += task.next_line) {
            add_line(cells, kept, before[a], low, high);
            CellSums at = split(low, high);
            if (OTHERS) {
                at = split(load_cells(whole) - low, load_cells(whole + HALF) - high);
                whole += task.next_line;
            }
            const CellSums row = {splat_int(task.first_weight[a]), splat_int(task.first_target[a])};
            const CellSums rest = {splat_int(task.rest_weight[a]), splat_int(task.rest_target[a])};
            const CellSums beyond = {second_weight - at.weight, second_target - at.target};
            // Below and above a, and in each below and above b.
            Floats below_below, below_above, above_below, above_above;
            save(at, {row.weight - at.weight, row.target - at.target}, below_below, below_above);
            save(beyond, {rest.weight - beyond.weight, rest.target - beyond.target}, above_below,
                 above_above);
            raise(task.below_first + a * RoughPairTask::ROW_LANES, below_below + below_above);
            raise(task.above_first + a * RoughPairTask::ROW_LANES, above_below + above_above);
            below_second = larger(below_second, below_below + above_below);
            above_second = larger(above_second, below_above + above_above);
        }
        store_native<float, BYTES>(task.below_second + b, below_second);
        store_native<float, BYTES>(task.above_second + b, above_second);
    }
};

template <bool ERRORS, bool OTHERS>
void rough_pair_scores(const RoughPairTask& task) {
    constexpr int REST_BYTES = VECTOR_BYTES == 64 ? 32 : VECTOR_BYTES;
    using Wide = RoughScores<VECTOR_BYTES, ERRORS>;
    using Rest = RoughScores<REST_BYTES, ERRORS>;
    static_assert(Wide::WIDTH <= RoughPairTask::ROW_LANES, "a vector has a place in a row");
    std::uint64_t before[RoughPairTask::MOST_STRIDE];
    for (int a = 0; a < task.n_first; ++a) before[a] = 0;
    if (task.code_before >= 0) {
        const std::uint64_t* const cells = task.lines + task.code_before;
        for (int a = 0; a + 1 < task.n_first; ++a) before[a] = cells[a * task.next_line];
        if (task.line_before != nullptr) {
            before[task.n_first - 1] = task.line_before[task.code_before];
        }
    }
    // After the last code there is nothing to divide.
    const int n_positions = task.n_second - 1;
    int b = 0;
    for (; n_positions - b > Rest::WIDTH; b += Wide::WIDTH) {
        Wide::template meet<OTHERS>(task, b, before);
    }
    if (b < n_positions) Rest::template meet<OTHERS>(task, b, before);
}

// The largest number of each row of ROW_LANES.
inline void largest_of_rows(const float* rows, int n, float* to) {
    using Half = RoughScores<16, false>;
    for (int a = 0; a < n; ++a, rows += RoughPairTask::ROW_LANES) {
        typename Half::Floats most = Half::load_floats(rows);
        for (int at = 4; at < RoughPairTask::ROW_LANES; at += 4) {
            most = larger(most, Half::load_floats(rows + at));
        }
        float lanes[4];
        store_native<float, 16>(lanes, most);
        const float low = lanes[0] > lanes[1] ? lanes[0] : lanes[1];
        const float high = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
        const float largest = low > high ? low : high;
        to[a] = to[a] > largest ? to[a] : largest;
    }
}
