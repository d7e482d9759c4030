// A tree being grown: node records as the public Tree keeps them, plus what the kernels still need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/case_set.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

// A leaf that nothing has reached yet.
inline Node blank_node() {
    Node node{};
    node.missing_branch = node.feature = node.first_child = node.category_start = -1;
    node.threshold = std::numeric_limits<double>::quiet_NaN();
    return node;
}

struct GrownTree {
    std::uint32_t n_outputs = 1;
    std::vector<Node> nodes;
    std::vector<double> values;  // n_outputs for each node
    std::vector<std::uint32_t> codes;  // of a numeric test: the last code of branch 0
    std::vector<std::int32_t> category_branch;

    std::int32_t size() const { return static_cast<std::int32_t>(nodes.size()); }
    double* outputs(std::int32_t node) {
        return values.data() + static_cast<std::size_t>(node) * n_outputs;
    }

    std::int32_t add_node() {
        nodes.push_back(blank_node());
        values.resize(values.size() + n_outputs, 0.0);
        codes.push_back(0);
        return size() - 1;
    }

    void set_totals(std::int32_t node, const NodeTotals& totals) {
        nodes[node].weight = totals.weight;
        nodes[node].n_samples = totals.n_samples;
        nodes[node].impurity = totals.impurity;
        std::copy(totals.outputs.begin(), totals.outputs.end(), outputs(node));
    }

    // An empty leaf predicts what its parent does.
    void set_empty(std::int32_t node, std::int32_t parent) {
        std::copy(outputs(parent), outputs(parent) + n_outputs, outputs(node));
        nodes[node].impurity = nodes[parent].impurity;
    }

    // Gives `node` its split and new children; returns the first.
    std::int32_t split_node(std::int32_t node, const Split& split) {
        const std::int32_t first = size();
        for (std::uint32_t b = 0; b < split.n_branches; ++b) add_node();
        Node& record = nodes[node];
        record.kind = static_cast<std::uint8_t>(split.kind);
        record.feature = split.feature;
        record.first_child = first;
        record.n_children = static_cast<std::int32_t>(split.n_branches);
        record.threshold = split.threshold;
        codes[node] = split.low;
        if (split.kind != SplitKind::NUMERIC) {
            record.category_start = static_cast<std::int32_t>(category_branch.size());
            record.n_categories = static_cast<std::int32_t>(split.branch_of_category.size());
            category_branch.insert(category_branch.end(), split.branch_of_category.begin(),
                                   split.branch_of_category.end());
        }
        return first;
    }

    void make_leaf(std::int32_t node) {
        Node leaf = blank_node();
        leaf.impurity = nodes[node].impurity;
        leaf.weight = nodes[node].weight;
        leaf.n_samples = nodes[node].n_samples;
        nodes[node] = leaf;
    }

    // Where the codes of an inner node go.
    void get_split(std::int32_t node, Split& split) const {
        const Node& record = nodes[node];
        split.kind = static_cast<SplitKind>(record.kind);
        split.feature = record.feature;
        split.low = codes[node];
        split.threshold = record.threshold;
        split.n_branches = static_cast<std::uint32_t>(record.n_children);
        split.branch_of_category.clear();
        if (record.n_categories > 0) {
            const auto start = category_branch.begin() + record.category_start;
            split.branch_of_category.assign(start, start + record.n_categories);
        }
    }

    // Puts a tree grown apart in the place of a leaf of this one.
    void graft(std::int32_t node, const GrownTree& other) {
        const std::int32_t shift = size() - 1;
        const auto category_shift = static_cast<std::int32_t>(category_branch.size());
        for (std::int32_t i = 0; i < other.size(); ++i) {
            Node record = other.nodes[i];
            if (record.first_child >= 0) record.first_child += shift;
            if (record.category_start >= 0) record.category_start += category_shift;
            const std::int32_t to = i == 0 ? node : add_node();
            nodes[to] = record;
            codes[to] = other.codes[i];
            const double* from = other.values.data() + static_cast<std::size_t>(i) * n_outputs;
            std::copy(from, from + n_outputs, outputs(to));
        }
        category_branch.insert(category_branch.end(), other.category_branch.begin(),
                               other.category_branch.end());
    }

    // The same tree with the nodes that the root reaches, siblings together, else depth first: the
    // order in which the nodes were made (hence the number of threads) leaves no trace.
    GrownTree in_order() const {
        GrownTree tree;
        tree.n_outputs = n_outputs;
        tree.add_node();
        std::vector<std::pair<std::int32_t, std::int32_t>> stack{{0, 0}};  // (here, there)
        while (!stack.empty()) {
            const auto [from, to] = stack.back();
            stack.pop_back();
            Node record = nodes[from];
            const double* value = values.data() + static_cast<std::size_t>(from) * n_outputs;
            std::copy(value, value + n_outputs, tree.outputs(to));
            tree.codes[to] = codes[from];
            if (record.category_start >= 0) {
                const auto start = category_branch.begin() + record.category_start;
                record.category_start = static_cast<std::int32_t>(tree.category_branch.size());
                tree.category_branch.insert(tree.category_branch.end(), start,
                                            start + record.n_categories);
            }
            if (record.n_children > 0) {
                const std::int32_t old_first = record.first_child;
                record.first_child = tree.size();
                for (std::int32_t b = 0; b < record.n_children; ++b) tree.add_node();
                for (std::int32_t b = record.n_children; b-- > 0;) {
                    stack.emplace_back(old_first + b, record.first_child + b);
                }
            }
            tree.nodes[to] = record;
        }
        return tree;
    }
};

}  // namespace sktree_opt::greedy
