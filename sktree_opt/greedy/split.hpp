// A split of a case set on one feature: how good it is, and where each code goes.
//
// Assumption 4 of Ruggieri (JMLR 20, 2019) needs a quality f(a, C) that depends on the feature a
// and the cases C alone, and its argmax with a fixed order of ties. Two qualities that are equal in
// real numbers must be equal here however they were summed, and "equal" must be transitive, or a
// feature that is not used could decide between two that are. Hence qualities are rounded to a grid
// (not compared within a tolerance), as a share of the node's impurity, which C alone decides.
//
// A tree being grown has node records as the public Tree keeps them, plus what the kernels still
// need.
//
// At the end of the file the cases of a node are sent down the branches of its split, with the sums
// of each branch. A case whose value is missing goes down every branch, its weight divided as the
// known weight is (Quinlan 1993, section 3.2). The children then overlap and their weights are
// fractional. Cost: O(cases) and, for a nominal split, O(categories of the column).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"
#include "sktree_opt/tree/node_record.hpp"

namespace sktree_opt::greedy {

enum class SplitKind : std::uint8_t {
    NONE = sktree_opt::LEAF,
    NUMERIC = sktree_opt::NUMERIC,
    MULTIWAY = sktree_opt::CATEGORY_MULTIWAY,
    ONE = sktree_opt::CATEGORY_ONE,
    SUBSET = sktree_opt::CATEGORY_SUBSET,
    MISSING = sktree_opt::IS_MISSING,  // only in trees that are pruned
};

enum class NominalSplit : std::uint8_t { MULTIWAY, ONE_VS_REST, SUBSET };

// Above this many categories the best subset for three or more classes is not searched for.
constexpr std::uint32_t MAX_SUBSET_CATEGORIES = 12;

struct SplitRules {
    bool gain_ratio = false;            // rank features by gain / split information
    bool numeric_gain_penalty = false;  // C4.5 release 8: less log2(thresholds tried) / weight
    NominalSplit nominal = NominalSplit::MULTIWAY;
    bool above_average = false;       // C4.5: only features of at least the average gain compete
    double min_leaf_weight = 1.0;     // of at least two branches
    bool every_branch = false;        // min_leaf_weight holds for every branch
    std::uint32_t min_leaf_rows = 1;  // of every branch: rows whose value leads there
    bool rows_are_weights = false;  // a case of weight k is k rows: of weight 1 each, put together
    double min_gain = 0.0;
    bool allow_zero_gain = false;      // a split may gain nothing
    bool missing_to_heaviest = false;  // not down every branch
};

// The best split found on one feature. `quality` compares features at one node.
// Cases are named by position until `resolve` turns them into codes of the column.
struct SplitCandidate {
    bool valid = false;
    double quality = 0.0;
    double gain = 0.0;   // decrease of impurity, times the known fraction
    double worth = 0.0;  // quality in a unit that compares nodes: bits, or the ratio
    std::int32_t feature = -1;
    SplitKind kind = SplitKind::NONE;
    std::uint32_t low = 0;   // NUMERIC: last value of branch 0; ONE: the category
    std::uint32_t high = 0;  // NUMERIC: first value of branch 1
    double threshold = 0.0;  // NUMERIC: once resolved
    std::uint32_t n_branches = 2;
    std::vector<std::uint32_t> subset;  // SUBSET: the categories of branch 0

