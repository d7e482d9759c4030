// The input of every search over feature subsets: a learning problem, an error estimate, and which
// features are kept or dropped together.
//
// The tree answers a class or, for a regression target, a number: the mean of the leaf's cases.
//
// Costs of wrong answers are whole numbers (weights in units of `cost_unit`): their sums are exact,
// so it does not matter in which order leaves, candidates and threads are added up. Searches decide
// about units: groups of features that are kept or dropped together, most often one feature each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "sktree_opt/greedy/grower.hpp"
#include "sktree_opt/greedy/pruning.hpp"
#include "sktree_opt/subset/lattice/equal_cases.hpp"
#include "sktree_opt/subset/lattice/order_index.hpp"
#include "sktree_opt/utils/control.hpp"

namespace sktree_opt::subset {

using Cost = std::int64_t;

inline std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// One tree of an error estimate: the cases it is grown on, and the rows it is tried on.
struct PartCases {
    greedy::CaseSet cases;
    std::vector<std::uint32_t> search_rows;  // increasing
    std::vector<Cost> costs;                 // of a wrong answer, by row of the table
    std::vector<double> scales;              // regression: cost of a loss of 1, by row
};

// How the answer of a regression tree is rated.
enum class Loss : std::uint8_t { SQUARED = 0, ABSOLUTE = 1 };

// What a node answers.
struct NodeAnswer {
    std::uint32_t label = 0;
    double number = 0.0;  // regression
};

// The mean of some cases and the range of their targets, summed in the order in which they come.
struct NumberSums {
    double weight = 0.0, sum = 0.0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value, double of_weight) {
        weight += of_weight;
        sum += of_weight * value;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool is_pure() const { return !(low < high); }
    // Never outside the range, whatever the rounding.
    double mean() const { return is_pure() ? low : std::clamp(sum / weight, low, high); }
};

// The user's own error of the tree that uses some features: called without the GIL, one at a time.
using TreeRating = Cost (*)(void* context, const std::int32_t* features, std::size_t n_features);

struct SearchProblem {
    greedy::Induction induction;
    std::vector<PartCases> parts;
    std::uint32_t n_rows = 0;
    Loss loss = Loss::SQUARED;    // of a regression tree
    bool is_pessimistic = false;  // leaves cost what C4.5 fears, not what search rows show
    greedy::ErrorBound error_bound;
    double cost_unit = 1.0;       // weight that a cost of 1 stands for
    TreeRating rating = nullptr;  // instead of search rows
    void* rating_context = nullptr;
    double largest_loss = 1.0;  // of induction.costs
    OrderRules order_rules;
    bool reads_cuts = true;  // of two classes off the order (CutSearch)
    MergeRules merge_rules;
    std::vector<std::int32_t> unit_of;             // by feature
    std::vector<std::vector<std::int32_t>> units;  // their features, increasing
    std::vector<std::uint8_t> is_kept;             // by unit: part of every subset; empty: none is

    std::size_t n_features() const { return induction.columns.size(); }
    std::size_t n_units() const { return units.size(); }
    std::int64_t unit_size(std::int32_t unit) const {
        return static_cast<std::int64_t>(units[unit].size());
    }
    bool keeps(std::int32_t unit) const { return !is_kept.empty() && is_kept[unit] != 0; }
    const greedy::Column& column(std::int32_t feature) const { return induction.columns[feature]; }
    const greedy::Target& target() const { return induction.target; }
    bool is_regression() const { return !induction.target.is_classification(); }
    bool has_rating() const { return rating != nullptr; }
    bool has_losses() const { return !induction.costs.empty(); }
    bool limits_depth() const { return induction.limits.max_depth < 0x7fffffff; }

    // The class that a node answers: the heaviest, or that of least expected cost; the first of
    // several, however their weights were summed. For regression, the number in `outputs`.
    NodeAnswer answer(const double* outputs, double tolerance) const {
        if (is_regression()) return {0, outputs[0]};
        const std::uint32_t n_classes = target().n_classes;
        std::uint32_t best = 0;
        double least = 0.0;
        for (std::uint32_t c = 0; c < n_classes; ++c) {
            double expected = -outputs[c];
            if (has_losses()) {
                expected = 0.0;
                for (std::uint32_t actual = 0; actual < n_classes; ++actual) {
                    expected += induction.costs[actual * n_classes + c] * outputs[actual];
                }
            }
            if (c == 0 || expected < least - tolerance * largest_loss) {
                best = c;
                least = expected;
            }
        }
        return {best, 0.0};
    }

