// The search at the root: deepening, threads, incumbents, chunks.
//
// Root intervals are explored in rounds of ROUND. All intervals of a round are solved against the
// incumbent of its start and merged in order, so the search, and the tree, do not depend on the
// number of threads.
#pragma once

#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/subtree_solver.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::thresholds {

struct ThresholdIncumbent {
    double seconds;
    double cost;
    double lower;
};

struct SearchOutcome {
    Plan plan = leaf_plan();
    double cost = INFEASIBLE;
    double lower = 0.0;
    bool gave_up = false;  // looking for fewer tests
    ThresholdStats stats;
    std::vector<ThresholdIncumbent> incumbents;
};

// Callers may look at the outcome between chunks of work.
class RootSearch {
public:
    static constexpr int ROUND = 8;
    // The bound of few leaves is used below the root only if it reaches this share of the cost of
    // the best tree of two levels there.
    static constexpr double LEAST_SHARE = 0.25;
    // Bins are used below the root only if their bound reaches this share of the cost of the best
    // tree of two levels there. It does not where errors are few, or where values within a bin
    // matter.
    static constexpr double LEAST_CLOSENESS = 0.9;
    // A position is solved early if its bounds are lower than all before by this share.
    static constexpr double LEAST_PROMISE = 1.0 / 64;
    // Lanes that are always spent on the search for fewer tests.
    static constexpr std::int64_t FEW_LANES = 10'000;

    RootSearch(const ThresholdProblem& problem, SearchControl* control, int depth, int n_splits)
        : held_(control->hold()),
          problem_(problem),
          watch_(control),
          depth_(depth),
          n_splits_(n_splits),
          equal_costs_(equal_row_costs(problem)) {
        const int n_solvers = std::max(1, std::min(problem.n_threads, ROUND));
        for (int i = 0; i < n_solvers; ++i) {
            solvers_.push_back(
                std::make_unique<SubtreeSolver>(problem, control, depth, equal_costs_));
        }
    }

    // The best tree of two levels.
    void begin() {
        SubtreeSolver& solver = *solvers_[0];
        const bool whole = root_rows(problem_, root_, watch_);
        if (!whole) root_.columns.clear();
        const double bound = whole ? solver.bound_without_tests(root_, depth_, n_splits_) : 0.0;
        std::vector<std::uint32_t> by_target;
        if (!problem_.is_absolute) by_target.swap(root_.by_target);
        const int shallow = std::min(depth_, 2);
        NodeResult result = solver.solve(root_, shallow, std::min(n_splits_, 3), INFEASIBLE);
        // The tree of an interrupted search is never read.
        if (watch_.control()->stop.load() == INTERRUPTED) return;
        if (!problem_.is_absolute && bound >= LEAST_SHARE * result.cost) {
            by_target.swap(root_.by_target);
        }
        const bool are_bins_close = solver.last_bound_by_bins >= LEAST_CLOSENESS * result.cost;
        for (auto& each : solvers_) each->use_bins = !problem_.use.large_bins || are_bins_close;
        outcome_.plan = solver.plan(root_, result);
        outcome_.cost = result.cost;
        // A shallow tree's bound holds for deeper trees only if there are none.
        const bool final = depth_ <= 2 || n_splits_ <= 2 || root_.columns.empty() ||
                           result.cost <= problem_.split_cost + problem_.tolerance;
        const bool is_proved = result.cost - bound <= 2.0 * problem_.tolerance;
        outcome_.lower =
            std::max(final && whole ? result.lower : 0.0, is_proved ? result.cost : bound);
        outcome_.lower = std::min(outcome_.lower, outcome_.cost);
        record();
        level_ = final || is_proved ? depth_ + 1 : 3;
    }

    // Goes on for about so many seconds; true when there is nothing more to do.
    bool go_on(double seconds) {
        const double end = watch_.control()->seconds() + seconds;
        while (level_ <= depth_ && !watch_.stopped()) {
            if (!search_ && solvers_[0]->can_sweep(root_, level_, n_splits_)) {
                sweep_level();
                continue;
            }
            if (!search_ && !open_level()) break;
            if (!explore(end)) return watch_.stopped();
            close_level();
        }
        return true;
    }

    const SearchOutcome& outcome() {
        outcome_.stats = ThresholdStats();
        for (auto& each : solvers_) outcome_.stats.add(each->stats);
        return outcome_;
    }
    int level() const { return level_; }

private:
    bool open_level() {
        ++solvers_[0]->stats.n_nodes;
        lower_ = INFEASIBLE;
        search_ = std::make_unique<NodeSearch>(problem_, root_, level_, n_splits_, families_, heap_,
                                               watch_);
        best_bound_ = INFEASIBLE;
        swept_.clear();
        if (search_->wants_sweeps(*solvers_[0])) {
            if (n_splits_ >= 7) grow_incumbent();
            sweep_columns();
        }
        if (watch_.stopped()) {
            search_.reset();
            return false;
        }
        search_->open(swept_, watch_.control());
        swept_.clear();
        return true;
    }

    // When all bounds are computed first, the best tree below the known root is the incumbent until
    // then.
    void grow_incumbent() {
        if (outcome_.plan[0].test.column < 0) return;
        NodeResult result;
        result.cost = outcome_.cost;
        solvers_[0]->solve_below(root_, outcome_.plan[0].test, result);
        if (result.plan.empty()) return;
        outcome_.cost = result.cost;
        outcome_.plan = result.plan;
        record();
    }

