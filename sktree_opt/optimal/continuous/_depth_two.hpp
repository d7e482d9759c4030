// The best tree of depth two over all thresholds: exact.
//
// For each family of root tests the candidates are cut into sections, the section ends are solved
// BATCH at a time by one vector pass (which finds the best second test of both sides of all of
// them), and sections that the interval bounds of _intervals.hpp cannot exclude are cut again.
#pragma once

#include <algorithm>
#include <vector>

#include "sktree_opt/optimal/continuous/_intervals.hpp"
#include "sktree_opt/optimal/continuous/_pass_runner.hpp"

namespace sktree_opt {
namespace continuous {

// Whether tree (n_splits, test) comes before (other_splits, other) among trees of equal cost.
inline bool comes_first(int n_splits, const Test& test, int other_splits, const Test& other) {
    if (n_splits != other_splits) return n_splits < other_splits;
    if (test.column != other.column) return test.column < other.column;
    return test.code < other.code;
}

// How many tests the two sides of a root may have (0 or 1 each, here).
struct Allotment {
    int left = 1;
    int right = 1;
};

struct DepthTwoResult {
    double cost = INFEASIBLE;  // best tree below `cap`; its root has a test
    double lower = 0.0;        // no such tree costs less, with minima for leaves or without
    bool split[2] = {false, false};  // which sides of the root have a test
    Test test;

    int n_splits() const { return 1 + split[0] + split[1]; }
};

template <class Lane>
class DepthTwoSolver {
public:
    explicit DepthTwoSolver(InstructionSet set) : runner_(set) {}

    DepthTwoResult solve(const Problem& problem, const NodeRows& node, Allotment allotment,
                         double cap, SearchControl* control, SearchStats& stats) {
        problem_ = &problem;
        node_ = &node;
        allotment_ = allotment;
        result_ = DepthTwoResult();
        free_best_ = INFEASIBLE;
        cap_ = cap;
        runner_.open(problem, node, control);
        n_families_ = list_families(problem, node, families_);
        if (static_cast<int>(intervals_.size()) < n_families_) intervals_.resize(n_families_);
        for (int f = 0; f < n_families_; ++f) start(families_[f], intervals_[f]);
        bool open = true;
        while (open && !control->stopped()) {
            open = false;
            for (int f = 0; f < n_families_ && !control->stopped(); ++f)
                if (advance(f, stats)) open = true;
            if (control->poll()) break;
        }
        result_.lower = std::min(free_best_, cap_);
        if (control->stopped()) result_.lower = std::min(result_.lower, open_bound());
        return result_;
    }

private:
    using Costs = typename PassRunner<Lane>::Costs;

    void start(const Family& family, std::vector<Interval>& intervals) {
        intervals.clear();
        if (!family.is_chain) {
            for (int p = 0; p < family.n_positions; ++p)
                intervals.push_back({p, p, p, p, 0.0, 0.0, 0.0, 0.0});
            return;
        }
        intervals.push_back(
            {-1, family.n_positions, 0, family.n_positions - 1, 0.0, 0.0, 0.0, 0.0});
    }

    double limit() const { return std::min(cap_, result_.cost) - problem_->split_cost; }

    // One pass over what is left of a family; false when nothing is.
    bool advance(int f, SearchStats& stats) {
        const Family& family = families_[f];
        std::vector<Interval>& intervals = intervals_[f];
        std::size_t kept = 0;
        for (Interval interval : intervals) {
            const bool open = family.is_chain ? trim(family, limit(), interval)
                                              : limit() > 0.0;
            if (open) intervals[kept++] = interval;
        }
        intervals.resize(kept);
        if (kept == 0) return false;
        choose_positions(intervals);
        ++stats.n_passes;
        stats.n_lanes += static_cast<std::int64_t>(chosen_.size());
        Costs costs[BATCH];
        const int n_chosen = static_cast<int>(chosen_.size());
        runner_.run(family, chosen_.data(), n_chosen, costs);
        if (runner_.stopped()) return true;
        for (int lane = 0; lane < n_chosen; ++lane) take(family, chosen_[lane], costs[lane]);
        divide(intervals, costs);
        return true;
    }

