// A node of a fitted tree: the record that numpy stores and kernels read (NODE_DTYPE in _node.py).
#pragma once

#include <cstdint>

namespace sktree_opt {

enum NodeKind : std::uint8_t {
    LEAF = 0,
    NUMERIC = 1,            // branch 0 when x <= threshold, else branch 1
    CATEGORY_MULTIWAY = 2,  // a branch for each category
    CATEGORY_ONE = 3,       // branch 0 when x is one given category
    CATEGORY_SUBSET = 4,    // branch 0 when x is in a set of categories
    IS_MISSING = 5,         // branch 0 when x is missing
};

struct Node {
    std::uint8_t kind;
    std::uint8_t pad[3];
    std::int32_t missing_branch;  // -1: a missing value goes down every branch by weight
    std::int32_t feature;         // -1 at leaves
    std::int32_t first_child;     // children are contiguous and come after their parent
    std::int32_t n_children;      // 0 at leaves
    std::int32_t category_start;  // category c takes branch category_branch[category_start + c]
    std::int32_t n_categories;
    std::int32_t pad2;
    double threshold;
    double impurity;
    double weight;           // sum of sample weights, fractional cases included
    std::int64_t n_samples;  // rows that reach the node, with whatever weight
};
static_assert(sizeof(Node) == 64, "NODE_DTYPE has the same layout");

}  // namespace sktree_opt
