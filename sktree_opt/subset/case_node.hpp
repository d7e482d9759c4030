// What the lattice of case sets (lattice.hpp) is made of: nodes, their rankings, and how they are found
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/subset/subset_problem.hpp"

namespace sktree_opt::subset {

// Search rows at a case set, in the order of their numbers.
struct SearchRows {
    std::vector<std::uint32_t> whole;   // took one path
    std::vector<std::uint32_t> shared;  // missed a tested value: also elsewhere, with other shares
    std::vector<double> shares;         // of `shared`
};

struct CaseNode;

using FeatureList = std::shared_ptr<const std::vector<std::int32_t>>;

// A feature in the ranking of a node, with its split in codes of the column.
struct RankedSplit {
    std::int32_t feature = -1;
    std::uint32_t low = 0, high = 0;
    std::uint32_t n_children = 0;  // 0: not taken yet
    std::unique_ptr<CaseNode*[]> children;
};

// The children of a node; n = 0 when the search was stopped.
struct Children {
    CaseNode* const* nodes = nullptr;
    std::uint32_t n = 0;
};

struct CaseNode {
    greedy::CaseSet cases;
    SearchRows search;
    Cost leaf_cost = 0;        // of the whole search rows, if this is a leaf
    std::uint32_t label = 0;
    std::uint32_t n_pins = 0;
    std::uint16_t part = 0;
    std::uint16_t depth = 0;
    bool stops = false;        // a leaf whatever the features
    bool is_reached = false;   // by some search row
    bool ranked_all = false;   // `ranking` has all features with a valid split
    bool has_bound = false;    // `bound` is known (subset_bounds.hpp)
    Cost bound = 0;
    std::uint64_t left_out = 0;          // units whose features have not been ranked
    std::vector<double> frequencies;     // of the classes; only where shared rows need them
    std::vector<RankedSplit> ranking;    // best first
    std::vector<Cost> split_bounds;      // by position in the ranking; negative: unknown
    FeatureList varying;                 // features that may have a split; null: all
    bool owns_varying = false;           // else it is an ancestor's

    std::int64_t n_bytes() const {
        return static_cast<std::int64_t>(
            sizeof(CaseNode) + 64 + 4 * cases.rows.capacity() + 8 * cases.weights.capacity() +
            4 * search.whole.capacity() + 12 * search.shared.capacity() +
            8 * frequencies.capacity() + sizeof(RankedSplit) * ranking.capacity() +
            8 * split_bounds.capacity() + (owns_varying ? 4 * varying->size() : 0));
    }
};

struct LatticeKey {
    std::uint64_t low = 0, high = 0;
    bool operator==(const LatticeKey& other) const {
        return low == other.low && high == other.high;
    }
};

struct LatticeKeyHash {
    std::size_t operator()(const LatticeKey& key) const { return key.low; }
};

// splitmix64: the hash of a case set is the sum of its rows' hashes, so equal sets are equal.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

struct LatticeStats {
    std::int64_t n_case_sets = 0;   // made
    std::int64_t n_found = 0;       // found again by their hash
    std::int64_t n_rankings = 0;
    std::int64_t n_clearings = 0;
    std::int64_t peak_bytes = 0;

    void add(const LatticeStats& other) {
        n_case_sets += other.n_case_sets;
        n_found += other.n_found;
        n_rankings += other.n_rankings;
        n_clearings += other.n_clearings;
        peak_bytes += other.peak_bytes;
    }
};

}  // namespace sktree_opt::subset
