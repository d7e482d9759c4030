// The memoised lattice of case sets that all feature-subset searches traverse.
//
// Problem: DT(S) for many feature sets S on the same rows. Exact.
// Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
// section 4.1, http://jmlr.org/papers/v20/18-035.html. By Assumption 4 the split of a node is
// argmax of f(a, C) over a in S. So the features are ranked once for a case set C, for all S. DT(S)
// is a traversal that takes at each node the first feature of the ranking that is in S.
//
//   C                 -> CaseNode (training cases, search rows that get there, depth if it is
//                     limited)
//   argmax f(a, C)    -> Lattice::ranked_at
//   stop(S, C)        -> CaseNode::stops (Assumption 5, case 1), or the end of the ranking (case 2)
//   err(T)            -> Cost: sum over leaves of the cost of the search rows they get wrong
//
// Ours beyond the paper: case sets are found again by a 128-bit hash whichever way they were
// reached. Only the best features of a ranking are kept; the rest, and features that are out, are
// ranked when they are asked for. Features that are constant at a node are skipped below it. Search
// rows travel with the cases. A row that misses a tested value ends in several leaves and is
// decided by their votes (C4.5): such rows are counted apart (TreeTraversal::vote).
//
// Cost: ranking is O(|C| log |C|) per feature, once; a step of a traversal is O(1) amortised.
// Memory: the rows of the case sets kept; when the budget is passed, `clear_unpinned` forgets all
// but the nodes a search is at, and what is needed again is made again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sktree_opt/subset/lattice/node_growth.hpp"
#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/hash.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::subset {

// Search rows at a case set, in the order of their numbers.
struct SearchRows {
    std::vector<std::uint32_t> whole;   // took one path
    std::vector<std::uint32_t> shared;  // missed a tested value: also elsewhere, with other shares
    std::vector<double> shares;         // of `shared`
};

struct CaseNode;

// A feature in the ranking of a node, with its split in codes of the column.
struct RankedSplit {
    std::int32_t feature = -1;
    std::uint32_t low = 0, high = 0;
    std::uint32_t n_children = 0;  // 0: not taken yet
    std::unique_ptr<CaseNode*[]> children;
};

// The children of a node; n = 0 when the search was stopped.
struct Children {
    CaseNode* const* nodes = nullptr;
    std::uint32_t n = 0;
};

struct CaseNode {
    greedy::CaseSet cases;
    SearchRows search;
    Cost leaf_cost = 0;  // of the whole search rows, if this is a leaf
    NodeAnswer answer;
    std::uint32_t n_pins = 0;
    std::uint16_t part = 0;
    std::uint16_t depth = 0;
    bool stops = false;                // a leaf whatever the features
    bool is_reached = false;           // by some search row
    bool ranked_all = false;           // `ranking` has all features with a valid split
    std::uint64_t left_out = 0;        // units whose features have not been ranked
    std::vector<double> frequencies;   // of the classes, or the mean; where shared rows need them
    std::vector<RankedSplit> ranking;  // best first
    std::vector<Cost> split_bounds;    // by position in the ranking; negative: unknown

    std::int64_t n_bytes() const {
        return static_cast<std::int64_t>(
            sizeof(CaseNode) + 64 + 4 * cases.rows.capacity() + 8 * cases.weights.capacity() +
            4 * search.whole.capacity() + 12 * search.shared.capacity() +
            8 * frequencies.capacity() + sizeof(RankedSplit) * ranking.capacity() +
            8 * split_bounds.capacity());
    }
};

struct LatticeKey {
    std::uint64_t low = 0, high = 0;
    bool operator==(const LatticeKey& other) const {
        return low == other.low && high == other.high;
    }
};

struct LatticeKeyHash {
    std::size_t operator()(const LatticeKey& key) const { return key.low; }
};

struct LatticeStats {
    std::int64_t n_case_sets = 0;  // made
    std::int64_t n_found = 0;      // found again by their hash
    std::int64_t n_rankings = 0;
    std::int64_t n_clearings = 0;
    std::int64_t peak_bytes = 0;

    void add(const LatticeStats& other) {
        n_case_sets += other.n_case_sets;
        n_found += other.n_found;
        n_rankings += other.n_rankings;
        n_clearings += other.n_clearings;
        peak_bytes += other.peak_bytes;
    }
};

// The features of one case set, ranked by several threads.
//
// A search spends most of its time on the best split of each feature at a node. The features are
// independent, so the threads share them, each with its own working memory; the result does not
// depend on threads. Sharing whole trees out instead would keep threads busy longer at a time, but
// what one finds is of use to the others, and the largest tree of a step is most of its work.
class RankingTeam {
public:
    // Below so many cases times features a second thread is not worth waking.
    static constexpr std::int64_t MIN_WORK = 4000;

