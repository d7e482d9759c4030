// Several best trees at every node of a search, exact: those that no other tree betters in two
// sums.
//
// Dynamic programming over row sets as in DL8 (Nijssen & Fromont, KDD 2007, Algorithm 1,
// doi:10.1145/1281192.1281250) with MurTree's depth-two nodes (JMLR 23(26), Algorithm 4). The set
// of a node is made of the node as a leaf and, for each column, of every pair of points from the
// two children's sets. The Algebra defines what a set holds and which points it may drop: those
// that cannot be part of any wanted tree.
//
// paper               here             what
// t(I)                RowSet           rows of a node; key of the cache, as DL8-Closed's closures
// T                   PointSet         the trees that are kept for (rows, depth, splits)
// l(c)                reset            the node as a leaf
// n(i, T1, T2)        offer_pairs      tests on column i over two trees
// d, s                depth, splits    limits of a subtree; at most 2^d - 1 splits fit in depth d
//
// A point is a split's column and the ranks of its two subtrees in the children's sets, so sets are
// all that is stored; trees are read off by solving the children again, mostly from the cache.
// Under a limit on splits that binds, a left subtree is taken from the set of the limit equal to
// its own number of splits, so that each pair of subtrees is met once.
//
// Threads share the cache and take root columns one at a time. Sets do not depend on the order in
// which points are offered: they are ordered totally.
// Memory: the cache, booked with SearchControl; when the limit is reached, nothing more is stored.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt {

// A tree by its two sums, first and second.
struct TreePoint {
    std::int64_t first, second;
    std::int32_t n_splits;
    std::int32_t column;       // -1: a leaf
    std::int32_t left, right;  // ranks in the sets of the rows with and without it; leaf: answer
    std::int32_t splits_with;  // splits of the subtree of the rows with it

    auto order() const {
        return std::make_tuple(first, second, n_splits, column, splits_with, left, right);
    }
    static bool comes_before(const TreePoint& a, const TreePoint& b) {
        return a.order() < b.order();
    }
};

using PointSet = std::vector<TreePoint>;

struct SetSearchCounters {
    std::atomic<std::int64_t> n_nodes{0}, n_depth_two{0}, n_cache_hits{0}, n_skipped{0};
    std::atomic<std::int64_t> n_cached{0}, cache_bytes{0};
};

// Trees in preorder: column of each split, -1 for a leaf, whose answer is its label.
struct PreorderTree {
    std::vector<std::int32_t> column;
    std::vector<std::int32_t> label;
};

// A search by any Algebra, as the extension module drives it.
class PointSearch {
public:
    virtual ~PointSearch() = default;
    // The set of the whole table; when the search was stopped, what was found so far.
    virtual PointSet solve_root(int depth, std::int64_t splits, double bound) = 0;
    // Point `rank` of a set that solve_root has returned, as a tree.
    virtual void read_tree(const PointSet& set, std::int64_t rank, int depth, std::int64_t splits,
                           SearchControl* control, PreorderTree& tree) = 0;

    SetSearchCounters counters;
};

template <class Algebra>
class SetSearch final : public PointSearch {
public:
    using Set = PointSet;
    using SetPointer = std::shared_ptr<const Set>;
    using Builder = typename Algebra::Builder;

    SetSearch(const RowTable& table, const Algebra& algebra, SearchControl* control, int n_threads,
              bool use_cache)
        : table_(table),
          algebra_(algebra),
          control_(control),
          n_threads_(n_threads),
          use_cache_(use_cache),
          root_(all_rows(table)) {
        for (int j = 0; j < table.n_columns; ++j) all_columns_.push_back(j);
    }

    Set solve_root(int depth, std::int64_t splits, double bound) override {
        splits = std::min(splits, most_splits(depth));
        Worker worker(depth);
        const bool by_columns =
            depth > 2 && splits > 1 && n_threads_ > 1 && !algebra_.is_final(root_);
        if (by_columns) return solve_root_by_columns(worker, depth, splits, bound);
        const SetPointer set = solve(worker, root_, all_columns_, depth, splits, bound);
        return set != nullptr ? *set : worker.levels[depth].node.finish();
    }

