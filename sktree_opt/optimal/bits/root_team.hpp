// What is known at the root: the best tree so far, and what a team of threads shares.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/bits/cache.hpp"
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

namespace sktree_opt {

struct TreeNode {
    std::int32_t column = -1;  // original index; -1: leaf
    std::int32_t with = -1;    // child of the rows that have the column
    std::int32_t without = -1;
};

// The best tree so far.
struct Incumbent {
    double cost = std::numeric_limits<double>::infinity();
    int depth = 2;
    std::vector<TreeNode> nodes;  // none: the best of at most two levels
};

// When a better tree, or a better bound on all trees, was found.
struct Moment {
    double seconds, cost, bound;
};

// A column at the root, solved: how its children share the splits, and what they cost.
struct SolvedColumn {
    int column, depth;
    int budget_true, budget_false;
    double cost_true, cost_false;
};

// Threads at work on the columns of the root: each knows what the others found.
struct SharedRoot {
    std::atomic<double> best;
    double seconds = std::numeric_limits<double>::infinity();  // when to pause
    bool counts_splits = false;  // goes on for smaller trees where one is perfect
    bool is_last = false;        // no deeper trees are asked for, so that bounds are bounds on all
    // One order for all, since `next` hands out places in it: the threads' own bounds differ.
    std::vector<std::int32_t> sequence;
    std::atomic<int> next{0};
    SpinLock lock;
    struct Found {
        int column;
        int budget;
        SolvedSides sides;
    };
    std::vector<Found> found;
    // What has been found since the first `n` of them.
    std::vector<Found> found_since(std::size_t n) {
        const std::lock_guard<SpinLock> guard(lock);
        return {found.begin() + static_cast<std::ptrdiff_t>(n), found.end()};
    }
    Incumbent incumbent;
    double bound = 0.0;
    std::vector<Moment> moments;
};

}  // namespace sktree_opt
