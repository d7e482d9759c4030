// The best tree of more than two levels. Exact.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), Algorithms 1-3.
// https://jmlr.org/papers/v23/20-520.html
//   D -> Node               d -> depth              n -> budget (splits)     UB -> upper
//                                                                            (exclusive)
//   LB, RLB -> lower        T -> cost               alpha -> split_cost      f -> column
// A column is explored while the sum of the bounds on its two children (see child_bounds.hpp) is
// below the incumbent; a search that fails to beat its upper bound leaves a lower bound (eqs.
// 15-17). Deviations: a node is searched to depth d - 1 before it is searched to depth d, which
// gives an incumbent and the order of columns. Nodes of depth three solve both children of a column
// at once (sibling subtraction, see depth_two.hpp). With a limit on splits, bounds are kept by
// number of splits. Costs are doubles on a grid so coarse that sums are exact: comparisons need no
// tolerance. Time O(m^(d-2)) depth-two solutions without pruning, for m columns; memory: a node a
// level (m^2 pair counts a channel), and the bounded caches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/bits/bit_node.hpp"
#include "sktree_opt/optimal/bits/cache.hpp"
#include "sktree_opt/optimal/bits/child_bounds.hpp"
#include "sktree_opt/optimal/bits/kernels/bit_kernels.hpp"
#include "sktree_opt/optimal/bits/node_maker.hpp"

