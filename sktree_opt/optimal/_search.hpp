// The best tree of more than two levels. Exact.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), Algorithms 1-3. https://jmlr.org/papers/v23/20-520.html
//   D -> Node               d -> depth              n -> budget (splits)     UB -> upper (exclusive)
//   LB, RLB -> lower, the least of Phase bounds     T -> cost                alpha -> split_cost
// Bounds of depth-d children live in the Phase of the parent, by column: from the cache, from solved
// columns by similarity, from the parent's own children by inheritance, from searches that ended
// above their upper bound. A column is explored while the sum of its two bounds is below the
// incumbent (eqs. 15-17).
// Deviations: before a node is searched to depth d it is searched to d - 1, which gives an incumbent
// and the order of columns; nodes of depth three solve both children of a column at once (sibling
// subtraction, see _depth_two.hpp).
// Costs are doubles on a grid so coarse that sums are exact: comparisons need no tolerance.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/_cache.hpp"
#include "sktree_opt/optimal/_node.hpp"

namespace sktree_opt {

struct SearchStats {
    std::int64_t n_nodes = 0;          // of depth three or more, made
    std::int64_t n_sweeps = 0;         // depth-two solutions by counting
    std::int64_t n_small_hits = 0;     // depth-two solutions from the cache
    std::int64_t n_cache_hits = 0;     // searches answered by the cache
    std::int64_t n_columns = 0;        // columns considered as the root of a node
    std::int64_t n_pruned_columns = 0; // of these, never explored
    void add(const SearchStats& other) {
        n_nodes += other.n_nodes;
        n_sweeps += other.n_sweeps;
        n_small_hits += other.n_small_hits;
        n_cache_hits += other.n_cache_hits;
        n_columns += other.n_columns;
        n_pruned_columns += other.n_pruned_columns;
    }
};

// Splits of a full tree.
inline int full_budget(int depth) { return depth >= 20 ? (1 << 20) - 1 : (1 << depth) - 1; }

struct SmallCosts {
    double costs[4];
};

template <class Lane>
class Search {
public:
    Search(const Problem<Lane>& problem, const RowSets& row_sets, CacheTable<Bounds>& cache,
           CacheTable<SmallOptima>& small_cache, SearchControl& control)
        : problem_(problem),
          row_sets_(row_sets),
          cache_(cache),
          small_cache_(small_cache),
          control_(control) {
        levels_.resize(std::max(problem.constraints.max_depth, 2) + 1);
        for (auto& level : levels_) {
            level.reset(new Node<Lane>());
            level->attach(&control);
            level->phases.resize(problem.constraints.max_depth + 1);
        }
        make_root();
    }

    Node<Lane>& root() { return *levels_[0]; }
    Node<Lane>& level(int k) { return *levels_[k]; }
    const SearchStats& stats() const { return stats_; }
    bool stopped() const { return control_.stopped(); }

    // The optimum of the node if it is below `upper`, else a lower bound that is not.
    double search(Node<Lane>& node, int level, int depth, int budget, double upper) {
        budget = std::min(budget, full_budget(depth));
        if (depth <= 2 || budget <= 1) return small_cost(node, depth, budget);
        double lower = 0.0;
        const Key key = problem_key(node.key, depth, budget);
        if (problem_.switches.cache) {
            Bounds known;
            if (cache_.find(key, known)) {
                if (known.exact || known.bound >= upper) {
                    ++stats_.n_cache_hits;
                    return known.bound;
                }
                lower = known.bound;
            }
        }
        double best = std::min(upper, small_cost(node, 2, budget));
        int column = -1;
        if (best > lower && problem_.switches.look_ahead && depth > 3)
            best = std::min(best, search(node, level, depth - 1, budget, best));
        if (best > lower) {
            const double found = explore(node, level, depth, budget, best, column);
            lower = std::max(lower, std::min(found, best));
            best = std::min(best, found);
        }
        if (control_.stopped()) return best;
        const bool exact = best < upper;
        if (!exact) best = std::max(lower, upper);
        if (problem_.switches.cache) remember(key, depth, exact ? best : std::max(lower, upper), column, node, exact);
        return best;
    }

