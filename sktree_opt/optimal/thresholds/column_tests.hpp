// All tests of one column that send missing values to the same side.
//
// Numeric columns give chains: position p sends the groups 0..p (and the missing values, when
// `missing_left`) to the left, so the left sides of one chain are nested. Nominal columns give sets
// without such an order: position p sends group p to the left. One more position, where values are
// missing, asks whether they are.
#pragma once

#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/threshold_problem.hpp"

namespace sktree_opt::thresholds {

struct ColumnTests {
    int column_index = 0;  // in NodeRows::columns
    bool is_chain = true;
    bool missing_left = false;
    bool has_bounds = true;         // see intervals.hpp
    bool has_missing_test = false;  // nominal: the last position asks for missing values
    int n_positions = 0;
    std::vector<std::uint32_t> end;  // see end_at(); empty when all present rows differ
    std::vector<double> moved;       // chain: largest cost of the rows on the left of p
    double all_moved = 0.0;          // the same of all rows

    // Entries before it belong to groups 0..p.
    std::uint32_t end_at(int p) const {
        return end.empty() ? static_cast<std::uint32_t>(p) + 1 : end[p];
    }
    double moved_at(int p) const {
        if (p < 0) return 0.0;
        return p < n_positions ? moved[p] : all_moved;
    }
    std::int64_t n_bytes() const { return bytes_of(end) + bytes_of(moved); }
};

// Number of tests of a tests.
inline void count_positions(const NodeColumn& column, std::uint32_t n_rows, ColumnTests& tests) {
    const bool has_missing = column.n_present < n_rows;
    const int n_groups = static_cast<int>(column.n_groups);
    if (tests.is_chain) {
        // The last position leaves nothing on the right, or only what is missing.
        tests.n_positions = n_groups - (has_missing && !tests.missing_left ? 0 : 1);
    } else {
        // One test is enough for two categories; {category, missing} against nothing is not a test.
        tests.n_positions = n_groups == 2 && !has_missing ? 1 : n_groups;
        if (tests.missing_left && n_groups < 2) tests.n_positions = 0;
        if (has_missing && !tests.missing_left) {
            tests.has_missing_test = true;
            // With one category, "is it that one?" and "is it missing?" divide alike.
            if (n_groups > 1) ++tests.n_positions;
        }
    }
}

inline void begin_column_tests(const NodeColumn& column, int k, bool missing_left,
                               ColumnTests& tests) {
    tests.column_index = k;
    tests.is_chain = !column.is_nominal;
    tests.missing_left = missing_left;
    tests.has_missing_test = false;
    tests.end.clear();
    tests.moved.clear();
    if (column.n_groups < column.n_present) tests.end.reserve(column.n_groups);
    tests.moved.reserve(column.n_groups);
}

// Where groups end and what their rows cost, each row 1.
inline void count_moved(const NodeColumn& column, const std::uint32_t* order, std::uint32_t n_rows,
                        ColumnTests& tests) {
    const bool has_ties = column.n_groups < column.n_present;
    const double before = tests.missing_left ? n_rows - column.n_present : 0.0;
    tests.all_moved = n_rows;
    for (std::uint32_t i = 1; i <= column.n_present; ++i) {
        if (i < column.n_present && !(order[i] & FIRST_OF_GROUP)) continue;
        if (has_ties) tests.end.push_back(i);
        tests.moved.push_back(before + i);
    }
}

// Lists the tests of a tests; each row costs 1.
inline void describe_tests(const ThresholdNode& node, int k, bool missing_left,
                           ColumnTests& tests) {
    const NodeColumn& column = node.columns[k];
    begin_column_tests(column, k, missing_left, tests);
    count_moved(column, node.order(k), node.n, tests);
    count_positions(column, node.n, tests);
}

inline void describe_column_tests(const ThresholdProblem& problem, const ThresholdNode& node, int k,
                                  bool missing_left, ColumnTests& tests) {
    tests.has_bounds = problem.use.intervals;
    if (problem.is_plain) return describe_tests(node, k, missing_left, tests);
    const NodeColumn& column = node.columns[k];
    const std::uint32_t* order = node.order(k);
    const bool has_ties = column.n_groups < column.n_present;
    begin_column_tests(column, k, missing_left, tests);
    double moved = 0.0;
    auto worst_cost = [&](std::uint32_t row) {
        if (!problem.is_regression()) return node.weight[row] * problem.worst[node.label[row]];
        // The means of leaves are within the range of the node's targets.
        const double farthest =
            std::max(node.target[row] - node.least_target, node.largest_target - node.target[row]);
        return node.weight[row] * farthest * (problem.is_absolute ? 1.0 : farthest);
    };
    if (missing_left) {
        for (std::uint32_t i = column.n_present; i < node.n; ++i) moved += worst_cost(order[i]);
    }
    for (std::uint32_t i = 0; i < column.n_present; ++i) {
        if (i > 0 && (order[i] & FIRST_OF_GROUP)) {
            if (has_ties) tests.end.push_back(i);
            tests.moved.push_back(moved);
        }
        moved += worst_cost(order[i] & ROW_MASK);
    }
    if (column.n_present > 0) {
        if (has_ties) tests.end.push_back(column.n_present);
        tests.moved.push_back(moved);
    }
    if (!missing_left) {
        for (std::uint32_t i = column.n_present; i < node.n; ++i) moved += worst_cost(order[i]);
    }
    tests.all_moved = moved;
    count_positions(column, node.n, tests);
}

// Fills `column_tests` (reusing its memory); returns how many there are. Cut short by a limit.
inline int list_column_tests(const ThresholdProblem& problem, const ThresholdNode& node,
                             std::vector<ColumnTests>& column_tests, Watch& watch) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < node.columns.size(); ++k) {
        const bool has_missing = node.columns[k].n_present < node.n;
        for (int missing_left = 0; missing_left <= (has_missing ? 1 : 0); ++missing_left) {
            if (watch.after_rows(node.n)) return static_cast<int>(count);
            if (column_tests.size() == count) column_tests.emplace_back();
            describe_column_tests(problem, node, static_cast<int>(k), missing_left != 0,
                                  column_tests[count]);
            if (column_tests[count].n_positions > 0) ++count;
        }
    }
    return static_cast<int>(count);
}

inline bool asks_for_missing(const ColumnTests& tests, const NodeColumn& column, int position) {
    if (!tests.is_chain && tests.has_missing_test) {
        return column.n_groups == 1 || position == static_cast<int>(column.n_groups);
    }
    return tests.is_chain && !tests.missing_left &&
           position + 1 == static_cast<int>(column.n_groups);
}

inline ThresholdTest test_at(const ThresholdProblem& problem, const ThresholdNode& node,
                             const ColumnTests& tests, int position) {
    const NodeColumn& column = node.columns[tests.column_index];
    const ColumnView& view = problem.columns[column.column];
    const std::uint32_t* order = node.order(tests.column_index);
    ThresholdTest test;
    test.column = column.column;
    if (asks_for_missing(tests, column, position)) {
        test.kind = tests.is_chain ? TestKind::PRESENT : TestKind::MISSING;
        test.missing_branch = tests.is_chain ? 1 : 0;
        return test;
    }
    test.missing_branch = tests.missing_left ? 0 : 1;
    const std::uint32_t last = tests.end_at(position) - 1;
    test.code = code_at(view, node.row[order[last] & ROW_MASK]);
    if (tests.is_chain) {
        test.next_code = code_at(view, node.row[order[last + 1] & ROW_MASK]);
    } else {
        test.kind = TestKind::ONE_CATEGORY;
    }
    return test;
}

}  // namespace sktree_opt::thresholds
