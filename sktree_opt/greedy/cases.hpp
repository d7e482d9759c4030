// What a greedy learner looks at: columns of codes, the cases at a node, and their targets.
//
// Columns are those of an encoded table (preprocessing/ranked_column.hpp): ranks of numbers, codes
// of categories. Rank order is value order, so searches never see the values themselves.
//
// A case set is a list of distinct rows, each with a weight. Weights are 1 (`weights` is empty)
// until sample weights are given or a row with a missing value has gone down several branches.
//
// Cases in the order of one column: exact, the input of every split search.
//
// An entry packs the rank of a case's value (upper half) and the case's position (lower half), so
// that sorting entries sorts cases by value, then by position. Nodes of fewer than 2^16 cases use
// 32-bit entries: where a column has more distinct values than 16 bits can tell apart, the ranks
// are made dense again among the cases at hand. Missing values come last, with all rank bits set.
//
// Sorting is by radix on the rank bits alone (positions are already in order and the sort is
// stable): linear in the cases. Short lists are sorted by insertion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/preprocessing/ranked_column.hpp"

namespace sktree_opt::greedy {

struct Column : ColumnView {
    const double* values = nullptr;  // numeric: the value of each rank

    Column(const ColumnView& view, const double* values_of_ranks)
        : ColumnView(view), values(values_of_ranks) {}
};

// Calls f with the column's codes as a pointer to their own type.
template <class F>
inline auto with_codes(const Column& column, F&& f) {
    switch (column.itemsize) {
        case 1:
            return f(static_cast<const std::uint8_t*>(column.codes));
        case 2:
            return f(static_cast<const std::uint16_t*>(column.codes));
        default:
            return f(static_cast<const std::uint32_t*>(column.codes));
    }
}

// What the tree learns, for each row of the table. `n_classes` is 0 for a regression target.
struct Target {
    std::uint32_t n_classes = 0;
    const std::uint16_t* classes = nullptr;  // n_rows class codes
    const double* values = nullptr;          // n_rows numbers

    bool is_classification() const { return n_classes > 0; }
    std::uint32_t n_outputs() const { return is_classification() ? n_classes : 1; }
};

// How the weights of a case set may be summed: without reading them, exactly, or in float64.
enum class WeightKind : std::uint8_t { UNIT, INTEGER, FRACTIONAL };

struct CaseSet {
    std::vector<std::uint32_t> rows;  // increasing
    std::vector<double> weights;      // one per row; empty when all are 1
    WeightKind kind = WeightKind::UNIT;

    std::uint32_t size() const { return static_cast<std::uint32_t>(rows.size()); }
};

// The targets of some cases under their position in the case set, as measures read them.
struct Cases {
    const std::uint16_t* classes = nullptr;
    const double* values = nullptr;
    const double* weights = nullptr;  // null when all are 1

    double weight(std::uint32_t index) const { return weights == nullptr ? 1.0 : weights[index]; }
};

// Sums over the cases of one node.
struct NodeTotals {
    double weight = 0.0;
    std::int64_t n_samples = 0;
    std::vector<double> outputs;  // weight of each class; regression: the mean
    double impurity = 0.0;
    bool is_pure = true;  // one class only; regression: one value only
};

// Case sets up to this size fit 32-bit entries (the rank 0xFFFF is kept for missing values).
constexpr std::uint32_t MAX_SHORT_CASES = 65535;

template <class Entry>
struct EntryBits {
    static constexpr int SHIFT = sizeof(Entry) * 4;
    static constexpr Entry INDEX_MASK = (Entry(1) << SHIFT) - 1;
    static constexpr std::uint32_t MISSING = static_cast<std::uint32_t>(INDEX_MASK);
};

template <class Entry>
inline std::uint32_t rank_of(Entry entry) {
    return static_cast<std::uint32_t>(entry >> EntryBits<Entry>::SHIFT);
}

template <class Entry>
inline std::uint32_t index_of(Entry entry) {
    return static_cast<std::uint32_t>(entry & EntryBits<Entry>::INDEX_MASK);
}

struct OrderingWorkspace {
    std::vector<std::uint32_t> short_entries;
    std::vector<std::uint64_t> long_entries;
    std::vector<std::uint32_t> buckets;
    std::vector<std::uint64_t> keys;

    std::vector<std::uint32_t>& spare(std::uint32_t) { return short_entries; }
    std::vector<std::uint64_t>& spare(std::uint64_t) { return long_entries; }
};

inline int bit_width(std::uint32_t x) {
    int width = 0;
    for (; x != 0; x >>= 1) ++width;
    return width;
}

// How entries are sorted by rank: 0 passes mean sorting by comparisons.
struct SortPlan {
    int passes, digit;

