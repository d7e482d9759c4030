// What the lattice asks of a greedy learner: rank the features of a case set, split it on one.
//
// A Problem is what all threads of a search read; a CaseLearner is what one thread works with. The
// split of a feature comes from the same evaluators as GreedyTreeClassifier's, so the trees are the
// same. Costs of wrong answers are whole numbers (weights in units of `cost_unit`): their sums are
// exact, so it does not matter in which order leaves, candidates and threads are added up.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "sktree_opt/greedy/induction.hpp"
#include "sktree_opt/utils/_control.hpp"

namespace sktree_opt::subset {

using Cost = std::int64_t;

inline std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// One tree of an error estimate: the cases it is grown on, and the rows it is tried on.
struct Part {
    greedy::CaseSet cases;
    std::vector<std::uint32_t> search_rows;  // increasing
    std::vector<Cost> costs;                 // of a wrong answer, by row of the table
};

// The user's own error of the tree that uses some features: called without the GIL, one at a time.
using TreeRating = Cost (*)(void* context, const std::int32_t* features, std::size_t n_features);

struct Problem {
    greedy::Induction induction;
    std::vector<Part> parts;
    std::uint32_t n_rows = 0;
    bool is_pessimistic = false;        // leaves cost what C4.5 fears, not what search rows show
    greedy::ErrorBound error_bound;
    double cost_unit = 1.0;             // weight that a cost of 1 stands for
    TreeRating rating = nullptr;        // instead of search rows
    void* rating_context = nullptr;

    std::size_t n_features() const { return induction.columns.size(); }
    const greedy::Column& column(std::int32_t feature) const { return induction.columns[feature]; }
    const greedy::Target& target() const { return induction.target; }
    bool has_rating() const { return rating != nullptr; }

    // By Lemma 6 the features that a tree uses say which tree it is, so each is rated once.
    Cost rate(const std::vector<std::int32_t>& features) const {
        const auto found = rated_.find(features);
        if (found != rated_.end()) return found->second;
        const Cost cost = rating(rating_context, features.data(), features.size());
        rated_.emplace(features, cost);
        return cost;
    }
    bool limits_depth() const { return induction.limits.max_depth < 0x7fffffff; }

private:
    mutable std::map<std::vector<std::int32_t>, Cost> rated_;
};

// Index of the heaviest class; the first of several, however their weights were summed.
inline std::uint32_t majority(const greedy::NodeTotals& totals) {
    const double tolerance = 1e-9 * totals.weight;
    std::uint32_t best = 0;
    for (std::uint32_t c = 1; c < totals.outputs.size(); ++c) {
        if (totals.outputs[c] > totals.outputs[best] + tolerance) best = c;
    }
    return best;
}

struct RankedFeature {
    double quality;
    std::int32_t feature;
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
        const greedy::GrowthLimits& limits = problem_.induction.limits;
        return totals.is_pure || totals.n_samples < 2 || depth >= limits.max_depth ||
               totals.weight < limits.min_split_weight;
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
            if (candidate_.is_valid()) ranked.push_back({candidate_.quality, candidate_.feature});
        }
    }

    void split(const greedy::CaseSet& cases, std::int32_t feature, PartedCases& parted) {
        gather(cases);
        evaluate(cases, feature);
        candidate_.resolve(problem_.column(feature), cases.rows.data());
        const greedy::Column& column = problem_.column(feature);
        const greedy::AllPositions positions{cases.size()};
        parted.split.build(candidate_, column, cases.rows.data(), positions);
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
        if (cases.size() <= greedy::MAX_SHORT_CASES) {
            evaluate_as(cases, feature, short_entries_);
        } else {
            evaluate_as(cases, feature, long_entries_);
        }
    }

    template <class Entry>
    void evaluate_as(const greedy::CaseSet& cases, std::int32_t feature,
                     std::vector<Entry>& entries) {
        const greedy::Column& column = problem_.column(feature);
        const std::uint32_t n = cases.size();
        if (is_constant(column, cases)) return;
        if (entries.size() < n) entries.resize(n);
        greedy::order_cases(column, cases.rows.data(), n, entries.data(), ordering_);
        const std::uint32_t n_known =
            column.has_missing ? greedy::count_known(entries.data(), n) : n;
        if (n_known < 2 ||
            greedy::rank_of(entries[0]) == greedy::rank_of(entries[n_known - 1])) return;
        evaluator(cases).evaluate(
            greedy::OrderedCases<Entry>{entries.data(), n, n_known, column.is_nominal != 0},
            targets_.cases(cases), totals_, sides_, candidate_);
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
