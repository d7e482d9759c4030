// Rows of a table down a tree.
//
// A row takes one path, unless it misses the value of a tested feature at a node that sends missing
// values down every branch by weight: then it ends in several leaves, each with a share of it.
//
// Why it is fast: the walk reads a 16-byte copy of each node (a quarter of a cache line); it computes
// the child's index instead of branching on the outcome or the kind of test, which no processor could
// foresee; and it takes ROWS_ABREAST rows down together, so that the loads of one hide behind those
// of the others. A leaf is a node that leads to itself: rows that have arrived just wait for the
// rest, and a missing value lets them wait too. A row whose value a test's copy does not tell about
// is walked again, by the records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/tree/_node.hpp"

namespace sktree_opt {

struct WalkNode {
    double threshold;         // of a test of a category: the number of categories
    std::int32_t feature;     // of a test of a category: its complement; of a leaf: its parent's
    std::int32_t first_child; // at a leaf, the leaf itself; of a test of a category: see child_of
};
constexpr std::int32_t BY_RECORD = -1;  // a child that only the record tells
constexpr int ROWS_ABREAST = 8, STEPS_ABREAST = 4, ROWS_AT_A_TIME = 64;

struct TreeView {
    const Node* nodes;
    const std::int32_t* category_branch;
    std::vector<WalkNode> walk;
    std::vector<double> share;            // of a row that a node's parent distributes
    std::vector<std::int32_t> child_of;   // missing, codes 0, 1, ..., and an unknown code
    bool all_numeric = true;
    bool always_distributes = true;       // a missing value, at every node

