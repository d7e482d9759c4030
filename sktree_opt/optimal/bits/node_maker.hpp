// Makes nodes: takes their rows, counts their pairs, and solves their trees of two levels.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/bits/bit_node.hpp"
#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

// Counts sweeps and their work. Both are the same on any machine, so a limit on them does not make
// the answer depend on the processor.
struct SweepCounter {
    std::int64_t n = 0;
    double work = 0.0;  // pairs of columns by word

    void add(int n_words, int n_columns) {
        ++n;
        work += WORK_A_SWEEP + static_cast<double>(n_words) * n_columns * n_columns;
    }

private:
    // However few pairs there are, a sweep takes about a microsecond.
    static constexpr double WORK_A_SWEEP = 1e5;
};

// Whole-number sums of a node's pairs, which rough sweeps read (see rough_squares.hpp). Exact.
//
// Sibling subtraction as in the paper's incremental counts (MurTree, JMLR 23, 2022, section 4.3.3):
// the child's sums are those of the parent less those of the other side, without rounding. The sums
// of each column alone, and those of a sweep's larger side, come from subtraction in double
// precision. Their rounding errors stay far below the grid of costs. Time O(n_columns * stride *
// rows of the smaller side), memory of a node's rows.
template <class Lane>
class RoughNodeSums {
public:
    explicit RoughNodeSums(const BitProblem<Lane>& problem) : problem_(problem) {}

    void sum_root(BitNode<Lane>& root, RoughTask task) {
        RoughSums& rough = root.rough;
        const std::size_t n_values = static_cast<std::size_t>(root.n_words) * 16 * ROUGH_CHANNELS;
        std::copy_n(problem_.rough.values.data(), n_values, rough.values.need(n_values));
        task.values = rough.values.data();
        list_first_slots(root.n_rows, task);
        task.words = root.words.data();
        task.n_words = root.n_words;
        std::fill_n(rough.marginals.data(), ROUGH_CHANNELS * root.stride, 0);
        problem_.kernels.sum_rough_marginals(task, rough.marginals.data());
        task.counted.marginals = rough.marginals.data();
        problem_.kernels.sum_rough_pairs(task);
        for (int c = 0; c < ROUGH_CHANNELS; ++c) {
            rough.totals[c] = 0;
            for (int slot = 0; slot < root.n_rows; ++slot) {
                rough.totals[c] += rough.values[ROUGH_CHANNELS * slot + c];
            }
        }
    }

    // Sums the pairs of a child with the rows `rows`. If the other side has many fewer rows, its
    // sums are subtracted from the node's, and `rows` then holds the other side. Returns whether
    // the child's exact sums by column were made, too.
    bool sum_child(const BitNode<Lane>& node, int column, bool side, SideRows& rows,
                   BitNode<Lane>& child, RoughTask task) {
        const int n_other = node.n_rows - child.n_rows;
        std::int32_t totals_other[ROUGH_CHANNELS];
        std::int32_t* other =
            other_sums_.need(ROUGH_CHANNELS * static_cast<std::size_t>(node.stride) + STRIDE);
        std::int32_t* own = child.rough.marginals.data();
        split_sums(node.rough, ROUGH_CHANNELS, node.n_columns, node.stride, column,
                   side ? own : other, side ? other : own, side ? child.rough.totals : totals_other,
                   side ? totals_other : child.rough.totals);
        take_values(node, rows, child.rough.values);
        task.values = child.rough.values.data();
        task.counted.marginals = own;
        task.words = child.words.data();
        task.n_words = child.n_words;
        list_first_slots(child.n_rows, task);
        // Subtraction pays only if it saves this many rows.
        constexpr int LEAST_GAIN = 64;
        const bool subtracts = problem_.switches.subtraction && child.n_rows > n_other + LEAST_GAIN;
        if (subtracts) {
            task.counted.marginals = other;
            take_other_rows(node, column, side, rows, task);
            subtract_marginals(node, rows, child, task);
        }
        problem_.kernels.sum_rough_pairs(task);
        return subtracts;
    }

private:
    static void take_values(const BitNode<Lane>& node, const SideRows& rows,
                            Buffer<std::int32_t>& values) {
        copy_rows(
            node.rough.values.data(), rows.slots.data(), rows.n_rows, ROUGH_CHANNELS,
            values.zeros(static_cast<std::size_t>(rows.n_words) * 16 * ROUGH_CHANNELS + STRIDE));
    }

