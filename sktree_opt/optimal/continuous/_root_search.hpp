// The search at the root: deepening, threads, incumbents.
//
// Root intervals are explored in rounds of ROUND. All intervals of a round are solved against the
// incumbent of its start and merged in order, so the search, and the tree, do not depend on the
// number of threads.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <memory>
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
        : problem_(problem), control_(control), depth_(depth), n_splits_(n_splits) {
        const int n_solvers = std::max(1, std::min(problem.n_threads, ROUND));
        for (int i = 0; i < n_solvers; ++i)
            solvers_.push_back(std::make_unique<SubtreeSolver>(problem, control, depth));
    }

    SearchOutcome run() {
        root_rows(problem_, root_);
        SubtreeSolver& solver = *solvers_[0];
        const int shallow = std::min(depth_, 2);
        NodeResult result = solver.solve(root_, shallow, std::min(n_splits_, 3), INFEASIBLE);
        outcome_.plan = solver.plan(root_, result);
        outcome_.cost = result.cost;
        // A shallow tree's bound holds for deeper trees only if there are none.
        const bool final = depth_ <= 2 || n_splits_ <= 2 || root_.columns.empty() ||
                           result.cost <= problem_.split_cost;
        outcome_.lower = final ? result.lower : 0.0;
        record();
        if (!final)
            for (int depth = 3; depth <= depth_ && !control_->stopped(); ++depth) deepen(depth);
        for (auto& each : solvers_) outcome_.stats.add(each->stats);
        return outcome_;
    }

private:
    void deepen(int depth) {
        ++solvers_[0]->stats.n_nodes;
        std::vector<Family> families;
        std::vector<OpenInterval> heap;
        NodeSearch search(problem_, root_, depth, n_splits_, families, heap);
        double lower = INFEASIBLE;
        std::vector<OpenInterval> items;
        std::vector<Evaluation> evaluations(ROUND);
        while (!control_->stopped()) {
            const double incumbent = outcome_.cost;
            const double limit = incumbent - problem_.split_cost;
            items.clear();
            OpenInterval item;
            while (static_cast<int>(items.size()) < ROUND && search.next(limit, item))
                items.push_back(item);
            if (items.empty()) break;
            evaluate(search, items, limit, incumbent, evaluations);
            for (std::size_t i = 0; i < items.size(); ++i) {
                lower = std::min(
                    lower, evaluations[i].left + evaluations[i].right + problem_.split_cost);
                if (control_->stopped()) search.give_back(items[i]);
                take(evaluations[i]);
            }
            if (control_->stopped()) break;
            for (std::size_t i = 0; i < items.size(); ++i)
                search.divide(items[i], evaluations[i], outcome_.cost - problem_.split_cost);
        }
        if (control_->stopped()) lower = std::min(lower, search.open_bound());
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
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
        for (int i = 0; i < n_items; ++i) {
#ifdef _OPENMP
            const int thread = omp_get_thread_num();
#else
            const int thread = 0 * n_threads;
#endif
            evaluations[i] = search.evaluate(*solvers_[thread], items[i], limit, incumbent);
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
        outcome_.incumbents.push_back({control_->seconds(), outcome_.cost, outcome_.lower});
    }

    const Problem& problem_;
    SearchControl* control_;
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
