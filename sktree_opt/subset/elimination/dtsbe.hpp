// DTsbe: the trees of backward elimination, without building what is known.
//
// Problem: the errors of all T_a = DT(S \ {a}), a in features(T), for the current T = DT(S). Exact.
// Paper: as elimination.hpp; section 6 prunes T_a for a not in features(T), and (T_b)_a = T_a when
// b is not in features(T_a).
//
//   T                 -> roots_            the current tree, node by node
//   T_a               -> T with every topmost a-node replaced by its alternative
//
// Ours: the second rule is applied at each node. The alternative of a node that tests a is
// DT(S \ {a}) on the node's own cases. T_a differs from T only in the alternatives of its topmost
// a-nodes, so err(T_a) = err(T) + sum over those of err(alternative) - err(node). By Lemma 6 an
// alternative stays what it is when features leave that it does not use. The work of a step is what
// the removed feature changed. Costs are whole numbers, so the sums are those of trees built anew.
//
// Ours too: a step needs no T_a that costs more than T, so the traversal of an alternative ends
// when the nodes it has seen cost too much. That cost stays known until a feature leaves that was
// met on the way. Nodes that no search row reaches are visited only to count leaves when trials
// tie.
//
// Cost: one traversal of T per step, and of the alternatives that are not known. Memory: the case
// sets of T (at most depth x rows), and the features of each alternative; the lattice below the
// alternatives is a cache with a budget. Threads share the features of a ranking (lattice.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sktree_opt/subset/elimination/elimination.hpp"

namespace sktree_opt::subset {

// A node of the current tree.
struct CurrentNode {
    CaseNode* cases = nullptr;  // pinned
    std::int32_t unit = -1;     // of the feature it tests; a leaf: none
    std::vector<std::unique_ptr<CurrentNode>> children;
    Cost cost = 0;
    std::int64_t n_leaves = 1;
    bool has_shared = false;
    bool has_alternative = false;
    Outcome alternative;

    bool knows_alternative() const { return has_alternative && alternative.is_whole; }
    // Lower bound on the cost of the alternative.
    Cost lower_bound() const { return has_alternative ? alternative.cost : 0; }
};

class IncrementalTrees {
public:
    IncrementalTrees(const SearchProblem& problem, SearchControl& control, std::int64_t budget,
                     int n_threads, std::int64_t min_parallel_work, bool gives_up)
        : problem_(problem),
          control_(control),
          gives_up_(gives_up),
          lattice_(problem, control, budget, n_threads, min_parallel_work),
          traversal_(lattice_) {}

    void build(const std::uint8_t* is_in, EliminationStep& step) {
        is_in_ = is_in;
        for (CaseNode* root : lattice_.roots()) roots_.push_back(grow(root));
        describe(step);
    }

    void remove(EliminationStep& step) {
        lattice_.restrict_to(set_without(-1));
        for (auto& root : roots_) remove_from(root);
        describe(step);
        forget_if_over_budget();
    }

    // Trees that cost more than `limit` may be left out.
    void try_removals(const EliminationStep& current, Cost limit, std::vector<Trial>& trials,
                      EliminationStep& step) {
        candidates_.resize(problem_.n_units());
        n_above_.assign(problem_.n_units(), 0);
        for (std::int32_t unit : current.units) candidates_[unit] = Removal();
        for (auto& root : roots_) collect(*root);
        for (std::int32_t unit : current.units) {
            if (problem_.keeps(unit) || !candidates_[unit].is_known()) continue;
            trials.push_back(rate(unit, current));
            limit = std::min(limit, trials.back().cost);
            ++step.n_unchanged;
        }
        to_traverse_.clear();
        for (std::int32_t unit : current.units) {
            if (problem_.keeps(unit) || candidates_[unit].is_known()) continue;
            to_traverse_.push_back(unit);
        }
        // The least work first, and in groups: the cost of a group limits the groups after it.
        std::stable_sort(to_traverse_.begin(), to_traverse_.end(),
                         [&](std::int32_t a, std::int32_t b) {
                             return candidates_[a].work() < candidates_[b].work();
                         });
        for (std::size_t first = 0; first < to_traverse_.size(); first += GROUP_SIZE) {
            const std::size_t last = std::min(first + GROUP_SIZE, to_traverse_.size());
            for (std::size_t i = first; i < last && gives_up_; ++i) {
                candidates_[to_traverse_[i]].limit = limit;
            }
            for (std::size_t i = first; i < last; ++i)
                traverse_candidate(candidates_[to_traverse_[i]]);
            if (control_.stopped()) return;
            for (std::size_t i = first; i < last; ++i) {
                const bool is_whole = candidates_[to_traverse_[i]].is_known();
                ++(is_whole ? step.n_built : step.n_given_up);
                if (!is_whole) continue;
                trials.push_back(rate(to_traverse_[i], current));
                limit = std::min(limit, trials.back().cost);
            }
        }
        for (std::size_t u = 0; u < problem_.n_units(); ++u) {
            step.n_unused += is_in_[u] == IN && !problem_.keeps(static_cast<std::int32_t>(u));
        }
        for (std::int32_t unit : current.units) step.n_unused -= !problem_.keeps(unit);
    }

    // Of T_a.
    std::int64_t count_leaves(std::int32_t unit) {
        std::int64_t n = 0;
        for (const auto& root : roots_) n += root->n_leaves;
        for (const CurrentNode* node : candidates_[unit].nodes) {
            CaseNode* cases = node->cases;
            traversal_.run(&cases, 1, set_without(unit), outcome_);
            n += outcome_.n_leaves - node->n_leaves;
            forget_if_over_budget();
        }
        return n;
    }