    bool is_valid() const { return valid; }
    bool is_better_than(const SplitCandidate& other) const {
        return quality > other.quality || (quality == other.quality && feature < other.feature);
    }
    void reset(std::int32_t for_feature) {
        valid = false;
        quality = gain = worth = 0.0;
        feature = for_feature;
        kind = SplitKind::NONE;
        subset.clear();
    }
    void resolve(const Column& column, const std::uint32_t* rows) {
        name_codes(column, rows);
        place_threshold(column);
    }
    void name_codes(const Column& column, const std::uint32_t* rows) {
        if (kind == SplitKind::NUMERIC || kind == SplitKind::ONE) low = code_at(column, rows[low]);
        if (kind == SplitKind::NUMERIC) high = code_at(column, rows[high]);
        for (std::uint32_t& category : subset) category = code_at(column, rows[category]);
    }
    // Other rows of the table may have values between the two: they go where `x <= threshold` says.
    void place_threshold(const Column& column) {
        if (kind != SplitKind::NUMERIC) return;
        const double below = column.values[low], above = column.values[high];
        // A missing value that counts as a number is above all others: all of these are below.
        if (std::isinf(above)) {
            low = high - 1;
            threshold = column.values[low];
            return;
        }
        threshold = below / 2.0 + above / 2.0;
        // The midpoint of neighbouring floats may round to the upper one.
        if (!(below <= threshold && threshold < above)) threshold = below;
        const double* first_above =
            std::upper_bound(column.values + low, column.values + high, threshold);
        low = static_cast<std::uint32_t>(first_above - column.values) - 1;
    }
};

// On the grid, equal qualities are equal numbers: see the head of this file.
inline double round_quality(double quality) {
    constexpr double GRID = 17179869184.0;  // 2^34
    return std::nearbyint(quality * GRID) / GRID;
}

// What of a raw score counts as no difference between two thresholds of one feature.
inline double score_tolerance(const NodeTotals& totals) {
    return totals.impurity * totals.weight / 68719476736.0;  // 2^36
}

// Where each code goes.
struct Split {
    SplitKind kind = SplitKind::NONE;
    std::int32_t feature = -1;
    std::uint32_t low = 0;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::uint32_t n_branches = 0;
    std::int32_t missing_branch = -1;              // -1: missing values go down every branch
    std::vector<std::int32_t> branch_of_category;  // nominal: one for each known category

    template <class Branch>
    Branch branch(std::uint32_t code) const {
        if (kind == SplitKind::NUMERIC) return static_cast<Branch>(code > low);
        if (kind == SplitKind::MISSING) return 1;
        return static_cast<Branch>(branch_of_category[code]);
    }

    // A multiway split has one branch for each category present among the cases, in code order,
    // and one more, empty, for all absent ones.
    template <class Positions>
    void build(const SplitCandidate& candidate, const Column& column, const std::uint32_t* rows,
               const Positions& positions) {
        kind = candidate.kind;
        feature = candidate.feature;
        low = candidate.low;
        threshold = std::numeric_limits<double>::quiet_NaN();
        if (kind == SplitKind::NUMERIC) threshold = candidate.threshold;
        n_branches = 2;
        missing_branch = -1;
        branch_of_category.clear();
        if (kind == SplitKind::NUMERIC) return;
        branch_of_category.assign(column.n_values, kind == SplitKind::MULTIWAY ? -1 : 1);
        if (kind == SplitKind::ONE) branch_of_category[low] = 0;
        for (std::uint32_t category : candidate.subset) branch_of_category[category] = 0;
        if (kind == SplitKind::MULTIWAY) number_present_categories(column, rows, positions);
    }

private:
    template <class Positions>
    void number_present_categories(const Column& column, const std::uint32_t* rows,
                                   const Positions& positions) {
        with_codes(column, [&](auto codes) {
            positions.for_each([&](std::uint32_t i) {
                const std::uint32_t code = codes[rows[i]];
                if (code < column.n_values) branch_of_category[code] = 0;
            });
        });
        std::int32_t next = 0;
        for (std::int32_t& branch : branch_of_category) {
            if (branch == 0) branch = next++;
        }
        n_branches = static_cast<std::uint32_t>(next);
        bool some_absent = false;
        for (std::int32_t& branch : branch_of_category) {
            if (branch < 0) {
                branch = next;
                some_absent = true;
            }
        }
        if (some_absent) ++n_branches;
    }
};

// A leaf that nothing has reached yet.
inline Node blank_node() {
    Node node{};
    node.missing_branch = node.feature = node.first_child = node.category_start = -1;
    node.threshold = std::numeric_limits<double>::quiet_NaN();
    return node;
}

struct GrownTree {
    std::uint32_t n_outputs = 1;
    std::vector<Node> nodes;
    std::vector<double> values;        // n_outputs for each node
    std::vector<std::uint32_t> codes;  // of a numeric test: the last code of branch 0
    std::vector<std::int32_t> category_branch;