    // Takes the node's rows outside of the child, whose sums are subtracted.
    void take_other_rows(const BitNode<Lane>& node, int column, bool side, SideRows& rows,
                         RoughTask& task) {
        take_rows<Lane>(node, problem_.bits, column, !side, rows, other_words_, nullptr);
        take_values(node, rows, other_values_);
        const std::size_t row_bytes = node.row_bytes();
        problem_.bits.words_to_rows(other_words_.data(), rows.n_words, node.stride,
                                    other_rows_.need(rows.n_words * 16 * row_bytes + STRIDE),
                                    node.row_bytes());
        task.words = other_words_.data();
        task.n_words = rows.n_words;
        task.rows = other_rows_.data();
        task.values = other_values_.data();
        list_first_slots(rows.n_rows, task);
        task.parent_pairs = node.rough.pairs.data();
    }

    // Makes the child's exact sums by column: those of the node less those of the rows of `task`.
    void subtract_marginals(const BitNode<Lane>& node, const SideRows& rows, BitNode<Lane>& child,
                            const RoughTask& task) {
        const int n_all = problem_.channels.n_all();
        copy_rows(node.values.data(), rows.slots.data(), rows.n_rows, n_all,
                  other_exact_.need(static_cast<std::size_t>(rows.n_rows) * n_all));
        SweepTask<Lane> exact;
        exact.stride = task.stride;
        exact.n_columns = task.n_columns;
        exact.n_all_channels = n_all;
        exact.values = other_exact_.data();
        exact.rows = task.rows;
        exact.row_bytes = task.row_bytes;
        exact.slots = task.slots;
        exact.n_slots = task.n_slots;
        exact.listed = task.listed;
        const std::size_t n_sums = static_cast<std::size_t>(n_all) * child.stride + STRIDE;
        Lane* others = other_marginals_.need(n_sums);
        problem_.kernels.count_marginals(exact, others);
        Lane* to = child.marginals.need(n_sums);
        for (int c = 0; c < n_all; ++c) {
            for (int g = 0; g < child.stride; ++g, ++to, ++others) {
                *to = g < child.n_columns ? static_cast<Lane>(node.marginal_row(c)[g] - *others)
                                          : Lane(0);
            }
        }
    }

    // The rows of one segment are in the first slots.
    void list_first_slots(int n_rows, RoughTask& task) {
        slots_.resize(n_rows);
        for (int k = 0; k < n_rows; ++k) slots_[k] = k;
        task.slots = slots_.data();
        task.n_slots = n_rows;
    }

    const BitProblem<Lane>& problem_;
    Buffer<std::uint16_t> other_words_;
    Buffer<std::uint8_t> other_rows_;
    Buffer<std::int32_t> other_values_, other_sums_;
    Buffer<double> other_exact_;
    Buffer<Lane> other_marginals_;
    std::vector<std::int32_t> slots_;
};

// Optima of a row set with at most 0..3 splits and two levels, or bounds below them.
enum class Known { NOTHING, BOUND, EXACT };
struct SmallCosts {
    double costs[4] = {};
    Known known = Known::NOTHING;
};

// Adds the cost of splits to optima without it.
inline void price_splits(double split_cost, double (&costs)[4]) {
    for (int k = 1; k < 4; ++k) costs[k] = std::min(costs[k - 1], costs[k] + k * split_cost);
}

template <class Lane>
class NodeMaker {
public:
    NodeMaker(const BitProblem<Lane>& problem, const RowSets& row_sets, SearchControl& control)
        : problem_(problem), row_sets_(row_sets), control_(control), rough_sums_(problem) {}