    // The bounds of all columns by bins.
    void sweep_columns() {
        swept_.resize(root_.columns.size());
        std::vector<char> has_begun(solvers_.size(), 0);
        in_parallel(static_cast<int>(swept_.size()), [&](int thread, int k) {
            if (watch_.stopped()) return;
            solvers_[thread]->sweep(root_, !has_begun[thread], k, swept_[k]);
            has_begun[thread] = 1;
        });
    }

    // A promising position is solved early because a better incumbent excludes more.
    bool take_trial(OpenInterval& trial) {
        const double least =
            std::min((1.0 - LEAST_PROMISE) * best_bound_, problem_.limit_below(outcome_.cost));
        if (!search_->most_promising(least, trial)) return false;
        best_bound_ = trial.interval.left_u + trial.interval.right_u;
        return true;
    }

    // Explores a whole level by tables of pairs, without intervals.
    void sweep_level() {
        SubtreeSolver& solver = *solvers_[0];
        // A leaf, to begin with.
        NodeResult result = solver.solve(root_, 0, 0, INFEASIBLE);
        solver.solve_by_values(
            root_, outcome_.cost,
            [this](int n_items, const SubtreeSolver::Work& work) { in_parallel(n_items, work); },
            nullptr, result);
        if (result.cost < outcome_.cost) {
            outcome_.cost = result.cost;
            outcome_.plan = solver.plan(root_, result);
        }
        if (level_ == depth_) {
            outcome_.lower = std::max(outcome_.lower, std::min(result.lower, outcome_.cost));
        }
        record();
        ++level_;
    }

    void close_level() {
        if (watch_.stopped()) lower_ = std::min(lower_, search_->open_bound());
        // With fewer levels less is proven.
        if (level_ == depth_ && !outcome_.gave_up) {
            outcome_.lower = std::max(outcome_.lower, std::min(lower_, outcome_.cost));
        }
        record();
        search_.reset();
        level_ = outcome_.gave_up ? depth_ + 1 : level_ + 1;
    }

    // Once a tree loses nothing, the search for fewer tests gets as much work again.
    bool gives_up() {
        if (outcome_.cost >= problem_.no_loss) return false;
        const std::int64_t n_lanes = outcome().stats.n_lanes;
        if (lanes_without_loss_ < 0) lanes_without_loss_ = n_lanes;
        outcome_.gave_up = n_lanes > FEW_LANES + 2 * lanes_without_loss_;
        return outcome_.gave_up;
    }

    // False when time is up before the level is explored.
    bool explore(double end) {
        std::vector<OpenInterval> items;
        std::vector<Evaluation> evaluations(ROUND);
        while (!watch_.stopped()) {
            if (watch_.control()->seconds() > end) return false;
            if (gives_up()) break;
            const double incumbent = outcome_.cost;
            const double limit = problem_.limit_below(incumbent);
            items.clear();
            OpenInterval item;
            if (take_trial(item)) items.push_back(item);
            const std::size_t n_trials = items.size();
            while (static_cast<int>(items.size()) < ROUND && search_->next(limit, item)) {
                items.push_back(item);
            }
            if (items.empty()) break;
            evaluate(*search_, items, limit, incumbent, evaluations);
            for (std::size_t i = 0; i < n_trials; ++i) take(evaluations[i]);
            for (std::size_t i = n_trials; i < items.size(); ++i) {
                if (evaluations[i].is_solved) {
                    lower_ = std::min(
                        lower_, evaluations[i].left + evaluations[i].right + problem_.split_cost);
                }
                if (watch_.stopped()) search_->give_back(items[i]);
                take(evaluations[i]);
            }
            if (watch_.stopped()) break;
            for (std::size_t i = n_trials; i < items.size(); ++i) {
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

    // Calls `work(thread, i)` for every i.
    template <class Work>
    void in_parallel(int n_items, const Work& work) {
        run_tasks(*watch_.control(), static_cast<int>(solvers_.size()), n_items,
                  [&](std::int64_t i, int thread) { work(thread, static_cast<int>(i)); });
    }

    void take(Evaluation& evaluation) {
        if (evaluation.plan.empty() || evaluation.cost > outcome_.cost) return;
        const bool is_tie = outcome_.cost - evaluation.cost <= problem_.tolerance;
        if (is_tie && !comes_first(evaluation.n_splits, evaluation.test, n_splits_of(outcome_.plan),
                                   outcome_.plan[0].test)) {
            return;
        }
        const bool cheaper = evaluation.cost < outcome_.cost;
        outcome_.cost = evaluation.cost;
        outcome_.plan.swap(evaluation.plan);
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
    std::vector<double> equal_costs_;
    ThresholdNode root_;
    std::vector<std::unique_ptr<SubtreeSolver>> solvers_;
    SearchOutcome outcome_;

    int level_ = 0;                         // that is explored
    double lower_ = INFEASIBLE;             // of what has been explored of it
    std::unique_ptr<NodeSearch> search_;    // null between levels
    double best_bound_ = INFEASIBLE;        // least of the trials
    std::int64_t lanes_without_loss_ = -1;  // when a tree lost nothing for the first time
    std::vector<SweptTests> swept_;
    std::vector<Family> families_;
    std::vector<OpenInterval> heap_;
};

}  // namespace sktree_opt::thresholds
