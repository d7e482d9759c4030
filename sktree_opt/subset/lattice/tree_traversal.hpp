// DT(S) as a traversal of the lattice: its error, its size, the features it uses.
//
// The error of a tree is the sum over leaves of the cost of their whole search rows, plus the cost
// of the shared rows, which miss a tested value and end in several leaves. The leaves of a shared
// row vote: each with its class frequencies, or its mean, times the share of the row that it got
// (Quinlan 1993, section 3.2). The first part is a sum over nodes; the second is counted for a
// whole tree at a time, and only for trees that have such rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/subset/lattice/lattice.hpp"

namespace sktree_opt::subset {

// Votes closer than this are equal: which class wins must not depend on the order of summing.
constexpr double VOTE_TOLERANCE = 1e-9;

// Summary of a (sub)tree DT(S).
struct Outcome {
    Cost cost = 0;         // of whole rows
    bool is_whole = true;  // else it was given up, and costs more than that
    std::int64_t n_leaves = 0;
    bool has_shared = false;          // some leaf has shared rows
    std::vector<std::int32_t> units;  // increasing
};

class TreeTraversal {
public:
    explicit TreeTraversal(Lattice& lattice)
        : lattice_(lattice), is_used_(lattice.problem().n_units(), 0) {}

    // Traverses DT(S) below `nodes`; garbage when the search has stopped.
    void run(CaseNode* const* nodes, std::size_t n_nodes, const FeatureSet& set, Outcome& outcome) {
        outcome.cost = 0;
        outcome.n_leaves = 0;
        outcome.has_shared = false;
        outcome.units.clear();
        visit_leaves(
            nodes, n_nodes, set,
            [&](const CaseNode* leaf) {
                outcome.cost += leaf->leaf_cost;
                ++outcome.n_leaves;
                outcome.has_shared |= !leaf->search.shared.empty();
            },
            [&](std::int32_t feature) { use(lattice_.problem().unit_of[feature], outcome); });
        finish_units(outcome);
    }

    // Traverses DT(S) below `node` for its cost. Nodes that no search row reaches are left out, and
    // the traversal ends where the cost exceeds `limit`. `outcome` tells the units of the nodes
    // that were visited, which alone decide the cost; leaves are not counted.
    void run_for_cost(CaseNode* node, const FeatureSet& set, Cost limit, Outcome& outcome) {
        const bool counts_training_rows = lattice_.problem().is_pessimistic;
        outcome.cost = outcome.n_leaves = 0;
        outcome.has_shared = false;
        outcome.is_whole = true;
        outcome.units.clear();
        stack_.assign(1, node);
        frontier_.clear();
        while (outcome.is_whole && take_next()) {
            CaseNode* next = stack_.back();
            stack_.pop_back();
            RankedSplit* ranked = lattice_.first_split(next, set);
            if (ranked == nullptr) {
                outcome.cost += next->leaf_cost;
                outcome.has_shared |= !next->search.shared.empty();
                outcome.is_whole = outcome.cost <= limit;
                continue;
            }
            const Children children = lattice_.split(next, ranked);
            if (children.n == 0) break;
            use(lattice_.problem().unit_of[ranked->feature], outcome);
            for (std::uint32_t b = 0; b < children.n; ++b) {
                CaseNode* child = children.nodes[b];
                if (child->is_reached || counts_training_rows) stack_.push_back(child);
            }
        }
        finish_units(outcome);
    }

    // Cost of the whole tree DT(S), which has just been traversed.
    Cost total(const Outcome& outcome, const FeatureSet& set) {
        if (lattice_.problem().has_rating()) {
            const SearchProblem& problem = lattice_.problem();
            return lattice_.stopped() ? 0 : problem.rate(features_of(problem, outcome.units));
        }
        return outcome.cost + (outcome.has_shared ? vote(set) : 0);
    }

    // Cost of the shared rows of DT(S), all parts.
    Cost vote(const FeatureSet& set) {
        Cost cost = 0;
        for (CaseNode* root : lattice_.roots()) {
            visit_leaves(
                &root, 1, set, [&](const CaseNode* leaf) { add_votes(leaf); }, [](std::int32_t) {});
            cost += count_votes(root->part);
        }
        return cost;
    }

