// A column of an encoded table as every kernel reads it, and the ranking that makes one.
//
// Before a matrix is encoded, one pass over its memory finds infinities and small whole numbers.
// Codes of categories, counts and ratings are such numbers. They are told apart by counting,
// without sorting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

// The small whole numbers of a column, and whether it holds anything else.
class SmallNumbers {
public:
    static constexpr std::uint32_t LIMIT = 1 << 16;  // numbers below it are small

    void clear() {
        std::fill(occurs_.begin(), occurs_.begin() + end_, std::uint8_t{0});
        end_ = 0;
        n_missing_ = 0;
        is_small_ = true;
    }

    // `n` cells `stride` apart. False, and no more cells are read, once one of them is neither
    // missing nor a small whole number.
    template <typename Value>
    bool add_all(const Value* cells, std::size_t n, std::ptrdiff_t stride = 1) {
        if (!is_small_) return false;
        for (std::size_t i = 0; i < n; ++i, cells += stride) {
            const double value = static_cast<double>(*cells);
            if (!(value >= 0.0 && value < LIMIT)) {
                if (!std::isnan(value)) return is_small_ = false;
                ++n_missing_;
                continue;
            }
            const auto number = static_cast<std::uint32_t>(value);
            if (number != value) return is_small_ = false;
            reach(number + 1);
            occurs_[number] = 1;
        }
        return true;
    }

    // Adds what another one has seen.
    void merge(const SmallNumbers& other) {
        is_small_ = is_small_ && other.is_small_;
        n_missing_ += other.n_missing_;
        reach(other.end_);
        for (std::uint32_t number = 0; number < other.end_; ++number) {
            occurs_[number] |= other.occurs_[number];
        }
    }

    bool is_small() const { return is_small_; }
    std::size_t n_missing() const { return n_missing_; }
    std::uint32_t end() const { return end_; }  // all numbers are below it

    // visit(number), in their order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t number = 0; number < end_; ++number) {
            if (occurs_[number]) visit(number);
        }
    }

    std::vector<std::uint32_t> values() const {
        std::vector<std::uint32_t> values;
        for_each([&](std::uint32_t number) { values.push_back(number); });
        return values;
    }

private:
    // The marks grow with the largest number, because in most columns it is small.
    void reach(std::uint32_t end) {
        if (end <= end_) return;
        if (end > occurs_.size()) occurs_.resize(std::min(LIMIT, std::max(64u, 2 * end)));
        end_ = end;
    }

    std::vector<std::uint8_t> occurs_;
    std::uint32_t end_ = 0;
    std::size_t n_missing_ = 0;
    bool is_small_ = true;
};

struct Survey {
    std::vector<SmallNumbers> numbers;  // of each column that is asked for
    bool has_infinity = false;

    void merge(const Survey& other) {
        has_infinity = has_infinity || other.has_infinity;
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].merge(other.numbers[i]);
    }
};

// Written for compilers to test several cells at once: no exit within the loop.
template <typename Value>
bool any_infinite(const Value* cells, std::size_t n, std::ptrdiff_t stride) {
    int found = 0;
    if (stride == 1) {
        for (std::size_t i = 0; i < n; ++i) {
            found |= std::fabs(cells[i]) > std::numeric_limits<Value>::max();
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            found |= std::fabs(cells[static_cast<std::ptrdiff_t>(i) * stride]) >
                     std::numeric_limits<Value>::max();
        }
    }
    return found != 0;
}

// Looks at rows first..stop-1 and adds what is there to `survey`.
//
// As many rows at a time as the first cache holds: each cell is fetched once, whether the matrix is
// stored by rows or by columns, though columns are read one by one.
template <typename Value>
void survey_rows(const Value* cells, std::size_t n_columns, std::ptrdiff_t row_stride,
                 std::ptrdiff_t column_stride, const std::int64_t* columns, std::size_t first,
                 std::size_t stop, Survey& survey) {
    constexpr std::size_t CACHED_CELLS = 4096;
    const std::size_t n_at_once = std::max<std::size_t>(16, CACHED_CELLS / n_columns);
    for (std::size_t start = first; start < stop; start += n_at_once) {
        const std::size_t n = std::min(n_at_once, stop - start);
        const Value* row = cells + static_cast<std::ptrdiff_t>(start) * row_stride;
        for (std::size_t i = 0; i < survey.numbers.size(); ++i) {
            survey.numbers[i].add_all(row + columns[i] * column_stride, n, row_stride);
        }
        if (column_stride == 1) {
            for (std::size_t i = 0; i < n; ++i, row += row_stride) {
                survey.has_infinity |= any_infinite(row, n_columns, 1);
            }
        } else {
            for (std::size_t j = 0; j < n_columns; ++j, row += column_stride) {
                survey.has_infinity |= any_infinite(row, n, row_stride);
            }
        }
    }
}

struct ColumnView {
    const void* codes = nullptr;  // n_rows codes of `itemsize` bytes
    std::uint8_t itemsize = 1;    // 1, 2 or 4
    std::uint8_t is_nominal = 0;  // codes are categories, not ranks
    std::uint8_t has_missing = 0;
    std::uint32_t n_values = 0;       // codes are below it; this code itself means missing
    std::int32_t representative = 0;  // first column with equal content; itself if there is none
};

