// The rows of a node as bit columns, for searches that keep several answers at each node.
//
// A node's rows are in segments, one for each class, 64 rows to a word; the last word of a segment
// is filled up with zeros. words[w * stride + j] are the rows of word w in column j. Counts of all
// pairs (i, j) of one i are one pass of vector instructions over j. This is the first part of
// MurTree's Algorithm 4 (JMLR 23(26), doi:10.48550/arXiv.2007.12652), by words instead of by rows.
// Weights are whole numbers of units, counted one bit of the weight at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/hash.hpp"

namespace sktree_opt {

#if defined(__GNUC__)
SKTREE_INLINE std::int64_t count_bits(std::uint64_t word) { return __builtin_popcountll(word); }
#else
inline std::int64_t count_bits(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return static_cast<std::int64_t>((word * 0x0101010101010101u) >> 56);
}
#endif

// Splits of a tree within a depth.
inline std::int64_t most_splits(int depth) { return (std::int64_t{1} << std::min(depth, 40)) - 1; }

// The training table; never changes during a search.
struct RowTable {
    const std::uint64_t* rows = nullptr;  // [n_rows][row_words]: bit j of a row is its column j
    std::int64_t n_rows = 0;
    int n_columns = 0;
    int row_words = 0;
    const std::int32_t* classes = nullptr;
    int n_classes = 0;
    const std::int64_t* units = nullptr;   // weight of each row; null: 1
    int n_planes = 1;                      // bits of the largest weight
    const std::int64_t* values = nullptr;  // [n_rows][n_values], summed too; null: none
    int n_values = 0;
    InstructionSet instruction_set = InstructionSet::PORTABLE;
    const std::uint64_t* keys = nullptr;  // [n_rows][2] random; a set's key is the xor of its rows'
    // Channels: the weight of each class, the values and, where classes do not tell it, the number
    // of rows.
    bool counts_rows() const { return units != nullptr || values != nullptr; }
    int n_sums() const { return n_classes + n_values; }
    int n_channels() const { return n_sums() + counts_rows(); }
};

struct RowKey {
    std::uint64_t low = 0, high = 0;
    bool operator==(const RowKey& other) const { return low == other.low && high == other.high; }
    void toggle(const std::uint64_t* key) {
        low ^= key[0];
        high ^= key[1];
    }
};

// Rows of a node, one class after the other.
struct RowSet {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> class_start;  // n_classes + 1
    RowKey key;

    bool is_pure() const {
        int n_present = 0;
        for (std::size_t c = 1; c < class_start.size(); ++c) {
            n_present += class_start[c - 1] < class_start[c];
        }
        return n_present < 2;
    }
};

inline RowSet all_rows(const RowTable& table) {
    RowSet all;
    all.class_start.assign(1, 0);
    for (int c = 0; c < table.n_classes; ++c) {
        for (std::int64_t r = 0; r < table.n_rows; ++r) {
            if (table.classes[r] != c) continue;
            all.rows.push_back(static_cast<std::uint32_t>(r));
            all.key.toggle(table.keys + 2 * r);
        }
        all.class_start.push_back(static_cast<std::uint32_t>(all.rows.size()));
    }
    return all;
}

// Sums of a node's rows, by channel.
inline std::vector<std::int64_t> totals_of(const RowTable& table, const RowSet& node) {
    std::vector<std::int64_t> totals(table.n_channels(), 0);
    for (int c = 0; c < table.n_classes; ++c) {
        const std::uint32_t first = node.class_start[c], last = node.class_start[c + 1];
        if (table.units == nullptr) {
            totals[c] = last - first;
            continue;
        }
        for (std::uint32_t k = first; k < last; ++k) totals[c] += table.units[node.rows[k]];
    }
    for (int v = 0; v < table.n_values; ++v) {
        for (const std::uint32_t row : node.rows) {
            totals[table.n_classes + v] += table.values[std::int64_t{row} * table.n_values + v];
        }
    }
    if (table.counts_rows()) totals.back() = static_cast<std::int64_t>(node.rows.size());
    return totals;
}

// Key of a node's rows together with the limits of its trees.
inline RowKey key_of(const RowSet& node, int depth, std::int64_t splits) {
    RowKey key = node.key;
    key.high += static_cast<std::uint64_t>(depth) * HASH_FACTOR;
    key.low += static_cast<std::uint64_t>(splits) * 0xC2B2AE3D27D4EB4Fu;
    return key;
}

struct RowKeyHash {
    std::size_t operator()(const RowKey& key) const { return static_cast<std::size_t>(key.high); }
};

// The memory of one thread, and the work that it has not yet booked.
template <class Level>
struct SetWorker {
    explicit SetWorker(int depth) : levels(depth + 1) {}