    // Costs of a node with at most two levels.
    double small_cost(const Node<Lane>& node, int depth, int budget) const {
        if (depth == 0 || budget == 0) return node.small_costs[0];
        if (depth == 1) return node.small_costs[1];
        return node.small_costs[std::min(budget, 3)];
    }

    // Makes `levels_[level + 1]` the child of `node` on one side of a column.
    Node<Lane>& make_child(const Node<Lane>& node, int level, int column, bool side) {
        Node<Lane>& child = *levels_[level + 1];
        set_rows(node, column, side, child);
        return make_child(node, level, column, side, child);
    }

    const Problem<Lane>& problem() const { return problem_; }

private:
    void make_root() {
        Node<Lane>& root = *levels_[0];
        root.n_words = problem_.n_words;
        root.spans = problem_.spans;
        root.n_columns = problem_.n_columns;
        root.stride = problem_.stride;
        root.row_bytes = problem_.stride / 8;
        root.columns.resize(problem_.n_columns);
        for (int j = 0; j < problem_.n_columns; ++j) root.columns[j] = j;
        const std::size_t n_cells = static_cast<std::size_t>(root.n_words) * root.stride;
        std::copy_n(problem_.words.data(), n_cells, root.words.need(n_cells));
        std::copy_n(problem_.present.data(), root.n_words, root.present.need(root.n_words));
        problem_.kernels.words_to_rows(
            root.words.data(), root.n_words, root.stride,
            root.rows.need(static_cast<std::size_t>(root.n_words) * 16 * root.row_bytes),
            root.row_bytes);
        std::copy_n(row_sets_.all.data(), row_sets_.n_words, root.mask.need(row_sets_.n_words));
        root.key = row_sets_.key(root.mask.data());
        sum_totals(root);
        solve_small(root);
    }

    void sum_totals(Node<Lane>& node) {
        const int n_channels = problem_.n_all_channels;
        node.totals.assign(n_channels, 0);
        for (std::size_t s = 0; s < node.spans.size(); ++s) {
            int count = 0;
            const Span span = node.spans[s];
            for (int w = span.first_word; w < span.first_word + span.n_words; ++w)
                count += Node<Lane>::popcount16(node.present[w]);
            for (int c = 0; c < n_channels; ++c)
                node.totals[c] += static_cast<Lane>(
                    problem_.coefficients[s * n_channels + c] * static_cast<Lane>(count));
        }
    }

    static bool poll(void* search) {
        return static_cast<Search*>(search)->control_.poll();
    }

    SweepTask<Lane> task_for(const std::uint16_t* words, const Span* spans, int stride,
                             int n_columns, int n_counted) {
        SweepTask<Lane> task;
        task.words = words;
        task.spans = spans;
        task.n_segments = static_cast<int>(problem_.spans.size());
        task.stride = stride;
        task.n_columns = n_columns;
        task.coefficients = problem_.coefficients.data();
        task.n_all_channels = problem_.n_all_channels;
        task.n_counted = n_counted;
        task.tile = tile_.need(static_cast<std::size_t>(2) * n_counted * TILE);
        task.score = problem_.score;
        return task;
    }

    // All pair counts of the node, and its optimum with up to three splits.
    void solve_small(Node<Lane>& node) {
        SweepTask<Lane> task = task_for(
            node.words.data(), node.spans.data(), node.stride, node.n_columns,
            problem_.n_all_channels);
        problem_.kernels.count_marginals(
            task, node.marginals.zeros(static_cast<std::size_t>(problem_.n_all_channels) *
                                       (node.stride + STRIDE)));
        SweepSide<Lane> side;
        side.marginals = node.marginals.data();
        side.totals = node.totals.data();
        side.best_true = node.best_true.need(node.stride + STRIDE);
        side.best_false = node.best_false.need(node.stride + STRIDE);
        side.leaf_true = node.leaf_true.need(node.stride + STRIDE);
        side.leaf_false = node.leaf_false.need(node.stride + STRIDE);
        task.counted = &side;
        task.pairs = node.pairs.need(static_cast<std::size_t>(problem_.n_all_channels) *
                                     node.n_columns * node.stride);
        task.poll = &poll;
        task.poll_argument = this;
        problem_.kernels.sweep(task);
        ++stats_.n_sweeps;
        node.base = problem_.objective.unit * problem_.objective.base_factor *
                    static_cast<double>(node.totals[problem_.mass_channel]);
        set_costs(side.best, node.base, node.small_costs);
        for (Phase& phase : node.phases) phase.is_open = false;
    }

