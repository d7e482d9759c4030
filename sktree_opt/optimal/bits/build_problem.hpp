// Lays the reduced rows out in words, and picks the number type that holds all sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "sktree_opt/optimal/bits/bit_problem.hpp"
#include "sktree_opt/optimal/bits/buffer.hpp"
#include "sktree_opt/optimal/bits/row_set.hpp"

namespace sktree_opt {

// From a table's rows to the smallest equal problem. Exact.
//
// Columns: see ColumnFilter. Rows with equal features become one row with a weight. With two
// classes of equal weight, a pair of equal rows of opposite classes adds one error to every tree,
// which goes into a constant. The equivalent-points bound of OSDT (Hu et al., NeurIPS 2019) counts
// the same rows. A weight k = sum of 2^b puts the row into segments b, whose counts the kernel
// multiplies by 2^b, so the same popcounts serve weighted rows. Time O(n_rows * n_columns / 8) and
// a hash table of the rows.

// Rows of one class and weight with the same features: `count` times rows `row`.
struct Atom {
    std::int32_t row;    // one that has these features
    std::int32_t group;  // of all rows with these features
    std::int32_t class_;
    std::int32_t value;  // index of the weight; with whole weights there is only 1
    std::int64_t count;
};

// Segments are told apart by class (-1: rows counted for min_samples_leaf only), weight and bit.
using SegmentName = std::tuple<std::int32_t, std::int32_t, int>;

struct Reduction {
    std::vector<std::int32_t> columns;  // kept, original indices
    std::vector<std::uint8_t> bits;     // of kept columns, by row
    int row_bytes = 0;
    std::vector<Atom> atoms;
    std::vector<double> values;  // the weights
    bool whole_weights = true;
    double cancelled = 0.0;            // pairs that went into the constant
    double within = 0.0;               // base of targets about the means of equal rows: the same
    bool has_values = false;           // rows carry real numbers: `groups` in place of segments
    std::vector<std::int32_t> groups;  // a row of each
    std::vector<double> group_values;  // [group][channel]
    double common_weight = 0.0;        // of all groups, with targets; 0 if they differ
    std::map<SegmentName, std::vector<std::int32_t>> segments;  // rows of each
};

// Finds columns that can never matter beside others: constant, equal, or one the complement of
// another. A test and its negation make the same trees. Hashes find candidates, a comparison of
// words decides. Time O(n_words * stride).
class ColumnFilter {
public:
    ColumnFilter(const std::uint16_t* words, const std::uint16_t* present, int n_words, int stride)
        : words_(words), present_(present), n_words_(n_words), stride_(stride) {}

    // Indices of the columns to keep, the first of each kind, in order.
    std::vector<std::int32_t> distinct(int n_columns) {
        hash_columns();
        int bits = 4;
        while ((1 << bits) < 2 * n_columns) ++bits;
        std::vector<std::int32_t> places(std::size_t(1) << bits, -1), kept;
        std::vector<std::uint64_t> keys(places.size());
        for (int j = 0; j < n_columns; ++j) {
            const std::uint64_t key = std::min(hashes_[j], of_all_ - hashes_[j]);
            std::size_t at = (key * HASH_FACTOR) >> (64 - bits);
            bool is_new = !is_constant(j);
            for (; is_new && places[at] >= 0; at = (at + 1) & (places.size() - 1)) {
                is_new = keys[at] != key || !coincide(j, places[at]);
            }
            if (!is_new) continue;
            places[at] = j;
            keys[at] = key;
            kept.push_back(j);
        }
        return kept;
    }

private:
    // Polynomial hashes: that of a complement follows by subtraction from that of all rows.
    void hash_columns() {
        hashes_.assign(stride_, 0);
        of_all_ = 0;
        for (int w = 0; w < n_words_; ++w) {
            const std::uint16_t* row = words_ + static_cast<std::ptrdiff_t>(w) * stride_;
            for (int j = 0; j < stride_; ++j) hashes_[j] = hashes_[j] * HASH_FACTOR + row[j];
            of_all_ = of_all_ * HASH_FACTOR + present_[w];
        }
    }

