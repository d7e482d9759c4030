// A vector pass over one node: prepares the arguments of the kernels, and makes costs of their
// sums. Kernel: loops over rows and lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sktree_opt/optimal/thresholds/absolute.hpp"
#include "sktree_opt/optimal/thresholds/column_tests.hpp"
#include "sktree_opt/optimal/thresholds/kernels/threshold_kernels.hpp"
#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/stump.hpp"

namespace sktree_opt::thresholds {

// Appends the runs of a column's order. A run ends where the class changes, and, with
// `every_group`, where the code changes. Neighbouring groups of equal codes make one run if all
// their rows are of one class: no test between them is better than both its neighbours (Fayyad and
// Irani's boundary points). The reason is that the best two leaves save a convex function of the
// number of these rows on the left.
inline void list_runs(const ThresholdNode& node, int k, bool every_group, std::vector<Run>& runs) {
    const std::uint32_t* order = node.order(k);
    const std::uint32_t n = node.columns[k].n_present;
    bool last_is_pure = false;
    std::uint32_t i = 0;
    while (i < n) {
        std::uint32_t end = i + 1;
        while (end < n && !(order[end] & FIRST_OF_GROUP)) ++end;
        // Within a group rows are sorted by class.
        const std::uint16_t label = node.label[order[i] & ROW_MASK];
        const bool is_pure = node.label[order[end - 1] & ROW_MASK] == label;
        if (is_pure && last_is_pure && !every_group && runs.back().label == label) {
            runs.back().end = end;
        } else {
            runs.push_back({i + 1, label, true});
            for (++i; i < end; ++i) {
                const std::uint16_t next = node.label[order[i] & ROW_MASK];
                if (next == runs.back().label) {
                    runs.back().end = i + 1;
                } else {
                    runs.push_back({i + 1, next, false});
                }
            }
        }
        last_is_pure = is_pure;
        i = end;
    }
}

// The vector pass over one node: holds what is equal for all root tests.
template <class Lane>
class PassRunner {
public:
    explicit PassRunner(InstructionSet set) : kernels_(choose_kernels(set).passes<Lane>()) {
        for (int key = 0; key < N_KEYS; ++key) {
            for (int lane = 0; lane < BATCH; ++lane) {
                const bool in_chain = lane >= key || key == ALL_LANES;
                const bool in_set = lane == key || key == ALL_LANES;
                fill_member(0, key, lane, in_chain);
                fill_member(1, key, lane, in_set);
            }
        }
    }

    // False when a limit ended it.
    bool open(const ThresholdProblem& problem, const ThresholdNode& node, Watch& watch) {
        problem_ = &problem;
        node_ = &node;
        watch_ = &watch;
        key_.resize(node.n);
        choose_classes();
        choose_values();
        list_columns();
        task_.n_rows = node.n;
        task_.columns = columns_.data();
        task_.n_columns = static_cast<int>(columns_.size());
        task_.key = key_.data();
        task_.poll = &PassRunner::poll;
        task_.poll_argument = this;
        return book() && !watch.stopped();
    }

    // Solves `positions` (ascending, at most BATCH) of `tests`. Costs of both sides, without
    // minima for leaves and with them: a leaf's in [0], that of at most one test in [1]. The lane
    // after the last one of a chain has all rows on its left.
    struct Costs {
        double free[2][2];
        double supported[2][2];
    };
    void run(const ColumnTests& tests, const int* positions, int n_positions, Costs* costs) {
        set_keys(tests, positions, n_positions);
        const int n_lanes = std::min(n_positions + tests.is_chain, BATCH);
        sum_sides(tests, n_lanes);
        task_.n_lanes = n_lanes;
        const int set = tests.is_chain ? 0 : 1;
        if (problem_->is_absolute) {
            run_absolute(set, n_lanes, costs);
            return;
        }
        for (int b = 0; b < 2; ++b) {
            task_.member[b] = member_[set][b].data();
            task_.signed_member[b] = signed_member_[set][b].data();
        }
        const int supports = task_.n_supports > 0;
        if (problem_->is_regression()) {
            kernels_.squares[supports](task_);
        } else if (two_classes_) {
            kernels_.two_class[supports](task_);
        } else {
            kernels_.multi_class[supports](task_);
        }
        for (int lane = 0; lane < n_lanes; ++lane) read_costs(lane, costs[lane]);
    }

private:
    bool book() {
        return booking_.set(watch_->control(), bytes_of(runs_) + bytes_of(key_) +
                                                   bytes_of(signed_key_) + bytes_of(value_) +
                                                   bytes_of(support_weight_) + bytes_of(tops_) +
                                                   bytes_of(channel_work_));
    }

