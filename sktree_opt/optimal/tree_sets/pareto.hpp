// All trade-offs between the errors of two classes, exact (an Algebra of set_search.hpp).
//
// MurTree's section 4.8.6 (JMLR 23(26)), after Demirovic & Stuckey, "Optimal decision trees for
// nonlinear metrics", AAAI 2021, doi:10.1609/aaai.v35i5.16489. Any metric that grows with the false
// positives and with the false negatives has its optimum among the trees whose pair of errors no
// other tree betters in both: the Pareto front. The front of a split is the front of the sums of a
// point of either child's, because a dominated subtree can be replaced under any sibling.
//
// (misclassified - )    first    weight, in units, of class 0 that is answered 1: false positives
// (misclassified + )    second   weight of class 1 that is answered 0: false negatives
//
// Deviations: the metric never enters the kernel, which finds the whole front; dropping the points
// that cannot beat a known tree's metric saved 3% of the time, as fronts are short. Weights may be
// any. A front is filtered by buckets of fp: a point is dropped at once when a lower bucket has no
// more fn. Among equal points, the one with fewer splits is kept, then the one with the lowest
// column. Complexity: a merge takes the product of the fronts' sizes; without weights a front has
// at most 1 + min(N, P) points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/optimal/tree_sets/set_search.hpp"

namespace sktree_opt {

class FrontBuilder;

// Requirements of leaves.
struct FrontRules {
    using Builder = FrontBuilder;
    static constexpr bool HAS_BOUNDS = false;

    std::int64_t min_rows = 1;  // of a leaf
    double min_weight = 0.0;
    double unit[2] = {1.0, 1.0};  // weight of a unit of each class
    bool has_row_channel = false;
    bool use_bounds = true;  // points that are bettered are dropped at once, but for tests

    bool may_be_leaf(std::int64_t negatives, std::int64_t positives, std::int64_t rows) const {
        const double weight =
            unit[0] * static_cast<double>(negatives) + unit[1] * static_cast<double>(positives);
        return rows >= min_rows && weight >= min_weight;
    }
    bool may_be_node(const std::vector<std::int64_t>& totals) const {
        return may_be_leaf(totals[0], totals[1], rows_of(totals));
    }
    std::int64_t rows_of(const std::vector<std::int64_t>& totals) const {
        return has_row_channel ? totals[2] : totals[0] + totals[1];
    }
    // Pure, or too small to split.
    bool is_final(const RowSet& node) const {
        const std::int64_t n_rows = static_cast<std::int64_t>(node.rows.size());
        const std::int64_t negatives = node.class_start[1];
        return negatives == 0 || negatives == n_rows || n_rows < 2 * min_rows;
    }
    // Fronts are whole: no sum has a bound.
    bool is_enough(const PointSet&, double, double) const { return true; }
    double bound_of_sibling(double bound, const PointSet&) const { return bound; }
    double bound_to_read(const TreePoint&) const { return 0.0; }
};

// Collects the front of a node.
class FrontBuilder {
public:
    // The node is a leaf, to begin with.
    void reset(const FrontRules& rules, const std::vector<std::int64_t>& totals, double) {
        rules_ = &rules;
        n_rows_ = rules.rows_of(totals);
        negatives_ = totals[0];
        positives_ = totals[1];
        shift_ = 0;
        while ((negatives_ >> shift_) >= MAX_BUCKETS) ++shift_;
        const std::size_t n_buckets = static_cast<std::size_t>(negatives_ >> shift_) + 1;
        lowest_.assign(n_buckets, NONE);
        below_.assign(n_buckets, NONE);
        points_.clear();
        n_front_ = 0;
        if (!rules_->may_be_leaf(negatives_, positives_, n_rows_)) return;
        if (negatives_ > 0 || positives_ == 0) {
            push({0, positives_, 0, -1, 0, 0, 0});
        }
        if (positives_ > 0) {
            push({negatives_, 0, 0, -1, 1, 0, 0});
        }
    }

