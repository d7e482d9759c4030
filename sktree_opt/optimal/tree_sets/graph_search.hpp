// Finds all trees that cost no more than a bound, exact, as a graph (see tree_graph.hpp).
//
// Level by level from the root: a node is expanded when the bounds that all of its parents have for
// it are known, so each is expanded once. A test on a column becomes an option of the node if its
// own cost and the minimum costs of trees for both sides stay within the node's bound. The bound of
// one side is what the node's bound leaves beside the other. This is the search of TreeFARMS (Xin
// et al., NeurIPS 2022, arXiv:2209.08040) with exact least costs in place of lower bounds, so that
// every option of the graph is part of a tree.
//
// The least costs come from a depth-first search over row sets with a cache (DL8, Nijssen &
// Fromont, KDD 2007, doi:10.1145/1281192.1281250) and depth-two nodes (MurTree, JMLR 23(26),
// Algorithm 4). They do not depend on the bound, so a wider bound uses what a narrower one has
// found.
//
// Threads take nodes of a level, or columns of the root; the graph does not depend on them. Other
// machines take columns of the root, too: the graphs of parts of them make up the whole one.
// Memory: the cache and the graph, booked with SearchControl.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sktree_opt/optimal/tree_sets/leaf_costs.hpp"
#include "sktree_opt/optimal/tree_sets/set_rows.hpp"
#include "sktree_opt/optimal/tree_sets/tree_graph.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt {

struct GraphCounters {
    std::atomic<std::int64_t> n_nodes{0}, n_depth_two{0}, n_cache_hits{0}, n_cached{0};
};

constexpr std::int64_t BYTES_OF_COST = 72;  // in the cache

// The minimum cost of trees, and of what rows, levels and splits: another search may need it.
struct CostOfRows {
    RowKey key;
    double cost = 0.0;
};

class GraphSearch {
public:
    // `seconds`: none, or the rules of a second cost.
    GraphSearch(const RowTable& table, const LeafRules& rules,
                const std::vector<LeafRules>& seconds, const LeafAnswers& answers,
                double split_cost, bool counts_tests, const std::vector<std::int32_t>& feature,
                SearchControl* control, int n_threads)
        : table_(table),
          leaves_(rules),
          seconds_(seconds.begin(), seconds.end()),
          answers_(answers),
          split_cost_(split_cost),
          counts_tests_(counts_tests),
          feature_(feature),
          held_(control->hold()),
          control_(control),
          n_threads_(n_threads),
          root_(all_rows(table)) {
        for (int j = 0; j < table.n_columns; ++j) all_columns_.push_back(j);
    }
    ~GraphSearch() { control_->memory_used.fetch_sub(n_booked_.load()); }
    GraphSearch(const GraphSearch&) = delete;
    GraphSearch& operator=(const GraphSearch&) = delete;

    GraphCounters counters;

    // The least cost of a tree of the whole table; of no use when the search was stopped.
    double least_cost(int depth, std::int64_t splits) {
        depth = static_cast<int>(std::min<std::int64_t>(depth, splits));
        Worker worker(depth);
        if (depth > 2 && splits > 2 && n_threads_ > 1 && !is_final(root_)) {
            solve_children(depth, splits);
        }
        return least_cost(worker, root_, all_columns_, depth, splits);
    }

    // The columns that part the rows in different ways.
    const std::vector<int>& root_columns() {
        if (root_columns_.n_words() == 0) root_columns_.gather(table_, root_, all_columns_);
        return root_columns_.columns();
    }
    // The least cost of a tree with a test on this column at the root if it is at most `limit`,
    // else any larger number; of no use when the search was stopped. `depth` is at least 2.
    double least_cost_of(int column, int depth, std::int64_t splits, double limit) {
        depth = static_cast<int>(std::min<std::int64_t>(depth, splits));
        const std::vector<int>& columns = root_columns();
        Worker worker(depth);
        Level& level = worker.levels[depth];
        part_rows(table_, root_, column, level.with, level.without);
        return split_cost_ +
               least_pair(worker, level, columns, depth - 1, splits - 1, limit - split_cost_).sum;
    }

