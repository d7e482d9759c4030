// All that is known of a node whose columns have few values: where its tables stand, what trees
// cost almost, and what good ones cost.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "sktree_opt/optimal/thresholds/rough_tables.hpp"
#include "sktree_opt/optimal/thresholds/value_trees.hpp"

namespace sktree_opt::thresholds {

struct PairTables {
    explicit PairTables(InstructionSet set) : rough(set) {}

    // `has_others` as in RoughTables::open(). False when a limit ended it.
    bool open(const Problem& problem, const NodeRows& node, bool has_others, Watch& watch) {
        layout.list(node);
        rows.resize(node.n);
        std::iota(rows.begin(), rows.end(), 0);
        return booking.set(watch.control(), layout.n_bytes() + bytes_of(rows)) &&
               trees.open(problem, node, layout, watch.control()) &&
               rough.open(problem, node, layout, rows, has_others, watch);
    }

    PairLayout layout;
    RoughTables rough;
    ValueTrees trees;
    std::vector<std::uint32_t> rows;  // all of them
    Booking booking;
};

}  // namespace sktree_opt::thresholds
