// The best tree over all thresholds, any depth: exact.
//
// Problem: over all binary trees whose tests are `x <= t` (any t), `x is category c`, `x is
// missing`, with missing values on either side of each test, minimise the summed cost of the leaves
// plus split_cost for each test, within a depth, a number of tests and minima for leaves.
//
// After ConTree (C.E. Brita, J.G.M. van der Linden, E. Demirovic, "Optimal Classification Trees for
// Continuous Feature Data Using Dynamic Programming with Branch-and-Bound", AAAI 2025,
// doi:10.1609/aaai.v39i11.33207), with the depth-two solver of our own in depth_two_passes.hpp.
//
//   paper                      here
//   D, F, tau                  node, column, position of a family
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
// On large tables wide intervals are first bounded by bins (bin_bounds.hpp), and solved only where
// that does not exclude them.
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
    // `equal_costs` as equal_row_costs() gives them.
    SubtreeSolver(const ThresholdProblem& problem, SearchControl* control, int depth,
                  const std::vector<double>& equal_costs);

    // A lower bound for every tree of a node, whatever its tests (see target_bounds.hpp). Squared
    // errors have one only if the node's rows are in the order of targets.
    double bound_without_tests(const ThresholdNode& node, int depth, int n_splits);

    // `floors` (see depth_two_passes.hpp) is null or IN and OUT; only depth two and tables of pairs
    // use it. `bins` is null or the bounds of the node; only depth two uses it.
    NodeResult solve(const ThresholdNode& node, int depth, int n_splits, double cap,
                     std::vector<double>* floors = nullptr, const BinBounds* bins = nullptr);

    // The tree of a result for `node`.
    const Plan& plan(const ThresholdNode& node, NodeResult& result);

    // Bounds of both sides of the tests of a column by bins; `is_first` for the first column of a
    // node. False when a limit ended it.
    bool sweep(const ThresholdNode& node, bool is_first, int column_index, SweptTests& swept);

    // Runs work(thread, i) for every i, on one thread or on several.
    using Work = std::function<void(int thread, int i)>;
    using Runner = std::function<void(int n_items, const Work& work)>;

    // The best tree of depth three whose root asks `test`, where it is better than `result`.
    void solve_below(const ThresholdNode& node, const ThresholdTest& test, NodeResult& result);

    // The best tree of depth three by tables of pairs: see can_sweep().
    // `floors` as in solve().
    void solve_by_values(const ThresholdNode& node, double cap, const Runner& run,
                         std::vector<double>* floors, NodeResult& result);

    // After solve_by_values(): raises `floors` by the results of each column of the node.
    void write_floors(const ThresholdNode& node, const std::vector<ValueSweep::Swept>& swept,
                      std::vector<double>& floors);

    // Whether solve() to depth three takes the tables of pairs, not the search by intervals.
    bool can_sweep(const ThresholdNode& node, int depth, int n_splits) const {
        return depth == 3 && ValueSweep::is_faster(problem_, node, n_splits);
    }

    bool use_bins = true;
    // Lower bound from bins on the last depth-two tree; 0 if bins were not used.
    double last_bound_by_bins = 0.0;
    ThresholdStats stats;

private:
    friend class NodeSearch;

    struct SubtreeLevel {
        ThresholdNode children[2];
        std::vector<Family> families;
        std::vector<OpenInterval> heap;
    };

    // Of nodes of two levels.
    struct Tables {
        explicit Tables(InstructionSet set) : node(set) {}

        PairTables node;
        RoughTables::Work work;
        std::vector<RootTest> good;
        ValueTrees::Work exact;
    };

    void solve_depth_two(const ThresholdNode& node, int n_splits, double cap,
                         std::vector<double>* floors, const BinBounds* bins, NodeResult& result);
    void solve_two_by_values(const ThresholdNode& node, NodeResult& result);
    // Whether two levels are solved by tables, which say nothing about single columns.
    bool takes_tables(const ThresholdNode& node, int n_splits, const std::vector<double>* floors,
                      const BinBounds* bins) const {
        return floors == nullptr && bins == nullptr &&
               RoughTables::are_faster(problem_, node, n_splits);
    }
    void solve_deeper(const ThresholdNode& node, int depth, int n_splits, double cap,
                      NodeResult& result);
    DepthTwoResult run_depth_two(const ThresholdNode& node, Allotment allotment, double cap,
                                 std::vector<double>* floors, const BinBounds* bins);

    // Bounds of a node from its bins, in `bounds`; null when there are none.
    const BinBounds* bound_by_bins(const ThresholdNode& node, const std::vector<double>* floors,
                                   double cap, std::unique_ptr<BinBounds>& bounds);

    // With more levels there are so many leaves that the bound is useless.
    static constexpr int MOST_LEVELS = 4;

    const ThresholdProblem& problem_;
    Watch watch_;
    InstructionSet set_;
    double largest_sum_;
    bool whole_ = true;  // weights and costs are integers
    const std::vector<double>& equal_costs_;
    TargetGroups target_groups_;
    std::unique_ptr<Tables> tables_;
    std::unique_ptr<ValueSweep> sweep_;
    std::unique_ptr<ValueSweep::Work[]> sweep_work_;  // by thread
    std::unique_ptr<BinBounds> bins_, bins_of_children_[2];
    StumpSolver stump_;
    Divider divider_;
    std::unique_ptr<DepthTwoSolver<std::int16_t>> narrow_;
    std::unique_ptr<DepthTwoSolver<std::int32_t>> wide_;
    std::unique_ptr<DepthTwoSolver<double>> real_;
    std::vector<std::unique_ptr<SubtreeLevel>> levels_;
};