    std::int64_t n_nodes = 0;
    SweepCounter sweeps;
    bool may_poll = true;

    void make_root(BitNode<Lane>& root) {
        root.n_words = problem_.n_words;
        root.spans = problem_.spans;
        root.n_rows = problem_.bits.count_column(problem_.present.data(), 1, problem_.n_words);
        root.n_columns = problem_.n_columns;
        root.stride = problem_.stride;
        root.columns.resize(root.n_columns);
        std::iota(root.columns.begin(), root.columns.end(), 0);
        const std::size_t n_cells = static_cast<std::size_t>(root.n_words) * root.stride;
        std::copy_n(problem_.words.data(), n_cells, root.words.need(n_cells));
        std::copy_n(problem_.present.data(), root.n_words, root.present.need(root.n_words));
        problem_.bits.words_to_rows(
            root.words.data(), root.n_words, root.stride,
            root.rows.need(static_cast<std::size_t>(root.n_words) * 16 * root.row_bytes()),
            root.row_bytes());
        const std::size_t n_values =
            static_cast<std::size_t>(root.n_words) * 16 * problem_.channels.n_all();
        if (problem_.has_values) {
            std::copy_n(problem_.values.data(), n_values, root.values.need(n_values));
        }
        std::copy_n(row_sets_.all.data(), row_sets_.n_words, root.mask.need(row_sets_.n_words));
        root.key = row_sets_.key(root.mask.data());
        sum_totals(root);
        if (problem_.rough.are_there) rough_sums_.sum_root(root, rough_task(root));
        solve_small(root);
    }

    // Makes the rest of the child, after set_rows.
    void make_child(const BitNode<Lane>& node, int column, bool side, BitNode<Lane>& child) {
        ++n_nodes;
        child.parent_column = column;
        child.parent_side = side;
        // Few columns coincide on many rows. Real sums are subtracted column by column, so that
        // their nodes keep all columns.
        const int n_with =
            problem_.bits.count_column(node.words.data() + column, node.stride, node.n_words);
        const bool merges = problem_.switches.merge_node_columns && !problem_.rough.are_there &&
                            (side ? n_with : node.n_rows - n_with) < node.n_columns;
        take_rows(node, problem_.bits, column, side, side_, merges ? side_words_ : child.words,
                  &child.present);
        child.n_words = side_.n_words;
        child.n_rows = side_.n_rows;
        child.spans = side_.spans;
        if (merges) keep_distinct_columns(node, side_words_.data(), child);
        else keep_columns_of(node, child);
        problem_.bits.words_to_rows(
            child.words.data(), child.n_words, child.stride,
            child.rows.need(static_cast<std::size_t>(child.n_words) * 16 * child.row_bytes()),
            child.row_bytes());
        const int n_all = problem_.channels.n_all();
        if (problem_.has_values) {
            copy_rows(node.values.data(), side_.slots.data(), side_.n_rows, n_all,
                      child.values.zeros(static_cast<std::size_t>(child.n_words) * 16 * n_all));
        }
        const bool has_marginals =
            problem_.rough.are_there &&
            rough_sums_.sum_child(node, column, side, side_, child, rough_task(child));
        child.totals.resize(n_all);
        for (int c = 0; c < n_all; ++c) {
            const Lane with = node.marginal_row(c)[column];
            child.totals[c] = side ? with : node.totals[c] - with;
        }
        solve_small(child, has_marginals);
    }

