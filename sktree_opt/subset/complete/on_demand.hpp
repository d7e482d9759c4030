// Deciding features on demand: all distinct trees DT(S), or the best of them.
//
// Problem: enumerate the distinct trees over all feature sets S, each once; or find a set of least
// error. Exact.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// sections 4 and 5, http://jmlr.org/papers/v20/18-035.html. The order of the search is ours.
//
//   R, F \ (R u S)    -> decisions_         units decided: in S, not in S; the others are undecided
//   T                 -> DecisionFrame              a tree in the making: its leaves, and its open
//                                                   nodes
//   err_bst           -> best_
//   lberr             -> DecisionFrame::bound
//   delta, epsilon    -> BestRules::slack, BestRules::prices
//
// A unit is a feature, or several that are in or out together. A node of DT(S) tests the first
// feature of its ranking that is in S. Going down its ranking past features that are out, a feature
// that is in is tested, the end of the ranking makes a leaf, and an undecided feature leaves the
// node open. When only open nodes are left, the first unit of one of them is decided: in, then out.
// The search finds all and only the distinct trees, each once. Every S takes exactly one path of
// decisions, so its tree is found. A unit that is in was decided at a node that then tests it, so
// the tree uses all of them. Two ends of paths part at some unit that one tree uses and the other
// cannot use. Hence there are as many ends as distinct trees, and one decision less.
//
// For the best tree only: bounds of the open nodes (subset_bounds.hpp). A node below which no
// answer can change the cost is no longer open: its features stay undecided, and out of S.
//
// A search can begin at any decisions, and be left: `remaining` are the decisions from which others
// can go on (complete.hpp).
// Cost: one step for each decision; memory: the open nodes of one path of decisions, and the
// lattice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/complete/decisions.hpp"
#include "sktree_opt/subset/lattice/tree_walk.hpp"

namespace sktree_opt::subset {

class OnDemandSearch {
public:
    OnDemandSearch(const SearchProblem& problem, const BestRules& rules, SearchControl& control,
                   std::int64_t budget)
        : problem_(problem),
          rules_(rules),
          control_(control),
          lattice_(problem, control, budget),
          walk_(lattice_),
          bounds_(lattice_, rules.bounds),
          decisions_(problem.n_units(), UNDECIDED),
          prunes_(rules.only_best || rules.limit < std::numeric_limits<Cost>::max()) {
        // A user's error is not a sum over nodes, and C4.5's is not a sum over search rows.
        if (problem.has_rating()) prunes_ = false;
        has_bounds_ = prunes_ && !problem.is_pessimistic;
        looks_ahead_ = has_bounds_ && rules.bounds.lookahead > 0;
        growing_.dearest_first = has_bounds_ && rules.bounds.grows_dearest;
    }

    // Begins at some decisions. The search is for what is better than `best`, if there is one.
    void start(const SubSearch& from, const FoundTree* best) {
        has_best_ = best != nullptr;
        if (has_best_) best_ = *best;
        lattice_.leave_out(rules_.bounds.leaves_out ? decisions_.data() : nullptr);
        frames_.clear();
        decisions_ = from.decisions;
        share_ = from.share;
        progress_ = 0.0;
        n_in_ = in_price_ = 0;
        for (std::size_t u = 0; u < decisions_.size(); ++u) {
            if (decisions_[u] == IN) count_in(static_cast<std::int32_t>(u), 1);
        }
        DecisionFrame frame;
        floor_ = in_price_;
        for (CaseNode* root : lattice_.roots()) floor_ += node_bound(root);
        growing_.clear();
        for (CaseNode* root : lattice_.roots()) {
            grow_later({root, 0, -1, {}}, node_bound(root));
        }
        settle(frame);
        push(std::move(frame), from.bound, from.size);
    }

    // The next tree; false at the end, when stopped, or when as many decisions have been made. When
    // the best is searched for, each tree is better than the last one.
    bool next(FoundTree& tree, std::int64_t max_decisions) {
        while (!frames_.empty() && stats_.n_decisions < max_decisions) {
            if ((++n_steps_ & 63) == 0 && control_.poll()) return false;
            if (control_.stopped()) return false;
            DecisionFrame& frame = frames_.back();
            if (frame.stage > 0) {
                go_on(frame);
            } else if (is_hopeless(frame)) {
                ++stats_.n_pruned;
                leave();
            } else if (frame.open.empty()) {
                const bool wanted = finish(frame, tree);
                if (control_.stopped()) return false;
                leave();
                if (wanted) return true;
            } else if (try_choices(frame, tree)) {
                return true;
            } else {
                begin(frame);
            }
        }
        return false;
    }

