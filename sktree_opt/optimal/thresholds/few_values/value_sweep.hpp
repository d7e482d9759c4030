// The best tree of depth three for squared errors, or errors of two classes, where columns have few
// values: exact. Kernel: loops over rows, codes and pairs of columns.
//
// A root column is cut at its positions. The rows on one side are added to tables of pairs of
// columns, and those on the other side are the rest. The tables give the best trees of depth two of
// both sides. Positions are bisected: in a column without good tests, the middle one excludes all
// others by the bounds of intervals.hpp.
//
// Rough tables (rough_tables.hpp) come first: they give the cost of a tree up to a small error.
// They leave few positions, which ValueTrees solves exactly.
//
// With n rows and m columns of d values at most: m n m^2 / 2 additions and m d trees of depth two.
// The search by passes (depth_two_passes.hpp) takes about min(d, 12) m^2 n (m + 6), with larger
// factors: see is_faster().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "sktree_opt/optimal/thresholds/few_values/pair_layout.hpp"
#include "sktree_opt/optimal/thresholds/few_values/rough_tables.hpp"
#include "sktree_opt/optimal/thresholds/threshold_problem.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt::thresholds {

// The exact costs of trees of two levels where columns have few values, for root tests
// that the rough tables did not exclude.
//
// Below a root test each side is a leaf or takes the best single test, which sums by column and
// code tell: n m additions with n rows and m columns, and no row is moved.
class ValueTrees {
public:
    struct ValueTree {
        double cost = std::numeric_limits<double>::infinity();
        double least =
            std::numeric_limits<double>::infinity();  // of all trees that were looked at: less
                                                      // than `cost` by the tolerance at
                                                      // most
        RootTest root;                                // of no column: a leaf
        bool is_split[2] = {false, false};            // whether its children are
    };
    struct Sum {
        double weight = 0.0, target = 0.0;

        Sum& operator+=(const Sum& other) {
            weight += other.weight;
            target += other.target;
            return *this;
        }
        Sum minus(const Sum& other) const { return {weight - other.weight, target - other.target}; }
    };
    // What one thread works with.
    struct TreeWork {
        std::vector<std::uint32_t> rows;
        std::vector<Sum> sums[2];  // of each side, by place in a line
    };

    // False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, const PairLayout& layout,
              SearchControl* control) {
        problem_ = &problem;
        layout_ = &layout;
        amount_.clear();
        square_.clear();
        for (std::uint32_t row = 0; row < node.n; ++row) {
            const double weight = node.weight[row];
            if (!problem.is_regression()) {
                amount_.push_back({weight, node.label[row] == 0 ? -weight : weight});
                square_.push_back(weight / 2.0);
                continue;
            }
            const double target = weight * node.target[row];
            amount_.push_back({weight, target});
            square_.push_back(target * node.target[row]);
        }
        return booking_.set(control, bytes_of(amount_) + bytes_of(square_));
    }

    // The best tree of work.rows that is a leaf or begins with one of the tests.
    ValueTree best_of(const std::vector<RootTest>& tests, TreeWork& work) const {
        Sum all;
        double squares = 0.0;
        for (const std::uint32_t row : work.rows) {
            all += amount_[row];
            squares += square_[row];
        }
        ValueTree best;
        best.cost = best.least = squares - saved(all);
        for (const RootTest& test : tests) {
            ValueTree tree;
            tree.root = test;
            sum_sides(test, work);
            tree.cost = squares + problem_->split_cost;
            for (int side = 0; side < 2; ++side) {
                tree.cost -= saved_by_side(work.sums[side], tree.is_split[side]);
            }
            tree.least = std::min(best.least, tree.cost);
            if (tree.cost < best.cost - problem_->tolerance) best = tree;
            best.least = tree.least;
        }
        return best;
    }

