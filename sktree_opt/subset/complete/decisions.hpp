// What a search by decisions is made of: the trees in the making, the wanted ones, and what is
// left.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/subset/complete/subset_bounds.hpp"

namespace sktree_opt::subset {

// Which decisions a failure hangs on, so that others are not tried in vain.
//
// Problem: below some decisions no tree is wanted, because it costs too much. Which of the
// decisions are needed to say so? Exact: any tree on which those units are decided alike costs too
// much. The scheme is known from constraint programming: P. Prosser, "Hybrid algorithms for the
// constraint satisfaction problem", Computational Intelligence 9 (1993), section 4
// (conflict-directed backjumping). That the parts of a cost come with their reasons is ours.
//
//   Claim         a part of the tree costs at least this, as long as some units stay decided: those
//                 on
//                 the path to a leaf or an open node, and those that its bound hangs on
//   explanation   enough claims to show that the whole costs too much, chosen to need no late
//                 decision
//
// Mostly a few leaves have all the cost, and the decisions of the other parts of the tree play no
// role: where the last decision plays none, its other side fails too. Two sides that fail for the
// reasons R and Q, which have the unit u in common, fail for R and Q without u.
// Units that many of the last failures hang on are decided early, where they fail for more (as in
// M. W. Moskewicz et al., "Chaff: engineering an efficient SAT solver", DAC 2001, section 3:
// VSIDS). Cost: claims times decisions.
constexpr UnitMask ALL_UNITS = ~UnitMask{0};

struct Claim {
    Cost cost = 0;
    UnitMask why = 0;
    Cost least = 0;          // what it costs for
    UnitMask why_least = 0;  // these reasons alone
};

// The units that show that the claims sum to what they do less `spare`, at most. `latest` are the
// decisions, the last first: what hangs on them is given up first.
inline UnitMask explain(std::vector<Claim>& claims, Cost spare,
                        const std::vector<UnitMask>& latest) {
    UnitMask used = 0;
    for (const Claim& claim : claims) used |= claim.why | claim.why_least;
    for (UnitMask unit : latest) {
        if ((used & unit) == 0) continue;
        Cost lost = 0;
        for (const Claim& claim : claims) {
            if ((claim.why_least & unit) != 0) {
                lost += claim.cost;
            } else if ((claim.why & unit) != 0) {
                lost += claim.cost - claim.least;
            }
        }
        if (lost > spare) continue;
        spare -= lost;
        used = 0;
        std::size_t n_kept = 0;
        for (Claim claim : claims) {
            if ((claim.why_least & unit) != 0) continue;
            if ((claim.why & unit) != 0) {
                claim.cost = claim.least;
                claim.why = claim.why_least;
            }
            if (claim.cost == 0) continue;
            used |= claim.why;
            claims[n_kept++] = claim;
        }
        claims.resize(n_kept);
    }
    return used;
}

// How much units have been to blame for failures, of which the last weigh most.
class Blame {
public:
    void add(UnitMask why) {
        weight_ *= GROWTH;
        for (; why != 0; why &= why - 1) blame_[lowest_bit(why)] += weight_;
        if (weight_ < LARGE) return;
        for (double& blame : blame_) blame /= LARGE;
        weight_ /= LARGE;
    }
    double of(std::int32_t unit) const { return blame_[unit & 63]; }

private:
    static constexpr double GROWTH = 1.05, LARGE = 1e100;
    std::array<double, 64> blame_{};
    double weight_ = 1.0;
};

struct OpenNode {
    CaseNode* node;
    std::uint32_t position;  // in its ranking
    std::int32_t unit;       // undecided, of the feature at that position
    Relaxed bound;
    UnitMask path = 0;     // units decided on the way to the node
    UnitMask skipped = 0;  // and those that are out, of its ranking
};

// Nodes whose trees have still to be grown. What may raise the bound most for its cases comes
// first, or else what came last. Not what is ranked already: that depends on who searched what
// before.
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
    std::vector<Claim> claims;  // of finished leaves, and of what a cut frame leaves aside
    Cost cost = 0;              // of finished leaves
    Cost bound = 0;             // of any tree that can become of this, with prices
    Cost least_cost = 0;        // the same without prices
    std::int64_t size = 0;      // features of any such tree of that cost; by_size: of any such tree
    std::int64_t n_leaves = 0;
    bool has_shared = false;
    bool is_cut = false;  // not grown to its end: no tree that can become of it is wanted
    int stage = 0;        // 0: new; 1: the unit is in; 2: it is out
    std::int32_t unit = -1;
    UnitMask why = 0;  // the unit cannot be in
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