    // `own` ranks where there is not enough to share.
    RankingTeam(const SearchProblem& problem, SearchControl& control, CaseLearner& own,
                int n_threads, std::int64_t min_work)
        : own_(own), control_(control), min_work_(min_work) {
        for (int i = 0; i < n_threads && n_threads > 1; ++i) {
            members_.push_back(std::make_unique<Member>(problem, control));
        }
    }

    // As CaseLearner::rank.
    void rank(const greedy::CaseSet& cases, const std::vector<std::int32_t>& features,
              std::vector<RankedFeature>& ranked) {
        const std::size_t n = members_.size();
        const auto work = static_cast<std::int64_t>(features.size()) * cases.size();
        if (n == 0 || work < min_work_) {
            own_.rank(cases, features, ranked);
            return;
        }
        run_tasks(control_, static_cast<int>(n), n, [&](std::size_t i, int) {
            Member& member = *members_[i];
            member.features.assign(features.begin() + i * features.size() / n,
                                   features.begin() + (i + 1) * features.size() / n);
            member.learner.rank(cases, member.features, member.ranked);
        });
        ranked.clear();
        for (const auto& member : members_) {
            ranked.insert(ranked.end(), member->ranked.begin(), member->ranked.end());
        }
    }

private:
    struct Member {
        Member(const SearchProblem& problem, SearchControl& control) : learner(problem, control) {}
        CaseLearner learner;
        std::vector<std::int32_t> features;
        std::vector<RankedFeature> ranked;
    };

    CaseLearner& own_;
    SearchControl& control_;
    std::int64_t min_work_;
    std::vector<std::unique_ptr<Member>> members_;
};

class Lattice {
public:
    // Features of a ranking that are kept at first; all where there are not many more.
    static constexpr std::size_t KEPT_FEATURES = 64;
    static constexpr std::size_t MANY_NODES = 50000;

    Lattice(const SearchProblem& problem, SearchControl& control, std::int64_t budget,
            int n_threads = 1, std::int64_t min_shared_work = RankingTeam::MIN_WORK)
        : held_(control.hold()),
          problem_(problem),
          control_(control),
          learner_(problem, control),
          team_(problem, control, learner_, n_threads, min_shared_work),
          budget_(budget),
          features_(problem.n_features()) {
        problem.prepare_orders(control);
        std::iota(features_.begin(), features_.end(), 0);
        for (std::size_t p = 0; p < problem.parts.size(); ++p) {
            roots_.push_back(make_root(static_cast<std::uint16_t>(p)));
        }
    }
    Lattice(const Lattice&) = delete;
    Lattice& operator=(const Lattice&) = delete;
    ~Lattice() {
        control_.reserve(-n_bytes_);
        free_apart(std::move(nodes_));
    }

    const SearchProblem& problem() const { return problem_; }
    SearchControl& control() { return control_; }
    const std::vector<CaseNode*>& roots() const { return roots_; }
    const LatticeStats& stats() const { return stats_; }
    bool stopped() const { return control_.stopped(); }

    // From now on features are not ranked whose unit is out by `decisions`, which tells at any time
    // what is asked for. Where one of them is in again, all are ranked, and a ranking may have more
    // features than it had. A search that holds a position in it, and has only added decisions, is
    // not affected: no feature that is allowed now was left out then.
    void leave_out(const std::uint8_t* decisions) { decisions_ = decisions; }

    // The split at `position` of the node's ranking; null past its end.
    RankedSplit* ranked_at(CaseNode* node, std::size_t position) {
        if (node->left_out != 0 && lacks_features(*node)) rank(node, false);
        while (position >= node->ranking.size()) {
            if (node->stops || node->ranked_all || stopped()) return nullptr;
            rank(node, decisions_ != nullptr);
        }
        return &node->ranking[position];
    }

    // The first split of the ranking whose feature is allowed; null when there is none: a leaf.
    template <class Allowed>
    RankedSplit* first_split(CaseNode* node, const Allowed& allowed) {
        if (node->stops) return nullptr;
        for (std::size_t position = 0;; ++position) {
            RankedSplit* ranked = ranked_at(node, position);
            if (ranked == nullptr || allowed(ranked->feature)) return ranked;
        }
    }

    // The children of the node by one of its ranked splits.
    Children split(CaseNode* node, RankedSplit* ranked) {
        if (ranked->n_children == 0) {
            if (control_.poll()) {
                return {};
            }
            make_branching(node, *ranked);
        }
        return {ranked->children.get(), ranked->n_children};
    }

