// Lays the reduced rows out in words, and picks the number type that holds all sums.
#pragma once

#include <limits>

#include "sktree_opt/optimal/_reduction.hpp"

namespace sktree_opt {

// Channels after the score's: rows (min_samples_leaf), weight (min_weight_leaf), mass.
struct ChannelPlan {
    int n_channels = 1;
    bool counts_rows = false;
    bool sums_weights = false;
    int n_all() const { return n_channels + counts_rows + sums_weights + 1; }
};

inline ChannelPlan plan_channels(const Objective& objective, const Constraints& constraints) {
    return {
        objective.n_channels, constraints.min_samples_leaf > 1, constraints.min_weight_leaf > 0.0};
}

inline bool rows_are_weights(const Rows& rows) { return rows.weights == nullptr; }

// Everything that does not depend on the number type.
template <class Lane>
Reduction reduce(
    const Rows& rows, const Objective& objective, const Constraints& constraints,
    const Switches& switches, const Kernels<Lane>& kernels) {
    Reduction out;
    keep_distinct_columns(rows, kernels, switches.merge_columns, out);
    make_atoms(rows, switches.merge_rows, out);
    const ChannelPlan plan = plan_channels(objective, constraints);
    const bool alike = objective.n_classes == 2 &&
                       objective.class_mass[0] == objective.class_mass[1] && out.whole_weights;
    if (switches.merge_rows && objective.cancels && alike && !plan.counts_rows &&
        !plan.sums_weights)
        cancel_pairs(out);
    const bool by_bits = bits_pay(out);
    for (const Atom& atom : out.atoms)
        add_to_segments(out, atom.class_, atom.value, atom.row, atom.count, by_bits);
    if (plan.counts_rows && !rows_are_weights(rows)) {
        // Weighted rows are counted in segments of their own.
        for (std::int64_t i = 0; i < rows.n_rows; ++i)
            add_to_segments(out, -1, 0, static_cast<std::int32_t>(i), 1, false);
    }
    return out;
}

// [segment][channel] factors.
inline std::vector<double> segment_coefficients(
    const Reduction& reduced, const Objective& objective, const ChannelPlan& plan,
    bool row_is_weight) {
    std::vector<double> coefficients;
    for (const auto& segment : reduced.segments) {
        const auto [class_, value, bit] = segment.first;
        const double factor = std::ldexp(1.0, bit);
        if (class_ < 0) {
            std::vector<double> row(plan.n_all(), 0.0);
            row[plan.n_channels] = factor;
            coefficients.insert(coefficients.end(), row.begin(), row.end());
            continue;
        }
        const double weight = factor * reduced.values[value];
        for (int c = 0; c < plan.n_channels; ++c)
            coefficients.push_back(
                weight * objective.class_channels[class_ * plan.n_channels + c]);
        if (plan.counts_rows) coefficients.push_back(row_is_weight ? factor : 0.0);
        if (plan.sums_weights) coefficients.push_back(weight);
        coefficients.push_back(weight * objective.class_mass[class_]);
    }
    return coefficients;
}

// The largest magnitude that a channel can sum up to, or infinity if a factor is not whole.
inline double largest_sum(
    const Reduction& reduced, const std::vector<double>& coefficients, int n_all) {
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

template <class Lane>
void lay_out(const Reduction& reduced, const std::vector<double>& coefficients,
             Problem<Lane>& problem) {
    const int stride = padded(static_cast<int>(reduced.columns.size()));
    problem.columns = reduced.columns;
    problem.n_columns = static_cast<int>(reduced.columns.size());
    problem.stride = stride;
    problem.spans.clear();
    problem.n_words = 0;
    for (const auto& segment : reduced.segments) {
        const int n_words = static_cast<int>((segment.second.size() + 15) / 16);
        problem.spans.push_back({problem.n_words, n_words});
        problem.n_words += n_words;
    }
    problem.words.zeros(static_cast<std::size_t>(problem.n_words) * stride);
    problem.present.need(problem.n_words);
    std::size_t s = 0;
    for (const auto& segment : reduced.segments) {
        const Span span = problem.spans[s++];
        const int n = static_cast<int>(segment.second.size());
        if (stride > 0)
            problem.kernels.rows_to_words(
                reduced.bits.data(), reduced.row_bytes, segment.second.data(), n,
                problem.words.data() + static_cast<std::size_t>(span.first_word) * stride, stride);
        for (int w = 0; w < span.n_words; ++w) {
            const int count = std::min(16, n - 16 * w);
            problem.present[span.first_word + w] =
                static_cast<std::uint16_t>((1u << count) - 1u);
        }
    }
    problem.coefficients.resize(coefficients.size());
    for (std::size_t k = 0; k < coefficients.size(); ++k)
        problem.coefficients[k] = static_cast<Lane>(coefficients[k]);
}

inline double cost_grid(const Reduction& reduced, const Objective& objective,
                        const Constraints& constraints, double total_mass, bool whole) {
    if (whole && constraints.split_cost == 0.0 && objective.unit * 2.0 == std::floor(objective.unit * 2.0))
        return objective.unit;
    // Coarse enough that sums of costs are exact, fine enough not to be seen.
    (void)reduced;
    const double scale = std::max(total_mass * std::max(objective.loss_factor, 1.0), 1e-300);
    return std::ldexp(1.0, std::ilogb(scale) - 40);
}

}  // namespace sktree_opt
