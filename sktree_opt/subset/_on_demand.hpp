// Deciding features on demand: all distinct trees DT(S), or the best of them.
//
// Problem: enumerate the distinct trees over all feature sets S, each once; or find a set of least
// error. Exact.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// sections 4 and 5, http://jmlr.org/papers/v20/18-035.html. The order of the search is ours.
//
//   R, F \ (R u S)    -> is_in_, is_out_    features decided: in S, not in S; the others are undecided
//   T                 -> Frame              a tree in the making: its leaves, and its open nodes
//   err_bst           -> best_cost_
//   lberr             -> Frame::bound
//   delta, epsilon    -> BestRules::slack, BestRules::penalty
//
// A node of DT(S) tests the first feature of its ranking that is in S. Going down its ranking past
// features that are out, a feature that is in is tested, the end of the ranking makes a leaf, and an
// undecided feature leaves the node open. When nothing but open nodes is left, the first feature of
// one of them is decided: in, then out.
// All and only the distinct trees, each once: every S takes exactly one path of decisions, so its tree
// is found; a feature that is in was decided at a node that then tests it, so all of them are used;
// and two ends of paths part at some feature a that one tree uses and the other cannot. Hence there
// are as many ends as distinct trees, and one decision less.
//
// Bounds, for the best tree only. The cost of an open node is at least
// (b) that of its search rows whose class no training case there has: no leaf below answers it, nor
//     do the votes of several leaves below;
// (c) the least, over the features it may still test, of the bounds of the children: features of the
//     ranking that are not out, up to the first that is in; and being a leaf, if none is in.
// Shared rows are counted when the tree is whole. A node below which no answer can change the cost is
// no longer open: its features stay undecided, and out of S.
//
// Cost: one step for each decision; memory: the open nodes of one path of decisions, and the lattice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/_walk.hpp"

namespace sktree_opt::subset {

struct OpenNode {
    CaseNode* node;
    std::uint32_t position;  // in its ranking
    std::int32_t feature;    // undecided, at that position
    Cost bound;
};

struct Frame {
    std::vector<OpenNode> open;
    Cost cost = 0;           // of finished leaves
    Cost bound = 0;          // of any tree that can become of this
    std::int64_t n_leaves = 0;
    bool has_shared = false;
    int stage = 0;           // 0: new; 1: the feature is in; 2: it is out
    std::int32_t feature = -1;
};

// A whole tree.
struct FoundTree {
    std::vector<std::int32_t> features;
    Cost cost = 0;
    std::int64_t n_leaves = 0;
};

struct BestRules {
    int lookahead = 1;           // (c): steps; 0 switches it off
    bool uses_class_bound = true;  // (b)
    bool only_best = false;      // search the best; else enumerate
    Cost slack = 0;              // delta
    Cost penalty = 0;            // for each feature
    Cost limit = std::numeric_limits<Cost>::max();  // enumerate trees up to this cost
};

struct DecisionStats {
    std::int64_t n_decisions = 0;
    std::int64_t n_trees = 0;
    std::int64_t n_pruned = 0;
    std::int64_t max_open = 0;
};

class OnDemandSearch {
public:
    OnDemandSearch(const Problem& problem, const BestRules& rules, SearchControl& control,
                   std::int64_t budget)
        : problem_(problem), rules_(rules), control_(control), lattice_(problem, control, budget),
          walk_(lattice_), is_in_(problem.n_features(), 0), is_out_(problem.n_features(), 0),
          prunes_(rules.only_best || rules.limit < std::numeric_limits<Cost>::max()) {
        // A user's error is no sum over nodes, and C4.5's is not one over search rows.
        if (problem.has_rating()) prunes_ = false;
        has_bounds_ = prunes_ && !problem.is_pessimistic;
        Frame frame;
        for (CaseNode* root : lattice_.roots()) settle(root, 0, frame);
        push(std::move(frame));
    }

    // An upper limit that is known before: the search is for what is better.
    void start_from(const FoundTree& tree) { best_ = tree; has_best_ = true; }
    const FoundTree& best() const { return best_; }
    bool has_best() const { return has_best_; }

    // The next tree; false at the end, or when stopped. When the best is searched for, each tree is
    // better than the last one.
    bool next(FoundTree& tree) {
        while (!frames_.empty()) {
            if ((++n_steps_ & 63) == 0 && control_.poll()) return false;
            if (control_.stopped()) return false;
            Frame& frame = frames_.back();
            if (frame.stage == 0 && frame.open.empty()) {
                const bool wanted = finish(frame, tree);
                progress_ += share();
                frames_.pop_back();
                if (control_.stopped()) return false;
                if (wanted) return true;
                continue;
            }
            advance(frame);
        }
        return false;
    }

    bool is_done() const { return frames_.empty() && !control_.stopped(); }
    double progress() const { return progress_; }
    const DecisionStats& stats() const { return stats_; }
    const LatticeStats& lattice_stats() const { return lattice_.stats(); }