    // Finds the optima of both children of a column, without the cost of splits. Counts the smaller
    // child, and subtracts its counts from the node's for the larger one. Rough sweeps first find
    // bounds, and end there if `is_enough` returns true.
    template <class IsEnough>
    void solve_sides(BitNode<Lane>& node, int j, SmallCosts& with, SmallCosts& without,
                     const IsEnough& is_enough) {
        const int n_true =
            problem_.bits.count_column(node.words.data() + j, node.stride, node.n_words);
        const bool small_is_true = 2 * n_true <= node.n_rows;
        take_rows<Lane>(node, problem_.bits, j, small_is_true, side_, side_words_, nullptr);
        set_side_totals(node, j, small_is_true);
        const int n_all = problem_.channels.n_all();
        const std::size_t half = static_cast<std::size_t>(n_all) * node.stride;
        SweepTask<Lane> task =
            task_for(node, problem_.channels.n_channels + problem_.channels.n_supports());
        task.words = side_words_.data();
        task.spans = side_.spans.data();
        task.slots = side_.slots.data();
        task.n_slots = side_.n_rows;
        SweepSide<Lane> counted, sibling;
        counted.marginals = side_marginals_.need(2 * half);
        counted.totals = side_totals_.data();
        sibling.marginals = counted.marginals + half;
        sibling.totals = side_totals_.data() + n_all;
        task.counted = &counted;
        task.sibling = &sibling;
        task.parent_pairs = node.pairs.data();
        task.work = row_maxima_.need(sweep_work(node.stride));
        SmallCosts& of_counted = small_is_true ? with : without;
        SmallCosts& of_sibling = small_is_true ? without : with;
        sweeps.add(side_.n_words, node.n_columns);
        if (problem_.rough.are_there) {
            sweep_roughly(node, j, small_is_true, task, of_counted, of_sibling, is_enough);
            if (control_.stopped() || of_counted.known == Known::BOUND) return;
        } else {
            set_side_counts(node, j, small_is_true);
            if (problem_.switches.subtraction) problem_.kernels.sweep(task);
            else sweep_apart(node, j, small_is_true, task);
        }
        set_costs(counted.best, base_cost(counted.totals), of_counted.costs);
        set_costs(sibling.best, base_cost(sibling.totals), of_sibling.costs);
        of_counted.known = of_sibling.known = Known::EXACT;
    }

    // Counts all pairs of the node, and finds its optimum with up to three splits.
    void solve_small(BitNode<Lane>& node, bool has_marginals = false) {
        const int n_all = problem_.channels.n_all();
        SweepTask<Lane> task = task_for(node, n_paired());
        if (problem_.has_values) list_slots(node, task);
        if (!has_marginals) {
            problem_.kernels.count_marginals(
                task, node.marginals.need(static_cast<std::size_t>(n_all) * node.stride + STRIDE));
        }
        for (Buffer<Lane>* scores :
             {&node.best_true, &node.best_false, &node.leaf_true, &node.leaf_false}) {
            scores->need(node.stride + STRIDE);
        }
        SweepSide<Lane> side = side_of(node);
        task.counted = &side;
        task.pairs =
            node.pairs.need(static_cast<std::size_t>(n_paired()) * node.n_columns * node.stride);
        if (problem_.rough.are_there) solve_small_roughly(node, task);
        else problem_.kernels.sweep(task);
        sweeps.add(node.n_words, node.n_columns);
        node.base = base_cost(node.totals.data());
        set_costs(side.best, node.base, node.small_costs);
        price_splits(problem_.split_cost, node.small_costs);
        for (ChildBounds& bounds : node.child_bounds) bounds.is_open = false;
    }

    // Makes the best scores of the sides of column j exact: rough sweeps leave upper bounds.
    void score_sides(BitNode<Lane>& node, int j) {
        if (!problem_.rough.are_there) return;
        need_pairs(node, j);
        SweepTask<Lane> task = task_for(node, n_paired());
        SweepSide<Lane> side = side_of(node);
        task.counted = &side;
        task.pairs = node.pairs.data();
        problem_.kernels.score_pairs_of(task, j);
    }