    void list_columns() {
        runs_.clear();
        columns_.clear();
        for (std::size_t k = 0; k < node_->columns.size() && !watch_->after_rows(node_->n); ++k) {
            const NodeColumn& column = node_->columns[k];
            const std::size_t first = runs_.size();
            const bool every_group = task_.n_supports > 0 || column.is_nominal ||
                                     problem_->is_regression() || !problem_->use.pure_runs;
            list_runs(*node_, static_cast<int>(k), every_group, runs_);
            std::size_t n_runs = runs_.size() - first;
            Traversal traversal = Traversal::RUNS;
            if (n_runs * SHORT_RUN > node_->n && !column.is_nominal &&
                column.n_present == node_->n) {
                traversal =
                    column.n_groups == node_->n ? Traversal::ROWS : Traversal::ROWS_WITH_TIES;
                n_runs = 0;
                runs_.resize(first);
            }
            columns_.push_back({node_->order(k), nullptr, static_cast<std::uint32_t>(n_runs),
                                column.n_present, column.is_nominal, traversal});
        }
        const Run* runs = runs_.data();
        for (PassColumn& column : columns_) {
            column.runs = runs;
            runs += column.n_runs;
        }
    }

    void fill_member(int set, int key, int lane, bool left) {
        for (int b = 0; b < 2; ++b) {
            member_[set][b].resize(N_KEYS * BATCH);
            signed_member_[set][b].resize(2 * N_KEYS * BATCH);
            const Lane one = static_cast<Lane>(left == (b == 0));
            member_[set][b][key * BATCH + lane] = one;
            signed_member_[set][b][(2 * key) * BATCH + lane] = static_cast<Lane>(-one);
            signed_member_[set][b][(2 * key + 1) * BATCH + lane] = one;
        }
    }

    // Errors on a node with two classes need only their difference, whatever the number of classes
    // in the table.
    void choose_classes() {
        two_classes_ = false;
        if (problem_->is_regression() || !problem_->use.two_classes) return;
        const int n_classes = problem_->n_classes;
        int present = 0;
        positive_ = negative_ = 0;
        for (int c = 0; c < n_classes; ++c) {
            if (node_->sums[c] > 0.0) {
                negative_ = positive_;
                positive_ = c;
                ++present;
            }
        }
        two_classes_ = problem_->is_error ? present <= 2 : n_classes == 2;
        if (!problem_->is_error && n_classes == 2) {
            negative_ = 0;
            positive_ = 1;
        }
    }

