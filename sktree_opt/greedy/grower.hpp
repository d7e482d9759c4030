// The parts of a growing tree besides its nodes: limits, nodes still open, and scratch memory.
//
// DT(S): top-down greedy induction of a decision tree on the features S: heuristic (each split is
// the best one by itself).
//
// Paper: S. Ruggieri, Complete search for feature selection in decision trees, JMLR 20 (2019),
// section 4.1; J. R. Quinlan, C4.5 (1993), chapters 2 and 3, doi:10.1016/C2009-0-27846-9.
//
// F, S            -> features            columns that may be tested
// C               -> CaseSet, or a node's range of a Block
// f(a, C)         -> SplitCandidate::quality, by Evaluator
// stop(S, C)      -> is_leaf             weight < min_split_weight (the paper's |C| < m), pure,
//                                        depth
//
// Both assumptions of the paper hold. The split of a node is the argmax of a quality that depends
// on the cases and the feature alone; ties go to the lowest feature index, then to the lowest
// threshold. A node stops without looking at features, or when no feature of S gains anything,
// which is monotonic in S. Hence Lemma 6: DT(S') = DT(S) for features(DT(S)) <= S' <= S.
//
// Deviations from C4.5: no subtree is collapsed while growing (that would break Lemma 6); the
// average gain rule of gain ratio is a constant, min_gain, for the same reason; thresholds are
// midpoints. With max_features each node chooses among columns drawn for it, as trees of random
// forests do (no DT(S) then). With max_leaf_nodes nodes are split in order of weight * quality
// instead of depth first.
//
// Threads: over the columns of a large node, then over the subtrees of small nodes. Each column
// writes its own candidate and a serial pass takes the best, so that the tree never depends on
// threads.
//
// Cost: sorting each column, O(p n log n) at most, then O(p) per case and level. Memory: 4 p bytes
// per case of the blocks alive (65535 cases each), 16 bytes per case and thread above that size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"
#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/greedy/measures.hpp"
#include "sktree_opt/greedy/split.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/hash.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::greedy {

struct GrowthLimits {
    double min_split_weight = 2.0;
    std::uint32_t min_split_rows = 2;
    double acceptable_error = 0.0;  // a node of no larger error of its own is a leaf
    std::int32_t max_depth = 0x7fffffff;
    std::int32_t max_leaf_nodes = 0;  // 0: no limit, depth first
    std::uint32_t max_features = 0;   // columns that are rated at a node; 0: all
    std::uint64_t seed = 0;           // of their choice
    int n_threads = 1;
    std::uint32_t max_block_cases = MAX_SHORT_CASES;  // tests lower it
    std::int64_t min_parallel_work = 100000;          // cases x columns
};

// Whether a node may answer by itself: its share of misclassified weight, or its mean squared
// error.
inline bool has_acceptable_error(const NodeTotals& totals, const GrowthLimits& limits) {
    if (!(limits.acceptable_error > 0.0)) return false;
    double error = totals.impurity;  // regression: one output, the mean
    if (totals.outputs.size() > 1) {
        const double most = *std::max_element(totals.outputs.begin(), totals.outputs.end());
        error = (totals.weight - most) / totals.weight;
    }
    return error <= limits.acceptable_error * (1.0 + 1e-9);
}

// A node whose split is still to be looked for: a case set, or a range of a block.
struct PendingNode {
    std::int32_t node = 0;
    std::int32_t depth = 0;
    std::uint64_t key = 0;  // of the choice of its columns, from the seed and the path
    NodeTotals totals;
    std::shared_ptr<const std::vector<std::int32_t>> active;  // features, or slots of the block
    std::shared_ptr<Block> block;
    std::uint32_t start = 0;
    CaseSet set;  // when there is no block

    std::uint32_t n_cases() const { return static_cast<std::uint32_t>(totals.n_samples); }
    std::int64_t work() const {
        return totals.n_samples * static_cast<std::int64_t>(active->size());
    }
};

// What one thread works with.
struct GrowthWorkspace {
    OrderingWorkspace ordering;
    SideMemory sides;
    std::vector<std::uint64_t> long_entries;
    std::vector<std::uint32_t> spare, next;
    std::vector<SplitCandidate> candidates;  // by position in PendingNode::active
    std::vector<char> varies;                // likewise: more than one known value
    std::vector<std::uint16_t> block_branches;
    std::vector<std::uint32_t> branches;
    std::vector<NodeTotals> totals;  // by branch
    std::vector<double> shares;
    std::vector<char> is_grown;
    BranchRanges ranges;
    GatheredTargets targets;
    Split split;
};