    // counts[channel][stride]: this node's rows with each column. Twice over the columns: first the
    // least fn of each bucket, then the few points that no lower bucket betters.
    void offer_stumps(const NodeColumns& columns, const std::int64_t* counts) {
        const int stride = columns.stride();
        const bool any_leaf = rules_->min_rows <= 1 && rules_->min_weight <= 0.0;
        for (int j = 0; j < columns.n_columns(); ++j) {
            const std::int64_t n = counts[j], p = counts[stride + j];
            if (!(any_leaf ? is_parted(n, p) : are_leaves(j, stride, counts))) continue;
            lower_bucket(n, positives_ - p);
            lower_bucket(negatives_ - n, p);
        }
        find_below();
        for (int j = 0; j < columns.n_columns(); ++j) {
            const std::int64_t n = counts[j], p = counts[stride + j];
            const std::int64_t n_other = negatives_ - n, p_other = positives_ - p;
            if (is_hopeless(n, p_other) && is_hopeless(n_other, p)) continue;
            if (!(any_leaf ? is_parted(n, p) : are_leaves(j, stride, counts))) continue;
            const std::int32_t column = columns.column(j);
            // Answering what a pure leaf does not hold gains nothing over one leaf.
            if (p > 0 && n_other > 0) {
                offer({n, p_other, 1, column, rank_of_one(n), rank_of_zero(), 0});
            }
            if (n > 0 && p_other > 0) {
                offer({n_other, p, 1, column, rank_of_zero(), rank_of_one(n_other), 0});
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
            if (stop(without.size())) return;
            for (std::size_t b = 0; b < without.size(); ++b) {
                const TreePoint& y = without[b];
                offer({x.first + y.first, x.second + y.second, x.n_splits + y.n_splits + 1, column,
                       static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), x.n_splits});
            }
            if (points_.size() > 2 * n_front_ + MOST_PENDING) filter();
        }
        if (points_.size() > 2 * n_front_ + MOST_PENDING / 16) filter();
    }

    void offer_all(const PointSet& points) {
        for (const TreePoint& point : points) offer(point);
    }

    const PointSet& finish() {
        filter();
        return points_;
    }

    double bound() const { return 0.0; }
    double bound_for_pair() const { return 0.0; }
    void tighten(double) {}

private:
    static constexpr std::int64_t MAX_BUCKETS = 512;
    static constexpr std::size_t MOST_PENDING = 16384;
    static constexpr std::int64_t NONE = std::numeric_limits<std::int64_t>::max();

    // Ranks of the answers in the front of a leaf: a pure one has a single point.
    static std::int32_t rank_of_zero() { return 0; }
    static std::int32_t rank_of_one(std::int64_t negatives) { return negatives > 0; }

    bool is_parted(std::int64_t n, std::int64_t p) const {
        return n + p > 0 && n + p < negatives_ + positives_;
    }
    bool are_leaves(int j, int stride, const std::int64_t* counts) const {
        const std::int64_t n = counts[j], p = counts[stride + j];
        const std::int64_t rows = rules_->has_row_channel ? counts[2 * stride + j] : n + p;
        return rules_->may_be_leaf(n, p, rows) &&
               rules_->may_be_leaf(negatives_ - n, positives_ - p, n_rows_ - rows);
    }

    void lower_bucket(std::int64_t fp, std::int64_t fn) {
        std::int64_t& lowest = lowest_[static_cast<std::size_t>(fp >> shift_)];
        lowest = std::min(lowest, fn);
    }
    bool is_dominated(std::int64_t fp, std::int64_t fn) const {
        const std::size_t bucket = static_cast<std::size_t>(fp >> shift_);
        return fn >= below_[bucket] || (shift_ == 0 && fn > lowest_[bucket]);
    }
    bool is_hopeless(std::int64_t fp, std::int64_t fn) const {
        return rules_->use_bounds && is_dominated(fp, fn);
    }
    void find_below() {
        std::int64_t least = NONE;
        for (std::size_t bucket = 0; bucket < lowest_.size(); ++bucket) {
            below_[bucket] = least;
            least = std::min(least, lowest_[bucket]);
        }
    }

    void offer(const TreePoint& point) {
        if (!is_hopeless(point.first, point.second)) push(point);
    }
    void push(const TreePoint& point) {
        lower_bucket(point.first, point.second);
        points_.push_back(point);
    }

    // Leaves the front of the points, in order, and in below_ the least fn of all lower buckets.
    void filter() {
        find_below();
        std::size_t n = 0;
        for (const TreePoint& point : points_) {
            if (!is_dominated(point.first, point.second)) points_[n++] = point;
        }
        points_.resize(n);
        std::sort(points_.begin(), points_.end(), TreePoint::comes_before);
        n = 0;
        std::int64_t least = NONE;
        for (const TreePoint& point : points_) {
            if (point.second >= least) continue;
            least = point.second;
            points_[n++] = point;
        }
        points_.resize(n);
        n_front_ = n;
    }

    const FrontRules* rules_ = nullptr;
    std::int64_t n_rows_ = 0, negatives_ = 0, positives_ = 0;
    int shift_ = 0;
    std::vector<std::int64_t> lowest_, below_;  // by bucket of fp
    PointSet points_;
    std::size_t n_front_ = 0;
};

}  // namespace sktree_opt
