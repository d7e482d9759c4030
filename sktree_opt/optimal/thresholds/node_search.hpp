// Branch and bound over the root tests of one node. The solver of sub-problems, and the search as a
// whole, are described in subtree_solver.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/depth_two_passes.hpp"
#include "sktree_opt/optimal/thresholds/target_bounds.hpp"
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
    bool is_solved = true;           // false: there is nothing but bounds
    double cost = INFEASIBLE;
    int n_splits = 0;
    ThresholdTest test;
    std::shared_ptr<Floors> floors;
    Plan plan;  // when the cost is below the incumbent's
};

// Branch and bound over the root tests of one node.
class NodeSearch {
public:
    // Incomplete when a limit ends it: ask `watch`.
    NodeSearch(const ThresholdProblem& problem, const ThresholdNode& node, int depth, int n_splits,
               std::vector<Family>& families, std::vector<OpenInterval>& heap, Watch& watch)
        : problem_(problem), node_(node), depth_(depth), families_(families), heap_(heap) {
        const int most = (1 << std::min(depth - 1, 20)) - 1;
        const int rest = n_splits - 1;
        if (rest >= 2 * most) {
            allotments_.push_back({most, most});
        } else {
            for (int left = std::max(0, rest - most); left <= std::min(most, rest); ++left) {
                allotments_.push_back({left, rest - left});
            }
        }
        n_families_ = list_families(problem, node, families_, watch);
        std::int64_t bytes = 0;
        for (const Family& family : families_) bytes += family.n_bytes();
        booking_.set(watch.control(), bytes);
        heap_.clear();
    }

    // Whether bounds of all columns are worth their while before any test is looked at.
    template <class Solver>
    bool wants_sweeps(const Solver& solver) const {
        return depth_ == 3 && solver.use_bins && BinBounds::is_worthwhile(problem_, node_);
    }

    // Opens all tests. `swept`: what is known of them, by column of the node, or empty.
    void open(const std::vector<SweptTests>& swept, SearchControl* control) {
        for (int f = 0; f < n_families_; ++f) {
            const int k = families_[f].column_index;
            const bool is_swept = !swept.empty() && !swept[k].sides.empty();
            for (std::size_t a = 0; a < allotments_.size(); ++a) {
                if (is_swept) open_swept(static_cast<int>(a), f, swept[k], control);
                else open_family(static_cast<int>(a), f);
            }
        }
    }

