// Sums over the trees of a graph, or over the first of them: how far they rely on a feature, and
// what they answer for a row.
//
// A set may end within a class of the root. Then only the first trees of the class count: those of
// some whole pairs of its children's classes, and the first ones of another pair. In that pair the
// first subtrees up to a rank come with all second subtrees, and the next one comes with the first
// few. So sums over the first trees of a class are sums over first trees of its children's classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/tree_sets/tree_graph.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt {

// Some trees' reliance on a feature: how many do without it, and by how much its splits lower the
// cost of a tree, at least and at most.
struct RelianceSum {
    Count n_without = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max() / 4;
    std::int64_t largest = std::numeric_limits<std::int64_t>::min() / 4;

    void add(const RelianceSum& other) {
        n_without += other.n_without;
        least = std::min(least, other.least);
        largest = std::max(largest, other.largest);
    }
    RelianceSum operator*(const RelianceSum& other) const {
        return {n_without * other.n_without, least + other.least, largest + other.largest};
    }
};

class Reliance {
public:
    // `is_asked`: by test, whether it asks about the feature.
    Reliance(const TreeGraph& graph, const Classes& classes, const std::vector<char>& is_asked)
        : graph_(graph), classes_(classes), is_asked_(is_asked), sums_(classes.all.size()) {}

    // False when the search was stopped.
    bool solve(SearchControl* control) {
        std::int64_t work = 0;
        for (std::int64_t node = graph_.n_nodes() - 1; node >= 0; --node) {
            RelianceSum* mine = sums_.data() + classes_.begin[node];
            if (graph_.is_leaf(node)) {
                mine[classes_.find(node, graph_.leaf_cost[node], graph_.leaf_shape(node))].add(
                    NONE);
            }
            for (std::int64_t o = graph_.option_begin[node]; o < graph_.option_begin[node + 1];
                 ++o) {
                const RelianceSum split = of_option(node, o);
                graph_.for_pairs(classes_, node, o,
                                 [&](std::int64_t i, std::int64_t j, std::int64_t cost,
                                     std::int64_t shape, Count) {
                                     const std::int64_t at = classes_.find(node, cost, shape);
                                     mine[at].add(split * of_child(o, 0, i) * of_child(o, 1, j));
                                     ++work;
                                 });
            }
            if (work < 100000) continue;
            work = 0;
            if (control->poll()) return false;
        }
        return true;
    }

    const RelianceSum& of_class(std::int64_t node, std::int64_t at) const {
        return sums_[classes_.begin[node] + at];
    }

    // Of the first trees of a class.
    RelianceSum of_first(std::int64_t node, std::int64_t at, Count number) const {
        const TreeClass wanted = classes_.of(node)[at];
        if (number >= wanted.count) return of_class(node, at);
        RelianceSum sum;
        if (number > 0) add_first(node, wanted, number, false, sum);
        return sum;
    }

private:
    static constexpr RelianceSum NONE{1, 0, 0};

    RelianceSum of_test(std::int64_t node, std::int64_t option, std::int64_t k) const {
        if (!is_asked_[graph_.test(k)]) return NONE;
        const std::int64_t gain = graph_.gain(node, option);
        return {0, gain, gain};
    }
    // The sum over an option's tests. A partition needs the feature if all its tests ask about it.
    RelianceSum of_option(std::int64_t node, std::int64_t option) const {
        RelianceSum sum;
        for (std::int64_t k = graph_.test_begin[option]; k < graph_.test_begin[option + 1]; ++k) {
            sum.add(of_test(node, option, k));
        }
        if (!graph_.counts_tests) sum.n_without = std::min<Count>(sum.n_without, 1);
        return sum;
    }
    RelianceSum of_child(std::int64_t option, int side, std::int64_t at) const {
        return graph_.is_last(option) ? NONE : of_class(graph_.child[2 * option + side], at);
    }
    RelianceSum of_single(std::int64_t option, int side, std::int64_t at, Count rank) const {
        if (graph_.is_last(option)) return NONE;
        const std::int64_t node = graph_.child[2 * option + side];
        const TreeClass wanted = classes_.of(node)[at];
        if (splits_of(wanted.shape) == 0) return NONE;
        RelianceSum sum;
        add_first(node, wanted, rank, true, sum);
        return sum;
    }
    RelianceSum of_first_of_child(std::int64_t option, int side, std::int64_t at,
                                  Count number) const {
        return graph_.is_last(option) ? (number > 0 ? NONE : RelianceSum())
                                      : of_first(graph_.child[2 * option + side], at, number);
    }

