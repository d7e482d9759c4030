// The best division in two of a part of a node's rows, for the sum of absolute errors: exact.
//
// A leaf answers its weighted median. The rows form a doubly linked list in the order of their
// targets, with a pointer to the median; removing one row moves the pointer by about one step.
// Taking them out from the end of a column's order, then from its beginning, gives what both
// branches of each test cost: 2 n steps for each column and side for missing values. A category
// takes n steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"

namespace sktree_opt::thresholds {

// A leaf that rows can be taken out of.
class MedianList {
public:
    // The rows of `node` for which `inside` holds.
    void open(const ThresholdNode& node, const std::uint8_t* inside) {
        node_ = &node;
        inside_ = inside;
        rank_.resize(node.n);
        first_previous_.assign(node.n, -1);
        first_next_.assign(node.n, -1);
        first_ = State();
        std::int32_t last = -1;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::int32_t row = static_cast<std::int32_t>(node.by_target[i]);
            rank_[row] = i;
            if (!inside[row]) continue;
            first_previous_[row] = last;
            if (last >= 0) first_next_[last] = row;
            // At first all is above a median that is the least target.
            if (last < 0) first_.median = row;
            else change(first_.above, row, 1.0);
            last = row;
            first_.n_rows += 1.0;
            first_.weight += node.weight[row];
        }
        reset();
        balance();
        first_ = state_;
    }

    // All rows again.
    void reset() {
        previous_ = first_previous_;
        next_ = first_next_;
        state_ = first_;
    }

    void remove(std::uint32_t index) {
        if (!inside_[index]) return;
        const std::int32_t row = static_cast<std::int32_t>(index);
        state_.n_rows -= 1.0;
        state_.weight -= node_->weight[row];
        const std::int32_t before = previous_[row], after = next_[row];
        if (row == state_.median) {
            state_.median = after >= 0 ? after : before;
            if (after >= 0) change(state_.above, after, -1.0);
            else if (before >= 0) change(state_.below, before, -1.0);
        } else {
            const bool is_below = rank_[row] < rank_[state_.median];
            change(is_below ? state_.below : state_.above, row, -1.0);
        }
        if (before >= 0) next_[before] = after;
        if (after >= 0) previous_[after] = before;
        balance();
    }

    double cost() const {
        if (state_.median < 0) return 0.0;
        const double answer = node_->target[state_.median];
        return std::max(0.0, answer * state_.below.weight - state_.below.sum + state_.above.sum -
                                 answer * state_.above.weight);
    }
    double n_rows() const { return state_.n_rows; }
    double weight() const { return state_.weight; }

private:
    struct Half {
        double weight = 0.0, sum = 0.0;
    };
    struct State {
        std::int32_t median = -1;  // -1: no rows
        Half below, above;
        double n_rows = 0.0, weight = 0.0;
    };

    void change(Half& part, std::int32_t row, double sign) const {
        part.weight += sign * node_->weight[row];
        part.sum += sign * node_->weight[row] * node_->target[row];
    }

    // Moves the median until neither part has more than half of the weight.
    void balance() {
        while (2.0 * state_.below.weight > state_.weight) {
            change(state_.above, state_.median, 1.0);
            state_.median = previous_[state_.median];
            change(state_.below, state_.median, -1.0);
        }
        while (2.0 * state_.above.weight > state_.weight) {
            change(state_.below, state_.median, 1.0);
            state_.median = next_[state_.median];
            change(state_.above, state_.median, -1.0);
        }
    }

    const ThresholdNode* node_ = nullptr;
    const std::uint8_t* inside_ = nullptr;
    std::vector<std::uint32_t> rank_;  // of each row by target
    std::vector<std::int32_t> first_previous_, first_next_, previous_, next_;
    State first_, state_;
};

// One division: what its leaves cost, and what branch 0 has.
struct AbsoluteDivision {
    double cost = 0.0;
    double n_left = 0.0;
    double weight_left = 0.0;
};

class AbsoluteErrors {
public:
    // The rows of `node` for which `inside` holds; null for all.
    void open(const ThresholdNode& node, const std::uint8_t* inside) {
        node_ = &node;
        if (inside == nullptr) {
            all_.assign(node.n, 1);
            inside = all_.data();
        }
        list_.open(node, inside);
        leaf_cost_ = list_.cost();
        n_rows_ = list_.n_rows();
        weight_ = list_.weight();
    }
    double leaf_cost() const { return leaf_cost_; }
    double n_rows() const { return n_rows_; }
    double weight() const { return weight_; }

    // The divisions by columns[k]: after each group of codes of a chain; each category alone, and
    // after them what is missing.
    const std::vector<AbsoluteDivision>& divide(int k, bool missing_left) {
        const NodeColumn& column = node_->columns[k];
        list_groups(k);
        if (column.is_nominal) divide_categories(k, missing_left);
        else divide_chain(k, missing_left);
        return divisions_;
    }

private:
    void list_groups(int k) {
        const std::uint32_t* order = node_->order(k);
        const std::uint32_t n_present = node_->columns[k].n_present;
        end_.clear();
        for (std::uint32_t i = 1; i < n_present; ++i) {
            if (order[i] & FIRST_OF_GROUP) end_.push_back(i);
        }
        if (n_present > 0) end_.push_back(n_present);
    }

    void remove(const std::uint32_t* order, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t i = begin; i < end; ++i) list_.remove(order[i] & ROW_MASK);
    }

    void divide_chain(int k, bool missing_left) {
        const std::uint32_t* order = node_->order(k);
        const std::uint32_t n_present = node_->columns[k].n_present;
        divisions_.resize(end_.size());
        list_.reset();
        if (!missing_left) remove(order, n_present, node_->n);
        for (std::size_t p = end_.size(); p-- > 0;) {
            divisions_[p] = {list_.cost(), list_.n_rows(), list_.weight()};
            remove(order, p == 0 ? 0 : end_[p - 1], end_[p]);
        }
        list_.reset();
        if (missing_left) remove(order, n_present, node_->n);
        for (std::size_t p = 0; p < end_.size(); ++p) {
            remove(order, p == 0 ? 0 : end_[p - 1], end_[p]);
            divisions_[p].cost += list_.cost();
        }
    }

    void divide_categories(int k, bool missing_left) {
        const std::uint32_t* order = node_->order(k);
        const std::uint32_t n_present = node_->columns[k].n_present;
        divisions_.clear();
        for (std::size_t p = 0; p <= end_.size(); ++p) {
            const bool missing_only = p == end_.size();
            const std::uint32_t begin = missing_only ? n_present : p == 0 ? 0 : end_[p - 1];
            const std::uint32_t end = missing_only ? node_->n : end_[p];
            const bool with_missing = missing_left && !missing_only;
            list_.reset();
            remove(order, begin, end);
            if (with_missing) remove(order, n_present, node_->n);
            AbsoluteDivision division = {list_.cost(), n_rows_ - list_.n_rows(),
                                         weight_ - list_.weight()};
            list_.reset();
            remove(order, 0, begin);
            remove(order, end, with_missing ? n_present : node_->n);
            division.cost += list_.cost();
            divisions_.push_back(division);
        }
    }

    const ThresholdNode* node_ = nullptr;
    MedianList list_;
    double leaf_cost_ = 0.0, n_rows_ = 0.0, weight_ = 0.0;
    std::vector<std::uint8_t> all_;
    std::vector<std::uint32_t> end_;
    std::vector<AbsoluteDivision> divisions_;
};

}  // namespace sktree_opt::thresholds
