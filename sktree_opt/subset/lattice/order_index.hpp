// The cases of a node in the order of a numeric column, without sorting them.
//
// All rows of the table are sorted once by each column. The cases of a node then set one bit each,
// at the place of their row in that order, and the bits are read from the first to the last: two
// passes over the cases, whatever their number. A split search needs no more than that: the code
// and, at the same place, the class. That is faster than sorting the codes of some dozens of cases,
// as most nodes have: no bucket is cleared, few comparisons are guessed wrong.
//
//   places[row]    of a column: place of the row in its order
//   items[place]   code of that row << 16 | its class; all bits of a missing code are set
//
// Only for cases of weight 1, since a weight belongs to a case of a node, and for tables whose
// places fit 16 bits. Cost: sorting each column once. Memory: 6 bytes for each cell of the columns
// that are in it, at most OrderRules::max_bytes.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"

namespace sktree_opt::subset {

// A case in the order of a column.
using Item = std::uint32_t;
inline std::uint32_t code_of(Item item) { return item >> 16; }
inline std::uint32_t class_of(Item item) { return item & 0xffffu; }

inline int lowest_bit(std::uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(word);
#else
    int bit = 0;
    while ((word >> bit & 1u) == 0) ++bit;
    return bit;
#endif
}

// Places that have been set, to be read in order. Words with a bit are marked one level up, so that
// reading skips the empty ones.
class PlaceSet {
public:
    bool empty() const { return words_.empty(); }
    // Whether words probably have many bits.
    bool is_dense() const { return !has_marks_; }

    void resize(std::size_t n_places) {
        words_.assign(n_places / 64 + 1, 0);
        marks_.assign(words_.size() / 64 + 1, 0);
        has_marks_ = words_.size() > FEW_WORDS;
    }
    void add(std::uint32_t place) {
        words_[place >> 6] |= std::uint64_t{1} << (place & 63);
        if (has_marks_) {
            marks_[place >> 12] |= std::uint64_t{1} << (place >> 6 & 63);
        }
    }
    // Calls visit(word, place of its lowest bit) for each word that has a bit, and for others where
    // there are few; leaves the set empty.
    template <class F>
    void drain_words(F&& visit) {
        if (!has_marks_) {
            for (std::size_t w = 0; w < words_.size(); ++w) take_word(w, visit);
            return;
        }
        for (std::size_t m = 0; m < marks_.size(); ++m) {
            for (; marks_[m] != 0; marks_[m] &= marks_[m] - 1) {
                take_word(m << 6 | static_cast<std::size_t>(lowest_bit(marks_[m])), visit);
            }
        }
    }
    // Calls visit(place), increasing, and leaves the set empty.
    template <class F>
    void drain(F&& visit) {
        drain_words([&](std::uint64_t word, std::uint32_t first) {
            for (; word != 0; word &= word - 1) {
                visit(first + static_cast<std::uint32_t>(lowest_bit(word)));
            }
        });
    }

private:
    // So few are all read.
    static constexpr std::size_t FEW_WORDS = 8;

    template <class F>
    void take_word(std::size_t w, F&& visit) {
        visit(words_[w], static_cast<std::uint32_t>(w << 6));
        words_[w] = 0;
    }

    std::vector<std::uint64_t> words_, marks_;
    bool has_marks_ = false;
};

struct OrderRules {
    // A larger index does not stay in the cache, and waits for memory where sorting does not.
    std::size_t max_bytes = std::size_t{4} << 20;
    std::uint32_t min_values = 32;  // columns of fewer values are sorted in one short pass
    std::uint32_t min_cases = 10;   // fewer cases are sorted faster by insertion
};

class OrderIndex {
public:
    using Entry = std::uint32_t;