    // Costs of at most 0..3 splits from the best scores of exactly so many.
    void set_costs(const Lane (&best)[4], double base, double (&costs)[4]) const {
        const double split = problem_.constraints.split_cost;
        for (int k = 0; k < 4; ++k) {
            const double cost =
                snap(base - problem_.objective.unit * static_cast<double>(best[k])) + k * split;
            costs[k] = k == 0 ? cost : std::min(costs[k - 1], cost);
        }
    }

    double snap(double cost) const {
        return std::nearbyint(cost / problem_.grid) * problem_.grid;
    }

    void set_rows(const Node<Lane>& node, int column, bool side, Node<Lane>& child) {
        const std::uint64_t* bits = row_sets_.column(node.columns[column]);
        const std::uint64_t flip = side ? 0 : ~std::uint64_t(0);
        std::uint64_t* mask = child.mask.need(row_sets_.n_words);
        for (int w = 0; w < row_sets_.n_words; ++w) mask[w] = node.mask[w] & (bits[w] ^ flip);
        child.key = row_sets_.key(mask);
    }

    Node<Lane>& make_child(
        const Node<Lane>& node, int level, int column, bool side, Node<Lane>& child) {
        (void)level;
        ++stats_.n_nodes;
        child.n_words = take_rows(
            node, problem_.kernels, column, side, child.raw_words, child.spans, child.slots,
            &child.present);
        settle_columns(
            child, problem_.kernels, node.columns, node.stride,
            problem_.switches.merge_node_columns);
        child.parent_column = column;
        child.parent_side = side;
        child.totals.resize(problem_.n_all_channels);
        for (int c = 0; c < problem_.n_all_channels; ++c) {
            const Lane with = node.marginal_row(c)[column];
            child.totals[c] = side ? with : node.totals[c] - with;
        }
        solve_small(child);
        return child;
    }

    bool is_supported(const Node<Lane>& node, int column) const {
        for (int k = 0; k < problem_.score.n_supports; ++k) {
            const int channel = problem_.score.n_channels + k;
            const Lane with = node.marginal_row(channel)[column];
            const Lane minimum = problem_.score.minimum_support[k];
            if (with < minimum || node.totals[channel] - with < minimum) return false;
        }
        return true;
    }

    // Bounds of the children, as far as known before any is searched; and the order.
    Phase& open_phase(Node<Lane>& node, int level, int depth, int budget) {
        Phase& phase = node.phases[depth];
        const int child_full = full_budget(depth - 1);
        phase.first_budget = std::max(0, budget - 1 - child_full);
        phase.n_budgets = std::min(child_full, budget - 1) - phase.first_budget + 1;
        const std::size_t size = static_cast<std::size_t>(phase.n_budgets) * node.stride;
        std::fill_n(phase.bounds_true.need(size), size, 0.0);
        std::fill_n(phase.bounds_false.need(size), size, 0.0);
        set_order(node, depth, phase);
        if (problem_.switches.similarity && problem_.switches.inheritance && level > 0 &&
            phase.n_budgets == 1)
            inherit_bounds(node, *levels_[level - 1], depth, phase);
        phase.is_open = true;
        return phase;
    }

    // Small first: what the children cost at one level less, or with one split.
    void set_order(const Node<Lane>& node, int depth, Phase& phase) const {
        double* order = phase.order.need(node.stride);
        const Phase& before = node.phases[depth - 1];
        const bool deeper = depth > 3 && before.is_open && problem_.switches.look_ahead;
        for (int j = 0; j < node.n_columns; ++j) {
            if (deeper)
                order[j] = before.bounds_true[j] + before.bounds_false[j];
            else
                order[j] = -static_cast<double>(node.best_true[j]) -
                           static_cast<double>(node.best_false[j]);
        }
    }