    // The first column of the best single test of a side of column j, -1 for a leaf: out of the
    // node's pairs, without the rows. -2 where only counting them tells.
    int best_single(BitNode<Lane>& node, int j, bool side) {
        // Minima for leaves are not looked at.
        if (problem_.kernels.solve_leaves == nullptr || problem_.score.n_supports > 0) return -2;
        need_pairs(node, j);
        set_side_totals(node, j, true);
        set_side_counts(node, j, true);
        const int n_all = problem_.channels.n_all(), stride = node.stride;
        SweepSide<Lane> of_side;
        of_side.marginals =
            side_marginals_.data() + (side ? 0 : static_cast<std::size_t>(n_all) * stride);
        of_side.totals = side_totals_.data() + (side ? 0 : n_all);
        of_side.leaf_true = leaves_.need(4 * stride + STRIDE);
        of_side.leaf_false = of_side.leaf_true + 2 * stride;
        SweepTask<Lane> task = task_for(node, n_paired());
        task.counted = &of_side;
        problem_.kernels.solve_leaves(task);
        const double base = base_cost(of_side.totals), unit = problem_.objective.unit;
        double costs[4];
        set_costs(of_side.best, base, costs);
        price_splits(problem_.split_cost, costs);
        if (costs[0] <= costs[1] + problem_.slack) return -1;
        for (int i = 0; i < node.n_columns; ++i) {
            const double score = static_cast<double>(of_side.leaf_true[i] + of_side.leaf_false[i]);
            const double cost = snap(base - unit * score) + problem_.split_cost;
            if (cost <= costs[1] + problem_.slack) return i;
        }
        return -1;
    }

    double snap(double cost) const { return std::nearbyint(cost / problem_.grid) * problem_.grid; }

private:
    double base_cost(const Lane* totals) const {
        return problem_.objective.unit * problem_.objective.base_factor *
               static_cast<double>(totals[problem_.channels.base()]);
    }

    // Channels of pairs that are summed. The base is never needed; the mass comes from rough sums
    // if there are any, because these are exact.
    int n_paired() const {
        return problem_.rough.are_there ? problem_.channels.n_channels
                                        : problem_.channels.mass() + 1;
    }

    static SweepSide<Lane> side_of(BitNode<Lane>& node) {
        SweepSide<Lane> side;
        side.marginals = node.marginals.data();
        side.totals = node.totals.data();
        side.best_true = node.best_true.data();
        side.best_false = node.best_false.data();
        side.leaf_true = node.leaf_true.data();
        side.leaf_false = node.leaf_false.data();
        return side;
    }

    // Sums the exact pairs of column i. Rough sweeps need those of few columns.
    void need_pairs(BitNode<Lane>& node, int i) {
        if (!problem_.rough.are_there || node.has_pairs[i]) return;
        SweepTask<Lane> task = task_for(node, n_paired());
        // The rows of one segment are in the first slots.
        for (int slot = static_cast<int>(first_slots_.size()); slot < node.n_rows; ++slot) {
            first_slots_.push_back(slot);
        }
        task.slots = first_slots_.data();
        task.n_slots = node.n_rows;
        SweepSide<Lane> side = side_of(node);
        task.counted = &side;
        task.pairs = node.pairs.data();
        problem_.kernels.sum_pairs_of(task, i);
        node.has_pairs[i] = true;
    }

    void sum_totals(BitNode<Lane>& node) const {
        const int n_all = problem_.channels.n_all();
        node.totals.assign(n_all, 0);
        for (int slot = 0; problem_.has_values && slot < 16 * node.n_words; ++slot) {
            for (int c = 0; c < n_all; ++c) {
                node.totals[c] +=
                    static_cast<Lane>(node.values[static_cast<std::size_t>(slot) * n_all + c]);
            }
        }
        if (problem_.has_values) return;
        for (std::size_t s = 0; s < node.spans.size(); ++s) {
            const Span span = node.spans[s];
            const int count =
                problem_.bits.count_column(node.present.data() + span.first_word, 1, span.n_words);
            for (int c = 0; c < n_all; ++c) {
                node.totals[c] += static_cast<Lane>(problem_.coefficients[s * n_all + c] *
                                                    static_cast<Lane>(count));
            }
        }
    }