    // Adds the first trees of a class, or only the one after them.
    void add_first(std::int64_t node, const TreeClass& wanted, Count number, bool only_next,
                   RelianceSum& sum) const {
        bool is_done = false;
        for (std::int64_t o = graph_.option_begin[node];
             o < graph_.option_begin[node + 1] && !is_done; ++o) {
            const Count ways = graph_.n_ways(o, {});
            graph_.for_pairs(
                classes_, node, o,
                [&](std::int64_t i, std::int64_t j, std::int64_t cost, std::int64_t shape,
                    Count count) {
                    if (is_done || cost != wanted.cost || shape != wanted.shape) return;
                    const RelianceSum left = of_child(o, 0, i), right = of_child(o, 1, j);
                    if (number >= ways * count) {
                        number -= ways * count;
                        if (!only_next) sum.add(of_option(node, o) * left * right);
                        return;
                    }
                    is_done = true;
                    const std::int64_t first = graph_.test_begin[o];
                    const std::int64_t k = first + static_cast<std::int64_t>(number / count);
                    for (std::int64_t t = first; t < k && !only_next; ++t) {
                        sum.add(of_test(node, o, t) * left * right);
                    }
                    const RelianceSum split =
                        graph_.counts_tests ? of_test(node, o, k) : of_option(node, o);
                    number %= count;
                    const Count n_right =
                        graph_.is_last(o) ? 1 : classes_.of(graph_.child[2 * o + 1])[j].count;
                    const Count q = number / n_right, rest = number % n_right;
                    const RelianceSum next = of_single(o, 0, i, q);
                    if (only_next) {
                        sum.add(split * next * of_single(o, 1, j, rest));
                        return;
                    }
                    if (q > 0) sum.add(split * of_first_of_child(o, 0, i, q) * right);
                    if (rest > 0) sum.add(split * next * of_first_of_child(o, 1, j, rest));
                });
        }
    }

    const TreeGraph& graph_;
    const Classes& classes_;
    const std::vector<char>& is_asked_;
    std::vector<RelianceSum> sums_;  // by class
};

// The answers of the trees for one row after the other. A row passes some tests; the trees in which
// it reaches a node are counted from the root to the leaves, by class.
class RowAnswers {
public:
    // The set has the first trees of each class of the root: `numbers` of them.
    RowAnswers(const TreeGraph& graph, const Classes& classes, const std::vector<Count>& numbers,
               int n_answers)
        : graph_(graph),
          classes_(classes),
          numbers_(numbers),
          n_answers_(n_answers),
          weights_(classes.all.size(), 0.0),
          is_reached_(graph.n_nodes(), 0) {}

    // Sums the numbers of trees by answer; for means (no answers), their sum and that of squares.
    void add(const std::uint8_t* passes, double* sums) {
        passes_ = passes;
        sums_ = sums;
        for (std::size_t at = 0; at < numbers_.size(); ++at) {
            add_first(0, static_cast<std::int64_t>(at), numbers_[at], 1.0);
        }
        for (std::size_t level = 0; level < reached_.size(); ++level) {
            for (std::size_t k = 0; k < reached_[level].size(); ++k) pass(reached_[level][k]);
            reached_[level].clear();
        }
    }

private:
    void add_weight(std::int64_t node, std::int64_t at, double weight) {
        weights_[classes_.begin[node] + at] += weight;
        if (is_reached_[node]) return;
        is_reached_[node] = 1;
        const std::size_t level = static_cast<std::size_t>(graph_.level[node]);
        if (reached_.size() <= level) reached_.resize(level + 1);
        reached_[level].push_back(node);
    }

    void answer(double answer, double weight) {
        if (n_answers_ > 0) {
            sums_[static_cast<int>(answer)] += weight;
        } else {
            sums_[0] += weight * answer;
            sums_[1] += weight * answer * answer;
        }
    }