    // The parent's children bound the node's: see refresh_bounds for why.
    void inherit_bounds(const Node<Lane>& node, Node<Lane>& parent, int depth, Phase& phase) {
        Phase& above = parent.phases[depth];
        if (!above.is_open || above.n_budgets != 1) return;
        const double loss = loss_per_mass();
        const Lane* shared = parent.pair_row(problem_.mass_channel, node.parent_column);
        const Lane* weights = parent.marginal_row(problem_.mass_channel);
        const double n = static_cast<double>(parent.totals[problem_.mass_channel]);
        const double n_f = static_cast<double>(weights[node.parent_column]);
        for (int j = 0; j < node.n_columns; ++j) {
            const int g = node.in_parent[j];
            const double n_fg = static_cast<double>(shared[g]);
            const double n_g = static_cast<double>(weights[g]);
            const double lost_true = node.parent_side ? n_g - n_fg : n_fg;
            const double lost_false = node.parent_side ? n - n_g - (n_f - n_fg) : n_f - n_fg;
            phase.bounds_true[j] =
                std::max(phase.bounds_true[j], above.bounds_true[g] - loss * lost_true);
            phase.bounds_false[j] =
                std::max(phase.bounds_false[j], above.bounds_false[g] - loss * lost_false);
        }
    }

    double loss_per_mass() const { return problem_.objective.loss_factor; }

    // The least sum of bounds over the ways to share the splits; column j.
    double column_bound(Phase& phase, int stride, int j) const {
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < phase.n_budgets; ++k)
            least = std::min(
                least, phase.true_bounds(k, stride)[j] +
                           phase.false_bounds(phase.n_budgets - 1 - k, stride)[j]);
        return least + problem_.constraints.split_cost;
    }

    // Tries all columns as the root of a tree below `upper`. Returns the best cost found or, if none
    // is below `upper`, a lower bound on all of them.
    double explore(Node<Lane>& node, int level, int depth, int budget, double upper, int& best_column) {
        Phase& phase = open_phase(node, level, depth, budget);
        double best = upper;
        std::vector<std::int32_t>& sequence = sequences_[level][depth];
        sequence.resize(node.n_columns);
        for (int j = 0; j < node.n_columns; ++j) sequence[j] = j;
        const double* order = phase.order.data();
        std::sort(sequence.begin(), sequence.end(), [order](int a, int b) {
            return order[a] < order[b] || (order[a] == order[b] && a < b);
        });
        double lower = std::numeric_limits<double>::infinity();
        for (const int j : sequence) {
            if (!is_supported(node, j)) continue;
            ++stats_.n_columns;
            if (column_bound(phase, node.stride, j) >= best) {
                ++stats_.n_pruned_columns;
                continue;
            }
            const double cost = depth == 3 ? solve_pair(node, phase, j)
                                           : solve_children(node, level, depth, phase, j, best);
            if (control_.stopped()) return best;
            if (problem_.switches.similarity) refresh(node, phase, j);
            if (cost < best) {
                best = cost;
                best_column = node.columns[j];
            }
        }
        for (int j = 0; j < node.n_columns; ++j)
            if (is_supported(node, j))
                lower = std::min(lower, column_bound(phase, node.stride, j));
        return best < upper ? best : std::max(lower, upper);
    }

    void refresh(Node<Lane>& node, Phase& phase, int j) {
        const Lane* overlaps = node.pair_row(problem_.mass_channel, j);
        const Lane* weights = node.marginal_row(problem_.mass_channel);
        for (int k = 0; k < phase.n_budgets; ++k) {
            double* with = phase.true_bounds(k, node.stride);
            double* without = phase.false_bounds(k, node.stride);
            problem_.kernels.refresh_bounds(
                overlaps, weights, weights[j], node.totals[problem_.mass_channel],
                loss_per_mass(), {with[j], without[j]}, node.n_columns, with, without);
        }
    }