    void choose_values() {
        const ThresholdProblem& problem = *problem_;
        const std::uint32_t n = node_->n;
        bool unit = true;
        for (std::uint32_t row = 0; row < n; ++row) unit = unit && node_->weight[row] == 1.0;
        const bool unit_values = unit && problem.is_error;
        value_.resize(n);
        signed_key_.resize(n);
        for (std::uint32_t row = 0; row < n; ++row) {
            double value = node_->weight[row];
            if (problem.is_regression()) value *= node_->target[row];
            if (two_classes_) value *= signed_gain(node_->label[row]);
            value_[row] = static_cast<Lane>(value);
        }
        task_.value = unit_values && !problem.is_regression() ? nullptr : value_.data();
        task_.weight = nullptr;
        if (problem.is_regression() && !unit) {
            support_weight_.assign(node_->weight.begin(), node_->weight.end());
            task_.weight = support_weight_.data();
        }
        task_.label = node_->label.data();
        task_.n_channels = problem.n_classes;
        gain_.assign(problem.gain.begin(), problem.gain.end());
        task_.gain = problem.is_error ? nullptr : gain_.data();
        set_supports(unit);
        const bool has_channels = !two_classes_ && !problem.is_regression();
        const std::size_t width = has_channels ? problem.n_classes : 0;
        channel_work_.resize(4 * width * BATCH);
        tops_.resize(!has_channels ? 0 : 2 * (std::size_t{n} + 1) * (64 / sizeof(Lane)));
        task_.channels = channel_work_.data();
        task_.tops = tops_.data();
    }

    void set_supports(bool unit) {
        task_.n_supports = 0;
        double min_rows = problem_->min_rows;
        if (unit) min_rows = std::max(min_rows, std::ceil(problem_->min_weight));
        if (min_rows > 1.0) {
            task_.support[0] = nullptr;
            task_.minimum[0] = static_cast<Lane>(std::min(min_rows, node_->n + 1.0));
            task_.n_supports = 1;
        }
        if (problem_->min_weight > 0.0 && !unit) {
            support_weight_.assign(node_->weight.begin(), node_->weight.end());
            const int s = task_.n_supports++;
            const double all = weight_of(*problem_, node_->sums.data());
            const double limit = std::min(problem_->min_weight, all + 1.0);
            task_.support[s] = support_weight_.data();
            task_.minimum[s] =
                static_cast<Lane>(std::is_integral<Lane>::value ? std::ceil(limit) : limit);
        }
    }

    double signed_gain(int label) const {
        if (problem_->is_error) return label == positive_ ? 1.0 : -1.0;
        return problem_->gain[label * 2 + 1] - problem_->gain[label * 2];
    }

    // The lane of a position in a chain has the rows of keys 0..lane on the left. A category's lane
    // has those of its own key. Also sums weights and rows by key.
    void set_keys(const ColumnTests& tests, const int* positions, int n_positions) {
        const NodeColumn& column = node_->columns[tests.column_index];
        const std::uint32_t* order = node_->order(tests.column_index);
        key_sums_.assign(N_KEYS * problem_->n_sums(), 0.0);
        key_rows_.assign(N_KEYS, 0.0);
        std::uint32_t i = 0;
        int missing_key = tests.is_chain ? (tests.missing_left ? 0 : n_positions)
                                         : (tests.missing_left ? ALL_LANES : NO_LANE);
        for (int lane = 0; lane < n_positions; ++lane) {
            const int p = positions[lane];
            if (!tests.is_chain && asks_for_missing(tests, column, p)) {
                missing_key = lane;
                continue;
            }
            const std::uint32_t begin = tests.is_chain || p == 0 ? i : tests.end_at(p - 1);
            for (; i < begin; ++i) assign(order[i], NO_LANE);
            for (; i < tests.end_at(p); ++i) assign(order[i], lane);
        }
        for (; i < column.n_present; ++i) assign(order[i], tests.is_chain ? n_positions : NO_LANE);
        for (; i < node_->n; ++i) assign(order[i], missing_key);
        task_.signed_key = signed_key_.data();
    }

    void assign(std::uint32_t entry, int key) {
        const std::uint32_t row = entry & ROW_MASK;
        const int label = node_->label[row];
        key_[row] = static_cast<std::uint8_t>(key);
        signed_key_[row] = static_cast<std::uint8_t>(2 * key + (label == positive_));
        node_->add_sums(row, &key_sums_[key * problem_->n_sums()]);
        key_rows_[key] += 1.0;
    }