    bool is_constant(int j) const {
        bool all = true, none = true;
        for (int w = 0; w < n_words_ && (all || none); ++w) {
            const std::uint16_t word = words_[static_cast<std::ptrdiff_t>(w) * stride_ + j];
            all = all && word == present_[w];
            none = none && word == 0;
        }
        return all || none;
    }

    bool coincide(int i, int j) const {
        bool equal = true, opposite = true;
        for (int w = 0; w < n_words_ && (equal || opposite); ++w) {
            const std::uint16_t* row = words_ + static_cast<std::ptrdiff_t>(w) * stride_;
            equal = equal && row[i] == row[j];
            opposite = opposite && (row[i] ^ row[j]) == present_[w];
        }
        return equal || opposite;
    }

    const std::uint16_t *words_, *present_;
    const int n_words_, stride_;
    std::vector<std::uint64_t> hashes_;
    std::uint64_t of_all_ = 0;
};

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

inline void keep_distinct_columns(const InputRows& rows, const BitKernels& kernels, bool merge,
                                  Reduction& out) {
    const int n = static_cast<int>(rows.n_rows), stride = padded(rows.n_columns);
    const int n_words = (n + 15) / 16;
    std::vector<std::int32_t> slots(n);
    for (int i = 0; i < n; ++i) slots[i] = i;
    Buffer<std::uint16_t> words, kept_words;
    kernels.rows_to_words(rows.bits, rows.row_bytes, slots.data(), n,
                          words.need(static_cast<std::size_t>(n_words) * stride), stride);
    std::vector<std::uint16_t> present(n_words, 0xFFFF);
    if (n % 16 != 0) present.back() = static_cast<std::uint16_t>((1 << (n % 16)) - 1);
    if (merge) {
        out.columns =
            ColumnFilter(words.data(), present.data(), n_words, stride).distinct(rows.n_columns);
    } else {
        out.columns.clear();
        for (int j = 0; j < rows.n_columns; ++j) out.columns.push_back(j);
    }
    const int kept_stride = padded(static_cast<int>(out.columns.size()));
    out.row_bytes = kept_stride / 8;
    keep_columns(words.data(), n_words, stride, out.columns,
                 kept_words.need(static_cast<std::size_t>(n_words) * kept_stride), kept_stride);
    // The last word has a few rows more than there are.
    out.bits.resize(static_cast<std::size_t>(n_words) * 16 * out.row_bytes);
    kernels.words_to_rows(kept_words.data(), n_words, kept_stride, out.bits.data(), out.row_bytes);
}

inline std::uint64_t hash_bytes(const std::uint8_t* bytes, int size) {
    std::uint64_t hash = 0x243F6A8885A308D3ull;
    for (int k = 0; k < size; k += 4) {  // row_bytes is a multiple of 4
        std::uint32_t part;
        std::memcpy(&part, bytes + k, sizeof(part));
        hash = (hash ^ part) * HASH_FACTOR;
        hash ^= hash >> 29;
    }
    return hash;
}

// For each row the first row with the same features.
inline std::vector<std::int32_t> first_equal_rows(const Reduction& reduced, std::int64_t n_rows) {
    int bits = 4;
    while ((std::int64_t(1) << bits) < 2 * n_rows) ++bits;
    std::vector<std::int32_t> places(std::size_t(1) << bits, -1), first(n_rows);
    const int size = reduced.row_bytes;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::uint8_t* row = reduced.bits.data() + i * size;
        std::size_t at = hash_bytes(row, size) >> (64 - bits);
        // Without features there is nothing to compare.
        while (places[at] >= 0 && size > 0 &&
               std::memcmp(reduced.bits.data() + std::int64_t(places[at]) * size, row, size) != 0) {
            at = (at + 1) & (places.size() - 1);
        }
        if (places[at] < 0) places[at] = static_cast<std::int32_t>(i);
        first[i] = places[at];
    }
    return first;
}

