// What the lattice asks of a greedy learner: rank the features of a case set, split it on one.
//
// A CaseLearner is what one thread works with. The split of a feature comes from the same evaluators
// as GreedyTreeClassifier's, so the trees are the same. Which cases a split sends where is kept with
// the ranking, in codes of the column: nothing is sorted twice. Where the problem has the order of a
// column, cases are read in that order instead of sorted (_order_index.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/subset/_problem.hpp"
#include "sktree_opt/utils/_control.hpp"

namespace sktree_opt::subset {

struct RankedFeature {
    double quality;
    std::int32_t feature;
    std::uint32_t low, high;  // of its SplitCandidate, as codes of the column
    bool operator<(const RankedFeature& other) const {
        return quality > other.quality || (quality == other.quality && feature < other.feature);
    }
};

// The cases of a node, sent down a split.
struct PartedCases {
    greedy::Split split;
    std::vector<greedy::CaseSet> children;
    std::vector<greedy::NodeTotals> totals;
};

class CaseLearner {
public:
    CaseLearner(const Problem& problem, SearchControl& control)
        : problem_(problem), control_(control) {
        for (int kind = 0; kind < 3; ++kind) {
            evaluators_.push_back(
                greedy::make_evaluator(problem.induction.measure,
                                       static_cast<greedy::WeightKind>(kind),
                                       problem.induction.context(), problem.induction.rules));
        }
    }

    void sum(const greedy::CaseSet& cases, greedy::NodeTotals& totals) {
        gather(cases);
        totals = totals_;
    }

    // Sums of the case set that was asked about last.
    const greedy::NodeTotals& totals() const { return totals_; }

    // No split whatever the features (Assumption 5, case 1).
    bool stops(const greedy::NodeTotals& totals, std::int32_t depth) const {
        return totals.is_pure || totals.n_samples < 2 || is_too_small(totals.weight, depth);
    }

    // Two branches hold min_leaf_weight, so half of what they need is not enough for a split.
    bool is_too_small(double weight, std::int32_t depth) const {
        const greedy::GrowthLimits& limits = problem_.induction.limits;
        const double least = 2.0 * problem_.induction.rules.min_leaf_weight * (1.0 - 1e-9);
        return depth >= limits.max_depth || weight < std::max(limits.min_split_weight, least);
    }

    // Those of `features` that have a valid split, in no order.
    void rank(const greedy::CaseSet& cases, const std::vector<std::int32_t>& features,
              std::vector<RankedFeature>& ranked) {
        gather(cases);
        ranked.clear();
        std::int64_t work = 0;
        for (std::int32_t feature : features) {
            work += cases.size() + 16;
            if (work > 200000) {
                work = 0;
                if (control_.poll()) return;
            }
            evaluate(cases, feature);
            if (!candidate_.is_valid()) continue;
            // Of other kinds these are no positions.
            const bool has_cut = candidate_.kind == greedy::SplitKind::NUMERIC ||
                                 candidate_.kind == greedy::SplitKind::ONE;
            ranked.push_back({candidate_.quality, feature,
                              has_cut ? code_of(cases, feature, candidate_.low) : 0,
                              has_cut ? code_of(cases, feature, candidate_.high) : 0});
        }
    }

    // The split of a ranked feature; `low` and `high` are codes of its column.
    void build_split(const greedy::CaseSet& cases, std::int32_t feature, std::uint32_t low,
                     std::uint32_t high, greedy::Split& split) {
        const greedy::Column& column = problem_.column(feature);
        candidate_.reset(feature);
        candidate_.kind = kind_of(column);
        candidate_.low = low;
        candidate_.high = high;
        if (candidate_.kind == greedy::SplitKind::SUBSET) {
            gather(cases);
            evaluate(cases, feature);
            candidate_.name_codes(column, cases.rows.data());
        }
        candidate_.place_threshold(column);
        split.build(candidate_, column, cases.rows.data(), greedy::AllPositions{cases.size()});
    }

    // Sends the cases down `parted.split`.
    void part(const greedy::CaseSet& cases, PartedCases& parted) {
        gather(cases);
        const greedy::Column& column = problem_.column(parted.split.feature);
        const greedy::AllPositions positions{cases.size()};
        branches_.resize(cases.size());
        const greedy::Cases view = targets_.cases(cases);
        const bool some_missing = greedy::assign_branches(
            column, parted.split, cases.rows.data(), positions, branches_.data());
        greedy::BranchSums<std::uint32_t>(problem_.target(), view, branches_.data())
            .run(positions, parted.split.n_branches, some_missing, parted.totals, shares_);
        parted.children.resize(parted.split.n_branches);
        for (std::uint32_t b = 0; b < parted.split.n_branches; ++b) {
            greedy::collect_branch(positions, branches_.data(), b, shares_[b], cases.rows.data(),
                                   view, cases.kind, parted.children[b]);
        }
    }

private:
    greedy::SplitKind kind_of(const greedy::Column& column) const {
        if (!column.is_nominal) return greedy::SplitKind::NUMERIC;
        switch (problem_.induction.rules.nominal) {
            case greedy::NominalSplit::MULTIWAY: return greedy::SplitKind::MULTIWAY;
            case greedy::NominalSplit::ONE_VS_REST: return greedy::SplitKind::ONE;
            default: return greedy::SplitKind::SUBSET;
        }
    }

