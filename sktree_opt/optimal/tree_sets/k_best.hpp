// The k best trees, different from each other, exact (an Algebra of set_search.hpp).
//
// DL8 (Nijssen & Fromont, KDD 2007, section 5, doi:10.1145/1281192.1281250) keeps one tree for
// each itemset and limit and remarks that k can be kept. A list of k for the rows of a node is made
// from its children's lists: the k least sums of one cost of either.
//
// Two trees are different if their roots divide the rows differently, or if two subtrees at the
// same place do. Tests that part a node's rows alike count as one (equal or complementary columns),
// answers of leaves follow from their rows, and a last split (one over two leaves) has to lower the
// cost: else a best tree would come back with idle splits in every place.
//
// paper       here              what
// e(T)        cost              summed leaf costs, plus split_cost for each split
// r(T)        RankedTree order  cost, then number of splits, then columns and ranks below
// k           n_best            trees kept for each row set and limit
//
// Deviations: upper bounds, which DL8 lacks: a subtree that costs more than the k-th best tree
// known, less the least cost of its sibling, is dropped. Costs are rounded to a grid of 2^-40 of
// the total, so sums are exact and ties are ties, whatever the order of additions.
// Complexity: k more comparisons for each column and node than one tree needs; memory k entries of
// 32 bytes for each row set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "sktree_opt/optimal/objectives/scores.hpp"
#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"

namespace sktree_opt::portable {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_portable.hpp"
#include "sktree_opt/simd/lanes.hpp"
#include "sktree_opt/optimal/objectives/objectives.hpp"
}  // namespace sktree_opt::portable

namespace sktree_opt {

struct RankedTree {
    double cost;
    std::int32_t n_splits;
    std::int32_t column;       // -1: a leaf
    std::int32_t left, right;  // ranks in the lists of the rows with and without it
    std::int32_t splits_with;  // splits of the subtree of the rows with it

    auto order() const { return std::make_tuple(cost, n_splits, column, splits_with, left, right); }
    bool operator<(const RankedTree& other) const { return order() < other.order(); }
};

class KBestBuilder;

// The cost of leaves, for every objective of the registry (see BitObjective in bit_problem.hpp).
struct LeafCosts {
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

    // Costs of n leaves (a multiple of LANES), given their units: counts[sum][stride].
    void evaluate(const std::int64_t* counts, int stride, int n, std::vector<double>& work,
                  double* costs) const {
        work.assign(static_cast<std::size_t>(n_channels + 1) * n, 0.0);
        double* mass = work.data() + static_cast<std::size_t>(n_channels) * n;
        for (int c = 0; c < n_sums; ++c) {
            for (int j = 0; j < n; ++j) {
                const double units = static_cast<double>(counts[c * stride + j]);
                mass[j] += class_mass[c] * units;
                for (int k = 0; k < n_channels; ++k) {
                    work[static_cast<std::size_t>(k) * n + j] +=
                        class_channels[c * n_channels + k] * units;
                }
            }
        }
        ScoreParameters<double> parameters;
        parameters.n_channels = n_channels;
        parameters.z = z;
        parameters.cf = cf;
        parameters.least_weight = least_weight;
        Leaves leaves{};
        leaves.stride = n;
        for (int j = 0; j < n; j += portable::LANES) {
            leaves.column = work.data() + j;
            portable::store_pack(costs + j, score_of(leaves, parameters));
        }
        for (int j = 0; j < n; ++j) {
            const double cost = unit * (base_factor * mass[j] - costs[j]);
            costs[j] = std::max(0.0, std::rint(cost / grid) * grid);
        }
    }

private:
    typedef portable::PairCounts<double, portable::NoCounts> Leaves;

