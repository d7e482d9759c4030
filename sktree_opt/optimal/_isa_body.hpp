// Everything that is compiled once per instruction set; included inside its namespace, after its
// primitives.
#include "sktree_opt/optimal/_lanes.hpp"
#include "sktree_opt/optimal/_objectives.hpp"
#include "sktree_opt/optimal/_pair_counts.hpp"
#include "sktree_opt/optimal/_depth_two.hpp"
#include "sktree_opt/optimal/_solve_column.hpp"
#include "sktree_opt/optimal/_rough_squares.hpp"
#include "sktree_opt/optimal/_similarity.hpp"
#include "sktree_opt/optimal/_transpose.hpp"

template <class Objective, class Lane>
SweepTable<Lane> sweeps() {
    return {
        {&sweep<Objective, Lane, false, false, false>, &sweep<Objective, Lane, false, true, false>},
        {&sweep<Objective, Lane, true, false, false>, &sweep<Objective, Lane, true, true, false>},
        {nullptr, nullptr}};
}

template <class Lane>
Kernels<Lane> common_kernels() {
    Kernels<Lane> kernels;
    kernels.count_marginals = &count_marginals<Lane>;
    kernels.refresh_bounds = &refresh_bounds<Lane>;
    return kernels;
}

BitKernels bit_kernels() {
    return {&rows_to_words, &words_to_rows, &list_side, &count_column, &hash_columns};
}

// The registry of leaf scores: which number types each is compiled for.
bool find_kernels(Score score, Kernels<std::int16_t>& kernels) {
    kernels = common_kernels<std::int16_t>();
    if (score == Score::TWO_CLASS) {
        kernels.sweep = sweeps<TwoClassError, std::int16_t>();
        kernels.sweep.with_signs[0] = &sweep<TwoClassError, std::int16_t, false, false, true>;
        kernels.sweep.with_signs[1] = &sweep<TwoClassError, std::int16_t, false, true, true>;
    }
    else if (score == Score::LARGEST) kernels.sweep = sweeps<LargestChannel, std::int16_t>();
    else return false;
    return true;
}
bool find_kernels(Score score, Kernels<std::int32_t>& kernels) {
    kernels = common_kernels<std::int32_t>();
    if (score == Score::TWO_CLASS) kernels.sweep = sweeps<TwoClassError, std::int32_t>();
    else if (score == Score::LARGEST) kernels.sweep = sweeps<LargestChannel, std::int32_t>();
    else return false;
    return true;
}
bool find_kernels(Score score, Kernels<double>& kernels) {
    kernels = common_kernels<double>();
    switch (score) {
        case Score::TWO_CLASS: kernels.sweep = sweeps<TwoClassError, double>(); return true;
        case Score::LARGEST: kernels.sweep = sweeps<LargestChannel, double>(); return true;
        case Score::GINI: kernels.sweep = sweeps<Gini, double>(); return true;
        case Score::ENTROPY: kernels.sweep = sweeps<Entropy, double>(); return true;
        case Score::PESSIMISTIC: kernels.sweep = sweeps<PessimisticError, double>(); return true;
        case Score::SQUARED:
            kernels.sweep = sweeps<SquaredError, double>();
            kernels.solve_leaves = &solve_leaves<SquaredError, double>;
            kernels.solve_column = &solve_column<SquaredError, double>;
            kernels.sum_pairs_of = &sum_pairs_of;
            kernels.score_pairs_of = &score_pairs_of<SquaredError, double>;
            kernels.sweep_roughly = &sweep_roughly;
            kernels.score_rough_pairs = &score_rough_pairs;
            kernels.sum_rough_pairs = &sum_rough_pairs;
            kernels.sum_rough_marginals = &sum_rough_marginals;
            return true;
    }
    return false;
}
