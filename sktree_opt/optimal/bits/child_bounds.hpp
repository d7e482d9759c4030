// Lower bounds on the children of a node, by column.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022): local bounds of eqs. 15-16, similarity of
// section 4.4 (see similarity.hpp for the inequality and for what it needs). Size: a tree has at
// least as many splits as levels, and each split has its cost. So the best tree of a child is its
// leaf or a tree of one split, both known from the node's counts, or costs at least two splits. The
// best tree of depth d is one of depth d - 1 or costs at least d splits. This ends the search when
// a tree without errors is known and only ties are left. Deviation, inheritance: the children that
// a node's parent has at the same depth bound the node's own children by the inequality of section
// 4.4, because the parent knows how many rows they share. Deviation, removal: so does the node's
// own optimum with one level less, because a child is the node without the rows of the other side.
// With a cost of splits this rules out tests that part so few rows from the others that no tree for
// them can save what the test costs. Deviation, sides: a column of a node of depth three is ruled
// out as soon as one child, out of the cache of optima, or both, to the precision of a rough sweep
// (rough_squares.hpp), cost too much.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/bits/bit_node.hpp"

namespace sktree_opt {

// Splits of a full tree.
inline int full_budget(int depth) { return depth >= 20 ? (1 << 20) - 1 : (1 << depth) - 1; }

// The depth of a search that limits neither levels nor splits, because each split has a cost.
constexpr int ANY_DEPTH = 21;
inline int depth_below(int depth) { return depth == ANY_DEPTH ? depth : depth - 1; }
// Whether bounds for one level less may be known.
inline bool has_shallower(int depth) { return depth > 3 && depth != ANY_DEPTH; }

template <class Lane>
bool has_similarity(const BitProblem<Lane>& problem) {
    return problem.switches.similarity && problem.objective.loss_is_bounded &&
           problem.channels.n_supports() == 0;
}

template <class Lane>
bool is_supported(const BitProblem<Lane>& problem, const BitNode<Lane>& node, int column) {
    for (int k = 0; k < problem.score.n_supports; ++k) {
        const int channel = problem.score.n_channels + k;
        const Lane with = node.marginal_row(channel)[column];
        const Lane minimum = problem.score.minimum_support[k];
        if (with < minimum || node.totals[channel] - with < minimum) return false;
    }
    return true;
}

// Cost of a side of a column, from its score.
template <class Lane>
double side_cost(const BitProblem<Lane>& problem, const BitNode<Lane>& node, int j, bool side,
                 Lane score) {
    const int base = problem.channels.base();
    const Lane with = node.marginal_row(base)[j];
    const double mass = static_cast<double>(side ? with : node.totals[base] - with);
    return problem.objective.unit *
           (problem.objective.base_factor * mass - static_cast<double>(score));
}

// Raises `bounds` on the cost of one side of each column with at most `budget` splits and `depth`
// levels. `before` holds the bounds for one level less, or is null.
template <class Lane>
void bound_by_size(const BitProblem<Lane>& problem, const BitNode<Lane>& node, bool side, int depth,
                   int budget, const double* before, double* bounds) {
    const Lane* leaf = side ? node.leaf_true.data() : node.leaf_false.data();
    const Lane* best = side ? node.best_true.data() : node.best_false.data();
    const double none = std::numeric_limits<double>::infinity();
    const double two_splits = budget < 2 ? none : 2.0 * problem.split_cost;
    const double rounding = sizeof(Lane) == sizeof(double) ? 2.0 * problem.slack : 0.0;
    for (int j = 0; j < node.n_columns; ++j) {
        const double as_leaf = side_cost(problem, node, j, side, leaf[j]);
        const double split = side_cost(problem, node, j, side, best[j]) + problem.split_cost;
        double least = std::min({as_leaf, budget < 1 ? none : split, two_splits}) - rounding;
        if (before != nullptr) {
            least = std::max(least, std::min(before[j], depth * problem.split_cost));
        }
        bounds[j] = std::max(bounds[j], least);
    }
}

// The smallest sum of bounds over the ways to share the splits.
inline double column_bound(ChildBounds& bounds, int stride, int j) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < bounds.n_budgets; ++k) {
        least = std::min(least, bounds.true_bounds(k, stride)[j] +
                                    bounds.false_bounds(bounds.n_budgets - 1 - k, stride)[j]);
    }
    return least;
}

