// All trade-offs between the errors of two classes over the trees within some limits, exact.
//
// MurTree's section 4.8.6 (JMLR 23(26)), after Demirovic & Stuckey, "Optimal decision trees for
// nonlinear metrics", AAAI 2021, doi:10.1609/aaai.v35i5.16489. Any metric that grows with the false
// positives and with the false negatives has its optimum among the trees whose pair of errors no
// other tree betters in both: the Pareto front. The front of a split is the front of the sums of a
// point of either child's, because a dominated subtree can be replaced under any sibling.
//
// Dynamic programming over row sets as in DL8 (Nijssen & Fromont, KDD 2007, Algorithm 1,
// doi:10.1145/1281192.1281250) with MurTree's depth-two nodes (Algorithm 4). The front of a node is
// made of the node as a leaf and, for each column, of every pair of points of the children's fronts.
//
// paper                 here           what
// (misclassified - )    fp             weight, in units, of class 0 that is answered 1
// (misclassified + )    fn             weight of class 1 that is answered 0
// t(I)                  RowSet         rows of a node; key of the cache, as DL8-Closed's closures
// T                     Front          the trees that are kept for (rows, depth, splits)
// l(c)                  offer_leaf     the node as a leaf
// n(i, T1, T2)          offer_pairs    tests on column i over two trees
// d, s                  depth, splits  limits of a subtree; at most 2^d - 1 splits fit in depth d
//
// A point is a split's column and the ranks of its two subtrees in the children's fronts, so fronts
// are all that is stored. Trees are read off by solving the children again, mostly from the cache.
// Under a limit on splits that binds, a left subtree is taken from the front of the limit equal to
// its own number of splits, so that each pair of subtrees is met once.
//
// Deviations: the metric never enters the kernel, which finds the whole front; dropping the points
// that cannot beat a known tree's metric saved 3% of the time, as fronts are short. Weights may be
// any. A front is filtered by buckets of fp: a point is dropped at once when a lower bucket has no
// more fn. Among equal points, the one with fewer splits is kept, then the one with the lowest
// column. So fronts do not depend on the order in which points are offered, and threads that share
// the cache may take root columns one at a time. Complexity: a merge takes the product of the
// fronts' sizes; without weights a front has at most 1 + min(N, P) points. Memory: the cache, booked
// with SearchControl; when the limit is reached, nothing more is stored.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt {

struct ParetoPoint {
    std::int64_t fp, fn;
    std::int32_t n_splits;
    std::int32_t column;       // -1: a leaf
    std::int32_t left, right;  // ranks in the fronts of the rows with and without it; leaf: answer
    std::int32_t splits_with;  // splits of the subtree of the rows with it

    auto order() const {
        return std::make_tuple(fp, fn, n_splits, column, splits_with, left, right);
    }
};

using Front = std::vector<ParetoPoint>;  // fp rising, fn falling

// Requirements of leaves.
struct FrontRules {
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
};

// Collects the front of a node.
class FrontBuilder {
public:
    // The node is a leaf, to begin with.
    void reset(const FrontRules& rules, const std::vector<std::int64_t>& totals) {
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
    void offer_pairs(int column, const Front& with, const Front& without, int exactly, Stop stop) {
        for (std::size_t a = 0; a < with.size(); ++a) {
            const ParetoPoint& x = with[a];
            if (exactly >= 0 && x.n_splits != exactly) continue;
            if (stop(without.size())) return;
            for (std::size_t b = 0; b < without.size(); ++b) {
                const ParetoPoint& y = without[b];
                offer({x.fp + y.fp, x.fn + y.fn, x.n_splits + y.n_splits + 1, column,
                       static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), x.n_splits});
            }
            if (points_.size() > 2 * n_front_ + MOST_PENDING) filter();
        }
        if (points_.size() > 2 * n_front_ + MOST_PENDING / 16) filter();
    }

    void offer_all(const Front& points) {
        for (const ParetoPoint& point : points) offer(point);
    }

    const Front& finish() {
        filter();
        return points_;
    }

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