    // Loss of answering `answered` for a number. Monotone in the distance, rounding included.
    double loss_of(double number, double answered) const {
        const double distance = std::abs(number - answered);
        return loss == Loss::SQUARED ? distance * distance : distance;
    }

    // The cost of answering `answered` for a row.
    Cost cost_of(const PartCases& part, std::uint32_t row, const NodeAnswer& answered) const {
        if (is_regression()) {
            return std::llround(part.scales[row] * loss_of(target().values[row], answered.number));
        }
        const std::uint32_t actual = target().classes[row];
        if (!has_losses()) return actual == answered.label ? 0 : part.costs[row];
        return std::llround(static_cast<double>(part.costs[row]) *
                            induction.costs[actual * target().n_classes + answered.label]);
    }

    // By Lemma 6 the features that a tree uses say which tree it is, so each is rated once.
    Cost rate(const std::vector<std::int32_t>& features) const {
        const auto found = rated_.find(features);
        if (found != rated_.end()) return found->second;
        const Cost cost = rating(rating_context, features.data(), features.size());
        rated_.emplace(features, cost);
        return cost;
    }

    // Made by the first search, before it has threads.
    void prepare_orders(SearchControl& control) const {
        if (has_orders_) return;
        has_orders_ = true;
        OrderRules rules = order_rules;
        // Only cuts between two classes are read off the order (CutSearch).
        if (!reads_cuts || target().n_classes != 2 ||
            induction.measure != greedy::Measure::ENTROPY) {
            rules.max_bytes = 0;
        }
        if (control.memory_limit >= 0) {
            rules.max_bytes =
                std::min(rules.max_bytes, static_cast<std::size_t>(control.memory_limit) / 8);
        }
        const std::size_t n_bytes = orders_.build(induction.columns, target(), n_rows, rules);
        control.reserve(static_cast<std::int64_t>(n_bytes));
        // Only cases of equal class are merged.
        if (is_regression()) return;
        control.reserve(static_cast<std::int64_t>(
            rare_rows_.build(induction.columns, n_rows, target().n_classes, merge_rules)));
    }
    const OrderIndex& orders() const { return orders_; }
    const RareRows& rare_rows() const { return rare_rows_; }

private:
    mutable OrderIndex orders_;
    mutable RareRows rare_rows_;
    mutable bool has_orders_ = false;
    mutable std::map<std::vector<std::int32_t>, Cost> rated_;
};

// The decision about a unit.
enum Decision : std::uint8_t { UNDECIDED = 0, IN = 1, OUT = 2 };

// The decisions before any search: the units that every subset has are in.
inline std::vector<std::uint8_t> first_decisions(const SearchProblem& problem) {
    std::vector<std::uint8_t> decisions(problem.n_units(), UNDECIDED);
    for (std::size_t u = 0; u < decisions.size(); ++u) {
        if (problem.keeps(static_cast<std::int32_t>(u))) decisions[u] = IN;
    }
    return decisions;
}

// A feature set: the units that are in, less one unit.
struct FeatureSet {
    const SearchProblem* problem = nullptr;
    const std::uint8_t* is_in = nullptr;  // by unit; IN or not
    std::int32_t without = -1;            // a unit
    bool operator()(std::int32_t feature) const {
        const std::int32_t unit = problem->unit_of[feature];
        return is_in[unit] == IN && unit != without;
    }
};

// All features of some units, increasing.
inline std::vector<std::int32_t> features_of(const SearchProblem& problem,
                                             const std::vector<std::int32_t>& units) {
    std::vector<std::int32_t> features;
    for (std::int32_t unit : units) {
        features.insert(features.end(), problem.units[unit].begin(), problem.units[unit].end());
    }
    std::sort(features.begin(), features.end());
    return features;
}

}  // namespace sktree_opt::subset
