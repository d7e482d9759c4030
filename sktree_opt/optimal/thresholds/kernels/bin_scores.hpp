// What one test saves on both sides of many root tests, from the table of two binned columns: see
// bin_bounds.hpp. Included once per instruction set.
//
// Lanes are the tests of the second column, so the time does not depend on rows. The same sums
// serve both places of missing values.

template <class Sum, int CLASSES, bool HOLES>
SKTREE_INLINE Sum least_errors(const BinTask<Sum>& task, const Sum* part, const Sum* missing,
                               bool right) {
    constexpr int WIDTH = VECTOR_BYTES / sizeof(Sum);
    const int n_classes = CLASSES > 0 ? CLASSES : task.n_classes;
    const int n_slots = task.n_slots;
    const Vector<Sum> zero = splat<Sum>(0);
    Vector<Sum> least = splat<Sum>(task.most);
    for (int s = 0; s < n_slots; s += WIDTH) {
        Vector<Sum> all = zero, below = zero, above = zero, below_with = zero, above_without = zero;
        for (int c = 0; c < n_classes; ++c) {
            const int at = c * task.class_stride();
            Vector<Sum> first = load(part + at + s), last = load(part + at + n_slots + s);
            Sum total = part[at + task.total_at()], holes = part[at + task.holes_at()];
            if (missing != nullptr) {
                first = first + load(missing + at + s);
                last = last + load(missing + at + n_slots + s);
                total += missing[at + task.total_at()];
                holes += missing[at + task.holes_at()];
            }
            if (right) {
                first = load(task.whole + at + s) - first;
                last = load(task.whole + at + n_slots + s) - last;
                total = task.whole[at + task.total_at()] - total;
                holes = task.whole[at + task.holes_at()] - holes;
            }
            const Vector<Sum> rest = splat(total) - last;
            all = all + first + rest;
            below = larger(below, first);
            above = larger(above, rest);
            if (HOLES) {
                below_with = larger(below_with, first + splat(holes));
                above_without = larger(above_without, rest - splat(holes));
            }
        }
        Vector<Sum> right_answers = below + above;
        if (HOLES) right_answers = larger(right_answers, below_with + above_without);
        least = smaller(least, all - right_answers);
    }
    Sum lanes[WIDTH];
    store(lanes, least);
    for (int i = 1; i < WIDTH; ++i) lanes[0] = lanes[i] < lanes[0] ? lanes[i] : lanes[0];
    return lanes[0];
}

template <class Sum, int CLASSES, bool HOLES>
void score_parts(const BinTask<Sum>& task) {
    Sum* least = task.least;
    for (int i = 0; i < task.n_parts; ++i) {
        const Sum* part = task.parts + static_cast<std::size_t>(i) * task.part_stride();
        for (int variant = 0; variant < 2; ++variant) {
            for (int side = 0; side < 2; ++side, ++least) {
                if (variant == 1 && task.missing == nullptr) continue;
                const Sum errors = least_errors<Sum, CLASSES, HOLES>(
                    task, part, variant == 0 ? nullptr : task.missing, side == 1);
                *least = errors < *least ? errors : *least;
            }
        }
    }
}

template <class Sum>
void bin_scores(const BinTask<Sum>& task) {
    if (task.n_classes == 2) {
        if (task.has_holes) score_parts<Sum, 2, true>(task);
        else score_parts<Sum, 2, false>(task);
    } else {
        if (task.has_holes) score_parts<Sum, 0, true>(task);
        else score_parts<Sum, 0, false>(task);
    }
}
