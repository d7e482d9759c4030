// The best cut of a column between two classes, from its cases in order.
//
// Problem: as greedy::search_threshold with the entropy of two classes, cases of weight 1, no
// missing value. Exact: the same scores, as whole numbers, hence the same cut. The thousands of
// nodes with some dozens of cases take most of the time, with a search for each column. There it is
// not arithmetic that takes long but what the processor guesses wrong: so cases are read into a
// list first, and the list is gone through without a jump. The counts of both sides by class are
// looked up once, in sums that are made for the node and serve all its columns. Cases of the common
// value of a column (equal_cases.hpp) are one item.
//
//   n, ones       cases of a node or left of a cut, and those of the second class
//   score         x log2 x over the classes, less that over the side, for both sides
//   item          code of the column << 16 | class, of a case (order_index.hpp)
//
// Cost: three look-ups for each case; the sums of a node are as many as its cases, twice. Memory:
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/greedy/evaluator.hpp"
#include "sktree_opt/subset/lattice/order_index.hpp"

namespace sktree_opt::subset {

struct Cut {
    std::int64_t gain = 0;            // score of both sides, less that of all cases
    std::int64_t n_below = 0;         // cases left of the cut
    std::uint32_t low = 0, high = 0;  // codes next to it
    std::uint32_t n_tried = 0;
};

// Cases of one value that are a single item.
struct CommonItem {
    std::uint32_t place =
        std::numeric_limits<std::uint32_t>::max();  // among the items; past them: none
    std::int64_t n = 1, ones = 0;
};

// The cuts of all columns at a node, one column after the other.
class CutSearch {
public:
    void forget_node() { n_ = 0; }
    bool has_node() const { return n_ > 0; }

    void start_node(const greedy::LogTable& logs, std::int64_t n, std::int64_t ones,
                    double min_leaf, double tolerance) {
        n_ = n;
        least_ = std::max<std::int64_t>(1, std::llround(std::ceil(min_leaf)));
        tolerance_ = logs.from_real(tolerance);
        const std::int64_t* log = logs.data();
        base_ = log[ones] + log[n - ones] - log[n];
        add_sides(log, n, of_all_);
        add_sides(log, ones, of_ones_);
        add_sides(log, n - ones, of_zeros_);
    }

    // The best cut of `n_items` in the order of their codes; there is room for one more.
    Cut best_cut(Item* items, std::uint32_t n_items, const CommonItem& common) {
        Cut cut;
        if (code_of(items[0]) == code_of(items[n_items - 1])) return cut;
        items[n_items] = items[n_items - 1];  // no cut after the last
        items_ = items;
        ones_ = 0;
        to_beat_ = std::numeric_limits<std::int64_t>::lowest();
        n_tried_ = 0;
        if (common.place >= n_items) {
            scan(0, n_items, 0);
        } else {
            scan(0, common.place, 0);
            ones_ += common.ones;
            // As if the cases before it were more: what is looked at is the cut after it.
            scan(common.place, common.place + 1, common.n - 1);
            scan(common.place + 1, n_items, common.n - 1);
        }
        cut.n_tried = n_tried_;
        if (n_tried_ == 0) return cut;
        cut.gain = to_beat_ - tolerance_ - base_;
        cut.low = code_of(items[best_]);
        cut.high = code_of(items[best_ + 1]);
        cut.n_below = best_ + 1 + (best_ >= common.place ? common.n - 1 : 0);
        return cut;
    }

private:
    static void add_sides(const std::int64_t* log, std::int64_t n,
                          std::vector<std::int64_t>& sums) {
        if (sums.size() <= static_cast<std::size_t>(n)) sums.resize(n + 1);
        for (std::int64_t i = 0; i <= n; ++i) sums[i] = log[i] + log[n - i];
    }

    // Cuts after the items from `first` to before `last`; left of item i are i + `n_more` cases.
    void scan(std::int64_t first, std::int64_t last, std::int64_t n_more) {
        const Item* items = items_;
        std::int64_t i = first, ones = ones_;
        const std::int64_t n_before = std::min(last, least_ - 1 - n_more);
        const std::int64_t end = std::min(last, n_ - least_ - n_more);
        for (; i < n_before; ++i) ones += class_of(items[i]);
        const std::int64_t* of_all = of_all_.data() + n_more + 1;
        const std::int64_t* of_zeros = of_zeros_.data() + n_more + 1;
        const std::int64_t* of_ones = of_ones_.data();
        const std::int64_t tolerance = tolerance_;
        std::int64_t to_beat = to_beat_, best = best_;
        std::uint32_t n_tried = n_tried_;
        for (; i < end; ++i) {
            ones += class_of(items[i]);
            const bool is_cut = code_of(items[i]) != code_of(items[i + 1]);
            const std::int64_t score = of_ones[ones] + of_zeros[i - ones] - of_all[i];
            // By a mask: compilers make jumps of conditions.
            const std::int64_t mask = -static_cast<std::int64_t>(is_cut & (score > to_beat));
            to_beat ^= (to_beat ^ (score + tolerance)) & mask;
            best ^= (best ^ i) & mask;
            n_tried += is_cut;
        }
        for (; i < last; ++i) ones += class_of(items[i]);
        ones_ = ones;
        to_beat_ = to_beat;
        best_ = best;
        n_tried_ = n_tried;
    }

    // Of the node.
    std::int64_t n_ = 0, least_ = 1, tolerance_ = 0, base_ = 0;
    std::vector<std::int64_t> of_all_, of_ones_, of_zeros_;  // by what is left of a cut: both sides
    // Of the column.
    const Item* items_ = nullptr;
    std::int64_t ones_ = 0, to_beat_ = 0, best_ = 0;  // best_: the item before the best cut
    std::uint32_t n_tried_ = 0;
};

}  // namespace sktree_opt::subset
