// The set of rows of a node, as bits over the slots of the root, and its 128-bit key.
//
// The key is sum of word_w * r_w mod 2^128 for random r_w (multilinear hashing: two different sets
// agree in the upper half with probability 2^-64). All caches use the key in place of the set:
// DL8's closure of an itemset and MurTree's dataset hashing (section 4.5.2) identify the same sets.
// As the words of two children add up to the parent's without a carry, so do their keys.
#pragma once

#include <cstdint>
#include <vector>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "sktree_opt/utils/hash.hpp"

namespace sktree_opt {

struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

inline Key operator-(Key a, Key b) { return {a.low - b.low, a.high - b.high - (a.low < b.low)}; }

inline Key operator+(Key a, Key b) {
    const std::uint64_t low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low)};
}

inline void add_product(Key& sum, std::uint64_t word, Key factor) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(word) * factor.low;
    const std::uint64_t low = static_cast<std::uint64_t>(product);
    std::uint64_t high = static_cast<std::uint64_t>(product >> 64);
#else
    std::uint64_t high;
    const std::uint64_t low = _umul128(word, factor.low, &high);
#endif
    high += word * factor.high;
    sum.low += low;
    sum.high += high + (sum.low < low);
}

// Column bits over the slots of the root, and the random factors of the key.
struct RowSets {
    int n_words = 0;                     // of 64 slots
    std::vector<std::uint64_t> columns;  // [column][n_words]
    std::vector<std::uint64_t> all;
    std::vector<Key> factors;

    // From words of 16 slots by column.
    void build(const std::uint16_t* words, const std::uint16_t* present, int n_narrow, int stride,
               int n_columns) {
        n_words = (n_narrow + 3) / 4;
        columns.assign(static_cast<std::size_t>(n_columns) * n_words, 0);
        all.assign(n_words, 0);
        factors.resize(n_words);
        std::uint64_t state = 0;
        for (Key& factor : factors) {
            factor = {split_mix(state), split_mix(state + HASH_FACTOR)};
            state += 2 * HASH_FACTOR;
        }
        for (int w = 0; w < n_narrow; ++w) {
            const int shift = 16 * (w % 4);
            all[w / 4] |= static_cast<std::uint64_t>(present[w]) << shift;
            for (int j = 0; j < n_columns; ++j) {
                columns[static_cast<std::size_t>(j) * n_words + w / 4] |=
                    static_cast<std::uint64_t>(words[static_cast<std::size_t>(w) * stride + j])
                    << shift;
            }
        }
    }

    const std::uint64_t* column(int j) const {
        return columns.data() + static_cast<std::size_t>(j) * n_words;
    }

    // Key of the rows of `mask` that have column j.
    Key key(const std::uint64_t* mask, int j) const {
        Key sum;
        const std::uint64_t* bits = column(j);
        for (int w = 0; w < n_words; ++w) add_product(sum, mask[w] & bits[w], factors[w]);
        return sum;
    }
    Key key(const std::uint64_t* mask) const {
        Key sum;
        for (int w = 0; w < n_words; ++w) add_product(sum, mask[w], factors[w]);
        return sum;
    }
};

}  // namespace sktree_opt
