// Impurity measures of a set of cases, as running sums that a case enters and leaves in O(1).
//
// Paper: lecture notes on decision trees, sections 2.4.2 (entropy, Gini, error), 2.7 eq. (8) (Gini
// with costs) and 3 (squared error); S. Ruggieri, JMLR 20 (2019), section 4.1, doi of C4.5:
// 10.1016/C2009-0-27846-9 (Quinlan 1993).
//
// N_q, weight of a node q      -> Side::weight of the measure
// p_qk                         -> counts[k] / weight
// H(q), Gini(q), Error(q), E_m -> -score / weight
// L_kk'                        -> MeasureContext::costs
//
// score(side) = -weight * impurity, so that the gain of a split is
// (sum of its sides' scores - score of all its cases) / weight.
//
// Entropy of whole weights is summed in fixed point: x log2 x is looked up in a table of 64-bit
// integers. Sums are then exact: they do not depend on the order of the cases, and a case of weight
// k counts exactly as k cases. Other measures sum whole numbers exactly in float64.
//
// To add a measure: a class with the members of `GiniMeasure` below, its name in `Measure` and a
// case in make_evaluator (evaluator.hpp), its name in _grow.pyx, a criterion in _registries.py and
// its formula in tests/reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sktree_opt/greedy/cases.hpp"

namespace sktree_opt::greedy {

inline double x_log2_x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

// x log2 x for x = 0..largest, as whole multiples of a power of two.
class LogTable {
public:
    void build(std::uint64_t largest) {
        const double bound = std::max(2.0, x_log2_x(static_cast<double>(largest)));
        units_ = std::ldexp(1.0, std::min(50, 60 - static_cast<int>(std::ceil(std::log2(bound)))));
        entries_.resize(largest + 1);
        for (std::uint64_t x = 0; x <= largest; ++x) {
            entries_[x] = std::llround(x_log2_x(static_cast<double>(x)) * units_);
        }
    }
    const std::int64_t* data() const { return entries_.data(); }
    double to_real(std::int64_t sum) const { return static_cast<double>(sum) / units_; }
    std::int64_t from_real(double sum) const { return static_cast<std::int64_t>(sum * units_); }

private:
    std::vector<std::int64_t> entries_;
    double units_ = 1.0;  // to one; a power of two
};

struct MeasureContext {
    std::uint32_t n_classes = 0;
    const LogTable* logs = nullptr;  // entropy of whole weights
    const double* costs = nullptr;   // n_classes x n_classes, actual class by row
};

// Storage for the class counts of sides; handed out anew for each search.
class SideMemory {
public:
    void reset(std::uint32_t n_classes, std::uint32_t n_sides) {
        n_classes_ = n_classes;
        const std::size_t n = static_cast<std::size_t>(n_classes) * n_sides;
        if (real_.size() < n) real_.resize(n);
        if (whole_.size() < n) whole_.resize(n);
    }
    void get(std::uint32_t slot, double*& counts) { counts = real_.data() + offset(slot); }
    void get(std::uint32_t slot, std::int64_t*& counts) { counts = whole_.data() + offset(slot); }

private:
    std::size_t offset(std::uint32_t slot) const {
        return static_cast<std::size_t>(slot) * n_classes_;
    }
    std::vector<double> real_;
    std::vector<std::int64_t> whole_;
    std::uint32_t n_classes_ = 0;
};

// What the measures below share. COUNT is the type weights are summed in.
template <class COUNT, bool WEIGHTED>
struct MeasureBase {
    static constexpr bool HAS_COUNTS = true;
    static constexpr bool IS_WEIGHTED = WEIGHTED;
    MeasureContext context;
    Cases cases;

    COUNT weight_of(std::uint32_t index) const {
        if constexpr (WEIGHTED) return static_cast<COUNT>(cases.weights[index]);
        return COUNT(1);
    }
};

// EntropyMeasure of two classes with whole weights: only counts are kept up to date.
template <bool WEIGHTED>
struct TwoClassEntropyMeasure : MeasureBase<std::int64_t, WEIGHTED> {
    using Score = std::int64_t;
    static constexpr bool HAS_COUNTS = false;
    struct Side {
        std::int64_t n = 0, ones = 0;
    };

