// Lower bounds for the trees of depth two of a large node, by column and part of its range, had
// from tables of pairs of binned columns: no pass walks the rows for them.
//
// The values of a numeric column are cut into bins of about as many rows. A test somewhere within a
// bin sends all rows of lower bins to one side and those of higher bins to the other; whatever
// becomes of the bin's own rows, it errs on the others no less than if the bin were not there:
//   errors(test in bin k) >= leaf(rows below bin k) + leaf(rows above bin k).
// With the table of the rows by the bins of two columns and by class, the least of these bounds
// over the tests of one column is known for both sides of every cut between bins of the other. From
// the values at the cuts the interval bounds of intervals.hpp exclude the root tests between them.
// Nominal columns are binned by category; where there are too many, the rarest share a bin.
//
// A table costs one addition for each row: with m columns m^2 / 2 for each row, which is less than
// one pass for each family (depth_two_passes.hpp) costs, and no more where values are missing.
//
// For errors of rows of any number of classes and any weights.
//
//   cut, lane     what is on the left of a root test: bins below it; of nominal columns, one bin
//   variant       1: rows that miss the column are on the left, too
//   root, second  columns of the two tests
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/optimal/thresholds/bin_tables.hpp"
#include "sktree_opt/optimal/thresholds/families.hpp"

namespace sktree_opt::thresholds {

// What a sweep says of the two sides of the tests of a column.
struct SweptTests {
    SweepPlan plan;
    std::vector<TreeBounds> sides;  // see SweepPlan::side()
    std::vector<int> positions;     // of the cuts in a chain
};

class BinBounds {
public:
    explicit BinBounds(InstructionSet set) : set_(set) {}

    // Whether bounds may save more than they cost.
    static bool is_worthwhile(const Problem& problem, const NodeRows& node) {
        if (!problem.use.bins || !problem.use.intervals || problem.is_regression() ||
            !problem.is_error || problem.n_classes > MOST_CLASSES) {
            return false;
        }
        return !problem.use.large_bins ||
               (node.n >= LEAST_ROWS && node.columns.size() >= LEAST_COLUMNS);
    }

    // Bounds of `node`; of columns that are known to cost `cap` or more not again. False when a
    // limit ended it: then they are of no use.
    bool open(const Problem& problem, const NodeRows& node, bool is_whole,
              const std::vector<double>* known, double cap, Watch& watch) {
        if (!begin(problem, node, is_whole, watch)) return false;
        const std::size_t m = node.columns.size();
        std::vector<double> known_here(m, 0.0);
        for (std::size_t k = 0; known != nullptr && k < m; ++k) {
            known_here[k] = (*known)[node.columns[k].column];
            wanted_[k] = known_here[k] < cap;
        }
        const bool is_done =
            whole_ ? whole_->fill(wanted_, bounds_, watch) : real_->fill(wanted_, bounds_, watch);
        if (!is_done || !book(watch)) return false;
        trees_.sum_up(bins_, bounds_.data(), problem.split_cost, wanted_, std::move(known_here));
        return true;
    }

    // Before sweep(). False when a limit ended it.
    bool begin(const Problem& problem, const NodeRows& node, bool is_whole, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        if (!bins_.open(node, watch)) return false;
        wanted_.assign(node.columns.size(), 1);
        if (is_whole && weight_of(problem, node.sums.data()) < 1e9) {
            real_.reset();
            if (!whole_) whole_ = std::make_unique<BinTables<std::int32_t>>(set_);
            whole_->open(problem, node, bins_);
        } else {
            whole_.reset();
            if (!real_) real_ = std::make_unique<BinTables<double>>(set_);
            real_->open(problem, node, bins_);
        }
        return book(watch);
    }

    // Bounds of both sides of tests of a column; without tests when its categories are too many.
    // False when a limit ended it.
    bool sweep(int column_index, SweptTests& swept, Watch& watch) {
        plan_sweep(column_index, swept);
        swept.sides.clear();
        if (swept.plan.n_tests == 0) return true;
        const bool is_done = whole_ ? whole_->sweep(swept.plan, bounds_, watch)
                                    : real_->sweep(swept.plan, bounds_, watch);
        if (!is_done || !book(watch)) return false;
        swept.sides.resize(swept.plan.n_sides());
        for (std::size_t i = 0; i < swept.sides.size(); ++i) {
            swept.sides[i].sum_up(bins_, &bounds_[i * 2 * bins_.n_lanes], problem_->split_cost,
                                  wanted_, std::vector<double>(wanted_.size(), 0.0));
        }
        return true;
    }

    bool has(int column_index) const { return wanted_[column_index] != 0; }
    const ColumnBins& bins(int column_index) const { return bins_.columns[column_index]; }
    const SideBounds& at(int column_index, int lane, bool missing_left) const {
        return bounds_[2 * (bins(column_index).first_lane + lane) + missing_left];
    }
    const TreeBounds& trees() const { return trees_; }

private:
    static constexpr int MOST_CLASSES = 8;
    static constexpr std::uint32_t LEAST_ROWS = 6000;
    static constexpr std::size_t LEAST_COLUMNS = 8;
    // Of a sweep: parts that a numeric column is cut into, and categories.
    static constexpr int SEGMENTS = 8, MOST_CATEGORIES = 12;

    bool book(Watch& watch) {
        return booking_.set(watch.control(), bytes_of(bounds_) + (whole_ ? whole_->n_bytes() : 0) +
                                                 (real_ ? real_->n_bytes() : 0));
    }

    void plan_sweep(int column_index, SweptTests& swept) const {
        const NodeColumn& column = node_->columns[column_index];
        const ColumnBins& bins = bins_.columns[column_index];
        SweepPlan& plan = swept.plan;
        plan = SweepPlan();
        plan.column_index = column_index;
        plan.has_missing = bins.has_missing;
        swept.positions.clear();
        if (bins.is_nominal && bins.n_bins > MOST_CATEGORIES) return;
        for (int i = 1; !bins.is_nominal && i < SEGMENTS; ++i) {
            const int cut = bins.n_bins * i / SEGMENTS;
            if (cut > 0 && (plan.cuts.empty() || cut > plan.cuts.back())) plan.cuts.push_back(cut);
        }
        // Where groups end, and with them segments.
        const std::uint32_t* const order = node_->order(column_index);
        std::size_t next = 0;
        for (std::uint32_t i = 1, group = 0; i < column.n_present; ++i) {
            if (!(order[i] & FIRST_OF_GROUP)) continue;
            ++group;
            if (bins.is_nominal) {
                plan.ends.push_back(i);
            } else if (next < plan.cuts.size() && bins.bin_of_group[group] == plan.cuts[next]) {
                plan.ends.push_back(i);
                swept.positions.push_back(static_cast<int>(group) - 1);
                ++next;
            }
        }
        plan.ends.push_back(column.n_present);
        plan.n_tests = bins.is_nominal ? bins.n_raw() : static_cast<int>(plan.cuts.size());
    }

    InstructionSet set_;
    const Problem* problem_ = nullptr;
    const NodeRows* node_ = nullptr;
    Booking booking_;
    NodeBins bins_;
    std::vector<char> wanted_;        // by column: whether it has bounds
    std::vector<SideBounds> bounds_;  // [lane][variant]
    TreeBounds trees_;
    std::unique_ptr<BinTables<std::int32_t>> whole_;
    std::unique_ptr<BinTables<double>> real_;
};

}  // namespace sktree_opt::thresholds