// Reads row `row` whatever the width; kernels that scan whole columns dispatch on itemsize once.
inline std::uint32_t code_at(const ColumnView& column, std::size_t row) {
    switch (column.itemsize) {
        case 1:
            return static_cast<const std::uint8_t*>(column.codes)[row];
        case 2:
            return static_cast<const std::uint16_t*>(column.codes)[row];
        default:
            return static_cast<const std::uint32_t*>(column.codes)[row];
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
// measurements with few digits, integers and float32 values have several of those. Ends in any
// order when it is told to stop.
inline void radix_sort(std::vector<RankingEntry>& entries, std::vector<RankingEntry>& buffer,
                       SearchControl& control) {
    const std::size_t n = entries.size();
    if (n < 512) {
        std::sort(entries.begin(), entries.end(),
                  [](const RankingEntry& a, const RankingEntry& b) { return a.key < b.key; });
        return;
    }
    buffer.resize(n);
    std::vector<std::uint32_t> counts(8 * 256, 0);
    for (const RankingEntry& entry : entries) {
        for (int digit = 0; digit < 8; ++digit) {
            ++counts[digit * 256 + ((entry.key >> (8 * digit)) & 255)];
        }
    }
    for (int digit = 0; digit < 8 && !control.poll(); ++digit) {
        std::uint32_t* count = &counts[digit * 256];
        if (count[(entries[0].key >> (8 * digit)) & 255] == n) continue;
        std::uint32_t start = 0;
        for (int bucket = 0; bucket < 256; ++bucket) {
            const std::uint32_t size = count[bucket];
            count[bucket] = start;
            start += size;
        }
        for (const RankingEntry& entry : entries) {
            buffer[count[(entry.key >> (8 * digit)) & 255]++] = entry;
        }
        entries.swap(buffer);
    }
}

// Memory that is handed over to whoever takes the column, as it is: copies of the distinct values
// of all columns at once would be as large as the table.
struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Memory = std::unique_ptr<T, Free>;

template <typename T>
Memory<T> allocate(std::size_t n_bytes) {
    Memory<T> memory(static_cast<T*>(std::malloc(std::max<std::size_t>(n_bytes, 1))));
    if (!memory) throw std::bad_alloc();
    return memory;
}

// An encoded column: its codes, in the narrowest type that holds them, and the values they mean.
struct EncodedColumn {
    Memory<void> codes;
    Memory<double> distinct;  // of a numeric column: its values, sorted
    int itemsize = 1;
    std::uint32_t n_values = 0;  // codes are below it; this code itself means missing
    std::size_t n_missing = 0;
    std::uint64_t hash = 0;  // equal for equal codes

    void* release_codes() { return codes.release(); }
    double* release_distinct() { return distinct.release(); }

    // Room for `n` codes, whose values are known to be `n_values`.
    void allocate_codes(std::size_t n) {
        itemsize = n_values <= 0xFF ? 1 : n_values <= 0xFFFF ? 2 : 4;
        codes = allocate<void>(n * itemsize);
    }

    void allocate_distinct() { distinct = allocate<double>(n_values * sizeof(double)); }

    // visit(pointer to the codes), which have the type of their width.
    template <class Visit>
    void write(Visit&& visit) {
        if (itemsize == 1) return visit(static_cast<std::uint8_t*>(codes.get()));
        if (itemsize == 2) return visit(static_cast<std::uint16_t*>(codes.get()));
        visit(static_cast<std::uint32_t*>(codes.get()));
    }

    // Eight bytes at a time: a multiplication for each code would cost as much as making it.
    void hash_codes(std::size_t n) {
        const auto* bytes = static_cast<const unsigned char*>(codes.get());
        const std::size_t n_bytes = n * itemsize;
        hash = 1469598103934665603ull + n_bytes;
        for (std::size_t at = 0; at < n_bytes; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + at, std::min<std::size_t>(8, n_bytes - at));
            hash = (hash ^ word) * 1099511628211ull;
            hash ^= hash >> 29;
        }
    }
};

// Buffers of one thread, kept from column to column: fresh memory costs as much as a sort.
struct EncodingWorkspace {
    std::vector<RankingEntry> entries, buffer;
    SmallNumbers small;
    std::vector<std::uint32_t> rank_of;

    // Columns copied out of a matrix.
    template <typename Value>
    Value* gathered(std::size_t n) {
        auto& cells = std::get<std::vector<Value>>(gathered_);
        cells.resize(std::max(cells.size(), n));
        return cells.data();
    }

private:
    std::tuple<std::vector<float>, std::vector<double>> gathered_;
};

// By counting: small whole numbers need no sort.
template <typename Value>
void rank_small(const Value* values, std::size_t n, EncodingWorkspace& ws, EncodedColumn& out) {
    ws.rank_of.resize(ws.small.end());
    ws.small.for_each([&](std::uint32_t number) { ws.rank_of[number] = out.n_values++; });
    out.allocate_distinct();
    double* distinct = out.distinct.get();
    ws.small.for_each([&](std::uint32_t number) { *distinct++ = number; });
    out.n_missing = ws.small.n_missing();
    out.allocate_codes(n);
    out.write([&](auto* codes) {
        using Code = std::remove_reference_t<decltype(*codes)>;
        for (std::size_t row = 0; row < n; ++row) {
            const Value value = values[row];
            codes[row] = static_cast<Code>(
                std::isnan(value) ? out.n_values : ws.rank_of[static_cast<std::uint32_t>(value)]);
        }
    });
}

template <typename Value>
void rank_by_sorting(const Value* values, std::size_t n, SearchControl& control,
                     EncodingWorkspace& ws, EncodedColumn& out) {
    ws.entries.clear();
    ws.entries.reserve(n);
    for (std::size_t row = 0; row < n; ++row) {
        const double value = static_cast<double>(values[row]);
        if (!std::isnan(value)) {
            ws.entries.push_back({ordered_bits(value), static_cast<std::uint32_t>(row)});
        }
    }
    radix_sort(ws.entries, ws.buffer, control);
    if (control.stopped()) return;
    const std::vector<RankingEntry>& entries = ws.entries;
    out.n_missing = n - entries.size();
    const auto is_first = [&](std::size_t i) {
        return i == 0 || entries[i].key != entries[i - 1].key;
    };
    for (std::size_t i = 0; i < entries.size(); ++i) out.n_values += is_first(i);
    out.allocate_distinct();
    double* distinct = out.distinct.get();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (is_first(i)) *distinct++ = static_cast<double>(values[entries[i].row]) + 0.0;
    }
    out.allocate_codes(n);
    out.write([&](auto* codes) {
        using Code = std::remove_reference_t<decltype(*codes)>;
        if (out.n_missing > 0) std::fill(codes, codes + n, static_cast<Code>(out.n_values));
        Code rank = 0;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            rank = static_cast<Code>(rank + (i > 0 && is_first(i)));
            codes[entries[i].row] = rank;
        }
    });
}

