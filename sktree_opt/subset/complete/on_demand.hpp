// Deciding features on demand: all distinct trees DT(S), or the best of them.
//
// Problem: enumerate the distinct trees over all feature sets S, each once; or find a set of least
// error. Exact.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// sections 4 and 5, http://jmlr.org/papers/v20/18-035.html. The order of the search is ours.
//
//   R, F \ (R u S)    -> decisions_       units decided: in S, not in S; the others are undecided
//   T                 -> DecisionFrame    a tree in the making: its leaves, and its open nodes
//   err_bst           -> best_
//   lberr             -> DecisionFrame::bound (SubsetBounds)
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
// For the best tree only: bounds of the open nodes. A node below which no answer can change the
// cost is no longer open: its features stay undecided, and out of S.
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

#include "sktree_opt/subset/lattice/lattice.hpp"
#include "sktree_opt/subset/lattice/tree_traversal.hpp"

namespace sktree_opt::subset {

struct OpenNode {
    CaseNode* node;
    std::uint32_t position;  // in its ranking
    std::int32_t unit;       // undecided, of the feature at that position
    Cost bound;              // of its tree
};

struct DecisionFrame {
    std::vector<OpenNode> open;
    Cost cost = 0;          // of finished leaves
    Cost bound = 0;         // of any tree that can become of this, with prices
    Cost least_cost = 0;    // the same without prices
    std::int64_t size = 0;  // features that are in: any such tree has them
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
    bool looks_ahead = true;
    bool cuts_short = true;    // trees are not grown further than shows that they are not wanted
    bool leaves_out = true;    // features of units that are out, of rankings
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
    std::int64_t size = 0;  // features of any tree
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

// Lower bounds of the cost below a node, whatever is decided about the units that are still
// undecided. Exact bounds of a relaxation, in which every node may decide for itself. Ours: an open
// node of the paper counts 0.
//
// Rows that miss a tested value are decided by the votes of a whole tree: they count 0 here.
class SubsetBounds {
public:
    explicit SubsetBounds(Lattice& lattice) : lattice_(lattice), problem_(lattice.problem()) {}

    // At a node that can only be a leaf, the cost of the leaf.
    static Cost of_node(const CaseNode* node) { return node->stops ? node->leaf_cost : 0; }

    // The costs of the children of a split that can only be leaves. Counted from the codes of the
    // column, once for each split of a case set; no child is made.
    Cost of_split(CaseNode* node, std::size_t position) {
        if (node->split_bounds.size() <= position) {
            lattice_.grew(
                static_cast<std::int64_t>(8 * (node->ranking.size() - node->split_bounds.size())));
            node->split_bounds.resize(node->ranking.size(), -1);
        }
        Cost& bound = node->split_bounds[position];
        if (bound < 0) bound = count_split(node, node->ranking[position]);
        return bound;
    }

    // The minimum over the splits that a node may take: those of the ranking, from a place on,
    // whose unit is not out, up to the first that is in, and being a leaf if none is in. Garbage
    // when the search has stopped.
    Cost look_ahead(CaseNode* node, std::size_t position, std::uint8_t* decisions) {
        if (node->stops || node->search.whole.empty()) return of_node(node);
        Cost best = std::numeric_limits<Cost>::max();
        for (; best > 0; ++position) {
            RankedSplit* ranked = lattice_.ranked_at(node, position);
            if (ranked == nullptr) {
                best = std::min(best, node->leaf_cost);
                break;
            }
            const std::int32_t unit = problem_.unit_of[ranked->feature];
            const Decision decision = static_cast<Decision>(decisions[unit]);
            if (decision != OUT) best = std::min(best, of_split(node, position));
            if (decision == IN || lattice_.stopped()) break;
            // Its other features come later in the ranking.
            if (decision == UNDECIDED) {
                decisions[unit] = OUT;
                passed_.push_back(unit);
            }
        }
        for (std::int32_t unit : passed_) decisions[unit] = UNDECIDED;
        passed_.clear();
        return best;
    }

private:
    // Findings from the cases of a branch.
    struct BranchCases {
        NumberSums numbers;
        bool is_known = false;  // some case has a value that leads there
        bool is_leaf = false;   // it can only be a leaf
        NodeAnswer answer;      // of the leaf
    };

    Cost count_split(CaseNode* node, const RankedSplit& ranked) {
        lattice_.learner().build_split(node->cases, ranked.feature, ranked.low, ranked.high,
                                       split_);
        const greedy::Column& column = problem_.column(ranked.feature);
        sum_branches(node, column);
        const auto is_leaf = [](const BranchCases& branch) { return branch.is_leaf; };
        if (std::none_of(branches_.begin(), branches_.end(), is_leaf)) return 0;
        const PartCases& part = problem_.parts[node->part];
        Cost cost = 0;
        greedy::with_codes(column, [&](auto codes) {
            for (std::uint32_t row : node->search.whole) {
                const std::uint32_t code = codes[row];
                if (code == column.n_values) continue;
                const BranchCases& branch = branches_[split_.branch<std::uint32_t>(code)];
                if (branch.is_leaf) cost += problem_.cost_of(part, row, branch.answer);
            }
        });
        return cost;
    }