    void offer(const ParetoPoint& point) {
        if (!is_hopeless(point.fp, point.fn)) push(point);
    }
    void push(const ParetoPoint& point) {
        lower_bucket(point.fp, point.fn);
        points_.push_back(point);
    }

    // Leaves the front of the points, in order, and in below_ the least fn of all lower buckets.
    void filter() {
        find_below();
        std::size_t n = 0;
        for (const ParetoPoint& point : points_) {
            if (!is_dominated(point.fp, point.fn)) points_[n++] = point;
        }
        points_.resize(n);
        std::sort(points_.begin(), points_.end(),
                  [](const ParetoPoint& a, const ParetoPoint& b) { return a.order() < b.order(); });
        n = 0;
        std::int64_t least = NONE;
        for (const ParetoPoint& point : points_) {
            if (point.fn >= least) continue;
            least = point.fn;
            points_[n++] = point;
        }
        points_.resize(n);
        n_front_ = n;
    }

    const FrontRules* rules_ = nullptr;
    std::int64_t n_rows_ = 0, negatives_ = 0, positives_ = 0;
    int shift_ = 0;
    std::vector<std::int64_t> lowest_, below_;  // by bucket of fp
    Front points_;
    std::size_t n_front_ = 0;
};

struct FrontCounters {
    std::atomic<std::int64_t> n_nodes{0}, n_depth_two{0}, n_cache_hits{0}, n_cached{0};
    std::atomic<std::int64_t> cache_bytes{0};
};

// Trees in preorder: column of each split, -1 for a leaf, whose answer is its label.
struct PreorderTree {
    std::vector<std::int32_t> column;
    std::vector<std::int32_t> label;
};

class ParetoSearch {
public:
    ParetoSearch(const RowTable& table, const FrontRules& rules, SearchControl* control,
                 int n_threads, bool use_cache)
        : table_(table),
          rules_(rules),
          control_(control),
          n_threads_(n_threads),
          use_cache_(use_cache),
          root_(all_rows(table)) {
        for (int j = 0; j < table.n_columns; ++j) all_columns_.push_back(j);
    }

    FrontCounters counters;

    // The front of the whole table; when the search was stopped, what was found so far.
    Front solve_root(int depth, std::int64_t splits) {
        splits = std::min(splits, most_splits(depth));
        Worker worker(depth);
        if (depth > 2 && splits > 1 && n_threads_ > 1 && !rules_.is_final(root_)) {
            return solve_root_by_columns(worker, depth, splits);
        }
        const FrontPointer front = solve(worker, root_, all_columns_, depth, splits);
        return front != nullptr ? *front : worker.levels[depth].node.finish();
    }

    // Point `rank` of a front that solve_root has returned, as a tree.
    void read_tree(const Front& front, std::int64_t rank, int depth, std::int64_t splits,
                   SearchControl* control, PreorderTree& tree) {
        SearchControl* searching = std::exchange(control_, control);
        Worker worker(depth);
        read_node(worker, root_, front, rank, depth, std::min(splits, most_splits(depth)), tree);
        control_ = searching;
    }

private:
    using FrontPointer = std::shared_ptr<const Front>;
    struct FrontLevel {
        NodeColumns columns;
        FrontBuilder node, with, without;
        RowSet rows_with, rows_without;
        std::vector<std::int64_t> pairs, others, totals_with, totals_without;
    };
    struct Worker {
        explicit Worker(int depth) : levels(depth + 1) {}
        std::vector<FrontLevel> levels;  // by remaining depth
        std::int64_t work = 0;
    };

    // Books work of about `amount` nanoseconds; true when the search has to end.
    bool poll(Worker& worker, std::int64_t amount) {
        worker.work += amount;
        if (worker.work < 1000000) return control_->stopped();
        worker.work = 0;
        return control_->poll();
    }

