// Bounds between solved positions of a chain of nested tests.
//
// Let left(p) and right(p) be the optima of the two sides at position p. Left sides grow along a
// chain, so left(p) rises and right(p) falls; and a side that gains rows of summed worst cost k
// rises by at most k, because its old tree still serves. Between solved positions u < v therefore
//   left(p) >= max(left(u), left(v) - moved(p, v)),  right(p) >= max(right(v), right(u) - moved(u,
//   p)).
// (ConTree: Brita, van der Linden, Demirovic, AAAI 2025, section 4, the interval bounds; the mixed
// pair left(v) + right(u) - moved(u, v) is added here.)
//
// In a regression the worst cost of a row is its distance, squared or not, from the farther end of
// the range of the node's targets. All answers of leaves are within this range, so the old tree
// serves the new rows at no more than that.
//
// With minima for leaves, fewer rows may forbid a split, so left(p) need not rise. Therefore all
// bounds here are those of the same problem without minima.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/column_tests.hpp"

namespace sktree_opt::thresholds {

// Open candidates lo..hi between solved positions u and v; u = -1 and v = n_positions are the ends
// of the chain, where one side is empty.
struct Interval {
    int u, v;
    int lo, hi;
    double left_u, right_u;
    double left_v, right_v;
    int size() const { return hi - lo + 1; }
};

// Lower bound for all candidates, `split_cost` not included.
inline double bound_of(const ColumnTests& tests, const Interval& interval) {
    if (!tests.has_bounds) return 0.0;
    const double moved = tests.moved_at(interval.v) - tests.moved_at(interval.u);
    return std::max(interval.left_u + interval.right_v, interval.left_v + interval.right_u - moved);
}

inline double bound_left(const ColumnTests& tests, const Interval& interval, int p) {
    if (!tests.has_bounds) return 0.0;
    const double moved = tests.moved_at(interval.v) - tests.moved_at(p);
    return std::max(interval.left_u, interval.left_v - moved);
}

inline double bound_right(const ColumnTests& tests, const Interval& interval, int p) {
    if (!tests.has_bounds) return 0.0;
    const double moved = tests.moved_at(p) - tests.moved_at(interval.u);
    return std::max(interval.right_v, interval.right_u - moved);
}

// Drops the candidates that cannot cost less than `limit` (split_cost not included). False when
// none is left.
inline bool trim(const ColumnTests& tests, double limit, Interval& interval) {
    if (interval.lo > interval.hi || bound_of(tests, interval) >= limit) return false;
    if (!tests.has_bounds) return true;
    // left_u + right_u - moved(u, p) >= limit for p near u.
    const double near_u = tests.moved_at(interval.u) + interval.left_u + interval.right_u - limit;
    const double near_v = tests.moved_at(interval.v) - interval.left_v - interval.right_v + limit;
    const double* moved = tests.moved.data();
    interval.lo = static_cast<int>(
        std::upper_bound(moved + interval.lo, moved + interval.hi + 1, near_u) - moved);
    interval.hi =
        static_cast<int>(std::lower_bound(moved + interval.lo, moved + interval.hi + 1, near_v) -
                         moved) -
        1;
    return interval.lo <= interval.hi;
}

// ColumnBounds (see depth_two_passes.hpp) of both sides of a solved root test.
struct ColumnBounds {
    std::vector<double> of[2];
    Booking booking;
};

struct OpenInterval {
    double bound;
    int allotment;
    int tests;
    Interval interval;
    std::shared_ptr<const ColumnBounds> bounds_u = nullptr, bounds_v = nullptr;  // null: none known
};

// Orders a heap: lowest bound on top, then the widest.
inline bool explored_later(const OpenInterval& a, const OpenInterval& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    if (a.interval.size() != b.interval.size()) return a.interval.size() < b.interval.size();
    if (a.allotment != b.allotment) return a.allotment > b.allotment;
    if (a.tests != b.tests) return a.tests > b.tests;
    return a.interval.lo > b.interval.lo;
}

}  // namespace sktree_opt::thresholds