inline void index_weights(const InputRows& rows, Reduction& out,
                          std::vector<std::int32_t>& indices) {
    indices.assign(rows.n_rows, 0);
    out.values = {1.0};
    out.whole_weights = true;
    if (rows.weights == nullptr) return;
    for (std::int64_t i = 0; i < rows.n_rows && out.whole_weights; ++i) {
        out.whole_weights =
            rows.weights[i] == std::floor(rows.weights[i]) && rows.weights[i] < (1 << 24);
    }
    if (out.whole_weights) return;
    out.values.assign(rows.weights, rows.weights + rows.n_rows);
    std::sort(out.values.begin(), out.values.end());
    out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        indices[i] = static_cast<std::int32_t>(
            std::lower_bound(out.values.begin(), out.values.end(), rows.weights[i]) -
            out.values.begin());
    }
}

// Stable, by counting; keys are below `n_keys`.
template <class KeyOf>
void sort_atoms(std::vector<Atom>& atoms, std::int32_t n_keys, const KeyOf& key_of) {
    if (n_keys <= 1) return;
    std::vector<std::size_t> place(static_cast<std::size_t>(n_keys) + 1, 0);
    for (const Atom& atom : atoms) ++place[key_of(atom) + 1];
    for (std::int32_t key = 0; key < n_keys; ++key) place[key + 1] += place[key];
    std::vector<Atom> sorted(atoms.size());
    for (const Atom& atom : atoms) sorted[place[key_of(atom)]++] = atom;
    atoms.swap(sorted);
}

inline void make_atoms(const InputRows& rows, int n_classes,
                       const std::vector<std::int32_t>& value_of,
                       const std::vector<std::int32_t>& first, Reduction& out) {
    const bool weighted = rows.weights != nullptr && out.whole_weights;
    out.atoms.reserve(rows.n_rows);
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        const std::int64_t count = weighted ? static_cast<std::int64_t>(rows.weights[i]) : 1;
        out.atoms.push_back(
            {static_cast<std::int32_t>(i), first[i], rows.classes[i], value_of[i], count});
    }
    // By group, class and weight, in linear time: the last key first.
    const std::int32_t n_values = static_cast<std::int32_t>(out.values.size());
    sort_atoms(out.atoms, n_values, [](const Atom& a) { return a.value; });
    sort_atoms(out.atoms, n_classes, [](const Atom& a) { return a.class_; });
    const std::int32_t n_groups = static_cast<std::int32_t>(rows.n_rows);
    sort_atoms(out.atoms, n_groups, [](const Atom& a) { return a.group; });
    const auto name = [](const Atom& a) { return std::make_tuple(a.group, a.class_, a.value); };
    std::size_t n_kept = 0;
    for (const Atom& atom : out.atoms) {
        if (n_kept > 0 && name(out.atoms[n_kept - 1]) == name(atom)) {
            out.atoms[n_kept - 1].count += atom.count;
        } else {
            out.atoms[n_kept++] = atom;
        }
    }
    out.atoms.resize(n_kept);
}

// Two classes that weigh alike: equal rows of both cancel.
inline void cancel_pairs(Reduction& out) {
    std::size_t n_kept = 0;
    for (std::size_t k = 0; k < out.atoms.size(); ++k) {
        Atom atom = out.atoms[k];
        if (n_kept > 0 && out.atoms[n_kept - 1].group == atom.group) {
            Atom& other = out.atoms[n_kept - 1];
            const std::int64_t pairs = std::min(other.count, atom.count);
            out.cancelled += static_cast<double>(pairs);
            other.count -= pairs;
            atom.count -= pairs;
            if (other.count == 0) --n_kept;
        }
        if (atom.count > 0) out.atoms[n_kept++] = atom;
    }
    out.atoms.resize(n_kept);
}

