// The best tree of depth two over all thresholds: exact.
//
// The candidates of each family of root tests are cut into sections. One vector pass solves BATCH
// section ends at a time: it finds the best second test of both sides of each. Sections that the
// interval bounds of intervals.hpp cannot exclude are cut again.
//
// Floors: for each column a lower bound for the trees whose root asks about it. Trees cost no less
// on more rows, so the floors of a node hold for every node that contains it. Lowered by the worst
// cost of the rows in between, they hold for every node inside it. Along a chain of root tests one
// level up, the floors of the nearest solved test exclude most columns without any pass.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/thresholds/bin_bounds.hpp"
#include "sktree_opt/optimal/thresholds/intervals.hpp"
#include "sktree_opt/optimal/thresholds/pass_runner.hpp"

namespace sktree_opt::thresholds {

// Whether tree (n_splits, test) comes before (other_splits, other) among trees of equal cost.
inline bool comes_first(int n_splits, const ThresholdTest& test, int other_splits,
                        const ThresholdTest& other) {
    if (n_splits != other_splits) return n_splits < other_splits;
    if (test.column != other.column) return test.column < other.column;
    return test.code < other.code;
}

// The number of tests that each side of a root may have (here 0 or 1).
struct Allotment {
    int left = 1;
    int right = 1;
};

struct DepthTwoResult {
    double cost = INFEASIBLE;        // best tree below `cap`; its root has a test
    double lower = 0.0;              // no such tree costs less, with minima for leaves or without
    bool split[2] = {false, false};  // which sides of the root have a test
    ThresholdTest test;

    int n_splits() const { return 1 + split[0] + split[1]; }
};

template <class Lane>
class DepthTwoSolver {
public:
    explicit DepthTwoSolver(InstructionSet set) : runner_(set) {}

    // `floors` by column of the table, or null: IN what is known before, OUT what is known now.
    // `bins`: bounds of the node, or null.
    DepthTwoResult solve(const ThresholdProblem& problem, const ThresholdNode& node,
                         Allotment allotment, double cap, std::vector<double>* floors,
                         const BinBounds* bins, Watch& watch, ThresholdStats& stats) {
        problem_ = &problem;
        node_ = &node;
        bins_ = bins;
        allotment_ = allotment;
        result_ = DepthTwoResult();
        free_best_ = INFEASIBLE;
        cap_ = cap;
        if (!runner_.open(problem, node, watch)) return result_;
        n_families_ = list_families(problem, node, families_, watch);
        if (!book(watch.control()) || watch.stopped()) return result_;
        if (static_cast<int>(intervals_.size()) < n_families_) intervals_.resize(n_families_);
        known_.assign(problem.n_columns, 0.0);
        if (floors != nullptr && problem.use.floors) known_ = *floors;
        floor_.assign(problem.n_columns, INFEASIBLE);
        one_test_ = -1.0;
        category_family_ = -1;
        for (int f = 0; f < n_families_; ++f) start(families_[f], intervals_[f]);
        order_families();
        bool open = true;
        while (open && !watch.stopped()) {
            open = false;
            for (int i = 0; i < n_families_ && !watch.stopped(); ++i) {
                if (advance(turn_[i], watch, stats)) open = true;
            }
            if (watch.poll()) break;
        }
        result_.lower = std::min(free_best_, cap_);
        if (watch.stopped()) result_.lower = std::min(result_.lower, open_bound());
        else if (floors != nullptr) write_floors(*floors);
        release();
        return result_;
    }

private:
    using Costs = typename PassRunner<Lane>::Costs;

    bool book(SearchControl* control) {
        control_ = control;
        n_bytes_ = 0;
        for (const Family& family : families_) n_bytes_ += family.n_bytes();
        return booking_.set(control, n_bytes_);
    }

    // Large tables have few nodes: memory matters more than the time to get it again.
    void release() {
        if (n_bytes_ < LARGE) return;
        families_ = std::vector<Family>();
        n_bytes_ = 0;
        booking_.set(control_, 0);
    }

    // Families of low bounds first: what they find excludes others.
    void order_families() {
        turn_.resize(n_families_);
        std::iota(turn_.begin(), turn_.end(), 0);
        if (bins_ == nullptr) return;
        auto lower = [&](int f) { return bins_->trees().by_column[families_[f].column_index]; };
        std::stable_sort(turn_.begin(), turn_.end(),
                         [&](int f, int g) { return lower(f) < lower(g); });
    }

