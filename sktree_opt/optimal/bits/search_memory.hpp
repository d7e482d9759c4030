// What a search counts, and what it keeps for the next one.
#pragma once

#include <cstdint>

#include "sktree_opt/optimal/bits/cache.hpp"

namespace sktree_opt {

struct SearchStats {
    std::int64_t n_nodes = 0;           // made, with all their pair counts
    std::int64_t n_sweeps = 0;          // depth-two solutions by counting
    std::int64_t n_small_hits = 0;      // depth-two solutions out of the cache
    std::int64_t n_cache_hits = 0;      // searches answered by the cache
    std::int64_t n_columns = 0;         // columns that could have been the root of a subtree
    std::int64_t n_pruned_columns = 0;  // of these, ruled out by bounds
    void add(const SearchStats& other) {
        n_nodes += other.n_nodes;
        n_sweeps += other.n_sweeps;
        n_small_hits += other.n_small_hits;
        n_cache_hits += other.n_cache_hits;
        n_columns += other.n_columns;
        n_pruned_columns += other.n_pruned_columns;
    }
};

struct Caches {
    CacheTable<Bounds> bounds;
    CacheTable<SmallOptima> small;  // without the cost of splits, and so for all of them
    int salt = 0;                   // bounds: problems of another split cost are other problems
    Caches(SearchControl& control, std::int64_t max_bytes)
        : bounds(control, max_bytes / 2), small(control, max_bytes / 2) {}
};

}  // namespace sktree_opt