    // All trees that cost up to `bound`; false when the search was stopped. The graph says what
    // shapes tell. If there are `columns`, one of them is at the root, `depth` is at least 3, and
    // `keys` are those of the rows of each node.
    bool build(int depth, std::int64_t max_splits, double bound, const std::vector<int>& columns,
               TreeGraph& graph, std::vector<RowKey>& keys) {
        at_root_.assign(columns.empty() ? 0 : table_.n_columns, 0);
        for (const int column : columns) at_root_[column] = 1;
        keys_ = columns.empty() ? nullptr : &keys;
        depth = static_cast<int>(std::min<std::int64_t>(depth, max_splits));
        graph.split_cost = static_cast<std::int64_t>(split_cost_);
        graph.max_splits = max_splits;
        graph.counts_tests = counts_tests_;
        std::vector<GraphNode> level(1), next;
        level[0].bound = bound;
        std::vector<GraphNode> parents;
        graph_bytes_ = 0;
        bool is_whole = true;
        if (depth == 0) {
            // A leaf there always is, also after a stop.
            Worker worker(0);
            expand(worker, parents, level[0], 0, 0);
            link(level, 0, graph, next);
            return true;
        }
        for (int d = depth; is_whole && !level.empty(); --d) {
            is_whole = expand_level(parents, level, d, max_splits - (depth - d), graph, next);
            parents = std::move(level);
            level = std::move(next);
            next.clear();
        }
        // The graph is the caller's.
        book(-graph_bytes_);
        return is_whole;
    }

    // From here on, remembers the costs of rows with at least so many levels.
    void remember_costs(int least_depth) { remembered_depth_ = least_depth; }
    // Those that have become known; may be called while another thread searches.
    std::vector<CostOfRows> remembered() {
        const std::lock_guard<std::mutex> lock(remembered_mutex_);
        return remembered_;
    }
    // Takes what another search has remembered.
    void take(const std::vector<CostOfRows>& costs) {
        for (const CostOfRows& one : costs) store(one.key, one.cost, true);
    }

private:
    // A test on a column, and the bounds that it leaves to its sides; or the costs of two leaves.
    struct Option {
        int place;  // among the node's columns
        RowKey key[2];
        double bound[2];
        double answer[2];
        double cost = -1.0, second = 0.0;  // of a last test
    };
    // A node's options, and for each place the tests that part the rows alike. A test whose
    // outcomes are the other way round is kept as ~test.
    struct Contents {
        std::vector<std::int32_t> alike_begin{0}, alike;
        std::vector<Option> options;
        double leaf_cost = 0.0, leaf_second = 0.0, leaf_answer = 0.0;
        bool may_be_leaf = true;
    };
    struct GraphNode : Contents {
        std::int32_t parent = -1, column = -1;
        bool with = false, is_expanded = false;
        RowKey key;
        double bound = 0.0;
        RowSet rows;
        std::vector<int> columns;  // one for each partition
        // The children of a node of depth two, by option and side, within its bounds on them.
        std::vector<Contents> below;
    };
    struct Level {
        NodeColumns columns;
        DepthTwo depth_two;
        RowSet with, without;
        std::vector<std::int64_t> pairs, others;
        std::vector<double> costs, seconds, work;
    };
    using Worker = SetWorker<Level>;

    bool poll(Worker& worker, std::int64_t amount) { return worker.poll(*control_, amount); }
    bool book(std::int64_t bytes) {
        n_booked_ += bytes;
        return control_->reserve(bytes);
    }

    // No split of these rows is of any use: they are pure, or too few.
    bool is_final(const RowSet& node) const {
        const std::int64_t n_rows = static_cast<std::int64_t>(node.rows.size());
        if (n_rows < std::max<std::int64_t>(2, 2 * leaves_.rules().min_rows)) return true;
        return table_.values == nullptr && !counts_tests_ && node.is_pure();
    }