    // Bounds from the cuts between bins. Positions at a cut are open too, because bounds are not
    // trees.
    void start_at_cuts(const Family& family, std::vector<Interval>& intervals) {
        const ColumnBins& bins = bins_->bins(family.column_index);
        const int last = family.n_positions - 1;
        int u = -1, cut = 0;
        for (std::size_t g = 0; g <= bins.bin_of_group.size(); ++g) {
            const bool is_end = g == bins.bin_of_group.size();
            // The cut below bin `cut` is solved; up to the next one.
            if (!is_end && bins.bin_of_group[g] == cut) continue;
            const int v = static_cast<int>(g) - 1;
            const SideBounds& at_u = bins_->at(family.column_index, cut, family.missing_left);
            const SideBounds& at_v = bins_->at(family.column_index, cut + 1, family.missing_left);
            const Interval found{u,
                                 v,
                                 std::max(u, 0),
                                 std::min(v - 1, last),
                                 at_u.of[0][allotment_.left],
                                 at_u.of[1][allotment_.right],
                                 at_v.of[0][allotment_.left],
                                 at_v.of[1][allotment_.right]};
            if (found.lo <= found.hi) intervals.push_back(found);
            u = v;
            ++cut;
            if (is_end && u <= last) {
                // Present against missing.
                intervals.push_back(
                    {u, u, u, u, found.left_v, found.right_v, found.left_v, found.right_v});
            }
        }
    }

    void start_at_categories(const Family& family, std::vector<Interval>& intervals) {
        const int k = family.column_index;
        const ColumnBins& bins = bins_->bins(k);
        for (int p = 0; p < family.n_positions; ++p) {
            const bool is_missing = asks_for_missing(family, node_->columns[k], p);
            const int bin = is_missing ? bins.n_bins : bins.bin_of_group[p];
            const SideBounds& at = bins_->at(k, bin, family.missing_left && !is_missing);
            // Any part of a bin of many categories may be on the left.
            const bool is_known = is_missing || !bins.is_wide[bin];
            const double left = is_known ? at.of[0][allotment_.left] : 0.0;
            const double right = at.of[1][allotment_.right];
            intervals.push_back({p, p, p, p, left, right, left, right});
        }
    }

    void start(const Family& family, std::vector<Interval>& intervals) {
        intervals.clear();
        if (bins_ != nullptr && bins_->has(family.column_index)) {
            if (family.is_chain) start_at_cuts(family, intervals);
            else start_at_categories(family, intervals);
            return;
        }
        if (!family.is_chain) {
            for (int p = 0; p < family.n_positions; ++p) {
                intervals.push_back({p, p, p, p, 0.0, 0.0, 0.0, 0.0});
            }
            return;
        }
        intervals.push_back(
            {-1, family.n_positions, 0, family.n_positions - 1, 0.0, 0.0, 0.0, 0.0});
    }

    double limit() const { return problem_->limit_below(std::min(cap_, result_.cost)); }

    int column_of(const Family& family) const { return node_->columns[family.column_index].column; }

    // Drops what cannot be better than the best, and remembers at which cost.
    void trim_all(int f) {
        const Family& family = families_[f];
        std::vector<Interval>& intervals = intervals_[f];
        double& floor = floor_[column_of(family)];
        const double split_cost = problem_->split_cost;
        if (known_[column_of(family)] - split_cost >= limit()) {
            if (!intervals.empty()) floor = std::min(floor, known_[column_of(family)]);
            intervals.clear();
            return;
        }
        std::size_t kept = 0;
        for (Interval interval : intervals) {
            const int size = interval.size();
            const double bound = least_of(family, interval);
            const bool open = family.is_chain ? trim(family, limit(), interval) : bound < limit();
            if (!open) floor = std::min(floor, std::max(bound, limit()) + split_cost);
            else if (interval.size() < size) floor = std::min(floor, limit() + split_cost);
            if (open) intervals[kept++] = interval;
        }
        intervals.resize(kept);
    }

    // `split_cost` not included.
    static double least_of(const Family& family, const Interval& interval) {
        return family.is_chain ? bound_of(family, interval) : interval.left_u + interval.right_u;
    }

    // With more rows a test may also send all of these rows to one side: then they cost what one
    // test makes of them.
    void write_floors(std::vector<double>& floors) const {
        double one_test = std::max(0.0, one_test_);
        if (bins_ != nullptr) one_test = std::max(one_test, bins_->trees().one_test);
        const double idle = one_test + (one_test > 0.0 ? problem_->split_cost : 0.0);
        for (int j = 0; j < problem_->n_columns; ++j) {
            floors[j] = std::max(known_[j], std::min(floor_[j], idle));
        }
    }

    // One pass over what is left of a family; false when nothing is.
    bool advance(int f, const Watch& watch, ThresholdStats& stats) {
        const Family& family = families_[f];
        std::vector<Interval>& intervals = intervals_[f];
        trim_all(f);
        if (intervals.empty()) return false;
        choose_positions(intervals);
        ++stats.n_passes;
        stats.n_lanes += static_cast<std::int64_t>(chosen_.size());
        Costs costs[BATCH];
        const int n_chosen = static_cast<int>(chosen_.size());
        runner_.run(family, chosen_.data(), n_chosen, costs);
        if (watch.stopped()) return true;
        for (int lane = 0; lane < n_chosen; ++lane) take(family, chosen_[lane], costs[lane]);
        if (family.is_chain && n_chosen < BATCH) one_test_ = costs[n_chosen].free[0][1];
        if (!family.is_chain) add_categories(f, n_chosen, costs);
        divide(intervals, costs);
        return true;
    }