namespace sktree_opt {

// Counters of a search.
struct BitStats {
    std::int64_t n_nodes = 0;           // made, with all their pair counts
    std::int64_t n_sweeps = 0;          // depth-two solutions by counting
    std::int64_t n_small_hits = 0;      // depth-two solutions out of the cache
    std::int64_t n_cache_hits = 0;      // searches answered by the cache
    std::int64_t n_columns = 0;         // columns that could have been the root of a subtree
    std::int64_t n_pruned_columns = 0;  // of these, ruled out by bounds
    void add(const BitStats& other) {
        n_nodes += other.n_nodes;
        n_sweeps += other.n_sweeps;
        n_small_hits += other.n_small_hits;
        n_cache_hits += other.n_cache_hits;
        n_columns += other.n_columns;
        n_pruned_columns += other.n_pruned_columns;
    }
};

// The root: the best tree so far, and what the threads of a team share.

struct TreeNode {
    std::int32_t column = -1;  // original index; -1: leaf
    std::int32_t with = -1;    // child of the rows that have the column
    std::int32_t without = -1;
};

// The best tree so far.
struct BitIncumbent {
    double cost = std::numeric_limits<double>::infinity();
    int depth = 2;
    std::vector<TreeNode> nodes;  // none: the best of at most two levels
};

// When a better tree, or a better bound on all trees, was found.
struct Moment {
    double seconds, cost, bound;
};

// A column at the root, solved: how its children share the splits, and what they cost.
struct SolvedColumn {
    int column, depth;
    int budget_true, budget_false;
    double cost_true, cost_false;
};

// What the threads share that try the columns of the root.
struct SharedRoot {
    std::atomic<double> best;
    double seconds = std::numeric_limits<double>::infinity();  // when to pause
    bool counts_splits = false;  // goes on for smaller trees where one is perfect
    bool is_part = false;        // other columns are tried elsewhere
    bool is_last = false;        // no deeper trees are asked for, so that bounds are bounds on all
    // All threads take columns from one sequence, because their own bounds differ.
    std::vector<std::int32_t> sequence;
    std::atomic<int> next{0};
    SpinLock lock;
    struct FoundColumn {
        int column;
        int budget;
        SolvedSides sides;
    };
    std::vector<FoundColumn> found;
    // The found columns after the first `n`.
    std::vector<FoundColumn> found_since(std::size_t n) {
        const std::lock_guard<SpinLock> guard(lock);
        return {found.begin() + static_cast<std::ptrdiff_t>(n), found.end()};
    }
    BitIncumbent incumbent;
    double bound = 0.0;
    std::vector<Moment> moments;
};

// Sorts the columns of a node, which are in order of index, into the order in which they are tried
// as its root.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.7: in order of index, by Gini
// coefficient, at random. Deviation: by what the children cost at one level less or, before that is
// known, with one test each. Time O(n log n) a node for n columns.
template <class Lane>
void sort_columns(const BitNode<Lane>& node, const double* bounds, Order by,
                  std::vector<std::int32_t>& columns) {
    if (by == Order::INDEX) return;
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

template <class Lane>
class BitSearch {
public:
    BitSearch(const BitProblem<Lane>& problem, const RowSets& row_sets, Caches& caches,
              SearchControl& control)
        : problem_(problem),
          row_sets_(row_sets),
          caches_(caches),
          control_(control),
          maker_(problem, row_sets, control) {
        need_level(0);
        maker_.make_root(root());
    }

    BitNode<Lane>& root() { return *levels_[0]; }
    BitNode<Lane>& node(int level) { return *levels_[level]; }
    NodeMaker<Lane>& maker() { return maker_; }
    const BitProblem<Lane>& problem() const { return problem_; }
    Caches& caches() { return caches_; }
    SearchControl& control() { return control_; }

    // Whether the search must end now: it was stopped, or its work has reached the limit that was
    // set. In the second case, bounds at the root may be wrong until the limit is lifted.
    bool stopped() const {
        return control_.stopped() || maker_.sweeps.work > most_work_ ||
               maker_.sweeps.n > most_sweeps_;
    }
    void limit_work(double most) { most_work_ = most; }
    // The same for a search of any depth, whose bounds stay right.
    void limit_sweeps(double more) {
        most_sweeps_ = more < 1e18 ? maker_.sweeps.n + static_cast<std::int64_t>(more) : NO_LIMIT;
    }
    void lift_work_limit() {
        if (stopped()) {
            for (ChildBounds& bounds : root().child_bounds) bounds.is_open = false;
        }
        most_work_ = std::numeric_limits<double>::infinity();
    }

    // Sweeps poll by themselves, answers from the caches do not.
    void poll_now_and_then() {
        if (++n_polls_ % 64 == 0 && maker_.may_poll) control_.poll();
    }

    BitStats stats() const {
        BitStats all = stats_;
        all.n_nodes = maker_.n_nodes;
        all.n_sweeps = maker_.sweeps.n;
        return all;
    }

    // Returns the optimum of the node at `level` if it is below `upper`, else a lower bound of at
    // least `upper`. After a stop, the answer is meaningless.
    double search(int level, int depth, int budget, double upper) {
        BitNode<Lane>& node = *levels_[level];
        budget = std::min(budget, full_budget(depth));
        if (depth <= 2 || budget <= 1) return small_cost(node, depth, budget);
        double lower = 0.0;
        if (ask_cache(node.key, depth, budget, upper, lower)) return lower;
        double best = std::min(upper, small_cost(node, 2, budget));
        raise_by_size(3, small_cost(node, 2, budget), lower);
        double shallower = depth == 3           ? small_cost(node, 2, budget)
                           : depth == ANY_DEPTH ? lower
                                                : 0.0;
        if (best > lower && problem_.switches.look_ahead && has_shallower(depth)) {
            shallower = search(level, depth - 1, budget, best);
            if (stopped()) return best;
            best = std::min(best, shallower);
            raise_by_size(depth, shallower, lower);
        }
        if (best > lower) {
            int column = -1;
            const double found =
                explore(level, depth, budget, best, column, Order::BOUNDS, lower, shallower);
            // Each tree is a leaf or has one of the columns.
            lower = std::max(lower, std::min(found, small_cost(node, 0, 0)));
            best = std::min(best, found);
        }
        if (stopped()) return best;
        const bool exact = best < upper;
        const double answer = exact ? best : std::max(lower, upper);
        remember(node, depth, budget, answer, exact);
        return answer;
    }

    // A tree has fewer levels than `depth`, or at least as many splits (see child_bounds.hpp).
    void raise_by_size(int depth, double shallower, double& lower) const {
        if (problem_.switches.size) {
            lower = std::max(lower, std::min(shallower, depth * problem_.split_cost));
        }
    }

    // Optimum of a node with at most two levels.
    double small_cost(const BitNode<Lane>& node, int depth, int budget) const {
        return node.small_costs[std::min({budget, full_budget(depth), 3})];
    }

    // Makes a child of the node at `level`.
    BitNode<Lane>& make_child(int level, int column, bool side) {
        need_level(level + 1);
        BitNode<Lane>& child = *levels_[level + 1];
        set_rows(row_sets_, *levels_[level], column, side, child);
        maker_.make_child(*levels_[level], column, side, child);
        return child;
    }

    // Finds the optima of both children of a column with two more levels. Returns false after a
    // stop.
    bool solve_both(BitNode<Lane>& node, int j, SmallCosts& with, SmallCosts& without) {
        if (!find_sides(node, j, with, without)) {
            count_sides(node, j, with, without, [] { return false; });
            if (stopped()) return false;
        }
        price_splits(problem_.split_cost, with.costs);
        price_splits(problem_.split_cost, without.costs);
        return true;
    }

    // Reads the cache. Returns true if `lower` is the answer.
    bool ask_cache(Key rows, int depth, int budget, double upper, double& lower) {
        if (!problem_.switches.cache || depth < 3 || budget < 2) return false;
        CachedBounds known;
        bool is_answer = false;
        if (caches_.bounds.find(cache_key(rows, depth, budget), known)) {
            lower = known.bound;
            is_answer = known.exact || known.bound >= upper;
        }
        // A tree costs no less than the best one with all splits that fit the depth.
        const int full = full_budget(depth);
        if (!is_answer && budget < full &&
            caches_.bounds.find(cache_key(rows, depth, full), known)) {
            lower = std::max(lower, known.bound);
            is_answer = known.bound >= upper;
        }
        stats_.n_cache_hits += is_answer;
        return is_answer;
    }

    Key cache_key(Key rows, int depth, int budget) const {
        return problem_key(rows, depth, budget, caches_.salt);
    }

    // Tries columns as the root of a tree below `upper`. Returns the best cost or, if none is
    // below, a lower bound. No tree costs less than `lower`, and none with a level less costs less
    // than `shallower`. In another order than BOUNDS, the first column below `upper` is taken.
    double explore(int level, int depth, int budget, double upper, int& best_column,
                   Order order = Order::BOUNDS, double lower = 0.0, double shallower = 0.0) {
        BitNode<Lane>& node = *levels_[level];
        BitNode<Lane>* parent = level > 0 ? levels_[level - 1].get() : nullptr;
        ChildBounds& bounds = open_bounds(problem_, node, parent, depth, budget, shallower);
        double best = upper;
        for (const int j : sequence_of(level, depth, bounds, order, upper)) {
            const double cost = try_column(level, depth, bounds, j, best);
            if (stopped()) return best;
            if (cost >= best) continue;
            best = cost;
            best_column = j;
            if (order != Order::BOUNDS || best <= lower) return best;
        }
        return best < upper ? best : std::max(least_bound(node, bounds), upper);
    }

    // Returns the cost with column j at the root if it is below `upper`, else a lower bound. Other
    // columns get bounds from it.
    double try_column(int level, int depth, ChildBounds& bounds, int j, double upper) {
        BitNode<Lane>& node = *levels_[level];
        if (!is_supported(problem_, node, j)) return std::numeric_limits<double>::infinity();
        ++stats_.n_columns;
        const double bound = column_bound(bounds, node.stride, j) + problem_.split_cost;
        if (bound >= upper) {
            ++stats_.n_pruned_columns;
            return bound;
        }
        const double cost = depth == ANY_DEPTH ? solve_any_depth(level, bounds, j, upper)
                            : depth == 3       ? solve_pair(node, bounds, j, upper)
                                               : solve_children(level, depth, bounds, j, upper);
        if (!stopped()) spread_bounds(problem_, node, bounds, j);
        return cost;
    }

    // The smallest lower bound of all columns.
    double least_bound(const BitNode<Lane>& node, ChildBounds& bounds) const {
        double least = std::numeric_limits<double>::infinity();
        for (int j = 0; j < node.n_columns; ++j) {
            if (is_supported(problem_, node, j)) {
                least = std::min(least, column_bound(bounds, node.stride, j));
            }
        }
        return least + problem_.split_cost;
    }

    // The columns that may cost less than `upper`, in the order in which they are tried.
    const std::vector<std::int32_t>& sequence_of(int level, int depth, ChildBounds& bounds,
                                                 Order by, double upper) {
        const BitNode<Lane>& node = *levels_[level];
        std::vector<std::int32_t>& sequence = sequences_[level][depth];
        sequence.clear();
        for (int j = 0; j < node.n_columns; ++j) {
            if (column_bound(bounds, node.stride, j) + problem_.split_cost < upper) {
                sequence.push_back(j);
            }
        }
        stats_.n_columns += node.n_columns - static_cast<int>(sequence.size());
        stats_.n_pruned_columns += node.n_columns - static_cast<int>(sequence.size());
        // Among equally good trees of any depth, those win whose tests part the rows evenly.
        const bool by_index = by == Order::INDEX && depth != ANY_DEPTH;
        sort_columns(node, bounds.order.data(),
                     by_index || by == Order::LOOK_AHEAD ? by : Order::BOUNDS, sequence);
        return sequence;
    }

    ChildBounds& open_root(int depth, int budget) {
        const int budget_before = std::min(budget, full_budget(depth - 1));
        double shallower = depth == 3 ? small_cost(root(), 2, budget) : 0.0;
        CachedBounds known;
        if (has_shallower(depth) && problem_.switches.cache &&
            caches_.bounds.find(cache_key(root().key, depth - 1, budget_before), known)) {
            shallower = known.bound;
        }
        return open_bounds(problem_, root(), static_cast<BitNode<Lane>*>(nullptr), depth, budget,
                           shallower);
    }

    // The order in which a team tries the columns of the root.
    std::vector<std::int32_t> root_sequence(int depth, int budget) {
        return sequence_of(0, depth, open_root(depth, budget), Order::BOUNDS,
                           std::numeric_limits<double>::infinity());
    }

    // The threads of a team call this, each on its own search object with an equal root. `tree_of`
    // makes the tree of a column that beats the incumbent; it is empty if the search was stopped.
    template <class TreeOf>
    void explore_root(int depth, int budget, SharedRoot& shared, TreeOf tree_of) {
        ChildBounds& bounds = open_root(depth, budget);
        std::size_t n_read = 0;
        for (;;) {
            // The smallest perfect tree is searched for later, when the tree is made.
            if (problem_.is_perfect(shared.best.load()) && !shared.counts_splits) break;
            if (control_.seconds() >= shared.seconds) break;
            const int next = shared.next.fetch_add(1);
            read_found(shared, bounds, n_read);
            if (next >= static_cast<int>(shared.sequence.size()) || stopped()) break;
            const int j = shared.sequence[next];
            const double cost = try_column(0, depth, bounds, j, shared.best.load());
            if (stopped()) break;
            BitIncumbent found;
            if (cost < shared.best.load()) {
                found.cost = cost;
                found.depth = depth;
                found.nodes = tree_of(*this, share_of(bounds, depth, j, cost));
                if (stopped()) break;
            }
            share_found(shared, bounds, j, found);
        }
    }

    // Applies the columns that other threads have solved since the last call.
    void read_found(SharedRoot& shared, ChildBounds& bounds, std::size_t& n_read) {
        const std::vector<SharedRoot::FoundColumn> found = shared.found_since(n_read);
        n_read += found.size();
        for (const SharedRoot::FoundColumn& one : found) {
            double& with = bounds.true_bounds(one.budget, root().stride)[one.column];
            double& without = bounds.false_bounds(one.budget, root().stride)[one.column];
            with = std::max(with, one.sides.optimum_true);
            without = std::max(without, one.sides.optimum_false);
            spread_bounds(problem_, root(), bounds, one.column);
        }
    }

    // How the children of the solved column j share the splits at this cost. Among several ways,
    // the one with the fewest splits on the true side wins.
    SolvedColumn share_of(ChildBounds& bounds, int depth, int j, double cost, int level = 0) const {
        const int stride = levels_[level]->stride;
        for (int k = 0; k < bounds.n_budgets; ++k) {
            const int rest = bounds.n_budgets - 1 - k;
            const double with = bounds.true_bounds(k, stride)[j];
            const double without = bounds.false_bounds(rest, stride)[j];
            if (with + without + problem_.split_cost <= cost + problem_.slack) {
                return {j,    depth,  bounds.first_budget + k, bounds.first_budget + rest,
                        with, without};
            }
        }
        return {-1, depth, 0, 0, 0.0, 0.0};
    }

    void remember(const BitNode<Lane>& node, int depth, int budget, double bound, bool exact) {
        if (!problem_.switches.cache) return;
        CachedBounds entry;
        entry.bound = bound;
        entry.depth = static_cast<std::int16_t>(depth);
        entry.exact = exact;
        caches_.bounds.store(cache_key(node.key, depth, budget), entry,
                             [](const CachedBounds& a, const CachedBounds& b) {
                                 return a.exact || (!b.exact && a.bound >= b.bound) ? a : b;
                             });
    }

private:
    void share_found(SharedRoot& shared, ChildBounds& bounds, int j, BitIncumbent& found) {
        const int stride = root().stride;
        const double bound = shared.is_last ? least_bound(root(), bounds) : 0.0;
        const std::lock_guard<SpinLock> guard(shared.lock);
        for (int k = 0; k < bounds.n_budgets; ++k) {
            shared.found.push_back(
                {j, k, {bounds.true_bounds(k, stride)[j], bounds.false_bounds(k, stride)[j]}});
        }
        const bool is_better = found.cost < shared.best.load();
        if (is_better) {
            shared.best.store(found.cost);
            // Rounding made the cost smaller and hid the tree. The tree before it serves instead.
            if (found.nodes.empty()) found.nodes = std::move(shared.incumbent.nodes);
            shared.incumbent = std::move(found);
        }
        const double best = shared.best.load();
        if (is_better || std::min(bound, best) > shared.bound) {
            shared.bound = std::max(shared.bound, std::min(bound, best));
            shared.moments.push_back({control_.seconds(), shared.incumbent.cost, shared.bound});
        }
    }

    // Solves both children of a column, one after the other (Algorithm 3).
    double solve_children(int level, int depth, ChildBounds& bounds, int j, double upper) {
        const int stride = levels_[level]->stride;
        double best = std::numeric_limits<double>::infinity();
        for (int k = 0; k < bounds.n_budgets; ++k) {
            const int rest = bounds.n_budgets - 1 - k;
            double& with = bounds.true_bounds(k, stride)[j];
            double& without = bounds.false_bounds(rest, stride)[j];
            const double limit = std::min(best, upper) - problem_.split_cost;
            if (with + without >= limit) continue;
            const bool true_first = starts_with_true(*levels_[level], j);
            double& first = true_first ? with : without;
            double& second = true_first ? without : with;
            const int budget_first = bounds.first_budget + (true_first ? k : rest);
            const int budget_second = bounds.first_budget + (true_first ? rest : k);
            first = std::max(
                first, search_side(level, j, true_first, depth - 1, budget_first, limit - second));
            if (stopped()) return best;
            if (first + second < limit) {
                second = std::max(second, search_side(level, j, !true_first, depth - 1,
                                                      budget_second, limit - first));
            }
            if (stopped()) return best;
            best = std::min(best, with + without + problem_.split_cost);
        }
        // Nothing is below `upper`. The bound also covers the shares that were not searched.
        if (best >= upper) best = column_bound(bounds, stride, j) + problem_.split_cost;
        return best;
    }

    // Solves both children of a column by trees of any depth. The optima of a row set then do not
    // depend on the levels above it: they are searched for once. One count gives the best trees of
    // both with up to two splits; larger ones cost at least three.
    double solve_any_depth(int level, ChildBounds& bounds, int j, double upper) {
        BitNode<Lane>& node = *levels_[level];
        double* costs[] = {bounds.bounds_false.data() + j, bounds.bounds_true.data() + j};
        bool is_exact[] = {false, false};
        const double limit = upper - problem_.split_cost;
        const auto is_open = [&] { return *costs[0] + *costs[1] < limit; };
        find_keys(row_sets_, node, j, key_true_, key_false_);
        for (const bool side : {true, false}) {
            CachedBounds known;
            const Key key =
                cache_key(side ? key_true_ : key_false_, ANY_DEPTH, full_budget(ANY_DEPTH));
            if (!problem_.switches.cache || !caches_.bounds.find(key, known)) continue;
            *costs[side] = std::max(*costs[side], known.bound);
            is_exact[side] = known.exact;
        }
        // Nodes of few rows drop equal columns, so that to count them alone takes less.
        const bool counts = node.n_rows >= 2 * node.n_columns && problem_.switches.side_bounds;
        if (counts && is_open() && !(is_exact[0] && is_exact[1])) {
            SmallCosts small[2];
            if (!find_sides(node, j, small[1], small[0])) {
                count_sides(node, j, small[1], small[0], [] { return false; });
                if (stopped()) return upper;
            }
            for (const bool side : {true, false}) {
                price_splits(problem_.split_cost, small[side].costs);
                const double least = std::min(small[side].costs[2], 3.0 * problem_.split_cost);
                *costs[side] = std::max(*costs[side], least);
                is_exact[side] |= small[side].costs[2] <= least;
            }
        }
        const bool first = starts_with_true(node, j);
        for (const bool side : {first, !first}) {
            if (!is_open()) break;
            if (is_exact[side]) continue;
            const double found = search_side(level, j, side, ANY_DEPTH, full_budget(ANY_DEPTH),
                                             limit - *costs[!side]);
            if (stopped()) return upper;
            *costs[side] = std::max(*costs[side], found);
        }
        return *costs[0] + *costs[1] + problem_.split_cost;
    }

    // The child that costs more with one split goes first (section 4.6). It is likelier to rule the
    // column out.
    bool starts_with_true(const BitNode<Lane>& node, int j) const {
        if (!problem_.switches.dynamic_order) return true;
        const int base = problem_.channels.base();
        const double factor = problem_.objective.base_factor;
        const double with = static_cast<double>(node.marginal_row(base)[j]);
        const double without = static_cast<double>(node.totals[base]) - with;
        return factor * with - static_cast<double>(node.best_true[j]) >=
               factor * without - static_cast<double>(node.best_false[j]);
    }

    double search_side(int level, int column, bool side, int depth, int budget, double upper) {
        need_level(level + 1);
        BitNode<Lane>& child = *levels_[level + 1];
        set_rows(row_sets_, *levels_[level], column, side, child);
        double known = 0.0;
        budget = std::min(budget, full_budget(depth));
        poll_now_and_then();
        if (ask_cache(child.key, depth, budget, upper, known)) return known;
        maker_.make_child(*levels_[level], column, side, child);
        return search(level + 1, depth, budget, upper);
    }

    // At depth three: solves both children of a column, exactly for every number of splits, unless
    // bounds rule the column out. The bounds come from one child, or from both to the precision of
    // a rough sweep.
    double solve_pair(BitNode<Lane>& node, ChildBounds& bounds, int j, double upper) {
        SmallCosts with, without;
        const auto is_ruled_out = [&] {
            set_side_bounds(node, bounds, j, with, without);
            return problem_.switches.side_bounds &&
                   column_bound(bounds, node.stride, j) + problem_.split_cost >= upper;
        };
        if (find_sides(node, j, with, without)) {
            set_side_bounds(node, bounds, j, with, without);
        } else if (is_ruled_out()) {
            ++stats_.n_small_hits;
        } else {
            count_sides(node, j, with, without, is_ruled_out);
            if (stopped()) return 0.0;
            set_side_bounds(node, bounds, j, with, without);
        }
        return column_bound(bounds, node.stride, j) + problem_.split_cost;
    }

    void set_side_bounds(const BitNode<Lane>& node, ChildBounds& bounds, int j, SmallCosts with,
                         SmallCosts without) const {
        price_splits(problem_.split_cost, with.costs);
        price_splits(problem_.split_cost, without.costs);
        for (int k = 0; k < bounds.n_budgets; ++k) {
            for (const bool side : {true, false}) {
                const SmallCosts& found = side ? with : without;
                double& bound = side ? bounds.true_bounds(k, node.stride)[j]
                                     : bounds.false_bounds(k, node.stride)[j];
                const double cost = found.costs[bounds.first_budget + k];
                if (found.known == Known::EXACT) bound = cost;
                if (found.known == Known::BOUND) bound = std::max(bound, cost);
            }
        }
    }

    // Solves both children by one count.
    template <class IsEnough>
    void count_sides(BitNode<Lane>& node, int j, SmallCosts& with, SmallCosts& without,
                     const IsEnough& is_enough) {
        maker_.solve_sides(node, j, with, without, is_enough);
        if (stopped() || !problem_.switches.small_cache) return;
        store_side(key_true_, with);
        store_side(key_false_, without);
    }

    // Nodes are made as levels are reached: few of those that are allowed may be.
    void need_level(int level) {
        if (level < static_cast<int>(levels_.size())) return;
        levels_.emplace_back(new BitNode<Lane>());
        levels_.back()->attach(&control_);
        levels_.back()->child_bounds.resize(ANY_DEPTH + 1);
        sequences_.emplace_back(ANY_DEPTH + 1);
    }

    // Reads the optima or bounds of the two children from the cache, without the cost of splits.
    // Returns true if both are optima.
    bool find_sides(const BitNode<Lane>& node, int j, SmallCosts& with, SmallCosts& without) {
        if (!problem_.switches.small_cache) return false;
        find_keys(row_sets_, node, j, key_true_, key_false_);
        find_side(key_true_, with);
        find_side(key_false_, without);
        const bool is_all = with.known == Known::EXACT && without.known == Known::EXACT;
        stats_.n_small_hits += is_all;
        return is_all;
    }

    void find_side(Key rows, SmallCosts& costs) {
        SmallOptima entry;
        if (!caches_.small.find(problem_key(rows, 2, 3, 0), entry)) return;
        costs.known = entry.depth == 2 ? Known::EXACT : Known::BOUND;
        costs.costs[0] = entry.leaf;
        std::copy_n(entry.costs, 3, costs.costs + 1);
    }

    void store_side(Key rows, const SmallCosts& costs) {
        SmallOptima entry;
        entry.depth = costs.known == Known::EXACT ? 2 : 1;
        entry.leaf = costs.costs[0];
        std::copy_n(costs.costs + 1, 3, entry.costs);
        caches_.small.store(
            problem_key(rows, 2, 3, 0), entry,
            [](const SmallOptima& a, const SmallOptima& b) { return a.depth > b.depth ? a : b; });
    }

    const BitProblem<Lane>& problem_;
    const RowSets& row_sets_;
    Caches& caches_;
    SearchControl& control_;
    NodeMaker<Lane> maker_;
    BitStats stats_;
    std::uint64_t n_polls_ = 0;
    static constexpr std::int64_t NO_LIMIT = std::numeric_limits<std::int64_t>::max();
    double most_work_ = std::numeric_limits<double>::infinity();
    std::int64_t most_sweeps_ = NO_LIMIT;
    std::vector<std::unique_ptr<BitNode<Lane>>> levels_;
    std::vector<std::vector<std::vector<std::int32_t>>> sequences_;
    Key key_true_, key_false_;
};

}  // namespace sktree_opt