    // See the public one.
    double least_cost(Worker& worker, const RowSet& node, const std::vector<int>& candidates,
                      int depth, std::int64_t splits) {
        splits = std::min(splits, most_splits(depth));
        depth = static_cast<int>(std::min<std::int64_t>(depth, splits));
        Level& level = worker.levels[depth];
        double least = leaves_.evaluate_one(totals_of(table_, node), level.work);
        // A split alone may cost as much as the leaf.
        if (depth == 0 || least <= split_cost_ || is_final(node)) return least;
        const RowKey key = key_of(node, depth, splits);
        double known = 0.0;
        if (known_costs_.find(key, known)) {
            ++counters.n_cache_hits;
            return known;
        }
        ++counters.n_nodes;
        if (poll(worker, static_cast<std::int64_t>(node.rows.size() * candidates.size()) / 8)) {
            return 0.0;
        }
        level.columns.gather(table_, node, candidates);
        if (depth == 1) {
            stump_costs(leaves_, level, level.columns.counts(), level.columns.totals());
        } else if (depth == 2 && !solve_depth_two(worker)) {
            return 0.0;
        }
        for (int j = 0; j < level.columns.n_columns(); ++j) {
            double sum;
            if (depth == 1) {
                sum = level.costs[j] + level.costs[level.columns.stride() + j];
            } else if (depth == 2) {
                sum = pair_of_depth_two(level.depth_two, j, splits).sum;
            } else {
                part_rows(table_, node, level.columns.column(j), level.with, level.without);
                sum = least_pair(worker, level, level.columns.columns(), depth - 1, splits - 1,
                                 least - split_cost_)
                          .sum;
            }
            least = std::min(least, sum + split_cost_);
        }
        if (control_->stopped()) return 0.0;
        return store(key, least, depth >= remembered_depth_) ? least : 0.0;
    }

    // False when memory runs out.
    bool store(const RowKey& key, double found, bool remembers) {
        const bool is_new = known_costs_.change(key, [&](double& cost, bool) { cost = found; });
        if (remembers && is_new) {
            const std::lock_guard<std::mutex> lock(remembered_mutex_);
            remembered_.push_back({key, found});
        }
        counters.n_cached += is_new;
        return !is_new || book(BYTES_OF_COST);
    }

    // Two trees for the rows with and without a column, which share some splits. The sum is their
    // least cost if that is at most `budget`, else a lower bound above it. Either cost is that of a
    // tree with as many splits as it can use.
    struct Pair {
        double sum, with, without;
    };

    Pair least_pair(Worker& worker, const Level& sides, const std::vector<int>& candidates,
                    int depth, std::int64_t splits, double budget) {
        const auto cost = [&](const RowSet& side, std::int64_t n) {
            return least_cost(worker, side, candidates, depth, n);
        };
        const std::int64_t most = std::min(splits, most_splits(depth));
        Pair pair{FORBIDDEN, cost(sides.with, most), 0.0};
        pair.sum = pair.with;
        if (pair.sum > budget || control_->stopped()) return pair;
        pair.without = cost(sides.without, most);
        pair.sum += pair.without;
        if (pair.sum > budget || splits >= 2 * most) return pair;
        pair.sum = 3.0 * FORBIDDEN;
        for (std::int64_t n = splits - most; n <= most && !control_->stopped(); ++n) {
            pair.sum = std::min(pair.sum, cost(sides.with, n) + cost(sides.without, splits - n));
        }
        return pair;
    }

    Pair pair_of_depth_two(const DepthTwo& found, int j, std::int64_t splits) const {
        Pair pair{found.with[j] + found.without[j], found.with[j], found.without[j]};
        if (splits < 3) {
            pair.sum = std::min(found.with[j] + found.leaf_without[j],
                                found.leaf_with[j] + found.without[j]);
        }
        return pair;
    }

    // Costs of the leaves of the rows with each column, then of those without it.
    void stump_costs(const LeafCosts& leaves, Level& level, const std::int64_t* counts,
                     const std::vector<std::int64_t>& totals) {
        const NodeColumns& columns = level.columns;
        const int stride = columns.stride();
        level.others.resize(static_cast<std::size_t>(columns.n_channels()) * stride);
        for (int c = 0; c < columns.n_channels(); ++c) {
            for (int j = 0; j < stride; ++j) {
                level.others[c * stride + j] = totals[c] - counts[c * stride + j];
            }
        }
        level.costs.resize(2 * static_cast<std::size_t>(stride));
        leaves.evaluate(counts, stride, stride, level.work, level.costs.data());
        leaves.evaluate(level.others.data(), stride, stride, level.work,
                        level.costs.data() + stride);
    }

