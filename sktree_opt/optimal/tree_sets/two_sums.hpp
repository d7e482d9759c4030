// Trade-offs between two sums over the leaves of a tree, exact (an Algebra of set_search.hpp).
//
// Two questions are asked of such sums. The first: which pairs of costs does no tree better in
// both? It answers DL8's rankings and limits with the error and C4.5's estimate of it (Nijssen &
// Fromont, KDD 2007, section 3, doi:10.1145/1281192.1281250). The second: what is the least error
// for every value of a signed sum, such as the difference of two groups' rates of positive answers?
// Subtrees may balance each other (van der Linden, de Weerdt & Demirovic, "Fair and optimal
// decision trees", NeurIPS 2022).
//
// Only points whose first sum is within a bound are kept. The bound of a side is what the least
// first sum of the other side leaves. These least sums come from a search that keeps the first
// point of each set alone, and come before the others.
//
// Sets are in the order of the first sum: a wider bound appends to a set, so that ranks stay.
// Complexity: a merge takes the product of the sets' sizes at most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "sktree_opt/optimal/tree_sets/leaf_costs.hpp"
#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/optimal/tree_sets/set_search.hpp"

namespace sktree_opt {

class SumBuilder;

struct TwoSums {
    using Builder = SumBuilder;
    static constexpr bool HAS_BOUNDS = true;

    // A leaf has one point, by two objectives; or one for each answer, by what a unit of each class
    // adds to the two sums: [answer][class]. A leaf's sums are rounded to whole numbers.
    std::vector<LeafCosts> costs;
    std::vector<double> first_of, second_of;
    LeafRules minima;
    std::int64_t split_cost = 0;  // of the first sum
    bool is_signed = false;       // each value of the second sum counts; else less is better
    bool is_least = false;        // only the first point of a set is kept
    std::int64_t max_second = std::numeric_limits<std::int64_t>::max();
    std::shared_ptr<RowCache<double>> least_sums = std::make_shared<RowCache<double>>();

    int n_classes() const { return minima.n_sums; }
    bool may_be_leaf(const std::int64_t* counts, int stride) const {
        return !minima.has_minima() || minima.is_large_enough(counts, stride);
    }
    bool may_be_node(const std::vector<std::int64_t>& totals) const {
        return !minima.has_minima() || minima.is_large_enough(totals.data(), 1, false);
    }
    bool is_final(const RowSet& node) const {
        const std::int64_t n_rows = static_cast<std::int64_t>(node.rows.size());
        if (n_rows < std::max<std::int64_t>(2, 2 * minima.min_rows)) return true;
        return !costs.empty() && node.is_pure();
    }
    bool is_enough(const PointSet& set, double stored, double bound) const {
        return stored >= bound || (is_least && !set.empty());
    }
    double bound_of_sibling(double bound, const PointSet& set) const {
        return bound - static_cast<double>(set.front().first);
    }
    double bound_to_read(const TreePoint& point) const { return static_cast<double>(point.first); }

    // A lower bound of the first sum.
    double least(const RowKey& key) const {
        double known = 0.0;
        least_sums->find(key, known);
        return known;
    }
    void learn(const RowKey& key, const PointSet& set, double bound) const {
        if (!is_least) return;
        const double least = set.empty() ? bound + 1.0 : static_cast<double>(set.front().first);
        least_sums->change(key, [&](double& known, bool) { known = std::max(known, least); });
    }
};

class SumBuilder {
public:
    // The node is a leaf, to begin with.
    void reset(const TwoSums& algebra, const std::vector<std::int64_t>& totals, double bound) {
        algebra_ = &algebra;
        totals_ = totals;
        bound_ = bound;
        points_.clear();
        n_filtered_ = 0;
        slots_.assign(64, -1);
        offer_leaf();
    }

    // counts[channel][stride]: this node's rows with each column.
    void offer_stumps(const NodeColumns& columns, const std::int64_t* counts) {
        const int stride = columns.stride();
        others_.resize(totals_.size() * stride);
        for (std::size_t c = 0; c < totals_.size(); ++c) {
            for (int j = 0; j < stride; ++j) {
                others_[c * stride + j] = totals_[c] - counts[c * stride + j];
            }
        }
        for (std::size_t k = 0; k < algebra_->costs.size(); ++k) {
            costs_[k].resize(2 * static_cast<std::size_t>(stride));
            algebra_->costs[k].evaluate_all(counts, stride, stride, work_, costs_[k].data());
            algebra_->costs[k].evaluate_all(others_.data(), stride, stride, work_,
                                            costs_[k].data() + stride);
        }
        for (int j = 0; j < columns.n_columns(); ++j) {
            if (is_empty(counts + j, stride) || is_empty(others_.data() + j, stride)) continue;
            if (!algebra_->may_be_leaf(counts + j, stride) ||
                !algebra_->may_be_leaf(others_.data() + j, stride)) {
                continue;
            }
            const LeafPoints with = leaf(counts + j, stride, j, 0);
            const LeafPoints without = leaf(others_.data() + j, stride, j, 1);
            for (int a = 0; a < with.n; ++a) {
                for (int b = 0; b < without.n; ++b) {
                    push({with.first[a] + without.first[b] + algebra_->split_cost,
                          with.second[a] + without.second[b], 1, columns.column(j), a, b, 0});
                }
            }
        }
    }

