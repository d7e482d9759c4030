// What counts in lanes of 16 bits, compiled once per instruction set; included inside its
// namespace, after its primitives.
#include "sktree_opt/simd/lanes.hpp"
#include "sktree_opt/optimal/objectives/objectives.hpp"
#include "sktree_opt/optimal/bits/kernels/pair_counts.hpp"
#include "sktree_opt/optimal/bits/kernels/depth_two.hpp"
#include "sktree_opt/optimal/bits/similarity.hpp"

// `ALIKE`: scores cost so much that a look for minima is nothing beside them; one form does for
// both.
template <class Objective, class Lane, bool ALIKE = false>
SweepTable<Lane> sweeps() {
    return {
        {&sweep<Objective, Lane, ALIKE, false, false>, &sweep<Objective, Lane, ALIKE, true, false>},
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

// The registry of leaf scores: which number types each is compiled for.
bool find_kernels(Score score, Kernels<std::int16_t>& kernels) {
    kernels = common_kernels<std::int16_t>();
    if (score == Score::TWO_CLASS) {
        kernels.sweep = sweeps<TwoClassError, std::int16_t>();
        kernels.sweep.with_signs[0] = &sweep<TwoClassError, std::int16_t, false, false, true>;
        kernels.sweep.with_signs[1] = &sweep<TwoClassError, std::int16_t, false, true, true>;
    } else if (score == Score::LARGEST) {
        kernels.sweep = sweeps<LargestChannel, std::int16_t>();
    } else {
        return false;
    }
    return true;
}
