// Where tables of pairs of columns with few values stand, and how rows are added to them.
//
// A row's code of column k has a place in a line of all columns. For column j and each of its codes
// there is a line of the columns from j on: of the rows with that code, by their codes of these
// columns. A row adds to one cell of each pair; that of a column with itself holds its own sums.
//
// Missing values are one more code, the last.
//
// MurTree's tables of pairs of binary columns (Demirovic et al., JMLR 2022, section 4.2) are these
// tables for columns of two values. No test divides the node, or sorts or traverses rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/limits.hpp"
#include "sktree_opt/optimal/thresholds/kernels/threshold_kernels.hpp"

namespace sktree_opt::thresholds {

struct PairColumn {
    int n_values = 0;
    bool has_missing = false;
    int stride = 0;         // padded number of codes
    std::size_t place = 0;  // of its first code in a line of all columns
    std::size_t width = 0;  // of a line of the columns from it on
    std::size_t lines = 0;  // those of its codes, as if the columns before it stood there, too

    std::size_t line(std::size_t code) const { return lines + code * width; }
    std::size_t own(std::size_t code) const { return line(code) + place + code; }
    int n_codes() const { return n_values + has_missing; }
};

// A test whether a code is at most `position`.
struct RootTest {
    int column_index = -1;  // of the node's columns
    int position = 0;
    bool missing_left = false;
};

class PairLayout {
public:
    static constexpr std::uint32_t MOST_VALUES = RoughPairTask::MOST_STRIDE - 8;

    // Whether there can be tables of a node, of squared errors or errors of two classes: not with
    // categories and minima for leaves.
    static bool can_have(const ThresholdProblem& problem, const ThresholdNode& node) {
        const bool has_sums = problem.is_regression() ? !problem.is_absolute
                                                      : problem.is_error && problem.n_classes == 2;
        if (!problem.use.value_sweep || !has_sums || problem.min_rows > 1.0 ||
            problem.min_weight > 0.0 || node.columns.empty()) {
            return false;
        }
        double line = 0.0, cells = 0.0;
        for (const NodeColumn& column : node.columns) {
            if (column.is_nominal || column.n_groups > MOST_VALUES) return false;
            line += stride_of(node, column);
            cells += line * (column.n_groups + 1.0);
        }
        return cells * 48.0 < std::max(MOST_BYTES, BYTES_A_CELL * node.n * node.columns.size());
    }

    void list(const ThresholdNode& node) {
        const std::size_t m = node.columns.size();
        n_rows_ = node.n;
        place_.resize(m * n_rows_);
        columns_.clear();
        line_ = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const NodeColumn& column = node.columns[k];
            columns_.push_back({static_cast<int>(column.n_groups), column.n_present < node.n,
                                stride_of(node, column), line_});
            line_ += columns_.back().stride;
            list_places(node, k);
        }
        n_cells_ = 0;
        for (PairColumn& column : columns_) {
            column.width = line_ - column.place;
            column.lines = n_cells_ - column.place;
            n_cells_ += column.n_codes() * column.width;
        }
    }

    static int stride_of(const ThresholdNode& node, const NodeColumn& column) {
        return static_cast<int>((column.n_groups + (column.n_present < node.n) + 7) / 8 * 8);
    }

    const std::vector<PairColumn>& columns() const { return columns_; }
    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_cells() const { return n_cells_; }
    // Places in a line of all columns.
    std::size_t line() const { return line_; }
    const std::uint16_t* places(std::size_t row) const { return &place_[row * columns_.size()]; }
    int code(std::size_t row, std::size_t k) const {
        return static_cast<int>(place_[row * columns_.size() + k] - columns_[k].place);
    }
    std::int64_t n_bytes() const { return bytes_of(place_); }

    // Adds rows to tables, each by its amount. By first column, so that what is added to stays in
    // the nearest cache: all tables together do not.
    template <class Cell>
    void add(const std::vector<Cell>& amount, const std::uint32_t* rows, std::size_t n,
             std::vector<Cell>& tables) const {
        const std::size_t m = columns_.size();
        for (std::size_t j = 0; j < m; ++j) {
            const PairColumn& column = columns_[j];
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint16_t* const place = &place_[rows[i] * m];
                const Cell more = amount[rows[i]];
                Cell* const cells = tables.data() + column.line(place[j] - column.place);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 4
#endif
                for (std::size_t k = j; k < m; ++k) cells[place[k]] += more;
            }
        }
    }

private:
    // Memory of the tables: so many bytes, or so many for each cell of the node, if that is more.
    static constexpr double MOST_BYTES = 1 << 25, BYTES_A_CELL = 16.0;

    void list_places(const ThresholdNode& node, std::size_t k) {
        const NodeColumn& column = node.columns[k];
        const std::uint32_t* order = node.order(k);
        auto place = static_cast<std::uint16_t>(columns_[k].place - 1);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            if (i == 0 || i == column.n_present || (order[i] & FIRST_OF_GROUP)) ++place;
            place_[(order[i] & ROW_MASK) * node.columns.size() + k] = place;
        }
    }

    std::vector<PairColumn> columns_;
    std::vector<std::uint16_t> place_;  // [row][column]: of the row's code in a line
    std::size_t n_rows_ = 0, n_cells_ = 0, line_ = 0;
};

}  // namespace sktree_opt::thresholds
