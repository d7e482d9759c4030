// What a search by decisions is made of: the trees in the making, the wanted ones, and what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/reasons.hpp"

namespace sktree_opt::subset {

struct OpenNode {
    CaseNode* node;
    std::uint32_t position;  // in its ranking
    std::int32_t unit;       // undecided, of the feature at that position
    Relaxed bound;
    UnitMask path = 0;     // units decided on the way to the node
    UnitMask skipped = 0;  // and those that are out, of its ranking
};

// Nodes whose trees have still to be grown. What may raise the bound most for its cases comes first, or
// else what came last. Not what is ranked already: that depends on who searched what before.
class GrowingNodes {
public:
    bool dearest_first = false;

    bool empty() const { return nodes_.empty(); }
    void clear() { nodes_.clear(); }
    void push(const OpenNode& open) {
        nodes_.push_back({0.0, n_pushed_++, open});
        if (!dearest_first) return;
        // Some cost may come up anywhere, also where a leaf would make no mistake.
        constexpr double UNSEEN = 5.0;
        const CaseNode& node = *open.node;
        const double unknown = static_cast<double>(node.leaf_cost - open.bound.cost) + UNSEEN;
        nodes_.back().worth = node.stops ? std::numeric_limits<double>::infinity()
                                         : unknown / node.cases.size();
        std::push_heap(nodes_.begin(), nodes_.end());
    }
    OpenNode pop() {
        if (dearest_first) std::pop_heap(nodes_.begin(), nodes_.end());
        const OpenNode open = nodes_.back().open;
        nodes_.pop_back();
        return open;
    }
    void append_to(std::vector<OpenNode>& left) const {
        for (const Growing& growing : nodes_) left.push_back(growing.open);
    }

private:
    struct Growing {
        double worth;
        std::uint64_t age;  // the newest of equal ones comes first
        OpenNode open;
        bool operator<(const Growing& other) const {
            return worth != other.worth ? worth < other.worth : age < other.age;
        }
    };
    std::vector<Growing> nodes_;  // a heap, or the newest last
    std::uint64_t n_pushed_ = 0;
};

struct Frame {
    std::vector<OpenNode> open;
    std::vector<Claim> claims;  // of finished leaves, and of what a cut frame leaves aside
    Cost cost = 0;           // of finished leaves
    Cost bound = 0;          // of any tree that can become of this, with penalties
    std::int64_t size = 0;   // features of any such tree of that cost
    std::int64_t n_leaves = 0;
    bool has_shared = false;
    bool is_cut = false;     // not grown to its end: no tree that can become of it is wanted
    int stage = 0;           // 0: new; 1: the unit is in; 2: it is out
    std::int32_t unit = -1;
    UnitMask why = 0;        // the unit cannot be in
};

// A whole tree.
struct FoundTree {
    std::vector<std::int32_t> features;
    Cost cost = 0;
    std::int64_t n_leaves = 0;
};

struct BestRules {
    BoundRules bounds;
    bool only_best = false;      // search the best; else enumerate
    bool best_first = false;     // sub-searches of least bound first; else the newest
    Cost slack = 0;              // delta
    Cost penalty = 0;            // for each feature
    Cost limit = std::numeric_limits<Cost>::max();  // only trees up to this cost, with penalties
    double probe_share = 0.125;  // decisions of probes for each of the search (probes.hpp); 0: none

    Cost rate(Cost cost, std::size_t n_features) const {
        return cost + penalty * static_cast<Cost>(n_features);
    }
    bool is_better(const FoundTree& tree, const FoundTree& best) const {
        const Cost ours = rate(tree.cost, tree.features.size());
        const Cost theirs = rate(best.cost, best.features.size());
        return ours != theirs ? ours < theirs : tree.features.size() < best.features.size();
    }
    // No tree is wanted that costs this.
    Cost unwanted(const FoundTree& best) const {
        return rate(best.cost, best.features.size()) - slack + (slack > 0 ? 0 : 1);
    }
    // Whether no tree of at least this cost, and size if it costs just that, is wanted any more.
    bool is_hopeless(Cost bound, std::int64_t size, const FoundTree& best) const {
        const Cost to_beat = rate(best.cost, best.features.size());
        if (bound + slack != to_beat) return bound + slack > to_beat;
        return slack > 0 || size >= static_cast<std::int64_t>(best.features.size());
    }
};

// Decisions below which nothing has been searched.
struct SubSearch {
    std::vector<std::uint8_t> decisions;  // by unit
    Cost bound = 0;
    std::int64_t size = 0;  // features of any tree of that bound
    double share = 1.0;     // of the whole search
};

struct DecisionStats {
    std::int64_t n_decisions = 0;
    std::int64_t n_trees = 0;
    std::int64_t n_pruned = 0;
    std::int64_t n_jumps = 0;  // decisions that were not tried the other way
    std::int64_t max_open = 0;

