// Pruning of a grown tree: heuristic.
//
// Error-based pruning: J. R. Quinlan, C4.5 (1993), chapter 4, doi:10.1016/C2009-0-27846-9. Bottom
// up, a subtree becomes a leaf, or is replaced by its heaviest branch (which then receives all
// cases of the node and is pruned again), when that is estimated to make at most 0.1 errors more.
//
// N, E            -> weight, errors        cases at a leaf, and those not of its class
// U_CF(E, N)      -> ErrorBound::estimate  upper limit of the error count, confidence CF
//
// Deviations: the quantile of the normal distribution is computed, not interpolated in a table. The
// branch to be raised is rated after its own pruning. It is pruned further under the node's cases
// only once it is raised.
//
// Reduced-error pruning: lecture notes on decision trees, algorithm 2. Bottom up, a subtree becomes
// a leaf when that makes at most as many errors (costs; squared errors) on a validation part. A
// validation case with a missing value counts at each branch by its share, also for errors.
//
// The error of a branch with all cases of its node is that of its own cases, corrected at the
// leaves that further cases reach. Where missing values share cases out, all cases go down the
// branch.
//
// Cost: error-based O(cases * depth^2) at most, usually O(cases * depth); reduced-error O(cases *
// depth). Memory: the cases of the nodes on one path.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/greedy/grower.hpp"
#include "sktree_opt/greedy/split.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/upper_errors.hpp"

namespace sktree_opt::greedy {

struct ErrorBound {
    double confidence = 0.25;
    double z = 0.6744897501960817;  // the normal quantile of 1 - confidence

    double estimate(double n, double errors) const {
        return upper_errors(n, errors, z, confidence);
    }
};

// The cost of answering for a node with what `answer_from` holds: errors, costs, or squared errors.
class AnswerCost {
public:
    AnswerCost(const Target& target, const double* costs) : target_(target), costs_(costs) {}

    // The class of least cost under class weights; the first of several.
    std::uint32_t answer(const double* outputs) const {
        const std::uint32_t k = target_.n_classes;
        if (costs_ == nullptr) {
            return static_cast<std::uint32_t>(std::max_element(outputs, outputs + k) - outputs);
        }
        std::uint32_t best = 0;
        double least = 0.0;
        for (std::uint32_t predicted = 0; predicted < k; ++predicted) {
            const double cost = cost_of(predicted, outputs);
            if (predicted == 0 || cost < least) {
                best = predicted;
                least = cost;
            }
        }
        return best;
    }

    // Misclassified weight when a node with `totals` answers by itself.
    double errors(const NodeTotals& totals) const {
        return totals.weight - totals.outputs[answer(totals.outputs.data())];
    }

    // Cost on other cases, summed up in `totals`, of the answer of a node with `outputs`.
    double on_others(const double* outputs, const NodeTotals& totals) const {
        if (!target_.is_classification()) {
            const double bias = totals.outputs[0] - outputs[0];
            return totals.weight * (totals.impurity + bias * bias);
        }
        const std::uint32_t predicted = answer(outputs);
        if (costs_ != nullptr) return cost_of(predicted, totals.outputs.data());
        return totals.weight - totals.outputs[predicted];
    }

private:
    double cost_of(std::uint32_t predicted, const double* outputs) const {
        double cost = 0.0;
        for (std::uint32_t actual = 0; actual < target_.n_classes; ++actual) {
            cost += costs_[actual * target_.n_classes + predicted] * outputs[actual];
        }
        return cost;
    }
    const Target& target_;
    const double* costs_;
};

// Sends cases down a tree, node by node.
class CaseRouter {
public:
    CaseRouter(const std::vector<Column>& columns, const Target& target)
        : columns_(columns), target_(target) {}