    // Null when the search was stopped.
    FrontPointer solve(Worker& worker, const RowSet& node, const std::vector<int>& candidates,
                       int depth, std::int64_t splits) {
        splits = std::min(splits, most_splits(depth));
        FrontLevel& level = worker.levels[depth];
        const bool is_leaf = splits == 0 || rules_.is_final(node);
        const RowKey key = key_of(node, depth, splits);
        FrontPointer known;
        if (use_cache_ && !is_leaf && cache_.find(key, known)) {
            ++counters.n_cache_hits;
            return known;
        }
        level.node.reset(rules_, totals_of(table_, node));
        if (!is_leaf) {
            ++counters.n_nodes;
            if (poll(worker, static_cast<std::int64_t>(node.rows.size() * candidates.size()) / 8)) {
                return nullptr;
            }
            level.columns.gather(table_, node, candidates);
            if (!offer_splits(worker, node, depth, splits)) return nullptr;
        }
        auto front = std::make_shared<const Front>(level.node.finish());
        if (use_cache_ && !is_leaf) store(key, front);
        return front;
    }

    void store(const RowKey& key, const FrontPointer& front) {
        const std::int64_t bytes =
            static_cast<std::int64_t>(front->size() * sizeof(ParetoPoint)) + 144;
        if (control_->memory_limit >= 0 &&
            control_->memory_used.load() + bytes > control_->memory_limit) {
            return;
        }
        control_->memory_used.fetch_add(bytes);
        counters.cache_bytes += bytes;
        ++counters.n_cached;
        cache_.change(key, [&](FrontPointer& known, bool) { known = front; });
    }

    bool offer_splits(Worker& worker, const RowSet& node, int depth, std::int64_t splits) {
        FrontLevel& level = worker.levels[depth];
        if (splits == 1) {
            level.node.offer_stumps(level.columns, level.columns.counts());
            return true;
        }
        if (depth == 2) return offer_depth_two(worker, splits);
        for (int j = 0; j < level.columns.n_columns(); ++j) {
            if (!offer_column(worker, level.columns, node, j, depth, splits, level.node)) {
                return false;
            }
        }
        return true;
    }

    // Both children at depth one, from pair counts alone.
    bool offer_depth_two(Worker& worker, std::int64_t splits) {
        FrontLevel& level = worker.levels[2];
        const NodeColumns& columns = level.columns;
        const int stride = columns.stride(), n_channels = columns.n_channels();
        ++counters.n_depth_two;
        level.pairs.resize(static_cast<std::size_t>(n_channels) * stride);
        level.others.resize(level.pairs.size());
        level.totals_with.resize(n_channels);
        level.totals_without.resize(n_channels);
        for (int i = 0; i < columns.n_columns(); ++i) {
            if (poll(worker, static_cast<std::int64_t>(stride) * (columns.n_words() / 4 + 8))) {
                return false;
            }
            for (int c = 0; c < n_channels; ++c) {
                level.totals_with[c] = columns.counts()[c * stride + i];
                level.totals_without[c] = columns.totals()[c] - level.totals_with[c];
            }
            if (!rules_.may_be_node(level.totals_with) ||
                !rules_.may_be_node(level.totals_without)) {
                continue;
            }
            columns.count_pairs(table_, i, level.pairs.data());
            for (std::size_t k = 0; k < level.pairs.size(); ++k) {
                level.others[k] = columns.counts()[k] - level.pairs[k];
            }
            if (splits > 2) {
                offer_sides(level, i, 1, 1, -1);
            } else {
                offer_sides(level, i, 0, 1, 0);
                offer_sides(level, i, 1, 0, 1);
            }
        }
        return true;
    }

    void offer_sides(FrontLevel& level, int i, int splits_with, int splits_without, int exactly) {
        level.with.reset(rules_, level.totals_with);
        if (splits_with > 0) level.with.offer_stumps(level.columns, level.pairs.data());
        level.without.reset(rules_, level.totals_without);
        if (splits_without > 0) level.without.offer_stumps(level.columns, level.others.data());
        level.node.offer_pairs(level.columns.column(i), level.with.finish(), level.without.finish(),
                               exactly, [](std::size_t) { return false; });
    }