    std::int32_t size() const { return static_cast<std::int32_t>(nodes.size()); }
    double* outputs(std::int32_t node) {
        return values.data() + static_cast<std::size_t>(node) * n_outputs;
    }

    std::int32_t add_node() {
        nodes.push_back(blank_node());
        values.resize(values.size() + n_outputs, 0.0);
        codes.push_back(0);
        return size() - 1;
    }

    void set_totals(std::int32_t node, const NodeTotals& totals) {
        nodes[node].weight = totals.weight;
        nodes[node].n_samples = totals.n_samples;
        nodes[node].impurity = totals.impurity;
        std::copy(totals.outputs.begin(), totals.outputs.end(), outputs(node));
    }

    // An empty leaf predicts what its parent does.
    void set_empty(std::int32_t node, std::int32_t parent) {
        std::copy(outputs(parent), outputs(parent) + n_outputs, outputs(node));
        nodes[node].impurity = nodes[parent].impurity;
    }

    // Gives `node` its split and new children; returns the first.
    std::int32_t split_node(std::int32_t node, const Split& split) {
        const std::int32_t first = size();
        for (std::uint32_t b = 0; b < split.n_branches; ++b) add_node();
        Node& record = nodes[node];
        record.kind = static_cast<std::uint8_t>(split.kind);
        record.feature = split.feature;
        record.first_child = first;
        record.n_children = static_cast<std::int32_t>(split.n_branches);
        record.missing_branch = split.missing_branch;
        record.threshold = split.threshold;
        codes[node] = split.low;
        if (split.kind != SplitKind::NUMERIC) {
            record.category_start = static_cast<std::int32_t>(category_branch.size());
            record.n_categories = static_cast<std::int32_t>(split.branch_of_category.size());
            category_branch.insert(category_branch.end(), split.branch_of_category.begin(),
                                   split.branch_of_category.end());
        }
        return first;
    }

    void make_leaf(std::int32_t node) {
        Node leaf = blank_node();
        leaf.impurity = nodes[node].impurity;
        leaf.weight = nodes[node].weight;
        leaf.n_samples = nodes[node].n_samples;
        nodes[node] = leaf;
    }

    // Where the codes of an inner node go.
    void get_split(std::int32_t node, Split& split) const {
        const Node& record = nodes[node];
        split.kind = static_cast<SplitKind>(record.kind);
        split.feature = record.feature;
        split.low = codes[node];
        split.threshold = record.threshold;
        split.n_branches = static_cast<std::uint32_t>(record.n_children);
        split.missing_branch = split.kind == SplitKind::MISSING ? 0 : record.missing_branch;
        split.branch_of_category.clear();
        if (record.n_categories > 0) {
            const auto start = category_branch.begin() + record.category_start;
            split.branch_of_category.assign(start, start + record.n_categories);
        }
    }

    // Puts a tree grown apart in the place of a leaf of this one.
    void graft(std::int32_t node, const GrownTree& other) {
        const std::int32_t shift = size() - 1;
        const auto category_shift = static_cast<std::int32_t>(category_branch.size());
        for (std::int32_t i = 0; i < other.size(); ++i) {
            Node record = other.nodes[i];
            if (record.first_child >= 0) record.first_child += shift;
            if (record.category_start >= 0) record.category_start += category_shift;
            const std::int32_t to = i == 0 ? node : add_node();
            nodes[to] = record;
            codes[to] = other.codes[i];
            const double* from = other.values.data() + static_cast<std::size_t>(i) * n_outputs;
            std::copy(from, from + n_outputs, outputs(to));
        }
        category_branch.insert(category_branch.end(), other.category_branch.begin(),
                               other.category_branch.end());
    }