class Grower {
public:
    Grower(std::vector<Column> columns, const Target& target, Measure measure,
           const MeasureContext& context, const SplitRules& rules, const GrowthLimits& limits,
           SearchControl& control)
        : columns_(std::move(columns)),
          target_(target),
          limits_(limits),
          control_(control),
          above_average_(rules.above_average),
          missing_to_heaviest_(rules.missing_to_heaviest) {
        for (WeightKind kind : {WeightKind::UNIT, WeightKind::INTEGER, WeightKind::FRACTIONAL}) {
            evaluators_.push_back(make_evaluator(measure, kind, context, rules));
        }
        workspaces_.resize(static_cast<std::size_t>(std::max(1, limits.n_threads)));
    }

    // The tree, or what there is of it when `control` has stopped.
    GrownTree grow(CaseSet cases, std::vector<std::int32_t> features) {
        Growth growth{{}, {}, workspaces_[0], limits_.n_threads, 0};
        growth.tree.n_outputs = target_.n_outputs();
        growth.tree.add_node();
        PendingNode root = make_root(std::move(cases), std::move(features), growth);
        if (!is_leaf(root.totals, 0)) {
            const bool small = root.work() < limits_.min_parallel_work;
            if (small) growth.n_threads = 1;
            growth.stack.push_back(std::move(root));
            if (limits_.max_leaf_nodes > 0) {
                grow_best_first(growth);
            } else if (growth.n_threads == 1) {
                grow_depth_first(growth);
            } else {
                grow_in_parallel(growth);
            }
        }
        return growth.tree.in_order();
    }

private:
    struct Growth {
        GrownTree tree;
        std::vector<PendingNode> stack;
        GrowthWorkspace& ws;
        int n_threads;
        std::int64_t work_since_poll;
    };

    const Evaluator& evaluator(WeightKind kind) const {
        return *evaluators_[static_cast<std::size_t>(kind)];
    }

    bool is_leaf(const NodeTotals& totals, std::int32_t depth) const {
        return totals.is_pure || totals.n_samples < std::max(2u, limits_.min_split_rows) ||
               depth >= limits_.max_depth || totals.weight < limits_.min_split_weight ||
               !(totals.impurity > 0.0) || has_acceptable_error(totals, limits_);
    }

    PendingNode make_root(CaseSet&& cases, std::vector<std::int32_t>&& features, Growth& growth) {
        PendingNode root;
        root.key = split_mix(limits_.seed);
        root.active = std::make_shared<std::vector<std::int32_t>>(std::move(features));
        GrowthWorkspace& ws = growth.ws;
        ws.targets.gather(target_, cases.rows);
        ws.branches.assign(cases.size(), 0);
        const Cases view = ws.targets.cases(cases);
        BranchSums<std::uint32_t>(target_, view, ws.branches.data())
            .run(AllPositions{cases.size()}, 1, false, ws.totals, ws.shares);
        root.totals = ws.totals[0];
        if (!root.totals.is_pure) {
            root.totals.impurity = evaluator(cases.kind).impurity(root.totals, ws.sides);
        }
        growth.tree.set_totals(0, root.totals);
        root.set = std::move(cases);
        return root;
    }

    // Runs body(i, workspace) for i < n, on all threads when the growth has them and it pays.
    template <class F>
    void for_each_column(Growth& growth, std::int64_t n, std::int64_t work, F&& body) {
        if (growth.n_threads == 1 || work < limits_.min_parallel_work) {
            for (std::int64_t i = 0; i < n; ++i) body(i, growth.ws);
            return;
        }
        run_tasks(control_, growth.n_threads, n, [&](std::int64_t i, int thread) {
            if (!control_.stopped()) body(i, workspaces_[thread]);
        });
    }

    // Kernels look at the clock about every millisecond of work.
    bool should_stop(Growth& growth, std::int64_t work) {
        growth.work_since_poll += work + 64;
        if (growth.work_since_poll < 200000) return control_.stopped();
        growth.work_since_poll = 0;
        return control_.poll();
    }

