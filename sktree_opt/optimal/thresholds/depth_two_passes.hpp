// The best tree of depth two over all thresholds: exact.
//
// The root tests of each column are cut into sections. One vector pass solves BATCH section ends at
// a time: it finds the best second test of both sides of each. Sections that the interval bounds of
// intervals.hpp cannot exclude are cut again.
//
// Column bounds: for each column a lower bound for the trees whose root tests it. Trees cost no
// less on more rows, so the column bounds of a node hold for every node that contains it. Less the
// worst cost of the rows in between, they hold for every node inside it. Along a chain of root
// tests one level up, the column bounds of the nearest solved test exclude most columns without any
// pass.
#pragma once

#include <algorithm>
#include <vector>

#include "sktree_opt/optimal/thresholds/intervals.hpp"
#include "sktree_opt/optimal/thresholds/pass_runner.hpp"

namespace sktree_opt::thresholds {

// Whether the tree (n_splits, test) wins a tie against (other_splits, other).
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

    // `column_bounds` by column of the table, or null. IN: known before; OUT: known now.
    DepthTwoResult solve(const ThresholdProblem& problem, const ThresholdNode& node,
                         Allotment allotment, double cap, std::vector<double>* column_bounds,
                         Watch& watch, ThresholdStats& stats) {
        problem_ = &problem;
        node_ = &node;
        allotment_ = allotment;
        result_ = DepthTwoResult();
        free_best_ = INFEASIBLE;
        cap_ = cap;
        if (!runner_.open(problem, node, watch)) return result_;
        n_column_tests_ = list_column_tests(problem, node, column_tests_, watch);
        if (!book(watch.control()) || watch.stopped()) return result_;
        if (static_cast<int>(intervals_.size()) < n_column_tests_)
            intervals_.resize(n_column_tests_);
        known_.assign(problem.n_columns, 0.0);
        if (column_bounds != nullptr && problem.use.column_bounds) known_ = *column_bounds;
        found_bounds_.assign(problem.n_columns, INFEASIBLE);
        one_test_ = -1.0;
        category_tests_ = -1;
        for (int f = 0; f < n_column_tests_; ++f) start(column_tests_[f], intervals_[f]);
        bool open = true;
        while (open && !watch.stopped()) {
            open = false;
            for (int i = 0; i < n_column_tests_ && !watch.stopped(); ++i) {
                if (advance(i, watch, stats)) open = true;
            }
            if (watch.poll()) break;
        }
        result_.lower = std::min(free_best_, cap_);
        if (watch.stopped()) result_.lower = std::min(result_.lower, open_bound());
        else if (column_bounds != nullptr) write_column_bounds(*column_bounds);
        release();
        return result_;
    }

private:
    using Costs = typename PassRunner<Lane>::Costs;

    bool book(SearchControl* control) {
        control_ = control;
        n_bytes_ = 0;
        for (const ColumnTests& tests : column_tests_) n_bytes_ += tests.n_bytes();
        return booking_.set(control, n_bytes_);
    }

    // Large tables have few nodes, so memory matters more than the time to allocate it again.
    void release() {
        if (n_bytes_ < LARGE) return;
        column_tests_ = std::vector<ColumnTests>();
        n_bytes_ = 0;
        booking_.set(control_, 0);
    }

    void start(const ColumnTests& tests, std::vector<Interval>& intervals) {
        intervals.clear();
        if (!tests.is_chain) {
            for (int p = 0; p < tests.n_positions; ++p) {
                intervals.push_back({p, p, p, p, 0.0, 0.0, 0.0, 0.0});
            }
            return;
        }
        intervals.push_back({-1, tests.n_positions, 0, tests.n_positions - 1, 0.0, 0.0, 0.0, 0.0});
    }

    double limit() const { return problem_->limit_below(std::min(cap_, result_.cost)); }

    int column_of(const ColumnTests& tests) const {
        return node_->columns[tests.column_index].column;
    }

    // Drops what cannot be better than the best tree, and remembers its lower bound.
    void trim_all(int f) {
        const ColumnTests& tests = column_tests_[f];
        std::vector<Interval>& intervals = intervals_[f];
        double& column_bound = found_bounds_[column_of(tests)];
        const double split_cost = problem_->split_cost;
        if (known_[column_of(tests)] - split_cost >= limit()) {
            if (!intervals.empty()) column_bound = std::min(column_bound, known_[column_of(tests)]);
            intervals.clear();
            return;
        }
        std::size_t kept = 0;
        for (Interval interval : intervals) {
            const int size = interval.size();
            const double bound = least_of(tests, interval);
            const bool open = tests.is_chain ? trim(tests, limit(), interval) : bound < limit();
            if (!open) column_bound = std::min(column_bound, std::max(bound, limit()) + split_cost);
            else if (interval.size() < size)
                column_bound = std::min(column_bound, limit() + split_cost);
            if (open) intervals[kept++] = interval;
        }
        intervals.resize(kept);
    }

    // `split_cost` not included.
    static double least_of(const ColumnTests& tests, const Interval& interval) {
        return tests.is_chain ? bound_of(tests, interval) : interval.left_u + interval.right_u;
    }

