// Columns that can never matter beside others: constant, equal, or one the complement of another.
//
// A test and its negation make the same trees. Dropping them is exact at the root and again in
// every node, where many more columns coincide on the rows that are left. Hashes find candidates, a
// comparison of words decides. Time O(n_words * stride).
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

namespace sktree_opt {

class ColumnFilter {
public:
    // Indices of the columns to keep, the first of each kind, in order. `hashes` as hash_columns
    // made them, `all_hashes` those of a column that every row has.
    const std::vector<std::int32_t>& distinct(const std::uint16_t* words,
                                              const std::uint16_t* present, int n_words, int stride,
                                              int n_columns, const std::uint32_t* hashes,
                                              const std::uint32_t* all_hashes) {
        kept_.clear();
        prepare(n_columns);
        for (int j = 0; j < n_columns; ++j) {
            const std::uint64_t key = canonical(hashes, all_hashes, stride, j);
            std::size_t at = (key * 0x9E3779B97F4A7C15ull) >> shift_;
            bool is_new = !is_constant(words, present, n_words, stride, j);
            while (is_new && places_[at] >= 0) {
                const int other = places_[at];
                if (keys_[at] == key && coincide(words, present, n_words, stride, j, other)) {
                    is_new = false;
                }
                at = (at + 1) & (places_.size() - 1);
            }
            if (!is_new) continue;
            places_[at] = j;
            keys_[at] = key;
            kept_.push_back(j);
        }
        return kept_;
    }

private:
    void prepare(int n_columns) {
        int bits = 4;
        while ((1 << bits) < 2 * n_columns) ++bits;
        shift_ = 64 - bits;
        places_.assign(std::size_t(1) << bits, -1);
        keys_.resize(places_.size());
    }

    // The smaller hash of the column and its complement.
    static std::uint64_t canonical(const std::uint32_t* hashes, const std::uint32_t* all_hashes,
                                   int stride, int j) {
        const std::uint32_t a = hashes[j], b = hashes[stride + j];
        const std::uint32_t not_a = all_hashes[0] - a, not_b = all_hashes[1] - b;
        const std::uint64_t direct = (static_cast<std::uint64_t>(a) << 32) | b;
        const std::uint64_t complement = (static_cast<std::uint64_t>(not_a) << 32) | not_b;
        return direct < complement ? direct : complement;
    }

    static bool is_constant(const std::uint16_t* words, const std::uint16_t* present, int n_words,
                            int stride, int j) {
        bool all = true, none = true;
        for (int w = 0; w < n_words && (all || none); ++w) {
            const std::uint16_t word = words[static_cast<std::ptrdiff_t>(w) * stride + j];
            all = all && word == present[w];
            none = none && word == 0;
        }
        return all || none;
    }

    static bool coincide(const std::uint16_t* words, const std::uint16_t* present, int n_words,
                         int stride, int i, int j) {
        bool equal = true, opposite = true;
        for (int w = 0; w < n_words && (equal || opposite); ++w) {
            const std::uint16_t* row = words + static_cast<std::ptrdiff_t>(w) * stride;
            equal = equal && row[i] == row[j];
            opposite = opposite && (row[i] ^ row[j]) == present[w];
        }
        return equal || opposite;
    }

    std::vector<std::int32_t> kept_, places_;
    std::vector<std::uint64_t> keys_;
    int shift_ = 60;
};

// Hashes, by the recurrence of hash_columns, of the column that every present row has.
inline void hash_present(const std::uint16_t* present, int n_words, std::uint32_t* hashes) {
    hashes[0] = hashes[1] = 0;
    for (int w = 0; w < n_words; ++w) {
        hashes[0] = hashes[0] * 0x9E3779B1u + present[w];
        hashes[1] = hashes[1] * 0x85EBCA6Bu + present[w];
    }
}

inline int padded(int n_columns) { return (n_columns + STRIDE - 1) / STRIDE * STRIDE; }

// Words with only the kept columns.
inline void keep_columns(const std::uint16_t* words, int n_words, int stride,
                         const std::vector<std::int32_t>& kept, std::uint16_t* out,
                         int out_stride) {
    const int n_kept = static_cast<int>(kept.size());
    for (int w = 0; w < n_words; ++w) {
        const std::uint16_t* from = words + static_cast<std::ptrdiff_t>(w) * stride;
        std::uint16_t* to = out + static_cast<std::ptrdiff_t>(w) * out_stride;
        for (int k = 0; k < n_kept; ++k) to[k] = from[kept[k]];
        for (int k = n_kept; k < out_stride; ++k) to[k] = 0;
    }
}

}  // namespace sktree_opt
