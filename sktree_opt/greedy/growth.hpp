// What a growing tree is made of besides its nodes: limits, nodes still open, and scratch memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/greedy/block.hpp"
#include "sktree_opt/greedy/measures.hpp"
#include "sktree_opt/greedy/ordering.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

struct GrowthLimits {
    double min_split_weight = 2.0;
    std::int32_t max_depth = 0x7fffffff;
    std::int32_t max_leaf_nodes = 0;  // 0: no limit, depth first
    int n_threads = 1;
    std::uint32_t max_block_cases = MAX_SHORT_CASES;  // tests lower it
    std::int64_t min_parallel_work = 100000;          // cases x columns
};

// A node whose split is still to be looked for: a case set, or a range of a block.
struct PendingNode {
    std::int32_t node = 0;
    std::int32_t depth = 0;
    NodeTotals totals;
    std::shared_ptr<const std::vector<std::int32_t>> active;  // features, or slots of the block
    std::shared_ptr<Block> block;
    std::uint32_t start = 0;
    CaseSet set;  // when there is no block

    std::uint32_t n_cases() const { return static_cast<std::uint32_t>(totals.n_samples); }
    std::int64_t work() const { return totals.n_samples * static_cast<std::int64_t>(active->size()); }
};

// What one thread works with.
struct GrowthWorkspace {
    OrderingWorkspace ordering;
    SideMemory sides;
    std::vector<std::uint64_t> long_entries;
    std::vector<std::uint32_t> spare, next;
    std::vector<SplitCandidate> candidates;  // by position in PendingNode::active
    std::vector<char> varies;                // likewise: more than one known value
    std::vector<std::uint16_t> block_branches;
    std::vector<std::uint32_t> branches;
    std::vector<NodeTotals> totals;  // by branch
    std::vector<double> shares;
    std::vector<char> is_grown;
    BranchRanges ranges;
    GatheredTargets targets;
    Split split;
};

}  // namespace sktree_opt::greedy
