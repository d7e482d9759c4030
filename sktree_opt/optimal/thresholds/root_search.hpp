// The search at the root: a level, its threads, incumbents, and steps of the work. Callers choose
// when to go on to which level.
//
// Root intervals are explored in rounds of ROUND. All intervals of a round are solved against the
// incumbent of its start and merged in order, so the search, and the tree, do not depend on the
// number of threads.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "sktree_opt/optimal/thresholds/depth_two_passes.hpp"
#include "sktree_opt/optimal/thresholds/intervals.hpp"
#include "sktree_opt/optimal/thresholds/subtree_solver.hpp"
#include "sktree_opt/optimal/thresholds/threshold_problem.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::thresholds {

// Lower bound on the squared error of every tree of few leaves, whatever its tests.
//
// Paper: van den Bos, van der Linden, Demirovic, Piecewise Constant and Linear Regression Trees,
// ICML 2024. A tree of k leaves costs no less than the best division of its rows into k groups. The
// best groups are intervals of sorted targets, as in k-means of one dimension. Let W, S, Q be the
// prefix sums of weight, weight * target and weight * target^2. The best cost of the first i
// targets in k groups is
//   f_k(i) = min over j of f_{k-1}(j) + (Q_i - Q_j) - (S_i - S_j)^2 / (W_i - W_j).
// The best j rises with i (Knuth's quadrangle inequality). So divide and conquer takes
// O(k n log n).
class TargetGroups {
public:
    // Steps of the recursion above which a bound costs more than it may save.
    static constexpr double MOST_STEPS = 1e8;

    // Minimum squared error of the node's targets in at most `n_leaves` groups, with `split_cost`
    // for each group except one. 0 if computing it would take too long.
    double bound(const ThresholdNode& node, int n_leaves, double split_cost) {
        sum_up(node);
        const std::size_t n = weight_.size() - 1;
        if (static_cast<double>(n) * n_leaves * 20.0 > MOST_STEPS) return 0.0;
        best_.assign(n + 1, 0.0);
        for (std::size_t i = 1; i <= n; ++i) best_[i] = error(0, i);
        double least = best_[n];
        for (int k = 2; k <= n_leaves; ++k) {
            next_.assign(n + 1, 0.0);
            divide(1, n, 0, n - 1);
            best_.swap(next_);
            least = std::min(least, best_[n] + (k - 1) * split_cost);
        }
        return least;
    }

private:
    void sum_up(const ThresholdNode& node) {
        weight_.assign(1, 0.0);
        sum_.assign(1, 0.0);
        square_.assign(1, 0.0);
        double last = 0.0;
        std::vector<std::uint32_t> by_target(node.n);
        std::iota(by_target.begin(), by_target.end(), 0);
        std::stable_sort(by_target.begin(), by_target.end(), [&](std::uint32_t a, std::uint32_t b) {
            return node.target[a] < node.target[b];
        });
        for (const std::uint32_t row : by_target) {
            const double target = node.target[row], weight = node.weight[row];
            if (weight_.size() == 1 || target != last) {
                weight_.push_back(weight_.back());
                sum_.push_back(sum_.back());
                square_.push_back(square_.back());
            }
            weight_.back() += weight;
            sum_.back() += weight * target;
            square_.back() += weight * target * target;
            last = target;
        }
    }

    double error(std::size_t j, std::size_t i) const {
        const double weight = weight_[i] - weight_[j], sum = sum_[i] - sum_[j];
        if (weight <= 0.0) return 0.0;
        return std::max(0.0, square_[i] - square_[j] - sum * sum / weight);
    }

    // next_[first..last], whose best cuts are in lowest..highest.
    void divide(std::size_t first, std::size_t last, std::size_t lowest, std::size_t highest) {
        if (first > last) return;
        const std::size_t middle = first + (last - first) / 2;
        std::size_t cut = lowest;
        double least = best_[lowest] + error(lowest, middle);
        for (std::size_t j = lowest + 1; j <= std::min(highest, middle - 1); ++j) {
            const double cost = best_[j] + error(j, middle);
            if (cost < least) {
                least = cost;
                cut = j;
            }
        }
        next_[middle] = least;
        divide(first, middle - 1, lowest, cut);
        divide(middle + 1, last, cut, highest);
    }

