// The best tree over all thresholds, any depth: exact. Kernel: threads call it for each interval,
// and a node of two levels takes microseconds.
//
// Problem: minimise the summed cost of the leaves plus split_cost for each test, within a depth, a
// number of tests and minima for leaves. Tests are `x <= t` (any t), `x is category c` and `x is
// missing`, with missing values on either side of each test.
//
// After ConTree (C.E. Brita, J.G.M. van der Linden, E. Demirovic, "Optimal Classification Trees for
// Continuous Feature Data Using Dynamic Programming with Branch-and-Bound", AAAI 2025,
// doi:10.1609/aaai.v39i11.33207), with the depth-two solver of our own in depth_two_passes.hpp.
//
//   paper                      here
//   D, F, tau                  node, column, position of a test
//   CT(D, d, UB)               SubtreeSolver::solve(node, depth, n_splits, cap)
//   theta_L, theta_R           left_u/right_u, left_v/right_v of an Interval
//   neighbourhood pruning,     trim() and bound_of() of intervals.hpp
//   interval shrinking,
//   sub-interval pruning
//
// A leaf costs its errors, its cheapest answer by a matrix, or the squared or absolute distances of
// its targets from their mean or median. intervals.hpp says what the bounds need of each.
//
// Deviations: intervals are explored by lowest bound over all columns together, not column by
// column; each child is solved up to the cap that would exclude the half of the interval beyond it.
// Complexity: in the worst case every threshold of every column at every level, (n m)^(d-2) calls
// of the depth-two solver, each O(n m) per BATCH of its root tests. Memory: O(depth n m).
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/depth_two_passes.hpp"
#include "sktree_opt/optimal/thresholds/few_values/rough_tables.hpp"
#include "sktree_opt/optimal/thresholds/few_values/value_sweep.hpp"
#include "sktree_opt/optimal/thresholds/intervals.hpp"
#include "sktree_opt/optimal/thresholds/stump.hpp"
#include "sktree_opt/optimal/thresholds/threshold_problem.hpp"

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

// The search below one root test at a time; one object for each thread.
class SubtreeSolver {
public:
    SubtreeSolver(const ThresholdProblem& problem, SearchControl* control, int depth)
        : problem_(problem), watch_(control), set_(problem.instruction_set) {
        double sum = 0.0;
        for (std::uint32_t row = 0; row < problem.n_rows; ++row) {
            const double weight = problem.weight[row];
            whole_ = whole_ && weight == std::floor(weight);
            sum += weight;
        }
        double largest_cost = 1.0;
        for (double gain : problem.gain) {
            whole_ = whole_ && gain == std::floor(gain);
            largest_cost = std::max(largest_cost, gain);
        }
        largest_sum_ = sum * largest_cost;
        for (int level = 0; level <= depth; ++level)
            levels_.push_back(std::make_unique<SubtreeLevel>());
    }

    ThresholdStats stats;

    // `column_bounds` (see depth_two_passes.hpp) is null, or IN and OUT. Only depth two and tables
    // of pairs use it.
    NodeResult solve(const ThresholdNode& node, int depth, int n_splits, double cap,
                     std::vector<double>* column_bounds = nullptr) {
        NodeResult result;
        const bool small = depth <= 1 || n_splits <= 1;
        const bool may_split = small && depth > 0 && n_splits > 0;
        const SmallTree tree = stump_.solve(problem_, node, may_split, &watch_);
        result.cost = tree.cost;
        result.test = tree.test;
        result.n_splits = tree.test.column >= 0;
        result.lower = tree.free_cost;
        // A test costs split_cost at least.
        const bool is_done = tree.free_cost <= problem_.split_cost + problem_.tolerance;
        if (small || node.columns.empty() || is_done) return result;
        const bool is_two = depth == 2 || n_splits == 2;
        if (is_two) {
            solve_depth_two(node, n_splits, cap, column_bounds, result);
        } else if (can_sweep(node, depth, n_splits)) {
            const auto one_by_one = [](int n_items, const auto& task) {
                for (int i = 0; i < n_items; ++i) task(0, i);
            };
            solve_by_values(node, cap, one_by_one, column_bounds, result);
        } else {
            solve_deeper(node, depth, n_splits, cap, result);
        }
        return result;
    }

