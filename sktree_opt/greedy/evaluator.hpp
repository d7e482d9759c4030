// One criterion behind one virtual call per feature and node; all loops inside are compiled for the
// measure, the kind of weights and the width of the entries.
//
// gain(a, C) = (known weight / weight) * (impurity of the known cases - mean impurity of the branches)
// (Quinlan 1993, section 3.1). gain_ratio divides the best gain of the feature by the split
// information, in which missing values count as one more branch; the threshold itself is the one of
// best gain, as in C4.5. numeric_gain_penalty subtracts log2(thresholds tried) / weight from the gain
// of a numeric feature (Quinlan, JAIR 4, 1996, doi:10.1613/jair.279).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "sktree_opt/greedy/measures.hpp"
#include "sktree_opt/greedy/ordering.hpp"
#include "sktree_opt/greedy/split_search.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

enum class Measure : std::uint8_t { ENTROPY, GINI, GINI_COST, ERROR, SQUARED_ERROR };

// Up to so many categories, cases are counted by category instead of ordered.
constexpr std::uint32_t MAX_COUNTED_CATEGORIES = 32;

// The cases at a node in the order of one column.
template <class Entry>
struct OrderedCases {
    const Entry* entries;
    std::uint32_t n;
    std::uint32_t n_known;
    bool is_nominal;
};

class Evaluator {
public:
    virtual ~Evaluator() = default;
    // Fills `candidate` (already reset) when the column has a valid split.
    virtual void evaluate(const OrderedCases<std::uint32_t>& ordered, const Cases& cases,
                          const NodeTotals& totals, SideMemory& memory,
                          SplitCandidate& candidate) const = 0;
    virtual void evaluate(const OrderedCases<std::uint64_t>& ordered, const Cases& cases,
                          const NodeTotals& totals, SideMemory& memory,
                          SplitCandidate& candidate) const = 0;
    // The same for a multiway split of a nominal column of few categories, from the cases as they
    // come: categories are counted, not ordered.
    virtual void evaluate_counted(const Column& column, const std::uint32_t* rows, std::uint32_t n,
                                  const Cases& cases, const NodeTotals& totals, SideMemory& memory,
                                  SplitCandidate& candidate) const = 0;
    // Fills `candidate` for the gain of its split, times the weight of the node.
    virtual void rate(double gain_sum, std::uint32_t n_tried, double branch_logs,
                      const NodeTotals& totals, SplitCandidate& candidate) const = 0;
    // Impurity of a classification node from its class weights.
    virtual double impurity(const NodeTotals& totals, SideMemory& memory) const = 0;
};

template <class M>
class EvaluatorOf final : public Evaluator {
public:
    EvaluatorOf(const MeasureContext& context, const SplitRules& rules)
        : context_(context), rules_(rules) {}

