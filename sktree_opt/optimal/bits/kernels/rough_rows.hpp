// Whole-number sums of a node's pairs, which rough sweeps read (see rough_sums.hpp,
// rough_squares.hpp). Exact.
//
// Sibling subtraction as of the paper's incremental counts (MurTree, JMLR 23, 2022, section 4.3.3):
// what the rows of the other side leave of the parent's sums are those of the child, without
// rounding. The sums of each column alone, and those of a sweep's larger side, are computed in the
// same way in double precision: rounding stays far below the grid of costs. Time O(n_columns *
// stride * rows of the smaller side), memory of a node's rows.
#pragma once

#include <algorithm>
#include <vector>

#include "sktree_opt/optimal/bits/bit_node.hpp"

namespace sktree_opt {

template <class Lane>
class RoughRows {
public:
    explicit RoughRows(const BitProblem<Lane>& problem) : problem_(problem) {}

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

    // Of a child, whose rows are `rows`: over these or, where they are many more, what those of the
    // other side leave of the node's. Writes the others to `rows`. Whether this has made the
    // child's exact sums by column, too.
    bool sum_child(const BitNode<Lane>& node, int column, bool side, SideRows& rows,
                   BitNode<Lane>& child, RoughTask task) {
        const int stride = node.stride, n_other = node.n_rows - child.n_rows;
        std::int32_t totals_other[ROUGH_CHANNELS];
        std::int32_t* sums = sums_.need(
            ROUGH_CHANNELS * static_cast<std::size_t>(2 * stride + child.stride) + STRIDE);
        std::int32_t* other = sums + ROUGH_CHANNELS * stride;
        split_sums(node.rough, ROUGH_CHANNELS, node.n_columns, stride, column, side ? sums : other,
                   side ? other : sums, side ? child.rough.totals : totals_other,
                   side ? totals_other : child.rough.totals);
        take_marginals(child, sums, stride, child.rough.marginals.data());
        take_values(node, rows, child.rough.values);
        task.values = child.rough.values.data();
        task.counted.marginals = child.rough.marginals.data();
        task.words = child.words.data();
        task.n_words = child.n_words;
        list_first_slots(child.n_rows, task);
        // Below this difference it costs more to look up than to sum.
        constexpr int LEAST_GAIN = 64;
        const bool subtracts = problem_.switches.subtraction && child.n_rows > n_other + LEAST_GAIN;
        if (subtracts) {
            std::int32_t* marginals = other + ROUGH_CHANNELS * stride;
            take_marginals(child, other, stride, marginals);
            task.counted.marginals = marginals;
            take_other_rows(node, column, side, rows, child, task);
            subtract_marginals(node, rows, child, task);
        }
        problem_.kernels.sum_rough_pairs(task);
        return subtracts;
    }

private:
    // From sums by column of the parent to those of the child.
    static void take_marginals(const BitNode<Lane>& child, const std::int32_t* sums, int stride,
                               std::int32_t* to) {
        for (int c = 0; c < ROUGH_CHANNELS; ++c) {
            for (int g = 0; g < child.stride; ++g) {
                to[c * child.stride + g] =
                    g < child.n_columns ? sums[c * stride + child.in_parent[g]] : 0;
            }
        }
    }

    static void take_values(const BitNode<Lane>& node, const SideRows& rows,
                            Buffer<std::int32_t>& values) {
        std::int32_t* to =
            values.zeros(static_cast<std::size_t>(rows.n_words) * 16 * ROUGH_CHANNELS + STRIDE);
        for (int k = 0; k < rows.n_rows; ++k, to += ROUGH_CHANNELS) {
            std::copy_n(
                node.rough.values.data() + static_cast<std::size_t>(rows.slots[k]) * ROUGH_CHANNELS,
                ROUGH_CHANNELS, to);
        }
    }

    // The rows of the node that the child has not, in the child's columns, to be taken away.
    void take_other_rows(const BitNode<Lane>& node, int column, bool side, SideRows& rows,
                         const BitNode<Lane>& child, RoughTask& task) {
        take_rows(node, problem_.bits, column, !side, rows, nullptr);
        take_values(node, rows, other_values_);
        const std::size_t n_words = static_cast<std::size_t>(rows.n_words);
        keep_columns(rows.words.data(), rows.n_words, node.stride, child.in_parent,
                     other_words_.need(n_words * child.stride + STRIDE), child.stride);
        problem_.bits.words_to_rows(other_words_.data(), rows.n_words, child.stride,
                                    other_rows_.need(n_words * 16 * child.row_bytes + STRIDE),
                                    child.row_bytes);
        task.words = other_words_.data();
        task.n_words = rows.n_words;
        task.rows = other_rows_.data();
        task.values = other_values_.data();
        list_first_slots(rows.n_rows, task);
        task.parent_pairs = node.rough.pairs.data();
        task.in_parent = child.in_parent.data();
        task.parent_columns = node.n_columns;
        task.parent_stride = node.stride;
    }

    // Exact sums by column of what the rows of `task` leave of the node.
    void subtract_marginals(const BitNode<Lane>& node, const SideRows& rows, BitNode<Lane>& child,
                            const RoughTask& task) {
        const int n_all = problem_.channels.n_all();
        double* values = other_exact_.need(static_cast<std::size_t>(rows.n_rows) * n_all);
        for (int k = 0; k < rows.n_rows; ++k, values += n_all) {
            std::copy_n(node.values.data() + static_cast<std::size_t>(rows.slots[k]) * n_all, n_all,
                        values);
        }
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
                *to = g < child.n_columns
                          ? static_cast<Lane>(node.marginal_row(c)[child.in_parent[g]] - *others)
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
    Buffer<std::int32_t> other_values_, sums_;
    Buffer<double> other_exact_;
    Buffer<Lane> other_marginals_;
    std::vector<std::int32_t> slots_;
};

}  // namespace sktree_opt