    // No tree costs less than this.
    Cost lower_bound() const {
        Cost bound = has_best_ ? rated(best_) - rules_.slack : std::numeric_limits<Cost>::max();
        for (const Frame& frame : frames_) bound = std::min(bound, frame.bound);
        return frames_.empty() && !has_best_ ? 0 : bound;
    }

private:
    Cost rated(const FoundTree& tree) const {
        return tree.cost + rules_.penalty * static_cast<Cost>(tree.features.size());
    }

    // Share of all decisions that the frame on top of the stack stands for.
    double share() const { return std::ldexp(1.0, -static_cast<int>(frames_.size()) + 1); }

    void advance(Frame& frame) {
        if (frame.stage == 0 && is_hopeless(frame)) {
            ++stats_.n_pruned;
            progress_ += share();
            frames_.pop_back();
            return;
        }
        if (frame.stage == 2) {
            is_out_[frame.feature] = 0;
            --n_out_;
            frames_.pop_back();
            return;
        }
        if (frame.stage == 0) {
            ++stats_.n_decisions;
            frame.feature = choose(frame);
            is_in_[frame.feature] = 1;
            ++n_in_;
        } else {
            is_in_[frame.feature] = 0;
            --n_in_;
            is_out_[frame.feature] = 1;
            ++n_out_;
        }
        ++frame.stage;
        forget_if_over_budget();
        push(decide(frame));
    }

    void push(Frame&& frame) {
        frame.bound = frame.cost + rules_.penalty * n_in_;
        for (const OpenNode& open : frame.open) frame.bound += open.bound;
        stats_.max_open = std::max(stats_.max_open, static_cast<std::int64_t>(frame.open.size()));
        frames_.push_back(std::move(frame));
    }

    // The frame that follows from the decision about `frame.feature`.
    Frame decide(const Frame& frame) {
        Frame next;
        next.cost = frame.cost;
        next.n_leaves = frame.n_leaves;
        next.has_shared = frame.has_shared;
        next.open.reserve(frame.open.size() + 4);
        for (const OpenNode& open : frame.open) {
            if (open.feature == frame.feature) {
                settle(open.node, open.position, next);
            } else {
                next.open.push_back(open);
                if (has_bounds_ && rules_.lookahead > 0) tighten(next.open.back());
            }
        }
        return next;
    }

    // Grows a node as far as decisions go: finished leaves and open nodes are added to `frame`.
    void settle(CaseNode* start, std::uint32_t position, Frame& frame) {
        std::vector<OpenNode> stack{{start, position, -1, 0}};
        while (!stack.empty()) {
            OpenNode open = stack.back();
            stack.pop_back();
            if (rules_.only_best && is_settled(open.node)) {
                frame.cost += all_cost(open.node);
                ++frame.n_leaves;
                continue;
            }
            open.feature = lattice_.feature_at(open.node, open.position);
            while (open.feature >= 0 && is_out_[open.feature]) {
                open.feature = lattice_.feature_at(open.node, ++open.position);
            }
            if (open.feature < 0) {
                frame.cost += open.node->leaf_cost;
                ++frame.n_leaves;
                frame.has_shared |= !open.node->search.shared.empty();
            } else if (is_in_[open.feature]) {
                const Children children = lattice_.split(open.node, open.feature);
                for (std::uint32_t b = children.n; b-- > 0;) {
                    stack.push_back({children.nodes[b], 0, -1, 0});
                }
            } else {
                if (has_bounds_) {
                    open.bound = simple_bound(open.node);
                    if (rules_.lookahead > 0) tighten(open);
                }
                frame.open.push_back(open);
            }
        }
    }

    // Whether all trees below a node cost the same.
    bool is_settled(CaseNode* node) {
        if (!has_bounds_ || node->stops || !node->search.shared.empty()) return false;
        if (node->search.whole.empty()) return true;
        return rules_.uses_class_bound && simple_bound(node) == all_cost(node);
    }
    Cost all_cost(const CaseNode* node) const {
        const std::vector<Cost>& costs = problem_.parts[node->part].costs;
        Cost cost = 0;
        for (std::uint32_t row : node->search.whole) cost += costs[row];
        return cost;
    }

    // Bound (b), memoised.
    Cost simple_bound(CaseNode* node) {
        if (node->bound_depth >= 0) return node->bound;
        node->bound_depth = 0;
        node->bound = 0;
        if (node->stops) {
            node->bound = node->leaf_cost;
        } else if (rules_.uses_class_bound && !node->search.whole.empty()) {
            is_present_.assign(problem_.target().n_classes, 0);
            const std::uint16_t* classes = problem_.target().classes;
            for (std::uint32_t row : node->cases.rows) is_present_[classes[row]] = 1;
            const std::vector<Cost>& costs = problem_.parts[node->part].costs;
            for (std::uint32_t row : node->search.whole) {
                if (!is_present_[classes[row]]) node->bound += costs[row];
            }
        }
        return node->bound;
    }

