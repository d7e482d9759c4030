// What a node's caches know it by instead of its rows: the tests on its path and their outcomes.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.5.1 (branch-based caching), after the
// itemset cache of DL8 (Nijssen and Fromont, KDD 2007).
//   branch, itemset -> sum of literals               f, not f -> literal(column, true / false)
// Deviation: the paper sorts a branch and hashes the array. Here a branch's 128-bit key is the sum
// of random numbers, one for each test and outcome, so that any order of tests has the same one,
// and a child's is made of its parent's by one addition. Two branches share a key by chance only
// (2^-128). Branches with the same rows pass for different problems: this is why row sets
// (row_set.hpp) are the rule, and branches are there to compare with. Time O(1) a child; memory
// O(n_columns).
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/bits/row_set.hpp"

namespace sktree_opt {

struct Branches {
    std::vector<Key> literals;  // [column][outcome]; none: nodes are known by their rows

    void build(int n_columns) {
        literals.resize(2 * static_cast<std::size_t>(n_columns));
        std::uint64_t state = 0xB5297A4D3F84D5B5ull;
        for (Key& literal : literals) {
            literal.low = split_mix(state);
            literal.high = split_mix(state);
        }
    }
    bool are_keys() const { return !literals.empty(); }

    // Key of the branch that goes on with this outcome of a column's test.
    Key extend(Key branch, int column, bool outcome) const {
        return branch + literals[2 * static_cast<std::size_t>(column) + outcome];
    }
};

}  // namespace sktree_opt