    portable::Pack<double> score_of(const Leaves& leaves,
                                    const ScoreParameters<double>& parameters) const {
        using Leaf = portable::LeafColumn;
        switch (score) {
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
};

struct KBest {
    using Set = std::vector<RankedTree>;  // in order
    using Builder = KBestBuilder;

    std::int64_t n_best = 1;
    double split_cost = 0.0;    // a multiple of the grid
    std::int64_t min_rows = 1;  // of a leaf
    double min_weight = 0.0;
    std::vector<double> unit;  // weight of a unit of each sum
    bool has_row_channel = false;
    bool use_bounds = true;  // see above; off in tests
    LeafCosts leaves;

    bool is_large_enough(const std::int64_t* counts, int stride) const {
        std::int64_t rows = 0;
        double weight = 0.0;
        for (int c = 0; c < leaves.n_sums; ++c) {
            rows += counts[c * stride];
            weight += unit[c] * static_cast<double>(counts[c * stride]);
        }
        if (has_row_channel) rows = counts[leaves.n_sums * stride];
        return rows >= min_rows && weight >= min_weight;
    }
    bool may_be_node(const std::vector<std::int64_t>& totals) const {
        return is_large_enough(totals.data(), 1);
    }
    // Pure, so that no split lowers the cost, or too small to split.
    bool is_final(const RowTable& table, const RowSet& node) const {
        const std::int64_t n_rows = static_cast<std::int64_t>(node.rows.size());
        if (n_rows < 2 * min_rows) return true;
        if (table.values != nullptr) return false;
        int n_present = 0;
        for (int c = 0; c < leaves.n_sums; ++c) {
            n_present += node.class_start[c + 1] > node.class_start[c];
        }
        return n_present < 2;
    }
    bool is_enough(const Set& set, double known_bound, double bound) const {
        return known_bound >= bound || static_cast<std::int64_t>(set.size()) == n_best;
    }
    double bound_of_sibling(double bound, const Set& set) const { return bound - set.front().cost; }
    double bound_to_read(const RankedTree& entry) const { return entry.cost; }
};

class KBestBuilder {
public:
    void reset(const KBest& algebra, const std::vector<std::int64_t>& totals, double bound) {
        algebra_ = &algebra;
        totals_ = totals;
        bound_ = algebra.use_bounds ? bound : std::numeric_limits<double>::infinity();
        trees_.clear();
        one_.assign(totals.size() * portable::LANES, 0);
        for (std::size_t c = 0; c < totals.size(); ++c) one_[c * portable::LANES] = totals[c];
        double costs[portable::LANES];
        algebra.leaves.evaluate(one_.data(), portable::LANES, portable::LANES, work_, costs);
        leaf_cost_ = costs[0];
    }

    void offer_leaf() {
        if (algebra_->may_be_node(totals_)) {
            offer({leaf_cost_, 0, -1, -1, -1, 0});
        }
    }

    // counts[channel][stride]: this node's rows with each column; they are one side of `columns`.
    void offer_stumps(const NodeColumns& columns, const std::int64_t* counts, RowSide side) {
        const int stride = columns.stride();
        const std::size_t size = totals_.size() * static_cast<std::size_t>(stride);
        others_.resize(size);
        for (std::size_t c = 0; c < totals_.size(); ++c) {
            for (int j = 0; j < stride; ++j) {
                others_[c * stride + j] = totals_[c] - counts[c * stride + j];
            }
        }
        accepted_.clear();
        costs_.resize(2 * static_cast<std::size_t>(stride));
        algebra_->leaves.evaluate(counts, stride, stride, work_, costs_.data());
        algebra_->leaves.evaluate(others_.data(), stride, stride, work_, costs_.data() + stride);
        for (int j = 0; j < columns.n_columns(); ++j) {
            const double sum = costs_[j] + costs_[stride + j];
            if (sum + algebra_->split_cost > bound_ || gains_nothing(sum)) continue;
            if (!algebra_->is_large_enough(counts + j, stride) ||
                !algebra_->is_large_enough(others_.data() + j, stride)) {
                continue;
            }
            const RankedTree stump{sum + algebra_->split_cost, 1, columns.column(j), 0, 0, 0};
            if (!would_enter(stump) || has_equal(columns, side, j, sum)) continue;
            offer(stump);
        }
    }

    // Sums of every two trees; `exactly` >= 0: only those with so many splits on the first side.
    // `stop` is asked with the work done; true gives up.
    template <class Stop>
    void offer_pairs(int column, const KBest::Set& with, const KBest::Set& without, int exactly,
                     Stop stop) {
        for (std::size_t a = 0; a < with.size(); ++a) {
            const RankedTree& x = with[a];
            if (exactly >= 0 && x.n_splits != exactly) continue;
            if (stop(without.size())) return;
            for (std::size_t b = 0; b < without.size(); ++b) {
                const RankedTree& y = without[b];
                const double sum = x.cost + y.cost;
                if (sum + algebra_->split_cost > bound_) break;
                if (x.column < 0 && y.column < 0 && gains_nothing(sum)) continue;
                offer({sum + algebra_->split_cost, x.n_splits + y.n_splits + 1, column,
                       static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), x.n_splits});
            }
        }
    }

    void offer_all(const KBest::Set& trees) {
        for (const RankedTree& tree : trees) offer(tree);
    }

    const KBest::Set& finish() {
        std::sort(trees_.begin(), trees_.end());
        return trees_;
    }
    KBest::Set take() { return finish(); }

    double bound() const { return bound_; }
    double bound_for_pair() const { return bound_ - algebra_->split_cost; }
    void tighten(double bound) {
        if (algebra_->use_bounds) bound_ = std::min(bound_, bound);
    }

private:
    bool gains_nothing(double sum) const { return leaf_cost_ - sum < 2.0 * algebra_->leaves.grid; }

    // Columns that differ in the node may part one side of it alike: then they cost the same.
    bool has_equal(const NodeColumns& columns, RowSide side, int j, double cost) {
        if (side.column < 0) return false;
        for (const auto& [known_cost, k] : accepted_) {
            if (known_cost == cost && columns.parts_alike(j, k, side.column, side.with)) {
                return true;
            }
        }
        accepted_.emplace_back(cost, j);
        return false;
    }

    bool is_full() const { return static_cast<std::int64_t>(trees_.size()) == algebra_->n_best; }
    bool would_enter(const RankedTree& tree) const {
        return tree.cost <= bound_ && (!is_full() || tree < trees_.front());
    }

    // A heap of the best, the worst of them on top.
    void offer(const RankedTree& tree) {
        if (!would_enter(tree)) return;
        if (is_full()) {
            std::pop_heap(trees_.begin(), trees_.end());
            trees_.pop_back();
        }
        trees_.push_back(tree);
        std::push_heap(trees_.begin(), trees_.end());
        if (is_full()) tighten(trees_.front().cost);
    }

    const KBest* algebra_ = nullptr;
    std::vector<std::int64_t> totals_, one_, others_;
    std::vector<double> work_, costs_;
    std::vector<std::pair<double, int>> accepted_;
    double bound_ = 0.0, leaf_cost_ = 0.0;
    KBest::Set trees_;
};

}  // namespace sktree_opt