    void make_block(PendingNode& pending, Growth& growth) {
        pending.block = std::make_shared<Block>(std::move(pending.set), target_, *pending.active);
        pending.start = 0;
        Block& block = *pending.block;
        const auto n_slots = static_cast<std::int64_t>(block.columns.size());
        for_each_column(growth, n_slots, pending.work(), [&](std::int64_t i, GrowthWorkspace& ws) {
            const auto slot = static_cast<std::int32_t>(i);
            order_cases(columns_[block.columns[slot]], block.set.rows.data(), block.set.size(),
                        block.segment(slot, 0), ws.ordering);
        });
        auto slots = std::make_shared<std::vector<std::int32_t>>(block.columns.size());
        for (std::size_t slot = 0; slot < slots->size(); ++slot) {
            (*slots)[slot] = static_cast<std::int32_t>(slot);
        }
        pending.active = std::move(slots);
    }

    // The candidate of one column; false when the column has no two known values.
    template <class Entry>
    bool rate_column(const Entry* entries, std::uint32_t n, std::int32_t feature,
                     const Evaluator& by, const Cases& cases, const NodeTotals& totals,
                     SideMemory& sides, SplitCandidate& candidate) const {
        const Column& column = columns_[feature];
        candidate.reset(feature);
        const std::uint32_t n_known = column.has_missing ? count_known(entries, n) : n;
        if (n_known < 2 || rank_of(entries[0]) == rank_of(entries[n_known - 1])) return false;
        by.evaluate(OrderedCases<Entry>{entries, n, n_known, column.is_nominal != 0}, cases, totals,
                    sides, candidate);
        // Absent categories get a branch of their own.
        candidate.n_branches +=
            candidate.kind == SplitKind::MULTIWAY && candidate.n_branches < column.n_values;
        return true;
    }

    // The best split of a node of at most `max_branches`; columns that may still split its children
    // are left in `active`.
    bool find_split(Growth& growth, PendingNode& pending, std::uint32_t max_branches,
                    SplitCandidate& best) {
        if (!pending.block && pending.n_cases() <= limits_.max_block_cases) {
            make_block(pending, growth);
        }
        const std::vector<std::int32_t>& active = *pending.active;
        GrowthWorkspace& own = growth.ws;
        if (own.candidates.size() < active.size()) own.candidates.resize(active.size());
        own.varies.resize(active.size());
        const std::uint32_t n = pending.n_cases();
        const CaseSet& set = pending.block ? pending.block->set : pending.set;
        const Evaluator& by = evaluator(set.kind);
        if (!pending.block) own.targets.gather(target_, set.rows);
        const Cases cases = pending.block ? pending.block->cases() : own.targets.cases(set);
        const auto n_active = static_cast<std::int64_t>(active.size());
        const auto rate = [&](std::int64_t i, GrowthWorkspace& ws) {
            const std::int32_t name = active[i];
            if (pending.block) {
                own.varies[i] = rate_column(pending.block->segment(name, pending.start), n,
                                            pending.block->columns[name], by, cases, pending.totals,
                                            ws.sides, own.candidates[i]);
                return;
            }
            if (control_.poll()) return;
            if (ws.long_entries.size() < n) ws.long_entries.resize(n);
            order_cases(columns_[name], set.rows.data(), n, ws.long_entries.data(), ws.ordering);
            own.varies[i] = rate_column(ws.long_entries.data(), n, name, by, cases, pending.totals,
                                        ws.sides, own.candidates[i]);
        };
        if (limits_.max_features > 0) {
            rate_some_columns(pending, own, rate);
        } else {
            for_each_column(growth, n_active, pending.work(), rate);
        }
        if (control_.stopped()) return false;
        return take_best(own, pending, max_branches, best);
    }

    // Rates columns in the random order of the node, until `max_features` of them have two values
    // or more and one has a split. The others stay, for the children.
    template <class F>
    void rate_some_columns(const PendingNode& pending, GrowthWorkspace& ws, F&& rate) const {
        const std::vector<std::int32_t>& active = *pending.active;
        std::vector<std::pair<std::uint64_t, std::size_t>> order(active.size());
        for (std::size_t i = 0; i < active.size(); ++i) {
            const std::int32_t column =
                pending.block ? pending.block->columns[active[i]] : active[i];
            order[i] = {split_mix(pending.key ^ split_mix(static_cast<std::uint64_t>(column))), i};
            ws.candidates[i].reset(column);
            ws.varies[i] = 1;
        }
        std::sort(order.begin(), order.end());
        std::uint32_t n_rated = 0;
        bool has_split = false;
        for (const auto& [_, i] : order) {
            if ((n_rated >= limits_.max_features && has_split) || control_.stopped()) return;
            rate(static_cast<std::int64_t>(i), ws);
            if (!ws.varies[i]) continue;
            ++n_rated;
            has_split |= ws.candidates[i].is_valid();
        }
    }

