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
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "sktree_opt/greedy/measures.hpp"
#include "sktree_opt/greedy/ordering.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

// What a search found, in the measure's own units.
template <class Score>
struct Found {
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
Found<typename M::Score> search_threshold(const M& measure, const Entry* entries,
                                          std::uint32_t n_known, typename M::Side& left,
                                          typename M::Side& right, double min_leaf,
                                          typename M::Score tolerance) {
    using Score = typename M::Score;
    Found<Score> best;
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
Found<typename M::Score> search_multiway(const M& measure, const Entry* entries,
                                         std::uint32_t n_known, typename M::Side& branch,
                                         double min_leaf) {
    Found<typename M::Score> found;
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
                    Found<typename M::Score>& best) {
    if (measure.weight(left) < min_leaf || measure.weight(right) < min_leaf) return;
    const auto score = measure.score(left) + measure.score(right);
    if (!best.is_beaten_by(score, tolerance)) return;
    best.valid = true;
    best.score = score;
    best.low = name;
    best.branch_logs = x_log2_x(measure.weight(left)) + x_log2_x(measure.weight(right));
}

template <class M, class Entry>
Found<typename M::Score> search_one(const M& measure, const Entry* entries, std::uint32_t n_known,
                                    typename M::Side& left, typename M::Side& right,
                                    double min_leaf, typename M::Score tolerance) {
    Found<typename M::Score> best;
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
Found<typename M::Score> search_sorted_subset(const M& measure,
                                              const std::vector<typename M::Side>& categories,
                                              std::vector<std::uint32_t>& order,
                                              typename M::Side& left, typename M::Side& right,
                                              double min_leaf, typename M::Score tolerance) {
    order.resize(categories.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return measure.share(categories[a]) < measure.share(categories[b]);
    });
    Found<typename M::Score> best;
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
Found<typename M::Score> search_every_subset(const M& measure,
                                             const std::vector<typename M::Side>& categories,
                                             typename M::Side& left, typename M::Side& right,
                                             double min_leaf, typename M::Score tolerance) {
    Found<typename M::Score> best;
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
Found<typename M::Score> search_subset(const M& measure, const Entry* entries,
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

}  // namespace sktree_opt::greedy