    // Sums of every two points; `exactly` >= 0: only those with so many splits on the first side.
    // `stop` is asked with the work done; true gives up.
    template <class Stop>
    void offer_pairs(int column, const PointSet& with, const PointSet& without, int exactly,
                     Stop stop) {
        for (std::size_t a = 0; a < with.size(); ++a) {
            const TreePoint& x = with[a];
            if (exactly >= 0 && x.n_splits != exactly) continue;
            const std::int64_t first = x.first + algebra_->split_cost;
            std::size_t b = 0;
            for (; b < without.size(); ++b) {
                const TreePoint& y = without[b];
                if (static_cast<double>(first + y.first) > bound_) break;
                push({first + y.first, x.second + y.second, x.n_splits + y.n_splits + 1, column,
                      static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), x.n_splits});
            }
            if (stop(b + 1)) return;
            if (points_.size() > 2 * n_filtered_ + MOST_PENDING) filter();
        }
    }

    void offer_all(const PointSet& points) {
        for (const TreePoint& point : points) push(point);
    }

    const PointSet& finish() {
        filter();
        return points_;
    }
    double bound() const { return bound_; }
    double bound_for_pair() const { return bound_ - static_cast<double>(algebra_->split_cost); }
    void tighten(double bound) { bound_ = std::min(bound_, bound); }

private:
    static constexpr std::size_t MOST_PENDING = 1 << 16;

    // The points of a leaf in the order of its set.
    struct LeafPoints {
        int n = 0;
        std::int64_t first[2], second[2];
        std::int32_t answer[2];
        void add(std::int64_t one, std::int64_t other, std::int32_t with_answer) {
            first[n] = one;
            second[n] = other;
            answer[n++] = with_answer;
        }
    };

    void offer_leaf() {
        if (!algebra_->may_be_leaf(totals_.data(), 1)) return;
        LeafPoints points;
        if (algebra_->costs.empty()) {
            points = by_answer(totals_.data(), 1);
        } else {
            points.add(cost(0, totals_), cost(1, totals_), 0);
        }
        for (int k = 0; k < points.n; ++k) {
            push({points.first[k], points.second[k], 0, -1, points.answer[k], 0, 0});
        }
    }

    bool is_empty(const std::int64_t* counts, int stride) const {
        for (std::size_t c = 0; c < totals_.size(); ++c) {
            if (counts[c * stride] != 0) return false;
        }
        return true;
    }

    std::int64_t cost(int k, const std::vector<std::int64_t>& totals) {
        return static_cast<std::int64_t>(algebra_->costs[k].cost_of(totals, work_));
    }

    LeafPoints leaf(const std::int64_t* counts, int stride, int j, int side) const {
        if (algebra_->costs.empty()) return by_answer(counts, stride);
        LeafPoints points;
        const std::size_t at = static_cast<std::size_t>(side) * stride + j;
        points.add(static_cast<std::int64_t>(costs_[0][at]),
                   static_cast<std::int64_t>(costs_[1][at]), 0);
        return points;
    }

    LeafPoints by_answer(const std::int64_t* counts, int stride) const {
        const int n_classes = algebra_->n_classes();
        std::int64_t first[2], second[2];
        for (int answer = 0; answer < 2; ++answer) {
            double sums[2] = {0.0, 0.0};
            for (int c = 0; c < n_classes; ++c) {
                const int at = answer * n_classes + c;
                const double count = static_cast<double>(counts[c * stride]);
                sums[0] += algebra_->first_of[at] * count;
                sums[1] += algebra_->second_of[at] * count;
            }
            first[answer] = std::llround(sums[0]);
            second[answer] = std::llround(sums[1]);
        }
        const int best = std::tie(first[1], second[1]) < std::tie(first[0], second[0]);
        LeafPoints points;
        points.add(first[best], second[best], best);
        const int other = 1 - best;
        if (second[0] != second[1]) points.add(first[other], second[other], other);
        return points;
    }

    void push(const TreePoint& point) {
        if (static_cast<double>(point.first) > bound_ || point.second > algebra_->max_second) {
            return;
        }
        if (algebra_->is_least) {
            if (points_.empty()) {
                points_.push_back(point);
            } else if (point.order() < points_[0].order()) {
                points_[0] = point;
            }
            bound_ = std::min(bound_, static_cast<double>(points_[0].first));
        } else if (algebra_->is_signed) {
            if (2 * points_.size() >= slots_.size()) place_all(4 * slots_.size());
            std::int32_t& slot = slot_of(point.second);
            if (slot < 0) {
                slot = static_cast<std::int32_t>(points_.size());
                points_.push_back(point);
            } else if (point.order() < points_[slot].order()) {
                points_[slot] = point;
            }
        } else {
            points_.push_back(point);
        }
    }

    // Points by their second sum, for signed ones: a hash table.
    std::int32_t& slot_of(std::int64_t second) {
        std::uint64_t hash = static_cast<std::uint64_t>(second) * HASH_FACTOR;
        hash ^= hash >> 29;
        std::size_t at = hash & (slots_.size() - 1);
        while (slots_[at] >= 0 && points_[slots_[at]].second != second) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return slots_[at];
    }
    void place_all(std::size_t n_slots) {
        slots_.assign(n_slots, -1);
        for (std::size_t k = 0; k < points_.size(); ++k) {
            slot_of(points_[k].second) = static_cast<std::int32_t>(k);
        }
    }

    // Leaves the points in order, without those that others better.
    void filter() {
        std::sort(points_.begin(), points_.end(), TreePoint::comes_before);
        if (algebra_->is_signed) {
            if (!algebra_->is_least) place_all(slots_.size());
        } else {
            std::size_t n = 0;
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const TreePoint& point : points_) {
                if (point.second >= least) continue;
                least = point.second;
                points_[n++] = point;
            }
            points_.resize(n);
        }
        n_filtered_ = points_.size();
    }

    const TwoSums* algebra_ = nullptr;
    double bound_ = 0.0;
    std::vector<std::int64_t> totals_, others_;
    std::vector<double> costs_[2], work_;
    PointSet points_;
    std::vector<std::int32_t> slots_;
    std::size_t n_filtered_ = 0;
};

}  // namespace sktree_opt
