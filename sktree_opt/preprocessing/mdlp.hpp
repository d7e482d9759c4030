// Cut points of a numeric column by recursive minimal entropy partitioning: exact by the criterion.
//
// U. M. Fayyad, K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for
// Classification Learning", IJCAI 1993, pp. 1022-1027. The best cut of a set of cases has the
// lowest class information entropy. It is kept if it shortens the description of the classes (the
// MDL principle), and both sides are then cut in the same way.
//
// Paper              here
// S, S1, S2          Range, its left side, its right side: groups of cases with one value
// N                  total weight of a range, in place of the number of cases
// k, k1, k2          classes with weight in S, S1, S2
// Ent(S)             entropy(sums)
// E(A, T; S) * N     `bits` of the scan
// Gain, Delta        pays_off()
//
// Deviations: cases have weights, and a weight of w counts as w cases; below two cases, where the
// paper's log2(N - 1) has no meaning, it is 0. Cuts whose bits per case differ by less than
// TIE_PER_CASE are equal, and the lowest wins, so that rounding decides nothing.
//
// Only boundary points are evaluated (Theorem 1: no other cut can be best). Running sums of
// x * log2(x) make a scan linear: O(n) for each level of the partition after a counting sort, and
// 16 bytes a case.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sktree_opt/preprocessing/ranked_column.hpp"
#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

constexpr double TIE_PER_CASE = 1e-9;

inline double x_log_x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

class MdlpPartition {
public:
    MdlpPartition(const ColumnView& column, const std::int32_t* labels, const double* weights,
                  std::size_t n_rows, int n_classes, SearchControl& control)
        : n_classes_(n_classes), control_(control) {
        sort_rows(column, labels, weights, n_rows);
        find_pure_groups();
    }

    // Codes after which there is a cut, in ascending order; those found so far after a stop.
    std::vector<std::uint32_t> cuts() {
        std::vector<std::uint32_t> found;
        std::vector<Range> waiting{{0, codes_.size()}};
        while (!waiting.empty() && !control_.poll()) {
            const Range range = waiting.back();
            waiting.pop_back();
            const std::size_t middle = best_cut(range);
            if (middle == range.first || !pays_off(range, middle)) continue;
            found.push_back(codes_[middle - 1]);
            waiting.push_back({range.first, middle});
            waiting.push_back({middle, range.last});
        }
        std::sort(found.begin(), found.end());
        return found;
    }

private:
    struct Range {
        std::size_t first, last;  // groups, half open
    };
    struct ClassSums {
        std::vector<double> of_class;
        double total = 0.0;
    };

    int n_classes_;
    SearchControl& control_;
    std::vector<std::int32_t> label_;  // of each case, sorted by value
    std::vector<double> weight_;
    std::vector<std::uint32_t> codes_;  // of each group: its value's code
    std::vector<std::size_t> start_;    // of each group: its first case; one more entry at the end
    std::vector<std::int32_t> pure_;    // of each group: its class, -1 if it has several

    // A counting sort by code; missing values are left out.
    void sort_rows(const ColumnView& column, const std::int32_t* labels, const double* weights,
                   std::size_t n_rows) {
        std::vector<std::size_t> next(column.n_values + 1, 0);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const std::uint32_t code = code_at(column, row);
            if (code < column.n_values) ++next[code + 1];
        }
        for (std::uint32_t code = 0; code < column.n_values; ++code) {
            if (next[code + 1] > 0) {
                codes_.push_back(code);
                start_.push_back(next[code]);
            }
            next[code + 1] += next[code];
        }
        start_.push_back(next[column.n_values]);
        label_.resize(start_.back());
        weight_.resize(start_.back());
        for (std::size_t row = 0; row < n_rows; ++row) {
            const std::uint32_t code = code_at(column, row);
            if (code >= column.n_values) continue;
            const std::size_t at = next[code]++;
            label_[at] = labels[row];
            weight_[at] = weights[row];
        }
    }

    void find_pure_groups() {
        pure_.resize(codes_.size());
        for (std::size_t group = 0; group < codes_.size(); ++group) {
            const std::int32_t label = label_[start_[group]];
            bool is_pure = true;
            for (std::size_t i = start_[group]; i < start_[group + 1]; ++i) {
                is_pure = is_pure && label_[i] == label;
            }
            pure_[group] = is_pure ? label : -1;
        }
    }

    ClassSums sums_of(Range range) const {
        ClassSums sums;
        sums.of_class.assign(static_cast<std::size_t>(n_classes_), 0.0);
        for (std::size_t i = start_[range.first]; i < start_[range.last]; ++i) {
            sums.of_class[label_[i]] += weight_[i];
        }
        for (double weight : sums.of_class) sums.total += weight;
        return sums;
    }

    // First group of the right side of the cut with the least entropy; range.first if there is
    // none.
    std::size_t best_cut(Range range) {
        ClassSums right = sums_of(range);
        std::vector<double> left(right.of_class.size(), 0.0);
        double left_total = 0.0, left_logs = 0.0, right_logs = 0.0, best = INFINITY;
        for (double weight : right.of_class) right_logs += x_log_x(weight);
        const double tie = TIE_PER_CASE * right.total;
        std::size_t cut = range.first;
        for (std::size_t group = range.first; group + 1 < range.last; ++group) {
            for (std::size_t i = start_[group]; i < start_[group + 1]; ++i) {
                double& from = right.of_class[label_[i]];
                double& to = left[label_[i]];
                left_logs -= x_log_x(to);
                right_logs -= x_log_x(from);
                to += weight_[i];
                from -= weight_[i];
                left_total += weight_[i];
                left_logs += x_log_x(to);
                right_logs += x_log_x(from);
            }
            if ((group & 0xFFFF) == 0 && control_.poll()) return range.first;
            if (pure_[group] >= 0 && pure_[group] == pure_[group + 1]) continue;
            const double bits =
                x_log_x(left_total) - left_logs + x_log_x(right.total - left_total) - right_logs;
            if (bits < best - tie) {
                best = bits;
                cut = group + 1;
            }
        }
        return cut;
    }

    // The MDL criterion (the paper's equation for accepting a cut).
    bool pays_off(Range range, std::size_t middle) const {
        const ClassSums all = sums_of(range), left = sums_of({range.first, middle}),
                        right = sums_of({middle, range.last});
        const double n = all.total, k = n_present(all);
        const double gain =
            entropy(all) - (left.total * entropy(left) + right.total * entropy(right)) / n;
        // log2(3^k - 2), for any number of classes.
        const double theories =
            k * std::log2(3.0) + std::log1p(-2.0 * std::pow(3.0, -k)) / std::log(2.0);
        const double delta = theories - (k * entropy(all) - n_present(left) * entropy(left) -
                                         n_present(right) * entropy(right));
        return gain > (std::log2(std::max(n - 1.0, 1.0)) + delta) / n;
    }

    static double entropy(const ClassSums& sums) {
        double logs = 0.0;
        for (double weight : sums.of_class) logs += x_log_x(weight);
        return (x_log_x(sums.total) - logs) / sums.total;
    }

    static double n_present(const ClassSums& sums) {
        return static_cast<double>(std::count_if(sums.of_class.begin(), sums.of_class.end(),
                                                 [](double weight) { return weight > 0.0; }));
    }
};

inline std::vector<std::uint32_t> mdlp_cuts(const ColumnView& column, const std::int32_t* labels,
                                            const double* weights, std::size_t n_rows,
                                            int n_classes, SearchControl& control) {
    return MdlpPartition(column, labels, weights, n_rows, n_classes, control).cuts();
}

}  // namespace sktree_opt
