// Cases that are equal in a column and in their class are one case, of the weight of all of them.
//
// A split search needs the weight of each class by value of the column. In some columns most rows
// have one value: counts that are mostly zero, facts that are rarely true. Only the other rows are
// then looked up among the cases of a node. There is a bit for each row of the table that has
// another value, and one for each row of the node. The common value has what is left of the node,
// one case for each class. So few cases are sorted, and read one by one where the split is
// searched.
//
//   common      the value of most rows
//   rare rows   those of other values, or of none
//   stand-ins   rows of the common value, one for each class, that carry the weight of the others
//
// Sums of whole numbers are the same in any order, and so is what is found. Sums of fractions
// differ by rounding, as they do anyway: split.hpp says why that decides nothing.
// Cost for a node: its words (at most its rows, or those of the table / 64) and its rare rows for
// each column. Memory: a bit for each cell of the columns that have a common value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"
#include "sktree_opt/subset/lattice/order_index.hpp"

namespace sktree_opt::subset {

struct MergeRules {
    double max_rare = 0.5;  // share of the rows that are rare in a column; negative: no column
    std::uint32_t min_cases = 10;
};

class RareRows {
public:
    struct RareColumn {
        std::vector<std::uint64_t> words;  // bits of the rare rows
        std::vector<std::uint32_t> stand_ins;
        std::uint32_t common = 0;  // its code
    };

    // Returns the bytes it takes.
    std::size_t build(const std::vector<greedy::Column>& columns, std::uint32_t n_rows,
                      std::uint32_t n_classes, const MergeRules& rules) {
        slots_.assign(columns.size(), -1);
        columns_.clear();
        std::size_t n_bytes = 0;
        const double most = rules.max_rare * n_rows;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            // Each value but the common one has a row.
            if (most < static_cast<double>(columns[j].n_values) - 1.0) continue;
            RareColumn column;
            if (!describe(columns[j], n_rows, n_classes, most, column)) continue;
            n_bytes += 8 * column.words.size() + 4 * column.stand_ins.size();
            slots_[j] = static_cast<std::int32_t>(columns_.size());
            columns_.push_back(std::move(column));
        }
        return n_bytes;
    }

    bool empty() const { return columns_.empty(); }
    // Null: no value is common enough.
    const RareColumn* of(std::int32_t feature) const {
        return slots_[feature] < 0 ? nullptr : &columns_[slots_[feature]];
    }

private:
    static bool describe(const greedy::Column& column, std::uint32_t n_rows,
                         std::uint32_t n_classes, double most, RareColumn& rare) {
        return greedy::with_codes(column, [&](auto codes) {
            std::vector<std::uint32_t> counts(column.n_values + 1, 0);
            for (std::uint32_t row = 0; row < n_rows; ++row) ++counts[codes[row]];
            counts.pop_back();  // missing values
            if (counts.empty()) return false;
            const auto largest = std::max_element(counts.begin(), counts.end());
            if (n_rows - *largest > most || *largest < n_classes) return false;
            const auto common = static_cast<std::uint32_t>(largest - counts.begin());
            rare.common = common;
            rare.words.assign(n_rows / 64 + 1, 0);
            for (std::uint32_t row = 0; row < n_rows; ++row) {
                if (codes[row] != common) {
                    rare.words[row >> 6] |= std::uint64_t{1} << (row & 63);
                } else if (rare.stand_ins.size() < n_classes) {
                    rare.stand_ins.push_back(row);
                }
            }
            return true;
        });
    }

    std::vector<std::int32_t> slots_;  // by feature: its place in `columns_`; -1: none
    std::vector<RareColumn> columns_;
};