    std::vector<double> weight_, sum_, square_, best_, next_;
};

struct ThresholdIncumbent {
    double seconds;
    double cost;
    double lower;
};

struct SearchOutcome {
    Plan plan = leaf_plan();
    double cost = INFEASIBLE;
    double lower = 0.0;
    bool gave_up = false;   // looking for fewer tests
    bool is_known = false;  // the cost is that of a tree from elsewhere, not of the plan
    ThresholdStats stats;
    std::vector<ThresholdIncumbent> incumbents;
};

// Where a search is between two steps of its work.
struct RootState {
    int level = 0;
    bool is_open = false;                 // the level has begun
    double lower = INFEASIBLE;            // of what has been explored of it
    std::vector<OpenInterval> intervals;  // that are left of it; bounds of columns are not kept
};

// Callers may read the outcome between steps of the work.
class RootSearch {
public:
    static constexpr int ROUND = 8;
    // With more levels there are so many leaves that the bound of few leaves is useless.
    static constexpr int MOST_LEVELS = 4;
    // Lanes that are always spent on the search for fewer tests.
    static constexpr std::int64_t FEW_LANES = 10'000;
    // A lower bound is recorded when it has risen by this share of the objective.
    static constexpr double SHOWN_RISE = 0.01;

    RootSearch(const ThresholdProblem& problem, SearchControl* control, int depth, int n_splits)
        : held_(control->hold()),
          problem_(problem),
          watch_(control),
          depth_(depth),
          n_splits_(n_splits) {
        const int n_solvers = std::max(1, std::min(problem.n_threads, ROUND));
        for (int i = 0; i < n_solvers; ++i) {
            solvers_.push_back(std::make_unique<SubtreeSolver>(problem, control, depth));
        }
    }

    // The best tree of two levels.
    void begin() {
        SubtreeSolver& solver = *solvers_[0];
        const bool whole = root_rows(problem_, root_, watch_);
        if (!whole) root_.columns.clear();
        const double bound = whole ? bound_without_tests() : 0.0;
        const int shallow = std::min(depth_, 2);
        NodeResult result = solver.solve(root_, shallow, std::min(n_splits_, 3), INFEASIBLE);
        // The tree of an interrupted search is never read.
        if (watch_.control()->stop.load() == INTERRUPTED) return;
        outcome_.cost = result.cost;
        // A shallow tree's bound holds for deeper trees only if there are none.
        const bool final = depth_ <= 2 || n_splits_ <= 2 || root_.columns.empty() ||
                           result.cost <= problem_.split_cost + problem_.tolerance;
        const bool is_proved = result.cost - bound <= 2.0 * problem_.tolerance;
        const bool is_last = final || is_proved;
        // Its plan takes as long as some passes over the rows, and a better tree is known.
        const bool is_needed = is_last || !watch_.stopped() || result.cost <= problem_.known_cost;
        outcome_.plan = is_needed ? solver.plan(root_, result) : leaf_plan();
        outcome_.lower =
            std::max(final && whole ? result.lower : 0.0, is_proved ? result.cost : bound);
        outcome_.lower = std::min(outcome_.lower, outcome_.cost);
        record();
        level_ = is_last ? depth_ + 1 : 3;
        if (level_ <= depth_ && problem_.known_cost < outcome_.cost) {
            outcome_.cost = std::max(problem_.known_cost, outcome_.lower);
            outcome_.is_known = true;
            record();
            // Levels in between are for a tree to begin with.
            level_ = depth_;
        }
    }

    // Whether a level that has not begun is one for sweep_level().
    bool can_sweep() const {
        return search_ == nullptr && solvers_[0]->can_sweep(root_, level_, n_splits_);
    }