inline SubtreeSolver::SubtreeSolver(const ThresholdProblem& problem, SearchControl* control,
                                    int depth, const std::vector<double>& equal_costs)
    : problem_(problem), watch_(control), set_(problem.instruction_set), equal_costs_(equal_costs) {
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
                                                   double cap, std::vector<double>* floors,
                                                   const BinBounds* bins) {
    ++stats.n_depth_two;
    // The narrowest lanes that hold every sum.
    double sum = weight_of(problem_, node.sums.data());
    if (!problem_.is_error) sum = std::max(sum, largest_sum_);
    sum = std::max(sum, static_cast<double>(node.n));
    if (whole_ && !problem_.is_regression() && sum < 32000.0) {
        if (!narrow_) narrow_ = std::make_unique<DepthTwoSolver<std::int16_t>>(set_);
        return narrow_->solve(problem_, node, allotment, cap, floors, bins, watch_, stats);
    }
    if (whole_ && !problem_.is_regression() && sum < 1e9) {
        if (!wide_) wide_ = std::make_unique<DepthTwoSolver<std::int32_t>>(set_);
        return wide_->solve(problem_, node, allotment, cap, floors, bins, watch_, stats);
    }
    if (!real_) real_ = std::make_unique<DepthTwoSolver<double>>(set_);
    return real_->solve(problem_, node, allotment, cap, floors, bins, watch_, stats);
}

inline const BinBounds* SubtreeSolver::bound_by_bins(const ThresholdNode& node,
                                                     const std::vector<double>* floors, double cap,
                                                     std::unique_ptr<BinBounds>& bounds) {
    if (!use_bins || !BinBounds::is_worthwhile(problem_, node)) return nullptr;
    if (!bounds) bounds = std::make_unique<BinBounds>(set_);
    ++stats.n_bounded;
    return bounds->open(problem_, node, whole_, floors, cap, watch_) ? bounds.get() : nullptr;
}

inline bool SubtreeSolver::sweep(const ThresholdNode& node, bool is_first, int column_index,
                                 SweptTests& swept) {
    if (!bins_) bins_ = std::make_unique<BinBounds>(set_);
    if (is_first && !bins_->begin(problem_, node, whole_, watch_)) return false;
    stats.n_bounded += 2;
    return bins_->sweep(column_index, swept, watch_);
}

inline double SubtreeSolver::bound_without_tests(const ThresholdNode& node, int depth,
                                                 int n_splits) {
    double bound = 0.0;
    if (!equal_costs_.empty()) {
        for (const std::uint32_t row : node.row) bound += equal_costs_[row];
    }
    if (!problem_.is_absolute && !node.by_target.empty() && depth <= MOST_LEVELS) {
        const int n_leaves = 1 + std::min(n_splits, (1 << depth) - 1);
        bound = std::max(bound, target_groups_.bound(node, n_leaves, problem_.split_cost));
    }
    return std::max(0.0, bound - problem_.tolerance);
}

inline NodeResult SubtreeSolver::solve(const ThresholdNode& node, int depth, int n_splits,
                                       double cap, std::vector<double>* floors,
                                       const BinBounds* bins) {
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
    const bool has_tables =
        is_two ? takes_tables(node, n_splits, floors, bins) : can_sweep(node, depth, n_splits);
    // Tables of pairs have the optimum sooner than groups of targets a bound.
    const double bound = has_tables ? 0.0 : bound_without_tests(node, depth, n_splits);
    if (bound >= cap) {
        ++stats.n_excluded;
        result.lower = std::min(result.lower, bound);
        return result;
    }
    if (is_two) {
        solve_depth_two(node, n_splits, cap, floors, bins, result);
    } else if (has_tables) {
        const auto one_by_one = [](int n_items, const Work& work) {
            for (int i = 0; i < n_items; ++i) work(0, i);
        };
        solve_by_values(node, cap, one_by_one, floors, result);
    } else {
        solve_deeper(node, depth, n_splits, cap, result);
    }
    return result;
}