    bool solve_depth_two(Worker& worker) {
        Level& level = worker.levels[2];
        ++counters.n_depth_two;
        return level.depth_two.solve(table_, level.columns, leaves_, split_cost_,
                                     [&](std::int64_t amount) { return poll(worker, amount); });
    }

    // Puts the minimum costs of the root's children into the cache; threads take columns.
    void solve_children(int depth, std::int64_t splits) {
        NodeColumns columns;
        columns.gather(table_, root_, all_columns_);
        std::atomic<double> best{3.0 * FORBIDDEN};
        for_columns(depth, columns.n_columns(), [&](Worker& worker, int j) {
            Level& level = worker.levels[depth];
            part_rows(table_, root_, columns.column(j), level.with, level.without);
            const double sum = least_pair(worker, level, columns.columns(), depth - 1, splits - 1,
                                          best.load() - split_cost_)
                                   .sum +
                               split_cost_;
            if (!control_->stopped()) lower_to(best, sum);
        });
    }

    // Calls work(worker, j) for each column, on all threads.
    template <class Work>
    void for_columns(int depth, int n_columns, Work work) {
        std::vector<std::unique_ptr<Worker>> workers(n_threads_);
        run_tasks(*control_, n_threads_, n_columns, [&](std::int64_t j, int thread) {
            if (control_->stopped()) return;
            if (!workers[thread]) workers[thread] = std::make_unique<Worker>(depth);
            work(*workers[thread], static_cast<int>(j));
        });
    }

    bool expand_level(const std::vector<GraphNode>& parents, std::vector<GraphNode>& nodes,
                      int depth, std::int64_t splits, TreeGraph& graph,
                      std::vector<GraphNode>& next) {
        const std::int64_t n_nodes = static_cast<std::int64_t>(nodes.size());
        std::vector<std::unique_ptr<Worker>> workers(n_threads_);
        run_tasks(*control_, n_threads_, n_nodes, [&](std::int64_t k, int thread) {
            if (control_->stopped()) return;
            if (!workers[thread]) workers[thread] = std::make_unique<Worker>(depth);
            expand(*workers[thread], parents, nodes[k], depth, splits);
        });
        if (control_->stopped()) return false;
        link(nodes, static_cast<std::int32_t>(graph.max_splits - splits), graph, next);
        return !control_->poll();
    }

    void expand(Worker& worker, const std::vector<GraphNode>& parents, GraphNode& node, int depth,
                std::int64_t splits) {
        if (node.is_expanded) return;
        Level& level = worker.levels[depth];
        if (node.parent < 0) {
            node.rows = root_;
        } else {
            RowSet other;
            part_rows(table_, parents[node.parent].rows, node.column, node.with ? node.rows : other,
                      node.with ? other : node.rows);
        }
        const std::vector<std::int64_t> totals = totals_of(table_, node.rows);
        set_leaf(totals, level, node);
        if (depth == 0 || is_final(node.rows)) return;
        gather(parents, node, level.columns);
        if (poll(worker, static_cast<std::int64_t>(node.rows.rows.size() * node.columns.size()))) {
            return;
        }
        if (depth == 1) {
            Contents made;
            add_stumps(level, node, level.columns.counts(), totals, RowSide(), node.bound, made);
            static_cast<Contents&>(node) = std::move(made);
        } else if (depth == 2) {
            if (!solve_depth_two(worker)) return;
            for (int j = 0; j < level.columns.n_columns(); ++j) {
                add_option(level, node, j, pair_of_depth_two(level.depth_two, j, splits));
            }
            for (const Option& option : node.options) add_last_nodes(level, node, option);
        } else {
            add_columns(worker, node, depth, splits);
        }
    }

    void set_leaf(const std::vector<std::int64_t>& totals, Level& level, Contents& made) const {
        made.leaf_cost = leaves_.cost_of(totals, level.work);
        made.may_be_leaf = leaves_.may_be_leaf(totals);
        made.leaf_answer = answers_.of(totals, leaves_.rules().unit_weight);
        for (const LeafCosts& other : seconds_) {
            made.leaf_second = other.cost_of(totals, level.work);
        }
    }