    // What has not been searched, the last first; its shares and `progress` add up to that of the
    // start.
    std::vector<SubSearch> remaining() const {
        std::vector<SubSearch> left;
        std::vector<std::uint8_t> decisions = decisions_;
        for (std::size_t level = frames_.size(); level-- > 0;) {
            const DecisionFrame& frame = frames_[level];
            if (frame.stage == 0) {
                left.push_back({decisions, frame.bound, frame.size, share_at(level)});
                continue;
            }
            if (frame.stage == 1) {
                decisions[frame.unit] = OUT;
                left.push_back({decisions, frame.bound, frame.size, share_at(level + 1)});
            }
            decisions[frame.unit] = UNDECIDED;
        }
        return left;
    }

    double progress() const { return progress_; }
    DecisionStats& stats() { return stats_; }
    const LatticeStats& lattice_stats() const { return lattice_.stats(); }

private:
    double share_at(std::size_t level) const {
        return std::ldexp(share_, -static_cast<int>(level));
    }

    // No tree below the last frame is wanted.
    void leave() {
        progress_ += share_at(frames_.size() - 1);
        frames_.pop_back();
    }

    void set(std::int32_t unit, Decision decision) {
        if (decisions_[unit] == IN) count_in(unit, -1);
        decisions_[unit] = decision;
        if (decision == IN) count_in(unit, 1);
    }

    void count_in(std::int32_t unit, int sign) {
        n_in_ += sign * problem_.unit_size(unit);
        if (rules_.has_prices()) in_price_ += sign * rules_.price_of(problem_.units[unit]);
    }

    void begin(DecisionFrame& frame) {
        ++stats_.n_decisions;
        frame.unit = choose(frame);
        frame.stage = 1;
        set(frame.unit, IN);
        descend(frame);
    }

    void go_on(DecisionFrame& frame) {
        if (frame.stage == 1) {
            frame.stage = 2;
            set(frame.unit, OUT);
            descend(frame);
            return;
        }
        set(frame.unit, UNDECIDED);
        frames_.pop_back();
    }

    void descend(DecisionFrame& frame) {
        forget_if_over_budget();
        const Cost bound = frame.bound;
        const std::int64_t size = frame.size;
        push(decide(frame), bound, size);
    }

    // Adds a frame whose bound is not below `bound`.
    void push(DecisionFrame&& frame, Cost bound, std::int64_t size) {
        if (control_.stopped() || problem_.has_rating()) {  // it may be wrong, or says nothing
            frame.bound = bound;
            frame.size = size;
        } else if (frame.is_cut) {
            frame.least_cost = floor_ - in_price_;
            frame.bound = std::max(floor_, bound);
            frame.size = floor_ < bound ? size : n_in_;
            if (floor_ == bound) frame.size = std::max(frame.size, size);
        } else {
            frame.least_cost = frame.cost;
            for (const OpenNode& open : frame.open) frame.least_cost += open.bound.cost;
            frame.bound = frame.least_cost + in_price_;
            frame.size = n_in_;
            // With prices, equal bounds of the cost are not ties.
            if (!rules_.has_prices()) {
                for (const OpenNode& open : frame.open) {
                    frame.size = std::max(frame.size, open.bound.size);
                }
            }
            if (frame.bound < bound) frame.size = n_in_;
            if (frame.bound <= bound) {
                frame.bound = bound;
                frame.size = std::max(frame.size, size);
            }
        }
        if (rules_.by_size) frame.size = n_in_;
        stats_.max_open = std::max(stats_.max_open, static_cast<std::int64_t>(frame.open.size()));
        frames_.push_back(std::move(frame));
    }

    // The frame that follows from the decision about `frame.unit`.
    DecisionFrame decide(const DecisionFrame& frame) {
        DecisionFrame next;
        next.cost = frame.cost;
        next.n_leaves = frame.n_leaves;
        next.has_shared = frame.has_shared;
        next.open.reserve(frame.open.size() + 4);
        const UnitMask mask = mask_of(frame.unit);
        const bool is_in = decisions_[frame.unit] == IN;
        floor_ = frame.cost + in_price_;
        for (const OpenNode& open : frame.open) floor_ += open.bound.cost;
        growing_.clear();
        for (const OpenNode& open : frame.open) {
            if (open.unit == frame.unit) {
                grow_later(open, open.bound.cost);
                continue;
            }
            next.open.push_back(open);
            const UnitMask against = is_in ? open.bound.out : open.bound.in;
            if (looks_ahead_ && (!rules_.bounds.uses_choices || (against & mask) != 0)) {
                tighten(next.open.back());
                floor_ += next.open.back().bound.cost - open.bound.cost;
            }
        }
        settle(next);
        return next;
    }

