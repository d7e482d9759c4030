// Everything that is compiled once per instruction set; included inside its namespace, after its
// primitives.
#include "sktree_opt/optimal/bits/kernels/isa_narrow.hpp"
#include "sktree_opt/optimal/bits/solve_column.hpp"
#include "sktree_opt/optimal/bits/kernels/rough_squares.hpp"
#include "sktree_opt/optimal/bits/kernels/transpose.hpp"

BitKernels bit_kernels() {
    return {&rows_to_words, &words_to_rows, &list_side, &count_column, &hash_columns};
}

bool find_kernels(Score score, Kernels<std::int32_t>& kernels) {
    kernels = common_kernels<std::int32_t>();
    if (score == Score::TWO_CLASS) kernels.sweep = sweeps<TwoClassError, std::int32_t>();
    else if (score == Score::LARGEST) kernels.sweep = sweeps<LargestChannel, std::int32_t, true>();
    else return false;
    return true;
}
bool find_kernels(Score score, Kernels<double>& kernels) {
    kernels = common_kernels<double>();
    switch (score) {
        case Score::TWO_CLASS:
            kernels.sweep = sweeps<TwoClassError, double>();
            return true;
        case Score::LARGEST:
            kernels.sweep = sweeps<LargestChannel, double, true>();
            return true;
        case Score::GINI:
            kernels.sweep = sweeps<Gini, double, true>();
            return true;
        case Score::ENTROPY:
            kernels.sweep = sweeps<Entropy, double, true>();
            return true;
        case Score::PESSIMISTIC:
            kernels.sweep = sweeps<PessimisticError, double, true>();
            return true;
        case Score::SQUARED:
            kernels.sweep = sweeps<SquaredError, double, true>();
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