    CaseLearner& learner() { return learner_; }

    // A node has grown by so many bytes.
    void grew(std::int64_t bytes) { book(bytes); }

    // Rankings made from now on have no other features: for a search that never takes one back.
    template <class Allowed>
    void restrict_to(const Allowed& allowed) {
        const auto is_dropped = [&](std::int32_t feature) { return !allowed(feature); };
        features_.erase(std::remove_if(features_.begin(), features_.end(), is_dropped),
                        features_.end());
    }

    void pin(CaseNode* node) { ++node->n_pins; }
    void unpin(CaseNode* node) { --node->n_pins; }

    bool is_over_budget() const { return budget_ >= 0 && n_bytes_ > budget_; }

    // Forgets all nodes but roots and pinned ones.
    void clear_unpinned() {
        ++stats_.n_clearings;
        for (auto it = nodes_.begin(); it != nodes_.end();) {
            CaseNode* node = it->second.get();
            const bool is_root = std::find(roots_.begin(), roots_.end(), node) != roots_.end();
            if (node->n_pins > 0 || is_root) {
                for (RankedSplit& ranked : node->ranking) {
                    ranked.n_children = 0;
                    ranked.children.reset();
                }
                ++it;
            } else {
                it = nodes_.erase(it);
            }
        }
        std::int64_t bytes = 0;
        for (const auto& entry : nodes_) bytes += entry.second->n_bytes();
        book(bytes - n_bytes_);
    }

private:
    using Nodes = std::unordered_map<LatticeKey, std::unique_ptr<CaseNode>, LatticeKeyHash>;

    // Freeing millions of case sets takes a second or more. Another thread does it, since nothing
    // that is freed refers to the search.
    static void free_apart(Nodes&& nodes) {
        if (nodes.size() < MANY_NODES) return;
        auto held = std::make_unique<Nodes>(std::move(nodes));
        try {
            std::thread([apart = held.get()] { delete apart; }).detach();
            held.release();
        } catch (const std::system_error&) {
            // If no thread can be started, they are freed here.
        }
    }

    CaseNode* make_root(std::uint16_t part) {
        auto node = std::make_unique<CaseNode>();
        node->cases = problem_.parts[part].cases;
        node->search.whole = problem_.parts[part].search_rows;
        node->part = part;
        greedy::NodeTotals totals;
        learner_.sum(node->cases, totals);
        return keep(std::move(node), totals);
    }

    void rank(CaseNode* node, bool leaves_out) {
        ++stats_.n_rankings;
        const std::int64_t before = node->n_bytes();
        node->left_out = leaves_out ? out_of(features_) : 0;
        if (node->left_out == 0) {
            team_.rank(node->cases, features_, ranked_);
        } else {
            const auto is_out = [&](std::int32_t feature) {
                return (node->left_out >> problem_.unit_of[feature] & 1u) != 0;
            };
            not_out_.clear();
            std::remove_copy_if(features_.begin(), features_.end(), std::back_inserter(not_out_),
                                is_out);
            team_.rank(node->cases, not_out_, ranked_);
        }
        if (stopped()) return;
        std::size_t n_kept = std::max(KEPT_FEATURES, 8 * node->ranking.size());
        if (n_kept + n_kept / 2 >= ranked_.size()) n_kept = ranked_.size();
        if (n_kept == ranked_.size()) {
            std::sort(ranked_.begin(), ranked_.end());  // a partial sort is a heap, which is slower
        } else {
            std::partial_sort(ranked_.begin(), ranked_.begin() + n_kept, ranked_.end());
        }
        node->ranked_all = n_kept == ranked_.size();
        replace_ranking(*node, n_kept);
        book(node->n_bytes() - before);
    }

    // The best of `ranked_` become the ranking of the node. Bounds of the splits it had stay valid,
    // since both rankings have the same order.
    void replace_ranking(CaseNode& node, std::size_t n_kept) {
        std::vector<RankedSplit> before = std::move(node.ranking);
        std::vector<Cost> bounds_before = std::move(node.split_bounds);
        node.split_bounds.clear();
        node.ranking = std::vector<RankedSplit>(n_kept);
        for (std::size_t i = 0; i < n_kept; ++i) {
            node.ranking[i].feature = ranked_[i].feature;
            node.ranking[i].low = ranked_[i].low;
            node.ranking[i].high = ranked_[i].high;
        }
        if (!bounds_before.empty()) node.split_bounds.assign(n_kept, -1);
        std::size_t next = 0;
        for (std::size_t i = 0; i < before.size(); ++i, ++next) {
            while (next < n_kept && node.ranking[next].feature != before[i].feature) ++next;
            if (next == n_kept) break;
            node.ranking[next] = std::move(before[i]);
            if (i < bounds_before.size()) node.split_bounds[next] = bounds_before[i];
        }
    }