    // A tree whose root is a test of a nominal column costs at least the sum over its categories,
    // each with a test of its own below. Once these costs are known, they often exclude the same
    // tests with missing values on the other side.
    void add_categories(int f, int n_chosen, const Costs* costs) {
        const Family& family = families_[f];
        if (family.missing_left || !problem_->use.categories) return;
        if (f != category_family_) category_bound_ = 0.0;
        category_family_ = f;
        for (int lane = 0; lane < n_chosen; ++lane) {
            category_bound_ += std::max(0.0, costs[lane].free[0][1] - problem_->split_cost);
        }
        if (n_chosen < static_cast<int>(intervals_[f].size())) return;
        double& known = known_[column_of(family)];
        known = std::max(known, category_bound_ + problem_->split_cost - problem_->tolerance);
    }

    // Up to BATCH candidates that cut the intervals evenly, in ascending order.
    void choose_positions(const std::vector<Interval>& intervals) {
        chosen_.clear();
        std::int64_t total = 0;
        for (const Interval& interval : intervals) total += interval.size();
        // Once, one lane is left for all rows: the best single test.
        int left = one_test_ < 0.0 ? BATCH - 1 : BATCH;
        n_cut_ = 0;
        for (const Interval& interval : intervals) {
            if (left == 0) break;
            const std::int64_t size = interval.size();
            const int others = static_cast<int>(intervals.size()) - n_cut_ - 1;
            std::int64_t share = total <= left + static_cast<std::int64_t>(chosen_.size())
                                     ? size
                                     : size * BATCH / total;
            share = std::max<std::int64_t>(1, std::min<std::int64_t>({share, size, left}));
            if (left - share < std::min(others, left - 1) && share > 1) {
                share = std::max<std::int64_t>(1, left - std::min(others, left - 1));
            }
            for (std::int64_t i = 1; i <= share; ++i) {
                chosen_.push_back(interval.lo +
                                  static_cast<int>(share == size ? i - 1 : i * size / (share + 1)));
            }
            left -= static_cast<int>(share);
            ++n_cut_;
        }
    }

    double side(const double costs[2], int budget) const { return costs[budget]; }

    void take(const Family& family, int position, const Costs& costs) {
        const double free = side(costs.free[0], allotment_.left) +
                            side(costs.free[1], allotment_.right) + problem_->split_cost;
        free_best_ = std::min(free_best_, free);
        double& floor = floor_[column_of(family)];
        floor = std::min(floor, free);
        const double cost = side(costs.supported[0], allotment_.left) +
                            side(costs.supported[1], allotment_.right) + problem_->split_cost;
        if (cost >= cap_ || cost > result_.cost) return;
        DepthTwoResult found;
        found.cost = cost;
        found.split[0] = side(costs.supported[0], allotment_.left) < costs.supported[0][0];
        found.split[1] = side(costs.supported[1], allotment_.right) < costs.supported[1][0];
        found.test = test_at(*problem_, *node_, family, position);
        if (cost < result_.cost ||
            comes_first(found.n_splits(), found.test, result_.n_splits(), result_.test)) {
            result_ = found;
        }
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
        for (int f = 0; f < n_families_; ++f) {
            for (const Interval& interval : intervals_[f]) {
                bound = std::min(bound, problem_->split_cost + least_of(families_[f], interval));
            }
        }
        return bound;
    }

    PassRunner<Lane> runner_;
    const ThresholdProblem* problem_ = nullptr;
    const ThresholdNode* node_ = nullptr;
    const BinBounds* bins_ = nullptr;
    Allotment allotment_;
    double cap_ = INFEASIBLE;
    double free_best_ = INFEASIBLE;  // least cost seen, minima for leaves aside
    int category_family_ = -1;
    double category_bound_ = 0.0;
    double one_test_ = -1.0;  // cost of all rows with at most one test; negative: not known
    std::vector<double> known_, floor_;
    DepthTwoResult result_;
    static constexpr std::int64_t LARGE = 1 << 26;
    SearchControl* control_ = nullptr;
    Booking booking_;
    std::int64_t n_bytes_ = 0;
    int n_families_ = 0;
    int n_cut_ = 0;
    std::vector<Family> families_;
    std::vector<std::vector<Interval>> intervals_;  // open, by family
    std::vector<Interval> next_;
    std::vector<int> chosen_;
    std::vector<int> turn_;  // families in the order of their turns
};

}  // namespace sktree_opt::thresholds