    // Class weights and rows of both sides of every lane.
    void sum_sides(const ColumnTests& tests, int n_lanes) {
        const int n_sums = problem_->n_sums();
        lane_sums_.assign(2 * BATCH * n_sums, 0.0);
        const double* everywhere = &key_sums_[ALL_LANES * n_sums];
        for (int lane = 0; lane < n_lanes; ++lane) {
            const double* own = &key_sums_[lane * n_sums];
            double* left = &lane_sums_[lane * n_sums];
            double* right = &lane_sums_[(BATCH + lane) * n_sums];
            const bool nested = tests.is_chain && lane > 0;
            for (int c = 0; c < n_sums; ++c) {
                left[c] = own[c] + (nested ? left[c - n_sums] : everywhere[c]);
                right[c] = node_->sums[c] - left[c];
            }
            const double before = nested ? lane_rows_[0][lane - 1] : key_rows_[ALL_LANES];
            lane_rows_[0][lane] = before + key_rows_[lane];
            lane_rows_[1][lane] = node_->n - lane_rows_[0][lane];
        }
        if (problem_->is_regression()) set_means(n_lanes);
        else if (!two_classes_) set_channel_totals(n_lanes);
        for (int s = 0; s < task_.n_supports; ++s) {
            for (int b = 0; b < 2; ++b) {
                for (int lane = 0; lane < n_lanes; ++lane) {
                    task_.support_total[b][s][lane] = static_cast<Lane>(
                        task_.support[s] == nullptr ? lane_rows_[b][lane] : side_weight(b, lane));
                }
            }
        }
    }

    double side_weight(int b, int lane) const { return weight_of(*problem_, sums(b, lane)); }

    const double* sums(int b, int lane) const {
        return &lane_sums_[(b * BATCH + lane) * problem_->n_sums()];
    }

    void set_means(int n_lanes) {
        for (int b = 0; b < 2; ++b) {
            for (int lane = 0; lane < n_lanes; ++lane) {
                const double weight = sums(b, lane)[0];
                task_.weight_total[b][lane] = static_cast<Lane>(weight);
                task_.mean[b][lane] =
                    static_cast<Lane>(weight > 0.0 ? sums(b, lane)[1] / weight : 0.0);
            }
        }
    }

    void set_channel_totals(int n_lanes) {
        const int n_classes = problem_->n_classes;
        for (int b = 0; b < 2; ++b) {
            channel_total_[b].resize(n_classes * BATCH);
            for (int lane = 0; lane < n_lanes; ++lane) {
                for (int a = 0; a < n_classes; ++a) {
                    double sum = 0.0;
                    if (problem_->is_error) {
                        sum = sums(b, lane)[a];
                    } else {
                        for (int c = 0; c < n_classes; ++c) {
                            sum += sums(b, lane)[c] * problem_->gain[c * n_classes + a];
                        }
                    }
                    channel_total_[b][a * BATCH + lane] = static_cast<Lane>(sum);
                }
            }
            task_.channel_total[b] = channel_total_[b].data();
        }
    }

    // Medians do not add up, so each side of each lane is traversed separately.
    void run_absolute(int set, int n_lanes, Costs* costs) {
        inside_.resize(node_->n);
        for (int lane = 0; lane < n_lanes; ++lane) {
            for (int b = 0; b < 2; ++b) {
                const Lane* member = member_[set][b].data() + lane;
                for (std::uint32_t row = 0; row < node_->n; ++row) {
                    inside_[row] = member[key_[row] * BATCH] != 0;
                }
                absolute_.open(*node_, inside_.data());
                double free = INFEASIBLE, supported = INFEASIBLE;
                for (std::size_t k = 0; k < node_->columns.size(); ++k) {
                    if (poll(this)) return;
                    const bool has_missing = node_->columns[k].n_present < node_->n;
                    for (int missing_left = 0; missing_left <= has_missing; ++missing_left) {
                        for (const AbsoluteDivision& one :
                             absolute_.divide(static_cast<int>(k), missing_left != 0)) {
                            free = std::min(free, one.cost);
                            if (one.cost < supported && has_minima(one)) supported = one.cost;
                        }
                    }
                }
                const double leaf = absolute_.leaf_cost();
                const bool is_leaf =
                    supports_leaf(*problem_, absolute_.n_rows(), absolute_.weight());
                costs[lane].free[b][0] = leaf;
                costs[lane].free[b][1] = with_test(leaf, free);
                costs[lane].supported[b][0] = is_leaf ? leaf : INFEASIBLE;
                costs[lane].supported[b][1] = is_leaf ? with_test(leaf, supported) : INFEASIBLE;
            }
        }
    }

