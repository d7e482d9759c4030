// One learning problem: columns, target and rules; grows trees on any of its cases and features,
// and prunes them. What the extension module, and any search over trees, start from.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/greedy/grower.hpp"
#include "sktree_opt/greedy/pruning.hpp"

namespace sktree_opt::greedy {

struct Induction {
    std::vector<Column> columns;
    Target target;
    Measure measure = Measure::ENTROPY;
    std::vector<double> costs;  // n_classes x n_classes, or empty
    SplitRules rules;
    GrowthLimits limits;

    // Must be called once before the rest; `total_weight` bounds the weight of any case set whose
    // weights are whole numbers.
    void prepare(std::uint64_t total_weight) {
        if (measure == Measure::ENTROPY) logs_.build(total_weight);
    }

    MeasureContext context() const {
        return {target.n_classes, &logs_, costs.empty() ? nullptr : costs.data()};
    }

    GrownTree grow(CaseSet cases, std::vector<std::int32_t> features,
                   SearchControl& control) const {
        Grower grower(columns, target, measure, context(), rules, limits, control);
        return grower.grow(std::move(cases), std::move(features));
    }

    GrownTree prune_by_error_bound(GrownTree tree, CaseSet cases, const ErrorBound& bound,
                                   SearchControl& control) const {
        const auto evaluator = make_evaluator(measure, WeightKind::FRACTIONAL, context(), rules);
        ErrorBasedPruner pruner(tree, columns, target, context().costs, bound, *evaluator, control);
        pruner.run(std::move(cases));
        return tree.in_order();
    }

    GrownTree prune_by_validation(GrownTree tree, CaseSet validation,
                                  SearchControl& control) const {
        prune_reduced_error(tree, columns, target, context().costs, std::move(validation), control);
        return tree.in_order();
    }

private:
    LogTable logs_;
};

}  // namespace sktree_opt::greedy
