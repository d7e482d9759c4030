// What the lattice asks of a greedy learner: rank the features of a case set, split it on one.
// Kernel: loops over cases.
//
// A CaseLearner is what one thread works with. The split of a feature comes from the same
// evaluators as GreedyTreeClassifier's, so the trees are the same. The ranking keeps each split in
// codes of the column, so that nothing is sorted twice. Where the problem has the order of a
// column, cases are read in that order instead of sorted (order_index.hpp), and equal ones are put
// together where there are many (equal_cases.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/subset/lattice/equal_cases.hpp"
#include "sktree_opt/subset/lattice/order_index.hpp"
#include "sktree_opt/subset/lattice/subset_problem.hpp"
#include "sktree_opt/utils/control.hpp"

namespace sktree_opt::subset {

// The best cut of a column between two classes, from its cases in order.
//
// Problem: as greedy::search_threshold with the entropy of two classes, cases of weight 1, no
// missing value. Exact: the same scores, as whole numbers, hence the same cut. The thousands of
// nodes with some dozens of cases take most of the time, with a search for each column. There it is
// not arithmetic that takes long but what the processor guesses wrong: so cases are read into a
// list first, and the list is gone through without a jump. The counts of both sides by class are
// looked up once, in sums that are made for the node and serve all its columns. Cases of the common
// value of a column (equal_cases.hpp) are one item.
//
//   n, ones       cases of a node or left of a cut, and those of the second class
//   score         x log2 x over the classes, less that over the side, for both sides
//   item          code of the column << 16 | class, of a case (order_index.hpp)
//
// Cost: three look-ups for each case. Memory: two sums for each case of a node.
struct Cut {
    std::int64_t gain = 0;            // score of both sides, less that of all cases
    std::int64_t n_below = 0;         // cases left of the cut
    std::uint32_t low = 0, high = 0;  // codes next to it
    std::uint32_t n_tried = 0;
};

// Cases of one value that are a single item.
struct CommonItem {
    std::uint32_t place =
        std::numeric_limits<std::uint32_t>::max();  // among the items; past them: none
    std::int64_t n = 1, ones = 0;
};

// The cuts of all columns at a node, one column after the other.
class CutSearch {
public:
    void forget_node() { n_ = 0; }
    bool has_node() const { return n_ > 0; }

    void start_node(const greedy::LogTable& logs, std::int64_t n, std::int64_t ones,
                    double min_leaf, double tolerance) {
        n_ = n;
        least_ = std::max<std::int64_t>(1, std::llround(std::ceil(min_leaf)));
        tolerance_ = logs.from_real(tolerance);
        const std::int64_t* log = logs.data();
        base_ = log[ones] + log[n - ones] - log[n];
        add_sides(log, n, of_all_);
        add_sides(log, ones, of_ones_);
        add_sides(log, n - ones, of_zeros_);
    }

    // The best cut of `n_items` in the order of their codes; there is room for one more.
    Cut best_cut(Item* items, std::uint32_t n_items, const CommonItem& common) {
        Cut cut;
        if (code_of(items[0]) == code_of(items[n_items - 1])) return cut;
        items[n_items] = items[n_items - 1];  // no cut after the last
        items_ = items;
        ones_ = 0;
        to_beat_ = std::numeric_limits<std::int64_t>::lowest();
        n_tried_ = 0;
        if (common.place >= n_items) {
            scan(0, n_items, 0);
        } else {
            scan(0, common.place, 0);
            ones_ += common.ones;
            // As if the cases before it were more: what is looked at is the cut after it.
            scan(common.place, common.place + 1, common.n - 1);
            scan(common.place + 1, n_items, common.n - 1);
        }
        cut.n_tried = n_tried_;
        if (n_tried_ == 0) return cut;
        cut.gain = to_beat_ - tolerance_ - base_;
        cut.low = code_of(items[best_]);
        cut.high = code_of(items[best_ + 1]);
        cut.n_below = best_ + 1 + (best_ >= common.place ? common.n - 1 : 0);
        return cut;
    }

private:
    static void add_sides(const std::int64_t* log, std::int64_t n,
                          std::vector<std::int64_t>& sums) {
        if (sums.size() <= static_cast<std::size_t>(n)) sums.resize(n + 1);
        for (std::int64_t i = 0; i <= n; ++i) sums[i] = log[i] + log[n - i];
    }

