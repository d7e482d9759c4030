// The best split of ordered cases on one feature: exact within the kind of split asked for.
//
// Each search takes the cases in the order of the feature (cases.hpp) and a measure
// (measures.hpp), and moves cases between two sides. `right` starts with all known cases.
//
// search_threshold   every midpoint of a numeric feature             O(cases)
// search_multiway    one branch for each category (C4.5)              O(cases)
// search_one         one category against the rest                    O(cases)
// search_subset      the best two-way partition of the categories: two classes or regression by
//                    sorting categories by their share, O(cases + v log v), which is exact for
//                    concave measures (Breiman et al. 1984, Fisher 1958);
//                    else, up to 12 categories, all partitions, O(cases + k 2^(v-1))
//
// Sorting is not exact where a minimum excludes a category by itself. Then all partitions are
// tried, and above 12 categories only the sorted ones.
// Ties go to the first found: the lowest threshold, the lowest category.
//
// One criterion behind one virtual call per feature and node; all loops inside are compiled for the
// measure, the kind of weights and the width of the entries.
//
// The gain is (known weight / weight) * (impurity of the known cases - mean impurity of the
// branches) (Quinlan 1993, section 3.1). With gain_ratio, the best gain of the feature is divided
// by the split information, in which missing values count as one more branch. The threshold itself
// is the one of best gain, as in C4.5. With numeric_gain_penalty, log2(thresholds tried) / weight
// is subtracted from the gain of a numeric feature (Quinlan, JAIR 4, 1996, doi:10.1613/jair.279).
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

// The minima of a branch. Each case is a row, so rows are counted by cases. If all cases have
// weight 1, or each is as many rows as it weighs, the weight is the number of rows.
struct BranchMinima {
    double weight = 0.0;
    std::uint32_t n_cases = 1;

    BranchMinima(const SplitRules& rules, bool is_weighted) : weight(rules.min_leaf_weight) {
        if (is_weighted && !rules.rows_are_weights) {
            n_cases = rules.min_leaf_rows;
        } else {
            weight = std::max(weight, rules.min_leaf_rows * (1.0 - 1e-9));
        }
    }
    bool admits(double branch_weight, std::uint32_t branch_cases) const {
        return branch_weight >= weight && branch_cases >= n_cases;
    }
};

// What a search found, in the measure's own units.
template <class Score>
struct FoundSplit {
    bool valid = false;
    Score score = std::numeric_limits<Score>::lowest();  // sum over the branches
    double branch_logs = 0.0;  // sum of w log2 w over the branches' weights
    std::uint32_t low = 0, high = 0;
    std::uint32_t n_tried = 0;  // thresholds
    std::uint32_t n_branches = 2;

    // Whether `other_score` is better by more than rounding.
    bool is_beaten_by(Score other_score, Score tolerance) const {
        return !valid || other_score > score + tolerance;
    }
};

template <class M, class Entry>
FoundSplit<typename M::Score> search_threshold(const M& measure, const Entry* entries,
                                               std::uint32_t n_known, typename M::Side& left,
                                               typename M::Side& right, const BranchMinima& least,
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
        if (!least.admits(measure.weight(left), i + 1)) continue;
        if (!least.admits(measure.weight(right), n_known - i - 1)) break;
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

// The branches of a multiway split that reach their minima.
struct BranchTally {
    std::uint32_t n_branches = 0, n_heavy = 0;
    bool has_few_rows = false;

    void add(const SplitRules& rules, double weight, double n_rows) {
        ++n_branches;
        n_heavy += weight >= rules.min_leaf_weight;
        has_few_rows |= n_rows < rules.min_leaf_rows * (1.0 - 1e-9);
    }
    bool is_valid(const SplitRules& rules) const {
        return n_branches >= 2 && n_heavy >= (rules.every_branch ? n_branches : 2) && !has_few_rows;
    }
};

template <class M, class Entry>
FoundSplit<typename M::Score> search_multiway(const M& measure, const Entry* entries,
                                              std::uint32_t n_known, typename M::Side& branch,
                                              const SplitRules& rules) {
    FoundSplit<typename M::Score> found;
    found.score = 0;
    BranchTally enough;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        measure.clear(branch);
        for (std::uint32_t i = first; i < last; ++i) measure.add(branch, index_of(entries[i]));
        const double weight = measure.weight(branch);
        const bool is_weighted = M::IS_WEIGHTED && !rules.rows_are_weights;
        const double n_rows = is_weighted ? last - first : weight;
        enough.add(rules, weight, n_rows);
        found.branch_logs += x_log2_x(weight);
        found.score += measure.score(branch);
    });
    found.n_branches = enough.n_branches;
    found.valid = enough.is_valid(rules);
    return found;
}