    LatticeStats stats() const { return lattice_.stats(); }

private:
    static constexpr Cost NO_LIMIT = std::numeric_limits<Cost>::max();
    static constexpr std::size_t GROUP_SIZE = 8;

    // A unit that T uses.
    struct Removal {
        std::vector<CurrentNode*> nodes;  // topmost ones that test it
        Cost limit = NO_LIMIT;            // of T_a

        bool is_known() const {
            return std::all_of(nodes.begin(), nodes.end(),
                               [](const auto* node) { return node->knows_alternative(); });
        }
        std::int64_t work() const {
            std::int64_t work = 0;
            for (const CurrentNode* node : nodes) {
                if (!node->knows_alternative()) work += node->cases->cases.size();
            }
            return work;
        }
    };

    FeatureSet set_without(std::int32_t unit) const { return {&problem_, is_in_, unit}; }

    std::unique_ptr<CurrentNode> grow(CaseNode* cases) {
        auto node = std::make_unique<CurrentNode>();
        node->cases = cases;
        lattice_.pin(cases);
        RankedSplit* ranked = lattice_.first_split(cases, set_without(-1));
        if (ranked != nullptr) {
            node->unit = problem_.unit_of[ranked->feature];
            const Children children = lattice_.split(cases, ranked);
            for (std::uint32_t b = 0; b < children.n; ++b) {
                node->children.push_back(grow(children.nodes[b]));
            }
        }
        sum(*node);
        return node;
    }

    void release(CurrentNode& node) {
        lattice_.unpin(node.cases);
        for (auto& child : node.children) release(*child);
    }

    static void sum(CurrentNode& node) {
        if (node.children.empty()) {
            node.cost = node.cases->leaf_cost;
            node.n_leaves = 1;
            node.has_shared = !node.cases->search.shared.empty();
            return;
        }
        node.cost = 0;
        node.n_leaves = 0;
        node.has_shared = false;
        for (const auto& child : node.children) {
            node.cost += child->cost;
            node.n_leaves += child->n_leaves;
            node.has_shared |= child->has_shared;
        }
    }

    // Grows again what tested a removed feature, and forgets alternatives that did.
    void remove_from(std::unique_ptr<CurrentNode>& node) {
        if (node->unit < 0) return;
        if (is_in_[node->unit] != IN) {
            auto grown = grow(node->cases);
            release(*node);
            node = std::move(grown);
            return;
        }
        for (std::int32_t unit : node->alternative.units) {
            if (is_in_[unit] != IN) node->has_alternative = false;
        }
        for (auto& child : node->children) remove_from(child);
        sum(*node);
    }

    void describe(EliminationStep& step) {
        whole_cost_ = step.n_leaves = 0;
        bool has_shared = false;
        std::vector<const CurrentNode*> stack;
        for (const auto& root : roots_) {
            whole_cost_ += root->cost;
            step.n_leaves += root->n_leaves;
            has_shared |= root->has_shared;
            stack.push_back(root.get());
        }
        while (!stack.empty()) {
            const CurrentNode* node = stack.back();
            stack.pop_back();
            if (node->unit >= 0) step.units.push_back(node->unit);
            for (const auto& child : node->children) stack.push_back(child.get());
        }
        auto& units = step.units;
        std::sort(units.begin(), units.end());
        units.erase(std::unique(units.begin(), units.end()), units.end());
        step.cost = whole_cost_ + (has_shared ? traversal_.vote(set_without(-1)) : 0);
    }

    // Finds the topmost nodes of each unit.
    void collect(CurrentNode& node) {
        if (node.unit < 0) return;
        if (n_above_[node.unit]++ == 0) candidates_[node.unit].nodes.push_back(&node);
        for (auto& child : node.children) collect(*child);
        --n_above_[node.unit];
    }

    // Completes the alternatives of a unit, or shows that T_a costs more than its limit.
    void traverse_candidate(Removal& candidate) {
        Cost lower = whole_cost_;
        for (const CurrentNode* node : candidate.nodes) lower += node->lower_bound() - node->cost;
        for (CurrentNode* node : candidate.nodes) {
            if (lower > candidate.limit || control_.stopped()) return;
            if (node->knows_alternative()) continue;
            lower -= node->lower_bound();
            traversal_.run_for_cost(node->cases, set_without(node->unit), candidate.limit - lower,
                                    node->alternative);
            node->has_alternative = !control_.stopped();
            lower += node->lower_bound();
            forget_if_over_budget();
        }
    }

    Trial rate(std::int32_t unit, const EliminationStep& current) {
        Trial trial{unit, whole_cost_};
        bool has_shared = false;
        for (const CurrentNode* node : candidates_[unit].nodes) {
            trial.cost += node->alternative.cost - node->cost;
            has_shared |= node->has_shared || node->alternative.has_shared;
        }
        if (has_shared) {
            trial.cost += traversal_.vote(set_without(unit));
            forget_if_over_budget();
        } else {
            trial.cost += current.cost - whole_cost_;  // the same shared rows in the same leaves
        }
        return trial;
    }

    void forget_if_over_budget() {
        if (lattice_.is_over_budget()) lattice_.clear_unpinned();
    }

    const SearchProblem& problem_;
    SearchControl& control_;
    bool gives_up_;
    const std::uint8_t* is_in_ = nullptr;
    Lattice lattice_;
    TreeTraversal traversal_;
    std::vector<std::unique_ptr<CurrentNode>> roots_;
    Cost whole_cost_ = 0;
    std::vector<Removal> candidates_;        // by unit
    std::vector<std::uint32_t> n_above_;     // by unit: nodes that test it on the path
    std::vector<std::int32_t> to_traverse_;  // units
    Outcome outcome_;
};

using IncrementalSearch = BackwardSearchWith<IncrementalTrees>;

}  // namespace sktree_opt::subset