    void sum_branches(const CaseNode* node, const greedy::Column& column) {
        const greedy::CaseSet& cases = node->cases;
        const greedy::Target& target = problem_.target();
        const bool is_regression = problem_.is_regression();
        const std::uint32_t n_classes = is_regression ? 1 : target.n_classes;
        branches_.assign(split_.n_branches, BranchCases());
        counts_.assign(static_cast<std::size_t>(split_.n_branches) * n_classes, 0.0);
        bool some_missing = false;
        greedy::with_codes(column, [&](auto codes) {
            for (std::size_t i = 0; i < cases.rows.size(); ++i) {
                const std::uint32_t row = cases.rows[i], code = codes[row];
                if (code == column.n_values) {
                    some_missing = true;
                    continue;
                }
                const double weight = cases.weights.empty() ? 1.0 : cases.weights[i];
                const auto b = split_.branch<std::uint32_t>(code);
                branches_[b].is_known = true;
                if (is_regression) branches_[b].numbers.add(target.values[row], weight);
                else counts_[b * n_classes + target.classes[row]] += weight;
            }
        });
        for (std::uint32_t b = 0; b < split_.n_branches; ++b) {
            BranchCases& branch = branches_[b];
            if (!branch.is_known) {
                // A branch of no known case gets no share of the missing ones: it is empty.
                branch.is_leaf = true;
                branch.answer = node->answer;
            } else if (!some_missing) {
                describe(node, counts_.data() + static_cast<std::size_t>(b) * n_classes, branch);
            }
        }
    }

    // Whether a branch with known cases alone can only be a leaf, and what it answers.
    void describe(const CaseNode* node, const double* counts, BranchCases& branch) const {
        double weight = branch.numbers.weight, mean = 0.0;
        if (problem_.is_regression()) {
            branch.is_leaf = branch.numbers.is_pure();
            mean = branch.numbers.mean();
        } else {
            std::uint32_t n_present = 0;
            for (std::uint32_t c = 0; c < problem_.target().n_classes; ++c) {
                weight += counts[c];
                n_present += counts[c] > 0.0;
            }
            branch.is_leaf = n_present <= 1;
        }
        branch.is_leaf |= lattice_.learner().is_too_small(weight, node->depth + 1);
        if (!branch.is_leaf) return;
        branch.answer = problem_.answer(problem_.is_regression() ? &mean : counts, 1e-9 * weight);
    }

    Lattice& lattice_;
    const SearchProblem& problem_;
    std::vector<std::int32_t> passed_;  // units that are out only while looking ahead
    greedy::Split split_;
    std::vector<BranchCases> branches_;
    std::vector<double> counts_;  // by branch and class
};

class OnDemandSearch {
public:
    OnDemandSearch(const SearchProblem& problem, const BestRules& rules, SearchControl& control,
                   std::int64_t budget)
        : problem_(problem),
          rules_(rules),
          control_(control),
          lattice_(problem, control, budget),
          traversal_(lattice_),
          bounds_(lattice_),
          decisions_(problem.n_units(), UNDECIDED),
          prunes_(rules.only_best || rules.limit < std::numeric_limits<Cost>::max()) {
        // A user's error is not a sum over nodes, and C4.5's is not a sum over search rows.
        if (problem.has_rating()) prunes_ = false;
        has_bounds_ = prunes_ && !problem.is_pessimistic;
        looks_ahead_ = has_bounds_ && rules.looks_ahead;
    }

    // Begins at some decisions. The search is for what is better than `best`, if there is one.
    void start(const SubSearch& from, const FoundTree* best) {
        has_best_ = best != nullptr;
        if (has_best_) best_ = *best;
        lattice_.leave_out(rules_.leaves_out ? decisions_.data() : nullptr);
        frames_.clear();
        decisions_ = from.decisions;
        share_ = from.share;
        progress_ = 0.0;
        n_in_ = in_price_ = 0;
        for (std::size_t u = 0; u < decisions_.size(); ++u) {
            if (decisions_[u] == IN) count_in(static_cast<std::int32_t>(u), 1);
        }
        DecisionFrame frame;
        sum_of_bounds_ = in_price_;
        for (CaseNode* root : lattice_.roots()) sum_of_bounds_ += node_bound(root);
        growing_.clear();
        for (CaseNode* root : lattice_.roots()) {
            growing_.push_back({root, 0, -1, node_bound(root)});
        }
        settle(frame);
        push(std::move(frame), from.bound);
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
        push(decide(frame), bound);
    }