    TreeView(const Node* nodes_, std::size_t n_nodes, const std::int32_t* category_branch_)
        : nodes(nodes_), category_branch(category_branch_), walk(n_nodes), share(n_nodes, 1.0),
          child_of(1, BY_RECORD) {
        walk[0] = leaf(0, 0);
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const Node& node = nodes[i];
            if (node.kind == LEAF) continue;
            if (node.kind == IS_MISSING || node.missing_branch >= 0) always_distributes = false;
            if (node.kind == NUMERIC || node.kind == IS_MISSING) {
                const bool numeric = node.kind == NUMERIC;
                walk[i] = {numeric ? node.threshold : -infinity, node.feature, node.first_child};
            } else {
                add_category_test(i);
            }
            double total = 0.0;
            for (std::int32_t b = 0; b < node.n_children; ++b)
                total += nodes[node.first_child + b].weight;
            // Children come after their parent, and overwrite this if they are tests.
            for (std::int32_t child = node.first_child; child < node.first_child + node.n_children;
                 ++child) {
                walk[child] = leaf(child, node.feature);
                share[child] = nodes[child].weight / total;
            }
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static WalkNode leaf(std::int32_t index, std::int32_t feature) {
        return {infinity, feature, index};
    }

    void add_category_test(std::size_t index) {
        const Node& node = nodes[index];
        all_numeric = false;
        walk[index] = {static_cast<double>(node.n_categories), ~node.feature,
                       static_cast<std::int32_t>(child_of.size())};
        child_of.push_back(BY_RECORD);
        for (std::int32_t c = 0; c < node.n_categories; ++c)
            child_of.push_back(node.first_child + category_branch[node.category_start + c]);
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

// The leaf of a row that takes one path; -1 for one that is distributed.
template <typename Value>
std::int32_t walk_by_record(const TreeView& tree, const RowView<Value>& row) {
    std::int32_t index = 0;
    while (tree.nodes[index].kind != LEAF) {
        const Node& node = tree.nodes[index];
        const std::int32_t branch = branch_of(node, tree.category_branch, row[node.feature]);
        if (branch < 0) return -1;
        index = node.first_child + branch;
    }
    return index;
}

// The node after `node` for the value `x`; BY_RECORD for a category that is missing or unknown.
inline std::int32_t next_of(const TreeView& tree, const WalkNode& node, double x) {
    const bool by_category = node.feature < 0;
    // In this order, a missing value becomes -1 too.
    const double bounded = x > -1.0 ? std::min(x, node.threshold) : -1.0;
    const std::int32_t slot = by_category ? static_cast<std::int32_t>(bounded) + 1 : 0;
    const std::int32_t child = tree.child_of[by_category ? node.first_child + slot : 0];
    return by_category ? child : node.first_child + (x > node.threshold);
}

// Takes ROWS_ABREAST rows some steps down together. Returns nothing that depends on a row: rows that
// have arrived stay, rows whose value the copy of a node does not tell about are marked.
template <bool mixed, typename Value>
void walk_abreast(const TreeView& tree, const Value* const* rows, std::ptrdiff_t column_stride,
                  std::int32_t* index, std::int32_t* before, std::uint8_t* unclear) {
    const WalkNode* walk = tree.walk.data();
    for (int step = 0; step < STEPS_ABREAST; ++step) {
        for (int r = 0; r < ROWS_ABREAST; ++r) {
            const std::int32_t now = index[r];
            const WalkNode& node = walk[now];
            const std::int32_t feature = mixed ? node.feature ^ (node.feature >> 31) : node.feature;
            const double x = static_cast<double>(rows[r][feature * column_stride]);
            std::int32_t next = mixed ? next_of(tree, node, x)
                                      : node.first_child + (x > node.threshold);
            unclear[r] |= (x != x) | (mixed && next < 0);
            if (mixed) next = next < 0 ? now : next;
            before[r] = now;
            index[r] = next;
        }
    }
}

// Writes the leaf of each of at most ROWS_AT_A_TIME rows; -1 for a row that is distributed. Rows that
// are still under way after some steps close ranks, so that deep paths do not hold up the others.
template <bool mixed, typename Value>
void walk_block(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
                std::ptrdiff_t column_stride, int n_rows, std::int32_t* leaves) {
    int under_way[ROWS_AT_A_TIME + ROWS_ABREAST];
    bool again[ROWS_AT_A_TIME] = {};
    for (int r = 0; r < n_rows; ++r) {
        under_way[r] = r;
        leaves[r] = 0;
    }
    for (int n_under_way = n_rows; n_under_way > 0;) {
        int n_left = 0;
        for (int first = 0; first < n_under_way; first += ROWS_ABREAST) {
            const int n_lanes = std::min(ROWS_ABREAST, n_under_way - first);
            const Value* rows[ROWS_ABREAST];
            std::int32_t index[ROWS_ABREAST], before[ROWS_ABREAST];
            std::uint8_t unclear[ROWS_ABREAST] = {};
            for (int r = 0; r < ROWS_ABREAST; ++r) {
                // Lanes without a row of their own walk beside the first one.
                const int row = under_way[first + (r < n_lanes ? r : 0)];
                rows[r] = values + row * row_stride;
                index[r] = leaves[row];
            }
            walk_abreast<mixed>(tree, rows, column_stride, index, before, unclear);
            for (int r = 0; r < n_lanes; ++r) {
                const int row = under_way[first + r];
                leaves[row] = index[r];
                again[row] |= unclear[r] != 0;
                under_way[n_left] = row;
                n_left += index[r] != before[r];
            }
        }
        n_under_way = n_left;
    }
    for (int r = 0; r < n_rows; ++r)
        if (again[r])
            leaves[r] = tree.always_distributes
                            ? -1
                            : walk_by_record(tree, RowView<Value>{values + r * row_stride,
                                                                  column_stride});
}

template <bool mixed, typename Value>
void walk_rows(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
               std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop,
               std::int32_t* leaves) {
    for (std::int64_t i = start; i < stop; i += ROWS_AT_A_TIME)
        walk_block<mixed>(tree, values + i * row_stride, row_stride, column_stride,
                          static_cast<int>(std::min<std::int64_t>(stop - i, ROWS_AT_A_TIME)),
                          leaves + i);
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
        for (std::int32_t b = node.n_children - 1; b >= 0; --b) {
            const double part = tree.share[node.first_child + b];
            if (part > 0.0) stack.push_back({node.first_child + b, share.weight * part});
        }
    }
}

template <typename Value>
void apply_rows(const TreeView& tree, const Value* values, std::ptrdiff_t row_stride,
                std::ptrdiff_t column_stride, std::int64_t start, std::int64_t stop,
                std::int32_t* leaves) {
    // A lone leaf tests nothing, and its table may have no column to read.
    if (tree.walk.size() == 1) {
        std::fill(leaves + start, leaves + stop, 0);
        return;
    }
    const auto walk = tree.all_numeric ? walk_rows<false, Value> : walk_rows<true, Value>;
    walk(tree, values, row_stride, column_stride, start, stop, leaves);
}

// What rows get from the nodes that distribute them. Most children of such a node are leaves: what
// they give together is added up beforehand, and a row visits the others only.
struct Distribution {
    const TreeView& tree;
    const double* leaf_values;
    std::int32_t n_outputs;
    std::vector<double> from_leaves;          // by node: share x values of its leaf children
    std::vector<std::int32_t> heaviest_leaf;  // of these children; -1 if no one is a leaf
    std::vector<std::int32_t> inner_start, inner_children;

    Distribution(const TreeView& tree_, std::size_t n_nodes, const double* leaf_values_,
                 std::int32_t n_outputs_)
        : tree(tree_), leaf_values(leaf_values_), n_outputs(n_outputs_),
          from_leaves(n_nodes * n_outputs_, 0.0), heaviest_leaf(n_nodes, -1) {
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const Node& node = tree.nodes[i];
            inner_start.push_back(static_cast<std::int32_t>(inner_children.size()));
            for (std::int32_t child = node.first_child; child < node.first_child + node.n_children;
                 ++child) {
                if (!(tree.share[child] > 0.0)) continue;
                if (tree.nodes[child].kind != LEAF) {
                    inner_children.push_back(child);
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
template <typename Value>
std::int32_t distribute_row(const Distribution& distribution, const Value* first,
                            std::ptrdiff_t column_stride, double* out) {
    const TreeView& tree = distribution.tree;
    const RowView<Value> row{first, column_stride};
    const std::int32_t n_outputs = distribution.n_outputs;
    thread_local std::vector<Share> stack;
    std::int32_t heaviest = -1;
    double most = -1.0;
    const auto reach = [&](std::int32_t leaf, double weight) {
        if (weight > most) {
            most = weight;
            heaviest = leaf;
        }
    };
    std::fill(out, out + n_outputs, 0.0);
    stack.assign(1, {0, 1.0});
    while (!stack.empty()) {
        auto [index, weight] = stack.back();
        stack.pop_back();
        std::int32_t branch = 0;
        while (tree.nodes[index].kind != LEAF) {
            const Node& node = tree.nodes[index];
            branch = branch_of(node, tree.category_branch, row[node.feature]);
            if (branch < 0) break;
            index = node.first_child + branch;
        }
        if (branch >= 0) {
            distribution.add(index, weight, out);
            reach(index, weight);
            continue;
        }
        distribution.add_leaves_below(index, weight, out);
        const std::int32_t leaf = distribution.heaviest_leaf[index];
        if (leaf >= 0) reach(leaf, weight * tree.share[leaf]);
        const std::int32_t start = distribution.inner_start[index];
        for (std::int32_t c = distribution.inner_start[index + 1]; c-- > start;) {
            const std::int32_t child = distribution.inner_children[c];
            stack.push_back({child, weight * tree.share[child]});
        }
    }
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