inline void SubtreeSolver::solve_depth_two(const ThresholdNode& node, int n_splits, double cap,
                                           std::vector<double>* floors, const BinBounds* bins,
                                           NodeResult& result) {
    if (takes_tables(node, n_splits, floors, bins)) {
        solve_two_by_values(node, result);
        return;
    }
    if (bins == nullptr) {
        bins = bound_by_bins(node, floors, std::min(cap, result.cost), bins_);
        last_bound_by_bins = bins == nullptr ? 0.0 : bins->trees().lower;
    }
    if (watch_.stopped()) {
        result.lower = 0.0;
        return;
    }
    if (bins != nullptr && bins->trees().lower >= std::min(cap, result.cost)) {
        result.lower = std::min(result.lower, bins->trees().lower);
        return;
    }
    const Allotment both = {1, 1}, one_left = {1, 0}, one_right = {0, 1};
    const int n_turns = n_splits >= 3 ? 1 : 2;
    for (int turn = 0; turn < n_turns; ++turn) {
        const Allotment allotment = n_splits >= 3 ? both : turn == 0 ? one_left : one_right;
        const DepthTwoResult found = run_depth_two(node, allotment, std::min(cap, result.cost),
                                                   n_splits >= 3 ? floors : nullptr, bins);
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
    Family family;
    describe_tests(node, tree.root.column_index, tree.root.missing_left, family);
    result.cost = tree.cost;
    result.test = test_at(problem_, node, family, tree.root.position);
    result.n_splits = 1 + tree.is_split[0] + tree.is_split[1];
    std::copy(tree.is_split, tree.is_split + 2, result.split);
}

inline void SubtreeSolver::solve_by_values(const ThresholdNode& node, double cap, const Runner& run,
                                           std::vector<double>* floors, NodeResult& result) {
    ++stats.n_nodes;
    ++stats.n_swept;
    const std::size_t n_threads = std::max(1, problem_.n_threads);
    if (!sweep_) {
        sweep_ = std::make_unique<ValueSweep>(set_);
        sweep_work_ = std::make_unique<ValueSweep::Work[]>(n_threads);
    }
    const double leaf_lower = result.lower;
    result.lower = 0.0;
    if (!sweep_->open(problem_, node, watch_)) return;
    const double limit = std::min(cap, result.cost);
    const std::vector<int> order = sweep_->promising_first();
    const bool has_floors = floors != nullptr && problem_.use.floors;
    std::atomic<double> incumbent{limit};
    std::vector<ValueSweep::Swept> swept(node.columns.size());
    std::vector<Watch> watches(n_threads, Watch(watch_.control()));
    run(static_cast<int>(swept.size()), [&](int thread, int i) {
        const int k = order[i];
        const double floor = has_floors ? (*floors)[node.columns[k].column] : 0.0;
        if (!watch_.stopped()) {
            sweep_->sweep(k, floor, incumbent, sweep_work_[thread], watches[thread], swept[k]);
        }
    });
    if (has_floors && !watch_.stopped()) write_floors(node, swept, *floors);
    const ValueSweep::Result found =
        sweep_->best_of(swept, limit, incumbent, sweep_work_[0], watch_);
    result.lower = watch_.stopped() ? 0.0 : std::min(leaf_lower, found.cost - problem_.tolerance);
    if (found.root.column_index < 0) return;
    Family family;
    describe_tests(node, found.root.column_index, found.root.missing_left, family);
    solve_below(node, test_at(problem_, node, family, found.root.position), result);
}

// With more rows a test may also send all of these rows to one side: then they cost what two levels
// make of them.
inline void SubtreeSolver::write_floors(const ThresholdNode& node,
                                        const std::vector<ValueSweep::Swept>& swept,
                                        std::vector<double>& floors) {
    const double idle = sweep_->least_of_two_levels(sweep_work_[0]) + problem_.split_cost;
    std::vector<double> mine(floors.size(), idle);
    for (std::size_t k = 0; k < swept.size(); ++k) {
        double& floor = mine[node.columns[k].column];
        floor = std::min(floor, swept[k].floor);
    }
    for (std::size_t j = 0; j < floors.size(); ++j) floors[j] = std::max(floors[j], mine[j]);
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
    if (problem_.use.look_ahead) {
        NodeResult shallow = result;
        solve_depth_two(node, n_splits, cap, nullptr, nullptr, shallow);
        if (shallow.cost < result.cost) {
            result = shallow;
            plan(node, result);
        }
    }
    double lower = leaf_lower;
    NodeSearch search(problem_, node, depth, n_splits, level.families, level.heap, watch_);
    if (watch_.stopped()) lower = 0.0;
    search.open({}, watch_.control());
    OpenInterval item;
    while (!watch_.stopped()) {
        const double limit = problem_.limit_below(std::min(cap, result.cost));
        if (!search.next(limit, item)) break;
        Evaluation evaluation = search.evaluate(*this, item, limit, result.cost);
        if (watch_.stopped()) search.give_back(item);
        else search.divide(item, evaluation, limit);
        if (evaluation.is_solved) {
            lower = std::min(lower, evaluation.left + evaluation.right + problem_.split_cost);
        }
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