// Bounds on the node's children from those of its parent of the same depth.
template <class Lane>
void inherit_bounds(const BitProblem<Lane>& problem, const BitNode<Lane>& node,
                    BitNode<Lane>& parent, const ChildBounds& above, ChildBounds& bounds) {
    if (!above.is_open || above.n_budgets != 1 || bounds.n_budgets != 1) return;
    const double loss = problem.objective.loss_factor;
    const int mass = problem.channels.mass();
    const Lane* shared = parent.overlaps(problem.rough, mass, node.parent_column);
    const Lane* weights = parent.marginal_row(mass);
    const double n = static_cast<double>(parent.totals[mass]);
    const double n_f = static_cast<double>(weights[node.parent_column]);
    for (int j = 0; j < node.n_columns; ++j) {
        const int g = node.in_parent[j];
        const double n_fj = static_cast<double>(shared[g]);
        const double n_j = static_cast<double>(weights[g]);
        // Rows of the parent's child that the node's child lacks.
        const double lost_true = node.parent_side ? n_j - n_fj : n_fj;
        const double lost_false = node.parent_side ? n - n_j - (n_f - n_fj) : n_f - n_fj;
        double& with = bounds.bounds_true.data()[j];
        double& without = bounds.bounds_false.data()[j];
        with = std::max(with, above.bounds_true[g] - loss * lost_true);
        without = std::max(without, above.bounds_false[g] - loss * lost_false);
    }
}

// Bounds on the node's children from its own optimum with one level less.
template <class Lane>
void bound_by_removal(const BitProblem<Lane>& problem, const BitNode<Lane>& node, double shallower,
                      double* bounds_true, double* bounds_false) {
    const double loss = problem.objective.loss_factor;
    const int mass = problem.channels.mass();
    const Lane* weights = node.marginal_row(mass);
    const double total = static_cast<double>(node.totals[mass]);
    const double rounding = sizeof(Lane) == sizeof(double) ? 2.0 * problem.slack : 0.0;
    for (int j = 0; j < node.n_columns; ++j) {
        const double with = static_cast<double>(weights[j]);
        bounds_true[j] = std::max(bounds_true[j], shallower - loss * (total - with) - rounding);
        bounds_false[j] = std::max(bounds_false[j], shallower - loss * with - rounding);
    }
}

// Sets the order of the columns, small values first: the cost of the children with one level less
// or, at depth three, with one split each. For trees of any depth, columns that halve the rows go
// first: a proof needs all columns, and the bounds on small children take little time.
template <class Lane>
void set_order(const BitProblem<Lane>& problem, const BitNode<Lane>& node, int depth,
               ChildBounds& bounds) {
    double* order = bounds.order.need(node.stride);
    ChildBounds none;
    const bool deeper =
        has_shallower(depth) && node.child_bounds[depth - 1].is_open && problem.switches.look_ahead;
    const ChildBounds& before = deeper ? node.child_bounds[depth - 1] : none;
    const Lane* weights = node.marginal_row(problem.channels.mass());
    const double total = static_cast<double>(node.totals[problem.channels.mass()]);
    for (int j = 0; j < node.n_columns; ++j) {
        if (depth == ANY_DEPTH) {
            order[j] = std::fabs(total - 2.0 * static_cast<double>(weights[j]));
            continue;
        }
        order[j] = deeper ? before.bounds_true[j] + before.bounds_false[j]
                          : -static_cast<double>(node.best_true[j]) -
                                static_cast<double>(node.best_false[j]);
    }
}

// The best tree does not use a column that is constant on its rows. Where depth has no limit, the
// child of such a column would be searched like the node, and so on.
template <class Lane>
void rule_out_constant(const BitProblem<Lane>& problem, const BitNode<Lane>& node,
                       ChildBounds& bounds) {
    const int mass = problem.channels.mass();
    const Lane* weights = node.marginal_row(mass);
    for (int j = 0; j < node.n_columns; ++j) {
        if (weights[j] == 0 || weights[j] == node.totals[mass]) {
            bounds.bounds_true[j] = std::numeric_limits<double>::infinity();
        }
    }
}