    Cost node_bound(CaseNode* node) { return has_bounds_ ? bounds_.of_node(node) : 0; }

    // Puts a node aside for `settle`; `floor_` has its bound.
    void grow_later(OpenNode open, Cost bound) {
        open.bound.cost = bound;
        growing_.push(open);
    }

    // Grows the nodes that were put aside until the next decision, and adds finished leaves and
    // open nodes to `frame`. Ranking the cases of new nodes takes time, so the bound of the frame
    // is checked before each ranking.
    void settle(DecisionFrame& frame) {
        while (!growing_.empty()) {
            OpenNode open = growing_.pop();
            const Cost before = open.bound.cost;
            if (rules_.only_best && rules_.min_size == 0 && is_settled(open.node)) {
                finish_leaf(open, all_cost(open.node), frame);
                continue;
            }
            if (is_unwanted(floor_)) {
                cut(open, frame);
                return;
            }
            RankedSplit* ranked = lattice_.ranked_at(open.node, open.position);
            while (ranked != nullptr && decisions_[problem_.unit_of[ranked->feature]] == OUT) {
                ranked = lattice_.ranked_at(open.node, ++open.position);
            }
            if (ranked == nullptr) {
                finish_leaf(open, open.node->leaf_cost, frame);
                frame.has_shared |= !open.node->search.shared.empty();
                continue;
            }
            open.unit = problem_.unit_of[ranked->feature];
            if (decisions_[open.unit] == IN) {
                if (looks_ahead_) {
                    const Cost of_split = bounds_.of_split(open.node, open.position);
                    if (is_unwanted(floor_ - before + of_split)) {
                        floor_ += of_split - before;
                        open.bound.cost = of_split;
                        cut(open, frame);
                        return;
                    }
                }
                const Children children = lattice_.split(open.node, ranked);
                floor_ -= before;
                for (std::uint32_t b = children.n; b-- > 0;) {
                    const Cost bound = node_bound(children.nodes[b]);
                    grow_later({children.nodes[b], 0, -1, {}}, bound);
                    floor_ += bound;
                }
            } else {
                open.bound = Relaxed();
                open.bound.cost = node_bound(open.node);
                open.bound.is_whole = false;
                if (looks_ahead_) tighten(open);
                floor_ += open.bound.cost - before;
                frame.open.push_back(open);
            }
        }
    }

    // All trees below the node cost the same.
    void finish_leaf(const OpenNode& open, Cost cost, DecisionFrame& frame) {
        frame.cost += cost;
        floor_ += cost - open.bound.cost;
        ++frame.n_leaves;
    }

    // No tree of this frame is wanted. Nodes that `settle` has not reached stay open.
    void cut(const OpenNode& open, DecisionFrame& frame) {
        frame.is_cut = true;
        frame.open.push_back(open);
        growing_.append_to(frame.open);
    }

    // Whether all trees below a node cost the same.
    bool is_settled(CaseNode* node) {
        if (!has_bounds_ || node->stops || !node->search.shared.empty()) return false;
        if (node->search.whole.empty()) return true;
        return rules_.bounds.uses_class_bound && !problem_.has_losses() &&
               !problem_.is_regression() && bounds_.of_node(node) == all_cost(node);
    }
    Cost all_cost(const CaseNode* node) const {
        const std::vector<Cost>& costs = problem_.parts[node->part].costs;
        Cost cost = 0;
        for (std::uint32_t row : node->search.whole) cost += costs[row];
        return cost;
    }

    // The look-ahead under the decisions made; its size becomes that of a whole tree.
    void tighten(OpenNode& open) {
        Relaxed relaxed = bounds_.look_ahead(open.node, open.position, decisions_.data());
        if (control_.stopped()) return;
        relaxed.size += n_in_;
        if (relaxed.cost < open.bound.cost) {
            relaxed.cost = open.bound.cost;
            relaxed.size = open.bound.size;
            relaxed.is_whole = false;
        }
        open.bound = relaxed;
    }

    bool is_hopeless(const DecisionFrame& frame) const {
        if (n_in_ > rules_.max_size) return true;
        if (!prunes_) return false;
        return frame.least_cost > rules_.cost_limit || !is_wanted(frame.bound, frame.size);
    }
    // The same of a frame that is not grown to its end, where its bound so far is one.
    bool is_unwanted(Cost bound) const {
        if (!has_bounds_ || !rules_.bounds.cuts_short) return false;
        return bound - in_price_ > rules_.cost_limit || !is_wanted(bound, n_in_);
    }
    bool is_wanted(Cost bound, std::int64_t size) const {
        if (bound > rules_.limit) return false;
        return !rules_.only_best || !has_best_ || !rules_.is_hopeless(bound, size, best_);
    }

