// Branch and bound over the root tests of one node. The solver of sub-problems, and the search as a
// whole, are described in subtree_solver.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/depth_two_passes.hpp"
#include "sktree_opt/optimal/thresholds/few_values/value_sweep.hpp"

namespace sktree_opt::thresholds {

struct NodeResult {
    double cost = INFEASIBLE;  // of the best tree found
    double lower = 0.0;        // no tree costs less, with minima for leaves or without (up to cap)
    int n_splits = 0;
    ThresholdTest test;  // column -1: a leaf
    bool split[2] = {};  // depth two: which sides have a test
    Plan plan;           // empty until somebody wants it
};

// Result of evaluating one root test.
struct Evaluation {
    double left = 0.0, right = 0.0;  // lower bounds
    double cost = INFEASIBLE;
    int n_splits = 0;
    ThresholdTest test;
    std::shared_ptr<ColumnBounds> column_bounds;
    Plan plan;  // when the cost is below the incumbent's
};

// Branch and bound over the root tests of one node.
class NodeSearch {
public:
    // Incomplete when a limit ends it: ask `watch`.
    NodeSearch(const ThresholdProblem& problem, const ThresholdNode& node, int depth, int n_splits,
               std::vector<ColumnTests>& column_tests, std::vector<OpenInterval>& heap,
               Watch& watch)
        : problem_(problem), node_(node), depth_(depth), column_tests_(column_tests), heap_(heap) {
        const int most = (1 << std::min(depth - 1, 20)) - 1;
        const int rest = n_splits - 1;
        if (rest >= 2 * most) {
            allotments_.push_back({most, most});
        } else {
            for (int left = std::max(0, rest - most); left <= std::min(most, rest); ++left) {
                allotments_.push_back({left, rest - left});
            }
        }
        n_column_tests_ = list_column_tests(problem, node, column_tests_, watch);
        std::int64_t bytes = 0;
        for (const ColumnTests& tests : column_tests_) bytes += tests.n_bytes();
        booking_.set(watch.control(), bytes);
        heap_.clear();
    }

    // Opens all tests.
    void open() {
        for (int f = 0; f < n_column_tests_; ++f) {
            for (std::size_t a = 0; a < allotments_.size(); ++a) {
                open_column_tests(static_cast<int>(a), f);
            }
        }
    }

    // Takes the interval to explore next; false when bounds exclude all that is left.
    bool next(double limit, OpenInterval& item) {
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), explored_later);
            item = heap_.back();
            heap_.pop_back();
            if (trim_item(limit, item)) return true;
        }
        return false;
    }

    void give_back(const OpenInterval& item) { push(item); }

    // Whether an interval from elsewhere is one of this search.
    bool has(const OpenInterval& item) const {
        const Interval& one = item.interval;
        if (item.allotment < 0 || item.allotment >= static_cast<int>(allotments_.size())) {
            return false;
        }
        if (item.tests < 0 || item.tests >= n_column_tests_) return false;
        const ColumnTests& tests = column_tests_[item.tests];
        if (one.lo < 0 || one.lo > one.hi || one.hi >= tests.n_positions) return false;
        if (!tests.is_chain) return one.lo == one.hi;
        return one.u >= -1 && one.u < one.lo && one.hi < one.v && one.v <= tests.n_positions;
    }

    int middle(const OpenInterval& item) const {
        const ColumnTests& tests = column_tests_[item.tests];
        const Interval& interval = item.interval;
        if (!tests.is_chain) return interval.lo;
        const double half = (tests.moved_at(interval.lo) + tests.moved_at(interval.hi)) / 2.0;
        const double* moved = tests.moved.data();
        const double* found = std::lower_bound(moved + interval.lo, moved + interval.hi + 1, half);
        return std::min(static_cast<int>(found - moved), interval.hi);
    }

    // Solves both sides at position p, each up to the cost that excludes the half beyond it.
    template <class Solver>
    Evaluation evaluate(Solver& solver, const OpenInterval& item, double limit,
                        double incumbent) const {
        const ColumnTests& tests = column_tests_[item.tests];
        const Interval& interval = item.interval;
        const int p = middle(item);
        const Allotment allotment = allotments_[item.allotment];
        const int budget[2] = {allotment.left, allotment.right};
        Evaluation evaluation;
        evaluation.test = test_at(problem_, node_, tests, p);
        double bound[2] = {0.0, 0.0}, beyond[2] = {0.0, 0.0};
        if (tests.is_chain) {
            bound[0] = bound_left(tests, interval, p);
            bound[1] = bound_right(tests, interval, p);
            // Lower bound on the other side at the far end of the half that may be excluded.
            beyond[0] = p < interval.hi ? interval.right_v : bound[1];
            beyond[1] = p > interval.lo ? interval.left_u : bound[0];
        }
        auto& level = *solver.levels_[depth_];
        ThresholdNode* const children[2] = {&level.children[0], &level.children[1]};
        evaluation.left = bound[0];
        evaluation.right = bound[1];
        if (!solver.divider_.divide(problem_, node_, evaluation.test, children, &solver.watch_)) {
            return evaluation;
        }
        ++solver.stats.n_evaluated;
        bool takes_column_bounds[2];
        for (int b = 0; b < 2; ++b) {
            takes_column_bounds[b] =
                depth_ == 3 || solver.can_sweep(*children[b], depth_ - 1, budget[b]);
        }
        if (takes_column_bounds[0] || takes_column_bounds[1]) {
            evaluation.column_bounds = inherited_bounds(item, p, solver.watch_.control());
        }
        NodeResult results[2];
        const int first = children[0]->n <= children[1]->n ? 0 : 1;
        for (int turn = 0; turn < 2; ++turn) {
            const int b = turn == 0 ? first : 1 - first;
            double other = beyond[b];
            const bool alone = !tests.is_chain || (b == 0 ? p == interval.hi : p == interval.lo);
            if (alone) other = std::max(other, bound[1 - b]);
            const double cap = problem_.use.caps ? limit - other : INFEASIBLE;
            if (bound[b] >= cap) continue;
            results[b] =
                solver.solve(*children[b], depth_ - 1, budget[b], cap,
                             takes_column_bounds[b] ? &evaluation.column_bounds->of[b] : nullptr);
            bound[b] = std::max(bound[b], results[b].lower);
            if (solver.watch_.stopped()) break;
        }
        evaluation.left = bound[0];
        evaluation.right = bound[1];
        evaluation.cost = results[0].cost + results[1].cost + problem_.split_cost;
        if (evaluation.cost > incumbent || evaluation.cost == INFEASIBLE) return evaluation;
        evaluation.plan = join(evaluation.test, solver.plan(*children[0], results[0]),
                               solver.plan(*children[1], results[1]));
        evaluation.n_splits = 1 + results[0].n_splits + results[1].n_splits;
        return evaluation;
    }

    // The parts of `item` on both sides of its middle.
    void divide(const OpenInterval& item, const Evaluation& evaluation, double limit) {
        if (!column_tests_[item.tests].is_chain) return;
        const int p = middle(item);
        OpenInterval before = item, after = item;
        before.interval.v = p;
        before.interval.hi = p - 1;
        before.interval.left_v = evaluation.left;
        before.interval.right_v = evaluation.right;
        after.interval.u = p;
        after.interval.lo = p + 1;
        after.interval.left_u = evaluation.left;
        after.interval.right_u = evaluation.right;
        before.bounds_v = after.bounds_u = evaluation.column_bounds;
        if (trim_item(limit, before)) push(before);
        if (trim_item(limit, after)) push(after);
    }

    double open_bound() const {
        double bound = INFEASIBLE;
        for (const OpenInterval& item : heap_) bound = std::min(bound, item.bound);
        return bound + problem_.split_cost;
    }