    void evaluate(const OrderedCases<std::uint32_t>& ordered, const Cases& cases,
                  const NodeTotals& totals, SideMemory& memory,
                  SplitCandidate& candidate) const override {
        search(ordered, cases, totals, memory, candidate);
    }
    void evaluate(const OrderedCases<std::uint64_t>& ordered, const Cases& cases,
                  const NodeTotals& totals, SideMemory& memory,
                  SplitCandidate& candidate) const override {
        search(ordered, cases, totals, memory, candidate);
    }
    void evaluate_counted(const Column& column, const std::uint32_t* rows, std::uint32_t n,
                          const Cases& cases, const NodeTotals& totals, SideMemory& memory,
                          SplitCandidate& candidate) const override {
        if (!(totals.impurity > 0.0)) return;
        const std::uint32_t k = context_.n_classes, n_slots = column.n_values + 1;
        const std::uint32_t n_lanes = n >= 4 * LANES * n_slots * k ? LANES : 1;
        const std::uint32_t n_counted = n_lanes * n_slots;
        memory.reset(k, n_counted + 2);
        double *counts, *known;  // by code and class, missing last; of all known cases
        memory.get(0, counts);
        memory.get(n_counted, known);
        std::fill_n(counts, static_cast<std::size_t>(n_counted + 1) * k, 0.0);
        with_codes(column, [&](auto codes) {
            count_cases(codes, rows, n, cases, n_lanes, n_slots * k, counts);
        });
        M measure;
        measure.context = context_;
        typename M::Side side;
        if constexpr (M::HAS_COUNTS) memory.get(n_counted + 1, side.counts);
        Found<typename M::Score> found;
        found.score = 0;
        found.n_branches = 0;
        std::uint32_t n_heavy = 0;
        double known_weight = 0.0, missing_weight = 0.0;
        for (std::uint32_t code = 0; code < n_slots; ++code, counts += k) {
            const double weight = std::accumulate(counts, counts + k, 0.0);
            if (!(weight > 0.0)) continue;
            if (code == column.n_values) {
                missing_weight = weight;
                continue;
            }
            for (std::uint32_t c = 0; c < k; ++c) known[c] += counts[c];
            known_weight += weight;
            ++found.n_branches;
            n_heavy += weight >= rules_.min_leaf_weight;
            found.branch_logs += x_log2_x(weight);
            measure.assign(side, counts, weight);
            found.score += measure.score(side);
        }
        if (found.n_branches < 2 || n_heavy < 2) return;
        measure.assign(side, known, known_weight);
        candidate.kind = SplitKind::MULTIWAY;
        candidate.low = candidate.high = 0;
        candidate.n_branches = found.n_branches;
        rate(measure.to_real(found.score - measure.score(side)), 0,
             found.branch_logs + x_log2_x(missing_weight), totals, candidate);
    }
    double impurity(const NodeTotals& totals, SideMemory& memory) const override {
        if (context_.n_classes == 0) return totals.impurity;
        if (totals.weight <= 0.0) return 0.0;
        memory.reset(context_.n_classes, 1);
        M measure;
        measure.context = context_;
        typename M::Side side;
        if constexpr (M::HAS_COUNTS) memory.get(0, side.counts);
        measure.assign(side, totals.outputs.data(), totals.weight);
        return std::max(0.0, -measure.to_real(measure.score(side)) / totals.weight);
    }

    // The gain of the feature, and its quality if it is valid.
    void rate(double gain_sum, std::uint32_t n_tried, double branch_logs, const NodeTotals& totals,
              SplitCandidate& candidate) const override {
        double gain = gain_sum / totals.weight;
        if (rules_.numeric_gain_penalty && candidate.kind == SplitKind::NUMERIC) {
            gain -= std::log2(static_cast<double>(n_tried)) / totals.weight;
        }
        const double share = round_quality(gain / totals.impurity);
        if (!(share > 0.0) || gain < rules_.min_gain * (1.0 - 1e-9)) return;
        candidate.gain = gain;
        candidate.quality = share;
        candidate.worth = share * totals.impurity;
        if (rules_.gain_ratio) {
            const double split_information =
                std::log2(totals.weight) - branch_logs / totals.weight;
            candidate.quality = candidate.worth = round_quality(gain / split_information);
        }
    }

private:
    // Tables that cases are counted into in turn. Where most cases have one value, as in columns that
    // are rarely true, each sum would else wait for the one before to be stored.
    static constexpr std::uint32_t LANES = 4;

    // Weights of the cases by code and class, in the first of the tables of `stride` sums.
    template <class Code>
    void count_cases(const Code* codes, const std::uint32_t* rows, std::uint32_t n,
                     const Cases& cases, std::uint32_t n_lanes, std::uint32_t stride,
                     double* counts) const {
        const auto add = [&](std::uint32_t i, double* table) {
            table[codes[rows[i]] * context_.n_classes + cases.classes[i]] += cases.weight(i);
        };
        std::uint32_t i = 0;
        if (n_lanes == LANES) {
            for (; i + LANES <= n; i += LANES) {
                add(i, counts);
                add(i + 1, counts + stride);
                add(i + 2, counts + 2 * stride);
                add(i + 3, counts + 3 * stride);
            }
        }
        for (; i < n; ++i) add(i, counts);
        for (std::uint32_t lane = 1; lane < n_lanes; ++lane) {
            for (std::uint32_t j = 0; j < stride; ++j) counts[j] += counts[lane * stride + j];
        }
    }