inline void add_to_segments(Reduction& out, std::int32_t class_, std::int32_t value,
                            std::int32_t row, std::int64_t count, bool by_bits) {
    if (!by_bits) {
        auto& rows = out.segments[{class_, value, 0}];
        rows.insert(rows.end(), count, row);
        return;
    }
    for (int bit = 0; (count >> bit) != 0; ++bit) {
        if ((count >> bit) & 1) {
            out.segments[{class_, value, bit}].push_back(row);
        }
    }
}

// Whether a row for each bit of a weight makes less work than repeating the row. Work is the number
// of words of a node with an eighth of the rows, where each segment wastes half a word.
inline bool bits_pay(const Reduction& out) {
    std::map<SegmentName, std::int64_t> by_bits, repeated;
    for (const Atom& atom : out.atoms) {
        repeated[{atom.class_, atom.value, 0}] += atom.count;
        for (int bit = 0; (atom.count >> bit) != 0; ++bit) {
            by_bits[{atom.class_, atom.value, bit}] += (atom.count >> bit) & 1;
        }
    }
    const auto words = [](const std::map<SegmentName, std::int64_t>& segments) {
        double sum = 0.0;
        for (const auto& segment : segments) sum += segment.second / 128.0 + 0.5;
        return sum;
    };
    return words(by_bits) < words(repeated);
}

// Real values of one row, by channel.
inline void row_values(const InputRows& rows, const BitObjective& objective,
                       const ChannelPlan& plan, std::int64_t i, double* values) {
    const double weight = rows.weights == nullptr ? 1.0 : rows.weights[i];
    if (objective.has_target()) {
        const double y = rows.targets[i];
        values[0] += weight;
        values[1] += weight * y;
        values[plan.base()] += weight * y * y;
    } else {
        const int class_ = rows.classes[i];
        for (int c = 0; c < plan.n_channels; ++c) {
            values[c] += weight * objective.channel(class_, c);
        }
        values[plan.mass()] += weight * objective.class_mass[class_];
    }
    if (plan.counts_rows) values[plan.rows()] += 1.0;
    if (plan.sums_weights) values[plan.weights()] += weight;
}

// Equal rows get the same answer, so their squares about their own mean are in every tree's cost.
inline void centre_groups(const ChannelPlan& plan, Reduction& out) {
    const int n_all = plan.n_all();
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    for (std::size_t at = 0; at < out.group_values.size(); at += n_all) {
        const double mean = out.group_values[at + 1] / out.group_values[at];
        least = std::min(least, mean);
        largest = std::max(largest, mean);
    }
    out.common_weight = out.group_values.empty() ? 0.0 : out.group_values[0];
    for (std::size_t at = 0; at < out.group_values.size(); at += n_all) {
        double* values = out.group_values.data() + at;
        const double weight = values[0], mean = values[1] / weight;
        const double between = values[1] * mean;
        out.within += std::max(0.0, values[plan.base()] - between);
        values[plan.base()] = between;
        // No leaf's mean is farther away than the farther end of the range of means.
        const double reach = std::max(mean - least, largest - mean);
        values[plan.mass()] = weight * reach * reach;
        if (weight != out.common_weight) out.common_weight = 0.0;
    }
}

// Makes one row of all rows with the same features. Its values are sums.
inline void make_groups(const InputRows& rows, const BitObjective& objective,
                        const ChannelPlan& plan, const std::vector<std::int32_t>& first,
                        Reduction& out) {
    std::vector<std::int32_t> group_of(rows.n_rows, -1);
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        std::int32_t& group = group_of[first[i]];
        if (group < 0) {
            group = static_cast<std::int32_t>(out.groups.size());
            out.groups.push_back(static_cast<std::int32_t>(i));
            out.group_values.resize(out.group_values.size() + plan.n_all(), 0.0);
        }
        row_values(rows, objective, plan, i,
                   out.group_values.data() + static_cast<std::size_t>(group) * plan.n_all());
    }
    if (objective.has_target()) centre_groups(plan, out);
}

