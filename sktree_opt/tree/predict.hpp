// Rows of a table down a tree.
//
// A row takes one path, unless it misses the value of a tested feature at a node that sends missing
// values down every branch by weight: then it ends in several leaves, each with a share of it.
//
// Why it is fast: the walk reads a 24-byte copy of each node. It computes the child's index instead
// of branching on the outcome or the kind of test, which no processor could foresee. It takes
// several rows down together, so that the loads of one hide behind those of the others. A leaf is a
// node that leads to itself: rows that have arrived stay, and the rest close ranks after some
// steps. A row whose value a test's copy does not tell about stays too, and goes on by the records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/tree/node_record.hpp"

namespace sktree_opt {

struct WalkNode {
    double threshold;
    double n_categories;       // of a test of a category, else 0
    std::int32_t feature;      // of a test of a category: its complement; of a leaf: its parent's
    std::int32_t first_child;  // at a leaf, the leaf itself; of a test of a category: see child_of
};
constexpr std::int32_t BY_RECORD = -1;  // a child that only the record tells
constexpr int STEPS_ABREAST = 4, ROWS_AT_A_TIME = 64;
// As many as a loop over them is unrolled for, and their state kept in registers.
template <bool mixed>
constexpr int rows_abreast = mixed ? 4 : 8;

struct TreeView {
    const Node* nodes;
    const std::int32_t* category_branch;
    std::vector<WalkNode> walk;
    std::vector<double> share;           // of a row that a node's parent distributes
    std::vector<std::int32_t> child_of;  // missing, codes 0, 1, ..., and an unknown code
    bool all_numeric = true;

    TreeView(const Node* nodes_, std::size_t n_nodes, const std::int32_t* category_branch_)
        : nodes(nodes_),
          category_branch(category_branch_),
          walk(n_nodes),
          share(n_nodes, 1.0),
          child_of(1, BY_RECORD) {
        walk[0] = leaf(0, 0);
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const Node& node = nodes[i];
            if (node.kind == LEAF) continue;
            if (node.kind == NUMERIC || node.kind == IS_MISSING) {
                const bool numeric = node.kind == NUMERIC;
                walk[i] = {numeric ? node.threshold : -infinity, 0.0, node.feature,
                           node.first_child};
            } else {
                add_category_test(i);
            }
            double total = 0.0;
            for (std::int32_t b = 0; b < node.n_children; ++b) {
                total += nodes[node.first_child + b].weight;
            }
            // Children come after their parent, and overwrite this if they are tests.
            for (std::int32_t child = node.first_child; child < node.first_child + node.n_children;
                 ++child) {
                walk[child] = leaf(child, node.feature);
                share[child] = nodes[child].weight / total;
            }
        }
    }