    // Adds a frame whose bound is not below `bound`.
    void push(DecisionFrame&& frame, Cost bound) {
        frame.bound = bound;
        frame.size = n_in_;
        // After a stop it may be wrong, and a user's error is not a sum over nodes.
        if (!control_.stopped() && !problem_.has_rating()) {
            frame.least_cost = frame.is_cut ? sum_of_bounds_ - in_price_ : frame.cost;
            if (!frame.is_cut) {
                for (const OpenNode& open : frame.open) frame.least_cost += open.bound;
            }
            frame.bound = std::max(bound, frame.least_cost + in_price_);
        }
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
        sum_of_bounds_ = frame.cost + in_price_;
        for (const OpenNode& open : frame.open) sum_of_bounds_ += open.bound;
        growing_.clear();
        for (const OpenNode& open : frame.open) {
            if (open.unit == frame.unit) {
                growing_.push_back(open);
                continue;
            }
            next.open.push_back(open);
            if (looks_ahead_) {
                tighten(next.open.back());
                sum_of_bounds_ += next.open.back().bound - open.bound;
            }
        }
        settle(next);
        return next;
    }

    Cost node_bound(const CaseNode* node) const {
        return has_bounds_ ? SubsetBounds::of_node(node) : 0;
    }

    // Grows the nodes of `growing_`, the newest first, until the next decision, and adds finished
    // leaves and open nodes to `frame`. `sum_of_bounds_` has their bounds. Ranking the cases of new
    // nodes takes time, so the bound of the frame is checked before each ranking.
    void settle(DecisionFrame& frame) {
        while (!growing_.empty()) {
            OpenNode open = growing_.back();
            growing_.pop_back();
            const Cost before = open.bound;
            if (rules_.only_best && rules_.min_size == 0 && is_settled(open.node)) {
                finish_leaf(open, 0, frame);
                continue;
            }
            if (is_unwanted(sum_of_bounds_)) {
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
                    if (is_unwanted(sum_of_bounds_ - before + of_split)) {
                        sum_of_bounds_ += of_split - before;
                        open.bound = of_split;
                        cut(open, frame);
                        return;
                    }
                }
                const Children children = lattice_.split(open.node, ranked);
                sum_of_bounds_ -= before;
                for (std::uint32_t b = children.n; b-- > 0;) {
                    const Cost bound = node_bound(children.nodes[b]);
                    growing_.push_back({children.nodes[b], 0, -1, bound});
                    sum_of_bounds_ += bound;
                }
            } else {
                open.bound = node_bound(open.node);
                if (looks_ahead_) tighten(open);
                sum_of_bounds_ += open.bound - before;
                frame.open.push_back(open);
            }
        }
    }

    void finish_leaf(const OpenNode& open, Cost cost, DecisionFrame& frame) {
        frame.cost += cost;
        sum_of_bounds_ += cost - open.bound;
        ++frame.n_leaves;
    }

    // No tree of this frame is wanted. Nodes that `settle` has not reached stay open.
    void cut(const OpenNode& open, DecisionFrame& frame) {
        frame.is_cut = true;
        frame.open.push_back(open);
        frame.open.insert(frame.open.end(), growing_.begin(), growing_.end());
    }

    // Whether no answer below a node can change the cost.
    bool is_settled(const CaseNode* node) const {
        return has_bounds_ && !node->stops && !node->is_reached;
    }

    // The look-ahead under the decisions made.
    void tighten(OpenNode& open) {
        const Cost bound = bounds_.look_ahead(open.node, open.position, decisions_.data());
        if (!control_.stopped()) open.bound = std::max(open.bound, bound);
    }

    bool is_hopeless(const DecisionFrame& frame) const {
        if (n_in_ > rules_.max_size) return true;
        if (!prunes_) return false;
        return frame.least_cost > rules_.cost_limit || !is_wanted(frame.bound, frame.size);
    }
    // The same of a frame that is not grown to its end, where its bound so far is one.
    bool is_unwanted(Cost bound) const {
        if (!has_bounds_ || !rules_.cuts_short) return false;
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

    void rate_anew(const std::vector<std::uint8_t>& decisions, FoundTree& tree) {
        const FeatureSet set{&problem_, decisions.data(), -1};
        traversal_.run(lattice_.roots().data(), lattice_.roots().size(), set, outcome_);
        tree.cost = traversal_.total(outcome_, set);
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
    TreeTraversal traversal_;
    SubsetBounds bounds_;
    std::vector<std::uint8_t> decisions_;
    bool prunes_;              // by the cost of finished leaves
    bool has_bounds_ = false;  // and by bounds of open nodes
    bool looks_ahead_ = false;
    std::int64_t n_in_ = 0, n_steps_ = 0;  // n_in_: features
    Cost in_price_ = 0;                    // prices of the features that are in
    Cost sum_of_bounds_ = 0;               // bound of the frame that is being made
    std::vector<DecisionFrame> frames_;
    std::vector<OpenNode> growing_;
    FoundTree best_;
    bool has_best_ = false;
    double share_ = 1.0, progress_ = 0.0;
    DecisionStats stats_;
    Outcome outcome_;
};

}  // namespace sktree_opt::subset
