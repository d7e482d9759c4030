// One node of the search with everything its children are made from; one object per level, reused.
//
// Words (for counting) and rows of bits (from which children take theirs) hold the distinct columns
// of this node only: both shrink on the way down, so kernels always run at full width.
#pragma once

#include <vector>

#include "sktree_opt/optimal/bits/build_problem.hpp"
#include "sktree_opt/optimal/bits/bit_columns.hpp"
#include "sktree_opt/optimal/bits/bit_problem.hpp"
#include "sktree_opt/optimal/bits/row_set.hpp"

namespace sktree_opt {

// Bounds on the children of a node by column, for one depth of the node. Budgets: with a limit on
// splits, one row of bounds for each number of splits that the child may get.
struct Phase {
    bool is_open = false;
    int first_budget = 0;
    int n_budgets = 1;
    Buffer<double> bounds_true;  // [budget][stride]
    Buffer<double> bounds_false;
    Buffer<double> order;  // explore small values first
    double* true_bounds(int budget, int stride) { return bounds_true.data() + budget * stride; }
    double* false_bounds(int budget, int stride) { return bounds_false.data() + budget * stride; }
};

template <class Lane>
struct BitNode {
    int n_words = 0;
    int n_rows = 0;
    int n_columns = 0;
    int stride = 0;
    int row_bytes = 0;
    std::vector<Span> spans;
    Buffer<std::uint16_t> words, present;
    Buffer<std::uint8_t> rows;  // [slot][row_bytes]
    Buffer<double> values;      // [slot][channel] if rows carry real numbers
    RoughSums rough;
    std::vector<std::int32_t> columns;    // index in the problem
    std::vector<std::int32_t> in_parent;  // index in the parent node
    Buffer<Lane> marginals;               // [channel][stride]
    std::vector<Lane> totals;             // [channel]
    Buffer<Lane> pairs;                   // [channel][column][stride]
    std::vector<bool> has_pairs;          // with rough sums: columns whose pairs are summed
    Buffer<Lane> overlap;                 // a row of pairs out of rough sums
    Buffer<Lane> best_true, best_false, leaf_true, leaf_false;
    Buffer<std::uint64_t> mask;  // over slots of the root
    Key key;
    double base = 0.0;           // cost not counting leaf scores
    double small_costs[4] = {};  // optimum with at most 0..3 splits, depth two
    int parent_column = -1;      // the test that leads here, in the parent's columns
    bool parent_side = false;
    std::vector<Phase> phases;  // by depth
    // Work of making nodes.
    Buffer<std::uint32_t> hashes;
    ColumnFilter filter;

    void attach(SearchControl* control) {
        for (Buffer<std::uint16_t>* buffer : {&words, &present}) buffer->attach(control);
        for (Buffer<Lane>* buffer :
             {&marginals, &pairs, &overlap, &best_true, &best_false, &leaf_true, &leaf_false}) {
            buffer->attach(control);
        }
        for (Buffer<std::int32_t>* buffer : {&rough.values, &rough.marginals, &rough.pairs}) {
            buffer->attach(control);
        }
        rows.attach(control);
        values.attach(control);
    }