    bool is_leaf(std::int32_t index) const {
        return walk[index].feature >= 0 && walk[index].first_child == index;
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static WalkNode leaf(std::int32_t index, std::int32_t feature) {
        return {infinity, 0.0, feature, index};
    }

    void add_category_test(std::size_t index) {
        const Node& node = nodes[index];
        all_numeric = false;
        walk[index] = {infinity, static_cast<double>(node.n_categories), ~node.feature,
                       static_cast<std::int32_t>(child_of.size())};
        child_of.push_back(BY_RECORD);
        for (std::int32_t c = 0; c < node.n_categories; ++c) {
            child_of.push_back(node.first_child + category_branch[node.category_start + c]);
        }
        child_of.push_back(BY_RECORD);
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

// The leaf of a row that takes one path from a node; -1 for one that is distributed.
template <typename Value>
std::int32_t walk_by_record(const TreeView& tree, const RowView<Value>& row, std::int32_t index) {
    while (tree.nodes[index].kind != LEAF) {
        const Node& node = tree.nodes[index];
        const std::int32_t branch = branch_of(node, tree.category_branch, row[node.feature]);
        if (branch < 0) return -1;
        index = node.first_child + branch;
    }
    return index;
}

// The node after `node` for the value `x`; BY_RECORD for a category that is missing or unknown.
// Masks rather than conditions, of which compilers make jumps.
inline std::int32_t next_of(const TreeView& tree, const WalkNode& node, double x) {
    const std::int32_t by_category = node.feature >> 31;
    // In this order, a missing value becomes -1 too.
    const double bounded = std::min(x > -1.0 ? x : -1.0, node.n_categories);
    const std::int32_t slot = node.first_child + static_cast<std::int32_t>(bounded) + 1;
    const std::int32_t child = tree.child_of[slot & by_category];
    const std::int32_t of_number = node.first_child + (x > node.threshold);
    return (child & by_category) | (of_number & ~by_category);
}

// Takes some rows some steps down together. Rows that have arrived stay where they are, and so do
// rows whose value the copy of a node does not tell about.
template <bool mixed, typename Value>
void walk_abreast(const TreeView& tree, const Value* const* rows, std::ptrdiff_t column_stride,
                  std::int32_t* index, std::int32_t* before) {
    const WalkNode* walk = tree.walk.data();
    for (int step = 0; step < STEPS_ABREAST; ++step) {
        for (int r = 0; r < rows_abreast<mixed>; ++r) {
            const std::int32_t now = index[r];
            const WalkNode& node = walk[now];
            const std::int32_t feature = mixed ? node.feature ^ (node.feature >> 31) : node.feature;
            const double x = static_cast<double>(rows[r][feature * column_stride]);
            const std::int32_t next =
                mixed ? next_of(tree, node, x) : node.first_child + (x > node.threshold);
            before[r] = now;
            index[r] = (x != x) | (mixed && next < 0) ? now : next;
        }
    }
}

// Takes at most ROWS_AT_A_TIME rows down, each from a node of its own, until all stay. Those that
// are under way after some steps close ranks, so that deep paths do not hold up the others.
template <bool mixed, typename Value>
void walk_block(const TreeView& tree, const Value* const* rows, std::ptrdiff_t column_stride,
                int n_rows, std::int32_t* index) {
    constexpr int n_abreast = rows_abreast<mixed>;
    int under_way[ROWS_AT_A_TIME];
    for (int r = 0; r < n_rows; ++r) under_way[r] = r;
    for (int n_under_way = n_rows; n_under_way > 0;) {
        int n_left = 0;
        for (int first = 0; first < n_under_way; first += n_abreast) {
            const int n_lanes = std::min(n_abreast, n_under_way - first);
            const Value* lane[n_abreast];
            std::int32_t now[n_abreast], before[n_abreast];
            for (int r = 0; r < n_abreast; ++r) {
                // Lanes without a row of their own walk beside the first one.
                const int row = under_way[first + (r < n_lanes ? r : 0)];
                lane[r] = rows[row];
                now[r] = index[row];
            }
            walk_abreast<mixed>(tree, lane, column_stride, now, before);
            for (int r = 0; r < n_lanes; ++r) {
                const int row = under_way[first + r];
                index[row] = now[r];
                under_way[n_left] = row;
                n_left += now[r] != before[r];
            }
        }
        n_under_way = n_left;
    }
}

// Writes the leaf of each row from `start` to `stop`, -1 for a row that is distributed; returns the
// number of these.
template <bool mixed, typename Value>
std::int64_t walk_rows(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
                       std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop,
                       std::int32_t* leaves) {
    std::int64_t n_distributed = 0;
    const Value* rows[ROWS_AT_A_TIME];
    for (std::int64_t i = start; i < stop; i += ROWS_AT_A_TIME) {
        const int n_rows = static_cast<int>(std::min<std::int64_t>(stop - i, ROWS_AT_A_TIME));
        for (int r = 0; r < n_rows; ++r) rows[r] = values + (i + r) * row_stride;
        std::fill(leaves + i, leaves + i + n_rows, 0);
        walk_block<mixed>(tree, rows, column_stride, n_rows, leaves + i);
        for (int r = 0; r < n_rows; ++r) {
            std::int32_t& leaf = leaves[i + r];
            if (tree.is_leaf(leaf)) continue;
            leaf = walk_by_record(tree, RowView<Value>{rows[r], column_stride}, leaf);
            n_distributed += leaf < 0;
        }
    }
    return n_distributed;
}

struct Share {
    std::int32_t node;
    double weight;
};

template <typename Value>
std::int64_t apply_rows(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
                        std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop,
                        std::int32_t* leaves) {
    // A lone leaf tests nothing, and its table may have no column to read.
    if (tree.walk.size() == 1) {
        std::fill(leaves + start, leaves + stop, 0);
        return 0;
    }
    const auto walk = tree.all_numeric ? walk_rows<false, Value> : walk_rows<true, Value>;
    return walk(tree, values, row_stride, column_stride, start, stop, leaves);
}

// What rows get from the nodes that distribute them. The children of such a node are mostly leaves.
// Their answers are added up beforehand, and a row visits only the other children.
struct Distribution {
    const TreeView& tree;
    const double* leaf_values;
    std::int32_t n_outputs;
    std::vector<double> from_leaves;          // by node: share x values of its leaf children
    std::vector<std::int32_t> heaviest_leaf;  // of these children; -1 if no one is a leaf
    std::vector<std::int32_t> inner_start;
    std::vector<Share> inner_children;

    Distribution(const TreeView& tree_, std::size_t n_nodes, const double* leaf_values_,
                 std::int32_t n_outputs_)
        : tree(tree_),
          leaf_values(leaf_values_),
          n_outputs(n_outputs_),
          from_leaves(n_nodes * n_outputs_, 0.0),
          heaviest_leaf(n_nodes, -1) {
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const Node& node = tree.nodes[i];
            inner_start.push_back(static_cast<std::int32_t>(inner_children.size()));
            for (std::int32_t child = node.first_child; child < node.first_child + node.n_children;
                 ++child) {
                if (!(tree.share[child] > 0.0)) continue;
                if (tree.nodes[child].kind != LEAF) {
                    inner_children.push_back({child, tree.share[child]});
                    continue;
                }
                add(child, tree.share[child], from_leaves.data() + i * n_outputs);
                std::int32_t& heaviest = heaviest_leaf[i];
                if (heaviest < 0 || tree.share[child] > tree.share[heaviest]) heaviest = child;
            }
        }
        inner_start.push_back(static_cast<std::int32_t>(inner_children.size()));
    }

    void add(std::int32_t leaf, double weight, double* out) const {
        add_values(leaf_values + std::int64_t{leaf} * n_outputs, weight, out);
    }
    void add_leaves_below(std::int32_t node, double weight, double* out) const {
        add_values(from_leaves.data() + std::int64_t{node} * n_outputs, weight, out);
    }
    void add_values(const double* values, double weight, double* out) const {
        for (std::int32_t k = 0; k < n_outputs; ++k) out[k] += weight * values[k];
    }
};

// For one distributed row: adds up share x leaf values, and finds the leaf with the largest share.
// The row after it is asked for meanwhile: distributed rows lie far from each other.
template <typename Value>
std::int32_t distribute_row(const Distribution& distribution, const Value* first,
                            [[maybe_unused]] const Value* next_row, std::ptrdiff_t column_stride,
                            double* out) {
#if defined(__GNUC__)
    __builtin_prefetch(next_row);
#endif
    const TreeView& tree = distribution.tree;
    const RowView<Value> row{first, column_stride};
    const std::int32_t n_outputs = distribution.n_outputs;
    thread_local std::vector<Share> shares, children;
    std::int32_t heaviest = -1;
    double most = -1.0;
    const auto reach = [&](std::int32_t leaf, double weight) {
        if (weight > most) {
            most = weight;
            heaviest = leaf;
        }
    };
    std::fill(out, out + n_outputs, 0.0);
    const Value* rows[ROWS_AT_A_TIME];
    std::fill(rows, rows + ROWS_AT_A_TIME, first);
    std::int32_t index[ROWS_AT_A_TIME];
    const auto walk = tree.all_numeric ? walk_block<false, Value> : walk_block<true, Value>;
    for (shares.assign(1, {0, 1.0}); !shares.empty(); shares.swap(children)) {
        children.clear();
        for (std::size_t s = 0; s < shares.size(); s += ROWS_AT_A_TIME) {
            const int n =
                static_cast<int>(std::min<std::size_t>(shares.size() - s, ROWS_AT_A_TIME));
            for (int i = 0; i < n; ++i) index[i] = shares[s + i].node;
            walk(tree, rows, column_stride, n, index);
            for (int i = 0; i < n; ++i) {
                const double weight = shares[s + i].weight;
                if (tree.is_leaf(index[i])) {
                    distribution.add(index[i], weight, out);
                    reach(index[i], weight);
                    continue;
                }
                const Node& node = tree.nodes[index[i]];
                const std::int32_t branch =
                    branch_of(node, tree.category_branch, row[node.feature]);
                if (branch >= 0) {
                    children.push_back({node.first_child + branch, weight});
                    continue;
                }
                distribution.add_leaves_below(index[i], weight, out);
                const std::int32_t leaf = distribution.heaviest_leaf[index[i]];
                if (leaf >= 0) reach(leaf, weight * tree.share[leaf]);
                const std::int32_t stop = distribution.inner_start[index[i] + 1];
                for (std::int32_t c = distribution.inner_start[index[i]]; c < stop; ++c) {
                    const Share& child = distribution.inner_children[c];
                    children.push_back({child.node, weight * child.weight});
                }
            }
        }
    }
    return heaviest;
}

// Appends the nodes that the row, or a share of it, reaches.
template <typename Value>
void path_of_row(const TreeView& tree, const Value* first, std::ptrdiff_t column_stride,
                 std::vector<std::int32_t>& path) {
    const RowView<Value> row{first, column_stride};
    thread_local std::vector<std::int32_t> open;
    open.assign(1, 0);
    while (!open.empty()) {
        const std::int32_t index = open.back();
        open.pop_back();
        path.push_back(index);
        const Node& node = tree.nodes[index];
        if (node.kind == LEAF) continue;
        const std::int32_t branch = branch_of(node, tree.category_branch, row[node.feature]);
        if (branch >= 0) {
            open.push_back(node.first_child + branch);
            continue;
        }
        for (std::int32_t child = node.first_child; child < node.first_child + node.n_children;
             ++child) {
            if (tree.share[child] > 0.0) open.push_back(child);
        }
    }
}

}  // namespace sktree_opt