    void read_tree(const Set& set, std::int64_t rank, int depth, std::int64_t splits,
                   SearchControl* control, PreorderTree& tree) override {
        SearchControl* searching = std::exchange(control_, control);
        Worker worker(depth);
        read_node(worker, root_, set, rank, depth, std::min(splits, most_splits(depth)), tree);
        control_ = searching;
    }

private:
    struct Stored {
        SetPointer set;
        double bound = 0.0;  // the set lacks nothing up to it
    };
    struct SetLevel {
        NodeColumns columns;
        Builder node, with, without;
        RowSet rows_with, rows_without;
        std::vector<std::int64_t> pairs, others, totals_with, totals_without;
    };
    using Worker = SetWorker<SetLevel>;

    bool poll(Worker& worker, std::int64_t amount) { return worker.poll(*control_, amount); }

    // Null when the search was stopped.
    SetPointer solve(Worker& worker, const RowSet& node, const std::vector<int>& candidates,
                     int depth, std::int64_t splits, double bound) {
        splits = std::min(splits, most_splits(depth));
        SetLevel& level = worker.levels[depth];
        const bool is_leaf = splits == 0 || algebra_.is_final(node);
        const RowKey key = key_of(node, depth, splits);
        if (use_cache_ && !is_leaf) {
            Stored stored;
            if (cache_.find(key, stored) && algebra_.is_enough(*stored.set, stored.bound, bound)) {
                ++counters.n_cache_hits;
                return stored.set;
            }
        }
        level.node.reset(algebra_, totals_of(table_, node), bound);
        if (!is_leaf) {
            ++counters.n_nodes;
            if (poll(worker, static_cast<std::int64_t>(node.rows.size() * candidates.size()) / 8)) {
                return nullptr;
            }
            level.columns.gather(table_, node, candidates);
            if (!offer_splits(worker, node, depth, splits)) return nullptr;
        }
        auto set = std::make_shared<const Set>(level.node.finish());
        if constexpr (Algebra::HAS_BOUNDS) algebra_.learn(key, *set, bound);
        if (use_cache_ && !is_leaf) store(key, set, bound);
        return set;
    }

    void store(const RowKey& key, const SetPointer& set, double bound) {
        const std::int64_t bytes = static_cast<std::int64_t>(set->size() * sizeof(TreePoint)) + 144;
        if (control_->memory_limit >= 0 &&
            control_->memory_used.load() + bytes > control_->memory_limit) {
            return;
        }
        control_->memory_used.fetch_add(bytes);
        counters.cache_bytes += bytes;
        ++counters.n_cached;
        cache_.change(key, [&](Stored& known, bool) {
            if (known.set == nullptr || known.bound < bound) known = {set, bound};
        });
    }