    // The average gain of the valid splits, less what rounding may take.
    static double average_gain(const GrowthWorkspace& ws, std::size_t n_active) {
        double sum = 0.0;
        std::size_t n = 0;
        for (std::size_t i = 0; i < n_active; ++i) {
            if (!ws.candidates[i].is_valid() || !ws.varies[i]) continue;
            sum += ws.candidates[i].gain;
            ++n;
        }
        return n == 0 ? 0.0 : sum / static_cast<double>(n) * (1.0 - 1e-9);
    }

    bool take_best(GrowthWorkspace& ws, PendingNode& pending, std::uint32_t max_branches,
                   SplitCandidate& best) const {
        const std::vector<std::int32_t>& active = *pending.active;
        const double least_gain = above_average_ ? average_gain(ws, active.size()) : 0.0;
        std::size_t best_at = active.size(), n_varying = 0;
        for (std::size_t i = 0; i < active.size(); ++i) {
            n_varying += ws.varies[i] != 0;
            if (!ws.candidates[i].is_valid() || !ws.varies[i]) continue;
            if (ws.candidates[i].n_branches > max_branches) continue;
            if (ws.candidates[i].gain < least_gain) continue;
            if (best_at == active.size() ||
                ws.candidates[i].is_better_than(ws.candidates[best_at])) {
                best_at = i;
            }
        }
        if (best_at == active.size()) return false;
        std::swap(best, ws.candidates[best_at]);
        const CaseSet& set = pending.block ? pending.block->set : pending.set;
        best.resolve(columns_[best.feature], set.rows.data());
        if (n_varying < active.size()) {
            auto varying = std::make_shared<std::vector<std::int32_t>>();
            varying->reserve(n_varying);
            for (std::size_t i = 0; i < active.size(); ++i) {
                if (ws.varies[i]) varying->push_back(active[i]);
            }
            pending.active = std::move(varying);
        }
        return true;
    }

    // Splits a node and stacks the children to be split further.
    void apply_split(Growth& growth, PendingNode& pending, const SplitCandidate& best) {
        GrowthWorkspace& ws = growth.ws;
        if (!pending.block) {
            ws.targets.gather(target_, pending.set.rows);
            ws.branches.resize(pending.set.size());
            split_cases(growth, pending, best, pending.set, ws.targets.cases(pending.set),
                        AllPositions{pending.set.size()}, ws.branches.data());
            return;
        }
        const Block& block = *pending.block;
        const auto found =
            std::lower_bound(block.columns.begin(), block.columns.end(), best.feature);
        const auto slot = static_cast<std::int32_t>(found - block.columns.begin());
        if (ws.block_branches.size() < block.set.size()) ws.block_branches.resize(block.set.size());
        split_cases(growth, pending, best, block.set, block.cases(),
                    SegmentPositions{block.segment(slot, pending.start), pending.n_cases()},
                    ws.block_branches.data());
    }

    template <class Branch, class Positions>
    void split_cases(Growth& growth, PendingNode& pending, const SplitCandidate& best,
                     const CaseSet& set, const Cases& cases, const Positions& positions,
                     Branch* branch_of) {
        GrowthWorkspace& ws = growth.ws;
        Split& split = ws.split;
        const Column& column = columns_[best.feature];
        split.build(best, column, set.rows.data(), positions);
        if (missing_to_heaviest_) {
            send_missing_to_heaviest(column, set.rows.data(), cases, positions, split);
        }
        const bool some_missing =
            assign_branches(column, split, set.rows.data(), positions, branch_of);
        BranchSums<Branch>(target_, cases, branch_of)
            .run(positions, split.n_branches, some_missing, ws.totals, ws.shares);
        const std::int32_t first = growth.tree.split_node(pending.node, split);
        const Evaluator& by = evaluator(some_missing ? WeightKind::FRACTIONAL : set.kind);
        ws.is_grown.assign(split.n_branches, 0);
        bool some_grown = false;
        for (std::uint32_t b = 0; b < split.n_branches; ++b) {
            NodeTotals& totals = ws.totals[b];
            const auto child = first + static_cast<std::int32_t>(b);
            if (totals.n_samples == 0) {
                growth.tree.set_empty(child, pending.node);
                continue;
            }
            totals.impurity = totals.is_pure ? 0.0 : by.impurity(totals, ws.sides);
            growth.tree.set_totals(child, totals);
            ws.is_grown[b] = !is_leaf(totals, pending.depth + 1);
            some_grown |= ws.is_grown[b] != 0;
        }
        if (!some_grown) return;
        if (!pending.block || some_missing) {
            stack_case_sets(growth, pending, set, cases, positions, branch_of, first);
        } else {
            stack_ranges(growth, pending, first);
        }
    }