    // The node's columns, and which tests are alike.
    void gather(const std::vector<GraphNode>& parents, GraphNode& node, NodeColumns& columns) {
        const bool is_root = node.parent < 0;
        const std::vector<int>& candidates = is_root ? all_columns_ : parents[node.parent].columns;
        columns.gather(table_, node.rows, candidates);
        node.columns = columns.columns();
        const auto for_tests = [&](auto with_test) {
            for (std::size_t k = 0; k < candidates.size(); ++k) {
                const int place = columns.place_of(static_cast<int>(k));
                if (place < 0) continue;
                const bool flips = columns.is_complement(static_cast<int>(k));
                if (is_root) {
                    with_test(place, flips ? ~candidates[k] : candidates[k]);
                    continue;
                }
                const GraphNode& parent = parents[node.parent];
                for (int t = parent.alike_begin[k]; t < parent.alike_begin[k + 1]; ++t) {
                    with_test(place, flips ? ~parent.alike[t] : parent.alike[t]);
                }
            }
        };
        std::vector<std::int32_t> end(node.columns.size() + 1, 0);
        for_tests([&](int place, std::int32_t) { ++end[place + 1]; });
        for (std::size_t j = 1; j < end.size(); ++j) end[j] += end[j - 1];
        std::vector<std::int32_t> all(end.back());
        std::vector<std::int32_t> at(end.begin(), end.end() - 1);
        for_tests([&](int place, std::int32_t test) { all[at[place]++] = test; });
        for (std::size_t j = 0; j < node.columns.size(); ++j) {
            add_alike(all.begin() + end[j], all.begin() + end[j + 1], node);
        }
    }

    // The tests of one partition. If tests of one feature make it, the first
    // is enough, unless tests count.
    template <class Iterator>
    void add_alike(Iterator first, Iterator last, Contents& contents) const {
        std::sort(first, last,
                  [](std::int32_t a, std::int32_t b) { return test_of(a) < test_of(b); });
        for (Iterator at = first; at != last; ++at) {
            const bool is_new = counts_tests_ || at == first ||
                                feature_[test_of(*at)] != feature_[test_of(*(at - 1))];
            if (is_new) contents.alike.push_back(*at);
        }
        contents.alike_begin.push_back(static_cast<std::int32_t>(contents.alike.size()));
    }

    static std::int32_t test_of(std::int32_t signed_test) {
        return signed_test < 0 ? ~signed_test : signed_test;
    }

    // Both children of an option of a node of depth two, from counts of pairs of columns: there
    // are many of them.
    void add_last_nodes(Level& level, GraphNode& node, const Option& option) {
        const NodeColumns& columns = level.columns;
        const int stride = columns.stride(), n_channels = columns.n_channels(), i = option.place;
        level.pairs.resize(static_cast<std::size_t>(n_channels) * stride);
        columns.count_pairs(table_, i, level.pairs.data());
        for (const bool with : {true, false}) {
            std::vector<std::int64_t> totals(n_channels);
            for (int c = 0; c < n_channels; ++c) {
                const std::int64_t mine = columns.counts()[c * stride + i];
                totals[c] = with ? mine : columns.totals()[c] - mine;
            }
            if (!with) {
                for (std::size_t k = 0; k < level.pairs.size(); ++k) {
                    level.pairs[k] = columns.counts()[k] - level.pairs[k];
                }
            }
            node.below.emplace_back();
            add_stumps(level, node, level.pairs.data(), totals, {i, with},
                       option.bound[with ? 0 : 1], node.below.back());
        }
    }