// The rows of a node as bits, without the words that have none.
class RowBits {
public:
    void assign(const std::vector<std::uint32_t>& rows) {
        places_.clear();
        words_.clear();
        for (std::uint32_t row : rows) {
            if (places_.empty() || places_.back() != row >> 6) {
                places_.push_back(row >> 6);
                words_.push_back(0);
            }
            words_.back() |= std::uint64_t{1} << (row & 63);
        }
    }
    // Calls visit(row) for the rows that are in `words` too, increasing.
    template <class F>
    void visit_common(const std::vector<std::uint64_t>& words, F&& visit) const {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            for (std::uint64_t word = words_[i] & words[places_[i]]; word != 0; word &= word - 1) {
                visit((places_[i] << 6) + static_cast<std::uint32_t>(lowest_bit(word)));
            }
        }
    }

private:
    std::vector<std::uint32_t> places_;
    std::vector<std::uint64_t> words_;
};

// Cases of a node as a split search reads them, by position.
struct MergedCases {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint16_t> classes;
    std::vector<double> weights;
    std::uint32_t n = 0;  // of them; there may be room for more

    void clear(std::size_t room) {
        n = 0;
        if (rows.size() >= room) return;
        rows.resize(room);
        classes.resize(room);
        weights.resize(room);
    }
    // Without a jump, which would often be guessed wrong.
    void add_if(bool is_case, std::uint32_t row, std::uint32_t label, double weight) {
        rows[n] = row;
        classes[n] = static_cast<std::uint16_t>(label);
        weights[n] = weight;
        n += is_case;
    }
    std::uint32_t size() const { return n; }
    greedy::Cases view() const { return {classes.data(), nullptr, weights.data()}; }
};

// Merges the cases of one node after the other, column by column.
class CaseMerger {
public:
    // `outputs`: weights of the classes.
    void start(const greedy::Target& target, std::uint32_t n_rows, const greedy::CaseSet& cases,
               const double* outputs) {
        target_ = &target;
        outputs_ = outputs;
        node_rows_.assign(cases.rows);
        n_of_class_.assign(target.n_classes, 0);
        for (std::uint32_t row : cases.rows) ++n_of_class_[target.classes[row]];
        room_ = cases.rows.size() + target.n_classes + 1;
        has_weights_ = !cases.weights.empty();
        if (!has_weights_) return;
        weight_of_.resize(n_rows);
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            weight_of_[cases.rows[i]] = cases.weights[i];
        }
    }

    // False when all cases have the common value.
    bool merge_common(const RareRows::RareColumn& column, MergedCases& merged) {
        merged.clear(room_);
        node_rows_.visit_common(column.words, [&](std::uint32_t row) {
            const double weight = has_weights_ ? weight_of_[row] : 1.0;
            merged.add_if(true, row, target_->classes[row], weight);
        });
        if (merged.size() == 0) return false;
        rest_.assign(outputs_, outputs_ + target_->n_classes);
        n_rest_.assign(n_of_class_.begin(), n_of_class_.end());
        for (std::uint32_t i = 0; i < merged.size(); ++i) {
            rest_[merged.classes[i]] -= merged.weights[i];
            --n_rest_[merged.classes[i]];
        }
        for (std::uint32_t c = 0; c < target_->n_classes; ++c) {
            // Rounding must neither make a case nor lose one.
            constexpr double LEAST = std::numeric_limits<double>::min();
            merged.add_if(n_rest_[c] > 0, column.stand_ins[c], c, std::max(rest_[c], LEAST));
        }
        return true;
    }

    // Calls visit(row) for the rows of the node that have not the common value.
    template <class F>
    void visit_rare(const RareRows::RareColumn& column, F&& visit) const {
        node_rows_.visit_common(column.words, visit);
    }

private:
    const greedy::Target* target_ = nullptr;
    const double* outputs_ = nullptr;
    RowBits node_rows_;
    bool has_weights_ = false;
    std::size_t room_ = 0;           // for merged cases
    std::vector<double> weight_of_;  // by row
    std::vector<double> rest_;       // by class: weight of the common value
    std::vector<std::uint32_t> n_of_class_, n_rest_;
};

}  // namespace sktree_opt::subset