    Failures(const SearchProblem& problem, const BestRules& rules)
        : problem_(problem), rules_(rules) {
        double cost = 0.0, n_rows = 0.0;
        for (const PartCases& part : problem.parts) {
            for (std::uint32_t row : part.search_rows) cost += static_cast<double>(part.costs[row]);
            n_rows += static_cast<double>(part.search_rows.size());
        }
        mean_cost_ = n_rows > 0.0 ? cost / n_rows : 0.0;
    }

    // Where few rows have all of the cost that is too much, other decisions play no part in a
    // failure. Where there are many, every decision plays one.
    bool are_explained(const FoundTree* best) const {
        Cost most = std::min(rules_.limit, rules_.cost_limit);
        if (best != nullptr && !rules_.by_size) most = std::min(most, rules_.rate(*best));
        return static_cast<double>(most) <= MOST_WRONG * mean_cost_;
    }

    const Blame& blame() const { return blame_; }
    void forget() { blame_ = Blame(); }

    // Units by whose decisions no tree is wanted that can become of the last frame. `n_in`:
    // features.
    UnitMask why_hopeless(const std::vector<DecisionFrame>& frames,
                          const std::vector<std::uint8_t>& decisions, std::int64_t n_in,
                          const FoundTree* best) {
        const DecisionFrame& frame = frames.back();
        constexpr Cost NO_LIMIT = std::numeric_limits<Cost>::max();
        Cost too_much = rules_.limit < NO_LIMIT ? rules_.limit + 1 : NO_LIMIT;
        const bool has_best = rules_.only_best && best != nullptr && !rules_.by_size;
        if (frame.least_cost > rules_.cost_limit) return why_too_dear(frame, frames);
        if (rules_.by_size) {
            const bool is_larger =
                best != nullptr && n_in > static_cast<std::int64_t>(best->features.size());
            return is_larger ? mask_of_in(decisions) : ALL_UNITS;
        }
        if (has_best) too_much = std::min(too_much, rules_.unwanted(*best));
        // What votes cost comes on top of the claims: a tree that fails by votes alone is not
        // explained.
        UnitMask always = 0;
        Cost spare = collect(frame, decisions) - too_much;
        const bool may_tie = has_best && rules_.slack == 0 && too_much == rules_.unwanted(*best);
        if (spare == -1 && may_tie) {
            // It costs as much as the best, or more: then what matters is that it takes too many
            // features.
            const auto most = static_cast<std::int64_t>(best->features.size());
            if (!takes_too_many(frame, n_in, most, always)) return ALL_UNITS;
            always |= mask_of_in(decisions);
            spare = 0;
        }
        return spare < 0 ? ALL_UNITS : why(frames, spare, always);
    }

private:
    UnitMask why(const std::vector<DecisionFrame>& frames, Cost spare, UnitMask always) {
        latest_.clear();
        for (std::size_t level = frames.size() - 1; level-- > 0;) {
            const UnitMask unit = mask_of(frames[level].unit);
            if ((always & unit) == 0) latest_.push_back(unit);
        }
        const UnitMask why = always | explain(claims_, spare, latest_);
        blame_.add(why);
        return why;
    }

    // The units that show that the cost without prices is above its own limit.
    UnitMask why_too_dear(const DecisionFrame& frame, const std::vector<DecisionFrame>& frames) {
        const Cost spare = collect_costs(frame) - (rules_.cost_limit + 1);
        return spare < 0 ? ALL_UNITS : why(frames, spare, 0);
    }

    // Leaves the claims of a frame, without prices, in `claims_`; their sum.
    Cost collect_costs(const DecisionFrame& frame) {
        claims_ = frame.claims;
        for (const OpenNode& open : frame.open) {
            const UnitMask why = open.path | open.skipped | open.bound.why;
            const Cost least = std::min(open.node->bound, open.bound.cost);
            claims_.push_back({open.bound.cost, why, least, open.path});
        }
        Cost sum = 0;
        for (const Claim& claim : claims_) sum += claim.cost;
        return sum;
    }

    // The same with prices.
    Cost collect(const DecisionFrame& frame, const std::vector<std::uint8_t>& decisions) {
        Cost sum = collect_costs(frame);
        if (!rules_.has_prices()) return sum;
        for (std::size_t u = 0; u < decisions.size(); ++u) {
            const auto unit = static_cast<std::int32_t>(u);
            if (decisions[u] != IN) continue;
            claims_.push_back({rules_.price_of(problem_.units[unit]), mask_of(unit), 0, 0});
            sum += claims_.back().cost;
        }
        return sum;
    }

    bool takes_too_many(const DecisionFrame& frame, std::int64_t n_in, std::int64_t most,
                        UnitMask& why) const {
        if (n_in >= most) return true;
        if (rules_.has_prices()) return false;
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

    const SearchProblem& problem_;
    const BestRules& rules_;
    double mean_cost_;  // of search rows
    std::vector<Claim> claims_;
    std::vector<UnitMask> latest_;
    Blame blame_;
};

}  // namespace sktree_opt::subset