private:
    double saved(const Sum& sum) const {
        if (!problem_->is_regression()) return std::fabs(sum.target) / 2.0;
        return sum.weight > 0.0 ? sum.target * sum.target / sum.weight : 0.0;
    }

    void sum_sides(const RootTest& test, TreeWork& work) const {
        const std::size_t m = layout_->columns().size();
        const PairColumn& root = layout_->columns()[test.column_index];
        for (auto& sums : work.sums) sums.assign(layout_->line(), Sum());
        for (const std::uint32_t row : work.rows) {
            const int code = layout_->code(row, test.column_index);
            const bool right = code == root.n_values ? !test.missing_left : code > test.position;
            const std::uint16_t* const place = layout_->places(row);
            Sum* const sums = work.sums[right].data();
            for (std::size_t k = 0; k < m; ++k) sums[place[k]] += amount_[row];
        }
    }

    // A leaf, or the best single test where it is worth its cost.
    double saved_by_side(const std::vector<Sum>& sums, bool& is_split) const {
        Sum all;
        const PairColumn& first = layout_->columns()[0];
        for (int c = 0; c < first.n_codes(); ++c) all += sums[first.place + c];
        double most = 0.0;
        for (const PairColumn& column : layout_->columns()) {
            for (int way = 0; way <= column.has_missing; ++way) {
                Sum left = way == 1 ? sums[column.place + column.n_values] : Sum();
                for (int c = 0; c + 1 < column.n_codes() - way; ++c) {
                    left += sums[column.place + c];
                    most = std::max(most, saved(left) + saved(all.minus(left)));
                }
            }
        }
        is_split = most - problem_->split_cost > saved(all);
        return std::max(most - problem_->split_cost, saved(all));
    }

    const ThresholdProblem* problem_ = nullptr;
    const PairLayout* layout_ = nullptr;
    Booking booking_;
    std::vector<Sum> amount_;     // of each row
    std::vector<double> square_;  // what it costs if nothing is saved
};

// The tables of a node whose columns have few values: their layout, approximate costs of trees, and
// exact costs of good ones.

struct PairTables {
    explicit PairTables(InstructionSet set) : rough(set) {}

    // `has_others` as in RoughTables::open(). False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, bool has_others,
              Watch& watch) {
        layout.list(node);
        rows.resize(node.n);
        std::iota(rows.begin(), rows.end(), 0);
        return booking.set(watch.control(), layout.n_bytes() + bytes_of(rows)) &&
               trees.open(problem, node, layout, watch.control()) &&
               rough.open(problem, node, layout, rows, has_others, watch);
    }

    PairLayout layout;
    RoughTables rough;
    ValueTrees trees;
    std::vector<std::uint32_t> rows;  // all of them
    Booking booking;
};

class ValueSweep {
public:
    using Cells = RoughTables::Cells;

    struct Result {
        double cost = 0.0;
        RootTest root;  // of no column: no test does better than the limit
    };
    // A root test that may be the best one.
    struct LikelyRoot {
        double least = 0.0;  // what trees with it cost at least
        RootTest root;
        std::vector<RootTest> sides[2];  // the tests that each side may begin with
    };
    // Results of the sweep of a column.
    struct Swept {
        double column_bound = std::numeric_limits<double>::infinity();  // of all its trees
        std::vector<LikelyRoot> candidates;
    };
    // Tables of the sides of a column's positions, from one end of it: of every few codes, the
    // empty one first.
    struct Chain {
        std::vector<Cells> kept;
        int n_kept = 0;
    };
    // What one thread works with.
    struct SweepWork {
        Chain chains[2];   // of left sides, of right ones
        int step = 1;      // codes between tables that are kept
        int heaviest = 0;  // the code of most rows
        Cells between, missing, other_way;
        RoughTables::RoughWork rough;
        ValueTrees::TreeWork exact;
        Booking booking;
        // Values of the swept column, by position + 1, including both ends of the chain.
        std::vector<std::uint32_t> order;  // rows by their codes
        std::vector<std::uint32_t> begin;  // of the right side in that order
        std::vector<std::uint32_t> next;   // where the next row of a code goes
        std::vector<double> squares;       // of the left side
        std::vector<double> least[2][2];   // [missing left][side]: what it costs at least
        double missing_squares = 0.0;
        std::vector<RootTest> good;  // tests of the left side of a position

