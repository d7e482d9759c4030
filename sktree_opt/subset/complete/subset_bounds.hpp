// Lower bounds of the cost below a node, for the search of the best tree.
//
// Problem: what the tree below a case set costs at least, whatever is decided about the units that
// are still undecided. Exact bounds of a relaxation: every node may decide for itself.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// section 5, http://jmlr.org/papers/v20/18-035.html, where an open node counts 0. These are ours.
//
//   class bound   search rows whose class no training case of the node has: no leaf below answers
//                 it, nor do the votes of several leaves below.
//   equal rows    of search rows that are equal in all features, all but one class are wrong.
//   range bound   regression, in place of the class bound: a leaf answers the mean of some cases of
//                 the node, which lies between their least and largest target. A search row outside
//                 pays for the distance to that range at least. Equal search rows get one answer:
//                 together they pay at least the cost of the best number in the range.
//   split bound   the class bounds of the children of a split, and the costs of those that cannot
//                 be split again. Counted from the codes of the column; no child is made.
//   look-ahead    the minimum over the splits that the node may take: those of the ranking whose
//                 unit is not out, up to the first that is in, and being a leaf if none is in. The
//                 same for the children, down to the depth `lookahead`.
//
// With the cost, the look-ahead tells how many features more any choice of that cost takes at
// least: the largest number over the children, not the sum, because they may share features. It
// also tells which units the cheapest choice takes in and leaves out. A decision that agrees with
// that choice cannot change the bound. Where the choices of all open nodes agree, they make a tree
// of the bound's cost. Rows that miss a tested value are decided by the votes of a whole tree: they
// count 0 here.
//
// Cost: split bound O(cases) once for each split of a case set; look-ahead of depth k at most the
// product of the numbers of splits that may be taken on k levels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/lattice/lattice.hpp"

namespace sktree_opt::subset {

struct BoundRules {
    int lookahead = 2;  // splits on a path; 0: none
    bool uses_class_bound = true;
    bool uses_equal_rows_bound = true;
    bool uses_size_bound = true;  // the number of features that a bound takes
    bool uses_choices = true;     // bounds are kept, and trees found, by what the choices agree on
    bool cuts_short = true;       // trees are not grown further than shows that they are not wanted
    bool leaves_out = true;       // features of units that are out, of rankings
    bool grows_dearest = true;    // first; else the newest node
};

// Units by their number modulo 64: two sets that share none have no unit in common.
using UnitMask = std::uint64_t;
inline UnitMask mask_of(std::int32_t unit) { return UnitMask{1} << (unit & 63); }

// The cheapest choice below a node.
struct Relaxed {
    Cost cost = std::numeric_limits<Cost>::max();
    std::int64_t size = 0;     // features that are still undecided and that it takes
    UnitMask in = 0, out = 0;  // undecided units that it takes, or passes
    bool is_whole = true;      // a tree of this cost, not only a bound

    bool is_better_than(const Relaxed& other) const {
        return cost != other.cost ? cost < other.cost : size < other.size;
    }
};

class SubsetBounds {
public:
    SubsetBounds(Lattice& lattice, const BoundRules& rules)
        : lattice_(lattice), problem_(lattice.problem()), rules_(rules) {
        // With costs, a class may be answered that no case has.
        if (problem_.has_losses()) rules_.uses_class_bound = rules_.uses_equal_rows_bound = false;
    }

    // The class bound and the bound of equal rows; at a node that can only be a leaf, the cost of the leaf.
    Cost of_node(CaseNode* node) {
        if (node->has_bound) return node->bound;
        node->has_bound = true;
        node->bound = 0;
        if (node->stops) {
            node->bound = node->leaf_cost;
        } else if (!node->search.whole.empty()) {
            if (problem_.is_regression()) {
                NumberSums sums;
                const double* values = problem_.target().values;
                for (std::uint32_t row : node->cases.rows) sums.add(values[row], 1.0);
                for (std::uint32_t row : node->search.whole) {
                    node->bound += number_at_least(node, row, sums);
                }
                node->bound += cost_of_equal_numbers();
                return node->bound;
            }
            is_present_.assign(problem_.target().n_classes, !rules_.uses_class_bound);
            const std::uint16_t* classes = problem_.target().classes;
            for (std::uint32_t row : node->cases.rows) is_present_[classes[row]] = 1;
            for (std::uint32_t row : node->search.whole) {
                node->bound += cost_at_least(node, row, is_present_[classes[row]] != 0);
            }
            node->bound += cost_of_equal_rows();
        }
        return node->bound;
    }

    // The split bound.
    Cost of_split(CaseNode* node, std::size_t position) {
        if (node->split_bounds.size() <= position) {
            lattice_.grew(
                static_cast<std::int64_t>(8 * (node->ranking.size() - node->split_bounds.size())));
            node->split_bounds.resize(node->ranking.size(), -1);
        }
        Cost& bound = node->split_bounds[position];
        if (bound < 0) bound = count_split(node, node->ranking[position]);
        return bound;
    }