    // Books work of about `amount` nanoseconds; true when the search has to end.
    bool poll(SearchControl& control, std::int64_t amount) {
        work += amount;
        if (work < 1000000) return control.stopped();
        work = 0;
        return control.poll();
    }

    std::vector<Level> levels;  // by remaining depth
    std::int64_t work = 0;
};

// What is known by rows and limits, in shards with a lock each, so that threads rarely wait for
// each other.
template <class Value>
class RowCache {
public:
    bool find(const RowKey& key, Value& value) {
        Shard& shard = shards_[key.low % N_SHARDS];
        const std::lock_guard<std::mutex> lock(shard.mutex);
        const auto found = shard.known.find(key);
        if (found == shard.known.end()) return false;
        value = found->second;
        return true;
    }
    // Calls `change(value, is_new)`; returns whether the key is new.
    template <class Change>
    bool change(const RowKey& key, const Change& change) {
        Shard& shard = shards_[key.low % N_SHARDS];
        const std::lock_guard<std::mutex> lock(shard.mutex);
        const auto [at, is_new] = shard.known.try_emplace(key);
        change(at->second, is_new);
        return is_new;
    }

private:
    static constexpr int N_SHARDS = 64;
    struct Shard {
        std::mutex mutex;
        std::unordered_map<RowKey, Value, RowKeyHash> known;
    };
    std::array<Shard, N_SHARDS> shards_;
};

// Rows with a column of the table, and those without. Without branches: columns are not to be
// guessed.
inline void part_rows(const RowTable& table, const RowSet& node, int column, RowSet& with,
                      RowSet& without) {
    const std::size_t n_rows = node.rows.size();
    with.rows.resize(n_rows);
    without.rows.resize(n_rows);
    with.class_start.assign(1, 0);
    without.class_start.assign(1, 0);
    std::uint32_t* first = with.rows.data();
    std::uint32_t* second = without.rows.data();
    const std::uint64_t* words = table.rows + column / 64;
    const int shift = column % 64;
    std::uint64_t low = 0, high = 0;
    std::size_t n_first = 0, n_second = 0;
    for (int c = 0; c < table.n_classes; ++c) {
        for (std::uint32_t k = node.class_start[c]; k < node.class_start[c + 1]; ++k) {
            const std::uint32_t row = node.rows[k];
            const std::uint64_t bit =
                (words[static_cast<std::int64_t>(row) * table.row_words] >> shift) & 1;
            first[n_first] = row;
            second[n_second] = row;
            n_first += bit;
            n_second += 1 - bit;
            const std::uint64_t* key = table.keys + 2 * static_cast<std::int64_t>(row);
            low ^= key[0] & (0 - bit);
            high ^= key[1] & (0 - bit);
        }
        with.class_start.push_back(static_cast<std::uint32_t>(n_first));
        without.class_start.push_back(static_cast<std::uint32_t>(n_second));
    }
    with.rows.resize(n_first);
    without.rows.resize(n_second);
    with.key.low = low;
    with.key.high = high;
    without.key.low = node.key.low ^ low;
    without.key.high = node.key.high ^ high;
}

// 64 rows of 64 bits to 64 columns, in place (Warren, Hacker's Delight, section 7-3).
inline void transpose_bits(std::uint64_t* block) {
    std::uint64_t mask = 0x00000000FFFFFFFFu;
    for (int step = 32; step != 0; step >>= 1, mask ^= mask << step) {
        for (int k = 0; k < 64; k = (k + step + 1) & ~step) {
            const std::uint64_t moved = ((block[k] >> step) ^ block[k + step]) & mask;
            block[k] ^= moved << step;
            block[k + step] ^= moved;
        }
    }
}

// counts[j] += 2^shift * rows of columns i and j in some words, for j from `first` on; with
// ALL_ROWS as i, all that have column j; `plane` null: all rows. One text, compiled for each
// instruction set that counts bits.
constexpr int ALL_ROWS = -1;
SKTREE_INLINE void add_pair_counts_anywhere(const std::uint64_t* words, int stride, int n_words,
                                            int i, int first, const std::uint64_t* plane, int shift,
                                            std::int64_t* counts) {
    for (int w = 0; w < n_words; ++w) {
        const std::uint64_t* line = words + static_cast<std::int64_t>(w) * stride;
        const std::uint64_t mine = i == ALL_ROWS ? ~std::uint64_t{0} : line[i];
        const std::uint64_t chosen = plane == nullptr ? mine : mine & plane[w];
        if (chosen == 0) continue;
        for (int j = first; j < stride; ++j) counts[j] += count_bits(line[j] & chosen) << shift;
    }
}

using PairCounter = void (*)(const std::uint64_t*, int, int, int, int, const std::uint64_t*, int,
                             std::int64_t*);

inline void add_pair_counts_portable(const std::uint64_t* words, int stride, int n_words, int i,
                                     int first, const std::uint64_t* plane, int shift,
                                     std::int64_t* counts) {
    add_pair_counts_anywhere(words, stride, n_words, i, first, plane, shift, counts);
}
#if defined(SKTREE_X86)
__attribute__((target("popcnt"))) inline void add_pair_counts_popcnt(
    const std::uint64_t* words, int stride, int n_words, int i, int first,
    const std::uint64_t* plane, int shift, std::int64_t* counts) {
    add_pair_counts_anywhere(words, stride, n_words, i, first, plane, shift, counts);
}
__attribute__((target("avx512f,avx512vpopcntdq,popcnt"))) inline void add_pair_counts_avx512(
    const std::uint64_t* words, int stride, int n_words, int i, int first,
    const std::uint64_t* plane, int shift, std::int64_t* counts) {
    add_pair_counts_anywhere(words, stride, n_words, i, first, plane, shift, counts);
}
#endif

// NEON counts bits in portable code, too.
inline PairCounter pair_counter(InstructionSet set) {
#if defined(SKTREE_X86)
    const bool may_count_lanes = set == InstructionSet::AVX512BITALG;
    if (may_count_lanes && __builtin_cpu_supports("avx512vpopcntdq")) return add_pair_counts_avx512;
    if (set >= InstructionSet::AVX2) return add_pair_counts_popcnt;
#endif
    return add_pair_counts_portable;
}

// A choice of a node's rows: all of them, or those with or without one of its columns.
struct RowSide {
    int column = -1;
    bool with = true;
};

// A node's rows as bit columns, and what they count by channel (see RowTable).
class NodeColumns {
public:
    int n_columns() const { return static_cast<int>(column_.size()); }
    int stride() const { return stride_; }
    int n_words() const { return n_words_; }
    int n_channels() const { return static_cast<int>(totals_.size()); }
    int column(int j) const { return column_[j]; }
    const std::vector<int>& columns() const { return column_; }
    // Where the k-th candidate is among the columns, it or one that parts the rows alike; -1: it is
    // constant.
    int place_of(int k) const { return place_[k]; }
    // Whether it has the complement of that column.
    bool is_complement(int k) const { return ((raw_[k] ^ raw_[kept_[place_[k]]]) & 1) != 0; }
    const std::vector<std::int64_t>& totals() const { return totals_; }
    const std::int64_t* counts() const { return counts_.data(); }  // [channel][stride]

