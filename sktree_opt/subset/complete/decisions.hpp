// State of a search by decisions: the unfinished trees, the wanted ones, and the sub-searches that
// are left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/complete/subset_bounds.hpp"

namespace sktree_opt::subset {

struct OpenNode {
    CaseNode* node;
    std::uint32_t position;  // in its ranking
    std::int32_t unit;       // undecided, of the feature at that position
    Relaxed bound;
};

// Nodes whose trees have still to be grown. The node that may raise the bound most for its cases
// comes first, or the newest one. Whether a node is ranked already does not matter, since that
// depends on earlier searches.
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
        nodes_.back().worth =
            node.stops ? std::numeric_limits<double>::infinity() : unknown / node.cases.size();
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

struct DecisionFrame {
    std::vector<OpenNode> open;
    Cost cost = 0;          // of finished leaves
    Cost bound = 0;         // of any tree that can become of this, with prices
    Cost least_cost = 0;    // the same without prices
    std::int64_t size = 0;  // features of any such tree of that cost; by_size: of any such tree
    std::int64_t n_leaves = 0;
    bool has_shared = false;
    bool is_cut = false;  // not grown to its end: no tree that can become of it is wanted
    int stage = 0;        // 0: new; 1: the unit is in; 2: it is out
    std::int32_t unit = -1;
};

// A whole tree.
struct FoundTree {
    std::vector<std::int32_t> features;
    Cost cost = 0;
    std::int64_t n_leaves = 0;
};

struct BestRules {
    BoundRules bounds;
    bool only_best = false;    // search the best; else enumerate
    Cost slack = 0;            // delta
    std::vector<Cost> prices;  // what each feature adds to the cost of a tree; empty: nothing
    Cost limit = std::numeric_limits<Cost>::max();       // only trees up to this cost, with prices
    Cost cost_limit = std::numeric_limits<Cost>::max();  // and up to this cost, without them
    std::int64_t min_size = 0;                           // and of so many features
    std::int64_t max_size = std::numeric_limits<std::int64_t>::max();
    bool by_size = false;  // the best tree is the one of fewest features, then of least cost

    bool has_prices() const { return !prices.empty(); }
    Cost price_of(const std::vector<std::int32_t>& features) const {
        Cost price = 0;
        if (has_prices()) {
            for (std::int32_t feature : features) price += prices[feature];
        }
        return price;
    }
    Cost rate(const FoundTree& tree) const { return tree.cost + price_of(tree.features); }
    bool allows(const FoundTree& tree) const {
        const auto size = static_cast<std::int64_t>(tree.features.size());
        return size >= min_size && size <= max_size && tree.cost <= cost_limit;
    }
    bool is_better(const FoundTree& tree, const FoundTree& best) const {
        const std::size_t size = tree.features.size(), least_size = best.features.size();
        const Cost ours = rate(tree), theirs = rate(best);
        if (by_size) return size != least_size ? size < least_size : ours < theirs;
        return ours != theirs ? ours < theirs : size < least_size;
    }
    // No tree is wanted that costs this.
    Cost unwanted(const FoundTree& best) const { return rate(best) - slack + (slack > 0 ? 0 : 1); }
    // Whether no tree of at least this cost, and size if it costs just that, is wanted any more.
    bool is_hopeless(Cost bound, std::int64_t size, const FoundTree& best) const {
        const Cost to_beat = rate(best);
        const auto least_size = static_cast<std::int64_t>(best.features.size());
        if (by_size) return size != least_size ? size > least_size : bound >= to_beat;
        if (bound + slack != to_beat) return bound + slack > to_beat;
        return slack > 0 || size >= least_size;
    }
};

// Decisions below which nothing has been searched.
struct SubSearch {
    std::vector<std::uint8_t> decisions;  // by unit
    Cost bound = 0;
    std::int64_t size = 0;  // features of any tree of that bound; by_size: of any tree
    double share = 1.0;     // of the whole search
};

struct DecisionStats {
    std::int64_t n_decisions = 0;
    std::int64_t n_trees = 0;
    std::int64_t n_pruned = 0;
    std::int64_t max_open = 0;

    void add(const DecisionStats& other) {
        n_decisions += other.n_decisions;
        n_trees += other.n_trees;
        n_pruned += other.n_pruned;
        max_open = std::max(max_open, other.max_open);
    }
};

}  // namespace sktree_opt::subset