    // The same tree with the nodes that the root reaches, siblings together, else depth first: the
    // order in which the nodes were made (hence the number of threads) leaves no trace.
    GrownTree in_order() const {
        GrownTree tree;
        tree.n_outputs = n_outputs;
        tree.add_node();
        std::vector<std::pair<std::int32_t, std::int32_t>> stack{{0, 0}};  // (here, there)
        while (!stack.empty()) {
            const auto [from, to] = stack.back();
            stack.pop_back();
            Node record = nodes[from];
            const double* value = values.data() + static_cast<std::size_t>(from) * n_outputs;
            std::copy(value, value + n_outputs, tree.outputs(to));
            tree.codes[to] = codes[from];
            if (record.category_start >= 0) {
                const auto start = category_branch.begin() + record.category_start;
                record.category_start = static_cast<std::int32_t>(tree.category_branch.size());
                tree.category_branch.insert(tree.category_branch.end(), start,
                                            start + record.n_categories);
            }
            if (record.n_children > 0) {
                const std::int32_t old_first = record.first_child;
                record.first_child = tree.size();
                for (std::int32_t b = 0; b < record.n_children; ++b) tree.add_node();
                for (std::int32_t b = record.n_children; b-- > 0;) {
                    stack.emplace_back(old_first + b, record.first_child + b);
                }
            }
            tree.nodes[to] = record;
        }
        return tree;
    }
};

template <class Branch>
constexpr Branch EVERY_BRANCH = std::numeric_limits<Branch>::max();

// branch_of[i] for i in `positions` (any range of case positions); true when a case goes down every
// branch.
template <class Branch, class Positions>
bool assign_branches(const Column& column, const Split& split, const std::uint32_t* rows,
                     const Positions& positions, Branch* branch_of) {
    const Branch of_missing =
        split.missing_branch < 0 ? EVERY_BRANCH<Branch> : static_cast<Branch>(split.missing_branch);
    return with_codes(column, [&](auto codes) {
        bool some_missing = false;
        positions.for_each([&](std::uint32_t i) {
            const std::uint32_t code = codes[rows[i]];
            const bool missing = code == column.n_values;
            some_missing |= missing && split.missing_branch < 0;
            branch_of[i] = missing ? of_missing : split.template branch<Branch>(code);
        });
        return some_missing;
    });
}

// Sends missing values down the branch of the largest known weight, the first of several.
template <class Positions>
void send_missing_to_heaviest(const Column& column, const std::uint32_t* rows, const Cases& cases,
                              const Positions& positions, Split& split) {
    std::vector<double> weights(split.n_branches, 0.0);
    with_codes(column, [&](auto codes) {
        positions.for_each([&](std::uint32_t i) {
            const std::uint32_t code = codes[rows[i]];
            if (code < column.n_values) {
                weights[split.template branch<std::uint32_t>(code)] += cases.weight(i);
            }
        });
    });
    const double most = *std::max_element(weights.begin(), weights.end());
    split.missing_branch = 0;
    while (weights[split.missing_branch] < most * (1.0 - 1e-9)) ++split.missing_branch;
}

// All positions of a case set.
struct AllPositions {
    std::uint32_t n;
    template <class F>
    void for_each(F&& visit) const {
        for (std::uint32_t i = 0; i < n; ++i) visit(i);
    }
};

// Sums of cases by branch; missing cases are added to every branch by its share of the known
// weight. `shares` receives those shares. Where no case is known they are `default_shares` (that
// cannot be while growing: a split has known cases).
template <class Branch>
class BranchSums {
public:
    BranchSums(const Target& target, const Cases& cases, const Branch* branch_of)
        : target_(target), cases_(cases), branch_of_(branch_of) {}

    template <class Positions>
    void run(const Positions& positions, std::uint32_t n_branches, bool some_missing,
             std::vector<NodeTotals>& totals, std::vector<double>& shares,
             const double* default_shares = nullptr) {
        n_branches_ = n_branches;
        totals.resize(n_branches);
        low_.assign(n_branches, std::numeric_limits<double>::infinity());
        high_.assign(n_branches, -std::numeric_limits<double>::infinity());
        for (NodeTotals& branch : totals) {
            branch.weight = branch.impurity = 0.0;
            branch.n_samples = 0;
            branch.outputs.assign(target_.n_outputs(), 0.0);
        }
        visit(positions, EVERY_BRANCH<Branch>,
              [&](std::uint32_t i, std::uint32_t b) { add(totals[b], b, i, cases_.weight(i)); });
        shares.assign(n_branches, 0.0);
        if (some_missing) {
            double known = 0.0;
            for (const NodeTotals& branch : totals) known += branch.weight;
            for (std::uint32_t b = 0; b < n_branches; ++b) {
                shares[b] = known > 0.0 ? totals[b].weight / known : default_shares[b];
            }
            visit_missing(positions, [&](std::uint32_t i) {
                for (std::uint32_t b = 0; b < n_branches; ++b) {
                    if (shares[b] > 0.0) add(totals[b], b, i, cases_.weight(i) * shares[b]);
                }
            });
        }
        finish(positions, some_missing, totals, shares);
    }

private:
    template <class Positions, class F>
    void visit(const Positions& positions, Branch skipped, F&& f) const {
        positions.for_each([&](std::uint32_t i) {
            if (branch_of_[i] != skipped) f(i, branch_of_[i]);
        });
    }
    template <class Positions, class F>
    void visit_missing(const Positions& positions, F&& f) const {
        positions.for_each([&](std::uint32_t i) {
            if (branch_of_[i] == EVERY_BRANCH<Branch>) f(i);
        });
    }

