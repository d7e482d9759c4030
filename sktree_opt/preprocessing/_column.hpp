// A column of an encoded table as every kernel reads it, and the ranking that makes one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sktree_opt {

struct ColumnView {
    const void* codes = nullptr;      // n_rows codes of `itemsize` bytes
    std::uint8_t itemsize = 1;        // 1, 2 or 4
    std::uint8_t is_nominal = 0;      // codes are categories, not ranks
    std::uint8_t has_missing = 0;
    std::uint32_t n_values = 0;       // codes are below it; this code itself means missing
    std::int32_t representative = 0;  // first column with equal content; itself if there is none
};

// Reads row `row` whatever the width; kernels that scan whole columns dispatch on itemsize once.
inline std::uint32_t code_at(const ColumnView& column, std::size_t row) {
    switch (column.itemsize) {
        case 1: return static_cast<const std::uint8_t*>(column.codes)[row];
        case 2: return static_cast<const std::uint16_t*>(column.codes)[row];
        default: return static_cast<const std::uint32_t*>(column.codes)[row];
    }
}

struct RankingEntry {
    std::uint64_t key;
    std::uint32_t row;
};

// The order of doubles as the order of unsigned integers; -0.0 and 0.0 are made equal first.
inline std::uint64_t ordered_bits(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return (bits >> 63) ? ~bits : bits | (std::uint64_t{1} << 63);
}

// Sorts by key. A byte that is the same in all keys costs one pass of counting and none of moving:
// measurements with few digits, integers and float32 values have several of those.
inline void radix_sort(std::vector<RankingEntry>& entries, std::vector<RankingEntry>& buffer) {
    const std::size_t n = entries.size();
    if (n < 512) {
        std::sort(entries.begin(), entries.end(), [](const RankingEntry& a, const RankingEntry& b) {
            return a.key < b.key;
        });
        return;
    }
    buffer.resize(n);
    std::vector<std::uint32_t> counts(8 * 256, 0);
    for (const RankingEntry& entry : entries)
        for (int digit = 0; digit < 8; ++digit)
            ++counts[digit * 256 + ((entry.key >> (8 * digit)) & 255)];
    for (int digit = 0; digit < 8; ++digit) {
        std::uint32_t* count = &counts[digit * 256];
        if (count[(entries[0].key >> (8 * digit)) & 255] == n) continue;
        std::uint32_t start = 0;
        for (int bucket = 0; bucket < 256; ++bucket) {
            const std::uint32_t size = count[bucket];
            count[bucket] = start;
            start += size;
        }
        for (const RankingEntry& entry : entries)
            buffer[count[(entry.key >> (8 * digit)) & 255]++] = entry;
        entries.swap(buffer);
    }
}

// Ranks of `n` values `stride` elements apart: ranks[row] in 0..n_distinct-1, missing (NaN) rows get
// n_distinct, `distinct` the sorted distinct values. Returns the number of missing values.
template <typename Value>
std::size_t rank_values(const Value* values, std::ptrdiff_t stride, std::size_t n,
                        std::vector<std::uint32_t>& ranks, std::vector<double>& distinct) {
    std::vector<RankingEntry> entries, buffer;
    entries.reserve(n);
    ranks.resize(n);
    distinct.clear();
    for (std::size_t row = 0; row < n; ++row) {
        const double value = static_cast<double>(values[static_cast<std::ptrdiff_t>(row) * stride]);
        if (!std::isnan(value))
            entries.push_back({ordered_bits(value), static_cast<std::uint32_t>(row)});
    }
    radix_sort(entries, buffer);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i == 0 || entries[i].key != entries[i - 1].key)
            distinct.push_back(
                static_cast<double>(
                    values[static_cast<std::ptrdiff_t>(entries[i].row) * stride]) + 0.0);
        ranks[entries[i].row] = static_cast<std::uint32_t>(distinct.size() - 1);
    }
    const std::size_t n_missing = n - entries.size();
    if (n_missing > 0) {
        const std::uint32_t missing = static_cast<std::uint32_t>(distinct.size());
        for (std::size_t row = 0; row < n; ++row)
            if (std::isnan(static_cast<double>(values[static_cast<std::ptrdiff_t>(row) * stride])))
                ranks[row] = missing;
    }
    return n_missing;
}

// Category codes stored as floats: ranks[row] = code, missing rows get n_categories.
template <typename Value>
std::size_t copy_codes(const Value* values, std::ptrdiff_t stride, std::size_t n,
                       std::uint32_t n_categories, std::vector<std::uint32_t>& ranks) {
    std::size_t n_missing = 0;
    ranks.resize(n);
    for (std::size_t row = 0; row < n; ++row) {
        const double value = static_cast<double>(values[static_cast<std::ptrdiff_t>(row) * stride]);
        if (std::isnan(value)) {
            ranks[row] = n_categories;
            ++n_missing;
        } else {
            ranks[row] = static_cast<std::uint32_t>(value);
        }
    }
    return n_missing;
}

// Narrows to `itemsize` bytes and hashes what was written (FNV-1a on codes).
template <typename Code>
std::uint64_t narrow_codes(const std::vector<std::uint32_t>& ranks, Code* out) {
    std::uint64_t hash = 1469598103934665603ull;
    for (std::size_t row = 0; row < ranks.size(); ++row) {
        out[row] = static_cast<Code>(ranks[row]);
        hash = (hash ^ ranks[row]) * 1099511628211ull;
    }
    return hash;
}

inline std::uint64_t narrow_codes(const std::vector<std::uint32_t>& ranks, void* out, int itemsize) {
    if (itemsize == 1) return narrow_codes(ranks, static_cast<std::uint8_t*>(out));
    if (itemsize == 2) return narrow_codes(ranks, static_cast<std::uint16_t*>(out));
    return narrow_codes(ranks, static_cast<std::uint32_t*>(out));
}

inline bool same_codes(const ColumnView& a, const ColumnView& b, std::size_t n_rows) {
    return a.itemsize == b.itemsize && a.n_values == b.n_values && a.is_nominal == b.is_nominal &&
           std::memcmp(a.codes, b.codes, n_rows * a.itemsize) == 0;
}

}  // namespace sktree_opt