    // The position whose bounds promise most among the swept ones, alone; false when there is none
    // below `least`.
    bool most_promising(double least, OpenInterval& trial) const {
        const OpenInterval* best = nullptr;
        for (const OpenInterval& item : heap_) {
            const double sum = item.interval.left_u + item.interval.right_u;
            const bool is_bounded = families_[item.family].is_chain
                                        ? item.interval.lo == item.interval.u
                                        : item.is_bounded;
            if (!is_bounded || sum >= least) continue;
            least = sum;
            best = &item;
        }
        if (best == nullptr) return false;
        trial = *best;
        trial.interval.hi = trial.interval.lo;
        trial.is_bounded = true;
        return true;
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

    int middle(const OpenInterval& item) const {
        const Family& family = families_[item.family];
        const Interval& interval = item.interval;
        if (!family.is_chain) return interval.lo;
        const double half = (family.moved_at(interval.lo) + family.moved_at(interval.hi)) / 2.0;
        const double* moved = family.moved.data();
        const double* found = std::lower_bound(moved + interval.lo, moved + interval.hi + 1, half);
        return std::min(static_cast<int>(found - moved), interval.hi);
    }

    // Solves both sides at position p, each up to the cost that excludes what lies beyond.
    template <class Solver>
    Evaluation evaluate(Solver& solver, const OpenInterval& item, double limit,
                        double incumbent) const {
        const Family& family = families_[item.family];
        const Interval& interval = item.interval;
        const int p = middle(item);
        const Allotment allotment = allotments_[item.allotment];
        const int budget[2] = {allotment.left, allotment.right};
        Evaluation evaluation;
        evaluation.test = test_at(problem_, node_, family, p);
        double bound[2] = {0.0, 0.0}, beyond[2] = {0.0, 0.0};
        if (family.is_chain) {
            bound[0] = bound_left(family, interval, p);
            bound[1] = bound_right(family, interval, p);
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
        bool takes_floors[2];
        for (int b = 0; b < 2; ++b) {
            takes_floors[b] = depth_ == 3 || solver.can_sweep(*children[b], depth_ - 1, budget[b]);
        }
        if (takes_floors[0] || takes_floors[1]) {
            evaluation.floors = inherited_floors(item, p, solver.watch_.control());
        }
        const BinBounds* bins[2] = {nullptr, nullptr};
        if (depth_ == 3) {
            bound_sides(solver, item, p, allotment, limit, beyond, bins, bound, evaluation);
        }
        if (!evaluation.is_solved || solver.watch_.stopped()) return evaluation;
        NodeResult results[2];
        const int first = children[0]->n <= children[1]->n ? 0 : 1;
        for (int turn = 0; turn < 2; ++turn) {
            const int b = turn == 0 ? first : 1 - first;
            double other = beyond[b];
            const bool alone = !family.is_chain || (b == 0 ? p == interval.hi : p == interval.lo);
            if (alone) other = std::max(other, bound[1 - b]);
            const double cap = problem_.use.caps ? limit - other : INFEASIBLE;
            if (bound[b] >= cap) continue;
            results[b] =
                solver.solve(*children[b], depth_ - 1, budget[b], cap,
                             takes_floors[b] ? &evaluation.floors->of[b] : nullptr, bins[b]);
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

    // The parts of `item` on both sides of its middle, which stays open unless it is solved.
    void divide(const OpenInterval& item, const Evaluation& evaluation, double limit) {
        if (!families_[item.family].is_chain) {
            if (!evaluation.is_solved) push_bounded(item, evaluation, limit);
            return;
        }
        const int p = middle(item);
        OpenInterval before = item, after = item;
        before.interval.v = p;
        before.interval.hi = p - 1;
        before.interval.left_v = evaluation.left;
        before.interval.right_v = evaluation.right;
        after.interval.u = p;
        after.interval.lo = evaluation.is_solved ? p + 1 : p;
        after.interval.left_u = evaluation.left;
        after.interval.right_u = evaluation.right;
        before.floors_v = after.floors_u = evaluation.floors;
        if (trim_item(limit, before)) push(before);
        if (trim_item(limit, after)) push(after);
    }

    double open_bound() const {
        double bound = INFEASIBLE;
        for (const OpenInterval& item : heap_) bound = std::min(bound, item.bound);
        return bound + problem_.split_cost;
    }

private:
    // While an interval is wide, bounding a position takes much less time than solving it and
    // excludes about as much.
    bool takes_bounds(const OpenInterval& item, int p) const {
        const Family& family = families_[item.family];
        if (!family.is_chain) return !item.is_bounded;
        if (item.interval.u == p) return false;
        return family.moved_at(item.interval.v) - family.moved_at(item.interval.u) >
               SHARE_OF_BOUNDS * family.all_moved;
    }

    // Bounds of both children from their bins, if these are worth their while; `evaluation` ends
    // there when they are enough for now.
    template <class Solver>
    void bound_sides(Solver& solver, const OpenInterval& item, int p, Allotment allotment,
                     double limit, const double beyond[2], const BinBounds* bins[2],
                     double bound[2], Evaluation& evaluation) const {
        const int budget[2] = {allotment.left, allotment.right};
        const auto& level = *solver.levels_[depth_];
        bool is_bounded = false;
        for (int b = 0; b < 2; ++b) {
            if (budget[b] < 2) continue;
            const ThresholdNode& child = level.children[b];
            const double cap = problem_.use.caps ? limit - beyond[b] : INFEASIBLE;
            std::vector<double>& floors = evaluation.floors->of[b];
            bins[b] = solver.bound_by_bins(child, &floors, cap, solver.bins_of_children_[b]);
            if (solver.watch_.stopped()) return;
            if (bins[b] == nullptr) continue;
            is_bounded = true;
            const TreeBounds& trees = bins[b]->trees();
            bound[b] = std::max(bound[b], trees.lower);
            // See DepthTwoSolver::write_floors().
            for (std::size_t k = 0; k < child.columns.size(); ++k) {
                double& floor = floors[child.columns[k].column];
                floor = std::max(floor, std::min(trees.by_column[k], trees.one_test));
            }
        }
        evaluation.left = bound[0];
        evaluation.right = bound[1];
        evaluation.is_solved =
            !is_bounded || bound[0] + bound[1] >= limit || !takes_bounds(item, p);
    }

    std::shared_ptr<Floors> floors_of(const SweptTests& swept, int test, int variant,
                                      SearchControl* control) const {
        auto floors = std::make_shared<Floors>();
        floors->booking.set(control, 16 * std::int64_t{problem_.n_columns});
        for (int b = 0; b < 2; ++b) {
            floors->of[b].assign(problem_.n_columns, 0.0);
            const TreeBounds& trees = swept.sides[swept.plan.side(test, variant, b)];
            for (std::size_t k = 0; k < node_.columns.size(); ++k) {
                floors->of[b][node_.columns[k].column] =
                    std::min(trees.by_column[k], trees.one_test);
            }
        }
        return floors;
    }

    // Swept positions are bounded, not solved: they are open.
    void open_swept(int allotment, int f, const SweptTests& swept, SearchControl* control) {
        const Family& family = families_[f];
        auto lower = [&](int test, int side) {
            return swept.sides[swept.plan.side(test, family.missing_left, side)].lower;
        };
        if (!family.is_chain) {
            for (int p = 0; p < family.n_positions; ++p) {
                const bool is_missing =
                    asks_for_missing(family, node_.columns[family.column_index], p);
                const int test = is_missing ? swept.plan.n_tests - 1 : p;
                OpenInterval item{0.0, 0.0, allotment, f, {p, p, p, p, 0.0, 0.0, 0.0, 0.0}};
                item.interval.left_u = item.interval.left_v = lower(test, 0);
                item.interval.right_u = item.interval.right_v = lower(test, 1);
                item.bound = item.interval.left_u + item.interval.right_u;
                item.rank = problem_.use.best_first ? item.bound : 0.0;
                item.is_bounded = true;
                item.floors_u = item.floors_v =
                    floors_of(swept, test, is_missing ? 0 : family.missing_left, control);
                push(item);
            }
            return;
        }
        OpenInterval item{
            0.0, 0.0, allotment, f, {-1, family.n_positions, 0, 0, 0.0, 0.0, 0.0, 0.0}};
        for (int test = 0; test <= swept.plan.n_tests; ++test) {
            Interval& interval = item.interval;
            const bool is_last = test == swept.plan.n_tests;
            interval.v = is_last ? family.n_positions : swept.positions[test];
            interval.hi = interval.v - 1;
            interval.left_v = is_last ? 0.0 : lower(test, 0);
            interval.right_v = is_last ? 0.0 : lower(test, 1);
            item.floors_v =
                is_last ? nullptr : floors_of(swept, test, family.missing_left, control);
            item.bound = bound_of(family, interval);
            item.rank = problem_.use.best_first ? item.bound : 0.0;
            if (interval.lo <= interval.hi) push(item);
            interval.u = interval.lo = interval.v;
            interval.left_u = interval.left_v;
            interval.right_u = interval.right_v;
            item.floors_u = item.floors_v;
        }
    }

    void push_bounded(OpenInterval item, const Evaluation& evaluation, double limit) {
        item.is_bounded = true;
        item.floors_u = item.floors_v = evaluation.floors;
        item.bound = std::max(item.bound, evaluation.left + evaluation.right);
        item.rank = problem_.use.best_first ? item.bound : 0.0;
        if (item.bound < limit) push(item);
    }

    // Of all rows: see takes_bounds().
    static constexpr double SHARE_OF_BOUNDS = 1.0 / 16;

    void open_family(int allotment, int f) {
        const Family& family = families_[f];
        if (family.is_chain) {
            push({0.0,
                  0.0,
                  allotment,
                  f,
                  {-1, family.n_positions, 0, family.n_positions - 1, 0.0, 0.0, 0.0, 0.0}});
            return;
        }
        for (int p = 0; p < family.n_positions; ++p) {
            push({0.0, 0.0, allotment, f, {p, p, p, p, 0.0, 0.0, 0.0, 0.0}});
        }
    }

    // Bounds on the sides of position p from the solved ends of its interval.
    std::shared_ptr<Floors> inherited_floors(const OpenInterval& item, int p,
                                             SearchControl* control) const {
        auto floors = std::make_shared<Floors>();
        floors->booking.set(control, 16 * std::int64_t{problem_.n_columns});
        const Family& family = families_[item.family];
        double from_u = 0.0, from_v = 0.0;
        if (family.is_chain) {
            from_u = family.moved_at(p) - family.moved_at(item.interval.u);
            from_v = family.moved_at(item.interval.v) - family.moved_at(p);
        }
        for (int b = 0; b < 2; ++b) {
            std::vector<double>& mine = floors->of[b];
            mine.assign(problem_.n_columns, 0.0);
            for (int j = 0; j < problem_.n_columns; ++j) {
                // The left side has gained rows since u, the right side since v.
                if (item.floors_u) {
                    mine[j] = std::max(mine[j], item.floors_u->of[b][j] - (b == 1 ? from_u : 0.0));
                }
                if (item.floors_v) {
                    mine[j] = std::max(mine[j], item.floors_v->of[b][j] - (b == 0 ? from_v : 0.0));
                }
            }
        }
        return floors;
    }

    bool trim_item(double limit, OpenInterval& item) const {
        const Family& family = families_[item.family];
        if (!family.is_chain) return item.bound < limit;
        if (!trim(family, limit, item.interval)) return false;
        item.bound = std::max(item.bound, bound_of(family, item.interval));
        item.rank = problem_.use.best_first ? item.bound : 0.0;
        return item.bound < limit;
    }

    void push(const OpenInterval& item) {
        heap_.push_back(item);
        std::push_heap(heap_.begin(), heap_.end(), explored_later);
    }

    const ThresholdProblem& problem_;
    const ThresholdNode& node_;
    int depth_;
    int n_families_ = 0;
    std::vector<Allotment> allotments_;
    Booking booking_;
    std::vector<Family>& families_;
    std::vector<OpenInterval>& heap_;
};

}  // namespace sktree_opt::thresholds
