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
// the range of the node's targets: the answers of leaves are within it, so that the old tree, whose
// answers are then not even the best, serves the new rows at no more.
//
// Minima for leaves break the first half (fewer rows may forbid a split), so all bounds here are
// those of the same problem without minima.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/families.hpp"

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
inline double bound_of(const Family& family, const Interval& interval) {
    if (!family.has_bounds) return 0.0;
    const double moved = family.moved_at(interval.v) - family.moved_at(interval.u);
    return std::max(interval.left_u + interval.right_v, interval.left_v + interval.right_u - moved);
}

inline double bound_left(const Family& family, const Interval& interval, int p) {
    if (!family.has_bounds) return 0.0;
    const double moved = family.moved_at(interval.v) - family.moved_at(p);
    return std::max(interval.left_u, interval.left_v - moved);
}

inline double bound_right(const Family& family, const Interval& interval, int p) {
    if (!family.has_bounds) return 0.0;
    const double moved = family.moved_at(p) - family.moved_at(interval.u);
    return std::max(interval.right_v, interval.right_u - moved);
}

// Drops the candidates that cannot cost less than `limit` (split_cost not included). False when
// none is left.
inline bool trim(const Family& family, double limit, Interval& interval) {
    if (interval.lo > interval.hi || bound_of(family, interval) >= limit) return false;
    if (!family.has_bounds) return true;
    // left_u + right_u - moved(u, p) >= limit for p near u.
    const double near_u = family.moved_at(interval.u) + interval.left_u + interval.right_u - limit;
    const double near_v = family.moved_at(interval.v) - interval.left_v - interval.right_v + limit;
    const double* moved = family.moved.data();
    interval.lo = static_cast<int>(
        std::upper_bound(moved + interval.lo, moved + interval.hi + 1, near_u) - moved);
    interval.hi =
        static_cast<int>(std::lower_bound(moved + interval.lo, moved + interval.hi + 1, near_v) -
                         moved) -
        1;
    return interval.lo <= interval.hi;
}

// Floors (see depth_two_passes.hpp) of both sides of a solved root test.
struct Floors {
    std::vector<double> of[2];
    Booking booking;
};

struct OpenInterval {
    double bound;
    double rank;  // the bound, or 0 to explore in order of width alone
    int allotment;
    int family;
    Interval interval;
    bool is_bounded = false;                                               // a nominal one: by bins
    std::shared_ptr<const Floors> floors_u = nullptr, floors_v = nullptr;  // null: none known
};

// Orders a heap: lowest bound on top, then the widest.
inline bool explored_later(const OpenInterval& a, const OpenInterval& b) {
    if (a.rank != b.rank) return a.rank > b.rank;
    if (a.interval.size() != b.interval.size()) return a.interval.size() < b.interval.size();
    if (a.allotment != b.allotment) return a.allotment > b.allotment;
    if (a.family != b.family) return a.family > b.family;
    return a.interval.lo > b.interval.lo;
}

}  // namespace sktree_opt::thresholds