    // Cuts after the items from `first` to before `last`; left of item i are i + `n_more` cases.
    void scan(std::int64_t first, std::int64_t last, std::int64_t n_more) {
        const Item* items = items_;
        std::int64_t i = first, ones = ones_;
        const std::int64_t n_before = std::min(last, least_ - 1 - n_more);
        const std::int64_t end = std::min(last, n_ - least_ - n_more);
        for (; i < n_before; ++i) ones += class_of(items[i]);
        const std::int64_t* of_all = of_all_.data() + n_more + 1;
        const std::int64_t* of_zeros = of_zeros_.data() + n_more + 1;
        const std::int64_t* of_ones = of_ones_.data();
        const std::int64_t tolerance = tolerance_;
        std::int64_t to_beat = to_beat_, best = best_;
        std::uint32_t n_tried = n_tried_;
        for (; i < end; ++i) {
            ones += class_of(items[i]);
            const bool is_cut = code_of(items[i]) != code_of(items[i + 1]);
            const std::int64_t score = of_ones[ones] + of_zeros[i - ones] - of_all[i];
            // By a mask: compilers make jumps of conditions.
            const std::int64_t mask = -static_cast<std::int64_t>(is_cut & (score > to_beat));
            to_beat ^= (to_beat ^ (score + tolerance)) & mask;
            best ^= (best ^ i) & mask;
            n_tried += is_cut;
        }
        for (; i < last; ++i) ones += class_of(items[i]);
        ones_ = ones;
        to_beat_ = to_beat;
        best_ = best;
        n_tried_ = n_tried;
    }

    // Of the node.
    std::int64_t n_ = 0, least_ = 1, tolerance_ = 0, base_ = 0;
    std::vector<std::int64_t> of_all_, of_ones_, of_zeros_;  // by what is left of a cut: both sides
    // Of the column.
    const Item* items_ = nullptr;
    std::int64_t ones_ = 0, to_beat_ = 0, best_ = 0;  // best_: the item before the best cut
    std::uint32_t n_tried_ = 0;
};

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
    CaseLearner(const SearchProblem& problem, SearchControl& control)
        : problem_(problem), control_(control) {
        for (int kind = 0; kind < 3; ++kind) {
            evaluators_.push_back(greedy::make_evaluator(
                problem.induction.measure, static_cast<greedy::WeightKind>(kind),
                problem.induction.context(), problem.induction.rules));
        }
        greedy::SplitRules of_merged = problem.induction.rules;
        of_merged.rows_are_weights = true;
        evaluator_of_units_ =
            greedy::make_evaluator(problem.induction.measure, greedy::WeightKind::INTEGER,
                                   problem.induction.context(), of_merged);
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
        const std::uint32_t least =
            std::max({2u, limits.min_split_rows, 2 * problem_.induction.rules.min_leaf_rows});
        return totals.is_pure || totals.n_samples < least || is_too_small(totals.weight, depth) ||
               greedy::has_acceptable_error(totals, limits);
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
        // The rows of merged cases can be counted only if each row has weight 1.
        merges_ =
            !problem_.is_regression() && cases.size() >= problem_.merge_rules.min_cases &&
            (problem_.induction.rules.min_leaf_rows <= 1 || cases.kind == greedy::WeightKind::UNIT);
        if (merges_ && !problem_.rare_rows().empty()) {
            merger_.start(problem_.target(), problem_.n_rows, cases, totals_.outputs.data());
        }
        cuts_.forget_node();
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
            ranked.push_back({candidate_.quality, feature, low_, high_});
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
        const greedy::AllPositions all{cases.size()};
        split.build(candidate_, column, cases.rows.data(), all);
        if (problem_.induction.rules.missing_to_heaviest) {
            const greedy::Cases weights{nullptr, nullptr,
                                        cases.weights.empty() ? nullptr : cases.weights.data()};
            greedy::send_missing_to_heaviest(column, cases.rows.data(), weights, all, split);
        }
    }