    // Units of some features that need not be ranked. All are, where not all of a ranking is kept:
    // it would have no place for what comes later.
    std::uint64_t out_of(const std::vector<std::int32_t>& features) const {
        if (problem_.n_units() > 64 || features.size() > KEPT_FEATURES) return 0;
        std::uint64_t out = 0;
        for (std::int32_t feature : features) {
            const std::int32_t unit = problem_.unit_of[feature];
            if (decisions_[unit] == OUT) {
                out |= std::uint64_t{1} << unit;
            }
        }
        return out;
    }
    // Whether some of the features that were left out are asked for.
    bool lacks_features(const CaseNode& node) const {
        if (decisions_ == nullptr) return true;
        for (std::uint64_t units = node.left_out; units != 0; units &= units - 1) {
            if (decisions_[lowest_bit(units)] != OUT) return true;
        }
        return false;
    }

    void make_branching(CaseNode* node, RankedSplit& ranked) {
        learner_.build_split(node->cases, ranked.feature, ranked.low, ranked.high, parted_.split);
        learner_.part(node->cases, parted_);
        const greedy::Split& split = parted_.split;
        part_search_rows(node, split);
        auto children = std::make_unique<CaseNode*[]>(split.n_branches);
        for (std::uint32_t b = 0; b < split.n_branches; ++b) {
            auto child = std::make_unique<CaseNode>();
            child->cases = std::move(parted_.children[b]);
            child->search = std::move(child_search_[b]);
            child->part = node->part;
            child->depth = static_cast<std::uint16_t>(node->depth + 1);
            if (child->cases.rows.empty()) {
                children[b] = keep_empty(std::move(child), node);
            } else {
                children[b] = keep(std::move(child), parted_.totals[b]);
            }
        }
        book(static_cast<std::int64_t>(8 * split.n_branches));
        ranked.children = std::move(children);
        ranked.n_children = split.n_branches;
    }

    // Sends the node's search rows down the branches of `parted_`, into `child_search_`.
    void part_search_rows(const CaseNode* node, const greedy::Split& split) {
        child_search_.assign(split.n_branches, SearchRows());
        const greedy::Column& column = problem_.column(split.feature);
        // -1: the row goes down every branch.
        const auto branch_of = [&](std::uint32_t row) {
            const std::uint32_t code = code_at(column, row);
            return code == column.n_values ? split.missing_branch
                                           : split.branch<std::int32_t>(code);
        };
        double total = 0.0;
        for (const greedy::NodeTotals& branch : parted_.totals) total += branch.weight;
        const auto share_out = [&](std::uint32_t row, double share) {
            for (std::uint32_t b = 0; b < split.n_branches; ++b) {
                const double part = parted_.totals[b].weight / total;
                if (!(part > 0.0)) continue;
                child_search_[b].shared.push_back(row);
                child_search_[b].shares.push_back(share * part);
            }
        };
        // Rows that become shared here are merged in by number below.
        newly_shared_.clear();
        for (std::uint32_t row : node->search.whole) {
            const std::int32_t branch = branch_of(row);
            if (branch >= 0) {
                child_search_[branch].whole.push_back(row);
            } else {
                newly_shared_.push_back(row);
            }
        }
        std::size_t next = 0;
        for (std::size_t i = 0; i < node->search.shared.size(); ++i) {
            const std::uint32_t row = node->search.shared[i];
            while (next < newly_shared_.size() && newly_shared_[next] < row) {
                share_out(newly_shared_[next++], 1.0);
            }
            const std::int32_t branch = branch_of(row);
            if (branch >= 0) {
                child_search_[branch].shared.push_back(row);
                child_search_[branch].shares.push_back(node->search.shares[i]);
            } else {
                share_out(row, node->search.shares[i]);
            }
        }
        while (next < newly_shared_.size()) share_out(newly_shared_[next++], 1.0);
    }

    // The node already known for the same cases, or this one.
    CaseNode* keep(std::unique_ptr<CaseNode> node, const greedy::NodeTotals& totals) {
        const LatticeKey key = key_of(*node, 0);
        const auto found = nodes_.find(key);
        if (found != nodes_.end()) {
            ++stats_.n_found;
            return found->second.get();
        }
        if (problem_.is_regression()) {
            // `totals` come from the parent, in an order that depends on the split.
            greedy::NodeTotals own_totals;
            learner_.sum(node->cases, own_totals);
            node->answer.number = own_totals.outputs[0];
        } else {
            node->answer = problem_.answer(totals.outputs.data(), 1e-9 * totals.weight);
        }
        node->stops = learner_.stops(totals, node->depth);
        node->leaf_cost = leaf_cost(*node, totals);
        if (!node->search.shared.empty()) set_frequencies(*node, totals);
        return own(key, std::move(node));
    }

