// Bounds and optima of a row set, for a depth and a number of splits.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), sections 4.5.2-4.5.4 (dataset caching; optimal
// values and lower bounds), after the itemset cache of DL8 (Nijssen and Fromont, KDD 2007).
// Deviations: a row set is known by its 128-bit key alone (see row_set.hpp); memory is bounded:
// when the table may not grow, the shallowest entry of a short run of places gives way. A lost
// entry costs time, never the optimum. Tables are split into shards with a lock each, so that
// threads rarely wait for each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sktree_opt/optimal/bits/row_set.hpp"
#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

// A subtree problem: row set, depth, splits.
inline Key problem_key(Key rows, int depth, int splits, int salt) {
    std::uint64_t limits = (static_cast<std::uint64_t>(depth) << 56) +
                           (static_cast<std::uint64_t>(salt) << 32) + static_cast<unsigned>(splits);
    return {rows.low ^ split_mix(limits), rows.high ^ split_mix(limits + HASH_FACTOR)};
}

struct CachedBounds {
    std::uint64_t low = 0, high = 0;
    double bound = 0.0;      // the optimum if exact, else below it
    std::int16_t depth = 0;  // 0: place is empty
    std::int16_t exact = 0;
};

// Optima of a row set with at most 0, 1, 2, 3 splits, depth two; if `depth` is 1, bounds below
// them.
struct SmallOptima {
    std::uint64_t low = 0, high = 0;
    double leaf = 0.0;
    double costs[3] = {};
    std::int64_t depth = 0;  // 0: place is empty
};

class SpinLock {
public:
    void lock() {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

private:
    std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

template <class Entry>
class CacheTable {
public:
    CacheTable(SearchControl& control, std::int64_t max_bytes)
        : control_(control), max_bytes_(max_bytes), shards_(new CacheShard[N_SHARDS]) {}
    ~CacheTable() { control_.reserve(-bytes_.load()); }

    bool find(Key key, Entry& found) {
        CacheShard& shard = shard_of(key);
        const std::lock_guard<SpinLock> guard(shard.lock);
        const Entry* entry = place_of(shard, key);
        const bool hit = entry != nullptr && entry->depth != 0;
        if (hit) found = *entry;
        return hit;
    }

    // Stores `merge(old, new)` if the key is there already.
    template <class Merge>
    void store(Key key, Entry entry, Merge merge) {
        entry.low = key.low;
        entry.high = key.high;
        CacheShard& shard = shard_of(key);
        const std::lock_guard<SpinLock> guard(shard.lock);
        if (shard.used * 4 >= shard.entries.size() * 3) grow(shard);
        Entry* place = place_of(shard, key);
        if (place != nullptr && place->depth != 0) {
            *place = merge(*place, entry);
        } else if (place != nullptr) {
            *place = entry;
            ++shard.used;
        } else if (!shard.entries.empty()) {
            *shallowest(shard, key) = entry;
        }
    }

    std::int64_t bytes() const { return bytes_.load(); }

    std::int64_t n_entries() const {
        std::int64_t count = 0;
        for (int k = 0; k < N_SHARDS; ++k) {
            const std::lock_guard<SpinLock> guard(shards_[k].lock);
            count += static_cast<std::int64_t>(shards_[k].used);
        }
        return count;
    }

private:
    static constexpr int N_SHARDS = 32;
    static constexpr std::size_t N_PLACES = 8;

    struct CacheShard {
        SpinLock lock;
        std::vector<Entry> entries;
        std::size_t used = 0;
    };

    CacheShard& shard_of(Key key) { return shards_[(key.high >> 59) % N_SHARDS]; }
    static std::size_t start(const CacheShard& shard, Key key) {
        return (key.high ^ (key.low >> 7)) & (shard.entries.size() - 1);
    }

    // The entry of the key, or the first free place of its run, or null.
    static Entry* place_of(CacheShard& shard, Key key) {
        if (shard.entries.empty()) return nullptr;
        const std::size_t mask = shard.entries.size() - 1;
        std::size_t at = start(shard, key);
        for (std::size_t k = 0; k < N_PLACES; ++k, at = (at + 1) & mask) {
            Entry& entry = shard.entries[at];
            if (entry.depth == 0 || (entry.low == key.low && entry.high == key.high)) return &entry;
        }
        return nullptr;
    }

    static Entry* shallowest(CacheShard& shard, Key key) {
        const std::size_t mask = shard.entries.size() - 1;
        std::size_t at = start(shard, key);
        Entry* choice = &shard.entries[at];
        for (std::size_t k = 1; k < N_PLACES; ++k) {
            at = (at + 1) & mask;
            if (shard.entries[at].depth < choice->depth) choice = &shard.entries[at];
        }
        return choice;
    }

    void grow(CacheShard& shard) {
        const std::size_t old_size = shard.entries.size();
        const std::size_t size = old_size == 0 ? 16 : 2 * old_size;
        const std::int64_t added = static_cast<std::int64_t>((size - old_size) * sizeof(Entry));
        // Old and new entries exist together for a moment, so twice the memory is asked for.
        const std::int64_t peak = bytes_.load() + 2 * added;
        const bool over_limit = control_.memory_limit >= 0 &&
                                control_.memory_used.load() + 2 * added > control_.memory_limit;
        if (peak > max_bytes_ || over_limit) return;
        std::vector<Entry> old(size);  // may throw, so that nothing is booked before
        old.swap(shard.entries);
        bytes_.fetch_add(added);
        control_.reserve(added);
        shard.used = 0;
        for (const Entry& entry : old) {
            if (entry.depth == 0) continue;
            Entry* place = place_of(shard, {entry.low, entry.high});
            if (place == nullptr) continue;
            *place = entry;
            ++shard.used;
        }
    }

    SearchControl& control_;
    const std::int64_t max_bytes_;
    std::atomic<std::int64_t> bytes_{0};
    std::unique_ptr<CacheShard[]> shards_;
};

// The two tables of a fit.
struct Caches {
    CacheTable<CachedBounds> bounds;
    CacheTable<SmallOptima> small;  // without the cost of splits, and so for all of them
    int salt = 0;                   // bounds: problems of another split cost are other problems
    Caches(SearchControl& control, std::int64_t max_bytes)
        : bounds(control, max_bytes / 2), small(control, max_bytes / 2) {}
};

}  // namespace sktree_opt