    // Sends the cases down `parted.split`.
    void part(const greedy::CaseSet& cases, PartedCases& parted) {
        gather(cases);
        const greedy::Column& column = problem_.column(parted.split.feature);
        const greedy::AllPositions positions{cases.size()};
        branches_.resize(cases.size());
        const greedy::Cases view = targets_.cases(cases);
        const bool some_missing = greedy::assign_branches(column, parted.split, cases.rows.data(),
                                                          positions, branches_.data());
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
            case greedy::NominalSplit::MULTIWAY:
                return greedy::SplitKind::MULTIWAY;
            case greedy::NominalSplit::ONE_VS_REST:
                return greedy::SplitKind::ONE;
            default:
                return greedy::SplitKind::SUBSET;
        }
    }

    void gather(const greedy::CaseSet& cases) {
        targets_.gather(problem_.target(), cases.rows);
        if (problem_.is_regression()) {
            sum_numbers(cases);
            return;
        }
        const std::vector<std::uint16_t>& classes = targets_.classes;
        const bool has_weights = !cases.weights.empty();
        totals_.n_samples = cases.size();
        totals_.weight = has_weights ? 0.0 : cases.size();
        totals_.outputs.assign(problem_.target().n_classes, 0.0);
        for (std::size_t i = 0; i < classes.size(); ++i) {
            const double weight = has_weights ? cases.weights[i] : 1.0;
            if (has_weights) totals_.weight += weight;
            totals_.outputs[classes[i]] += weight;
        }
        std::uint32_t n_present = 0;
        for (double weight : totals_.outputs) n_present += weight > 0.0;
        totals_.is_pure = n_present <= 1;
        totals_.impurity = totals_.is_pure ? 0.0 : evaluator(cases).impurity(totals_, sides_);
    }

    void sum_numbers(const greedy::CaseSet& cases) {
        NumberSums sums;
        const std::vector<double>& values = targets_.values;
        const auto weight = [&](std::size_t i) {
            return cases.weights.empty() ? 1.0 : cases.weights[i];
        };
        for (std::size_t i = 0; i < values.size(); ++i) sums.add(values[i], weight(i));
        totals_.n_samples = cases.size();
        totals_.weight = sums.weight;
        totals_.outputs.assign(1, sums.mean());
        totals_.is_pure = sums.is_pure();
        double squares = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double deviation = values[i] - totals_.outputs[0];
            squares += weight(i) * deviation * deviation;
        }
        totals_.impurity = totals_.is_pure ? 0.0 : squares / sums.weight;
    }

    const greedy::Evaluator& evaluator(const greedy::CaseSet& cases) const {
        return *evaluators_[static_cast<std::size_t>(cases.kind)];
    }

    // Leaves the best split of the feature in `candidate_`, its cut in `low_` and `high_`.
    void evaluate(const greedy::CaseSet& cases, std::int32_t feature) {
        candidate_.reset(feature);
        low_ = high_ = 0;
        const greedy::Column& column = problem_.column(feature);
        // The cases of a subset split are asked for by position.
        const bool merges = merges_ && kind_of(column) != greedy::SplitKind::SUBSET;
        const RareRows::RareColumn* rare = merges ? problem_.rare_rows().of(feature) : nullptr;
        const bool has_order = problem_.orders().has(feature);
        // Few cases are sorted; rare ones are not, since merging them needs the order of the
        // column.
        const bool is_sorted = cases.size() < problem_.order_rules.min_cases && rare == nullptr;
        if (has_cuts(cases, column) && (has_order || is_sorted)) {
            evaluate_cuts(cases, feature, rare);
        } else if (rare != nullptr) {
            evaluate_rare(cases, feature, *rare);
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

    // Whether CutSearch finds the cuts of the column.
    bool has_cuts(const greedy::CaseSet& cases, const greedy::Column& column) const {
        const greedy::Induction& induction = problem_.induction;
        return problem_.reads_cuts && induction.measure == greedy::Measure::ENTROPY &&
               problem_.target().n_classes == 2 && cases.kind == greedy::WeightKind::UNIT &&
               !column.has_missing && !column.is_nominal &&
               column.n_values < greedy::EntryBits<Item>::MISSING;
    }

    // `rare`: null where no value is common.
    void evaluate_cuts(const greedy::CaseSet& cases, std::int32_t feature,
                       const RareRows::RareColumn* rare) {
        if (!(totals_.impurity > 0.0)) return;
        if (!cuts_.has_node()) {
            const auto ones = static_cast<std::int64_t>(totals_.outputs[1]);
            const greedy::Induction& induction = problem_.induction;
            cuts_.start_node(*induction.context().logs, cases.size(), ones,
                             greedy::BranchMinima(induction.rules, false).weight,
                             greedy::score_tolerance(totals_));
            items_.resize(std::max(items_.size(), cases.size() + OrderIndex::WASTE + 2));
        }
        if (rare != nullptr) {
            cut_rare(cases, feature, *rare);
        } else if (is_indexed(cases, feature)) {
            const OrderIndex& orders = problem_.orders();
            if (places_.empty()) places_.resize(orders.n_rows());
            orders.add(feature, cases.rows, places_);
            orders.drain(feature, places_, items_.data());
            keep_cut(cases, cuts_.best_cut(items_.data(), cases.size(), CommonItem()));
        } else {
            sort_items(cases, feature);
            keep_cut(cases, cuts_.best_cut(items_.data(), cases.size(), CommonItem()));
        }
    }

    void cut_rare(const greedy::CaseSet& cases, std::int32_t feature,
                  const RareRows::RareColumn& rare) {
        const OrderIndex& orders = problem_.orders();
        if (places_.empty()) places_.resize(orders.n_rows());
        std::uint32_t n_rare = 0;
        CommonItem common;
        common.ones = static_cast<std::int64_t>(totals_.outputs[1]);
        merger_.visit_rare(rare, [&](std::uint32_t row) {
            orders.add(feature, row, places_);
            ++n_rare;
            common.ones -= problem_.target().classes[row];
        });
        if (n_rare == 0) return;
        common.n = cases.size() - n_rare;
        if (common.n == 0) {
            orders.drain(feature, places_, items_.data());
            keep_cut(cases, cuts_.best_cut(items_.data(), n_rare, CommonItem()));
            return;
        }
        common.place = orders.drain_around(feature, places_, rare.common, items_.data());
        items_[common.place] = rare.common << 16;
        keep_cut(cases, cuts_.best_cut(items_.data(), n_rare + 1, common));
    }

    // Few cases, by insertion.
    void sort_items(const greedy::CaseSet& cases, std::int32_t feature) {
        Item* items = items_.data();
        const std::uint16_t* classes = targets_.classes.data();
        greedy::with_codes(problem_.column(feature), [&](auto codes) {
            for (std::uint32_t i = 0; i < cases.size(); ++i) {
                items[i] = static_cast<Item>(codes[cases.rows[i]]) << 16 | classes[i];
            }
        });
        greedy::sort_by_comparing(items, cases.size());
    }

    void keep_cut(const greedy::CaseSet& cases, const Cut& cut) {
        if (cut.n_tried == 0) return;
        candidate_.kind = greedy::SplitKind::NUMERIC;
        low_ = candidate_.low = cut.low;
        high_ = candidate_.high = cut.high;
        candidate_.n_branches = 2;
        double branch_logs = 0.0;
        if (problem_.induction.rules.gain_ratio) {
            const auto below = static_cast<double>(cut.n_below);
            branch_logs = greedy::x_log2_x(below) + greedy::x_log2_x(cases.size() - below);
        }
        const double gain = problem_.induction.context().logs->to_real(cut.gain);
        evaluator(cases).rate(gain, cut.n_tried, branch_logs, totals_, candidate_);
    }

    // Names the cut of the candidate, whose positions have these codes.
    template <class CodeOf>
    void name_cut(CodeOf&& code_of) {
        if (!candidate_.is_valid()) return;
        const bool is_numeric = candidate_.kind == greedy::SplitKind::NUMERIC;
        if (!is_numeric && candidate_.kind != greedy::SplitKind::ONE) return;
        low_ = code_of(candidate_.low);
        if (is_numeric) high_ = code_of(candidate_.high);
    }

    // Merged cases have weights.
    const greedy::Evaluator& evaluator_of_merged(const greedy::CaseSet& cases) const {
        if (cases.kind == greedy::WeightKind::UNIT) return *evaluator_of_units_;
        const bool is_whole = cases.kind != greedy::WeightKind::FRACTIONAL;
        const auto kind = is_whole ? greedy::WeightKind::INTEGER : greedy::WeightKind::FRACTIONAL;
        return *evaluators_[static_cast<std::size_t>(kind)];
    }

    void evaluate_rare(const greedy::CaseSet& cases, std::int32_t feature,
                       const RareRows::RareColumn& rare) {
        if (!merger_.merge_common(rare, merged_)) return;
        const greedy::Column& column = problem_.column(feature);
        const greedy::Evaluator& evaluator = evaluator_of_merged(cases);
        const std::uint32_t n = merged_.size();
        if (n <= greedy::MAX_SHORT_CASES) {
            rate_merged(evaluator, column, short_entries_);
        } else {
            rate_merged(evaluator, column, long_entries_);
        }
    }

    template <class Entry>
    void rate_merged(const greedy::Evaluator& evaluator, const greedy::Column& column,
                     std::vector<Entry>& entries) {
        const std::uint32_t n = merged_.size();
        if (entries.size() < n) entries.resize(n);
        greedy::order_cases(column, merged_.rows.data(), n, entries.data(), ordering_);
        rate(evaluator, column, n, entries, merged_.view());
        name_cut([&](std::uint32_t i) { return code_at(column, merged_.rows[i]); });
    }

    template <class Entry>
    void evaluate_as(const greedy::CaseSet& cases, std::int32_t feature,
                     std::vector<Entry>& entries) {
        const greedy::Column& column = problem_.column(feature);
        const std::uint32_t n = cases.size();
        if (is_constant(column, cases)) return;
        if (entries.size() < n) entries.resize(n);
        greedy::order_cases(column, cases.rows.data(), n, entries.data(), ordering_);
        rate(evaluator(cases), column, n, entries, targets_.cases(cases));
        name_cut([&](std::uint32_t i) { return code_at(column, cases.rows[i]); });
    }

    // Leaves the best split of the column, by which n entries are in order, in `candidate_`.
    template <class Entry>
    void rate(const greedy::Evaluator& evaluator, const greedy::Column& column, std::uint32_t n,
              const std::vector<Entry>& entries, const greedy::Cases& view) {
        const std::uint32_t n_known =
            column.has_missing ? greedy::count_known(entries.data(), n) : n;
        if (n_known < 2 || greedy::rank_of(entries[0]) == greedy::rank_of(entries[n_known - 1])) {
            return;
        }
        evaluator.evaluate(
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

    const SearchProblem& problem_;
    SearchControl& control_;
    std::vector<std::unique_ptr<greedy::Evaluator>> evaluators_;
    std::unique_ptr<greedy::Evaluator> evaluator_of_units_;  // of merged cases of weight 1
    greedy::OrderingWorkspace ordering_;
    PlaceSet places_;
    CaseMerger merger_;
    CutSearch cuts_;
    std::vector<Item> items_;
    MergedCases merged_;
    bool merges_ = false;               // equal cases of the node
    std::uint32_t low_ = 0, high_ = 0;  // of `candidate_`, as codes of the column
    greedy::SideMemory sides_;
    greedy::GatheredTargets targets_;
    greedy::SplitCandidate candidate_;
    greedy::NodeTotals totals_;
    std::vector<double> shares_;
    std::vector<std::uint32_t> branches_, short_entries_;
    std::vector<std::uint64_t> long_entries_;
};

}  // namespace sktree_opt::subset