    // In a node with more rows, a test may send all rows of this one to one side. Then they cost
    // what the best single test leaves.
    void write_column_bounds(std::vector<double>& column_bounds) const {
        const double one_test = std::max(0.0, one_test_);
        const double idle = one_test + (one_test > 0.0 ? problem_->split_cost : 0.0);
        for (int j = 0; j < problem_->n_columns; ++j) {
            column_bounds[j] = std::max(known_[j], std::min(found_bounds_[j], idle));
        }
    }

    // One pass over the open tests of a column. Returns false when there are none.
    bool advance(int f, const Watch& watch, ThresholdStats& stats) {
        const ColumnTests& tests = column_tests_[f];
        std::vector<Interval>& intervals = intervals_[f];
        trim_all(f);
        if (intervals.empty()) return false;
        choose_positions(intervals);
        ++stats.n_passes;
        stats.n_lanes += static_cast<std::int64_t>(chosen_.size());
        Costs costs[BATCH];
        const int n_chosen = static_cast<int>(chosen_.size());
        runner_.run(tests, chosen_.data(), n_chosen, costs);
        if (watch.stopped()) return true;
        for (int lane = 0; lane < n_chosen; ++lane) take(tests, chosen_[lane], costs[lane]);
        if (tests.is_chain && n_chosen < BATCH) one_test_ = costs[n_chosen].free[0][1];
        if (!tests.is_chain) add_categories(f, n_chosen, costs);
        divide(intervals, costs);
        return true;
    }

    // A tree whose root tests a nominal column costs at least the sum over its categories, each
    // with a test of its own below. Once these costs are known, they often exclude the same tests
    // with missing values on the other side.
    void add_categories(int f, int n_chosen, const Costs* costs) {
        const ColumnTests& tests = column_tests_[f];
        if (tests.missing_left || !problem_->use.categories) return;
        if (f != category_tests_) category_bound_ = 0.0;
        category_tests_ = f;
        for (int lane = 0; lane < n_chosen; ++lane) {
            category_bound_ += std::max(0.0, costs[lane].free[0][1] - problem_->split_cost);
        }
        if (n_chosen < static_cast<int>(intervals_[f].size())) return;
        double& known = known_[column_of(tests)];
        known = std::max(known, category_bound_ + problem_->split_cost - problem_->tolerance);
    }

    // Chooses up to BATCH candidates that cut the intervals evenly, in ascending order.
    void choose_positions(const std::vector<Interval>& intervals) {
        chosen_.clear();
        std::int64_t total = 0;
        for (const Interval& interval : intervals) total += interval.size();
        // The first pass leaves one lane for all rows: it finds the best single test.
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

    void take(const ColumnTests& tests, int position, const Costs& costs) {
        const double free = side(costs.free[0], allotment_.left) +
                            side(costs.free[1], allotment_.right) + problem_->split_cost;
        free_best_ = std::min(free_best_, free);
        double& column_bound = found_bounds_[column_of(tests)];
        column_bound = std::min(column_bound, free);
        const double cost = side(costs.supported[0], allotment_.left) +
                            side(costs.supported[1], allotment_.right) + problem_->split_cost;
        if (cost >= cap_ || cost > result_.cost) return;
        DepthTwoResult found;
        found.cost = cost;
        found.split[0] = side(costs.supported[0], allotment_.left) < costs.supported[0][0];
        found.split[1] = side(costs.supported[1], allotment_.right) < costs.supported[1][0];
        found.test = test_at(*problem_, *node_, tests, position);
        if (cost < result_.cost ||
            comes_first(found.n_splits(), found.test, result_.n_splits(), result_.test)) {
            result_ = found;
        }
    }

    // Replaces the intervals that were cut by the parts between the solved positions.
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
        for (int f = 0; f < n_column_tests_; ++f) {
            for (const Interval& interval : intervals_[f]) {
                bound =
                    std::min(bound, problem_->split_cost + least_of(column_tests_[f], interval));
            }
        }
        return bound;
    }

    PassRunner<Lane> runner_;
    const ThresholdProblem* problem_ = nullptr;
    const ThresholdNode* node_ = nullptr;
    Allotment allotment_;
    double cap_ = INFEASIBLE;
    double free_best_ = INFEASIBLE;  // least cost seen, minima for leaves aside
    int category_tests_ = -1;
    double category_bound_ = 0.0;
    double one_test_ = -1.0;  // cost of all rows with at most one test; negative: not known
    std::vector<double> known_, found_bounds_;
    DepthTwoResult result_;
    static constexpr std::int64_t LARGE = 1 << 26;
    SearchControl* control_ = nullptr;
    Booking booking_;
    std::int64_t n_bytes_ = 0;
    int n_column_tests_ = 0;
    int n_cut_ = 0;
    std::vector<ColumnTests> column_tests_;
    std::vector<std::vector<Interval>> intervals_;  // open ones, by tests of a column
    std::vector<Interval> next_;
    std::vector<int> chosen_;
};

}  // namespace sktree_opt::thresholds