    // Both children of a column, searched one after the other (Algorithm 3).
    double solve_children(
        Node<Lane>& node, int level, int depth, Phase& phase, int j, double upper) {
        double best = std::numeric_limits<double>::infinity();
        const double split = problem_.constraints.split_cost;
        for (int k = 0; k < phase.n_budgets; ++k) {
            double& with = phase.true_bounds(k, node.stride)[j];
            double& without = phase.false_bounds(phase.n_budgets - 1 - k, node.stride)[j];
            if (with + without + split >= std::min(best, upper)) continue;
            const int budget_true = phase.first_budget + k;
            const int budget_false = phase.first_budget + phase.n_budgets - 1 - k;
            const double limit = std::min(best, upper) - split;
            const bool true_first = starts_with_true(node, j);
            double& first = true_first ? with : without;
            double& second = true_first ? without : with;
            first = std::max(
                first, search_side(node, level, j, true_first, depth - 1,
                                   true_first ? budget_true : budget_false, limit - second));
            if (control_.stopped()) return best;
            if (first + second < limit)
                second = std::max(
                    second, search_side(node, level, j, !true_first, depth - 1,
                                        true_first ? budget_false : budget_true, limit - first));
            if (control_.stopped()) return best;
            best = std::min(best, with + without + split);
        }
        return best;
    }

    // The child with more to lose first (section 4.6): it is likelier to end the other's search.
    bool starts_with_true(const Node<Lane>& node, int j) const {
        if (!problem_.switches.dynamic_order) return true;
        const double mass = static_cast<double>(node.totals[problem_.mass_channel]);
        const double with = static_cast<double>(node.marginal_row(problem_.mass_channel)[j]);
        const double factor = problem_.objective.base_factor;
        return factor * with - static_cast<double>(node.best_true[j]) >=
               factor * (mass - with) - static_cast<double>(node.best_false[j]);
    }

    double search_side(
        Node<Lane>& node, int level, int column, bool side, int depth, int budget, double upper) {
        Node<Lane>& child = *levels_[level + 1];
        set_rows(node, column, side, child);
        budget = std::min(budget, full_budget(depth));
        if (problem_.switches.cache && depth > 2 && budget > 1) {
            Bounds known;
            if (cache_.find(problem_key(child.key, depth, budget), known) &&
                (known.exact || known.bound >= upper)) {
                ++stats_.n_cache_hits;
                return known.bound;
            }
        }
        make_child(node, level, column, side, child);
        return search(child, level + 1, depth, budget, upper);
    }

    // Node of depth three: both children of a column at once, exact for every number of splits.
    double solve_pair(Node<Lane>& node, Phase& phase, int j) {
        SmallCosts with, without;
        solve_sides(node, j, with, without);
        double best = std::numeric_limits<double>::infinity();
        for (int k = 0; k < phase.n_budgets; ++k) {
            phase.true_bounds(k, node.stride)[j] = with.costs[phase.first_budget + k];
            phase.false_bounds(k, node.stride)[j] = without.costs[phase.first_budget + k];
        }
        for (int k = 0; k < phase.n_budgets; ++k)
            best = std::min(best, phase.true_bounds(k, node.stride)[j] +
                                      phase.false_bounds(phase.n_budgets - 1 - k, node.stride)[j]);
        return best + problem_.constraints.split_cost;
    }

    void solve_sides(Node<Lane>& node, int j, SmallCosts& with, SmallCosts& without) {
        Key key_true, key_false;
        if (problem_.switches.small_cache) {
            key_true = row_sets_.key(node.mask.data(), node.columns[j]);
            key_false = node.key - key_true;
            if (find_small(key_true, with) && find_small(key_false, without)) {
                ++stats_.n_small_hits;
                return;
            }
        }
        sweep_sides(node, j, with, without);
        if (problem_.switches.small_cache) {
            store_small(key_true, with);
            store_small(key_false, without);
        }
    }

    bool find_small(Key key, SmallCosts& found) {
        SmallOptima known;
        if (!small_cache_.find(key, known)) return false;
        found.costs[0] = known.leaf;
        for (int k = 0; k < 3; ++k) found.costs[k + 1] = known.costs[k];
        return true;
    }

    void store_small(Key key, const SmallCosts& costs) {
        SmallOptima entry;
        entry.depth = 2;
        entry.leaf = costs.costs[0];
        for (int k = 0; k < 3; ++k) entry.costs[k] = costs.costs[k + 1];
        small_cache_.store(key, entry, [](const SmallOptima&, const SmallOptima& b) { return b; });
    }

