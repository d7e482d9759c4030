// The cache of graph_search.hpp: the least cost of a tree for some rows within some limits.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "sktree_opt/optimal/tree_sets/set_rows.hpp"

namespace sktree_opt {

// Minimum costs by rows and depth, or bounds of them, in stripes with a lock each.
class LeastCosts {
public:
    struct Known {
        double lower = 0.0;
        bool is_exact = false;
    };
    static constexpr std::int64_t BYTES = 80;

    bool find(const RowKey& key, Known& known) {
        Shard& shard = shards_[key.low % N_SHARDS];
        const std::lock_guard<std::mutex> lock(shard.mutex);
        const auto found = shard.known.find(key);
        if (found == shard.known.end()) return false;
        known = found->second;
        return true;
    }
    // Whether the key is new.
    bool store(const RowKey& key, const Known& known) {
        Shard& shard = shards_[key.low % N_SHARDS];
        const std::lock_guard<std::mutex> lock(shard.mutex);
        const auto [at, is_new] = shard.known.try_emplace(key, known);
        if (known.is_exact || known.lower > at->second.lower) at->second = known;
        return is_new;
    }

private:
    static constexpr int N_SHARDS = 64;
    struct Hash {
        std::size_t operator()(const RowKey& key) const {
            return static_cast<std::size_t>(key.high);
        }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<RowKey, Known, Hash> known;
    };
    std::array<Shard, N_SHARDS> shards_;
};

}  // namespace sktree_opt