// Each distinct weight needs a segment of its own. With many weights, summing row by row is
// cheaper.
inline bool values_pay(const InputRows& rows, const BitObjective& objective,
                       std::size_t n_weights) {
    return objective.has_target() ||
           (n_weights > 8 && static_cast<std::int64_t>(n_weights) * 64 > rows.n_rows);
}

inline Reduction reduce(const InputRows& rows, const BitObjective& objective,
                        const BitConstraints& constraints, const BitSwitches& switches,
                        const BitKernels& kernels) {
    Reduction out;
    keep_distinct_columns(rows, kernels, switches.merge_columns, out);
    std::vector<std::int32_t> first, value_of;
    if (switches.merge_rows) {
        first = first_equal_rows(out, rows.n_rows);
    } else {
        first.resize(rows.n_rows);
        for (std::int64_t i = 0; i < rows.n_rows; ++i) first[i] = static_cast<std::int32_t>(i);
    }
    const ChannelPlan plan = plan_channels(objective, constraints);
    index_weights(rows, out, value_of);
    out.has_values = values_pay(rows, objective, out.values.size());
    if (out.has_values) {
        make_groups(rows, objective, plan, first, out);
        return out;
    }
    make_atoms(rows, objective.n_classes, value_of, first, out);
    const bool alike = objective.n_classes == 2 && out.whole_weights &&
                       objective.class_mass[0] == objective.class_mass[1];
    if (switches.merge_rows && objective.cancels && alike && plan.n_supports() == 0) {
        cancel_pairs(out);
    }
    const bool by_bits = bits_pay(out);
    for (const Atom& atom : out.atoms) {
        add_to_segments(out, atom.class_, atom.value, atom.row, atom.count, by_bits);
    }
    if (plan.counts_rows && rows.weights != nullptr) {
        // Weighted rows are counted in a segment of their own.
        for (std::int64_t i = 0; i < rows.n_rows; ++i) {
            add_to_segments(out, -1, 0, static_cast<std::int32_t>(i), 1, false);
        }
    }
    return out;
}