    void add(NodeTotals& totals, std::uint32_t b, std::uint32_t i, double weight) {
        totals.weight += weight;
        ++totals.n_samples;
        if (target_.is_classification()) {
            totals.outputs[cases_.classes[i]] += weight;
        } else {
            const double value = cases_.values[i];
            totals.outputs[0] += weight * value;
            if (value < low_[b]) low_[b] = value;
            if (value > high_[b]) high_[b] = value;
        }
    }

    // Pure branches; for regression also means, then squared errors about them.
    template <class Positions>
    void finish(const Positions& positions, bool some_missing, std::vector<NodeTotals>& totals,
                const std::vector<double>& shares) {
        for (std::uint32_t b = 0; b < n_branches_; ++b) {
            NodeTotals& branch = totals[b];
            if (target_.is_classification()) {
                std::uint32_t n_present = 0;
                for (double weight : branch.outputs) n_present += weight > 0.0;
                branch.is_pure = n_present <= 1;
            } else {
                branch.is_pure = !(low_[b] < high_[b]);
                if (branch.weight > 0.0) branch.outputs[0] /= branch.weight;
                if (branch.is_pure && branch.n_samples > 0) branch.outputs[0] = low_[b];
            }
        }
        if (target_.is_classification()) return;
        const auto add_square = [&](std::uint32_t i, std::uint32_t b, double weight) {
            const double deviation = cases_.values[i] - totals[b].outputs[0];
            totals[b].impurity += weight * deviation * deviation;
        };
        visit(positions, EVERY_BRANCH<Branch>,
              [&](std::uint32_t i, std::uint32_t b) { add_square(i, b, cases_.weight(i)); });
        if (some_missing) {
            visit_missing(positions, [&](std::uint32_t i) {
                for (std::uint32_t b = 0; b < n_branches_; ++b) {
                    if (shares[b] > 0.0) add_square(i, b, cases_.weight(i) * shares[b]);
                }
            });
        }
        for (NodeTotals& branch : totals) {
            if (branch.weight > 0.0) branch.impurity /= branch.weight;
        }
    }

    const Target& target_;
    const Cases& cases_;
    const Branch* branch_of_;
    std::uint32_t n_branches_ = 0;
    std::vector<double> low_, high_;
};

// The cases at `positions` that go down branch b. `rows` and `weights` are by position.
template <class Branch, class Positions>
void collect_branch(const Positions& positions, const Branch* branch_of, std::uint32_t b,
                    double share, const std::uint32_t* rows, const Cases& cases, WeightKind kind,
                    CaseSet& child) {
    child.rows.clear();
    child.weights.clear();
    const bool fractional = share > 0.0;  // only then do missing cases come along
    child.kind = fractional ? WeightKind::FRACTIONAL : kind;
    positions.for_each([&](std::uint32_t i) {
        const bool missing = branch_of[i] == EVERY_BRANCH<Branch>;
        if (branch_of[i] != b && !(missing && fractional)) return;
        child.rows.push_back(rows[i]);
        if (child.kind != WeightKind::UNIT) {
            child.weights.push_back(cases.weight(i) * (missing ? share : 1.0));
        }
    });
}

// Targets of the rows of a case set, by position.
struct GatheredTargets {
    std::vector<std::uint16_t> classes;
    std::vector<double> values;