    // The look-ahead of a node from a place in its ranking on, under the decisions made. Garbage
    // when the search has stopped.
    Relaxed look_ahead(CaseNode* node, std::size_t position, std::uint8_t* decisions) {
        decisions_ = decisions;
        return relax(node, position, rules_.lookahead - 1, Relaxed());
    }

private:
    // Returns the exact look-ahead if it is better than `limit`, otherwise any value that is not.
    Relaxed relax(CaseNode* node, std::size_t position, int depth, const Relaxed& limit) {
        Relaxed best;
        if (node->stops || (node->search.whole.empty() && node->search.shared.empty())) {
            best.cost = node->stops ? node->leaf_cost : 0;
            best.is_whole = node->search.shared.empty();
            return best;
        }
        const Cost floor = of_node(node);
        if (floor > limit.cost) {
            best.cost = floor;
            return best;
        }
        const std::size_t trail = trail_.size();
        UnitMask passed = 0;
        while (best.cost > floor || best.size > 0) {
            RankedSplit* ranked = lattice_.ranked_at(node, position);
            Relaxed option;
            option.out = passed;
            option.is_whole = node->search.shared.empty();
            if (ranked == nullptr) {
                option.cost = node->leaf_cost;
                if (option.is_better_than(best)) best = option;
                break;
            }
            const std::int32_t unit = problem_.unit_of[ranked->feature];
            const Decision decision = static_cast<Decision>(decisions_[unit]);
            if (decision != OUT) {
                option.cost = of_split(node, position);
                if (decision == UNDECIDED) {
                    option.in = mask_of(unit);
                    if (rules_.uses_size_bound) option.size = problem_.unit_size(unit);
                }
                if (option.is_better_than(best)) {
                    if (depth > 0) {
                        descend(node, ranked, depth, best, option);
                    } else {
                        option.is_whole = false;
                    }
                    if (option.is_better_than(best)) best = option;
                }
            }
            if (decision == IN || lattice_.stopped()) break;
            if (decision == UNDECIDED) {
                decisions_[unit] = OUT;
                trail_.push_back(unit);
                passed |= mask_of(unit);
            }
            ++position;
        }
        while (trail_.size() > trail) {
            decisions_[trail_.back()] = UNDECIDED;
            trail_.pop_back();
        }
        return best;
    }

    // Adds up the children of a split that is taken.
    void descend(CaseNode* node, RankedSplit* ranked, int depth, const Relaxed& best,
                 Relaxed& option) {
        const Children children = lattice_.split(node, ranked);
        const std::int32_t unit = problem_.unit_of[ranked->feature];
        const std::uint8_t before = decisions_[unit];
        const std::int64_t own_size = option.size;
        decisions_[unit] = IN;
        Cost rest = 0;  // of the children that are still to come
        for (std::uint32_t b = 0; b < children.n; ++b) rest += of_node(children.nodes[b]);
        option.cost = rest;
        for (std::uint32_t b = 0; b < children.n && option.cost <= best.cost; ++b) {
            const Cost simple = of_node(children.nodes[b]);
            Relaxed limit;
            if (best.cost < std::numeric_limits<Cost>::max()) {
                limit.cost = best.cost - option.cost + simple;
            }
            const Relaxed child = relax(children.nodes[b], 0, depth - 1, limit);
            option.cost += child.cost - simple;
            option.size = std::max(option.size, own_size + child.size);
            option.in |= child.in;
            option.out |= child.out;
            option.is_whole &= child.is_whole && (option.in & option.out) == 0;
        }
        decisions_[unit] = before;
    }