    bool has_minima(const AbsoluteDivision& one) const {
        return supports_leaf(*problem_, one.n_left, one.weight_left) &&
               supports_leaf(*problem_, absolute_.n_rows() - one.n_left,
                             absolute_.weight() - one.weight_left);
    }

    void read_costs(int lane, Costs& costs) const {
        for (int b = 0; b < 2; ++b) {
            const double* weights = sums(b, lane);
            const LeafCost leaf = leaf_cost(*problem_, weights);
            const double rows = lane_rows_[b][lane];
            const bool feasible = supports_leaf(*problem_, rows, side_weight(b, lane));
            costs.free[b][0] = leaf.cost;
            costs.free[b][1] = with_test(leaf.cost, stump_cost(b, 0, lane, leaf, weights));
            costs.supported[b][0] = feasible ? leaf.cost : INFEASIBLE;
            costs.supported[b][1] = INFEASIBLE;
            if (!feasible) continue;
            costs.supported[b][1] =
                task_.n_supports == 0 ? costs.free[b][1]
                                      : with_test(leaf.cost, stump_cost(b, 1, lane, leaf, weights));
        }
    }

    double with_test(double leaf, double stump) const {
        return std::min(leaf, stump + problem_->split_cost);
    }

    double stump_cost(int b, int supported, int lane, const LeafCost& leaf,
                      const double* weights) const {
        if (problem_->is_regression()) {
            return std::max(0.0, leaf.cost - task_.best[b][supported][lane]);
        }
        if (!two_classes_) return std::min(leaf.cost, leaf.worst - task_.best[b][supported][lane]);
        // The cost when all rows get the positive or all get the negative answer.
        double all_positive, all_negative;
        if (problem_->is_error) {
            all_positive = leaf.worst - weights[positive_];
            all_negative = positive_ == negative_ ? leaf.worst : leaf.worst - weights[negative_];
        } else {
            const std::vector<double>& gain = problem_->gain;
            all_positive = leaf.worst - weights[0] * gain[1] - weights[1] * gain[3];
            all_negative = leaf.worst - weights[0] * gain[0] - weights[1] * gain[2];
        }
        return std::min(all_positive + static_cast<double>(task_.low[b][supported][lane]),
                        all_negative - static_cast<double>(task_.high[b][supported][lane]));
    }

    static bool poll(void* self) {
        PassRunner& runner = *static_cast<PassRunner*>(self);
        return runner.watch_->after_rows(runner.node_->n);
    }

    PassKernels<Lane> kernels_;
    PassTask<Lane> task_;
    const ThresholdProblem* problem_ = nullptr;
    const ThresholdNode* node_ = nullptr;
    Watch* watch_ = nullptr;
    Booking booking_;
    bool two_classes_ = true;
    int positive_ = 0, negative_ = 0;
    std::vector<Lane> member_[2][2], signed_member_[2][2];  // [chain or set][side]
    // Below this number of rows to a run, traversing row by row is faster, because it has no
    // branches to mispredict.
    static constexpr std::size_t SHORT_RUN = 4;
    std::vector<PassColumn> columns_;
    std::vector<Run> runs_;
    std::vector<std::uint8_t> key_, signed_key_, inside_;
    AbsoluteErrors absolute_;
    std::vector<Lane> value_, gain_, support_weight_, channel_work_, tops_, channel_total_[2];
    std::vector<double> key_sums_, key_rows_, lane_sums_;
    double lane_rows_[2][BATCH] = {};
};

}  // namespace sktree_opt::thresholds
