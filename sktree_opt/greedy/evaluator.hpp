// The best split of ordered cases on one feature: exact within the kind of split asked for.
//
// Each search takes the cases in the order of the feature (ordering.hpp) and a measure
// (measures.hpp), and moves cases between two sides. `right` starts with all known cases.
//
// search_threshold   every midpoint of a numeric feature             O(cases)
// search_multiway    one branch for each category (C4.5)              O(cases)
// search_one         one category against the rest                    O(cases)
// search_subset      the best two-way partition of the categories: two classes or regression by
//                    sorting categories by their share (Breiman et al. 1984, Fisher 1958), exact for
//                    concave measures      O(cases + v log v)
//                    else, up to 12 categories, all partitions   O(cases + k 2^(v-1))
//                    Sorting is not exact where min_leaf_weight excludes a category by itself: then
//                    all partitions are tried, and above 12 categories only the sorted ones.
// Ties go to the first found: the lowest threshold, the lowest category.
//
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
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"
#include "sktree_opt/greedy/measures.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

// What a search found, in the measure's own units.
template <class Score>
struct FoundSplit {
    bool valid = false;
    Score score = std::numeric_limits<Score>::lowest();  // sum over the branches
    double branch_logs = 0.0;   // sum of w log2 w over the branches' weights
    std::uint32_t low = 0, high = 0;
    std::uint32_t n_tried = 0;     // thresholds
    std::uint32_t n_branches = 2;

    // Whether `other_score` is better by more than rounding.
    bool is_beaten_by(Score other_score, Score tolerance) const {
        return !valid || other_score > score + tolerance;
    }
};

template <class M, class Entry>
FoundSplit<typename M::Score> search_threshold(const M& measure, const Entry* entries,
                                          std::uint32_t n_known, typename M::Side& left,
                                          typename M::Side& right, double min_leaf,
                                          typename M::Score tolerance) {
    using Score = typename M::Score;
    FoundSplit<Score> best;
    Score to_beat = std::numeric_limits<Score>::lowest();
    std::uint32_t position = 0, n_tried = 0;
    for (std::uint32_t i = 0; i + 1 < n_known; ++i) {
        const std::uint32_t index = index_of(entries[i]);
        measure.add(left, index);
        measure.remove(right, index);
        if (rank_of(entries[i]) == rank_of(entries[i + 1])) continue;
        if (measure.weight(left) < min_leaf) continue;
        if (measure.weight(right) < min_leaf) break;
        ++n_tried;
        const Score score = measure.score(left) + measure.score(right);
        if (score > to_beat) {
            to_beat = score + tolerance;
            best.score = score;
            position = i;
        }
    }
    best.n_tried = n_tried;
    best.valid = n_tried > 0;
    best.low = index_of(entries[position]);
    best.high = index_of(entries[position + 1]);
    return best;
}

// Calls visit(first, last) for each run of equal ranks.
template <class Entry, class F>
void for_each_category(const Entry* entries, std::uint32_t n_known, F&& visit) {
    for (std::uint32_t first = 0, last; first < n_known; first = last) {
        last = first + 1;
        while (last < n_known && rank_of(entries[last]) == rank_of(entries[first])) ++last;
        visit(first, last);
    }
}

template <class M, class Entry>
FoundSplit<typename M::Score> search_multiway(const M& measure, const Entry* entries,
                                         std::uint32_t n_known, typename M::Side& branch,
                                         double min_leaf) {
    FoundSplit<typename M::Score> found;
    found.score = 0;
    found.n_branches = 0;
    std::uint32_t n_heavy = 0;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        measure.clear(branch);
        for (std::uint32_t i = first; i < last; ++i) measure.add(branch, index_of(entries[i]));
        ++found.n_branches;
        n_heavy += measure.weight(branch) >= min_leaf;
        found.branch_logs += x_log2_x(measure.weight(branch));
        found.score += measure.score(branch);
    });
    found.valid = n_heavy >= 2;
    return found;
}

template <class M>
void keep_if_better(const M& measure, const typename M::Side& left, const typename M::Side& right,
                    double min_leaf, typename M::Score tolerance, std::uint32_t name,
                    FoundSplit<typename M::Score>& best) {
    if (measure.weight(left) < min_leaf || measure.weight(right) < min_leaf) return;
    const auto score = measure.score(left) + measure.score(right);
    if (!best.is_beaten_by(score, tolerance)) return;
    best.valid = true;
    best.score = score;
    best.low = name;
    best.branch_logs = x_log2_x(measure.weight(left)) + x_log2_x(measure.weight(right));
}

template <class M, class Entry>
FoundSplit<typename M::Score> search_one(const M& measure, const Entry* entries, std::uint32_t n_known,
                                    typename M::Side& left, typename M::Side& right,
                                    double min_leaf, typename M::Score tolerance) {
    FoundSplit<typename M::Score> best;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        if (last - first == n_known) return;
        for (std::uint32_t i = first; i < last; ++i) {
            measure.add(left, index_of(entries[i]));
            measure.remove(right, index_of(entries[i]));
        }
        keep_if_better(measure, left, right, min_leaf, tolerance, index_of(entries[first]), best);
        for (std::uint32_t i = first; i < last; ++i) {
            measure.remove(left, index_of(entries[i]));
            measure.add(right, index_of(entries[i]));
        }
    });
    return best;
}