    void pass(std::int64_t node) {
        double* mine = weights_.data() + classes_.begin[node];
        if (graph_.is_leaf(node)) {
            answer(graph_.leaf_answer[node],
                   mine[classes_.find(node, graph_.leaf_cost[node], graph_.leaf_shape(node))]);
        }
        for (std::int64_t o = graph_.option_begin[node]; o < graph_.option_begin[node + 1]; ++o) {
            const std::int64_t first = graph_.test_begin[o];
            const std::int64_t last = graph_.counts_tests ? graph_.test_begin[o + 1] : first + 1;
            double n_first = 0.0;
            for (std::int64_t k = first; k < last; ++k) n_first += graph_.goes_first(k, passes_);
            const double n_second = static_cast<double>(last - first) - n_first;
            graph_.for_pairs(
                classes_, node, o,
                [&](std::int64_t i, std::int64_t j, std::int64_t cost, std::int64_t shape, Count) {
                    const double weight = mine[classes_.find(node, cost, shape)];
                    if (weight == 0.0) return;
                    if (n_first > 0.0) add_side(o, 0, i, j, weight * n_first);
                    if (n_second > 0.0) add_side(o, 1, i, j, weight * n_second);
                });
        }
        std::fill(mine, mine + classes_.size[node], 0.0);
        is_reached_[node] = 0;
    }

    // The row goes to one side, in every pair of subtrees of two classes.
    void add_side(std::int64_t option, int side, std::int64_t i, std::int64_t j, double weight) {
        if (graph_.is_last(option)) {
            answer(graph_.answer[2 * option + side], weight);
            return;
        }
        const std::int64_t other = graph_.child[2 * option + 1 - side];
        const double n_others = static_cast<double>(classes_.of(other)[side == 0 ? j : i].count);
        add_weight(graph_.child[2 * option + side], side == 0 ? i : j, weight * n_others);
    }

    // The first trees of a class.
    void add_first(std::int64_t node, std::int64_t at, Count number, double weight) {
        const TreeClass wanted = classes_.of(node)[at];
        if (number == 0 || weight == 0.0) return;
        if (number >= wanted.count) {
            add_weight(node, at, weight);
            return;
        }
        bool is_done = false;
        for (std::int64_t o = graph_.option_begin[node];
             o < graph_.option_begin[node + 1] && !is_done; ++o) {
            const Count ways = graph_.n_ways(o, {});
            graph_.for_pairs(classes_, node, o,
                             [&](std::int64_t i, std::int64_t j, std::int64_t cost,
                                 std::int64_t shape, Count count) {
                                 if (is_done || cost != wanted.cost || shape != wanted.shape)
                                     return;
                                 const Count n = std::min<Count>(number, ways * count);
                                 is_done = n == number;
                                 number -= n;
                                 add_first_pairs(o, i, j, n, count, weight);
                             });
        }
    }

    void add_first_pairs(std::int64_t option, std::int64_t i, std::int64_t j, Count number,
                         Count count, double weight) {
        const std::int64_t first = graph_.test_begin[option];
        const std::int64_t k = first + static_cast<std::int64_t>(number / count);
        for (std::int64_t t = first; t < k; ++t) {
            add_side(option, graph_.goes_first(t, passes_) ? 0 : 1, i, j, weight);
        }
        number %= count;
        if (number == 0) return;
        const int side = graph_.goes_first(k, passes_) ? 0 : 1;
        const std::int64_t left = graph_.child[2 * option], right = graph_.child[2 * option + 1];
        const Count n_right = classes_.of(right)[j].count;
        const Count q = number / n_right, rest = number % n_right;
        if (side == 0) {
            add_first(left, i, q, weight * static_cast<double>(n_right - rest));
            add_first(left, i, q + 1, weight * static_cast<double>(rest));
        } else {
            add_first(right, j, n_right, weight * static_cast<double>(q));
            add_first(right, j, rest, weight);
        }
    }

    const TreeGraph& graph_;
    const Classes& classes_;
    const std::vector<Count>& numbers_;
    const int n_answers_;
    const std::uint8_t* passes_ = nullptr;
    double* sums_ = nullptr;
    std::vector<double> weights_;  // by class
    std::vector<std::uint8_t> is_reached_;
    std::vector<std::vector<std::int64_t>> reached_;  // by level
};

// The answers for several rows, on several threads.
inline void sum_answers(const TreeGraph& graph, const Classes& classes,
                        const std::vector<Count>& numbers, const std::uint8_t* passes,
                        std::int64_t n_rows, std::int64_t n_tests, int n_answers, double* sums,
                        int n_threads, SearchControl* control) {
    const int width = std::max(n_answers, 2);
    std::vector<std::unique_ptr<RowAnswers>> members(n_threads);
    run_tasks(*control, n_threads, n_rows, [&](std::int64_t row, int thread) {
        if (control->poll()) return;
        if (!members[thread]) {
            members[thread] = std::make_unique<RowAnswers>(graph, classes, numbers, n_answers);
        }
        members[thread]->add(passes + row * n_tests, sums + row * width);
    });
}

}  // namespace sktree_opt
