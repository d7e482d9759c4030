// The best tree over all thresholds, any depth: exact.
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
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_search.hpp"

namespace sktree_opt::thresholds {

// The search below one root test at a time; one object for each thread.
class SubtreeSolver {
public:
    SubtreeSolver(const ThresholdProblem& problem, SearchControl* control, int depth);

    // `column_bounds` (see depth_two_passes.hpp) is null, or IN and OUT. Only depth two and tables
    // of pairs use it.
    NodeResult solve(const ThresholdNode& node, int depth, int n_splits, double cap,
                     std::vector<double>* column_bounds = nullptr);

    // The tree of a result for `node`.
    const Plan& plan(const ThresholdNode& node, NodeResult& result);

    // Runs task(thread, i) for every i, on one thread or on several.
    using Task = std::function<void(int thread, int i)>;
    using Runner = std::function<void(int n_items, const Task& task)>;

    // The best tree of depth three whose root asks `test`, where it is better than `result`.
    void solve_below(const ThresholdNode& node, const ThresholdTest& test, NodeResult& result);

    // The best tree of depth three by tables of pairs: see can_sweep().
    // `column_bounds` as in solve().
    void solve_by_values(const ThresholdNode& node, double cap, const Runner& run,
                         std::vector<double>* column_bounds, NodeResult& result);

    // After solve_by_values(): raises `column_bounds` by the results of each column of the node.
    void write_column_bounds(const ThresholdNode& node, const std::vector<ValueSweep::Swept>& swept,
                             std::vector<double>& column_bounds);

    // Whether solve() to depth three takes the tables of pairs, not the search by intervals.
    bool can_sweep(const ThresholdNode& node, int depth, int n_splits) const {
        return depth == 3 && ValueSweep::is_faster(problem_, node, n_splits);
    }

    ThresholdStats stats;

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

    void solve_depth_two(const ThresholdNode& node, int n_splits, double cap,
                         std::vector<double>* column_bounds, NodeResult& result);
    void solve_two_by_values(const ThresholdNode& node, NodeResult& result);
    // Whether two levels are solved by tables, which give no bounds of single columns.
    bool takes_tables(const ThresholdNode& node, int n_splits,
                      const std::vector<double>* column_bounds) const {
        return column_bounds == nullptr && RoughTables::are_faster(problem_, node, n_splits);
    }
    void solve_deeper(const ThresholdNode& node, int depth, int n_splits, double cap,
                      NodeResult& result);
    DepthTwoResult run_depth_two(const ThresholdNode& node, Allotment allotment, double cap,
                                 std::vector<double>* column_bounds);

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

inline SubtreeSolver::SubtreeSolver(const ThresholdProblem& problem, SearchControl* control,
                                    int depth)
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

inline DepthTwoResult SubtreeSolver::run_depth_two(const ThresholdNode& node, Allotment allotment,
                                                   double cap, std::vector<double>* column_bounds) {
    ++stats.n_depth_two;
    // The narrowest lanes that hold every sum.
    double sum = weight_of(problem_, node.sums.data());
    if (!problem_.is_error) sum = std::max(sum, largest_sum_);
    sum = std::max(sum, static_cast<double>(node.n));
    if (whole_ && !problem_.is_regression() && sum < 32000.0) {
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

inline NodeResult SubtreeSolver::solve(const ThresholdNode& node, int depth, int n_splits,
                                       double cap, std::vector<double>* column_bounds) {
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
        const auto one_by_one = [](int n_items, const Task& task) {
            for (int i = 0; i < n_items; ++i) task(0, i);
        };
        solve_by_values(node, cap, one_by_one, column_bounds, result);
    } else {
        solve_deeper(node, depth, n_splits, cap, result);
    }
    return result;
}

inline void SubtreeSolver::solve_depth_two(const ThresholdNode& node, int n_splits, double cap,
                                           std::vector<double>* column_bounds, NodeResult& result) {
    if (takes_tables(node, n_splits, column_bounds)) {
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

inline void SubtreeSolver::solve_two_by_values(const ThresholdNode& node, NodeResult& result) {
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

inline void SubtreeSolver::solve_by_values(const ThresholdNode& node, double cap, const Runner& run,
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
    if (has_column_bounds && !watch_.stopped()) write_column_bounds(node, swept, *column_bounds);
    const ValueSweep::Result found =
        sweep_->best_of(swept, limit, incumbent, sweep_work_[0], watch_);
    result.lower = watch_.stopped() ? 0.0 : std::min(leaf_lower, found.cost - problem_.tolerance);
    if (found.root.column_index < 0) return;
    ColumnTests tests;
    describe_tests(node, found.root.column_index, found.root.missing_left, tests);
    solve_below(node, test_at(problem_, node, tests, found.root.position), result);
}

// In a node with more rows, a test may send all rows of this one to one side. Then they cost what
// the best two levels leave.
inline void SubtreeSolver::write_column_bounds(const ThresholdNode& node,
                                               const std::vector<ValueSweep::Swept>& swept,
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

inline void SubtreeSolver::solve_below(const ThresholdNode& node, const ThresholdTest& test,
                                       NodeResult& result) {
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

inline void SubtreeSolver::solve_deeper(const ThresholdNode& node, int depth, int n_splits,
                                        double cap, NodeResult& result) {
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

inline const Plan& SubtreeSolver::plan(const ThresholdNode& node, NodeResult& result) {
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
        parts[b] = tree.test.column < 0 ? leaf_plan() : join(tree.test, leaf_plan(), leaf_plan());
    }
    result.plan = join(result.test, parts[0], parts[1]);
    return result.plan;
}

}  // namespace sktree_opt::thresholds