    // Reads `candidates` of the node's rows, and keeps one of those that part the rows alike.
    void gather(const RowTable& table, const RowSet& node, const std::vector<int>& candidates) {
        counter_ = pair_counter(table.instruction_set);
        n_candidates_ = static_cast<int>(candidates.size());
        lay_out(table, node);
        transpose(table, node, candidates);
        drop_equal_columns(candidates);
        count_columns(table);
    }

    // Whether columns a and b part the rows with (or without) column i alike: 1 if they are equal
    // there, -1 if complementary, else 0.
    int parts_alike(int a, int b, int i, bool with) const {
        bool equal = true, complementary = true;
        for (int w = 0; w < n_words_ && (equal || complementary); ++w) {
            const std::uint64_t* line = words_.data() + static_cast<std::int64_t>(w) * stride_;
            const std::uint64_t rows = with ? line[i] : ~line[i] & valid_[w];
            const std::uint64_t differ = (line[a] ^ line[b]) & rows;
            equal = equal && differ == 0;
            complementary = complementary && differ == rows;
        }
        return equal ? 1 : -static_cast<int>(complementary);
    }

    // For column i: out[channel][stride], the counts of rows that have i and each j, from `first`
    // on.
    void count_pairs(const RowTable& table, int i, std::int64_t* out, int first = 0) const {
        std::fill(out, out + static_cast<std::int64_t>(n_channels()) * stride_, 0);
        for (int c = 0; c < table.n_classes; ++c)
            add_class_pairs(table, c, i, first, out + c * stride_);
        for (int v = 0; v < table.n_values; ++v) {
            for (int w = 0; w < n_words_; ++w) {
                add_values(v, w, words_[static_cast<std::size_t>(w) * stride_ + i],
                           out + (table.n_classes + v) * stride_);
            }
        }
        if (table.counts_rows()) {
            const std::int64_t rows = static_cast<std::int64_t>(table.n_sums()) * stride_;
            counter_(words_.data(), stride_, n_words_, i, first, nullptr, 0, out + rows);
        }
    }

private:
    void lay_out(const RowTable& table, const RowSet& node) {
        first_word_.assign(1, 0);
        for (int c = 0; c < table.n_classes; ++c) {
            const int n_rows = static_cast<int>(node.class_start[c + 1] - node.class_start[c]);
            first_word_.push_back(first_word_.back() + (n_rows + 63) / 64);
        }
        n_words_ = first_word_.back();
        valid_.assign(n_words_, 0);
        if (table.units != nullptr) {
            planes_.assign(static_cast<std::size_t>(n_words_) * table.n_planes, 0);
        }
        values_.assign(static_cast<std::size_t>(table.n_values) * n_words_ * 64, 0);
        for (int c = 0; c < table.n_classes; ++c) {
            const std::uint32_t start = node.class_start[c];
            for (std::uint32_t k = start; k < node.class_start[c + 1]; ++k) {
                const std::uint32_t w = first_word_[c] + (k - start) / 64;
                const int position = (k - start) % 64;
                valid_[w] |= std::uint64_t{1} << position;
                for (int v = 0; v < table.n_values; ++v) {
                    values_[(static_cast<std::size_t>(v) * n_words_ + w) * 64 + position] =
                        table.values[std::int64_t{node.rows[k]} * table.n_values + v];
                }
                if (table.units == nullptr) continue;
                const std::uint64_t units = static_cast<std::uint64_t>(table.units[node.rows[k]]);
                for (int b = 0; b < table.n_planes; ++b) {
                    planes_[static_cast<std::size_t>(b) * n_words_ + w] |= ((units >> b) & 1)
                                                                           << position;
                }
            }
        }
    }