    // The tree of a result for `node`.
    const Plan& plan(const ThresholdNode& node, NodeResult& result) {
        if (!result.plan.empty()) return result.plan;
        if (result.test.column < 0 || result.n_splits <= 1) {
            result.plan =
                result.test.column < 0 ? leaf_plan() : join(result.test, leaf_plan(), leaf_plan());
            return result.plan;
        }
        // A depth-two result: one test may do as well, else its sides are the best single tests.
        const SmallTree single = stump_.solve(problem_, node, true, nullptr);
        if (single.cost <= result.cost + problem_.tolerance) {
            result.test = single.test;
            result.n_splits = single.test.column >= 0;
            result.plan =
                result.n_splits == 0 ? leaf_plan() : join(result.test, leaf_plan(), leaf_plan());
            return result.plan;
        }
        SubtreeLevel& level = *levels_[1];
        ThresholdNode* const children[2] = {&level.children[0], &level.children[1]};
        divider_.divide(problem_, node, result.test, children, nullptr);
        Plan parts[2];
        for (int b = 0; b < 2; ++b) {
            const SmallTree tree = stump_.solve(problem_, *children[b], result.split[b], nullptr);
            parts[b] =
                tree.test.column < 0 ? leaf_plan() : join(tree.test, leaf_plan(), leaf_plan());
        }
        result.plan = join(result.test, parts[0], parts[1]);
        return result.plan;
    }

    // Whether solve() to depth three takes the tables of pairs, not the search by intervals.
    bool can_sweep(const ThresholdNode& node, int depth, int n_splits) const {
        return depth == 3 && ValueSweep::is_faster(problem_, node, n_splits);
    }

    // The best tree of depth three by tables of pairs: see can_sweep(). `column_bounds` as in
    // solve(). `run(n_items, task)` calls task(thread, i) for every i, on one thread or on several.
    template <class Runner>
    void solve_by_values(const ThresholdNode& node, double cap, const Runner& run,
                         std::vector<double>* column_bounds, NodeResult& result) {
        ++stats.n_nodes;
        ++stats.n_swept;
        const std::size_t n_threads = std::max(1, problem_.n_threads);
        if (!sweep_) {
            sweep_ = std::make_unique<ValueSweep>(set_);
            sweep_work_ = std::make_unique<ValueSweep::SweepWork[]>(n_threads);
        }
        const double leaf_lower = result.lower;
        result.lower = 0.0;
        if (!sweep_->open(problem_, node, watch_)) return;
        const double limit = std::min(cap, result.cost);
        const std::vector<int> order = sweep_->promising_first();
        const bool has_column_bounds = column_bounds != nullptr && problem_.use.column_bounds;
        std::atomic<double> incumbent{limit};
        std::vector<ValueSweep::Swept> swept(node.columns.size());
        std::vector<Watch> watches(n_threads, Watch(watch_.control()));
        run(static_cast<int>(swept.size()), [&](int thread, int i) {
            const int k = order[i];
            const double column_bound =
                has_column_bounds ? (*column_bounds)[node.columns[k].column] : 0.0;
            if (!watch_.stopped()) {
                sweep_->sweep(k, column_bound, incumbent, sweep_work_[thread], watches[thread],
                              swept[k]);
            }
        });
        if (has_column_bounds && !watch_.stopped())
            write_column_bounds(node, swept, *column_bounds);
        const ValueSweep::Result found =
            sweep_->best_of(swept, limit, incumbent, sweep_work_[0], watch_);
        result.lower =
            watch_.stopped() ? 0.0 : std::min(leaf_lower, found.cost - problem_.tolerance);
        if (found.root.column_index < 0) return;
        ColumnTests tests;
        describe_tests(node, found.root.column_index, found.root.missing_left, tests);
        solve_below(node, test_at(problem_, node, tests, found.root.position), result);
    }

private:
    friend class NodeSearch;