    // A sweep of the node's own rows. The caller sets the rest.
    SweepTask<Lane> task_for(const BitNode<Lane>& node, int n_counted) {
        SweepTask<Lane> task;
        task.words = node.words.data();
        task.spans = node.spans.data();
        task.n_segments = static_cast<int>(node.spans.size());
        task.stride = node.stride;
        task.n_columns = node.n_columns;
        task.coefficients = problem_.coefficients.data();
        task.n_all_channels = problem_.channels.n_all();
        task.n_counted = n_counted;
        task.tile = tile_.need(static_cast<std::size_t>(2) * n_counted * LARGEST_TILE);
        task.largest_power = problem_.largest_power;
        task.score = problem_.score;
        task.poll = &poll;
        task.poll_argument = this;
        work_a_call_ = 2000 + static_cast<std::int64_t>(node.n_words) * node.n_columns;
        if (problem_.has_values) {
            work_a_call_ *= 16;
            task.values = node.values.data();
            task.common_weight = problem_.common_weight;
            task.rows = node.rows.data();
            task.row_bytes = node.row_bytes();
            task.listed = listed_.need(static_cast<std::size_t>(node.n_words) * 16 + 32);
        }
        return task;
    }

    // A rough sweep of the node. The caller sets its rows.
    RoughTask rough_task(BitNode<Lane>& node) {
        RoughTask task;
        task.stride = node.stride;
        task.n_columns = node.n_columns;
        node.rough.need(node.n_columns, node.stride);
        task.values = node.rough.values.data();
        task.rows = node.rows.data();
        task.row_bytes = node.row_bytes();
        task.listed = listed_.need(static_cast<std::size_t>(node.n_words) * 16 + 32);
        task.weigh_alike = problem_.rough.weigh_alike;
        task.pairs = node.rough.pairs.data();
        task.poll = &poll;
        task.poll_argument = this;
        return task;
    }

    // Solves the node's own trees: exactly where they may be best. Other scores are upper bounds.
    void solve_small_roughly(BitNode<Lane>& node, SweepTask<Lane>& task) {
        const int stride = node.stride;
        node.has_pairs.assign(node.n_columns, false);
        problem_.kernels.solve_leaves(task);
        RoughTask rough = rough_task(node);
        RoughSide& side = rough.counted;
        side.marginals = node.rough.marginals.data();
        std::copy_n(node.rough.totals, ROUGH_CHANNELS, side.totals);
        side.best = rough_best_.need(4 * stride + STRIDE);
        side.sides = side.best + 2 * stride;
        problem_.kernels.score_rough_pairs(rough);
        const double error = problem_.rough.error(side.largest[1], node.totals[0],
                                                  node.totals[problem_.channels.base()]);
        for (int j = 0; j < node.n_columns; ++j) {
            const double with = side.sides[j], without = side.sides[stride + j];
            node.best_true[j] = static_cast<Lane>(problem_.rough.exact_score(with + error));
            node.best_false[j] = static_cast<Lane>(problem_.rough.exact_score(without + error));
        }
        if (may_poll && control_.stopped()) return;
        RoughSide* const rough_sides[1] = {&side};
        SweepSide<Lane>* const sides[1] = {task.counted};
        solve_best_columns(task, rough_sides, sides, [&](int i) {
            need_pairs(node, i);
            problem_.kernels.score_pairs_of(task, i);
        });
    }

    // Sweeps both sides by counting the rows of each.
    void sweep_apart(BitNode<Lane>& node, int j, bool small_is_true, SweepTask<Lane>& task) {
        SweepSide<Lane>* const sibling = task.sibling;
        task.sibling = nullptr;
        task.pairs =
            pairs_apart_.need(static_cast<std::size_t>(n_paired()) * node.n_columns * node.stride);
        problem_.kernels.sweep(task);
        take_rows<Lane>(node, problem_.bits, j, !small_is_true, side_, side_words_, nullptr);
        task.words = side_words_.data();
        task.spans = side_.spans.data();
        task.slots = side_.slots.data();
        task.n_slots = side_.n_rows;
        task.counted = sibling;
        problem_.kernels.sweep(task);
    }