template <class M>
void keep_if_better(const M& measure, const typename M::Side& left, const typename M::Side& right,
                    std::uint32_t n_left, std::uint32_t n_right, const BranchMinima& least,
                    typename M::Score tolerance, std::uint32_t name,
                    FoundSplit<typename M::Score>& best) {
    if (!least.admits(measure.weight(left), n_left)) return;
    if (!least.admits(measure.weight(right), n_right)) return;
    const auto score = measure.score(left) + measure.score(right);
    if (!best.is_beaten_by(score, tolerance)) return;
    best.valid = true;
    best.score = score;
    best.low = name;
    best.branch_logs = x_log2_x(measure.weight(left)) + x_log2_x(measure.weight(right));
}

template <class M, class Entry>
FoundSplit<typename M::Score> search_one(const M& measure, const Entry* entries,
                                         std::uint32_t n_known, typename M::Side& left,
                                         typename M::Side& right, const BranchMinima& least,
                                         typename M::Score tolerance) {
    FoundSplit<typename M::Score> best;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        if (last - first == n_known) return;
        for (std::uint32_t i = first; i < last; ++i) {
            measure.add(left, index_of(entries[i]));
            measure.remove(right, index_of(entries[i]));
        }
        keep_if_better(measure, left, right, last - first, n_known - (last - first), least,
                       tolerance, index_of(entries[first]), best);
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
                                                   const std::vector<std::uint32_t>& n_cases,
                                                   std::vector<std::uint32_t>& order,
                                                   typename M::Side& left, typename M::Side& right,
                                                   std::uint32_t n_known, const BranchMinima& least,
                                                   typename M::Score tolerance) {
    order.resize(categories.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return measure.share(categories[a]) < measure.share(categories[b]);
    });
    FoundSplit<typename M::Score> best;
    std::uint32_t n_left = 0;
    for (std::uint32_t moved = 1; moved < categories.size(); ++moved) {
        n_left += n_cases[order[moved - 1]];
        measure.add(left, categories[order[moved - 1]]);
        measure.remove(right, categories[order[moved - 1]]);
        keep_if_better(measure, left, right, n_left, n_known - n_left, least, tolerance, moved,
                       best);
    }
    return best;
}

// Visits every two-way partition in Gray code order, one category changing sides each time. `low`
// of the result is the bit mask of branch 0; the first category is never in it.
template <class M>
FoundSplit<typename M::Score> search_every_subset(const M& measure,
                                                  const std::vector<typename M::Side>& categories,
                                                  const std::vector<std::uint32_t>& n_cases,
                                                  typename M::Side& left, typename M::Side& right,
                                                  std::uint32_t n_known, const BranchMinima& least,
                                                  typename M::Score tolerance) {
    FoundSplit<typename M::Score> best;
    std::uint32_t mask = 0, n_left = 0;
    for (std::uint32_t step = 1; step < 1u << (categories.size() - 1); ++step) {
        std::uint32_t category = 1;
        while ((step >> (category - 1) & 1u) == 0) ++category;
        mask ^= 1u << category;
        if (mask >> category & 1u) {
            n_left += n_cases[category];
            measure.add(left, categories[category]);
            measure.remove(right, categories[category]);
        } else {
            n_left -= n_cases[category];
            measure.remove(left, categories[category]);
            measure.add(right, categories[category]);
        }
        keep_if_better(measure, left, right, n_left, n_known - n_left, least, tolerance, mask,
                       best);
    }
    return best;
}