    void gather(const greedy::CaseSet& cases) {
        targets_.gather(problem_.target(), cases.rows);
        branches_.assign(cases.size(), 0);
        const greedy::Cases view = targets_.cases(cases);
        greedy::BranchSums<std::uint32_t>(problem_.target(), view, branches_.data())
            .run(greedy::AllPositions{cases.size()}, 1, false, root_totals_, shares_);
        totals_ = root_totals_[0];
        totals_.impurity = totals_.is_pure ? 0.0 : evaluator(cases).impurity(totals_, sides_);
    }

    const greedy::Evaluator& evaluator(const greedy::CaseSet& cases) const {
        return *evaluators_[static_cast<std::size_t>(cases.kind)];
    }

    // Leaves the best split of the feature in `candidate_`.
    void evaluate(const greedy::CaseSet& cases, std::int32_t feature) {
        candidate_.reset(feature);
        const greedy::Column& column = problem_.column(feature);
        if (kind_of(column) == greedy::SplitKind::MULTIWAY &&
            column.n_values <= greedy::MAX_COUNTED_CATEGORIES) {
            evaluator(cases).evaluate_counted(column, cases.rows.data(), cases.size(),
                                              targets_.cases(cases), totals_, sides_, candidate_);
        } else if (is_indexed(cases, feature)) {
            evaluate_indexed(cases, feature);
        } else if (cases.size() <= greedy::MAX_SHORT_CASES) {
            evaluate_as(cases, feature, short_entries_);
        } else {
            evaluate_as(cases, feature, long_entries_);
        }
    }

    // Whether positions of candidates are places in the order of the column, not among the cases.
    bool is_indexed(const greedy::CaseSet& cases, std::int32_t feature) const {
        return cases.size() >= problem_.order_rules.min_cases &&
               cases.kind == greedy::WeightKind::UNIT && problem_.orders().has(feature);
    }

    std::uint32_t code_of(const greedy::CaseSet& cases, std::int32_t feature,
                          std::uint32_t position) const {
        if (is_indexed(cases, feature)) return problem_.orders().code_at(feature, position);
        return code_at(problem_.column(feature), cases.rows[position]);
    }

    void evaluate_indexed(const greedy::CaseSet& cases, std::int32_t feature) {
        if (is_constant(problem_.column(feature), cases)) return;
        const OrderIndex& orders = problem_.orders();
        const std::uint32_t n = cases.size();
        if (short_entries_.size() < n) short_entries_.resize(n);
        if (places_.words.empty()) places_.resize(orders.n_rows());
        orders.order(feature, cases.rows.data(), n, places_, short_entries_.data());
        rate(cases, feature, short_entries_, {orders.classes(feature), nullptr, nullptr});
    }

    template <class Entry>
    void evaluate_as(const greedy::CaseSet& cases, std::int32_t feature,
                     std::vector<Entry>& entries) {
        const greedy::Column& column = problem_.column(feature);
        const std::uint32_t n = cases.size();
        if (is_constant(column, cases)) return;
        if (entries.size() < n) entries.resize(n);
        greedy::order_cases(column, cases.rows.data(), n, entries.data(), ordering_);
        rate(cases, feature, entries, targets_.cases(cases));
    }

    // Leaves the best split of the feature, by which the entries are in order, in `candidate_`.
    template <class Entry>
    void rate(const greedy::CaseSet& cases, std::int32_t feature, const std::vector<Entry>& entries,
              const greedy::Cases& view) {
        const greedy::Column& column = problem_.column(feature);
        const std::uint32_t n = cases.size();
        const std::uint32_t n_known =
            column.has_missing ? greedy::count_known(entries.data(), n) : n;
        if (n_known < 2 ||
            greedy::rank_of(entries[0]) == greedy::rank_of(entries[n_known - 1])) return;
        evaluator(cases).evaluate(
            greedy::OrderedCases<Entry>{entries.data(), n, n_known, column.is_nominal != 0}, view,
            totals_, sides_, candidate_);
    }

    static bool is_constant(const greedy::Column& column, const greedy::CaseSet& cases) {
        return greedy::with_codes(column, [&](auto codes) {
            const auto first = codes[cases.rows[0]];
            for (std::uint32_t row : cases.rows) {
                if (codes[row] != first) return false;
            }
            return true;
        });
    }

    const Problem& problem_;
    SearchControl& control_;
    std::vector<std::unique_ptr<greedy::Evaluator>> evaluators_;
    greedy::OrderingWorkspace ordering_;
    PlaceSet places_;
    greedy::SideMemory sides_;
    greedy::GatheredTargets targets_;
    greedy::SplitCandidate candidate_;
    greedy::NodeTotals totals_;
    std::vector<greedy::NodeTotals> root_totals_;
    std::vector<double> shares_;
    std::vector<std::uint32_t> branches_, short_entries_;
    std::vector<std::uint64_t> long_entries_;
};

}  // namespace sktree_opt::subset