        std::int64_t n_bytes() const {
            std::int64_t n = bytes_of(between) + bytes_of(missing) + bytes_of(other_way);
            for (const Chain& chain : chains) {
                for (const Cells& cells : chain.kept) n += bytes_of(cells);
            }
            return n;
        }
    };

    explicit ValueSweep(InstructionSet set) : tables_(set) {}

    static bool is_faster(const ThresholdProblem& problem, const ThresholdNode& node,
                          int n_splits) {
        if (n_splits < 7 || !PairLayout::can_have(problem, node)) return false;
        double padded = 0.0, cells = 0.0, values = 0.0, traversed = 0.0;
        for (const NodeColumn& column : node.columns) {
            // With missing values each test is two.
            const double n_ways = column.n_present < node.n ? 2.0 : 1.0;
            // Sums of the pairs with earlier columns.
            cells += padded * column.n_groups * n_ways;
            padded += PairLayout::stride_of(node, column) * n_ways;
            values += (column.n_groups - 1.0) * n_ways;
            traversed += std::min(column.n_groups - 1.0, 12.0) * n_ways;
        }
        const double m = static_cast<double>(node.columns.size());
        // Nanoseconds, more or less.
        const double swept = 0.5 * m * m * m * node.n + 2.0 * values * (cells + 50.0 * m);
        const double of_pass = (5.0 + 0.8 * m) / (problem.is_regression() ? 1.0 : PASS_OF_CLASSES);
        return swept < traversed * m * node.n * of_pass;
    }

    // Tables of all rows. False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, Watch& watch) {
        problem_ = &problem;
        return tables_.open(problem, node, true, watch);
    }

    // Lower bound on the cost of trees of two levels.
    double least_of_two_levels(SweepWork& work) const {
        return least_of(tables_.rough.all(), tables_.rough.squares(), false, work);
    }

    // Columns by what their best single test saves: the first ones make a low incumbent.
    std::vector<int> promising_first() const {
        std::vector<double> most;
        std::vector<int> order;
        for (std::size_t k = 0; k < tables_.layout.columns().size(); ++k) {
            order.push_back(static_cast<int>(k));
            most.push_back(tables_.rough.saved_by_one(k));
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](int j, int k) { return most[j] > most[k]; });
        return order;
    }

    // The approximate costs of the root tests of column `k`. Cut short by a limit.
    //
    // `incumbent` is the lowest cost of a tree that any thread has found. It serves to
    // exclude what costs more by a margin, and so never excludes one of several best tests: which
    // of them is found does not depend on who found what first.
    //
    // `column_bound` is a lower bound on the cost of all these trees that is known before.
    void sweep(int k, double column_bound, std::atomic<double>& incumbent, SweepWork& work,
               Watch& watch, Swept& swept) const {
        swept.column_bound = column_bound;
        if (is_too_much(column_bound - problem_->split_cost, incumbent)) return;
        swept.column_bound = std::numeric_limits<double>::infinity();
        if (!begin_column(k, work, watch)) return;
        const int n_positions = static_cast<int>(work.begin.size()) - 2;
        explore({k, incumbent, work, watch, swept}, 0, n_positions - 1);
        swept.column_bound = std::max(column_bound, swept.column_bound);
    }

    // The best of the candidates of all columns, if it costs less than `limit`. Not all of them are
    // solved: the most promising ones first, which exclude others. Cut short by a limit.
    Result best_of(const std::vector<Swept>& columns, double limit, std::atomic<double>& incumbent,
                   SweepWork& work, Watch& watch) const {
        std::vector<LikelyRoot> candidates;
        for (const Swept& swept : columns) {
            candidates.insert(candidates.end(), swept.candidates.begin(), swept.candidates.end());
        }
        std::stable_sort(
            candidates.begin(), candidates.end(),
            [](const LikelyRoot& a, const LikelyRoot& b) { return a.least < b.least; });
        std::vector<Result> solved;
        for (const LikelyRoot& candidate : candidates) {
            if (is_too_much(candidate.least - problem_->split_cost, incumbent) ||
                watch.after_rows(static_cast<std::uint32_t>(tables_.layout.n_rows()))) {
                break;
            }
            const double cost = is_exact() ? candidate.least : exact_cost(candidate, work);
            lower_to(incumbent, cost);
            solved.push_back({cost, candidate.root});
        }
        // Among equal ones the first, in whatever order they were solved.
        std::sort(solved.begin(), solved.end(), [](const Result& a, const Result& b) {
            return std::tie(a.root.column_index, a.root.position, a.root.missing_left) <
                   std::tie(b.root.column_index, b.root.position, b.root.missing_left);
        });
        Result best;
        best.cost = limit;
        for (const Result& each : solved) {
            if (each.cost < best.cost - problem_->tolerance) best = each;
        }
        return best;
    }

