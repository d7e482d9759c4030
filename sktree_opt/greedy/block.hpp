// A case set of fewer than 2^16 cases with every column already in order, shared by a whole subtree.
//
// Sorting is done once, at the root of the subtree. Each column is one row of `entries`; a node is the
// same range [start, start + n) in every row, and holds its cases there in the order of the column.
// Splitting a node partitions each row of its range stably, so children are in order without sorting
// (the idea of SPRINT, Shafer et al., VLDB 1996). Subtrees work on disjoint ranges: threads share the
// block without locks.
// Memory: 4 bytes for each case and column.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/case_set.hpp"
#include "sktree_opt/greedy/ordering.hpp"
#include "sktree_opt/greedy/partition.hpp"

namespace sktree_opt::greedy {

// Targets of the rows of a case set, by position.
struct GatheredTargets {
    std::vector<std::uint16_t> classes;
    std::vector<double> values;

    void gather(const Target& target, const std::vector<std::uint32_t>& rows) {
        classes.clear();
        values.clear();
        if (target.is_classification()) {
            classes.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) classes[i] = target.classes[rows[i]];
        } else {
            values.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = target.values[rows[i]];
        }
    }
    Cases cases(const CaseSet& set) const {
        return {classes.data(), values.data(), set.weights.empty() ? nullptr : set.weights.data()};
    }
};

struct Block {
    Block(CaseSet&& case_set, const Target& target, std::vector<std::int32_t> features)
        : set(std::move(case_set)), columns(std::move(features)) {
        targets.gather(target, set.rows);
        entries.reset(new std::uint32_t[columns.size() * static_cast<std::size_t>(set.size())]);
    }

    CaseSet set;
    GatheredTargets targets;
    std::vector<std::int32_t> columns;  // feature of each row of `entries`
    std::unique_ptr<std::uint32_t[]> entries;

    Cases cases() const { return targets.cases(set); }
    std::uint32_t* segment(std::int32_t slot, std::uint32_t start) const {
        return entries.get() + static_cast<std::size_t>(slot) * set.size() + start;
    }
};

// The cases of a node of a block, in the order of one column.
struct SegmentPositions {
    const std::uint32_t* entries;
    std::uint32_t n;
    template <class F>
    void for_each(F&& visit) const {
        for (std::uint32_t i = 0; i < n; ++i) visit(index_of(entries[i]));
    }
};

// Where each branch's cases start within the node's range: branches that are grown further first.
struct BranchRanges {
    std::vector<std::uint32_t> start;  // by branch
    std::uint32_t n_kept = 0;

    void build(const std::vector<NodeTotals>& totals, const std::vector<char>& is_grown) {
        start.resize(totals.size());
        std::uint32_t next = 0;
        for (int grown = 1; grown >= 0; --grown) {
            for (std::size_t b = 0; b < totals.size(); ++b) {
                if ((is_grown[b] != 0) != (grown != 0)) continue;
                start[b] = next;
                next += static_cast<std::uint32_t>(totals[b].n_samples);
            }
            if (grown == 1) n_kept = next;
        }
    }
};

// Two branches, branch-free: every case is written to both streams and only its own moves on.
inline void partition_in_two(std::uint32_t* segment, std::uint32_t n, const std::uint16_t* branch_of,
                             std::uint16_t first, std::uint32_t* spare, bool keep_second) {
    std::uint32_t n_first = 0, n_second = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t entry = segment[i];
        const bool second = branch_of[index_of(entry)] != first;
        segment[n_first] = entry;
        spare[n_second] = entry;
        n_first += !second;
        n_second += second;
    }
    if (keep_second) std::memcpy(segment + n_first, spare, n_second * sizeof(std::uint32_t));
}

// Stable partition of one column's range; the order within branches that are not kept is lost.
inline void partition_segment(std::uint32_t* segment, std::uint32_t n,
                              const std::uint16_t* branch_of, const BranchRanges& ranges,
                              std::uint32_t* spare, std::vector<std::uint32_t>& next) {
    if (ranges.start.size() == 2) {
        const std::uint16_t first = ranges.start[0] == 0 ? 0 : 1;
        partition_in_two(segment, n, branch_of, first, spare, ranges.n_kept == n);
        return;
    }
    next = ranges.start;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t entry = segment[i];
        spare[next[branch_of[index_of(entry)]]++] = entry;
    }
    std::memcpy(segment, spare, ranges.n_kept * sizeof(std::uint32_t));
}

}  // namespace sktree_opt::greedy