    // Cases and totals of each child of an inner node.
    void route(const GrownTree& tree, std::int32_t node, const CaseSet& set,
               std::vector<CaseSet>& children, std::vector<NodeTotals>& totals) {
        tree.get_split(node, split_);
        const Column& column = columns_[split_.feature];
        const AllPositions all{set.size()};
        branches_.resize(set.size());
        targets_.gather(target_, set.rows);
        const Cases cases = targets_.cases(set);
        const bool some_missing =
            assign_branches(column, split_, set.rows.data(), all, branches_.data());
        find_default_shares(tree, node);
        BranchSums<std::uint32_t>(target_, cases, branches_.data())
            .run(all, split_.n_branches, some_missing, totals, shares_, default_shares_.data());
        children.resize(split_.n_branches);
        for (std::uint32_t b = 0; b < split_.n_branches; ++b) {
            collect_branch(all, branches_.data(), b, shares_[b], set.rows.data(), cases, set.kind,
                           children[b]);
        }
    }

    NodeTotals sum(const CaseSet& set) {
        branches_.assign(set.size(), 0);
        targets_.gather(target_, set.rows);
        const Cases cases = targets_.cases(set);
        std::vector<NodeTotals> totals;
        BranchSums<std::uint32_t>(target_, cases, branches_.data())
            .run(AllPositions{set.size()}, 1, false, totals, shares_);
        return totals[0];
    }

private:
    void find_default_shares(const GrownTree& tree, std::int32_t node) {
        const Node& record = tree.nodes[node];
        default_shares_.resize(static_cast<std::size_t>(record.n_children));
        double sum = 0.0;
        for (std::int32_t b = 0; b < record.n_children; ++b) {
            default_shares_[b] = tree.nodes[record.first_child + b].weight;
            sum += default_shares_[b];
        }
        for (double& share : default_shares_) share = sum > 0.0 ? share / sum : 0.0;
    }

    const std::vector<Column>& columns_;
    const Target& target_;
    Split split_;
    GatheredTargets targets_;
    std::vector<std::uint32_t> branches_;
    std::vector<double> shares_, default_shares_;
};

class ErrorBasedPruner {
public:
    ErrorBasedPruner(GrownTree& tree, const std::vector<Column>& columns, const Target& target,
                     const double* costs, const ErrorBound& bound, const Evaluator& evaluator,
                     SearchControl& control)
        : tree_(tree),
          router_(columns, target),
          cost_(target, costs),
          bound_(bound),
          evaluator_(evaluator),
          control_(control),
          some_missing_(std::any_of(columns.begin(), columns.end(),
                                    [](const Column& column) { return column.has_missing; })) {}

    // Prunes the tree under its training cases. Stops early when `control` does.
    void run(CaseSet cases) {
        stack_.clear();
        open(0, -1, std::move(cases), nullptr);
        while (!stack_.empty() && !control_.poll()) {
            PruningFrame& frame = stack_.back();
            if (frame.next_child < tree_.nodes[frame.node].n_children) {
                const std::int32_t b = frame.next_child++;
                const std::int32_t child = tree_.nodes[frame.node].first_child + b;
                const NodeTotals totals = frame.child_totals[b];
                open(child, frame.node, std::move(frame.child_sets[b]), &totals);
            } else {
                close();
            }
        }
    }

private:
    struct PruningFrame {
        std::int32_t node;
        CaseSet cases;
        NodeTotals totals;
        std::vector<CaseSet> child_sets;
        std::vector<NodeTotals> child_totals;
        std::vector<double> child_errors;  // of the children that are done
        std::int32_t next_child;
    };

    double leaf_errors(const NodeTotals& totals) const {
        const double errors = cost_.errors(totals);
        return bound_.estimate(totals.weight, errors);
    }

    void open(std::int32_t node, std::int32_t parent, CaseSet&& cases, const NodeTotals* totals) {
        PruningFrame frame{node, std::move(cases), {}, {}, {}, {}, 0};
        frame.totals = totals != nullptr ? *totals : router_.sum(frame.cases);
        if (frame.cases.size() == 0) {
            tree_.make_leaf(node);
            tree_.set_totals(node, NodeTotals{0.0, 0, frame.totals.outputs, 0.0, true});
            if (parent >= 0) tree_.set_empty(node, parent);
        } else {
            frame.totals.impurity = evaluator_.impurity(frame.totals, memory_);
            tree_.set_totals(node, frame.totals);
        }
        if (tree_.nodes[node].n_children > 0) {
            router_.route(tree_, node, frame.cases, frame.child_sets, frame.child_totals);
        }
        stack_.push_back(std::move(frame));
    }