    SortPlan(std::uint32_t n, std::uint32_t max_rank) {
        const int bits = std::max(1, bit_width(max_rank));
        const int widest_digit = std::clamp(bit_width(n), 8, 11);
        passes = (bits + widest_digit - 1) / widest_digit;
        digit = (bits + passes - 1) / passes;
        if (n <= 24 || (passes > 1 && n <= 128)) passes = 0;
    }
};

template <class Entry>
void sort_by_comparing(Entry* entries, std::uint32_t n) {
    if (n > 24) {
        std::sort(entries, entries + n);
        return;
    }
    for (std::uint32_t i = 1; i < n; ++i) {
        const Entry entry = entries[i];
        std::uint32_t j = i;
        for (; j > 0 && entries[j - 1] > entry; --j) entries[j] = entries[j - 1];
        entries[j] = entry;
    }
}

// One stable pass on the rank bits from `low_bit` on.
template <class Entry>
void sort_by_digit(const Entry* from, Entry* to, std::uint32_t n, int low_bit, int digit,
                   std::vector<std::uint32_t>& buckets) {
    const int shift = EntryBits<Entry>::SHIFT + low_bit;
    const std::uint32_t mask = (1u << digit) - 1;
    buckets.assign(mask + 1, 0);
    std::uint32_t* bucket = buckets.data();
    for (std::uint32_t i = 0; i < n; ++i) ++bucket[(from[i] >> shift) & mask];
    std::uint32_t start = 0;
    for (std::uint32_t b = 0; b <= mask; ++b) {
        const std::uint32_t count = bucket[b];
        bucket[b] = start;
        start += count;
    }
    for (std::uint32_t i = 0; i < n; ++i) to[bucket[(from[i] >> shift) & mask]++] = from[i];
}

template <class Key>
void gather_keys(const Column& column, const std::uint32_t* rows, std::uint32_t n, Key* keys) {
    with_codes(column, [=](auto codes) {
        for (std::uint32_t i = 0; i < n; ++i) {
            keys[i] = (static_cast<Key>(codes[rows[i]]) << EntryBits<Key>::SHIFT) | i;
        }
    });
}

// Entries of the cases in the order of their codes (the code for missing is the highest).
template <class Entry>
void order_by_code(const Column& column, const std::uint32_t* rows, std::uint32_t n, Entry* entries,
                   OrderingWorkspace& ws) {
    const SortPlan plan(n, column.n_values);
    if (plan.passes == 0) {
        gather_keys(column, rows, n, entries);
        sort_by_comparing(entries, n);
        return;
    }
    auto& spare = ws.spare(Entry());
    if (spare.size() < n) spare.resize(n);
    // The last pass writes into `entries`.
    Entry* from = plan.passes % 2 == 0 ? entries : spare.data();
    Entry* to = plan.passes % 2 == 0 ? spare.data() : entries;
    gather_keys(column, rows, n, from);
    for (int pass = 0; pass < plan.passes; ++pass, std::swap(from, to)) {
        sort_by_digit(from, to, n, pass * plan.digit, plan.digit, ws.buckets);
    }
}

// Sets all rank bits of the missing cases, which sorting by code has put last.
template <class Entry>
void mark_missing(const Column& column, std::uint32_t n, Entry* entries) {
    if (!column.has_missing) return;
    for (std::uint32_t i = n; i > 0 && rank_of(entries[i - 1]) == column.n_values; --i) {
        entries[i - 1] |= ~EntryBits<Entry>::INDEX_MASK;
    }
}

// Fills `entries` with the n cases `rows` in the order of the column.
inline void order_cases(const Column& column, const std::uint32_t* rows, std::uint32_t n,
                        std::uint64_t* entries, OrderingWorkspace& ws) {
    order_by_code(column, rows, n, entries, ws);
    mark_missing(column, n, entries);
}

inline void order_cases(const Column& column, const std::uint32_t* rows, std::uint32_t n,
                        std::uint32_t* entries, OrderingWorkspace& ws) {
    if (column.n_values < EntryBits<std::uint32_t>::MISSING) {
        order_by_code(column, rows, n, entries, ws);
        mark_missing(column, n, entries);
        return;
    }
    if (ws.keys.size() < n) ws.keys.resize(n);
    std::uint64_t* keys = ws.keys.data();
    order_cases(column, rows, n, keys, ws);
    std::uint32_t dense = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t rank = rank_of(keys[i]);
        if (i > 0 && rank != rank_of(keys[i - 1])) ++dense;
        const bool missing = rank == EntryBits<std::uint64_t>::MISSING;
        const std::uint32_t short_rank = missing ? EntryBits<std::uint32_t>::MISSING : dense;
        entries[i] = (short_rank << EntryBits<std::uint32_t>::SHIFT) | index_of(keys[i]);
    }
}

// The number of known entries among n ordered ones.
template <class Entry>
std::uint32_t count_known(const Entry* entries, std::uint32_t n) {
    const Entry first_missing = ~EntryBits<Entry>::INDEX_MASK;
    return static_cast<std::uint32_t>(std::lower_bound(entries, entries + n, first_missing) -
                                      entries);
}

}  // namespace sktree_opt::greedy
