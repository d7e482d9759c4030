// One node of the search with everything its children are made from; one object per level, reused.
//
// Words (for counting) and rows of bits (from which children take theirs) hold the rows of this
// node only, and of its columns one of each kind: many coincide on the few rows of a deep node.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/bits/bit_problem.hpp"
#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/build_problem.hpp"
#include "sktree_opt/optimal/bits/row_set.hpp"

namespace sktree_opt {

// Bounds on the children of a node by column, for one depth of the node. Budgets: with a limit on
// splits, one row of bounds for each number of splits that the child may get.
struct ChildBounds {
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
    int n_columns = 0, stride = 0;
    std::vector<std::int32_t> columns;    // index in the problem
    std::vector<std::int32_t> in_parent;  // index in the parent node
    std::vector<Span> spans;
    Buffer<std::uint16_t> words, present;
    Buffer<std::uint8_t> rows;  // [slot][stride / 8]
    Buffer<double> values;      // [slot][channel] if rows carry real numbers
    RoughSums rough;
    Buffer<Lane> marginals;       // [channel][stride]
    std::vector<Lane> totals;     // [channel]
    Buffer<Lane> pairs;           // [channel][column][stride]
    std::vector<bool> has_pairs;  // with rough sums: columns whose pairs are summed
    Buffer<Lane> overlap;         // a row of pairs out of rough sums
    Buffer<Lane> best_true, best_false, leaf_true, leaf_false;
    Buffer<std::uint64_t> mask;  // over slots of the root
    Key key;
    int parent_column = -1;                 // the test that leads here
    bool parent_side = false;               // its outcome
    double base = 0.0;                      // cost not counting leaf scores
    double small_costs[4] = {};             // optimum with at most 0..3 splits, depth two
    std::vector<ChildBounds> child_bounds;  // by depth

    int row_bytes() const { return stride / 8; }

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
    // Mass of the rows that have both `column` and each other column, from rough sums where there
    // are any.
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

// Copies rows of `size` numbers one after the other.
template <class T>
void copy_rows(const T* from, const std::int32_t* rows, int n_rows, std::size_t size, T* to) {
    for (int k = 0; k < n_rows; ++k, to += size) std::copy_n(from + rows[k] * size, size, to);
}

// Sets the rows and the key of a child. That is enough to ask the cache.
template <class Lane>
void set_rows(const RowSets& row_sets, const BitNode<Lane>& node, int column, bool side,
              BitNode<Lane>& child) {
    const std::uint64_t* bits = row_sets.column(node.columns[column]);
    const std::uint64_t flip = side ? 0 : ~std::uint64_t(0);
    std::uint64_t* mask = child.mask.need(row_sets.n_words);
    for (int w = 0; w < row_sets.n_words; ++w) mask[w] = node.mask[w] & (bits[w] ^ flip);
    child.key = row_sets.key(mask);
}

// Keys of both children of a column.
template <class Lane>
void find_keys(const RowSets& row_sets, const BitNode<Lane>& node, int column, Key& with,
               Key& without) {
    with = row_sets.key(node.mask.data(), node.columns[column]);
    without = node.key - with;
}

// The rows on one side of a test.
struct SideRows {
    std::vector<Span> spans;
    std::vector<std::int32_t> slots;  // in the parent, of each row; segment after segment
    int n_words = 0;
    int n_rows = 0;
};

// Takes the rows on one side of a test, as words by segment with the parent's columns. With
// `present`, also which slots of the words hold a row.
template <class Lane>
void take_rows(const BitNode<Lane>& parent, const BitKernels& kernels, int column, bool side,
               SideRows& out, Buffer<std::uint16_t>& words, Buffer<std::uint16_t>* present) {
    words.need(static_cast<std::size_t>(parent.n_words) * parent.stride);
    out.spans.resize(parent.spans.size());
    out.slots.resize(static_cast<std::size_t>(parent.n_words) * 16 + 16);
    out.n_words = out.n_rows = 0;
    if (present != nullptr) present->need(parent.n_words + 1);
    for (std::size_t s = 0; s < parent.spans.size(); ++s) {
        std::int32_t* slots = out.slots.data() + out.n_rows;
        const Span from = parent.spans[s];
        const int count =
            kernels.list_side(parent.words.data(), parent.present.data(), parent.stride, column,
                              side, from.first_word, from.first_word + from.n_words, slots);
        const Span span = {out.n_words, (count + 15) / 16};
        out.spans[s] = span;
        kernels.rows_to_words(
            parent.rows.data(), parent.row_bytes(), slots, count,
            words.data() + static_cast<std::ptrdiff_t>(out.n_words) * parent.stride, parent.stride);
        if (present != nullptr) mark_present(span, count, present->data());
        out.n_words += span.n_words;
        out.n_rows += count;
    }
}

// Gives a child all columns of its parent.
template <class Lane>
void keep_columns_of(const BitNode<Lane>& parent, BitNode<Lane>& child) {
    child.columns = parent.columns;
    child.in_parent.resize(parent.n_columns);
    std::iota(child.in_parent.begin(), child.in_parent.end(), 0);
    child.n_columns = parent.n_columns;
    child.stride = parent.stride;
}

// Gives a child one of each kind of its parent's columns. `words` has its rows with all of them.
template <class Lane>
void keep_distinct_columns(const BitNode<Lane>& parent, const std::uint16_t* words,
                           BitNode<Lane>& child) {
    ColumnFilter filter(words, child.present.data(), child.n_words, parent.stride);
    child.in_parent = filter.distinct(parent.n_columns);
    child.n_columns = static_cast<int>(child.in_parent.size());
    child.columns.clear();
    for (const std::int32_t j : child.in_parent) child.columns.push_back(parent.columns[j]);
    child.stride = padded(child.n_columns);
    keep_columns(words, child.n_words, parent.stride, child.in_parent,
                 child.words.need(static_cast<std::size_t>(child.n_words) * child.stride),
                 child.stride);
}

}  // namespace sktree_opt
