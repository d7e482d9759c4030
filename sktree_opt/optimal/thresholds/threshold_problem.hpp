// The input of a search over all thresholds, and the tests and trees that it returns.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/preprocessing/ranked_column.hpp"
#include "sktree_opt/utils/switches.hpp"

namespace sktree_opt::thresholds {

// clang-format off
#define SKTREE_THRESHOLD_SWITCHES(SWITCH)                                               \
    SWITCH(intervals)   /* bounds between solved positions of a chain */                \
    SWITCH(column_bounds)      /* bounds of columns, inherited along a chain one level up */   \
    SWITCH(caps)        /* sub-problems are solved only up to the cost that would exclude them */\
    SWITCH(two_classes) /* two classes need one signed sum */                           \
    SWITCH(narrow_lanes) /* 16 bits for each sum, where all sums fit */                 \
    SWITCH(pure_runs)   /* no tests between equal codes of one class */                 \
    SWITCH(leaf_groups) /* the bound of few leaves, at the root */                      \
    SWITCH(categories)  /* the bound of a nominal column, by all its categories */      \
    SWITCH(value_sweep) /* tables of pairs of values, where columns have few */
// clang-format on
SKTREE_SWITCHES(ThresholdSwitches, SKTREE_THRESHOLD_SWITCHES);

// The training set and the limits of one search. Weights, costs of classes and their `split_cost`
// are multiples of one power of two, so small that every sum of them is exact in a double: sums do
// not depend on their order, and equal costs compare equal.
struct ThresholdProblem {
    std::uint32_t n_rows = 0;
    const ColumnView* columns = nullptr;
    int n_columns = 0;
    int n_classes = 0;
    const std::uint16_t* label = nullptr;  // class of each row; 0 in a regression
    const double* target = nullptr;        // of each row, of a regression
    bool is_absolute = false;              // its errors are not squared
    const double* weight = nullptr;        // of each row
    double lower = 0.0;                    // no tree costs less
    bool is_error = true;                  // cost 1 for each wrong answer
    std::vector<double> gain;              // [class][answer]: worst cost of the class - cost
    std::vector<double> worst;             // [class]: largest cost of an answer
    bool is_plain = false;                 // each row costs 1 at worst
    double split_cost = 0.0;               // of each test
    double tolerance = 0.0;                // sums of a regression are not exact: costs as far apart
                                           // as this count as equal
    double no_loss = 0.0;                  // a tree that costs less pays for its tests only
    double min_rows = 1.0;                 // of each leaf
    double min_weight = 0.0;               // of each leaf
    InstructionSet instruction_set = InstructionSet::PORTABLE;
    int n_threads = 1;
    // Of a tree from elsewhere.
    double known_cost = std::numeric_limits<double>::infinity();
    ThresholdSwitches use;

    bool is_regression() const { return target != nullptr; }

    // A node's sums: weight by class; or weight, weight * target, weight * target^2.
    int n_sums() const { return is_regression() ? 3 : n_classes; }

    // The leaves below a test may cost less than this to be better than `cost`.
    double limit_below(double cost) const { return cost - split_cost - tolerance; }
};

enum class TestKind : std::uint8_t { AT_MOST, ONE_CATEGORY, MISSING, PRESENT };

// Branch 0 is taken when code <= `code`, code == `code`, the value is missing, or it is not.
// PRESENT is the last test of a chain, whose left sides only grow.
struct ThresholdTest {
    std::int32_t column = -1;
    TestKind kind = TestKind::AT_MOST;
    std::uint8_t missing_branch = 1;
    std::uint32_t code = 0;
    std::uint32_t next_code = 0;  // AT_MOST: smallest code above `code` among the node's rows
};

inline int branch_of(const ThresholdTest& test, std::uint32_t code, std::uint32_t missing_code) {
    if (code == missing_code) return test.missing_branch;
    if (test.kind == TestKind::AT_MOST) return code > test.code;
    if (test.kind == TestKind::ONE_CATEGORY) return code != test.code;
    return test.kind == TestKind::MISSING;
}

// A tree in preorder: node 0 is the root, a test's branch 0 follows it, `right` is its branch 1.
struct PlanNode {
    ThresholdTest test;  // column -1 at a leaf
    std::int32_t right = -1;
};
using Plan = std::vector<PlanNode>;

inline Plan join(const ThresholdTest& test, const Plan& left, const Plan& right) {
    Plan plan;
    plan.reserve(1 + left.size() + right.size());
    plan.push_back({test, static_cast<std::int32_t>(1 + left.size())});
    for (const Plan* part : {&left, &right}) {
        const std::int32_t shift = static_cast<std::int32_t>(plan.size());
        for (PlanNode node : *part) {
            if (node.right >= 0) node.right += shift;
            plan.push_back(node);
        }
    }
    return plan;
}

inline Plan leaf_plan() { return Plan(1); }

inline int n_splits_of(const Plan& plan) { return static_cast<int>(plan.size() / 2); }

struct ThresholdStats {
    std::int64_t n_nodes = 0;      // sub-problems deeper than two
    std::int64_t n_depth_two = 0;  // sub-problems of depth two
    std::int64_t n_passes = 0;     // batches of root tests, each against all second tests
    std::int64_t n_evaluated = 0;  // root tests of deeper sub-problems solved one by one
    std::int64_t n_lanes = 0;      // root tests solved by them
    std::int64_t n_swept = 0;      // sub-problems solved by tables of pairs of values

    void add(const ThresholdStats& other) {
        n_nodes += other.n_nodes;
        n_depth_two += other.n_depth_two;
        n_passes += other.n_passes;
        n_evaluated += other.n_evaluated;
        n_lanes += other.n_lanes;
        n_swept += other.n_swept;
    }
};

}  // namespace sktree_opt::thresholds
