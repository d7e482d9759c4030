// Sums of runs for a pass over real numbers (Walk::SUMS of kernels.hpp).
//
// Lanes of doubles are few to a vector: walking row by row, each row is added once for every few
// root tests and for both sides. Where runs are long, one addition of two numbers for each row and
// column serves all lanes and both sides: rows are summed by run and key, and the sums of keys make
// lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/kernels/kernels.hpp"

namespace sktree_opt::thresholds {

template <class Lane>
class RunSums {
public:
    // After values, weights and supports of the task are known; `size` of all sums.
    void open(PassTask<Lane>& task, const NodeRows& node, int positive, std::size_t size) {
        sums_.resize(size);
        task.run_sums = sums_.data();
        if (size > 0) list_amounts(task, node, positive);
    }

    // Fills PassTask::run_sums for the keys of a pass.
    void sum(const PassTask<Lane>& task, const std::vector<PassColumn>& columns, bool is_chain) {
        for (const PassColumn& column : columns) {
            if (column.walk != Walk::SUMS) continue;
            Lane* sums = sums_.data() + column.first_sum;
            std::uint32_t begin = 0;
            for (std::uint32_t k = 0; k <= column.n_runs; ++k) {
                const std::uint32_t end = k < column.n_runs ? column.runs[k].end : task.n_rows;
                for (int pair = 0; 2 * pair < task.n_amounts; ++pair) {
                    sum_by_key(task, column.order, begin, end,
                               amounts_.data() + std::size_t{task.n_rows} * pair);
                    spread(is_chain, task.n_amounts, 2 * pair, sums);
                }
                begin = end;
                sums += task.n_amounts * (BATCH + 1);
            }
        }
    }

    std::int64_t n_bytes() const { return bytes_of(amounts_) + bytes_of(sums_); }

private:
    struct Pair {
        Lane first = 0, second = 0;
    };

    // By row: value and weight, then the supports, two by two.
    void list_amounts(const PassTask<Lane>& task, const NodeRows& node, int positive) {
        const std::size_t n = node.n;
        const int n_pairs = (task.n_amounts + 1) / 2;
        amounts_.resize(n_pairs * n);
        for (std::size_t row = 0; row < n; ++row) {
            const Lane unit = node.label[row] == positive ? Lane(1) : Lane(-1);
            amounts_[row] = {task.value == nullptr ? unit : task.value[row],
                             task.weight == nullptr ? Lane(1) : task.weight[row]};
            for (int s = 0; s < task.n_supports; ++s) {
                (s == 0 ? amounts_[n + row].first : amounts_[n + row].second) =
                    task.support[s] == nullptr ? Lane(1) : task.support[s][row];
            }
        }
    }

    void sum_by_key(const PassTask<Lane>& task, const std::uint32_t* order, std::uint32_t begin,
                    std::uint32_t end, const Pair* amounts) {
        std::fill(by_key_, by_key_ + N_KEYS, Pair());
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::uint32_t row = order[i] & ROW_MASK;
            Pair& sum = by_key_[task.key[row]];
            sum.first += amounts[row].first;
            sum.second += amounts[row].second;
        }
    }

    // A lane of a chain has the keys up to its own on the left, another one its own.
    void spread(bool is_chain, int n_amounts, int amount, Lane* sums) const {
        const bool both = amount + 1 < n_amounts;
        Pair left = by_key_[ALL_LANES], total = left;
        total.first += by_key_[NO_LANE].first;
        total.second += by_key_[NO_LANE].second;
        for (int lane = 0; lane < BATCH; ++lane) {
            const Pair& own = by_key_[lane];
            total.first += own.first;
            total.second += own.second;
            if (!is_chain) left = by_key_[ALL_LANES];
            left.first += own.first;
            left.second += own.second;
            sums[amount * BATCH + lane] = left.first;
            if (both) sums[(amount + 1) * BATCH + lane] = left.second;
        }
        sums[n_amounts * BATCH + amount] = total.first;
        if (both) sums[n_amounts * BATCH + amount + 1] = total.second;
    }

    std::vector<Pair> amounts_;
    std::vector<Lane> sums_;
    Pair by_key_[N_KEYS];
};

}  // namespace sktree_opt::thresholds