// [segment][channel] factors.
inline std::vector<double> segment_coefficients(const Reduction& reduced,
                                                const BitObjective& objective,
                                                const ChannelPlan& plan, bool row_is_weight) {
    std::vector<double> all;
    for (const auto& segment : reduced.segments) {
        const auto [class_, value, bit] = segment.first;
        const double factor = std::ldexp(1.0, bit);
        std::vector<double> one(plan.n_all(), 0.0);
        if (class_ < 0) {
            one[plan.rows()] = factor;
        } else {
            const double weight = factor * reduced.values[value];
            for (int c = 0; c < plan.n_channels; ++c) {
                one[c] = weight * objective.channel(class_, c);
            }
            if (plan.counts_rows && row_is_weight) one[plan.rows()] = factor;
            if (plan.sums_weights) one[plan.weights()] = weight;
            one[plan.mass()] = weight * objective.class_mass[class_];
        }
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

// The largest magnitude that a channel can sum up to, or infinity if a factor is not whole.
inline double largest_sum(const Reduction& reduced, const std::vector<double>& coefficients,
                          int n_all) {
    std::vector<double> sums(n_all, 0.0);
    std::size_t s = 0;
    for (const auto& segment : reduced.segments) {
        for (int c = 0; c < n_all; ++c) {
            const double factor = coefficients[s * n_all + c];
            if (factor != std::floor(factor)) return std::numeric_limits<double>::infinity();
            sums[c] += std::fabs(factor) * static_cast<double>(segment.second.size());
        }
        ++s;
    }
    return sums.empty() ? 0.0 : *std::max_element(sums.begin(), sums.end());
}

enum class LaneType { INT16, INT32, DOUBLE };

inline LaneType pick_lane(const BitObjective& objective, const Reduction& reduced,
                          const std::vector<double>& coefficients, int n_all, bool may_be_narrow) {
    const bool counts = objective.score == Score::TWO_CLASS || objective.score == Score::LARGEST;
    if (!counts || reduced.has_values) return LaneType::DOUBLE;
    const double largest = largest_sum(reduced, coefficients, n_all);
    if (largest <= 32767.0 && may_be_narrow) return LaneType::INT16;
    return largest < 1073741824.0 ? LaneType::INT32 : LaneType::DOUBLE;
}

inline void mark_present(Span span, int n_rows, std::uint16_t* present) {
    for (int w = 0; w < span.n_words; ++w) {
        present[span.first_word + w] =
            static_cast<std::uint16_t>((1u << std::min(16, n_rows - 16 * w)) - 1u);
    }
}

template <class Lane>
void lay_out_segment(const Reduction& reduced, const std::vector<std::int32_t>& rows, Span span,
                     BitProblem<Lane>& problem) {
    const int n = static_cast<int>(rows.size());
    if (problem.stride > 0) {
        problem.bits.rows_to_words(
            reduced.bits.data(), reduced.row_bytes, rows.data(), n,
            problem.words.data() + static_cast<std::size_t>(span.first_word) * problem.stride,
            problem.stride);
    }
    mark_present(span, n, problem.present.data());
}

template <class Lane>
void lay_out(const Reduction& reduced, const std::vector<double>& coefficients,
             BitProblem<Lane>& problem) {
    problem.columns = reduced.columns;
    problem.n_columns = static_cast<int>(reduced.columns.size());
    problem.stride = padded(problem.n_columns);
    problem.has_values = reduced.has_values;
    problem.spans.clear();
    problem.n_words = 0;
    const auto add_span = [&problem](std::size_t n_rows) {
        const int n_words = static_cast<int>((n_rows + 15) / 16);
        problem.spans.push_back({problem.n_words, n_words});
        problem.n_words += n_words;
    };
    if (reduced.has_values) add_span(reduced.groups.size());
    for (const auto& segment : reduced.segments) add_span(segment.second.size());
    problem.words.zeros(static_cast<std::size_t>(problem.n_words) * problem.stride);
    problem.present.need(problem.n_words);
    if (reduced.has_values) {
        const int n_all = problem.channels.n_all();
        lay_out_segment(reduced, reduced.groups, problem.spans[0], problem);
        problem.values.zeros(static_cast<std::size_t>(problem.n_words) * 16 * n_all);
        std::copy(reduced.group_values.begin(), reduced.group_values.end(), problem.values.data());
    }
    std::size_t s = 0;
    for (const auto& segment : reduced.segments) {
        lay_out_segment(reduced, segment.second, problem.spans[s++], problem);
    }
    problem.coefficients.assign(coefficients.begin(), coefficients.end());
}

// Costs are multiples of a power of two. It is large enough that sums are exact, and too small to
// matter. Counted errors are whole numbers. Sums of real weights are rounded by a share that grows
// with the number of rows, and some units (see BitProblem::slack) must cover it. With larger units,
// light rows would not count beside heavy ones.
inline double cost_grid(const BitObjective& objective, LaneType lane, double split_cost,
                        double largest_cost, int n_rows) {
    if (lane != LaneType::DOUBLE && split_cost == std::floor(split_cost)) return objective.unit;
    int bits = 40;
    if (objective.score == Score::TWO_CLASS || objective.score == Score::LARGEST) {
        bits = std::clamp(56 - std::ilogb(static_cast<double>(n_rows)) - 1, 40, 49);
    }
    return std::ldexp(1.0, std::ilogb(std::max(largest_cost, 1e-290)) - bits);
}

}  // namespace sktree_opt