    template <class Entry>
    void search(const OrderedCases<Entry>& ordered, const Cases& cases, const NodeTotals& totals,
                SideMemory& memory, SplitCandidate& candidate) const {
        if (!(totals.impurity > 0.0)) return;
        const bool subset = ordered.is_nominal && rules_.nominal == NominalSplit::SUBSET;
        memory.reset(context_.n_classes, subset ? 2 + count_categories(ordered) : 2);
        M measure;
        measure.context = context_;
        measure.cases = cases;
        typename M::Side left, right;
        if constexpr (M::HAS_COUNTS) {
            memory.get(0, left.counts);
            memory.get(1, right.counts);
        }
        measure.clear(left);
        measure.assign(right, totals.outputs.data(), totals.weight);
        for (std::uint32_t i = ordered.n_known; i < ordered.n; ++i) {
            measure.remove(right, index_of(ordered.entries[i]));
        }
        const auto base = measure.score(right);
        const double known_weight = measure.weight(right);
        const auto tolerance = measure.from_real(score_tolerance(totals));
        const double min_leaf = rules_.min_leaf_weight;
        Found<typename M::Score> found;
        if (!ordered.is_nominal) {
            candidate.kind = SplitKind::NUMERIC;
            found = search_threshold(measure, ordered.entries, ordered.n_known, left, right,
                                     min_leaf, tolerance);
            if (rules_.gain_ratio && found.valid) {
                add_threshold_logs(measure, ordered, known_weight, found);
            }
        } else if (rules_.nominal == NominalSplit::MULTIWAY) {
            candidate.kind = SplitKind::MULTIWAY;
            found = search_multiway(measure, ordered.entries, ordered.n_known, left, min_leaf);
        } else if (rules_.nominal == NominalSplit::ONE_VS_REST) {
            candidate.kind = SplitKind::ONE;
            found = search_one(measure, ordered.entries, ordered.n_known, left, right, min_leaf,
                               tolerance);
        } else {
            candidate.kind = SplitKind::SUBSET;
            found = search_subset(measure, ordered.entries, ordered.n_known, left, right, memory,
                                  min_leaf, tolerance, candidate.subset);
        }
        if (!found.valid) return;
        candidate.low = found.low;
        candidate.high = found.high;
        candidate.n_branches = found.n_branches;
        const double missing_weight =
            ordered.n_known < ordered.n ? totals.weight - known_weight : 0.0;
        rate(measure.to_real(found.score - base), found.n_tried,
             found.branch_logs + x_log2_x(missing_weight), totals, candidate);
    }

    // Weights of the two branches, again in the order of the column.
    template <class Entry>
    void add_threshold_logs(const M& measure, const OrderedCases<Entry>& ordered,
                            double known_weight, Found<typename M::Score>& found) const {
        double left_weight = 0.0;
        for (std::uint32_t i = 0; i < ordered.n_known; ++i) {
            left_weight += measure.cases.weight(index_of(ordered.entries[i]));
            if (index_of(ordered.entries[i]) == found.low) break;
        }
        found.branch_logs = x_log2_x(left_weight) + x_log2_x(known_weight - left_weight);
    }

    template <class Entry>
    static std::uint32_t count_categories(const OrderedCases<Entry>& ordered) {
        std::uint32_t n = 0;
        for_each_category(ordered.entries, ordered.n_known,
                          [&](std::uint32_t, std::uint32_t) { ++n; });
        return n;
    }

    MeasureContext context_;
    SplitRules rules_;
};

template <template <bool> class M>
std::unique_ptr<Evaluator> make_evaluator_of(const MeasureContext& context, const SplitRules& rules,
                                             bool weighted) {
    if (weighted) return std::make_unique<EvaluatorOf<M<true>>>(context, rules);
    return std::make_unique<EvaluatorOf<M<false>>>(context, rules);
}

inline std::unique_ptr<Evaluator> make_evaluator(Measure measure, WeightKind kind,
                                                 const MeasureContext& context,
                                                 const SplitRules& rules) {
    const bool weighted = kind != WeightKind::UNIT;
    switch (measure) {
        case Measure::ENTROPY:
            if (kind == WeightKind::FRACTIONAL) {
                return std::make_unique<EvaluatorOf<RealEntropy>>(context, rules);
            }
            if (context.n_classes == 2) {
                return make_evaluator_of<TwoClassEntropy>(context, rules, weighted);
            }
            return make_evaluator_of<Entropy>(context, rules, weighted);
        case Measure::GINI:
            return make_evaluator_of<Gini>(context, rules, weighted);
        case Measure::GINI_COST:
            return make_evaluator_of<GiniCost>(context, rules, weighted);
        case Measure::ERROR:
            return make_evaluator_of<Error>(context, rules, weighted);
        case Measure::SQUARED_ERROR:
            return make_evaluator_of<SquaredError>(context, rules, weighted);
    }
    throw std::invalid_argument("unknown measure");
}

}  // namespace sktree_opt::greedy