// Ranks of `n` values among the sorted distinct ones; NaN is missing.
template <typename Value>
void rank_values(const Value* values, std::size_t n, SearchControl& control, EncodingWorkspace& ws,
                 EncodedColumn& out) {
    ws.small.clear();
    if (ws.small.add_all(values, n)) {
        rank_small(values, n, ws, out);
    } else {
        rank_by_sorting(values, n, control, ws, out);
    }
}

// Category codes stored as floats; NaN is missing.
template <typename Value>
void copy_codes(const Value* values, std::size_t n, std::uint32_t n_categories,
                EncodedColumn& out) {
    out.n_values = n_categories;
    out.allocate_codes(n);
    out.write([&](auto* codes) {
        using Code = std::remove_reference_t<decltype(*codes)>;
        std::size_t n_missing = 0;
        for (std::size_t row = 0; row < n; ++row) {
            const bool is_missing = std::isnan(values[row]);
            n_missing += is_missing;
            codes[row] = static_cast<Code>(is_missing ? n_categories
                                                      : static_cast<std::uint32_t>(values[row]));
        }
        out.n_missing = n_missing;
    });
}

// Encodes columns first..stop-1 of a matrix into out[first..stop-1], in one pass over its rows.
//
// A few columns at a time are copied to lie one after the other, unless they do already: a column
// of a matrix stored by rows touches a line of memory for each cell, eight neighbours touch no
// more.
template <typename Value>
void encode_columns(const Value* cells, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride,
                    std::size_t n, const std::int64_t* n_categories, std::size_t first,
                    std::size_t stop, SearchControl& control, EncodingWorkspace& ws,
                    EncodedColumn* out) {
    const std::size_t width = stop - first;
    const Value* columns = cells + static_cast<std::ptrdiff_t>(first) * column_stride;
    if (row_stride != 1) {
        Value* gathered = ws.gathered<Value>(width * n);
        for (std::size_t row = 0; row < n; ++row, columns += row_stride) {
            for (std::size_t j = 0; j < width; ++j) {
                gathered[j * n + row] = columns[static_cast<std::ptrdiff_t>(j) * column_stride];
            }
        }
        columns = gathered;
        column_stride = static_cast<std::ptrdiff_t>(n);
    }
    for (std::size_t j = first; j < stop && !control.poll(); ++j) {
        const Value* column = columns + static_cast<std::ptrdiff_t>(j - first) * column_stride;
        if (n_categories[j] >= 0) {
            copy_codes(column, n, static_cast<std::uint32_t>(n_categories[j]), out[j]);
        } else {
            rank_values(column, n, control, ws, out[j]);
        }
        if (out[j].codes) out[j].hash_codes(n);
    }
}

inline bool same_codes(const ColumnView& a, const ColumnView& b, std::size_t n_rows) {
    return a.itemsize == b.itemsize && a.n_values == b.n_values && a.is_nominal == b.is_nominal &&
           std::memcmp(a.codes, b.codes, n_rows * a.itemsize) == 0;
}

}  // namespace sktree_opt