    // A branch without cases answers as its parent would, and is not stored as a case set.
    CaseNode* keep_empty(std::unique_ptr<CaseNode> node, const CaseNode* parent) {
        node->answer = parent->answer;
        node->stops = true;
        node->leaf_cost = problem_.is_pessimistic ? 0 : wrong_cost(*node);
        if (!node->search.shared.empty()) set_frequencies(*node, learner_.totals());
        const LatticeKey key = key_of(*node, ++n_empty_);
        return own(key, std::move(node));
    }

    void set_frequencies(CaseNode& node, const greedy::NodeTotals& totals) const {
        if (problem_.is_regression()) {
            node.frequencies.assign(1, node.answer.number);
            return;
        }
        node.frequencies = totals.outputs;
        for (double& frequency : node.frequencies) frequency /= totals.weight;
    }

    CaseNode* own(const LatticeKey& key, std::unique_ptr<CaseNode> node) {
        ++stats_.n_case_sets;
        node->cases.rows.shrink_to_fit();
        node->cases.weights.shrink_to_fit();
        node->is_reached = !node->search.whole.empty() || !node->search.shared.empty();
        if (node->stops) {
            // Nothing is asked of the cases of a leaf any more.
            node->cases = greedy::CaseSet();
            node->search.whole = std::vector<std::uint32_t>();
        }
        book(node->n_bytes());
        CaseNode* raw = node.get();
        nodes_.emplace(key, std::move(node));
        return raw;
    }

    LatticeKey key_of(const CaseNode& node, std::uint64_t number) const {
        LatticeKey key;
        const auto add = [&key](std::uint64_t value, std::uint64_t salt) {
            const std::uint64_t hash = split_mix(value ^ salt);
            key.low += hash;
            key.high += split_mix(hash ^ 0xd6e8feb86659fd93ull);
        };
        add(static_cast<std::uint64_t>(node.part) << 32 |
                (problem_.limits_depth() ? node.depth : 0u),
            0x1000000000000ull);
        if (number > 0) add(number, 0x2000000000000ull);
        const greedy::CaseSet& cases = node.cases;
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            std::uint64_t salt = 0x3000000000000ull;
            if (!cases.weights.empty()) salt ^= split_mix(bits_of(cases.weights[i]));
            add(cases.rows[i], salt);
        }
        for (std::uint32_t row : node.search.whole) add(row, 0x4000000000000ull);
        for (std::size_t i = 0; i < node.search.shared.size(); ++i) {
            add(node.search.shared[i],
                0x5000000000000ull ^ split_mix(bits_of(node.search.shares[i])));
        }
        return key;
    }

    Cost leaf_cost(const CaseNode& node, const greedy::NodeTotals& totals) const {
        if (problem_.is_pessimistic) {
            const double errors = totals.weight - totals.outputs[node.answer.label];
            const double feared = problem_.error_bound.estimate(totals.weight, errors);
            return std::llround(feared / problem_.cost_unit);
        }
        return wrong_cost(node);
    }

    Cost wrong_cost(const CaseNode& node) const {
        const PartCases& part = problem_.parts[node.part];
        Cost cost = 0;
        for (std::uint32_t row : node.search.whole)
            cost += problem_.cost_of(part, row, node.answer);
        return cost;
    }

    void book(std::int64_t bytes) {
        n_bytes_ += bytes;
        stats_.peak_bytes = std::max(stats_.peak_bytes, n_bytes_);
        control_.reserve(bytes);
    }

    const std::shared_ptr<SearchControl> held_;
    const SearchProblem& problem_;
    SearchControl& control_;
    CaseLearner learner_;
    RankingTeam team_;
    std::int64_t budget_;
    const std::uint8_t* decisions_ = nullptr;  // by unit; null: everything may be asked for
    std::vector<std::int32_t> features_;
    std::int64_t n_bytes_ = 0;
    std::uint64_t n_empty_ = 0;
    Nodes nodes_;
    std::vector<CaseNode*> roots_;
    LatticeStats stats_;
    std::vector<RankedFeature> ranked_;
    std::vector<std::int32_t> not_out_;
    PartedCases parted_;
    std::vector<SearchRows> child_search_;
    std::vector<std::uint32_t> newly_shared_;
};

}  // namespace sktree_opt::subset
