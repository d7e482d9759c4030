// Rows of a table down a tree.
//
// A row takes one path, unless it misses the value of a tested feature at a node that sends missing
// values down every branch by weight: then it ends in several leaves, each with a share of it.
//
// Why it is fast: the walk reads a 16-byte copy of each node (a quarter of a cache line) and
// computes the child's index instead of branching on the test, and a tree of numeric tests takes
// ROWS_ABREAST rows down together, so that the loads of one hide behind those of the others. A leaf
// is a node that leads to itself: rows that have arrived just wait for the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/tree/_node.hpp"

namespace sktree_opt {

struct WalkNode {
    double threshold;          // infinite at a leaf
    std::int32_t feature;      // SEE_RECORD: not a numeric test; at a leaf, its parent's
    std::int32_t first_child;  // at a leaf, the leaf itself
};
constexpr std::int32_t SEE_RECORD = -1;
constexpr int ROWS_ABREAST = 8;

struct TreeView {
    const Node* nodes;
    const std::int32_t* category_branch;
    std::vector<WalkNode> walk;
    bool all_numeric = true;

    TreeView(const Node* nodes_, std::size_t n_nodes, const std::int32_t* category_branch_)
        : nodes(nodes_), category_branch(category_branch_), walk(n_nodes) {
        const double infinity = std::numeric_limits<double>::infinity();
        walk[0] = {infinity, 0, 0};
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const Node& node = nodes[i];
            if (node.kind == LEAF) continue;
            const bool numeric = node.kind == NUMERIC;
            all_numeric = all_numeric && numeric;
            walk[i] = {node.threshold, numeric ? node.feature : SEE_RECORD, node.first_child};
            // Children come after their parent, and overwrite this if they are tests.
            for (std::int32_t b = 0; b < node.n_children; ++b)
                walk[node.first_child + b] = {infinity, node.feature, node.first_child + b};
        }
    }
};

template <typename Value>
struct RowView {
    const Value* first;
    std::ptrdiff_t stride;  // between the features of one row
    double operator[](std::int32_t feature) const {
        return static_cast<double>(first[feature * stride]);
    }
};

// The branch of a value at a test; -1 when it is distributed by weight.
inline std::int32_t branch_of(const Node& node, const std::int32_t* category_branch, double x) {
    if (node.kind == IS_MISSING) return std::isnan(x) ? 0 : 1;
    if (std::isnan(x)) return node.missing_branch;
    if (node.kind == NUMERIC) return !(x <= node.threshold);
    // A code outside of what fit saw cannot come from the encoder; it is missing all the same.
    if (!(x >= 0.0 && x < node.n_categories)) return node.missing_branch;
    return category_branch[node.category_start + static_cast<std::int32_t>(x)];
}

// The leaf of a row that takes one path; -1 for one that is distributed.
template <typename Value>
std::int32_t walk_to_leaf(const TreeView& tree, const RowView<Value>& row) {
    std::int32_t index = 0;
    for (;;) {
        const WalkNode& node = tree.walk[index];
        if (node.first_child == index) return index;
        if (node.feature >= 0) {
            const double x = row[node.feature];
            if (x == x) {
                index = node.first_child + !(x <= node.threshold);
                continue;
            }
        }
        const Node& record = tree.nodes[index];
        const std::int32_t branch = branch_of(record, tree.category_branch, row[record.feature]);
        if (branch < 0) return -1;
        index = record.first_child + branch;
    }
}

// Several rows at once down a tree of numeric tests; false when one of them misses a value.
template <typename Value>
bool walk_abreast(const TreeView& tree, const Value* first_row, std::ptrdiff_t row_stride,
                  std::ptrdiff_t column_stride, std::int32_t* leaves) {
    std::int32_t index[ROWS_ABREAST] = {};
    bool moved = true, missing = false;
    while (moved && !missing) {
        moved = false;
        for (int r = 0; r < ROWS_ABREAST; ++r) {
            const WalkNode& node = tree.walk[index[r]];
            const double x = static_cast<double>(
                first_row[r * row_stride + node.feature * column_stride]);
            const std::int32_t next = node.first_child + !(x <= node.threshold);
            missing |= x != x;
            moved |= next != index[r];
            index[r] = next;
        }
    }
    std::copy(index, index + ROWS_ABREAST, leaves);
    return !missing;
}

struct Share {
    std::int32_t node;
    double weight;
};

// Visits every node that a share of the row reaches, in depth-first order of branches.
template <typename Value, typename Visit>
void walk_all(const TreeView& tree, const RowView<Value>& row, std::vector<Share>& stack,
              Visit visit) {
    stack.clear();
    stack.push_back({0, 1.0});
    while (!stack.empty()) {
        const Share share = stack.back();
        stack.pop_back();
        visit(share);
        const Node& node = tree.nodes[share.node];
        if (node.kind == LEAF) continue;
        const std::int32_t branch = branch_of(node, tree.category_branch, row[node.feature]);
        if (branch >= 0) {
            stack.push_back({node.first_child + branch, share.weight});
            continue;
        }
        double total = 0.0;
        for (std::int32_t b = 0; b < node.n_children; ++b)
            total += tree.nodes[node.first_child + b].weight;
        for (std::int32_t b = node.n_children - 1; b >= 0; --b) {
            const double part = tree.nodes[node.first_child + b].weight / total;
            if (part > 0.0) stack.push_back({node.first_child + b, share.weight * part});
        }
    }
}

template <typename Value>
void apply_rows(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
                std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop,
                std::int32_t* leaves) {
    std::int64_t i = start;
    // A lone leaf tests nothing, and its table may have no column to read.
    const bool abreast = tree.all_numeric && tree.walk[0].first_child != 0;
    while (i < stop) {
        if (abreast && i + ROWS_ABREAST <= stop &&
            walk_abreast(tree, values + i * row_stride, row_stride, column_stride, leaves + i)) {
            i += ROWS_ABREAST;
            continue;
        }
        for (int r = 0; r < ROWS_ABREAST && i < stop; ++r, ++i)
            leaves[i] = walk_to_leaf(tree, RowView<Value>{values + i * row_stride, column_stride});
    }
}

// For one distributed row: adds up share x leaf values, and finds the leaf with the largest share.
template <typename Value>
std::int32_t distribute_row(const TreeView& tree, const Value* row, std::ptrdiff_t column_stride,
                            const double* leaf_values, std::int32_t n_outputs, double* out) {
    std::vector<Share> stack;
    std::int32_t heaviest = -1;
    double most = -1.0;
    for (std::int32_t k = 0; k < n_outputs; ++k) out[k] = 0.0;
    walk_all(tree, RowView<Value>{row, column_stride}, stack, [&](const Share& share) {
        if (tree.nodes[share.node].kind != LEAF) return;
        for (std::int32_t k = 0; k < n_outputs; ++k)
            out[k] += share.weight * leaf_values[std::int64_t{share.node} * n_outputs + k];
        if (share.weight > most) {
            most = share.weight;
            heaviest = share.node;
        }
    });
    return heaviest;
}

// Appends the nodes that the row reaches.
template <typename Value>
void path_of_row(const TreeView& tree, const Value* row, std::ptrdiff_t column_stride,
                 std::vector<std::int32_t>& path) {
    std::vector<Share> stack;
    walk_all(tree, RowView<Value>{row, column_stride}, stack,
             [&](const Share& share) { path.push_back(share.node); });
}

}  // namespace sktree_opt