    void transpose(const RowTable& table, const RowSet& node, const std::vector<int>& candidates) {
        raw_.resize(static_cast<std::size_t>(n_words_) * n_candidates_);
        std::uint64_t block[64];
        for (int c = 0; c < table.n_classes; ++c) {
            for (int w = first_word_[c]; w < first_word_[c + 1]; ++w) {
                const std::uint32_t start = node.class_start[c] + 64 * (w - first_word_[c]);
                const int n_rows = static_cast<int>(std::min(node.class_start[c + 1] - start, 64u));
                std::uint64_t* line = raw_.data() + static_cast<std::int64_t>(w) * n_candidates_;
                for (int k = 0; k < n_candidates_;) {
                    const int word = candidates[k] / 64;
                    for (int r = 0; r < n_rows; ++r) {
                        block[r] =
                            table.rows[node.rows[start + r] * std::int64_t{table.row_words} + word];
                    }
                    std::fill(block + n_rows, block + 64, 0);
                    transpose_bits(block);
                    for (; k < n_candidates_ && candidates[k] / 64 == word; ++k) {
                        line[k] = block[candidates[k] % 64];
                    }
                }
            }
        }
    }

    // A column and its complement are the same test. The first of equal columns is kept; constant
    // ones are dropped.
    void drop_equal_columns(const std::vector<int>& candidates) {
        kept_.clear();
        place_.assign(n_candidates_, -1);
        std::size_t n_slots = 16;
        while (n_slots < 2 * static_cast<std::size_t>(n_candidates_)) n_slots *= 2;
        slots_.assign(n_slots, -1);
        for (int k = 0; k < n_candidates_; ++k) {
            const bool flip = n_words_ > 0 && (raw_[k] & 1);
            std::uint64_t hash = 0, any = 0;
            for (int w = 0; w < n_words_; ++w) {
                const std::uint64_t bits = normal_bits(w, k, flip);
                any |= bits;
                hash = (hash ^ bits) * HASH_FACTOR;
                hash ^= hash >> 32;
            }
            if (any == 0) continue;
            std::size_t slot = hash & (n_slots - 1);
            while (slots_[slot] >= 0 && !parts_alike(kept_[slots_[slot]], k)) {
                slot = (slot + 1) & (n_slots - 1);
            }
            if (slots_[slot] < 0) {
                slots_[slot] = static_cast<int>(kept_.size());
                kept_.push_back(k);
            }
            place_[k] = slots_[slot];
        }
        column_.clear();
        for (int k : kept_) column_.push_back(candidates[k]);
        stride_ = (n_columns() + 7) / 8 * 8;
        words_.assign(static_cast<std::size_t>(n_words_) * stride_, 0);
        for (int w = 0; w < n_words_; ++w) {
            for (int j = 0; j < n_columns(); ++j) {
                words_[static_cast<std::size_t>(w) * stride_ + j] =
                    raw_[static_cast<std::size_t>(w) * n_candidates_ + kept_[j]];
            }
        }
    }