// Opens the bounds on the children of a node before it is searched to `depth` with `budget` splits.
// With one level less it costs at least `shallower`. `parent` is null at the root.
template <class Lane>
ChildBounds& open_bounds(const BitProblem<Lane>& problem, BitNode<Lane>& node,
                         BitNode<Lane>* parent, int depth, int budget, double shallower) {
    ChildBounds& bounds = node.child_bounds[depth];
    const int child_full = full_budget(depth_below(depth));
    const bool is_any = depth == ANY_DEPTH;
    const int first_budget = is_any ? child_full : std::max(0, budget - 1 - child_full);
    const int n_budgets = is_any ? 1 : std::min(child_full, budget - 1) - first_budget + 1;
    // Bounds of an earlier search of the same node still hold.
    if (bounds.is_open && bounds.first_budget == first_budget && bounds.n_budgets == n_budgets) {
        return bounds;
    }
    // A side costs no less than with all splits that fit the depth, which has one number of them.
    std::vector<double> full[2];
    if (bounds.is_open && bounds.n_budgets == 1) {
        for (const bool side : {false, true}) {
            const double* known = side ? bounds.bounds_true.data() : bounds.bounds_false.data();
            full[side].assign(known, known + node.n_columns);
        }
    }
    bounds.first_budget = first_budget;
    bounds.n_budgets = n_budgets;
    const std::size_t size = static_cast<std::size_t>(bounds.n_budgets) * node.stride;
    std::fill_n(bounds.bounds_true.need(size), size, 0.0);
    std::fill_n(bounds.bounds_false.need(size), size, 0.0);
    for (int k = 0; k < n_budgets; ++k) {
        std::copy(full[1].begin(), full[1].end(), bounds.true_bounds(k, node.stride));
        std::copy(full[0].begin(), full[0].end(), bounds.false_bounds(k, node.stride));
    }
    set_order(problem, node, depth, bounds);
    if (problem.switches.size) {
        ChildBounds& before = node.child_bounds[depth - 1];
        const bool is_known = has_shallower(depth) && before.is_open && before.n_budgets == 1 &&
                              bounds.n_budgets == 1;
        for (int k = 0; k < bounds.n_budgets; ++k) {
            bound_by_size(problem, node, true, depth - 1, first_budget + k,
                          is_known ? before.bounds_true.data() : nullptr,
                          bounds.true_bounds(k, node.stride));
            bound_by_size(problem, node, false, depth - 1, first_budget + k,
                          is_known ? before.bounds_false.data() : nullptr,
                          bounds.false_bounds(k, node.stride));
        }
    }
    if (parent != nullptr && problem.switches.inheritance && has_similarity(problem)) {
        inherit_bounds(problem, node, *parent, parent->child_bounds[depth], bounds);
    }
    if (shallower > 0.0 && problem.switches.removal && has_similarity(problem)) {
        for (int k = 0; k < bounds.n_budgets; ++k) {
            bound_by_removal(problem, node, shallower, bounds.true_bounds(k, node.stride),
                             bounds.false_bounds(k, node.stride));
        }
    }
    if (is_any) rule_out_constant(problem, node, bounds);
    bounds.is_open = true;
    return bounds;
}

// Derives bounds for all columns from those just found for column j.
template <class Lane>
void spread_bounds(const BitProblem<Lane>& problem, BitNode<Lane>& node, ChildBounds& bounds,
                   int j) {
    if (!has_similarity(problem)) return;
    const int mass = problem.channels.mass();
    const Lane* weights = node.marginal_row(mass);
    const Lane* shared = node.overlaps(problem.rough, mass, j);
    for (int k = 0; k < bounds.n_budgets; ++k) {
        double* with = bounds.true_bounds(k, node.stride);
        double* without = bounds.false_bounds(k, node.stride);
        problem.kernels.refresh_bounds(shared, weights, weights[j], node.totals[mass],
                                       problem.objective.loss_factor, {with[j], without[j]},
                                       node.n_columns, with, without);
    }
}

}  // namespace sktree_opt