    const Lane* pair_row(int channel, int column) const {
        return pairs.data() + (static_cast<std::ptrdiff_t>(channel) * n_columns + column) * stride;
    }
    // Mass of the rows that a column and each other one have, of which `rough` has the sums if any.
    const Lane* overlaps(const RoughValues& whole, int mass, int column) {
        if (!whole.are_there) return pair_row(mass, column);
        Lane* row = overlap.need(stride);
        for (int g = 0; g < n_columns; ++g) {
            row[g] =
                static_cast<Lane>(whole.mass_unit * rough.of_pair(2, n_columns, stride, column, g));
        }
        return row;
    }
    const Lane* marginal_row(int channel) const { return marginals.data() + channel * stride; }
};

// Rows and key of a child; enough to ask the cache about it.
template <class Lane>
void set_rows(const BitProblem<Lane>& problem, const RowSets& row_sets, const BitNode<Lane>& node,
              int column, bool side, BitNode<Lane>& child) {
    const std::uint64_t* bits = row_sets.column(node.columns[column]);
    const std::uint64_t flip = side ? 0 : ~std::uint64_t(0);
    std::uint64_t* mask = child.mask.need(row_sets.n_words);
    for (int w = 0; w < row_sets.n_words; ++w) mask[w] = node.mask[w] & (bits[w] ^ flip);
    child.key = problem.branches.are_keys()
                    ? problem.branches.extend(node.key, node.columns[column], side)
                    : row_sets.key(mask);
}

// Keys of both children of a column.
template <class Lane>
void find_keys(const BitProblem<Lane>& problem, const RowSets& row_sets, const BitNode<Lane>& node,
               int column, Key& with, Key& without) {
    if (problem.branches.are_keys()) {
        with = problem.branches.extend(node.key, node.columns[column], true);
        without = problem.branches.extend(node.key, node.columns[column], false);
    } else {
        with = row_sets.key(node.mask.data(), node.columns[column]);
        without = node.key - with;
    }
}

// The rows on one side of a test, as words by segment; columns as in the parent.
struct SideRows {
    Buffer<std::uint16_t> words;
    std::vector<Span> spans;
    std::vector<std::int32_t> slots;  // in the parent, of each row; segment after segment
    int n_words = 0;
    int n_rows = 0;
};

// With `present`, also which slots of the words hold a row.
template <class Lane>
void take_rows(const BitNode<Lane>& parent, const BitKernels& kernels, int column, bool side,
               SideRows& out, std::uint16_t* present) {
    out.words.need(static_cast<std::size_t>(parent.n_words) * parent.stride);
    out.spans.resize(parent.spans.size());
    out.slots.resize(static_cast<std::size_t>(parent.n_words) * 16 + 16);
    out.n_words = out.n_rows = 0;
    for (std::size_t s = 0; s < parent.spans.size(); ++s) {
        std::int32_t* slots = out.slots.data() + out.n_rows;
        const Span from = parent.spans[s];
        const int count =
            kernels.list_side(parent.words.data(), parent.present.data(), parent.stride, column,
                              side, from.first_word, from.first_word + from.n_words, slots);
        const Span span = {out.n_words, (count + 15) / 16};
        out.spans[s] = span;
        kernels.rows_to_words(
            parent.rows.data(), parent.row_bytes, slots, count,
            out.words.data() + static_cast<std::ptrdiff_t>(out.n_words) * parent.stride,
            parent.stride);
        if (present != nullptr) {
            for (int k = 0; k < count; k += 16) {
                present[span.first_word + k / 16] =
                    static_cast<std::uint16_t>((1u << std::min(16, count - k)) - 1u);
            }
        }
        out.n_words += span.n_words;
        out.n_rows += count;
    }
}

// Gives `node` the distinct ones of its parent's columns.
template <class Lane>
void settle_columns(BitNode<Lane>& node, const BitKernels& kernels, const std::uint16_t* raw_words,
                    const std::vector<std::int32_t>& columns, int raw_stride, bool merge) {
    const int n_raw = static_cast<int>(columns.size());
    if (merge) {
        std::uint32_t all[2];
        kernels.hash_columns(raw_words, node.n_words, raw_stride, n_raw,
                             node.hashes.need(2 * raw_stride + 2 * STRIDE));
        hash_present(node.present.data(), node.n_words, all);
        node.in_parent = node.filter.distinct(raw_words, node.present.data(), node.n_words,
                                              raw_stride, n_raw, node.hashes.data(), all);
    } else {
        node.in_parent.resize(n_raw);
        for (int j = 0; j < n_raw; ++j) node.in_parent[j] = j;
    }
    node.n_columns = static_cast<int>(node.in_parent.size());
    node.columns.resize(node.n_columns);
    for (int j = 0; j < node.n_columns; ++j) node.columns[j] = columns[node.in_parent[j]];
    node.stride = padded(node.n_columns);
    node.row_bytes = node.stride / 8;
    node.words.need(static_cast<std::size_t>(node.n_words) * node.stride);
    keep_columns(raw_words, node.n_words, raw_stride, node.in_parent, node.words.data(),
                 node.stride);
    kernels.words_to_rows(
        node.words.data(), node.n_words, node.stride,
        node.rows.need(static_cast<std::size_t>(node.n_words) * 16 * node.row_bytes),
        node.row_bytes);
}

}  // namespace sktree_opt