    // Sweeps in low precision. Then solves exactly the columns that may be best, unless the bounds
    // are enough.
    template <class IsEnough>
    void sweep_roughly(BitNode<Lane>& node, int j, bool small_is_true, SweepTask<Lane>& task,
                       SmallCosts& of_counted, SmallCosts& of_sibling, const IsEnough& is_enough) {
        const int stride = node.stride;
        RoughTask rough = rough_task(node);
        rough.words = side_words_.data();
        rough.n_words = side_.n_words;
        rough.slots = task.slots;
        rough.n_slots = task.n_slots;
        std::int32_t* sums = rough_marginals_.need(4 * stride + STRIDE);
        float* best = rough_best_.need(4 * stride + STRIDE);
        Lane* leaves = leaves_.need(4 * stride + STRIDE);
        RoughSide* const rough_sides[2] = {&rough.counted, &rough.sibling};
        SweepSide<Lane>* const sides[2] = {task.counted, task.sibling};
        for (int k = 0; k < 2; ++k) {
            rough_sides[k]->marginals = sums + 2 * k * stride;
            rough_sides[k]->best = best + 2 * k * stride;
            sides[k]->leaf_true = leaves + 2 * k * stride;
            sides[k]->leaf_false = leaves + (2 * k + 1) * stride;
        }
        RoughSide& with = *rough_sides[small_is_true ? 0 : 1];
        RoughSide& without = *rough_sides[small_is_true ? 1 : 0];
        split_sums(node.rough, 2, node.n_columns, stride, j,
                   sums + (small_is_true ? 0 : 2 * stride), sums + (small_is_true ? 2 * stride : 0),
                   with.totals, without.totals);
        problem_.kernels.sweep_roughly(rough);
        if (control_.stopped()) return;
        of_counted = bound_costs(*task.counted, rough.counted);
        of_sibling = bound_costs(*task.sibling, rough.sibling);
        if (is_enough()) return;
        need_pairs(node, j);
        set_side_counts(node, j, small_is_true);
        problem_.kernels.solve_leaves(task);
        of_counted.known = of_sibling.known = Known::NOTHING;
        solve_best_columns(task, rough_sides, sides, [&](int i) {
            need_pairs(node, i);
            problem_.kernels.solve_column(task, i);
        });
    }

    // Lower bounds on the cost of trees of a side, without the cost of splits.
    SmallCosts bound_costs(const SweepSide<Lane>& side, const RoughSide& rough) const {
        const double base = static_cast<double>(side.totals[problem_.channels.base()]);
        SmallCosts least;
        for (int k = 1; k < 4; ++k) {
            // The best sum of two splits is no less than that of one split or of none.
            const double score = rough.largest[k == 3];
            const double most = problem_.rough.exact_score(
                score + problem_.rough.error(score, side.totals[0], base));
            const double cost = snap(base_cost(side.totals) - problem_.objective.unit * most) -
                                2.0 * problem_.slack;
            least.costs[k] = std::max(0.0, cost);
        }
        least.costs[0] = least.costs[1];
        least.known = Known::BOUND;
        return least;
    }

    // Solves the root columns that may be the best with two or three splits of a node or either
    // side.
    template <int N, class Solve>
    void solve_best_columns(const SweepTask<Lane>& task, RoughSide* const (&rough)[N],
                            SweepSide<Lane>* const (&sides)[N], const Solve& solve) {
        float least[N][2];
        double error[N][2];
        for (int k = 0; k < N; ++k) {
            for (int b = 0; b < 2; ++b) {
                error[k][b] = problem_.rough.error(rough[k]->largest[b], sides[k]->totals[0],
                                                   sides[k]->totals[problem_.channels.base()]);
                least[k][b] = static_cast<float>(rough[k]->largest[b] - 2.0 * error[k][b]);
            }
        }
        for (int i = 0; i < task.n_columns; ++i) {
            bool may_be_best = false;
            for (int k = 0; k < N; ++k) {
                for (int b = 0; b < 2; ++b) {
                    may_be_best |= rough[k]->best[b * task.stride + i] >= least[k][b];
                }
            }
            if (!may_be_best) continue;
            solve(i);
            for (int k = 0; k < N; ++k) {
                for (int b = 0; b < 2; ++b) {
                    const double found = sides[k]->best[2 + b];
                    // No tree costs less than 0.
                    const bool is_perfect =
                        problem_.objective.unit *
                            (sides[k]->totals[problem_.channels.base()] - found) <=
                        problem_.slack;
                    if (is_perfect) least[k][b] = std::numeric_limits<float>::infinity();
                }
            }
        }
    }