    // Up to BATCH candidates that cut the intervals evenly, in ascending order.
    void choose_positions(const std::vector<Interval>& intervals) {
        chosen_.clear();
        std::int64_t total = 0;
        for (const Interval& interval : intervals) total += interval.size();
        int left = BATCH;
        n_cut_ = 0;
        for (const Interval& interval : intervals) {
            if (left == 0) break;
            const std::int64_t size = interval.size();
            const int others = static_cast<int>(intervals.size()) - n_cut_ - 1;
            std::int64_t share = total <= BATCH ? size : size * BATCH / total;
            share = std::max<std::int64_t>(1, std::min<std::int64_t>({share, size, left}));
            if (left - share < std::min(others, left - 1) && share > 1)
                share = std::max<std::int64_t>(1, left - std::min(others, left - 1));
            for (std::int64_t i = 1; i <= share; ++i)
                chosen_.push_back(
                    interval.lo +
                    static_cast<int>(share == size ? i - 1 : i * size / (share + 1)));
            left -= static_cast<int>(share);
            ++n_cut_;
        }
    }

    double side(const double costs[2], int budget) const { return costs[budget]; }

    void take(const Family& family, int position, const Costs& costs) {
        const double free = side(costs.free[0], allotment_.left) +
                            side(costs.free[1], allotment_.right) + problem_->split_cost;
        free_best_ = std::min(free_best_, free);
        const double cost = side(costs.supported[0], allotment_.left) +
                            side(costs.supported[1], allotment_.right) + problem_->split_cost;
        if (cost >= cap_ || cost > result_.cost) return;
        DepthTwoResult found;
        found.cost = cost;
        found.split[0] = side(costs.supported[0], allotment_.left) < costs.supported[0][0];
        found.split[1] = side(costs.supported[1], allotment_.right) < costs.supported[1][0];
        found.test = test_at(*problem_, *node_, family, position);
        if (cost < result_.cost ||
            comes_first(found.n_splits(), found.test, result_.n_splits(), result_.test))
            result_ = found;
    }

    // Replaces the intervals that were cut by what lies between the solved positions.
    void divide(std::vector<Interval>& intervals, const Costs* costs) {
        next_.clear();
        std::size_t lane = 0;
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            Interval rest = intervals[i];
            if (static_cast<int>(i) >= n_cut_) {
                next_.push_back(rest);
                continue;
            }
            const int hi = rest.hi;
            for (; lane < chosen_.size() && chosen_[lane] <= hi; ++lane) {
                const int p = chosen_[lane];
                const double left = side(costs[lane].free[0], allotment_.left);
                const double right = side(costs[lane].free[1], allotment_.right);
                Interval before = rest;
                before.v = p;
                before.hi = p - 1;
                before.left_v = left;
                before.right_v = right;
                if (before.lo <= before.hi) next_.push_back(before);
                rest.u = p;
                rest.lo = p + 1;
                rest.left_u = left;
                rest.right_u = right;
            }
            if (rest.lo <= rest.hi) next_.push_back(rest);
        }
        intervals.swap(next_);
    }

    double open_bound() const {
        double bound = INFEASIBLE;
        for (int f = 0; f < n_families_; ++f)
            for (const Interval& interval : intervals_[f])
                bound = std::min(bound, problem_->split_cost +
                                            (families_[f].is_chain
                                                 ? bound_of(families_[f], interval) : 0.0));
        return bound;
    }

    PassRunner<Lane> runner_;
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
    Allotment allotment_;
    double cap_ = INFEASIBLE;
    double free_best_ = INFEASIBLE;  // least cost seen, minima for leaves aside
    DepthTwoResult result_;
    int n_families_ = 0;
    int n_cut_ = 0;
    std::vector<Family> families_;
    std::vector<std::vector<Interval>> intervals_;  // open, by family
    std::vector<Interval> next_;
    std::vector<int> chosen_;
};

}  // namespace continuous
}  // namespace sktree_opt