// `names` receives a position for each category of branch 0. Branch 1 is the heavier one (absent
// categories go there); of two equal ones, the one without the lowest category.
template <class M, class Entry>
FoundSplit<typename M::Score> search_subset(const M& measure, const Entry* entries,
                                            std::uint32_t n_known, typename M::Side& left,
                                            typename M::Side& right, SideMemory& memory,
                                            const BranchMinima& least, typename M::Score tolerance,
                                            std::vector<std::uint32_t>& names) {
    std::vector<typename M::Side> categories;
    std::vector<std::uint32_t> first_case, n_cases, order;
    for_each_category(entries, n_known, [&](std::uint32_t first, std::uint32_t last) {
        typename M::Side side;
        if constexpr (M::HAS_COUNTS) {
            memory.get(2 + static_cast<std::uint32_t>(categories.size()), side.counts);
        }
        measure.clear(side);
        for (std::uint32_t i = first; i < last; ++i) measure.add(side, index_of(entries[i]));
        categories.push_back(side);
        first_case.push_back(index_of(entries[first]));
        n_cases.push_back(last - first);
    });
    if (categories.size() < 2) {
        return {};
    }
    const double known_weight = measure.weight(right);
    bool all_admitted = true;  // each category could be a branch by itself
    for (std::size_t c = 0; c < categories.size(); ++c) {
        all_admitted &= least.admits(measure.weight(categories[c]), n_cases[c]);
    }
    const bool sorted = measure.context.n_classes <= 2 &&
                        (all_admitted || categories.size() > MAX_SUBSET_CATEGORIES);
    const auto best = sorted ? search_sorted_subset(measure, categories, n_cases, order, left,
                                                    right, n_known, least, tolerance)
                             : search_every_subset(measure, categories, n_cases, left, right,
                                                   n_known, least, tolerance);
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
        // Rounding may leave a trace of a gain of 0, on either side of it.
        const double share = round_quality(gain / totals.impurity);
        if (!(rules_.allow_zero_gain ? share >= 0.0 : share > 0.0)) return;
        gain = std::max(0.0, gain);
        if (gain < rules_.min_gain * (1.0 - 1e-9)) return;
        candidate.valid = true;
        candidate.gain = gain;
        candidate.quality = std::max(0.0, share);
        candidate.worth = candidate.quality * totals.impurity;
        if (rules_.gain_ratio) {
            const double split_information = std::log2(totals.weight) - branch_logs / totals.weight;
            candidate.quality = candidate.worth = round_quality(gain / split_information);
        }
    }

private:
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
        const BranchMinima least(rules_, M::IS_WEIGHTED);
        FoundSplit<typename M::Score> found;
        if (!ordered.is_nominal) {
            candidate.kind = SplitKind::NUMERIC;
            found = search_threshold(measure, ordered.entries, ordered.n_known, left, right, least,
                                     tolerance);
            if (rules_.gain_ratio && found.valid) {
                add_threshold_logs(measure, ordered, known_weight, found);
            }
        } else if (rules_.nominal == NominalSplit::MULTIWAY) {
            candidate.kind = SplitKind::MULTIWAY;
            found = search_multiway(measure, ordered.entries, ordered.n_known, left, rules_);
        } else if (rules_.nominal == NominalSplit::ONE_VS_REST) {
            candidate.kind = SplitKind::ONE;
            found = search_one(measure, ordered.entries, ordered.n_known, left, right, least,
                               tolerance);
        } else {
            candidate.kind = SplitKind::SUBSET;
            found = search_subset(measure, ordered.entries, ordered.n_known, left, right, memory,
                                  least, tolerance, candidate.subset);
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