// Moves categories one by one, lowest share first. `low` of the result counts those moved.
template <class M>
FoundSplit<typename M::Score> search_sorted_subset(const M& measure,
                                              const std::vector<typename M::Side>& categories,
                                              std::vector<std::uint32_t>& order,
                                              typename M::Side& left, typename M::Side& right,
                                              double min_leaf, typename M::Score tolerance) {
    order.resize(categories.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return measure.share(categories[a]) < measure.share(categories[b]);
    });
    FoundSplit<typename M::Score> best;
    for (std::uint32_t moved = 1; moved < categories.size(); ++moved) {
        measure.add(left, categories[order[moved - 1]]);
        measure.remove(right, categories[order[moved - 1]]);
        keep_if_better(measure, left, right, min_leaf, tolerance, moved, best);
    }
    return best;
}

// Visits every two-way partition in Gray code order, one category changing sides each time. `low` of
// the result is the bit mask of branch 0; the first category is never in it.
template <class M>
FoundSplit<typename M::Score> search_every_subset(const M& measure,
                                             const std::vector<typename M::Side>& categories,
                                             typename M::Side& left, typename M::Side& right,
                                             double min_leaf, typename M::Score tolerance) {
    FoundSplit<typename M::Score> best;
    std::uint32_t mask = 0;
    for (std::uint32_t step = 1; step < 1u << (categories.size() - 1); ++step) {
        std::uint32_t category = 1;
        while ((step >> (category - 1) & 1u) == 0) ++category;
        mask ^= 1u << category;
        if (mask >> category & 1u) {
            measure.add(left, categories[category]);
            measure.remove(right, categories[category]);
        } else {
            measure.remove(left, categories[category]);
            measure.add(right, categories[category]);
        }
        keep_if_better(measure, left, right, min_leaf, tolerance, mask, best);
    }
    return best;
}

// `names` receives a position for each category of branch 0. Branch 1 is the heavier one (absent
// categories go there); of two equal ones, the one without the lowest category.
template <class M, class Entry>
FoundSplit<typename M::Score> search_subset(const M& measure, const Entry* entries,
                                       std::uint32_t n_known, typename M::Side& left,
                                       typename M::Side& right, SideMemory& memory, double min_leaf,
                                       typename M::Score tolerance,
                                       std::vector<std::uint32_t>& names) {
    std::vector<typename M::Side> categories;
    std::vector<std::uint32_t> first_case, order;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        typename M::Side side;
        if constexpr (M::HAS_COUNTS) {
            memory.get(2 + static_cast<std::uint32_t>(categories.size()), side.counts);
        }
        measure.clear(side);
        for (std::uint32_t i = first; i < last; ++i) measure.add(side, index_of(entries[i]));
        categories.push_back(side);
        first_case.push_back(index_of(entries[first]));
    });
    if (categories.size() < 2) return {};
    const double known_weight = measure.weight(right);
    double lightest = known_weight;
    for (const auto& side : categories) lightest = std::min(lightest, measure.weight(side));
    const bool sorted = measure.context.n_classes <= 2 &&
                        (lightest >= min_leaf || categories.size() > MAX_SUBSET_CATEGORIES);
    const auto best = sorted ? search_sorted_subset(measure, categories, order, left, right,
                                                    min_leaf, tolerance)
                             : search_every_subset(measure, categories, left, right, min_leaf,
                                                   tolerance);
    if (!best.valid) return best;
    std::vector<bool> chosen(categories.size(), false);
    for (std::uint32_t c = 0; c < categories.size(); ++c) {
        if (sorted) {
            if (c < best.low) chosen[order[c]] = true;
        } else {
            chosen[c] = best.low >> c & 1u;
        }
    }
    double weight = 0.0;
    for (std::uint32_t c = 0; c < categories.size(); ++c) {
        if (chosen[c]) weight += measure.weight(categories[c]);
    }
    // Sums of shares of cases are equal up to rounding, and rounding must not choose a side.
    const double surplus = weight - (known_weight - weight);
    const bool is_even = std::abs(surplus) <= 1e-9 * known_weight;
    const bool keep = is_even ? chosen[0] : surplus < 0.0;
    for (std::uint32_t c = 0; c < categories.size(); ++c) {
        if (chosen[c] == keep) names.push_back(first_case[c]);
    }
    return best;
}

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
        FoundSplit<typename M::Score> found;
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
        FoundSplit<typename M::Score> found;
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
                            double known_weight, FoundSplit<typename M::Score>& found) const {
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
                return std::make_unique<EvaluatorOf<RealEntropyMeasure>>(context, rules);
            }
            if (context.n_classes == 2) {
                return make_evaluator_of<TwoClassEntropyMeasure>(context, rules, weighted);
            }
            return make_evaluator_of<EntropyMeasure>(context, rules, weighted);
        case Measure::GINI:
            return make_evaluator_of<GiniMeasure>(context, rules, weighted);
        case Measure::GINI_COST:
            return make_evaluator_of<GiniCostMeasure>(context, rules, weighted);
        case Measure::ERROR:
            return make_evaluator_of<ErrorMeasure>(context, rules, weighted);
        case Measure::SQUARED_ERROR:
            return make_evaluator_of<SquaredErrorMeasure>(context, rules, weighted);
    }
    throw std::invalid_argument("unknown measure");
}

}  // namespace sktree_opt::greedy