    void assign(Side& side, const double* outputs, double) const {
        side.ones = static_cast<std::int64_t>(outputs[1]);
        side.n = static_cast<std::int64_t>(outputs[0]) + side.ones;
    }
    void clear(Side& side) const { side.n = side.ones = 0; }
    void add(Side& side, std::uint32_t index) const {
        const std::int64_t w = this->weight_of(index);
        side.n += w;
        side.ones += w * this->cases.classes[index];
    }
    void remove(Side& side, std::uint32_t index) const {
        const std::int64_t w = this->weight_of(index);
        side.n -= w;
        side.ones -= w * this->cases.classes[index];
    }
    void add(Side& side, const Side& other) const {
        side.n += other.n;
        side.ones += other.ones;
    }
    void remove(Side& side, const Side& other) const {
        side.n -= other.n;
        side.ones -= other.ones;
    }
    Score score(const Side& side) const {
        const std::int64_t* logs = this->context.logs->data();
        return logs[side.ones] + logs[side.n - side.ones] - logs[side.n];
    }
    double weight(const Side& side) const { return static_cast<double>(side.n); }
    double share(const Side& side) const {
        return side.n == 0 ? 0.0 : static_cast<double>(side.ones) / static_cast<double>(side.n);
    }
    double to_real(Score score) const { return this->context.logs->to_real(score); }
    Score from_real(double score) const { return this->context.logs->from_real(score); }
};

// Class counts with one running sum; UPDATE says how a count's change alters it.
template <class COUNT>
struct CountSide {
    COUNT* counts = nullptr;
    COUNT n = 0;
    COUNT sum = 0;
};

template <class DERIVED, class COUNT, bool WEIGHTED>
struct CountMeasure : MeasureBase<COUNT, WEIGHTED> {
    using Side = CountSide<COUNT>;

    void clear(Side& side) const {
        std::fill_n(side.counts, this->context.n_classes, COUNT(0));
        side.n = side.sum = 0;
    }
    void assign(Side& side, const double* outputs, double) const {
        clear(side);
        for (std::uint32_t c = 0; c < this->context.n_classes; ++c) {
            if (outputs[c] != 0.0) change(side, c, static_cast<COUNT>(outputs[c]));
        }
    }
    void add(Side& side, std::uint32_t index) const {
        change(side, this->cases.classes[index], this->weight_of(index));
    }
    void remove(Side& side, std::uint32_t index) const {
        change(side, this->cases.classes[index], -this->weight_of(index));
    }
    void add(Side& side, const Side& other) const {
        for (std::uint32_t c = 0; c < this->context.n_classes; ++c) {
            if (other.counts[c] != 0) change(side, c, other.counts[c]);
        }
    }
    void remove(Side& side, const Side& other) const {
        for (std::uint32_t c = 0; c < this->context.n_classes; ++c) {
            if (other.counts[c] != 0) change(side, c, -other.counts[c]);
        }
    }
    double weight(const Side& side) const { return static_cast<double>(side.n); }
    double share(const Side& side) const {
        return side.n > 0 ? static_cast<double>(side.counts[1]) / static_cast<double>(side.n) : 0.0;
    }

private:
    void change(Side& side, std::uint32_t c, COUNT by) const {
        static_cast<const DERIVED*>(this)->before_change(side, c, by);
        side.counts[c] += by;
        side.n += by;
    }
};

struct RealScore {
    using Score = double;
    double to_real(double score) const { return score; }
    double from_real(double score) const { return score; }
};

// EntropyMeasure of whole weights: sum is that of x log2 x over the counts.
template <bool WEIGHTED>
struct EntropyMeasure : CountMeasure<EntropyMeasure<WEIGHTED>, std::int64_t, WEIGHTED> {
    using Score = std::int64_t;
    using Side = CountSide<std::int64_t>;

