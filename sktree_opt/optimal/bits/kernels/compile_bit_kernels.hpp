// All kernels of the bits engine. Included once per instruction set, inside its namespace and after
// its primitives. For this reason these headers include nothing themselves.
#include "sktree_opt/simd/lanes.hpp"
#include "sktree_opt/optimal/objectives/objectives.hpp"
#include "sktree_opt/optimal/bits/kernels/pair_counts.hpp"
#include "sktree_opt/optimal/bits/kernels/depth_two.hpp"
#include "sktree_opt/optimal/bits/kernels/similarity.hpp"

// `ALIKE`: the scores take so long that comparing with minima costs nothing. One form serves both.
template <class LeafScore, class Lane, bool ALIKE = false>
SweepTable<Lane> sweeps() {
    return {
        {&sweep<LeafScore, Lane, ALIKE, false, false>, &sweep<LeafScore, Lane, ALIKE, true, false>},
        {&sweep<LeafScore, Lane, true, false, false>, &sweep<LeafScore, Lane, true, true, false>},
        {nullptr, nullptr}};
}

template <class Lane>
Kernels<Lane> common_kernels() {
    Kernels<Lane> kernels;
    kernels.count_marginals = &count_marginals<Lane>;
    kernels.refresh_bounds = &refresh_bounds<Lane>;
    return kernels;
}

// The registry of leaf scores: which number types each is compiled for.
bool find_kernels(Score score, Kernels<std::int16_t>& kernels) {
    kernels = common_kernels<std::int16_t>();
    if (score == Score::TWO_CLASS) {
        kernels.sweep = sweeps<TwoClassScore, std::int16_t>();
        kernels.sweep.with_signs[0] = &sweep<TwoClassScore, std::int16_t, false, false, true>;
        kernels.sweep.with_signs[1] = &sweep<TwoClassScore, std::int16_t, false, true, true>;
    } else if (score == Score::LARGEST) {
        kernels.sweep = sweeps<LargestScore, std::int16_t>();
    } else {
        return false;
    }
    return true;
}

#if !defined(SKTREE_ONLY_16_BITS)
#include "sktree_opt/optimal/bits/kernels/solve_column.hpp"
#include "sktree_opt/optimal/bits/kernels/rough_squares.hpp"
#include "sktree_opt/optimal/bits/kernels/transpose.hpp"

BitKernels bit_kernels() { return {&rows_to_words, &words_to_rows, &list_side, &count_column}; }

bool find_kernels(Score score, Kernels<std::int32_t>& kernels) {
    kernels = common_kernels<std::int32_t>();
    if (score == Score::TWO_CLASS) kernels.sweep = sweeps<TwoClassScore, std::int32_t>();
    else if (score == Score::LARGEST) kernels.sweep = sweeps<LargestScore, std::int32_t, true>();
    else return false;
    return true;
}
template <class LeafScore>
void find_kernels_of(Kernels<double>& kernels) {
    kernels.sweep = sweeps<LeafScore, double, true>();
    kernels.solve_leaves = &solve_leaves<LeafScore, double>;
}
bool find_kernels(Score score, Kernels<double>& kernels) {
    kernels = common_kernels<double>();
    switch (score) {
        case Score::TWO_CLASS:
            find_kernels_of<TwoClassScore>(kernels);
            kernels.sweep = sweeps<TwoClassScore, double>();
            return true;
        case Score::LARGEST:
            find_kernels_of<LargestScore>(kernels);
            return true;
        case Score::GINI:
            find_kernels_of<GiniScore>(kernels);
            return true;
        case Score::ENTROPY:
            find_kernels_of<EntropyScore>(kernels);
            return true;
        case Score::PESSIMISTIC:
            find_kernels_of<PessimisticScore>(kernels);
            return true;
        case Score::SQUARED:
            find_kernels_of<SquaredScore>(kernels);
            kernels.solve_column = &solve_column<SquaredScore, double>;
            kernels.sum_pairs_of = &sum_pairs_of;
            kernels.score_pairs_of = &score_pairs_of<SquaredScore, double>;
            kernels.sweep_roughly = &sweep_roughly;
            kernels.score_rough_pairs = &score_rough_pairs;
            kernels.sum_rough_pairs = &sum_rough_pairs;
            kernels.sum_rough_marginals = &sum_rough_marginals;
            return true;
    }
    return false;
}
#endif