    struct SubtreeLevel {
        ThresholdNode children[2];
        std::vector<ColumnTests> column_tests;
        std::vector<OpenInterval> heap;
    };

    // Of nodes of two levels.
    struct Tables {
        explicit Tables(InstructionSet set) : node(set) {}

        PairTables node;
        RoughTables::RoughWork work;
        std::vector<RootTest> good;
        ValueTrees::TreeWork exact;
    };

    DepthTwoResult run_depth_two(const ThresholdNode& node, Allotment allotment, double cap,
                                 std::vector<double>* column_bounds) {
        ++stats.n_depth_two;
        // The narrowest lanes that hold every sum.
        double sum = weight_of(problem_, node.sums.data());
        if (!problem_.is_error) sum = std::max(sum, largest_sum_);
        sum = std::max(sum, static_cast<double>(node.n));
        const double most = problem_.use.narrow_lanes ? 32000.0 : 0.0;
        if (whole_ && !problem_.is_regression() && sum < most) {
            if (!narrow_) narrow_ = std::make_unique<DepthTwoSolver<std::int16_t>>(set_);
            return narrow_->solve(problem_, node, allotment, cap, column_bounds, watch_, stats);
        }
        if (whole_ && !problem_.is_regression() && sum < 1e9) {
            if (!wide_) wide_ = std::make_unique<DepthTwoSolver<std::int32_t>>(set_);
            return wide_->solve(problem_, node, allotment, cap, column_bounds, watch_, stats);
        }
        if (!real_) real_ = std::make_unique<DepthTwoSolver<double>>(set_);
        return real_->solve(problem_, node, allotment, cap, column_bounds, watch_, stats);
    }

    void solve_depth_two(const ThresholdNode& node, int n_splits, double cap,
                         std::vector<double>* column_bounds, NodeResult& result) {
        // The tables give no bounds of single columns.
        if (column_bounds == nullptr && RoughTables::are_faster(problem_, node, n_splits)) {
            solve_two_by_values(node, result);
            return;
        }
        const Allotment both = {1, 1}, one_left = {1, 0}, one_right = {0, 1};
        const int n_turns = n_splits >= 3 ? 1 : 2;
        for (int turn = 0; turn < n_turns; ++turn) {
            const Allotment allotment = n_splits >= 3 ? both : turn == 0 ? one_left : one_right;
            const DepthTwoResult found = run_depth_two(node, allotment, std::min(cap, result.cost),
                                                       n_splits >= 3 ? column_bounds : nullptr);
            result.lower = std::min(result.lower, found.lower);
            if (found.cost >= result.cost - problem_.tolerance) continue;
            result.cost = found.cost;
            result.test = found.test;
            result.n_splits = found.n_splits();
            std::copy(found.split, found.split + 2, result.split);
        }
    }

    void solve_two_by_values(const ThresholdNode& node, NodeResult& result) {
        ++stats.n_depth_two;
        ++stats.n_swept;
        if (!tables_) tables_ = std::make_unique<Tables>(set_);
        Tables& tables = *tables_;
        PairTables& of_node = tables.node;
        if (!of_node.open(problem_, node, false, watch_)) {
            result.lower = 0.0;
            return;
        }
        of_node.rough.cost(of_node.rough.all(), of_node.rough.squares(), false, tables.work);
        of_node.rough.list_good(tables.work, tables.good);
        tables.exact.rows = of_node.rows;
        const ValueTrees::ValueTree tree = of_node.trees.best_of(tables.good, tables.exact);
        result.lower = std::min(result.lower, std::max(0.0, tree.least));
        if (tree.root.column_index < 0 || tree.cost >= result.cost) return;
        ColumnTests tests;
        describe_tests(node, tree.root.column_index, tree.root.missing_left, tests);
        result.cost = tree.cost;
        result.test = test_at(problem_, node, tests, tree.root.position);
        result.n_splits = 1 + tree.is_split[0] + tree.is_split[1];
        std::copy(tree.is_split, tree.is_split + 2, result.split);
    }