    PendingNode make_child(const PendingNode& pending, std::int32_t first, std::uint32_t b,
                           const NodeTotals& totals) const {
        PendingNode child;
        child.node = first + static_cast<std::int32_t>(b);
        child.depth = pending.depth + 1;
        child.key = split_mix(pending.key + b + 1);
        child.totals = totals;
        return child;
    }

    // Children as case sets of their own, which will be ordered anew.
    template <class Branch, class Positions>
    void stack_case_sets(Growth& growth, const PendingNode& pending, const CaseSet& set,
                         const Cases& cases, const Positions& positions, const Branch* branch_of,
                         std::int32_t first) {
        GrowthWorkspace& ws = growth.ws;
        auto features = std::make_shared<std::vector<std::int32_t>>(*pending.active);
        if (pending.block) {
            for (std::int32_t& feature : *features) feature = pending.block->columns[feature];
        }
        SortedPositions sorted{{}};
        positions.for_each([&](std::uint32_t i) { sorted.positions.push_back(i); });
        if (!std::is_sorted(sorted.positions.begin(), sorted.positions.end())) {
            std::sort(sorted.positions.begin(), sorted.positions.end());
        }
        for (std::uint32_t b = 0; b < ws.totals.size(); ++b) {
            if (!ws.is_grown[b]) continue;
            PendingNode child = make_child(pending, first, b, ws.totals[b]);
            child.active = features;
            collect_branch(sorted, branch_of, b, ws.shares[b], set.rows.data(), cases, set.kind,
                           child.set);
            growth.stack.push_back(std::move(child));
        }
    }

    struct SortedPositions {
        std::vector<std::uint32_t> positions;
        template <class F>
        void for_each(F&& visit) const {
            for (std::uint32_t i : positions) visit(i);
        }
    };

    // Children as ranges of the node's block.
    void stack_ranges(Growth& growth, const PendingNode& pending, std::int32_t first) {
        GrowthWorkspace& own = growth.ws;
        own.ranges.build(own.totals, own.is_grown);
        const std::vector<std::int32_t>& active = *pending.active;
        const std::uint32_t n = pending.n_cases();
        const auto n_active = static_cast<std::int64_t>(active.size());
        for_each_column(growth, n_active, pending.work(), [&](std::int64_t i, GrowthWorkspace& ws) {
            if (ws.spare.size() < n) ws.spare.resize(n);
            partition_segment(pending.block->segment(active[i], pending.start), n,
                              own.block_branches.data(), own.ranges, ws.spare.data(), ws.next);
        });
        for (std::uint32_t b = 0; b < own.totals.size(); ++b) {
            if (!own.is_grown[b]) continue;
            PendingNode child = make_child(pending, first, b, own.totals[b]);
            child.active = pending.active;
            child.block = pending.block;
            child.start = pending.start + own.ranges.start[b];
            growth.stack.push_back(std::move(child));
        }
    }

    void grow_node(Growth& growth, PendingNode& pending) {
        SplitCandidate best;
        if (find_split(growth, pending, NO_LIMIT, best)) apply_split(growth, pending, best);
    }

    void grow_depth_first(Growth& growth) {
        while (!growth.stack.empty()) {
            PendingNode pending = std::move(growth.stack.back());
            growth.stack.pop_back();
            if (should_stop(growth, pending.work())) return;
            grow_node(growth, pending);
        }
    }