    void list_slots(const BitNode<Lane>& node, SweepTask<Lane>& task) {
        slots_.clear();
        for (int slot = 0; slot < 16 * node.n_words; ++slot) {
            if ((node.present[slot / 16] >> (slot % 16)) & 1) slots_.push_back(slot);
        }
        task.slots = slots_.data();
        task.n_slots = static_cast<int>(slots_.size());
    }

    // Sums of all rows: of the smaller child, then of the larger one.
    void set_side_totals(const BitNode<Lane>& node, int j, bool small_is_true) {
        const int n_all = problem_.channels.n_all();
        side_totals_.resize(2 * n_all);
        for (int c = 0; c < n_all; ++c) {
            const Lane with = node.marginal_row(c)[j], without = node.totals[c] - with;
            side_totals_[c] = small_is_true ? with : without;
            side_totals_[n_all + c] = small_is_true ? without : with;
        }
    }

    // Sets the counts by column of both children in the same order, from the node's pairs.
    void set_side_counts(const BitNode<Lane>& node, int j, bool small_is_true) {
        const int n_all = problem_.channels.n_all(), stride = node.stride;
        Lane* small = side_marginals_.need(static_cast<std::size_t>(2) * n_all * stride);
        Lane* large = small + static_cast<std::ptrdiff_t>(n_all) * stride;
        for (int c = 0; c < n_paired(); ++c) {
            const Lane* all = node.marginal_row(c);
            const Lane* shared = node.pair_row(c, j);
            Lane* of_true = (small_is_true ? small : large) + c * stride;
            Lane* of_false = (small_is_true ? large : small) + c * stride;
            for (int g = 0; g < stride; ++g) {
                of_true[g] = shared[g];
                of_false[g] = all[g] - shared[g];
            }
        }
    }

    // Costs with at most 0..3 splits from the best scores, without the cost of splits.
    void set_costs(const Lane (&best)[4], double base, double (&costs)[4]) const {
        for (int k = 0; k < 4; ++k) {
            const double score = problem_.objective.unit * static_cast<double>(best[k]);
            const double cost = snap(base - score);
            costs[k] = k == 0 ? cost : std::min(costs[k - 1], cost);
        }
    }

    // Called for each vector of root columns; the clock is read once in about a millisecond.
    static bool poll(void* maker) {
        NodeMaker* self = static_cast<NodeMaker*>(maker);
        if (!self->may_poll) return false;
        self->work_ += self->work_a_call_;
        if (self->work_ < (std::int64_t(1) << 20)) return self->control_.stopped();
        self->work_ = 0;
        return self->control_.poll();
    }

    const BitProblem<Lane>& problem_;
    const RowSets& row_sets_;
    SearchControl& control_;
    SideRows side_;
    Buffer<std::uint16_t> side_words_;
    RoughNodeSums<Lane> rough_sums_;
    Buffer<std::int32_t> listed_;
    Buffer<Lane> tile_, row_maxima_, side_marginals_, pairs_apart_;
    std::vector<Lane> side_totals_;
    Buffer<std::int32_t> rough_marginals_;
    Buffer<float> rough_best_;
    Buffer<Lane> leaves_;
    std::vector<std::int32_t> slots_, first_slots_;
    std::int64_t work_ = 0, work_a_call_ = 0;
};

}  // namespace sktree_opt
