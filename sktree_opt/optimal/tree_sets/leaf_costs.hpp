// Costs of leaves, for every objective of the registry, as whole multiples of a grid.
//
// A cost is rounded to a multiple of 2^-40 of the total, so that sums of costs are exact: ties are
// ties, whatever the order of additions, and trees can be counted by their cost. Here all costs are
// in units of the grid: whole numbers below 2^42, held in a double where loops run over lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sktree_opt/optimal/objectives/scores.hpp"
#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include "sktree_opt/utils/upper_errors.hpp"

namespace sktree_opt::portable {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_portable.hpp"
#include "sktree_opt/simd/lanes.hpp"
#include "sktree_opt/optimal/objectives/objectives.hpp"
}  // namespace sktree_opt::portable

namespace sktree_opt {

// Cost of what must not be a leaf; twice and thrice as much is a cost, too.
constexpr double FORBIDDEN = 0x1p60;

// A whole number; without a call, so that the compiler can make vectors of it.
SKTREE_INLINE double rounded(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// The parameters of an objective (see LeafObjective in _leaf_objectives.py), and what may be a
// leaf.
struct LeafRules {
    Score score = Score::TWO_CLASS;
    int n_sums = 2;  // classes, or weight, target and square
    int n_channels = 1;
    std::vector<double> class_channels;  // [sum][channel]: what a unit adds
    std::vector<double> class_mass;      // [sum]
    double unit = 0.5;
    double base_factor = 1.0;
    double z = 0.0, cf = 0.25;
    double least_weight = 0.0;  // a leaf of less is empty, but for rounding
    double grid = 1.0;
    std::int64_t min_rows = 1;
    double min_weight = 0.0;
    std::vector<double> unit_weight;  // [sum]
    bool has_row_channel = false;
    std::vector<double> min_class_weight;  // [class]; empty: none
    double min_purity = 0.0;               // share of the most frequent class

    bool has_minima() const {
        return min_rows > 1 || min_weight > 0.0 || !min_class_weight.empty() || min_purity > 0.0;
    }
    // Rows that are not enough have no part that is; rows that are impure may have one.
    bool is_large_enough(const std::int64_t* counts, int stride, bool as_leaf = true) const {
        std::int64_t rows = 0;
        double weight = 0.0, largest = 0.0;
        for (int c = 0; c < n_sums; ++c) {
            const double mine = unit_weight[c] * static_cast<double>(counts[c * stride]);
            rows += counts[c * stride];
            weight += mine;
            largest = std::max(largest, mine);
            if (!min_class_weight.empty() && mine < min_class_weight[c]) return false;
        }
        if (as_leaf && largest < min_purity * weight) return false;
        if (has_row_channel) rows = counts[n_sums * stride];
        return rows >= min_rows && weight >= min_weight;
    }
};

class LeafCosts {
public:
    explicit LeafCosts(const LeafRules& rules) : rules_(rules) {
        // min(a n0, b n1) = (a n0 + b n1 - |a n0 - b n1|) / 2
        const auto& channels = rules.class_channels;
        is_minimum_ = rules.score == Score::TWO_CLASS && rules.n_sums == 2;
        if (is_minimum_) {
            const double first = rules.base_factor * rules.class_mass[0];
            const double second = rules.base_factor * rules.class_mass[1];
            is_minimum_ = first == std::abs(channels[0]) && second == std::abs(channels[1]) &&
                          (channels[0] > 0.0) != (channels[1] > 0.0);
            first_ = 2.0 * rules.unit * first / rules.grid;
            second_ = 2.0 * rules.unit * second / rules.grid;
        }
    }
    const LeafRules& rules() const { return rules_; }
    // Whether a leaf costs what the lighter of two classes weighs, and may be of any size.
    bool is_plain_minimum() const { return is_minimum_ && !rules_.has_minima(); }
    double first_factor() const { return first_; }
    double second_factor() const { return second_; }

    // Costs of n leaves (n and stride multiples of 8), given their units: counts[sum][stride].
    SKTREE_INLINE void evaluate(const std::int64_t* counts, int stride, int n,
                                std::vector<double>& work, double* costs) const {
        evaluate_all(counts, stride, n, work, costs);
        if (!rules_.has_minima()) return;
        for (int j = 0; j < n; ++j) {
            if (!rules_.is_large_enough(counts + j, stride)) costs[j] = FORBIDDEN;
        }
    }

    // The same of leaves that must not be ones, too.
    SKTREE_INLINE void evaluate_all(const std::int64_t* counts, int stride, int n,
                                    std::vector<double>& work, double* costs) const {
        if (is_minimum_) {
            const std::int64_t* second = counts + stride;
            for (int j = 0; j < n; ++j) {
                // Counts are below 2^31 here or there: conversions of 32 bits make vectors.
                costs[j] = rounded(std::min(first_ * static_cast<double>(counts[j]),
                                            second_ * static_cast<double>(second[j])));
            }
        } else {
            evaluate_score(counts, stride, n, work, costs);
        }
    }

    double evaluate_one(const std::vector<std::int64_t>& totals, std::vector<double>& work) const {
        return may_be_leaf(totals) ? cost_of(totals, work) : FORBIDDEN;
    }
    bool may_be_leaf(const std::vector<std::int64_t>& totals) const {
        return !rules_.has_minima() || rules_.is_large_enough(totals.data(), 1);
    }
    double cost_of(const std::vector<std::int64_t>& totals, std::vector<double>& work) const {
        std::vector<std::int64_t> counts(totals.size() * portable::LANES, 0);
        for (std::size_t c = 0; c < totals.size(); ++c) counts[c * portable::LANES] = totals[c];
        double costs[portable::LANES];
        evaluate_all(counts.data(), portable::LANES, portable::LANES, work, costs);
        return costs[0];
    }

private:
    typedef portable::PairCounts<double, portable::NoCounts> Leaves;

    void evaluate_score(const std::int64_t* counts, int stride, int n, std::vector<double>& work,
                        double* costs) const {
        const int n_channels = rules_.n_channels;
        work.assign(static_cast<std::size_t>(n_channels + 1) * n, 0.0);
        double* mass = work.data() + static_cast<std::size_t>(n_channels) * n;
        for (int c = 0; c < rules_.n_sums; ++c) {
            const double unit_mass = rules_.class_mass[c];
            for (int j = 0; j < n; ++j) {
                mass[j] += unit_mass * static_cast<double>(counts[c * stride + j]);
            }
            for (int k = 0; k < n_channels; ++k) {
                const double factor = rules_.class_channels[c * n_channels + k];
                if (factor == 0.0) continue;
                double* channel = work.data() + static_cast<std::size_t>(k) * n;
                for (int j = 0; j < n; ++j) {
                    channel[j] += factor * static_cast<double>(counts[c * stride + j]);
                }
            }
        }
        ScoreParameters<double> parameters;
        parameters.n_channels = n_channels;
        parameters.z = rules_.z;
        parameters.cf = rules_.cf;
        parameters.least_weight = rules_.least_weight;
        Leaves leaves{};
        leaves.stride = n;
        for (int j = 0; j < n; j += portable::LANES) {
            leaves.column = work.data() + j;
            portable::store_pack(costs + j, score_of(leaves, parameters));
        }
        const double factor = rules_.unit / rules_.grid;
        for (int j = 0; j < n; ++j) {
            const double cost = factor * (rules_.base_factor * mass[j] - costs[j]);
            costs[j] = std::max(0.0, rounded(cost));
        }
    }

    portable::Pack<double> score_of(const Leaves& leaves,
                                    const ScoreParameters<double>& parameters) const {
        using Leaf = portable::LeafColumn;
        switch (rules_.score) {
            case Score::TWO_CLASS:
                return portable::TwoClassScore::score<Leaf>(leaves, parameters);
            case Score::LARGEST:
                return portable::LargestScore::score<Leaf>(leaves, parameters);
            case Score::GINI:
                return portable::GiniScore::score<Leaf>(leaves, parameters);
            case Score::ENTROPY:
                return portable::EntropyScore::score<Leaf>(leaves, parameters);
            case Score::SQUARED:
                return portable::SquaredScore::score<Leaf>(leaves, parameters);
            default:
                return portable::PessimisticScore::score<Leaf>(leaves, parameters);
        }
    }

    LeafRules rules_;
    bool is_minimum_ = false;
    double first_ = 0.0, second_ = 0.0;
};

// The answer of a leaf: the class that is worth most, or the mean of its targets.
struct LeafAnswers {
    bool is_mean = false;
    double centre = 0.0;  // of the targets
    double target_unit = 1.0;
    std::vector<double> worth;  // [class][answer], of a row of weight 1
    int n_answers = 0;
    double tolerance = 0.0;  // answers that are worth as much, but for rounding

    double of(const std::vector<std::int64_t>& totals, const std::vector<double>& unit) const {
        if (is_mean) {
            const double weight = unit[0] * static_cast<double>(totals[0]);
            return centre + target_unit * static_cast<double>(totals[1]) / weight;
        }
        double total = 0.0;
        for (std::size_t c = 0; c < unit.size(); ++c) total += unit[c] * totals[c];
        std::vector<double> sums(n_answers, 0.0);
        for (std::size_t c = 0; c < unit.size(); ++c) {
            const double share = total > 0.0 ? unit[c] * totals[c] / total : 0.0;
            for (int a = 0; a < n_answers; ++a) sums[a] += share * worth[c * n_answers + a];
        }
        const double best = *std::max_element(sums.begin(), sums.end());
        int answer = 0;
        while (sums[answer] < best - tolerance) ++answer;
        return answer;
    }
};

// Counts of two classes, in two lines of `stride`: of the rows that have column i, of all rows, and
// of those that have columns i and j, or j; and the costs of a unit of either class.
struct TwoClassPairs {
    const std::int64_t* both;
    const std::int64_t* counts;
    int stride;
    double with_i[2], total[2], factor[2];
};

// The best pairs of leaves below n columns j and below column i, with and without it.
struct BestPairs {
    double* with_j;
    double* without_j;
    double with_i, without_i;
};

// An integer below SMALL, without a conversion, which most instruction sets lack for vectors.
constexpr std::int64_t SMALL = std::int64_t{1} << 51;
SKTREE_INLINE double small_double(std::int64_t x) {
    constexpr std::int64_t SHIFTED_ZERO = 0x4338000000000000;  // the bits of 0x1.8p52
    x += SHIFTED_ZERO;
    double shifted;
    std::memcpy(&shifted, &x, sizeof(shifted));
    return shifted - 0x1.8p52;
}

// One text, compiled for each instruction set. `n` is a multiple of 8.
SKTREE_INLINE void rate_pairs_anywhere(const TwoClassPairs& pairs, int n, BestPairs& best) {
    constexpr int LANES = 8;
    const auto lesser = [](double a, double b) SKTREE_INLINE_LAMBDA { return b < a ? b : a; };
    const auto cost = [&](double a, double b) SKTREE_INLINE_LAMBDA {
        return rounded(lesser(pairs.factor[0] * a, pairs.factor[1] * b));
    };
    double with_i[LANES], without_i[LANES];
    std::fill(with_i, with_i + LANES, best.with_i);
    std::fill(without_i, without_i + LANES, best.without_i);
    for (int first = 0; first < n; first += LANES) {
        const std::int64_t* both = pairs.both + first;
        const std::int64_t* counts = pairs.counts + first;
        double* with_j = best.with_j + first;
        double* without_j = best.without_j + first;
        for (int k = 0; k < LANES; ++k) {
            const double both_0 = small_double(both[k]);
            const double both_1 = small_double(both[pairs.stride + k]);
            const double there_0 = small_double(counts[k]) - both_0;
            const double there_1 = small_double(counts[pairs.stride + k]) - both_1;
            const double of_both = cost(both_0, both_1), of_there = cost(there_0, there_1);
            const double of_here = cost(pairs.with_i[0] - both_0, pairs.with_i[1] - both_1);
            const double of_neither = cost(pairs.total[0] - pairs.with_i[0] - there_0,
                                           pairs.total[1] - pairs.with_i[1] - there_1);
            with_i[k] = lesser(with_i[k], of_both + of_here);
            without_i[k] = lesser(without_i[k], of_there + of_neither);
            with_j[k] = lesser(with_j[k], of_both + of_there);
            without_j[k] = lesser(without_j[k], of_here + of_neither);
        }
    }
    best.with_i = *std::min_element(with_i, with_i + LANES);
    best.without_i = *std::min_element(without_i, without_i + LANES);
}

using PairRater = void (*)(const TwoClassPairs&, int, BestPairs&);

inline void rate_pairs_portable(const TwoClassPairs& pairs, int n, BestPairs& best) {
    rate_pairs_anywhere(pairs, n, best);
}
#if defined(SKTREE_X86)
__attribute__((target("avx2"))) inline void rate_pairs_avx2(const TwoClassPairs& pairs, int n,
                                                            BestPairs& best) {
    rate_pairs_anywhere(pairs, n, best);
}
__attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512"))) inline void
rate_pairs_avx512(const TwoClassPairs& pairs, int n, BestPairs& best) {
    rate_pairs_anywhere(pairs, n, best);
}
#endif

// Compilers make NEON of portable code.
inline PairRater pair_rater(InstructionSet set) {
#if defined(SKTREE_X86)
    if (set >= InstructionSet::AVX512) return rate_pairs_avx512;
    if (set >= InstructionSet::AVX2) return rate_pairs_avx2;
#endif
    return rate_pairs_portable;
}

// The best subtree of depth one on either side of each column, from counts of pairs of columns:
// both children of a root on that column (the second part of MurTree's Algorithm 4). One pair of
// columns serves both of its columns as roots.
class DepthTwo {
public:
    // Costs of the best leaf or stump on the rows with and without each column, and of the leaf.
    std::vector<double> with, without, leaf_with, leaf_without;

    // False when `stop`, which is told of the work, asks to end.
    template <class Stop>
    bool solve(const RowTable& table, const NodeColumns& columns, const LeafCosts& leaves,
               double split_cost, Stop stop) {
        const int stride = columns.stride(), n_channels = columns.n_channels();
        const std::size_t size = static_cast<std::size_t>(n_channels) * stride;
        const std::vector<std::int64_t>& totals = columns.totals();
        const bool is_plain = leaves.is_plain_minimum() && totals[0] < SMALL && totals[1] < SMALL;
        const PairRater rate = pair_rater(table.instruction_set);
        for (auto* counts : {&both_, &here_, &there_, &neither_}) counts->resize(size);
        for (auto* costs : {&cost_both_, &cost_here_, &cost_there_, &cost_neither_}) {
            costs->resize(stride);
        }
        with.resize(stride);
        without.resize(stride);
        leaf_with.resize(stride);
        leaf_without.resize(stride);
        for (int c = 0; c < n_channels; ++c) {
            for (int j = 0; j < stride; ++j) {
                const std::size_t at = static_cast<std::size_t>(c) * stride + j;
                there_[at] = columns.totals()[c] - columns.counts()[at];
            }
        }
        leaves.evaluate(columns.counts(), stride, stride, work_, leaf_with.data());
        leaves.evaluate(there_.data(), stride, stride, work_, leaf_without.data());
        std::fill(with.begin(), with.end(), 3.0 * FORBIDDEN);
        std::fill(without.begin(), without.end(), 3.0 * FORBIDDEN);
        for (int i = 0; i < columns.n_columns(); ++i) {
            // Columns before i have met it.
            const int first = i / 8 * 8, n = stride - first;
            if (stop(static_cast<std::int64_t>(n) * (columns.n_words() / 4 + 8))) return false;
            columns.count_pairs(table, i, both_.data(), first);
            BestPairs best{with.data() + first, without.data() + first, with[i], without[i]};
            if (is_plain) {
                rate(pairs_of(columns, leaves, i, first), n, best);
            } else {
                rate_any(columns, leaves, i, first, best);
            }
            with[i] = std::min(with[i], best.with_i);
            without[i] = std::min(without[i], best.without_i);
        }
        for (int j = 0; j < columns.n_columns(); ++j) {
            with[j] = std::min(leaf_with[j], with[j] + split_cost);
            without[j] = std::min(leaf_without[j], without[j] + split_cost);
        }
        return true;
    }

private:
    TwoClassPairs pairs_of(const NodeColumns& columns, const LeafCosts& leaves, int i,
                           int first) const {
        TwoClassPairs pairs;
        pairs.both = both_.data() + first;
        pairs.counts = columns.counts() + first;
        pairs.stride = columns.stride();
        for (int c = 0; c < 2; ++c) {
            pairs.with_i[c] = static_cast<double>(columns.counts()[c * columns.stride() + i]);
            pairs.total[c] = static_cast<double>(columns.totals()[c]);
        }
        pairs.factor[0] = leaves.first_factor();
        pairs.factor[1] = leaves.second_factor();
        return pairs;
    }

    // Pairs of column i and those from `first` on, for any objective and minima.
    void rate_any(const NodeColumns& columns, const LeafCosts& leaves, int i, int first,
                  BestPairs& best) {
        const int stride = columns.stride(), n = stride - first;
        for (int c = 0; c < columns.n_channels(); ++c) {
            const std::int64_t* counts = columns.counts() + c * stride;
            const std::int64_t total = columns.totals()[c], mine = counts[i];
            for (int j = c * stride + first, k = first; k < stride; ++j, ++k) {
                here_[j] = mine - both_[j];
                there_[j] = counts[k] - both_[j];
                neither_[j] = total - mine - there_[j];
            }
        }
        leaves.evaluate(both_.data() + first, stride, n, work_, cost_both_.data());
        leaves.evaluate(here_.data() + first, stride, n, work_, cost_here_.data());
        leaves.evaluate(there_.data() + first, stride, n, work_, cost_there_.data());
        leaves.evaluate(neither_.data() + first, stride, n, work_, cost_neither_.data());
        for (int k = 0; k < n; ++k) {
            best.with_i = std::min(best.with_i, cost_both_[k] + cost_here_[k]);
            best.without_i = std::min(best.without_i, cost_there_[k] + cost_neither_[k]);
            best.with_j[k] = std::min(best.with_j[k], cost_both_[k] + cost_there_[k]);
            best.without_j[k] = std::min(best.without_j[k], cost_here_[k] + cost_neither_[k]);
        }
    }

    std::vector<std::int64_t> both_, here_, there_, neither_;
    std::vector<double> cost_both_, cost_here_, cost_there_, cost_neither_;
    std::vector<double> work_;
};

}  // namespace sktree_opt