    void gather(const Target& target, const std::vector<std::uint32_t>& rows) {
        classes.clear();
        values.clear();
        if (target.is_classification()) {
            classes.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) classes[i] = target.classes[rows[i]];
        } else {
            values.resize(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = target.values[rows[i]];
        }
    }
    Cases cases(const CaseSet& set) const {
        return {classes.data(), values.data(), set.weights.empty() ? nullptr : set.weights.data()};
    }
};

// A case set of fewer than 2^16 cases with every column already in order, shared by a whole
// subtree.
//
// Sorting is done once, at the root of the subtree. Each column is one row of `entries`; a node is
// the same range [start, start + n) in every row, and holds its cases there in the order of the
// column. Splitting a node partitions each row of its range stably, so children are in order
// without sorting (the idea of SPRINT, Shafer et al., VLDB 1996). Subtrees work on disjoint ranges:
// threads share the block without locks.
// Memory: 4 bytes for each case and column.
struct Block {
    Block(CaseSet&& case_set, const Target& target, std::vector<std::int32_t> features)
        : set(std::move(case_set)), columns(std::move(features)) {
        targets.gather(target, set.rows);
        entries.reset(new std::uint32_t[columns.size() * static_cast<std::size_t>(set.size())]);
    }

    CaseSet set;
    GatheredTargets targets;
    std::vector<std::int32_t> columns;  // feature of each row of `entries`
    std::unique_ptr<std::uint32_t[]> entries;

    Cases cases() const { return targets.cases(set); }
    std::uint32_t* segment(std::int32_t slot, std::uint32_t start) const {
        return entries.get() + static_cast<std::size_t>(slot) * set.size() + start;
    }
};

// The cases of a node of a block, in the order of one column.
struct SegmentPositions {
    const std::uint32_t* entries;
    std::uint32_t n;
    template <class F>
    void for_each(F&& visit) const {
        for (std::uint32_t i = 0; i < n; ++i) visit(index_of(entries[i]));
    }
};

// Where each branch's cases start within the node's range: branches that are grown further first.
struct BranchRanges {
    std::vector<std::uint32_t> start;  // by branch
    std::uint32_t n_kept = 0;

    void build(const std::vector<NodeTotals>& totals, const std::vector<char>& is_grown) {
        start.resize(totals.size());
        std::uint32_t next = 0;
        for (int grown = 1; grown >= 0; --grown) {
            for (std::size_t b = 0; b < totals.size(); ++b) {
                if ((is_grown[b] != 0) != (grown != 0)) continue;
                start[b] = next;
                next += static_cast<std::uint32_t>(totals[b].n_samples);
            }
            if (grown == 1) n_kept = next;
        }
    }
};

// Two branches, branch-free: every case is written to both streams and only its own moves on.
inline void partition_in_two(std::uint32_t* segment, std::uint32_t n,
                             const std::uint16_t* branch_of, std::uint16_t first,
                             std::uint32_t* spare, bool keep_second) {
    std::uint32_t n_first = 0, n_second = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t entry = segment[i];
        const bool second = branch_of[index_of(entry)] != first;
        segment[n_first] = entry;
        spare[n_second] = entry;
        n_first += !second;
        n_second += second;
    }
    if (keep_second) std::memcpy(segment + n_first, spare, n_second * sizeof(std::uint32_t));
}

// Stable partition of one column's range; the order within branches that are not kept is lost.
inline void partition_segment(std::uint32_t* segment, std::uint32_t n,
                              const std::uint16_t* branch_of, const BranchRanges& ranges,
                              std::uint32_t* spare, std::vector<std::uint32_t>& next) {
    if (ranges.start.size() == 2) {
        const std::uint16_t first = ranges.start[0] == 0 ? 0 : 1;
        partition_in_two(segment, n, branch_of, first, spare, ranges.n_kept == n);
        return;
    }
    next = ranges.start;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t entry = segment[i];
        spare[next[branch_of[index_of(entry)]]++] = entry;
    }
    std::memcpy(segment, spare, ranges.n_kept * sizeof(std::uint32_t));
}

}  // namespace sktree_opt::greedy
