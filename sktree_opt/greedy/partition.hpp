// Sending the cases of a node down the branches of its split, with the sums of each branch.
//
// A case whose value is missing goes down every branch, its weight divided as the known weight is
// (Quinlan 1993, section 3.2). The children then overlap and their weights are fractional.
// Cost: O(cases) and, for a nominal split, O(categories of the column).
//
// A case set of fewer than 2^16 cases with every column already in order, shared by a whole
// subtree.
//
// Sorting is done once, at the root of the subtree. Each column is one row of `entries`; a node is
// the same range [start, start + n) in every row, and holds its cases there in the order of the
// column. Splitting a node partitions each row of its range stably, so children are in order
// without sorting (the idea of SPRINT, Shafer et al., VLDB 1996). Subtrees work on disjoint ranges:
// threads share the block without locks.
// Memory: 4 bytes for each case and column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"
#include "sktree_opt/greedy/split.hpp"

namespace sktree_opt::greedy {

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