    void add(const DecisionStats& other) {
        n_decisions += other.n_decisions;
        n_trees += other.n_trees;
        n_pruned += other.n_pruned;
        n_jumps += other.n_jumps;
        max_open = std::max(max_open, other.max_open);
    }
};

// What the failures of a search hang on.
class Failures {
public:
    static constexpr double MOST_WRONG = 256;  // rows

    Failures(const Problem& problem, const BestRules& rules) : problem_(problem), rules_(rules) {
        double cost = 0.0, n_rows = 0.0;
        for (const Part& part : problem.parts) {
            for (std::uint32_t row : part.search_rows) cost += static_cast<double>(part.costs[row]);
            n_rows += static_cast<double>(part.search_rows.size());
        }
        mean_cost_ = n_rows > 0.0 ? cost / n_rows : 0.0;
    }

    // Where few rows have all of the cost that is too much, other decisions play no part in a failure.
    // Where there are many, every decision plays one.
    bool are_explained(const FoundTree* best) const {
        Cost most = rules_.limit;
        if (best != nullptr) most = std::min(most, rules_.rate(best->cost, best->features.size()));
        return static_cast<double>(most) <= MOST_WRONG * mean_cost_;
    }

    const Blame& blame() const { return blame_; }
    void forget() { blame_ = Blame(); }

    // Units by whose decisions no tree is wanted that can become of the last frame. `n_in`: features.
    UnitMask why_hopeless(const std::vector<Frame>& frames,
                          const std::vector<std::uint8_t>& decisions, std::int64_t n_in,
                          const FoundTree* best) {
        const Frame& frame = frames.back();
        constexpr Cost NO_LIMIT = std::numeric_limits<Cost>::max();
        Cost too_much = rules_.limit < NO_LIMIT ? rules_.limit + 1 : NO_LIMIT;
        const bool has_best = rules_.only_best && best != nullptr;
        if (has_best) too_much = std::min(too_much, rules_.unwanted(*best));
        // What votes cost comes on top of the claims: a tree that fails by votes alone is not explained.
        UnitMask always = 0;
        Cost spare = collect(frame, decisions) - too_much;
        const bool may_tie = has_best && rules_.slack == 0 && too_much == rules_.unwanted(*best);
        if (spare == -1 && may_tie) {
            // It costs as much as the best, or more: then what matters is that it takes too many features.
            const auto most = static_cast<std::int64_t>(best->features.size());
            if (!takes_too_many(frame, n_in, most, always)) return ALL_UNITS;
            always |= mask_of_in(decisions);
            spare = 0;
        }
        if (spare < 0) return ALL_UNITS;
        latest_.clear();
        for (std::size_t level = frames.size() - 1; level-- > 0;) {
            const UnitMask unit = mask_of(frames[level].unit);
            if ((always & unit) == 0) latest_.push_back(unit);
        }
        const UnitMask why = always | explain(claims_, spare, latest_);
        blame_.add(why);
        return why;
    }

private:
    // Leaves the claims of a frame in `claims_`; their sum.
    Cost collect(const Frame& frame, const std::vector<std::uint8_t>& decisions) {
        claims_ = frame.claims;
        for (const OpenNode& open : frame.open) {
            const UnitMask why = open.path | open.skipped | open.bound.why;
            const Cost least = std::min(open.node->bound, open.bound.cost);
            claims_.push_back({open.bound.cost, why, least, open.path});
        }
        if (rules_.penalty > 0) {
            for (std::size_t u = 0; u < decisions.size(); ++u) {
                const auto unit = static_cast<std::int32_t>(u);
                if (decisions[u] != IN) continue;
                claims_.push_back({rules_.penalty * problem_.unit_size(unit), mask_of(unit), 0, 0});
            }
        }
        Cost sum = 0;
        for (const Claim& claim : claims_) sum += claim.cost;
        return sum;
    }

    bool takes_too_many(const Frame& frame, std::int64_t n_in, std::int64_t most,
                        UnitMask& why) const {
        if (n_in >= most) return true;
        if (rules_.penalty > 0) return false;
        for (const OpenNode& open : frame.open) {
            if (open.bound.size < most) continue;
            why = open.path | open.skipped | open.bound.why | open.bound.why_size;
            return true;
        }
        return false;
    }

    static UnitMask mask_of_in(const std::vector<std::uint8_t>& decisions) {
        UnitMask in = 0;
        for (std::size_t u = 0; u < decisions.size(); ++u) {
            if (decisions[u] == IN) in |= mask_of(static_cast<std::int32_t>(u));
        }
        return in;
    }

    const Problem& problem_;
    const BestRules& rules_;
    double mean_cost_;  // of search rows
    std::vector<Claim> claims_;
    std::vector<UnitMask> latest_;
    Blame blame_;
};

}  // namespace sktree_opt::subset
