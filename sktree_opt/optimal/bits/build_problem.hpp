// Lays the reduced rows out in words, and picks the number type that holds all sums.
#pragma once

#include <limits>

#include "sktree_opt/optimal/bits/reduction.hpp"

namespace sktree_opt {

// [segment][channel] factors.
inline std::vector<double> segment_coefficients(const Reduction& reduced,
                                                const Objective& objective, const ChannelPlan& plan,
                                                bool row_is_weight) {
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

inline LaneType pick_lane(const Objective& objective, const Reduction& reduced,
                          const std::vector<double>& coefficients, int n_all) {
    const bool counts = objective.score == Score::TWO_CLASS || objective.score == Score::LARGEST;
    if (!counts || reduced.has_values) return LaneType::DOUBLE;
    const double largest = largest_sum(reduced, coefficients, n_all);
    if (largest <= 32767.0) return LaneType::INT16;
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
                     Problem<Lane>& problem) {
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
             Problem<Lane>& problem) {
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

// Costs as multiples of a power of two: coarse enough that their sums are exact, fine enough not to
// be seen. Counted errors are whole anyway. Sums of real weights are rounded by a share of the
// whole that grows with the number of rows, which some units (see Problem::slack) have to cover,
// but no more: beside heavy rows, light ones would not count.
inline double cost_grid(const Objective& objective, LaneType lane, double split_cost,
                        double largest_cost, int n_rows) {
    if (lane != LaneType::DOUBLE && split_cost == std::floor(split_cost)) return objective.unit;
    int bits = 40;
    if (objective.score == Score::TWO_CLASS || objective.score == Score::LARGEST) {
        bits = std::clamp(56 - std::ilogb(static_cast<double>(n_rows)) - 1, 40, 49);
    }
    return std::ldexp(1.0, std::ilogb(std::max(largest_cost, 1e-290)) - bits);
}

}  // namespace sktree_opt
