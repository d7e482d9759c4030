// All kernels of the thresholds engine. Included once per instruction set, inside its namespace,
// after its primitives; which is why these headers include nothing themselves.

// BITALG counts bits, of which there are none here.
#if !defined(SKTREE_ONLY_16_BITS)

using namespace sktree_opt::thresholds;

#include "sktree_opt/optimal/thresholds/kernels/vectors.hpp"
#include "sktree_opt/optimal/thresholds/kernels/walk_columns.hpp"
#include "sktree_opt/optimal/thresholds/kernels/two_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/squares_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/multi_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/kernels/rough_pair_scores.hpp"
#include "sktree_opt/optimal/thresholds/kernels/bin_scores.hpp"

template <class Lane>
PassKernels<Lane> pass_kernels() {
    PassKernels<Lane> kernels;
    kernels.two_class[0] = &two_class_pass<Lane, false>;
    kernels.two_class[1] = &two_class_pass<Lane, true>;
    kernels.multi_class[0] = &multi_class_pass<Lane, false>;
    kernels.multi_class[1] = &multi_class_pass<Lane, true>;
    if constexpr (std::is_floating_point_v<Lane>) {
        kernels.squares[0] = &squares_pass<Lane, false>;
        kernels.squares[1] = &squares_pass<Lane, true>;
    }
    return kernels;
}

ThresholdKernels threshold_kernels() {
    ThresholdKernels kernels;
    kernels.narrow = pass_kernels<std::int16_t>();
    kernels.wide = pass_kernels<std::int32_t>();
    kernels.real = pass_kernels<double>();
    kernels.whole_bin_scores = &bin_scores<std::int32_t>;
    kernels.real_bin_scores = &bin_scores<double>;
    kernels.rough_pairs.scores[0] = &rough_pair_scores<false>;
    kernels.rough_pairs.scores[1] = &rough_pair_scores<true>;
    kernels.rough_pairs.largest_of_rows = &largest_of_rows;
    return kernels;
}

#endif