private:
    // Bytes of the tables of one column, more or less; and more where there are more rows to add
    // again, as a multiple of those of their places.
    static constexpr std::size_t KEPT_BYTES = 1 << 22, KEPT_PLACES = 8;
    // Passes over classes are faster than passes over targets by this factor.
    static constexpr double PASS_OF_CLASSES = 3.0;

    double least_of(const Cells& cells, double squares, bool of_others, SweepWork& work) const {
        return tables_.rough.cost(cells, squares, of_others, work.rough) - tables_.rough.error();
    }

    // The positions of column k: where their sides meet, and that nothing is known of them.
    bool begin_column(std::size_t k, SweepWork& work, Watch& watch) const {
        const PairColumn& column = tables_.layout.columns()[k];
        list_sides(k, work);
        const std::uint32_t first_missing = work.begin[column.n_values];
        for (auto& of_sides : work.least) {
            for (auto& least : of_sides) least.assign(work.begin.size(), 0.0);
        }
        work.missing_squares = tables_.rough.squares() - work.squares[column.n_values];
        const std::size_t table = tables_.layout.n_cells() * sizeof(std::uint64_t);
        const std::size_t bytes =
            std::max(KEPT_BYTES, KEPT_PLACES * static_cast<std::size_t>(tables_.layout.n_bytes()));
        const int most_kept = static_cast<int>(std::clamp<std::size_t>(bytes / table, 2, 16));
        work.step = (column.n_codes() + most_kept - 1) / most_kept;
        for (Chain& chain : work.chains) {
            if (chain.kept.empty()) chain.kept.emplace_back();
            chain.kept[0].assign(tables_.layout.n_cells(), 0);
            chain.n_kept = 1;
        }
        work.missing.assign(column.has_missing ? tables_.layout.n_cells() : 0, 0);
        work.other_way.resize(work.missing.size());
        if (column.has_missing) {
            tables_.rough.add(&work.order[first_missing], work.order.size() - first_missing,
                              work.missing);
        }
        return work.booking.set(watch.control(), work.n_bytes());
    }

    // Sorts the rows by their codes of column k, missing values last: before the first code,
    // between each two, and after the last one is a place where the sides of a position meet, or an
    // end.
    void list_sides(std::size_t k, SweepWork& work) const {
        const std::size_t n_rows = tables_.layout.n_rows();
        const int n_codes = tables_.layout.columns()[k].n_codes();
        work.begin.assign(n_codes + 1, 0);
        work.squares.assign(n_codes + 1, 0.0);
        for (std::size_t row = 0; row < n_rows; ++row) {
            ++work.begin[tables_.layout.code(row, k) + 1];
            work.squares[tables_.layout.code(row, k) + 1] += tables_.rough.square(row);
        }
        work.heaviest = static_cast<int>(std::max_element(work.begin.begin(), work.begin.end()) -
                                         work.begin.begin() - 1);
        for (int code = 0; code < n_codes; ++code) {
            work.begin[code + 1] += work.begin[code];
            work.squares[code + 1] += work.squares[code];
        }
        work.order.resize(n_rows);
        work.next.assign(work.begin.begin(), work.begin.end());
        for (std::size_t row = 0; row < n_rows; ++row) {
            work.order[work.next[tables_.layout.code(row, k)]++] = static_cast<std::uint32_t>(row);
        }
    }

    // Whether tables of position at - 1 are those of its right side: that without the heaviest
    // code, whose rows are never added up.
    static bool is_from_right(int at, const SweepWork& work) { return at > work.heaviest; }
    static int n_codes_beyond(int at, const SweepWork& work) {
        return is_from_right(at, work) ? static_cast<int>(work.begin.size()) - 1 - at : at;
    }

    // Tables of one side of position at - 1. Those of every few positions are kept, so that most
    // rows are added once, in whatever order positions are asked for. False when a limit ended it.
    bool sum_side(int at, SweepWork& work, Watch& watch) const {
        const bool from_right = is_from_right(at, work);
        Chain& chain = work.chains[from_right];
        const int n_beyond = n_codes_beyond(at, work);
        for (; chain.n_kept <= n_beyond / work.step; ++chain.n_kept) {
            const int n = chain.n_kept;
            if (chain.kept.size() == static_cast<std::size_t>(n)) chain.kept.emplace_back();
            chain.kept[n] = chain.kept[n - 1];
            add_codes((n - 1) * work.step, n * work.step, from_right, work, chain.kept[n]);
        }
        if (n_beyond % work.step != 0) {
            work.between = chain.kept[n_beyond / work.step];
            add_codes(n_beyond / work.step * work.step, n_beyond, from_right, work, work.between);
        }
        return work.booking.set(watch.control(), work.n_bytes());
    }
    const Cells& side_of(int at, const SweepWork& work) const {
        const int n_beyond = n_codes_beyond(at, work);
        const Chain& chain = work.chains[is_from_right(at, work)];
        return n_beyond % work.step == 0 ? chain.kept[n_beyond / work.step] : work.between;
    }
    // Rows of codes from..to - 1, counted from an end.
    void add_codes(int from, int to, bool from_right, const SweepWork& work, Cells& cells) const {
        const int n_codes = static_cast<int>(work.begin.size()) - 1;
        const std::uint32_t first = work.begin[from_right ? n_codes - to : from];
        const std::uint32_t last = work.begin[from_right ? n_codes - from : to];
        tables_.rough.add(work.order.data() + first, last - first, cells);
    }

    // The column that is swept, and what it takes.
    struct Sweep {
        int k;
        std::atomic<double>& incumbent;
        SweepWork& work;
        Watch& watch;
        Swept& swept;
    };

    // Explores positions lo..hi; those beside them are known. Left sides grow along the chain and
    // right sides shrink. So between two known positions a tree costs at least the left side of the
    // first and the right side of the second. In a bad column, the middle position therefore
    // excludes all others.
    void explore(const Sweep& sweep, int lo, int hi) const {
        SweepWork& work = sweep.work;
        if (lo > hi || is_excluded(sweep, lo, hi) ||
            sweep.watch.after_rows(static_cast<std::uint32_t>(tables_.layout.n_cells()) + 1)) {
            return;
        }
        const std::uint32_t begin = work.begin[lo], end = work.begin[hi + 2];
        int p = lo;
        while (p < hi && work.begin[p + 1] - begin < end - work.begin[p + 1]) ++p;
        if (!sum_side(p + 1, work, sweep.watch)) return;
        try_position(sweep, p, lo == hi);
        explore(sweep, p + 1, hi);
        explore(sweep, lo, p - 1);
    }

    // Whether no tree with a root test at positions lo..hi is as good as the incumbent.
    bool is_excluded(const Sweep& sweep, int lo, int hi) const {
        if (!problem_->use.intervals) return false;
        const auto& least = sweep.work.least;
        double sides = std::numeric_limits<double>::infinity();
        for (int way = 0; way <= tables_.layout.columns()[sweep.k].has_missing; ++way) {
            sides = std::min(sides, least[way][0][lo] + least[way][1][hi + 2]);
        }
        if (!is_too_much(sides, sweep.incumbent)) return false;
        lower_column_bound(sides, sweep.swept);
        return true;
    }
    bool is_too_much(double sides, const std::atomic<double>& incumbent) const {
        // Costs that count as equal do not exclude each other.
        const double margin = 4.0 * problem_->tolerance;
        return sides + problem_->split_cost > incumbent.load(std::memory_order_relaxed) + margin;
    }
    void lower_column_bound(double sides, Swept& swept) const {
        swept.column_bound = std::min(swept.column_bound, sides + problem_->split_cost);
    }

    // Solves the rows on the left of a position and the others, with missing values on either side.
    // If a position is `alone`, its right side matters only if the tree may be good.
    void try_position(const Sweep& sweep, int position, bool alone) const {
        SweepWork& work = sweep.work;
        const int at = position + 1;
        const bool from_right = is_from_right(at, work);
        const Cells& side = side_of(at, work);
        const bool both_ways = tables_.layout.columns()[sweep.k].has_missing &&
                               at + 2 < static_cast<int>(work.begin.size());
        for (int way = 0; way <= both_ways; ++way) {
            // Missing values have the last code: they are on the right, unless they go to the left.
            for (std::size_t c = 0; way == 1 && c < work.missing.size(); ++c) {
                work.other_way[c] =
                    from_right ? side[c] - work.missing[c] : side[c] + work.missing[c];
            }
            const Cells& cells = way == 0 ? side : work.other_way;
            const double squares = work.squares[at] + (way == 1 ? work.missing_squares : 0.0);
            const double of_left = least_of(cells, squares, from_right, work);
            list_good(work, work.good);
            work.least[way][0][at] = of_left;
            double& of_right = work.least[way][1][at];
            of_right = work.least[way][1][at + 1];
            if (!alone || !problem_->use.intervals ||
                !is_too_much(of_left + of_right, sweep.incumbent)) {
                of_right = least_of(cells, tables_.rough.squares() - squares, !from_right, work);
            }
            lower_column_bound(of_left + of_right, sweep.swept);
            if (is_too_much(of_left + of_right, sweep.incumbent)) continue;
            const double least = of_left + of_right + problem_->split_cost;
            sweep.swept.candidates.push_back(
                {least, {sweep.k, position, way == 1}, {work.good, {}}});
            list_good(work, sweep.swept.candidates.back().sides[1]);
            // Each side costs more than this by two errors at most.
            lower_to(sweep.incumbent, least + 4.0 * tables_.rough.error());
        }
    }

    // Errors of whole weights are exact: no test is solved again.
    bool is_exact() const { return tables_.rough.error() == 0.0; }
    void list_good(const SweepWork& work, std::vector<RootTest>& tests) const {
        if (is_exact()) tests.clear();
        else tables_.rough.list_good(work.rough, tests);
    }
    double exact_cost(const LikelyRoot& candidate, SweepWork& work) const {
        const RootTest& root = candidate.root;
        list_sides(root.column_index, work);
        const auto first = work.order.begin();
        const auto middle = first + work.begin[root.position + 1];
        const auto end = first + work.begin[tables_.layout.columns()[root.column_index].n_values];
        std::vector<std::uint32_t>& rows = work.exact.rows;
        double cost = problem_->split_cost;
        for (int side = 0; side < 2; ++side) {
            rows.assign(side == 0 ? first : middle, side == 0 ? middle : end);
            if (root.missing_left == (side == 0)) rows.insert(rows.end(), end, work.order.end());
            cost += tables_.trees.best_of(candidate.sides[side], work.exact).least;
        }
        return cost;
    }

    const ThresholdProblem* problem_ = nullptr;
    PairTables tables_;
};

}  // namespace sktree_opt::thresholds