    // Searches a whole level by tables of pairs, without intervals.
    void sweep_level() {
        SubtreeSolver& solver = *solvers_[0];
        // A leaf, to begin with.
        NodeResult result = solver.solve(root_, 0, 0, INFEASIBLE);
        solver.solve_by_values(
            root_, outcome_.cost,
            [this](int n_items, const auto& task) { in_parallel(n_items, task); }, nullptr, result);
        if (result.cost < outcome_.cost) {
            outcome_.cost = result.cost;
            outcome_.plan = solver.plan(root_, result);
            outcome_.is_known = false;
        }
        raise_bound(result.lower);
        record();
        // Another search may go on from here.
        if (!watch_.stopped()) ++level_;
    }

    // Searches a level by intervals, which is begun if need be, for about `seconds`. Returns true
    // when it is over, or the search is.
    bool explore_level(double seconds) {
        const double end = watch_.control()->seconds() + seconds;
        if (search_ == nullptr && !open_level()) return true;
        if (!explore(end)) return watch_.stopped();
        close_level();
        return true;
    }

    RootState state() const {
        RootState state{level_, search_ != nullptr, lower_, {}};
        if (search_ != nullptr) state.intervals = heap_;
        return state;
    }

    // Goes on where another search was that had found this plan. Returns false if the search has to
    // end before that.
    bool resume(const RootState& state, const SearchOutcome& found) {
        if (root_.columns.empty()) return false;
        outcome_.plan = found.plan;
        outcome_.cost = found.cost;
        outcome_.is_known = found.is_known;
        outcome_.lower = found.lower;
        record();
        if (watch_.stopped()) return false;
        level_ = state.level;
        search_.reset();
        if (!state.is_open || level_ > depth_) return true;
        if (!open_level()) return false;
        lower_ = state.lower;
        for (const OpenInterval& item : state.intervals) {
            if (!search_->has(item)) throw std::invalid_argument("an interval of no column");
        }
        heap_ = state.intervals;
        std::make_heap(heap_.begin(), heap_.end(), explored_later);
        return true;
    }

    const SearchOutcome& outcome() {
        outcome_.stats = ThresholdStats();
        for (auto& each : solvers_) outcome_.stats.add(each->stats);
        return outcome_;
    }
    int level() const { return level_; }

private:
    // A lower bound for every tree, whatever its tests.
    double bound_without_tests() const {
        double bound = problem_.lower;
        if (problem_.is_regression() && !problem_.is_absolute && problem_.use.leaf_groups &&
            depth_ <= MOST_LEVELS) {
            const int n_leaves = 1 + std::min(n_splits_, (1 << depth_) - 1);
            bound = std::max(bound, TargetGroups().bound(root_, n_leaves, problem_.split_cost));
        }
        return std::max(0.0, bound - problem_.tolerance);
    }

    bool open_level() {
        ++solvers_[0]->stats.n_nodes;
        lower_ = INFEASIBLE;
        search_ = std::make_unique<NodeSearch>(problem_, root_, level_, n_splits_, column_tests_,
                                               heap_, watch_);
        if (watch_.stopped()) {
            search_.reset();
            return false;
        }
        search_->open();
        return true;
    }

    // No tree with the levels so far costs less than `lower`. Deeper ones have more tests.
    void raise_bound(double lower) {
        if (level_ < depth_) lower = std::min(lower, (level_ + 1) * problem_.split_cost);
        outcome_.lower = std::max(outcome_.lower, std::min(lower, outcome_.cost));
    }

    // Raises the bound while a level is explored, and records it when it has risen enough.
    void show_bound() {
        raise_bound(std::min(lower_, search_->open_bound()));
        const double shown = outcome_.incumbents.back().lower;
        if (outcome_.lower > shown + SHOWN_RISE * outcome_.cost) record();
    }

    void close_level() {
        const bool is_stopped = watch_.stopped();
        const double lower = is_stopped ? std::min(lower_, search_->open_bound()) : lower_;
        if (!outcome_.gave_up) raise_bound(lower);
        record();
        // Another search may go on from here.
        if (is_stopped) return;
        search_.reset();
        const bool is_over = outcome_.gave_up || outcome_.lower >= outcome_.cost;
        level_ = is_over ? depth_ + 1 : level_ + 1;
    }