    // Sends the rows of the node down a split by their codes.
    Cost count_split(CaseNode* node, const RankedSplit& ranked) {
        lattice_.learner().build_split(node->cases, ranked.feature, ranked.low, ranked.high,
                                       split_);
        if (problem_.is_regression()) return count_numbers(node, problem_.column(ranked.feature));
        const std::uint32_t n_classes = problem_.target().n_classes;
        const std::uint16_t* classes = problem_.target().classes;
        const greedy::Column& column = problem_.column(ranked.feature);
        const greedy::CaseSet& cases = node->cases;
        counts_.assign(static_cast<std::size_t>(split_.n_branches) * n_classes, 0.0);
        is_known_.assign(split_.n_branches, 0);
        bool some_missing = false;
        greedy::with_codes(column, [&](auto codes) {
            for (std::size_t i = 0; i < cases.rows.size(); ++i) {
                const std::uint32_t row = cases.rows[i];
                const std::uint32_t code = codes[row];
                const double weight = cases.weights.empty() ? 1.0 : cases.weights[i];
                if (code == column.n_values) {
                    some_missing = true;
                    for (std::uint32_t b = 0; b < split_.n_branches; ++b) {
                        counts_[b * n_classes + classes[row]] += weight;
                    }
                } else {
                    const auto b = split_.branch<std::uint32_t>(code);
                    counts_[b * n_classes + classes[row]] += weight;
                    is_known_[b] = 1;
                }
            }
        });
        describe_branches(node, some_missing);
        const PartCases& part = problem_.parts[node->part];
        Cost cost = 0;
        greedy::with_codes(column, [&](auto codes) {
            for (std::uint32_t row : node->search.whole) {
                const std::uint32_t code = codes[row];
                if (code == column.n_values) continue;
                const auto b = split_.branch<std::uint32_t>(code);
                if (answers_[b] >= 0) {
                    cost +=
                        problem_.cost_of(part, row, {static_cast<std::uint32_t>(answers_[b]), 0.0});
                } else {
                    const bool is_present =
                        !rules_.uses_class_bound || counts_[b * n_classes + classes[row]] > 0.0;
                    cost += cost_at_least(node, row, is_present);
                }
            }
        });
        return cost + cost_of_equal_rows();
    }

    // The same as `count_split`, of `split_` and for numbers: the range of each branch, or its mean
    // if it can only be a leaf. Missing cases may go down every branch.
    Cost count_numbers(CaseNode* node, const greedy::Column& column) {
        const double* values = problem_.target().values;
        const greedy::CaseSet& cases = node->cases;
        sums_.assign(split_.n_branches, NumberSums());
        is_known_.assign(split_.n_branches, 0);
        bool some_missing = false;
        greedy::with_codes(column, [&](auto codes) {
            for (std::size_t i = 0; i < cases.rows.size(); ++i) {
                const std::uint32_t row = cases.rows[i], code = codes[row];
                const double weight = cases.weights.empty() ? 1.0 : cases.weights[i];
                if (code == column.n_values) {
                    some_missing = true;
                    for (NumberSums& sums : sums_) sums.add(values[row], weight);
                } else {
                    const auto b = split_.branch<std::uint32_t>(code);
                    sums_[b].add(values[row], weight);
                    is_known_[b] = 1;
                }
            }
        });
        for (std::uint32_t b = 0; b < split_.n_branches; ++b) {
            NumberSums& sums = sums_[b];
            if (!is_known_[b]) {
                sums.low = sums.high = node->answer.number;
            } else if (!some_missing &&
                       lattice_.learner().is_too_small(sums.weight, node->depth + 1)) {
                sums.low = sums.high = sums.mean();
            }
        }
        Cost cost = 0;
        greedy::with_codes(column, [&](auto codes) {
            for (std::uint32_t row : node->search.whole) {
                const std::uint32_t code = codes[row];
                if (code == column.n_values) continue;
                cost += number_at_least(node, row, sums_[split_.branch<std::uint32_t>(code)]);
            }
        });
        return cost + cost_of_equal_numbers();
    }

    // Lower bound on the cost of a row whose answer is in a range. Equal rows, which get the same
    // answer, are put aside for `cost_of_equal_numbers`.
    Cost number_at_least(const CaseNode* node, std::uint32_t row, const NumberSums& range) {
        const PartCases& part = problem_.parts[node->part];
        const double value = problem_.target().values[row];
        const bool has_range = rules_.uses_class_bound || range.low == range.high;
        const double low = has_range ? range.low : -std::numeric_limits<double>::infinity();
        const double high = has_range ? range.high : std::numeric_limits<double>::infinity();
        if (problem_.equal_rows[row] >= 0 && rules_.uses_equal_rows_bound) {
            equal_numbers_.push_back(
                {problem_.equal_rows[row], value, part.scales[row], low, high});
            return 0;
        }
        return problem_.cost_of(part, row, {0, std::clamp(value, low, high)});
    }

    // The cost of the equal rows put aside. The cost of each row is rounded, by half a unit at most.
    Cost cost_of_equal_numbers() {
        std::sort(equal_numbers_.begin(), equal_numbers_.end());
        Cost cost = 0;
        for (std::size_t first = 0, last = 0; first < equal_numbers_.size(); first = last) {
            while (last < equal_numbers_.size() &&
                   equal_numbers_[last].set == equal_numbers_[first].set) {
                ++last;
            }
            const double best = best_number(first, last);
            double least = 0.0;
            for (std::size_t i = first; i < last; ++i) {
                const EqualNumber& row = equal_numbers_[i];
                least += row.scale * problem_.loss_of(row.value, best);
            }
            // Sums of products lose less than a part in 2^40 to rounding.
            least = least * (1.0 - 0x1p-40) - 0.5 * static_cast<double>(last - first) - 1.0;
            cost += static_cast<Cost>(std::max(0.0, std::floor(least)));
        }
        equal_numbers_.clear();
        return cost;
    }