    // The unit to decide next: that of the node with most search rows; the first one when
    // enumerating.
    std::int32_t choose(const DecisionFrame& frame) const {
        if (!rules_.only_best) return frame.open[0].unit;
        const OpenNode* chosen = nullptr;
        std::size_t most_rows = 0;
        for (const OpenNode& open : frame.open) {
            const std::size_t n = open.node->search.whole.size() + open.node->search.shared.size();
            if (chosen != nullptr && n <= most_rows) continue;
            most_rows = n;
            chosen = &open;
        }
        return chosen->unit;
    }

    // Rates a whole tree; false when it is not wanted.
    bool finish(const DecisionFrame& frame, FoundTree& tree) {
        std::vector<std::int32_t> units;
        for (std::size_t u = 0; u < decisions_.size(); ++u) {
            if (decisions_[u] == IN) units.push_back(static_cast<std::int32_t>(u));
        }
        tree.features = features_of(problem_, units);
        tree.n_leaves = frame.n_leaves;
        tree.cost = frame.cost;
        if (problem_.has_rating()) {
            tree.cost = problem_.rate(tree.features);
        } else if (frame.has_shared) {
            // Anew: rows below settled nodes may be shared too, and must not count twice.
            rate_anew(decisions_, tree);
        }
        ++stats_.n_trees;
        return rules_.only_best ? accept(tree) : tree.cost <= rules_.limit && rules_.allows(tree);
    }

    // The tree that the choices of all open nodes make, if they agree and it is better.
    bool try_choices(const DecisionFrame& frame, FoundTree& tree) {
        if (!rules_.only_best || !looks_ahead_ || !rules_.bounds.uses_choices) return false;
        if (problem_.n_units() > 64 || frame.has_shared) return false;
        UnitMask in = 0, out = 0;
        for (const OpenNode& open : frame.open) {
            if (!open.bound.is_whole) return false;
            in |= open.bound.in;
            out |= open.bound.out;
        }
        if ((in & out) != 0) return false;
        std::vector<std::uint8_t> decisions = decisions_;
        std::vector<std::int32_t> units;
        for (std::size_t u = 0; u < decisions.size(); ++u) {
            if (in >> u & 1u) decisions[u] = IN;
            if (decisions[u] == IN) units.push_back(static_cast<std::int32_t>(u));
        }
        tree.features = features_of(problem_, units);
        tree.cost = frame.bound - in_price_;
        if (has_best_ && !rules_.is_better(tree, best_)) return false;
        rate_anew(decisions, tree);
        ++stats_.n_trees;
        return !control_.stopped() && accept(tree);
    }

    void rate_anew(const std::vector<std::uint8_t>& decisions, FoundTree& tree) {
        const FeatureSet set{&problem_, decisions.data(), -1};
        walk_.run(lattice_.roots().data(), lattice_.roots().size(), set, outcome_);
        tree.cost = walk_.total(outcome_, set);
        tree.n_leaves = outcome_.n_leaves;
    }

    bool accept(const FoundTree& tree) {
        if (rules_.rate(tree) > rules_.limit || !rules_.allows(tree)) return false;
        if (has_best_ && !rules_.is_better(tree, best_)) return false;
        best_ = tree;
        has_best_ = true;
        return true;
    }

    void forget_if_over_budget() {
        if (!lattice_.is_over_budget()) return;
        for (const DecisionFrame& frame : frames_) {
            for (const OpenNode& open : frame.open) lattice_.pin(open.node);
        }
        lattice_.clear_unpinned();
        for (const DecisionFrame& frame : frames_) {
            for (const OpenNode& open : frame.open) lattice_.unpin(open.node);
        }
    }

    const SearchProblem& problem_;
    BestRules rules_;
    SearchControl& control_;
    Lattice lattice_;
    TreeWalk walk_;
    SubsetBounds bounds_;
    std::vector<std::uint8_t> decisions_;
    bool prunes_;              // by the cost of finished leaves
    bool has_bounds_ = false;  // and by bounds of open nodes
    bool looks_ahead_ = false;
    std::int64_t n_in_ = 0, n_steps_ = 0;  // n_in_: features
    Cost in_price_ = 0;                    // prices of the features that are in
    Cost floor_ = 0;                       // bound of the frame that is being made
    std::vector<DecisionFrame> frames_;
    GrowingNodes growing_;
    FoundTree best_;
    bool has_best_ = false;
    double share_ = 1.0, progress_ = 0.0;
    DecisionStats stats_;
    Outcome outcome_;
};

}  // namespace sktree_opt::subset