private:
    void open_column_tests(int allotment, int f) {
        const ColumnTests& tests = column_tests_[f];
        if (tests.is_chain) {
            push({0.0,
                  allotment,
                  f,
                  {-1, tests.n_positions, 0, tests.n_positions - 1, 0.0, 0.0, 0.0, 0.0}});
            return;
        }
        for (int p = 0; p < tests.n_positions; ++p) {
            push({0.0, allotment, f, {p, p, p, p, 0.0, 0.0, 0.0, 0.0}});
        }
    }

    // Bounds on the sides of position p from the solved ends of its interval.
    std::shared_ptr<ColumnBounds> inherited_bounds(const OpenInterval& item, int p,
                                                   SearchControl* control) const {
        auto column_bounds = std::make_shared<ColumnBounds>();
        column_bounds->booking.set(control, 16 * std::int64_t{problem_.n_columns});
        const ColumnTests& tests = column_tests_[item.tests];
        double from_u = 0.0, from_v = 0.0;
        if (tests.is_chain) {
            from_u = tests.moved_at(p) - tests.moved_at(item.interval.u);
            from_v = tests.moved_at(item.interval.v) - tests.moved_at(p);
        }
        for (int b = 0; b < 2; ++b) {
            std::vector<double>& mine = column_bounds->of[b];
            mine.assign(problem_.n_columns, 0.0);
            for (int j = 0; j < problem_.n_columns; ++j) {
                // The left side has more rows than at u, the right side more than at v.
                if (item.bounds_u) {
                    mine[j] = std::max(mine[j], item.bounds_u->of[b][j] - (b == 1 ? from_u : 0.0));
                }
                if (item.bounds_v) {
                    mine[j] = std::max(mine[j], item.bounds_v->of[b][j] - (b == 0 ? from_v : 0.0));
                }
            }
        }
        return column_bounds;
    }

    bool trim_item(double limit, OpenInterval& item) const {
        const ColumnTests& tests = column_tests_[item.tests];
        if (!tests.is_chain) return item.bound < limit;
        if (!trim(tests, limit, item.interval)) return false;
        item.bound = std::max(item.bound, bound_of(tests, item.interval));
        return item.bound < limit;
    }

    void push(const OpenInterval& item) {
        heap_.push_back(item);
        std::push_heap(heap_.begin(), heap_.end(), explored_later);
    }

    const ThresholdProblem& problem_;
    const ThresholdNode& node_;
    int depth_;
    int n_column_tests_ = 0;
    std::vector<Allotment> allotments_;
    Booking booking_;
    std::vector<ColumnTests>& column_tests_;
    std::vector<OpenInterval>& heap_;
};

}  // namespace sktree_opt::thresholds