    std::uint64_t normal_bits(int w, int k, bool flip) const {
        const std::uint64_t bits = raw_[static_cast<std::size_t>(w) * n_candidates_ + k];
        return flip ? ~bits & valid_[w] : bits;
    }
    bool parts_alike(int a, int b) const {
        const bool flip_a = raw_[a] & 1, flip_b = raw_[b] & 1;
        for (int w = 0; w < n_words_; ++w) {
            if (normal_bits(w, a, flip_a) != normal_bits(w, b, flip_b)) return false;
        }
        return true;
    }

    void count_columns(const RowTable& table) {
        const int n_channels = table.n_channels();
        counts_.assign(static_cast<std::size_t>(n_channels) * stride_, 0);
        totals_.assign(n_channels, 0);
        for (int v = 0; v < table.n_values; ++v) {
            const int c = table.n_classes + v;
            for (int w = 0; w < n_words_; ++w) {
                add_values(v, w, valid_[w], counts_.data() + static_cast<std::size_t>(c) * stride_);
            }
            const auto first = values_.begin() + static_cast<std::ptrdiff_t>(v) * n_words_ * 64;
            totals_[c] = std::accumulate(first, first + n_words_ * 64, std::int64_t{0});
        }
        for (int c = 0; c < table.n_classes; ++c) {
            add_class_pairs(table, c, ALL_ROWS, 0, counts_.data() + c * stride_);
            for (int w = first_word_[c]; w < first_word_[c + 1]; ++w) {
                for (int b = 0; b < table.n_planes; ++b) {
                    totals_[c] += count_bits(plane_of(table, b)[w]) << b;
                }
            }
        }
        if (!table.counts_rows()) return;
        const std::int64_t rows = static_cast<std::int64_t>(table.n_sums()) * stride_;
        counter_(words_.data(), stride_, n_words_, ALL_ROWS, 0, nullptr, 0, counts_.data() + rows);
        for (const std::uint64_t word : valid_) totals_.back() += count_bits(word);
    }

    // The rows whose weight has a bit.
    const std::uint64_t* plane_of(const RowTable& table, int bit) const {
        const std::size_t first = static_cast<std::size_t>(bit) * n_words_;
        return table.units == nullptr ? valid_.data() : planes_.data() + first;
    }

    // Adds a value of the chosen rows of a word to the sums of the columns that they have.
    void add_values(int v, int w, std::uint64_t chosen, std::int64_t* sums) const {
        const std::uint64_t* line = words_.data() + static_cast<std::size_t>(w) * stride_;
        const std::int64_t* values =
            values_.data() + (static_cast<std::size_t>(v) * n_words_ + w) * 64;
        for (int r = 0; r < 64 && (chosen >> r) != 0; ++r) {
            if (((chosen >> r) & 1) == 0) continue;
            for (int j = 0; j < stride_; ++j) {
                sums[j] += values[r] & -static_cast<std::int64_t>((line[j] >> r) & 1);
            }
        }
    }

    void add_class_pairs(const RowTable& table, int c, int i, int first, std::int64_t* out) const {
        const int word = first_word_[c], n_words = first_word_[c + 1] - word;
        const std::uint64_t* words = words_.data() + static_cast<std::int64_t>(word) * stride_;
        for (int b = 0; b < table.n_planes; ++b) {
            counter_(words, stride_, n_words, i, first, plane_of(table, b) + word, b, out);
        }
    }

    PairCounter counter_ = nullptr;
    int n_candidates_ = 0, n_words_ = 0, stride_ = 0;
    std::vector<int> first_word_;        // of each class
    std::vector<std::uint64_t> valid_;   // rows of each word
    std::vector<std::uint64_t> planes_;  // [bit of the weight][word]
    std::vector<std::int64_t> values_;   // [value][word][64]
    std::vector<std::uint64_t> raw_;     // [word][candidate]
    std::vector<std::uint64_t> words_;   // [word][stride]
    std::vector<int> kept_, column_;
    std::vector<int> place_;  // of each candidate among the kept columns; -1: constant
    std::vector<int> slots_;  // a hash table of kept columns
    std::vector<std::int64_t> counts_, totals_;
};

}  // namespace sktree_opt