    // Bound (c) without any decision, memoised by its depth.
    Cost deep_bound(CaseNode* node, int depth) {
        const Cost simple = simple_bound(node);
        if (depth == 0 || node->stops || node->search.whole.empty()) return simple;
        if (node->bound_depth >= depth) return node->bound;
        Cost least = std::max(simple, node->leaf_cost);
        for (std::uint32_t position = 0; least > simple; ++position) {
            const std::int32_t feature = lattice_.feature_at(node, position);
            if (feature < 0) break;
            least = std::min(least, bound_of_split(node, feature, depth - 1, least));
        }
        if (control_.stopped()) return simple;
        node->bound = std::max(node->bound, least);
        node->bound_depth = static_cast<std::int8_t>(depth);
        return node->bound;
    }

    Cost bound_of_split(CaseNode* node, std::int32_t feature, int depth, Cost enough) {
        const Children children = lattice_.split(node, feature);
        Cost bound = 0;
        for (std::uint32_t b = 0; b < children.n && bound < enough; ++b) {
            bound += deep_bound(children.nodes[b], depth);
        }
        return bound;
    }

    // Bound (c) under the decisions made.
    void tighten(OpenNode& open) {
        if (open.node->search.whole.empty()) return;
        Cost least = std::numeric_limits<Cost>::max();
        for (std::uint32_t position = open.position; least > open.bound; ++position) {
            const std::int32_t feature = lattice_.feature_at(open.node, position);
            if (feature < 0) {
                least = std::min(least, open.node->leaf_cost);
                break;
            }
            if (is_out_[feature]) continue;
            least = std::min(least, bound_of_split(open.node, feature, rules_.lookahead - 1, least));
            if (is_in_[feature]) break;
        }
        if (!control_.stopped()) open.bound = std::max(open.bound, least);
    }

    bool is_hopeless(const Frame& frame) const {
        if (!prunes_) return false;
        if (!rules_.only_best) return frame.bound > rules_.limit;
        if (!has_best_) return false;
        const Cost best = rated(best_);
        if (frame.bound + rules_.slack > best) return true;
        if (frame.bound + rules_.slack < best) return false;
        return rules_.slack > 0 || n_in_ >= static_cast<std::int64_t>(best_.features.size());
    }

    // The feature to decide next: of the open node with most search rows; the first when enumerating.
    std::int32_t choose(const Frame& frame) const {
        if (!rules_.only_best) return frame.open[0].feature;
        const OpenNode* chosen = &frame.open[0];
        std::size_t most = 0;
        for (const OpenNode& open : frame.open) {
            const std::size_t n = open.node->search.whole.size() + open.node->search.shared.size();
            if (n > most) {
                most = n;
                chosen = &open;
            }
        }
        return chosen->feature;
    }

    // Rates a whole tree; false when it is not wanted.
    bool finish(const Frame& frame, FoundTree& tree) {
        tree.features.clear();
        for (std::size_t f = 0; f < is_in_.size(); ++f) {
            if (is_in_[f]) tree.features.push_back(static_cast<std::int32_t>(f));
        }
        tree.n_leaves = frame.n_leaves;
        tree.cost = frame.cost;
        if (problem_.has_rating()) {
            tree.cost = problem_.rate(tree.features);
        } else if (frame.has_shared) {
            // Anew: rows below settled nodes may be shared too, and must not count twice.
            const FeatureSet set{is_in_.data(), -1};
            walk_.run(lattice_.roots().data(), lattice_.roots().size(), set, outcome_);
            tree.cost = walk_.total(outcome_, set);
        }
        ++stats_.n_trees;
        if (!rules_.only_best) return tree.cost <= rules_.limit;
        if (has_best_) {
            const Cost cost = rated(tree), best = rated(best_);
            const bool smaller = tree.features.size() < best_.features.size();
            if (cost > best || (cost == best && !smaller)) return false;
        }
        best_ = tree;
        has_best_ = true;
        return true;
    }

    void forget_if_over_budget() {
        if (!lattice_.is_over_budget()) return;
        for (const Frame& frame : frames_) {
            for (const OpenNode& open : frame.open) lattice_.pin(open.node);
        }
        lattice_.clear_unpinned();
        for (const Frame& frame : frames_) {
            for (const OpenNode& open : frame.open) lattice_.unpin(open.node);
        }
    }

    const Problem& problem_;
    BestRules rules_;
    SearchControl& control_;
    Lattice lattice_;
    TreeWalk walk_;
    std::vector<std::uint8_t> is_in_, is_out_;
    bool prunes_;             // by the cost of finished leaves
    bool has_bounds_ = false;  // and by bounds of open nodes
    std::int64_t n_in_ = 0, n_out_ = 0, n_steps_ = 0;
    std::vector<Frame> frames_;
    FoundTree best_;
    bool has_best_ = false;
    double progress_ = 0.0;
    DecisionStats stats_;
    Outcome outcome_;
    std::vector<std::uint8_t> is_present_;
};

}  // namespace sktree_opt::subset