    // The last tests of the rows of one side of `node`, given counts of the columns there.
    void add_stumps(Level& level, const GraphNode& node, const std::int64_t* counts,
                    const std::vector<std::int64_t>& totals, RowSide side, double bound,
                    Contents& made) {
        const NodeColumns& columns = level.columns;
        const int stride = columns.stride(), n_channels = columns.n_channels();
        set_leaf(totals, level, made);
        for (const LeafCosts& other : seconds_) {
            stump_costs(other, level, counts, totals);
            level.seconds = level.costs;
        }
        stump_costs(leaves_, level, counts, totals);
        std::vector<int> places;
        std::vector<std::vector<std::int32_t>> tests;
        for (int j = 0; j < columns.n_columns(); ++j) {
            const double sum = level.costs[j] + level.costs[stride + j];
            const double second =
                seconds_.empty() ? 0.0 : level.seconds[j] + level.seconds[stride + j];
            const bool is_idle = !counts_tests_ && made.may_be_leaf && made.leaf_cost - sum < 2.0 &&
                                 (seconds_.empty() || made.leaf_second - second < 2.0);
            if (sum + split_cost_ > bound || is_idle || is_constant(counts + j, stride, totals)) {
                continue;
            }
            const auto first = node.alike.begin() + node.alike_begin[j];
            const auto last = node.alike.begin() + node.alike_begin[j + 1];
            bool is_new = true;
            for (std::size_t o = 0; o < places.size() && is_new && side.column >= 0; ++o) {
                if (made.options[o].cost != sum) continue;
                const int equal = columns.parts_alike(places[o], j, side.column, side.with);
                if (equal == 0) continue;
                is_new = false;
                for (auto at = first; at != last; ++at) tests[o].push_back(equal > 0 ? *at : ~*at);
            }
            if (!is_new) continue;
            places.push_back(j);
            tests.emplace_back(first, last);
            Option option;
            option.place = static_cast<int>(made.options.size());
            option.cost = sum;
            option.second = second;
            std::vector<std::int64_t> mine(n_channels), others(n_channels);
            for (int c = 0; c < n_channels; ++c) {
                mine[c] = counts[c * stride + j];
                others[c] = totals[c] - mine[c];
            }
            option.answer[0] = answers_.of(mine, leaves_.rules().unit_weight);
            option.answer[1] = answers_.of(others, leaves_.rules().unit_weight);
            made.options.push_back(option);
        }
        for (auto& same : tests) add_alike(same.begin(), same.end(), made);
    }

    bool is_constant(const std::int64_t* counts, int stride,
                     const std::vector<std::int64_t>& totals) const {
        const int first = table_.counts_rows() ? table_.n_sums() : 0;
        bool has_some = false, has_others = false;
        for (int c = first; c < static_cast<int>(totals.size()); ++c) {
            has_some = has_some || counts[c * stride] > 0;
            has_others = has_others || counts[c * stride] < totals[c];
        }
        return !has_some || !has_others;
    }

    // A test over two nodes, if the least cost of a pair of their trees is within the bound.
    void add_option(Level& level, GraphNode& node, int place, const Pair& least) {
        const double bound = node.bound - split_cost_;
        if (least.sum > bound) return;
        part_rows(table_, node.rows, level.columns.column(place), level.with, level.without);
        Option option;
        option.place = place;
        option.key[0] = level.with.key;
        option.key[1] = level.without.key;
        option.bound[0] = bound - least.without;
        option.bound[1] = bound - least.with;
        node.options.push_back(option);
    }

    void add_columns(Worker& worker, GraphNode& node, int depth, std::int64_t splits) {
        Level& level = worker.levels[depth];
        const NodeColumns& columns = level.columns;
        std::vector<Pair> least(columns.n_columns());
        const auto solve = [&](Worker& own, int j) {
            if (is_left_out(node, columns.column(j))) return;
            Level& sides = own.levels[depth];
            part_rows(table_, node.rows, columns.column(j), sides.with, sides.without);
            least[j] = least_pair(own, sides, columns.columns(), depth - 1, splits - 1,
                                  node.bound - split_cost_);
        };
        if (node.parent < 0 && n_threads_ > 1) {
            for_columns(depth, columns.n_columns(), solve);
        } else {
            for (int j = 0; j < columns.n_columns() && !control_->stopped(); ++j) solve(worker, j);
        }
        for (int j = 0; j < columns.n_columns() && !control_->stopped(); ++j) {
            if (!is_left_out(node, columns.column(j))) add_option(level, node, j, least[j]);
        }
    }
    bool is_left_out(const GraphNode& node, int column) const {
        return node.parent < 0 && !at_root_.empty() && at_root_[column] == 0;
    }