    // Once a tree loses nothing, the search for fewer tests gets as much work again.
    bool gives_up() {
        if (outcome_.cost >= problem_.no_loss) return false;
        const std::int64_t n_lanes = outcome().stats.n_lanes;
        if (lanes_without_loss_ < 0) lanes_without_loss_ = n_lanes;
        outcome_.gave_up = n_lanes > FEW_LANES + 2 * lanes_without_loss_;
        return outcome_.gave_up;
    }

    // Returns false when time is up before the level is explored.
    bool explore(double end) {
        std::vector<OpenInterval> items;
        std::vector<Evaluation> evaluations(ROUND);
        while (!watch_.stopped()) {
            if (watch_.control()->seconds() > end) return false;
            if (gives_up()) break;
            show_bound();
            const double incumbent = outcome_.cost;
            const double limit = problem_.limit_below(incumbent);
            items.clear();
            OpenInterval item;
            while (static_cast<int>(items.size()) < ROUND && search_->next(limit, item)) {
                items.push_back(item);
            }
            if (items.empty()) break;
            evaluate(*search_, items, limit, incumbent, evaluations);
            const bool is_stopped = watch_.stopped();
            for (std::size_t i = 0; i < items.size(); ++i) {
                const Evaluation& found = evaluations[i];
                if (is_stopped) {
                    search_->give_back(items[i]);
                } else {
                    lower_ = std::min(lower_, found.left + found.right + problem_.split_cost);
                }
                // A step that begins anew later settles ties then.
                if (!is_stopped || found.cost < outcome_.cost) take(evaluations[i]);
            }
            if (is_stopped) break;
            for (std::size_t i = 0; i < items.size(); ++i) {
                search_->divide(items[i], evaluations[i], problem_.limit_below(outcome_.cost));
            }
        }
        return true;
    }

    void evaluate(const NodeSearch& search, const std::vector<OpenInterval>& items, double limit,
                  double incumbent, std::vector<Evaluation>& evaluations) {
        in_parallel(static_cast<int>(items.size()), [&](int thread, int i) {
            evaluations[i] = search.evaluate(*solvers_[thread], items[i], limit, incumbent);
        });
    }

    // Calls `task(thread, i)` for every i.
    template <class Task>
    void in_parallel(int n_items, const Task& task) {
        run_tasks(*watch_.control(), static_cast<int>(solvers_.size()), n_items,
                  [&](std::int64_t i, int thread) { task(thread, static_cast<int>(i)); });
    }

    void take(Evaluation& evaluation) {
        if (evaluation.plan.empty() || evaluation.cost > outcome_.cost) return;
        const bool is_tie = outcome_.cost - evaluation.cost <= problem_.tolerance;
        if (is_tie && !outcome_.is_known &&
            !comes_first(evaluation.n_splits, evaluation.test, n_splits_of(outcome_.plan),
                         outcome_.plan[0].test)) {
            return;
        }
        const bool cheaper = evaluation.cost < outcome_.cost;
        outcome_.cost = evaluation.cost;
        outcome_.plan.swap(evaluation.plan);
        outcome_.is_known = false;
        if (cheaper) record();
    }

    void record() {
        outcome_.incumbents.push_back({watch_.control()->seconds(), outcome_.cost, outcome_.lower});
    }

    const std::shared_ptr<SearchControl> held_;
    const ThresholdProblem& problem_;
    Watch watch_;
    int depth_;
    int n_splits_;
    ThresholdNode root_;
    std::vector<std::unique_ptr<SubtreeSolver>> solvers_;
    SearchOutcome outcome_;

    int level_ = 0;                         // that is explored
    double lower_ = INFEASIBLE;             // of what has been explored of it
    std::unique_ptr<NodeSearch> search_;    // null between levels
    std::int64_t lanes_without_loss_ = -1;  // when a tree lost nothing for the first time
    std::vector<ColumnTests> column_tests_;
    std::vector<OpenInterval> heap_;
};

}  // namespace sktree_opt::thresholds