    // Large nodes first, column by column; then whole subtrees, the largest first.
    void grow_in_parallel(Growth& growth) {
        const std::int64_t job_work = std::max<std::int64_t>(
            growth.stack.back().work() / (8 * growth.n_threads), limits_.min_parallel_work);
        std::vector<PendingNode> jobs;
        while (!growth.stack.empty()) {
            PendingNode pending = std::move(growth.stack.back());
            growth.stack.pop_back();
            if (should_stop(growth, pending.work())) return;
            if (pending.work() <= job_work) {
                jobs.push_back(std::move(pending));
            } else {
                grow_node(growth, pending);
            }
        }
        std::stable_sort(jobs.begin(), jobs.end(),
                         [](const auto& a, const auto& b) { return a.work() > b.work(); });
        std::vector<GrownTree> grown(jobs.size());
        const auto n_jobs = static_cast<std::int64_t>(jobs.size());
        for_each_column(growth, n_jobs, limits_.min_parallel_work,
                        [&](std::int64_t i, GrowthWorkspace& ws) {
                            Growth job{{}, {}, ws, 1, 0};
                            job.tree.n_outputs = target_.n_outputs();
                            job.tree.add_node();
                            job.tree.set_totals(0, jobs[i].totals);
                            const std::int32_t node = std::exchange(jobs[i].node, 0);
                            job.stack.push_back(std::move(jobs[i]));
                            jobs[i].node = node;
                            grow_depth_first(job);
                            grown[i] = std::move(job.tree);
                        });
        for (std::size_t i = 0; i < jobs.size(); ++i) growth.tree.graft(jobs[i].node, grown[i]);
    }

    // Splits the node of largest weight * quality next, as long as the tree may have more leaves.
    // Each node's split is the best one that the tree still has room for. With the best split of
    // all, a feature without room, which the tree does not use, would keep a node from being split,
    // against Lemma 6. An order by a number that a smaller S can raise, such as the gain with gain
    // ratio, would do so too.
    void grow_best_first(Growth& growth) {
        const NodeTotals root = growth.stack.back().totals;
        std::vector<RankedNode> heap;
        auto n_more = static_cast<std::uint32_t>(limits_.max_leaf_nodes - 1);
        while (n_more > 0) {
            for (RankedNode& ranked : heap) {
                if (ranked.split.n_branches <= n_more + 1) continue;
                rank_node(growth, root, n_more + 1, ranked);
            }
            for (; !growth.stack.empty(); growth.stack.pop_back()) {
                heap.push_back(RankedNode{0.0, std::move(growth.stack.back()), {}});
                rank_node(growth, root, n_more + 1, heap.back());
            }
            const auto next = std::max_element(heap.begin(), heap.end());
            if (control_.stopped() || next == heap.end() || next->worth < 0.0) return;
            apply_split(growth, next->pending, next->split);
            n_more -= next->split.n_branches - 1;
            heap.erase(next);
        }
    }

    struct RankedNode {
        double worth;  // negative: no split
        PendingNode pending;
        SplitCandidate split;
        bool operator<(const RankedNode& other) const {
            return worth < other.worth ||
                   (worth == other.worth && pending.node > other.pending.node);
        }
    };

    void rank_node(Growth& growth, const NodeTotals& root, std::uint32_t max_branches,
                   RankedNode& ranked) {
        ranked.worth = -1.0;
        if (should_stop(growth, ranked.pending.work())) return;
        if (!find_split(growth, ranked.pending, max_branches, ranked.split)) {
            ranked.split.n_branches = 0;
            return;
        }
        ranked.worth = round_quality(ranked.split.worth * ranked.pending.totals.weight /
                                     (root.weight * root.impurity));
    }

    static constexpr std::uint32_t NO_LIMIT = 0xFFFFFFFF;

    std::vector<Column> columns_;
    Target target_;
    GrowthLimits limits_;
    SearchControl& control_;
    bool above_average_, missing_to_heaviest_;
    std::vector<std::unique_ptr<Evaluator>> evaluators_;
    std::vector<GrowthWorkspace> workspaces_;
};

// One learning problem: columns, target and rules; grows trees on any of its cases and features.
// What the extension module, and any search over trees, start from.
struct Induction {
    std::vector<Column> columns;
    Target target;
    Measure measure = Measure::ENTROPY;
    std::vector<double> costs;  // n_classes x n_classes, or empty
    SplitRules rules;
    GrowthLimits limits;

    // Must be called once before the rest; `total_weight` bounds the weight of any case set whose
    // weights are whole numbers.
    void prepare(std::uint64_t total_weight) {
        if (measure == Measure::ENTROPY) logs_.build(total_weight);
    }

    MeasureContext context() const {
        return {target.n_classes, &logs_, costs.empty() ? nullptr : costs.data()};
    }

    GrownTree grow(CaseSet cases, std::vector<std::int32_t> features,
                   SearchControl& control) const {
        Grower grower(columns, target, measure, context(), rules, limits, control);
        return grower.grow(std::move(cases), std::move(features));
    }

private:
    LogTable logs_;
};

}  // namespace sktree_opt::greedy