    // The number of least loss for some rows, sorted by value: their mean or median, or the end of
    // the range that is nearer to it, because the loss is convex.
    double best_number(std::size_t first, std::size_t last) const {
        double total = 0.0, sum = 0.0;
        for (std::size_t i = first; i < last; ++i) {
            total += equal_numbers_[i].scale;
            sum += equal_numbers_[i].scale * equal_numbers_[i].value;
        }
        double best = sum / total;
        if (problem_.loss == Loss::ABSOLUTE) {
            double below = 0.0;
            std::size_t median = first;
            while (median + 1 < last && (below += equal_numbers_[median].scale) < 0.5 * total) {
                ++median;
            }
            best = equal_numbers_[median].value;
        }
        return std::clamp(best, equal_numbers_[first].low, equal_numbers_[first].high);
    }

    // Lower bound on the cost of a row, given whether some leaf below may answer its class. Equal
    // rows that may be right are put aside for `cost_of_equal_rows`: they stay together, so that only
    // one of their classes is right.
    Cost cost_at_least(const CaseNode* node, std::uint32_t row, bool is_present) {
        const Cost cost = problem_.parts[node->part].costs[row];
        if (!is_present) return cost;
        const std::int32_t equal_rows = problem_.equal_rows[row];
        if (equal_rows >= 0 && rules_.uses_equal_rows_bound) {
            equal_rows_.push_back({equal_rows, problem_.target().classes[row], cost});
        }
        return 0;
    }

    // The cost of the equal rows put aside, without the most expensive class of each set.
    Cost cost_of_equal_rows() {
        if (equal_rows_.empty()) return 0;
        std::sort(equal_rows_.begin(), equal_rows_.end());
        Cost cost = 0, of_class = 0, dearest = 0;
        for (std::size_t i = 0; i < equal_rows_.size(); ++i) {
            cost += equal_rows_[i].cost;
            of_class += equal_rows_[i].cost;
            const bool is_last = i + 1 == equal_rows_.size();
            const bool ends_set = is_last || equal_rows_[i + 1].set != equal_rows_[i].set;
            if (ends_set || equal_rows_[i + 1].label != equal_rows_[i].label) {
                dearest = std::max(dearest, of_class);
                of_class = 0;
            }
            if (ends_set) {
                cost -= dearest;
                dearest = 0;
            }
        }
        equal_rows_.clear();
        return cost;
    }

    // The class that each branch answers if it can only be a leaf, else -1. Where values are
    // missing, cases are counted in every branch: enough to know the classes, not the weights.
    void describe_branches(const CaseNode* node, bool some_missing) {
        const std::uint32_t n_classes = problem_.target().n_classes;
        answers_.assign(split_.n_branches, -1);
        for (std::uint32_t b = 0; b < split_.n_branches; ++b) {
            // A branch of no known case gets no share of the missing ones: it is empty.
            if (!is_known_[b]) answers_[b] = static_cast<std::int32_t>(node->answer.label);
            if (some_missing || !is_known_[b]) continue;
            const double* counts = counts_.data() + static_cast<std::size_t>(b) * n_classes;
            double weight = 0.0;
            std::uint32_t n_present = 0;
            for (std::uint32_t c = 0; c < n_classes; ++c) {
                weight += counts[c];
                n_present += counts[c] > 0.0;
            }
            const bool is_leaf =
                n_present <= 1 || lattice_.learner().is_too_small(weight, node->depth + 1);
            if (is_leaf) {
                answers_[b] =
                    static_cast<std::int32_t>(problem_.answer(counts, 1e-9 * weight).label);
            }
        }
    }

    struct EqualRow {
        std::int32_t set;
        std::uint16_t label;
        Cost cost;
        bool operator<(const EqualRow& other) const {
            return set != other.set ? set < other.set : label < other.label;
        }
    };

    // A row that is equal to others, and the range of its answer.
    struct EqualNumber {
        std::int32_t set;
        double value, scale, low, high;
        bool operator<(const EqualNumber& other) const {
            return set != other.set ? set < other.set : value < other.value;
        }
    };

    Lattice& lattice_;
    const SearchProblem& problem_;
    BoundRules rules_;
    std::uint8_t* decisions_ = nullptr;
    std::vector<std::int32_t> trail_;  // units that are out only while looking ahead
    greedy::Split split_;
    std::vector<double> counts_;  // by branch and class
    std::vector<std::int32_t> answers_;
    std::vector<std::uint8_t> is_present_;
    std::vector<std::uint8_t> is_known_;  // by branch: some case has a value that leads there
    std::vector<EqualRow> equal_rows_;
    std::vector<NumberSums> sums_;  // by branch
    std::vector<EqualNumber> equal_numbers_;
};

}  // namespace sktree_opt::subset