    // A test on column j over every pair of subtrees; false when the search was stopped.
    bool offer_column(Worker& worker, const NodeColumns& columns, const RowSet& node, int j,
                      int depth, std::int64_t splits, FrontBuilder& builder) {
        FrontLevel& level = worker.levels[depth];
        part_rows(table_, node, columns.column(j), level.rows_with, level.rows_without);
        if (!rules_.may_be_node(totals_of(table_, level.rows_with)) ||
            !rules_.may_be_node(totals_of(table_, level.rows_without))) {
            return true;
        }
        const std::int64_t child_most = most_splits(depth - 1);
        const bool binds = splits < most_splits(depth);
        for (std::int64_t s = binds ? 0 : child_most; s <= std::min(splits - 1, child_most); ++s) {
            const FrontPointer with =
                solve(worker, level.rows_with, columns.columns(), depth - 1, s);
            if (with == nullptr) return false;
            if (with->empty()) continue;
            const FrontPointer without =
                solve(worker, level.rows_without, columns.columns(), depth - 1, splits - 1 - s);
            if (without == nullptr) return false;
            builder.offer_pairs(
                columns.column(j), *with, *without, binds ? static_cast<int>(s) : -1,
                [&](std::size_t n) { return poll(worker, static_cast<std::int64_t>(n) * 4); });
            if (control_->stopped()) return false;
        }
        return true;
    }

    // Threads take root columns one at a time.
    Front solve_root_by_columns(Worker& main, int depth, std::int64_t splits) {
        FrontLevel& root = main.levels[depth];
        root.columns.gather(table_, root_, all_columns_);
        root.node.reset(rules_, root.columns.totals());
        struct RootMember {
            explicit RootMember(int levels) : worker(levels) {}
            Worker worker;
            FrontBuilder found;
        };
        std::vector<std::unique_ptr<RootMember>> members(n_threads_);
        run_tasks(*control_, n_threads_, root.columns.n_columns(), [&](std::int64_t j, int thread) {
            if (control_->stopped()) return;
            if (!members[thread]) {
                members[thread] = std::make_unique<RootMember>(depth);
                members[thread]->found.reset(rules_, root.columns.totals());
            }
            RootMember& own = *members[thread];
            offer_column(own.worker, root.columns, root_, static_cast<int>(j), depth, splits,
                         own.found);
        });
        for (const auto& member : members) {
            if (member) root.node.offer_all(member->found.finish());
        }
        return root.node.finish();
    }

    void read_node(Worker& worker, const RowSet& node, const Front& front, std::int64_t rank,
                   int depth, std::int64_t splits, PreorderTree& tree) {
        const ParetoPoint& point = front[rank];
        tree.column.push_back(point.column);
        tree.label.push_back(point.column < 0 ? point.left : -1);
        if (point.column < 0) return;
        RowSet sides[2];
        part_rows(table_, node, point.column, sides[0], sides[1]);
        const std::int64_t child_most = most_splits(depth - 1);
        const bool binds = splits < most_splits(depth);
        const std::int64_t child_splits[2] = {
            binds ? point.splits_with : child_most,
            binds ? std::min(splits - 1 - point.splits_with, child_most) : child_most};
        const std::int64_t ranks[2] = {point.left, point.right};
        for (int side = 0; side < 2; ++side) {
            const FrontPointer child =
                solve(worker, sides[side], all_columns_, depth - 1, child_splits[side]);
            if (child == nullptr) return;
            if (ranks[side] >= static_cast<std::int64_t>(child->size())) {
                throw std::logic_error("a subtree is missing from its front");
            }
            read_node(worker, sides[side], *child, ranks[side], depth - 1, child_splits[side],
                      tree);
        }
    }

    const RowTable table_;
    const FrontRules rules_;
    SearchControl* control_;
    const int n_threads_;
    const bool use_cache_;
    const RowSet root_;
    std::vector<int> all_columns_;
    RowCache<FrontPointer> cache_;
};

}  // namespace sktree_opt