    // All children of the top frame are done: decide between leaf, heaviest branch and subtree.
    void close() {
        PruningFrame frame = std::move(stack_.back());
        stack_.pop_back();
        double errors = leaf_errors(frame.totals);
        const Node record = tree_.nodes[frame.node];
        if (record.n_children > 0) {
            std::int32_t heaviest = 0;
            for (std::int32_t b = 1; b < record.n_children; ++b) {
                if (child_weight(record, b) > child_weight(record, heaviest)) heaviest = b;
            }
            const double subtree_errors =
                std::accumulate(frame.child_errors.begin(), frame.child_errors.end(), 0.0);
            const double raised_errors = errors_if_raised(frame, heaviest);
            if (errors <= std::min(raised_errors, subtree_errors) + SLACK) {
                tree_.make_leaf(frame.node);
            } else if (raised_errors <= subtree_errors + SLACK) {
                raise(frame, record.first_child + heaviest);
                return;
            } else {
                errors = subtree_errors;
            }
        }
        if (!stack_.empty()) stack_.back().child_errors.push_back(errors);
    }

    double child_weight(const Node& record, std::int32_t branch) const {
        return tree_.nodes[record.first_child + branch].weight;
    }

    // Puts a child in the place of its parent and prunes it again under the parent's cases.
    void raise(PruningFrame& frame, std::int32_t child) {
        const std::int32_t node = frame.node;
        tree_.nodes[node] = tree_.nodes[child];
        tree_.codes[node] = tree_.codes[child];
        const NodeTotals totals = frame.totals;
        open(node, -1, std::move(frame.cases), &totals);
    }

    // Estimated errors of a branch in the place of its node, whose cases it then has.
    double errors_if_raised(const PruningFrame& frame, std::int32_t branch) {
        const std::int32_t child = tree_.nodes[frame.node].first_child + branch;
        double errors = 0.0;
        if (some_missing_ || frame.cases.kind == WeightKind::FRACTIONAL) {
            for_each_leaf(child, frame.cases,
                          [&](std::int32_t, NodeTotals& totals) { errors += leaf_errors(totals); });
            return errors;
        }
        errors = frame.child_errors[branch];
        for_each_leaf(
            child, cases_of_others(frame, branch), [&](std::int32_t leaf, NodeTotals& totals) {
                NodeTotals all = totals;
                if (tree_.nodes[leaf].weight > 0.0) {  // an empty leaf has its parent's outputs
                    all.weight += tree_.nodes[leaf].weight;
                    for (std::size_t k = 0; k < all.outputs.size(); ++k) {
                        totals.outputs[k] = tree_.outputs(leaf)[k];
                        all.outputs[k] += totals.outputs[k];
                    }
                    totals.weight = tree_.nodes[leaf].weight;
                    errors -= leaf_errors(totals);
                }
                errors += leaf_errors(all);
            });
        return errors;
    }

    // The cases of a node that go down other branches than this one; none is shared out.
    CaseSet cases_of_others(const PruningFrame& frame, std::int32_t branch) {
        router_.route(tree_, frame.node, frame.cases, sets_, totals_);
        const std::vector<std::uint32_t> own = std::move(sets_[branch].rows);
        CaseSet others;
        others.kind = frame.cases.kind;
        for (std::uint32_t i = 0, next = 0; i < frame.cases.size(); ++i) {
            if (next < own.size() && own[next] == frame.cases.rows[i]) {
                ++next;
                continue;
            }
            others.rows.push_back(frame.cases.rows[i]);
            if (!frame.cases.weights.empty()) others.weights.push_back(frame.cases.weights[i]);
        }
        return others;
    }