    void before_change(Side& side, std::uint32_t c, std::int64_t by) const {
        const std::int64_t* logs = this->context.logs->data() + side.counts[c];
        side.sum += logs[by] - logs[0];
    }
    Score score(const Side& side) const { return side.sum - this->context.logs->data()[side.n]; }
    double to_real(Score score) const { return this->context.logs->to_real(score); }
    Score from_real(double score) const { return this->context.logs->from_real(score); }
};

// EntropyMeasure of any weights.
struct RealEntropyMeasure : CountMeasure<RealEntropyMeasure, double, true>, RealScore {
    void before_change(Side&, std::uint32_t, double) const {}
    Score score(const Side& side) const {
        double sum = 0.0;
        for (std::uint32_t c = 0; c < context.n_classes; ++c) sum += x_log2_x(side.counts[c]);
        return sum - x_log2_x(side.n);
    }
};

// GiniMeasure index, eq. (5): sum is that of the squared counts.
template <bool WEIGHTED>
struct GiniMeasure : CountMeasure<GiniMeasure<WEIGHTED>, double, WEIGHTED>, RealScore {
    using Side = CountSide<double>;

    void before_change(Side& side, std::uint32_t c, double by) const {
        side.sum += by * (2.0 * side.counts[c] + by);
    }
    double score(const Side& side) const { return side.n > 0.0 ? side.sum / side.n - side.n : 0.0; }
};

// GiniMeasure index with costs, eq. (8): sum is that of L_kk' counts[k] counts[k'].
template <bool WEIGHTED>
struct GiniCostMeasure : CountMeasure<GiniCostMeasure<WEIGHTED>, double, WEIGHTED>, RealScore {
    using Side = CountSide<double>;

    void before_change(Side& side, std::uint32_t c, double by) const {
        const std::uint32_t k = this->context.n_classes;
        const double* costs = this->context.costs;
        double both_ways = 0.0;
        for (std::uint32_t j = 0; j < k; ++j) {
            if (j != c) both_ways += (costs[c * k + j] + costs[j * k + c]) * side.counts[j];
        }
        side.sum += by * both_ways;
    }
    double score(const Side& side) const { return side.n > 0.0 ? -side.sum / side.n : 0.0; }
};

// Misclassification, eq. (2).
template <bool WEIGHTED>
struct ErrorMeasure : CountMeasure<ErrorMeasure<WEIGHTED>, double, WEIGHTED>, RealScore {
    using Side = CountSide<double>;

    void before_change(Side&, std::uint32_t, double) const {}
    double score(const Side& side) const {
        return *std::max_element(side.counts, side.counts + this->context.n_classes) - side.n;
    }
};

// Squared error about the mean, section 3, less the sum of squares that no split changes. Targets
// are taken from the node's mean, `center`, so that their sum loses no digits.
template <bool WEIGHTED>
struct SquaredErrorMeasure : MeasureBase<double, WEIGHTED>, RealScore {
    static constexpr bool HAS_COUNTS = false;
    struct Side {
        double n = 0.0, sum = 0.0;
    };
    double center = 0.0;

    void assign(Side& side, const double* outputs, double weight) {
        center = outputs[0];
        side.n = weight;
        side.sum = 0.0;
    }
    void clear(Side& side) const { side.n = side.sum = 0.0; }
    void add(Side& side, std::uint32_t index) const {
        const double w = this->weight_of(index);
        side.n += w;
        side.sum += w * (this->cases.values[index] - center);
    }
    void remove(Side& side, std::uint32_t index) const {
        const double w = this->weight_of(index);
        side.n -= w;
        side.sum -= w * (this->cases.values[index] - center);
    }
    void add(Side& side, const Side& other) const {
        side.n += other.n;
        side.sum += other.sum;
    }
    void remove(Side& side, const Side& other) const {
        side.n -= other.n;
        side.sum -= other.sum;
    }
    double score(const Side& side) const {
        return side.n > 0.0 ? side.sum * side.sum / side.n : 0.0;
    }
    double weight(const Side& side) const { return side.n; }
    double share(const Side& side) const { return side.n > 0.0 ? side.sum / side.n : 0.0; }
};

}  // namespace sktree_opt::greedy