    // Counts the smaller child; the larger one's counts are what is left of the node's.
    void sweep_sides(Node<Lane>& node, int j, SmallCosts& with, SmallCosts& without) {
        const int n_channels = problem_.n_all_channels;
        const int n_score = problem_.score.n_channels + problem_.score.n_supports;
        const bool small_is_true = 2 * node.count_rows(j) <= node.count_rows();
        take_rows(
            node, problem_.kernels, j, small_is_true, small_words_, small_spans_, small_slots_,
            static_cast<Buffer<std::uint16_t>*>(nullptr));
        side_marginals_.need(static_cast<std::size_t>(2) * n_channels * node.stride);
        side_totals_.resize(2 * n_channels);
        Lane* small = side_marginals_.data();
        Lane* large = small + n_channels * node.stride;
        for (int c = 0; c < n_channels; ++c) {
            const Lane* shared = node.pair_row(c, j);
            const Lane* all = node.marginal_row(c);
            Lane* of_true = (small_is_true ? small : large) + c * node.stride;
            Lane* of_false = (small_is_true ? large : small) + c * node.stride;
            for (int g = 0; g < node.stride; ++g) {
                of_true[g] = shared[g];
                of_false[g] = all[g] - shared[g];
            }
            const Lane total_true = all[j], total_false = node.totals[c] - all[j];
            side_totals_[c] = small_is_true ? total_true : total_false;
            side_totals_[n_channels + c] = small_is_true ? total_false : total_true;
        }
        SweepTask<Lane> task = task_for(
            small_words_.data(), small_spans_.data(), node.stride, node.n_columns, n_score);
        SweepSide<Lane> counted, sibling;
        counted.marginals = small;
        counted.totals = side_totals_.data();
        sibling.marginals = large;
        sibling.totals = side_totals_.data() + n_channels;
        task.counted = &counted;
        task.sibling = &sibling;
        task.parent_pairs = node.pairs.data();
        task.poll = &poll_sometimes;
        task.poll_argument = this;
        problem_.kernels.sweep(task);
        ++stats_.n_sweeps;
        const double factor = problem_.objective.unit * problem_.objective.base_factor;
        SmallCosts& costs_small = small_is_true ? with : without;
        SmallCosts& costs_large = small_is_true ? without : with;
        set_costs(counted.best,
                  factor * static_cast<double>(side_totals_[problem_.mass_channel]),
                  costs_small.costs);
        set_costs(sibling.best,
                  factor * static_cast<double>(side_totals_[n_channels + problem_.mass_channel]),
                  costs_large.costs);
    }

    static bool poll_sometimes(void* search) {
        Search* self = static_cast<Search*>(search);
        if (++self->n_calls_ % 256 != 0) return false;
        return self->control_.poll();
    }

    void remember(Key key, int depth, double bound, int column, const Node<Lane>&, bool exact) {
        Bounds entry;
        entry.bound = bound;
        entry.column = exact ? column : -1;
        entry.depth = static_cast<std::int16_t>(depth);
        entry.exact = exact;
        cache_.store(key, entry, [](const Bounds& a, const Bounds& b) {
            return a.exact || (!b.exact && a.bound >= b.bound) ? a : b;
        });
    }

    static constexpr int TILE = 8 * 2 * 32;  // the largest tile of any instruction set

    const Problem<Lane>& problem_;
    const RowSets& row_sets_;
    CacheTable<Bounds>& cache_;
    CacheTable<SmallOptima>& small_cache_;
    SearchControl& control_;
    SearchStats stats_;
    std::vector<std::unique_ptr<Node<Lane>>> levels_;
    std::vector<std::int32_t> sequences_[24][24];
    Buffer<Lane> tile_, side_marginals_;
    std::vector<Lane> side_totals_;
    Buffer<std::uint16_t> small_words_;
    std::vector<Span> small_spans_;
    std::vector<std::int32_t> small_slots_;
    std::uint64_t n_calls_ = 0;
};

}  // namespace sktree_opt
