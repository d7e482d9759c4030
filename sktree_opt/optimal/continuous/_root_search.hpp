// The search at the root: deepening, threads, incumbents.
//
// Root intervals are explored in rounds of ROUND. All intervals of a round are solved against the
// incumbent of its start and merged in order, so the search, and the tree, do not depend on the
// number of threads.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "sktree_opt/optimal/continuous/_search.hpp"

namespace sktree_opt {
namespace continuous {

struct Incumbent {
    double seconds;
    double cost;
    double lower;
};

struct SearchOutcome {
    Plan plan = leaf_plan();
    double cost = INFEASIBLE;
    double lower = 0.0;
    SearchStats stats;
    std::vector<Incumbent> incumbents;
};

class RootSearch {
public:
    static constexpr int ROUND = 8;

    RootSearch(const Problem& problem, SearchControl* control, int depth, int n_splits)
        : problem_(problem), watch_(control), depth_(depth), n_splits_(n_splits) {
        const int n_solvers = std::max(1, std::min(problem.n_threads, ROUND));
        for (int i = 0; i < n_solvers; ++i)
            solvers_.push_back(std::make_unique<SubtreeSolver>(problem, control, depth));
    }

    SearchOutcome run() {
        SubtreeSolver& solver = *solvers_[0];
        const bool whole = root_rows(problem_, root_, watch_);
        if (!whole) root_.columns.clear();
        const int shallow = std::min(depth_, 2);
        NodeResult result = solver.solve(root_, shallow, std::min(n_splits_, 3), INFEASIBLE);
        // Of the tree of an interrupted search nobody asks.
        if (watch_.control()->stop.load() == INTERRUPTED) return outcome_;
        outcome_.plan = solver.plan(root_, result);
        outcome_.cost = result.cost;
        // A shallow tree's bound holds for deeper trees only if there are none.
        const bool final = depth_ <= 2 || n_splits_ <= 2 || root_.columns.empty() ||
                           result.cost <= problem_.split_cost + problem_.tolerance;
        outcome_.lower = final && whole ? result.lower : 0.0;
        record();
        if (!final)
            for (int depth = 3; depth <= depth_ && !watch_.stopped(); ++depth) deepen(depth);
        for (auto& each : solvers_) outcome_.stats.add(each->stats);
        return outcome_;
    }

private:
    void deepen(int depth) {
        ++solvers_[0]->stats.n_nodes;
        std::vector<Family> families;
        std::vector<OpenInterval> heap;
        NodeSearch search(problem_, root_, depth, n_splits_, families, heap, watch_);
        if (watch_.stopped()) return;
        double lower = INFEASIBLE;
        std::vector<OpenInterval> items;
        std::vector<Evaluation> evaluations(ROUND);
        while (!watch_.stopped()) {
            const double incumbent = outcome_.cost;
            const double limit = problem_.limit_below(incumbent);
            items.clear();
            OpenInterval item;
            while (static_cast<int>(items.size()) < ROUND && search.next(limit, item))
                items.push_back(item);
            if (items.empty()) break;
            evaluate(search, items, limit, incumbent, evaluations);
            for (std::size_t i = 0; i < items.size(); ++i) {
                lower = std::min(
                    lower, evaluations[i].left + evaluations[i].right + problem_.split_cost);
                if (watch_.stopped()) search.give_back(items[i]);
                take(evaluations[i]);
            }
            if (watch_.stopped()) break;
            for (std::size_t i = 0; i < items.size(); ++i)
                search.divide(items[i], evaluations[i], problem_.limit_below(outcome_.cost));
        }
        if (watch_.stopped()) lower = std::min(lower, search.open_bound());
        // With fewer levels less is proven.
        if (depth == depth_) outcome_.lower = std::min(lower, outcome_.cost);
        record();
    }

    void evaluate(const NodeSearch& search, const std::vector<OpenInterval>& items, double limit,
                  double incumbent, std::vector<Evaluation>& evaluations) {
        const int n_items = static_cast<int>(items.size());
        if (solvers_.size() == 1) {
            for (int i = 0; i < n_items; ++i)
                evaluations[i] = search.evaluate(*solvers_[0], items[i], limit, incumbent);
            return;
        }
        const int n_threads = static_cast<int>(solvers_.size());
        std::atomic<int> n_taken{0}, n_done{0};
#pragma omp parallel num_threads(n_threads)
        {
#ifdef _OPENMP
            const int thread = omp_get_thread_num();
#else
            const int thread = 0 * n_threads;
#endif
            for (int i = n_taken++; i < n_items; i = n_taken++) {
                evaluations[i] = search.evaluate(*solvers_[thread], items[i], limit, incumbent);
                ++n_done;
            }
            // Only the thread that began the search sees signals: it must not sleep.
            while (thread == 0 && n_done < n_items) {
                watch_.poll();
                std::this_thread::yield();
            }
        }
    }

    void take(Evaluation& evaluation) {
        if (evaluation.plan.empty() || evaluation.cost > outcome_.cost) return;
        if (evaluation.cost == outcome_.cost &&
            !comes_first(evaluation.n_splits, evaluation.test, n_splits_of(outcome_.plan),
                         outcome_.plan[0].test))
            return;
        const bool cheaper = evaluation.cost < outcome_.cost;
        outcome_.cost = evaluation.cost;
        outcome_.plan.swap(evaluation.plan);
        if (cheaper) record();
    }

    void record() {
        outcome_.incumbents.push_back({watch_.control()->seconds(), outcome_.cost, outcome_.lower});
    }

    const Problem& problem_;
    Watch watch_;
    int depth_;
    int n_splits_;
    NodeRows root_;
    std::vector<std::unique_ptr<SubtreeSolver>> solvers_;
    SearchOutcome outcome_;
};

inline SearchOutcome search_all_thresholds(
    const Problem& problem, SearchControl* control, int depth, int n_splits) {
    return RootSearch(problem, control, depth, n_splits).run();
}

}  // namespace continuous
}  // namespace sktree_opt