    // Returns the bytes of the index. One that would be too large is left empty.
    std::size_t build(const std::vector<greedy::Column>& columns, const greedy::Target& target,
                      std::uint32_t n_rows, const OrderRules& rules) {
        n_rows_ = n_rows;
        slots_.assign(columns.size(), -1);
        if (n_rows > greedy::MAX_SHORT_CASES) return 0;
        std::size_t n_indexed = 0;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const greedy::Column& column = columns[j];
            const bool fits = column.n_values < greedy::EntryBits<Entry>::MISSING;
            if (column.is_nominal || column.n_values < rules.min_values || !fits) continue;
            slots_[j] = static_cast<std::int32_t>(n_indexed++);
        }
        const std::size_t n_bytes = 6 * n_indexed * n_rows;
        if (n_bytes > rules.max_bytes) {
            slots_.assign(columns.size(), -1);
            return 0;
        }
        columns_.resize(n_indexed);
        std::vector<std::uint32_t> rows(n_rows);
        std::iota(rows.begin(), rows.end(), 0u);
        std::vector<Entry> entries(n_rows);
        greedy::OrderingWorkspace ws;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            if (slots_[j] < 0) continue;
            greedy::order_cases(columns[j], rows.data(), n_rows, entries.data(), ws);
            add_column(entries, target, columns_[slots_[j]]);
        }
        return n_bytes;
    }

    bool has(std::int32_t feature) const { return slots_[feature] >= 0; }
    std::uint32_t n_rows() const { return n_rows_; }

    // Puts the place of a row into the set.
    void add(std::int32_t feature, std::uint32_t row, PlaceSet& set) const {
        set.add(of(feature).places[row]);
    }
    void add(std::int32_t feature, const std::vector<std::uint32_t>& rows, PlaceSet& set) const {
        const std::uint16_t* places = of(feature).places.data();
        for (std::uint32_t row : rows) set.add(places[row]);
    }

    // Empties the set into `items`, in the order of the column. There must be room for WASTE more.
    void drain(std::int32_t feature, PlaceSet& set, Item* items) const {
        const Item* all = of(feature).items.data();
        if (!set.is_dense()) {
            set.drain([&](std::uint32_t place) { *items++ = all[place]; });
            return;
        }
        set.drain_words([&](std::uint64_t word, std::uint32_t first) {
            // WASTE at a time, present or not, since how many bits a word has is hard to guess.
            while (word != 0) {
                for (std::size_t i = 0; i < WASTE; ++i) {
                    *items = all[first + lowest_bit(word | TOP_BIT)];
                    items += word != 0;
                    word &= word - 1;
                }
            }
        });
    }
    // The same with a gap before codes above `gap_at`; returns how many come before the gap.
    std::uint32_t drain_around(std::int32_t feature, PlaceSet& set, std::uint32_t gap_at,
                               Item* items) const {
        const Item* all = of(feature).items.data();
        std::uint32_t n_below = 0;
        set.drain([&](std::uint32_t place) {
            const bool is_above = code_of(all[place]) > gap_at;
            items[is_above] = all[place];
            ++items;
            n_below += !is_above;
        });
        return n_below;
    }
    static constexpr std::size_t WASTE = 4;

private:
    struct ColumnOrder {
        std::vector<std::uint16_t> places;
        std::vector<Item> items;
    };
    static constexpr std::uint64_t TOP_BIT = std::uint64_t{1} << 63;

    static void add_column(const std::vector<Entry>& entries, const greedy::Target& target,
                           ColumnOrder& order) {
        order.places.resize(entries.size());
        order.items.resize(entries.size() + 64);  // bits that are not there are read, too
        for (std::uint32_t place = 0; place < entries.size(); ++place) {
            const std::uint32_t row = greedy::index_of(entries[place]);
            order.places[row] = static_cast<std::uint16_t>(place);
            order.items[place] = greedy::rank_of(entries[place]) << 16 | target.classes[row];
        }
    }

    const ColumnOrder& of(std::int32_t feature) const { return columns_[slots_[feature]]; }

    std::uint32_t n_rows_ = 0;
    std::vector<std::int32_t> slots_;  // by feature: its place in `columns_`; -1: none
    std::vector<ColumnOrder> columns_;
};

}  // namespace sktree_opt::subset