    bool offer_splits(Worker& worker, const RowSet& node, int depth, std::int64_t splits) {
        SetLevel& level = worker.levels[depth];
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
        SetLevel& level = worker.levels[2];
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
            if (!algebra_.may_be_node(level.totals_with) ||
                !algebra_.may_be_node(level.totals_without)) {
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

    void offer_sides(SetLevel& level, int i, int splits_with, int splits_without, int exactly) {
        const double bound = level.node.bound_for_pair();
        level.with.reset(algebra_, level.totals_with, bound);
        if (splits_with > 0) level.with.offer_stumps(level.columns, level.pairs.data());
        const Set& set_with = level.with.finish();
        if (set_with.empty()) {
            ++counters.n_skipped;
            return;
        }
        level.without.reset(algebra_, level.totals_without,
                            algebra_.bound_of_sibling(bound, set_with));
        if (splits_without > 0) level.without.offer_stumps(level.columns, level.others.data());
        level.node.offer_pairs(level.columns.column(i), set_with, level.without.finish(), exactly,
                               [](std::size_t) { return false; });
    }

    // A test on column j over every pair of subtrees; false when the search was stopped.
    bool offer_column(Worker& worker, const NodeColumns& columns, const RowSet& node, int j,
                      int depth, std::int64_t splits, Builder& builder) {
        SetLevel& level = worker.levels[depth];
        part_rows(table_, node, columns.column(j), level.rows_with, level.rows_without);
        if (!algebra_.may_be_node(totals_of(table_, level.rows_with)) ||
            !algebra_.may_be_node(totals_of(table_, level.rows_without))) {
            return true;
        }
        const std::int64_t child_most = most_splits(depth - 1);
        const bool binds = splits < most_splits(depth);
        for (std::int64_t s = binds ? 0 : child_most; s <= std::min(splits - 1, child_most); ++s) {
            const double bound = builder.bound_for_pair();
            double least_with = 0.0, least_without = 0.0;
            if constexpr (Algebra::HAS_BOUNDS) {
                least_with = algebra_.least(key_of(level.rows_with, depth - 1, s));
                const std::int64_t others = std::min(splits - 1 - s, child_most);
                least_without = algebra_.least(key_of(level.rows_without, depth - 1, others));
                if (least_with + least_without > bound) {
                    ++counters.n_skipped;
                    continue;
                }
            }
            const SetPointer with = solve(worker, level.rows_with, columns.columns(), depth - 1, s,
                                          bound - least_without);
            if (with == nullptr) return false;
            if (with->empty()) {
                ++counters.n_skipped;
                continue;
            }
            const SetPointer without =
                solve(worker, level.rows_without, columns.columns(), depth - 1, splits - 1 - s,
                      algebra_.bound_of_sibling(bound, *with));
            if (without == nullptr) return false;
            builder.offer_pairs(
                columns.column(j), *with, *without, binds ? static_cast<int>(s) : -1,
                [&](std::size_t n) { return poll(worker, static_cast<std::int64_t>(n) * 4); });
            if (control_->stopped()) return false;
        }
        return true;
    }

    // Threads take root columns one at a time.
    Set solve_root_by_columns(Worker& main, int depth, std::int64_t splits, double bound) {
        SetLevel& root = main.levels[depth];
        root.columns.gather(table_, root_, all_columns_);
        root.node.reset(algebra_, root.columns.totals(), bound);
        struct RootMember {
            explicit RootMember(int levels) : worker(levels) {}
            Worker worker;
            Builder found;
        };
        std::vector<std::unique_ptr<RootMember>> members(n_threads_);
        std::atomic<double> shared_bound{bound};
        run_tasks(*control_, n_threads_, root.columns.n_columns(), [&](std::int64_t j, int thread) {
            if (control_->stopped()) return;
            if (!members[thread]) {
                members[thread] = std::make_unique<RootMember>(depth);
                members[thread]->found.reset(algebra_, root.columns.totals(), bound);
            }
            RootMember& own = *members[thread];
            own.found.tighten(shared_bound.load());
            if (offer_column(own.worker, root.columns, root_, static_cast<int>(j), depth, splits,
                             own.found)) {
                lower_to(shared_bound, own.found.bound());
            }
        });
        for (const auto& member : members) {
            if (member) root.node.offer_all(member->found.finish());
        }
        return root.node.finish();
    }

    // Sets of one node under several bounds differ in length alone: any long enough will do.
    SetPointer set_to_read(Worker& worker, const RowSet& node, int depth, std::int64_t splits,
                           std::int64_t rank, double bound) {
        Stored stored;
        if (use_cache_ && cache_.find(key_of(node, depth, splits), stored) &&
            rank < static_cast<std::int64_t>(stored.set->size())) {
            return stored.set;
        }
        return solve(worker, node, all_columns_, depth, splits, bound);
    }

    void read_node(Worker& worker, const RowSet& node, const Set& set, std::int64_t rank, int depth,
                   std::int64_t splits, PreorderTree& tree) {
        const TreePoint& point = set[rank];
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
            const SetPointer child = set_to_read(worker, sides[side], depth - 1, child_splits[side],
                                                 ranks[side], algebra_.bound_to_read(point));
            if (child == nullptr) return;
            if (ranks[side] >= static_cast<std::int64_t>(child->size())) {
                throw std::logic_error("a subtree is missing from its set");
            }
            read_node(worker, sides[side], *child, ranks[side], depth - 1, child_splits[side],
                      tree);
        }
    }

    const RowTable table_;
    const Algebra algebra_;
    SearchControl* control_;
    const int n_threads_;
    const bool use_cache_;
    const RowSet root_;
    std::vector<int> all_columns_;
    RowCache<Stored> cache_;
};

}  // namespace sktree_opt
