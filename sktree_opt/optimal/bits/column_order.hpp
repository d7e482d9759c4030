// In which order the columns of a node are tried as its root.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.7: in order of index, by Gini
// coefficient, at random. Deviations: the rule is none of these but what the children cost at one
// level less or, before that is known, with one test each; the others are there to compare with. A
// random order is drawn for each node, from its key: the same for any number of threads.
// Time O(n log n) a node for n columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/bits/bit_node.hpp"

namespace sktree_opt {

// Sum over sides and channels of squared sums by mass: what Gini and variance gain, but for a
// constant.
template <class Lane>
double gini_gain(const Problem<Lane>& problem, const Node<Lane>& node, int j) {
    const int mass = problem.channels.mass();
    const double all = static_cast<double>(node.totals[mass]);
    const double with = static_cast<double>(node.marginal_row(mass)[j]);
    double sum = 0.0;
    for (int c = 0; c < problem.channels.n_channels; ++c) {
        const double of_true = static_cast<double>(node.marginal_row(c)[j]);
        const double of_false = static_cast<double>(node.totals[c]) - of_true;
        if (with > 0.0) sum += of_true * of_true / with;
        if (all > with) sum += of_false * of_false / (all - with);
    }
    return sum;
}

// Between 0 and 1.
template <class Lane>
double random_score(const Problem<Lane>& problem, const Node<Lane>& node, int j) {
    std::uint64_t state = problem.switches.seed ^ node.key.low;
    state = split_mix(state) + static_cast<std::uint64_t>(node.columns[j]);
    return static_cast<double>(split_mix(state) >> 11) * 0x1p-53;
}

// Sorts columns, which are in order of index.
template <class Lane>
void sort_columns(const Problem<Lane>& problem, const Node<Lane>& node, const double* bounds,
                  Order by, std::vector<std::int32_t>& columns) {
    if (by == Order::INDEX) return;
    if (by == Order::GINI || by == Order::RANDOM) {
        std::vector<double> scores(node.n_columns);
        for (const int j : columns) {
            scores[j] =
                by == Order::GINI ? gini_gain(problem, node, j) : random_score(problem, node, j);
        }
        std::stable_sort(columns.begin(), columns.end(),
                         [&scores](int a, int b) { return scores[a] > scores[b]; });
        return;
    }
    const bool by_look_ahead = by == Order::LOOK_AHEAD;
    const Lane* with = node.best_true.data();
    const Lane* without = node.best_false.data();
    std::sort(columns.begin(), columns.end(), [=](int a, int b) {
        if (!by_look_ahead && bounds[a] != bounds[b]) return bounds[a] < bounds[b];
        const double score_a = static_cast<double>(with[a]) + static_cast<double>(without[a]);
        const double score_b = static_cast<double>(with[b]) + static_cast<double>(without[b]);
        return score_a > score_b || (score_a == score_b && a < b);
    });
}

}  // namespace sktree_opt
