// DTsbe: sequential backward elimination over DT(S), without building trees that are known.
//
// Problem: starting from all features, remove the one whose removal leaves the smallest error, as long
// as the error does not grow: heuristic, but exactly the heuristic (the same steps as the black box).
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// section 6; "Enumerating Distinct Decision Trees", ICML 2017, section 5 (PSBE).
//
//   S                 -> is_in_            features not removed yet
//   T = DT(S)         -> root_             the current tree, node by node
//   U = features(T)   -> candidates        only they are tried (rule 1: T_a = T for a not in U)
//   T_a = DT(S \ {a}) -> T with every topmost a-node replaced by its alternative
//   (T_b)_a = T_a     -> rule 2: b is not in features(T_a)
//
// Ours: rule 2 is applied at each node. The alternative of a node that tests a is DT(S \ {a}) on the
// node's own cases. T_a differs from T in nothing but the alternatives of its topmost a-nodes, so
// err(T_a) = err(T) + sum over those of err(alternative) - err(node). By Lemma 6 an alternative stays
// what it is when a feature that it does not use is removed. Work per step is what changed.
//
// Cost: walking T once per step, plus the alternatives that use the removed feature. Memory: the case
// sets of T, i.e. depth x rows, and for each node the features of its alternative; the lattice of
// the alternatives is a cache with a budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/subset/_walk.hpp"

namespace sktree_opt::subset {

// A node of the current tree.
struct CurrentNode {
    CaseNode* cases = nullptr;
    std::int32_t feature = -1;
    std::vector<std::unique_ptr<CurrentNode>> children;
    Cost cost = 0;
    std::uint32_t n_leaves = 1;
    bool has_shared = false;
    bool has_alternative = false;
    Outcome alternative;
};

struct EliminationStep {
    std::int32_t removed = -1;  // -1: the full tree, before any removal
    Cost cost = 0;
    std::uint32_t n_leaves = 0;
    std::int64_t n_built = 0;          // trees T_a of which at least one alternative was walked
    std::int64_t n_unused = 0;         // rule 1
    std::int64_t n_unchanged = 0;      // rule 2
    std::vector<std::int32_t> features;  // of the tree
};

struct EliminationRules {
    bool tie_goes_on = true;
    std::int64_t min_features = 0;   // no removal leaves a tree with fewer
    std::int64_t target_features = -1;  // go on, whatever the error, down to so many; -1: no target
    int n_threads = 1;
    int policy = 0;
};

class BackwardElimination {
public:
    BackwardElimination(const Problem& problem, const EliminationRules& rules,
                        SearchControl& control, std::int64_t budget)
        : problem_(problem), rules_(rules), control_(control), is_in_(problem.n_features(), 1) {
        for (int t = 0; t < (rules.n_threads > 1 ? rules.n_threads + 1 : 1); ++t) {
            lattices_.push_back(std::make_unique<Lattice>(problem, control, budget));
            walks_.push_back(std::make_unique<TreeWalk>(*lattices_.back()));
        }
    }

    // Appends the steps made; the last one is the selected tree.
    void run(std::vector<EliminationStep>& steps) {
        for (CaseNode* root : lattice().roots()) roots_.push_back(grow(root));
        if (control_.stopped()) return;
        EliminationStep first;
        describe(first);
        first.cost += vote(first_set(), has_shared());
        steps.push_back(first);
        while (!control_.stopped()) {
            EliminationStep step;
            if (rules_.policy == 1) drop_unused(steps.back().features);
            bool ok = find_step(steps.back(), step);
            if (rules_.policy == 3 && ok && step.cost == steps.back().cost) ok = false;
            if (!ok) {
                if (control_.stopped()) return;
                if (rules_.policy < 2) return;
                if (!drop_unused(steps.back().features) && rules_.policy < 3) return;
                step = EliminationStep();
                if (!find_step(steps.back(), step) || control_.stopped()) return;
            }
            remove(step.removed);
            if (control_.stopped()) return;
            const Cost cost = step.cost;
            describe(step);
            step.cost = cost;
            steps.push_back(step);
            if (lattice().is_over_budget()) lattice().clear_unpinned();
        }
    }

    void add_stats(LatticeStats& stats) const {
        for (const auto& lattice : lattices_) stats.add(lattice->stats());
    }

private:
    Lattice& lattice() { return *lattices_[0]; }
    FeatureSet first_set() const { return {is_in_.data(), -1}; }

    std::unique_ptr<CurrentNode> grow(CaseNode* cases) {
        auto node = std::make_unique<CurrentNode>();
        node->cases = cases;
        lattice().pin(cases);
        node->feature = lattice().first_feature(cases, first_set());
        if (node->feature < 0) {
            sum(*node);
            return node;
        }
        const Children children = lattice().split(cases, node->feature);
        for (std::uint32_t b = 0; b < children.n; ++b) {
            node->children.push_back(grow(children.nodes[b]));
        }
        sum(*node);
        return node;
    }