    // Calls f with each leaf below `root` that some cases reach, and with the totals of these.
    template <class F>
    void for_each_leaf(std::int32_t root, const CaseSet& cases, F&& f) {
        std::vector<std::pair<std::int32_t, CaseSet>> open_nodes;
        open_nodes.emplace_back(root, cases);
        while (!open_nodes.empty()) {
            const auto [node, set] = std::move(open_nodes.back());
            open_nodes.pop_back();
            if (set.size() == 0) continue;
            if (tree_.nodes[node].n_children == 0) {
                NodeTotals totals = router_.sum(set);
                f(node, totals);
                continue;
            }
            router_.route(tree_, node, set, sets_, totals_);
            for (std::size_t b = 0; b < sets_.size(); ++b) {
                open_nodes.emplace_back(
                    tree_.nodes[node].first_child + static_cast<std::int32_t>(b),
                    std::move(sets_[b]));
            }
        }
    }

    static constexpr double SLACK = 0.1;
    GrownTree& tree_;
    CaseRouter router_;
    AnswerCost cost_;
    ErrorBound bound_;
    const Evaluator& evaluator_;
    SearchControl& control_;
    const bool some_missing_;
    SideMemory memory_;
    std::vector<PruningFrame> stack_;
    std::vector<CaseSet> sets_;
    std::vector<NodeTotals> totals_;
};

inline GrownTree prune_by_error_bound(const Induction& problem, GrownTree tree, CaseSet cases,
                                      const ErrorBound& bound, SearchControl& control) {
    const auto evaluator =
        make_evaluator(problem.measure, WeightKind::FRACTIONAL, problem.context(), problem.rules);
    ErrorBasedPruner pruner(tree, problem.columns, problem.target, problem.context().costs, bound,
                            *evaluator, control);
    pruner.run(std::move(cases));
    return tree.in_order();
}

// `cases` is the validation part. The tree must have its children after their parents.
inline GrownTree prune_reduced_error(const Induction& problem, GrownTree tree, CaseSet cases,
                                     SearchControl& control) {
    CaseRouter router(problem.columns, problem.target);
    const AnswerCost cost(problem.target, problem.context().costs);
    const auto n_nodes = static_cast<std::size_t>(tree.size());
    std::vector<double> as_leaf(n_nodes, 0.0), as_is(n_nodes, 0.0);
    std::vector<std::pair<std::int32_t, CaseSet>> open_nodes;
    std::vector<CaseSet> sets;
    std::vector<NodeTotals> totals;
    as_leaf[0] = cost.on_others(tree.outputs(0), router.sum(cases));
    open_nodes.emplace_back(0, std::move(cases));
    while (!open_nodes.empty() && !control.poll()) {
        const auto [node, set] = std::move(open_nodes.back());
        open_nodes.pop_back();
        if (tree.nodes[node].n_children == 0 || set.size() == 0) continue;
        router.route(tree, node, set, sets, totals);
        for (std::size_t b = 0; b < sets.size(); ++b) {
            const std::int32_t child = tree.nodes[node].first_child + static_cast<std::int32_t>(b);
            as_leaf[child] = cost.on_others(tree.outputs(child), totals[b]);
            open_nodes.emplace_back(child, std::move(sets[b]));
        }
    }
    if (control.stopped()) return tree.in_order();
    for (std::size_t i = n_nodes; i-- > 0;) {
        const Node& record = tree.nodes[i];
        as_is[i] = as_leaf[i];
        if (record.n_children == 0) continue;
        as_is[i] = 0.0;
        for (std::int32_t b = 0; b < record.n_children; ++b) {
            as_is[i] += as_is[record.first_child + b];
        }
        if (as_leaf[i] <= as_is[i] * (1.0 + 1e-12) + 1e-12) {
            as_is[i] = as_leaf[i];
            tree.make_leaf(static_cast<std::int32_t>(i));
        }
    }
    return tree.in_order();
}

}  // namespace sktree_opt::greedy