    // Writes nodes to the graph, and collects their children.
    void link(std::vector<GraphNode>& nodes, std::int32_t n_above, TreeGraph& graph,
              std::vector<GraphNode>& next) {
        Places places;
        const std::int64_t first_child = graph.n_nodes() + static_cast<std::int64_t>(nodes.size());
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            GraphNode& node = nodes[k];
            graph.leaf_cost.push_back(static_cast<std::int64_t>(node.leaf_cost));
            graph.leaf_answer.push_back(node.leaf_answer);
            if (!seconds_.empty()) {
                graph.leaf_second.push_back(static_cast<std::int64_t>(node.leaf_second));
            }
            graph.may_be_leaf.push_back(node.may_be_leaf ? 1 : 0);
            graph.bound.push_back(static_cast<std::int64_t>(std::min(node.bound, 2.0 * FORBIDDEN)));
            graph.level.push_back(n_above);
            if (keys_ != nullptr) keys_->push_back(node.key);
            std::int64_t bytes = 96;
            for (std::size_t o = 0; o < node.options.size(); ++o) {
                const Option& option = node.options[o];
                const bool is_last = option.cost >= 0.0;
                for (int side = 0; side < 2; ++side) {
                    graph.answer.push_back(is_last ? option.answer[side] : 0.0);
                    const std::int64_t child =
                        is_last ? -1 : first_child + place_child(nodes, k, o, side, places, next);
                    graph.child.push_back(static_cast<std::int32_t>(child));
                }
                graph.cost.push_back(is_last ? static_cast<std::int64_t>(option.cost) : 0);
                if (!seconds_.empty()) {
                    graph.second.push_back(static_cast<std::int64_t>(option.second));
                }
                const int first = node.alike_begin[option.place];
                const int last = node.alike_begin[option.place + 1];
                graph.tests.insert(graph.tests.end(), node.alike.begin() + first,
                                   node.alike.begin() + last);
                graph.test_begin.push_back(static_cast<std::int64_t>(graph.tests.size()));
                bytes += 40 + 4 * (last - first);
            }
            graph.option_begin.push_back(graph.n_options());
            node.options = {};
            node.below = {};
            graph_bytes_ += bytes;
            book(bytes);
        }
    }

    using Places = std::unordered_map<RowKey, std::int32_t, RowKeyHash>;

    // The place in `next` of a child of nodes[k]: options that lead to the same rows share it.
    static std::int32_t place_child(std::vector<GraphNode>& nodes, std::size_t k, std::size_t o,
                                    int side, Places& places, std::vector<GraphNode>& next) {
        GraphNode& node = nodes[k];
        const Option& option = node.options[o];
        const auto [at, is_new] =
            places.try_emplace(option.key[side], static_cast<std::int32_t>(next.size()));
        if (is_new) {
            next.emplace_back();
            next.back().parent = static_cast<std::int32_t>(k);
            next.back().column = node.columns[option.place];
            next.back().with = side == 0;
            next.back().key = option.key[side];
        }
        GraphNode& child = next[at->second];
        if (!node.below.empty() && (is_new || child.bound < option.bound[side])) {
            static_cast<Contents&>(child) = std::move(node.below[2 * o + side]);
            child.is_expanded = true;
        }
        child.bound = std::max(child.bound, option.bound[side]);
        return at->second;
    }

    const RowTable table_;
    const LeafCosts leaves_;
    const std::vector<LeafCosts> seconds_;
    const LeafAnswers answers_;
    const double split_cost_;
    const bool counts_tests_;
    const std::vector<std::int32_t> feature_;  // of each test
    const std::shared_ptr<SearchControl> held_;
    SearchControl* control_;
    const int n_threads_;
    std::atomic<std::int64_t> n_booked_{0};
    std::int64_t graph_bytes_ = 0;
    RowSet root_;
    std::vector<int> all_columns_;
    NodeColumns root_columns_;
    std::vector<char> at_root_;  // whether a column may be at the root; empty: all may
    std::vector<RowKey>* keys_ = nullptr;
    RowCache<double> known_costs_;
    int remembered_depth_ = std::numeric_limits<int>::max();
    std::vector<CostOfRows> remembered_;
    std::mutex remembered_mutex_;
};

}  // namespace sktree_opt