    void release(CurrentNode& node) {
        lattice().unpin(node.cases);
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

    bool has_shared() const {
        bool shared = false;
        for (const auto& root : roots_) shared |= root->has_shared;
        return shared;
    }

    Cost vote(const FeatureSet& set, bool shared) {
        return shared ? walks_[0]->vote(set) : 0;
    }

    // Size, features and cost (of whole rows) of the current tree.
    void describe(EliminationStep& step) {
        step.cost = 0;
        step.n_leaves = 0;
        step.features.clear();
        std::vector<const CurrentNode*> stack;
        for (const auto& root : roots_) {
            step.cost += root->cost;
            step.n_leaves += root->n_leaves;
            stack.push_back(root.get());
        }
        while (!stack.empty()) {
            const CurrentNode* node = stack.back();
            stack.pop_back();
            if (node->feature >= 0) step.features.push_back(node->feature);
            for (const auto& child : node->children) stack.push_back(child.get());
        }
        std::sort(step.features.begin(), step.features.end());
        step.features.erase(std::unique(step.features.begin(), step.features.end()),
                            step.features.end());
    }

    // What removing one feature would lead to.
    struct Candidate {
        Cost change = 0;         // of whole rows
        std::int64_t leaves = 0; // change of their number
        bool shared = false;     // some replaced node or alternative has shared rows
        bool walked = false;
        std::vector<CurrentNode*> nodes;  // topmost ones that test the feature
    };

    // The best removal; false when there is none to make.
    bool find_step(const EliminationStep& current, EliminationStep& step) {
        candidates_.assign(problem_.n_features(), Candidate());
        std::vector<std::uint32_t> n_above(problem_.n_features(), 0);
        for (auto& root : roots_) collect(*root, n_above);
        walk_alternatives();
        if (control_.stopped()) return false;
        bool found = false;
        std::int64_t best_leaves = 0;
        const bool shared = has_shared();
        for (std::int32_t feature : current.features) {
            const Candidate& candidate = candidates_[feature];
            Cost cost = whole_cost() + candidate.change;
            if (candidate.shared) {
                cost += walks_[0]->vote({is_in_.data(), feature});
            } else if (shared) {
                cost += current.cost - whole_cost();
            }
            const std::int64_t leaves = current.n_leaves + candidate.leaves;
            step.n_built += candidate.walked;
            step.n_unchanged += !candidate.walked;
            if (!found || cost < step.cost || (cost == step.cost && leaves < best_leaves)) {
                found = true;
                step.removed = feature;
                step.cost = cost;
                best_leaves = leaves;
            }
        }
        for (std::uint8_t in : is_in_) step.n_unused += in;
        step.n_unused -= static_cast<std::int64_t>(current.features.size());
        if (!found) return false;
        if (static_cast<std::int64_t>(current.features.size()) <= rules_.min_features) return false;
        if (rules_.target_features >= 0) {
            return static_cast<std::int64_t>(current.features.size()) > rules_.target_features;
        }
        return step.cost < current.cost || (rules_.tie_goes_on && step.cost == current.cost);
    }

    Cost whole_cost() const {
        Cost cost = 0;
        for (const auto& root : roots_) cost += root->cost;
        return cost;
    }

    // Topmost nodes of each feature; of those without an alternative, the ones still to be walked.
    void collect(CurrentNode& node, std::vector<std::uint32_t>& n_above) {
        if (node.feature < 0) return;
        if (n_above[node.feature]++ == 0) {
            candidates_[node.feature].nodes.push_back(&node);
            if (!node.has_alternative) {
                candidates_[node.feature].walked = true;
                to_walk_.push_back(&node);
            }
        }
        for (auto& child : node.children) collect(*child, n_above);
        --n_above[node.feature];
    }

    void walk_alternatives() {
        for (CurrentNode* node : to_walk_) walk_alternative(*node, 0);
        to_walk_.clear();
        for (Candidate& candidate : candidates_) {
            for (CurrentNode* node : candidate.nodes) {
                candidate.change += node->alternative.cost - node->cost;
                candidate.leaves += static_cast<std::int64_t>(node->alternative.n_leaves) -
                                    static_cast<std::int64_t>(node->n_leaves);
                candidate.shared |= node->has_shared || node->alternative.has_shared;
            }
        }
    }

    void walk_alternative(CurrentNode& node, std::size_t thread) {
        if (control_.stopped()) return;
        walks_[thread]->run(&node.cases, 1, {is_in_.data(), node.feature}, node.alternative);
        node.has_alternative = !control_.stopped();
        if (lattices_[thread]->is_over_budget()) lattices_[thread]->clear_unpinned();
    }

    bool drop_unused(const std::vector<std::int32_t>& used) {
        bool some = false;
        for (std::size_t f = 0; f < is_in_.size(); ++f) {
            if (is_in_[f] && !std::binary_search(used.begin(), used.end(), (std::int32_t)f)) {
                is_in_[f] = 0; some = true;
            }
        }
        if (some) for (auto& root : roots_) invalidate(*root);
        return some;
    }
    void invalidate(CurrentNode& node) {
        for (std::int32_t f : node.alternative.features) if (!is_in_[f]) node.has_alternative = false;
        for (auto& child : node.children) invalidate(*child);
    }
    void remove(std::int32_t feature) {
        is_in_[feature] = 0;
        for (auto& root : roots_) remove_from(root, feature);
    }

    void remove_from(std::unique_ptr<CurrentNode>& node, std::int32_t feature) {
        if (node->feature < 0) return;
        if (node->feature == feature) {
            CaseNode* cases = node->cases;
            auto grown = grow(cases);
            release(*node);
            node = std::move(grown);
            return;
        }
        const auto& used = node->alternative.features;
        if (node->has_alternative && std::binary_search(used.begin(), used.end(), feature)) {
            node->has_alternative = false;
        }
        for (auto& child : node->children) remove_from(child, feature);
        sum(*node);
    }

    const Problem& problem_;
    EliminationRules rules_;
    SearchControl& control_;
    std::vector<std::uint8_t> is_in_;
    std::vector<std::unique_ptr<Lattice>> lattices_;
    std::vector<std::unique_ptr<TreeWalk>> walks_;
    std::vector<std::unique_ptr<CurrentNode>> roots_;
    std::vector<Candidate> candidates_;
    std::vector<CurrentNode*> to_walk_;
};

}  // namespace sktree_opt::subset