    // Calls on_leaf for the leaves in order, on_feature for each test.
    template <class OnLeaf, class OnFeature>
    void visit_leaves(CaseNode* const* nodes, std::size_t n_nodes, const FeatureSet& set,
                      OnLeaf&& on_leaf, OnFeature&& on_feature) {
        stack_.clear();
        for (std::size_t i = n_nodes; i-- > 0;) stack_.push_back(nodes[i]);
        while (!stack_.empty()) {
            CaseNode* node = stack_.back();
            stack_.pop_back();
            RankedSplit* ranked = lattice_.first_split(node, set);
            if (ranked == nullptr) {
                on_leaf(node);
                continue;
            }
            const Children children = lattice_.split(node, ranked);
            if (children.n == 0) return;
            on_feature(ranked->feature);
            for (std::uint32_t b = children.n; b-- > 0;) stack_.push_back(children.nodes[b]);
        }
    }

    void add_votes(const CaseNode* leaf) {
        const std::uint32_t n_outputs = lattice_.problem().target().n_outputs();
        for (std::size_t i = 0; i < leaf->search.shared.size(); ++i) {
            const std::uint32_t row = leaf->search.shared[i];
            if (slot_of_.empty()) slot_of_.assign(lattice_.problem().n_rows, -1);
            if (slot_of_[row] < 0) {
                slot_of_[row] = static_cast<std::int32_t>(voters_.size());
                voters_.push_back(row);
                votes_.resize(voters_.size() * n_outputs, 0.0);
            }
            double* votes = votes_.data() + static_cast<std::size_t>(slot_of_[row]) * n_outputs;
            const double share = leaf->search.shares[i];
            for (std::uint32_t c = 0; c < n_outputs; ++c) votes[c] += share * leaf->frequencies[c];
        }
    }

    // Cost of the rows that got votes, decided now.
    Cost count_votes(std::uint16_t part) {
        const SearchProblem& problem = lattice_.problem();
        const std::uint32_t n_outputs = problem.target().n_outputs();
        Cost cost = 0;
        for (std::size_t i = 0; i < voters_.size(); ++i) {
            const double* votes = votes_.data() + i * n_outputs;
            const NodeAnswer answered = problem.answer(votes, VOTE_TOLERANCE);
            cost += problem.cost_of(problem.parts[part], voters_[i], answered);
            slot_of_[voters_[i]] = -1;
        }
        voters_.clear();
        votes_.clear();
        return cost;
    }

private:
    // Leaves the next node on top of the stack: first those that are ranked already, then the one
    // with the most errors for its cases.
    bool take_next() {
        while (!stack_.empty()) {
            CaseNode* node = stack_.back();
            if (node->stops || node->ranked_all || !node->ranking.empty()) return true;
            stack_.pop_back();
            const double errors = static_cast<double>(node->leaf_cost);
            frontier_.push_back({errors / node->cases.size(), frontier_.size(), node});
            std::push_heap(frontier_.begin(), frontier_.end());
        }
        if (frontier_.empty()) return false;
        std::pop_heap(frontier_.begin(), frontier_.end());
        stack_.push_back(frontier_.back().node);
        frontier_.pop_back();
        return true;
    }

    struct Unranked {
        double error;
        std::size_t age;
        CaseNode* node;
        bool operator<(const Unranked& other) const {
            return error != other.error ? error < other.error : age < other.age;
        }
    };

    void use(std::int32_t unit, Outcome& outcome) {
        if (is_used_[unit]) return;
        is_used_[unit] = 1;
        outcome.units.push_back(unit);
    }
    void finish_units(Outcome& outcome) {
        for (std::int32_t unit : outcome.units) is_used_[unit] = 0;
        std::sort(outcome.units.begin(), outcome.units.end());
    }

    Lattice& lattice_;
    std::vector<std::uint8_t> is_used_;
    std::vector<CaseNode*> stack_;
    std::vector<Unranked> frontier_;     // a heap
    std::vector<std::int32_t> slot_of_;  // by row: its place in `voters_`
    std::vector<std::uint32_t> voters_;
    std::vector<double> votes_;  // n_outputs for each voter
};

}  // namespace sktree_opt::subset