    // Raises `column_bounds` by the results of each column of the node. In a node with more rows, a
    // test may send all rows of this one to one side. Then they cost what
    // the best two levels leave.
    void write_column_bounds(const ThresholdNode& node, const std::vector<ValueSweep::Swept>& swept,
                             std::vector<double>& column_bounds) {
        const double idle = sweep_->least_of_two_levels(sweep_work_[0]) + problem_.split_cost;
        std::vector<double> mine(column_bounds.size(), idle);
        for (std::size_t k = 0; k < swept.size(); ++k) {
            double& column_bound = mine[node.columns[k].column];
            column_bound = std::min(column_bound, swept[k].column_bound);
        }
        for (std::size_t j = 0; j < column_bounds.size(); ++j)
            column_bounds[j] = std::max(column_bounds[j], mine[j]);
    }

    // The best tree of depth three whose root asks `test`, where it is better than `result`.
    void solve_below(const ThresholdNode& node, const ThresholdTest& test, NodeResult& result) {
        SubtreeLevel& level = *levels_[3];
        ThresholdNode* const children[2] = {&level.children[0], &level.children[1]};
        divider_.divide(problem_, node, test, children, nullptr);
        NodeResult sides[2];
        for (int b = 0; b < 2; ++b) sides[b] = solve(*children[b], 2, 3, INFEASIBLE);
        const double cost = sides[0].cost + sides[1].cost + problem_.split_cost;
        if (cost >= result.cost) return;
        result.cost = cost;
        result.test = test;
        result.n_splits = 1 + sides[0].n_splits + sides[1].n_splits;
        result.plan = join(test, plan(*children[0], sides[0]), plan(*children[1], sides[1]));
    }

    void solve_deeper(const ThresholdNode& node, int depth, int n_splits, double cap,
                      NodeResult& result) {
        ++stats.n_nodes;
        SubtreeLevel& level = *levels_[depth];
        const double leaf_lower = result.lower;
        double lower = leaf_lower;
        NodeSearch search(problem_, node, depth, n_splits, level.column_tests, level.heap, watch_);
        if (watch_.stopped()) lower = 0.0;
        search.open();
        OpenInterval item;
        while (!watch_.stopped()) {
            const double limit = problem_.limit_below(std::min(cap, result.cost));
            if (!search.next(limit, item)) break;
            Evaluation evaluation = search.evaluate(*this, item, limit, result.cost);
            if (watch_.stopped()) search.give_back(item);
            else search.divide(item, evaluation, limit);
            lower = std::min(lower, evaluation.left + evaluation.right + problem_.split_cost);
            if (evaluation.cost < result.cost) {
                result.cost = evaluation.cost;
                result.test = evaluation.test;
                result.n_splits = evaluation.n_splits;
                result.plan.swap(evaluation.plan);
            }
        }
        if (watch_.stopped()) lower = std::min(lower, search.open_bound());
        result.lower = std::min({lower, cap, result.cost});
    }

    const ThresholdProblem& problem_;
    Watch watch_;
    InstructionSet set_;
    double largest_sum_;
    bool whole_ = true;  // weights and costs are integers
    std::unique_ptr<Tables> tables_;
    std::unique_ptr<ValueSweep> sweep_;
    std::unique_ptr<ValueSweep::SweepWork[]> sweep_work_;  // by thread
    StumpSolver stump_;
    Divider divider_;
    std::unique_ptr<DepthTwoSolver<std::int16_t>> narrow_;
    std::unique_ptr<DepthTwoSolver<std::int32_t>> wide_;
    std::unique_ptr<DepthTwoSolver<double>> real_;
    std::vector<std::unique_ptr<SubtreeLevel>> levels_;
};

}  // namespace sktree_opt::thresholds
