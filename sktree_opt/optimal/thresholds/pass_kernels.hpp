// The passes of the depth-two solver, compiled for each instruction set, and the choice at run
// time.
//
// The environment variable SKTREE_OPT_SIMD = avx512 | avx2 | portable forces one; otherwise the
// best that the processor has is taken. A pass gives the same numbers on all of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define SKTREE_PASS_X86 1
#endif
#if !defined(SKTREE_INLINE)
#if defined(__GNUC__)
#define SKTREE_INLINE inline __attribute__((always_inline))
#else
#define SKTREE_INLINE __forceinline
#endif
#endif
#if defined(__GNUC__)
#define SKTREE_INLINE_LAMBDA __attribute__((always_inline))
#else
#define SKTREE_INLINE_LAMBDA
#endif

#include "sktree_opt/optimal/thresholds/node_rows.hpp"
#include "sktree_opt/optimal/thresholds/pass_types.hpp"

#if defined(__GNUC__)
// A vector passed by value would differ between instruction sets, but all such functions are
// inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace sktree_opt::thresholds {

namespace portable {
constexpr int VECTOR_BYTES = 16;
#include "sktree_opt/optimal/thresholds/vectors.hpp"
#include "sktree_opt/optimal/thresholds/walk_columns.hpp"
#include "sktree_opt/optimal/thresholds/two_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/squares_pass.hpp"
#include "sktree_opt/optimal/thresholds/multi_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/rough_pair_scores.hpp"
#include "sktree_opt/optimal/thresholds/bin_scores.hpp"
}  // namespace portable

#if defined(SKTREE_PASS_X86)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
constexpr int VECTOR_BYTES = 32;
#include "sktree_opt/optimal/thresholds/vectors.hpp"
#include "sktree_opt/optimal/thresholds/walk_columns.hpp"
#include "sktree_opt/optimal/thresholds/two_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/squares_pass.hpp"
#include "sktree_opt/optimal/thresholds/multi_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/rough_pair_scores.hpp"
#include "sktree_opt/optimal/thresholds/bin_scores.hpp"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))), \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq")
#endif
namespace avx512 {
constexpr int VECTOR_BYTES = 64;
#include "sktree_opt/optimal/thresholds/vectors.hpp"
#include "sktree_opt/optimal/thresholds/walk_columns.hpp"
#include "sktree_opt/optimal/thresholds/two_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/squares_pass.hpp"
#include "sktree_opt/optimal/thresholds/multi_class_pass.hpp"
#include "sktree_opt/optimal/thresholds/rough_pair_scores.hpp"
#include "sktree_opt/optimal/thresholds/bin_scores.hpp"
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum class InstructionSet { PORTABLE, AVX2, AVX512 };

inline InstructionSet best_instruction_set() {
    const char* forced = std::getenv("SKTREE_OPT_SIMD");
    const std::string name = forced == nullptr ? "" : forced;
    if (name == "portable") return InstructionSet::PORTABLE;
#if defined(SKTREE_PASS_X86)
    const bool has_avx512 = __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512dq");
    if (has_avx512 && name != "avx2") return InstructionSet::AVX512;
    if (__builtin_cpu_supports("avx2")) return InstructionSet::AVX2;
#endif
    return InstructionSet::PORTABLE;
}

#define SKTREE_FILL_KERNELS(isa)                                      \
    {                                                                 \
        kernels.two_class[0] = &isa::two_class_pass<Lane, false>;     \
        kernels.two_class[1] = &isa::two_class_pass<Lane, true>;      \
        kernels.multi_class[0] = &isa::multi_class_pass<Lane, false>; \
        kernels.multi_class[1] = &isa::multi_class_pass<Lane, true>;  \
        if constexpr (std::is_floating_point<Lane>::value) {          \
            kernels.squares[0] = &isa::squares_pass<Lane, false>;     \
            kernels.squares[1] = &isa::squares_pass<Lane, true>;      \
        }                                                             \
    }

template <class Lane>
PassKernels<Lane> choose_pass_kernels(InstructionSet set) {
    PassKernels<Lane> kernels;
    switch (set) {
#if defined(SKTREE_PASS_X86)
        case InstructionSet::AVX512:
            SKTREE_FILL_KERNELS(avx512) break;
        case InstructionSet::AVX2:
            SKTREE_FILL_KERNELS(avx2) break;
#endif
        default:
            SKTREE_FILL_KERNELS(portable) break;
    }
    return kernels;
}
#undef SKTREE_FILL_KERNELS

template <class Sum>
void (*choose_bin_scores(InstructionSet set))(const BinTask<Sum>&) {
    switch (set) {
#if defined(SKTREE_PASS_X86)
        case InstructionSet::AVX512:
            return &avx512::bin_scores<Sum>;
        case InstructionSet::AVX2:
            return &avx2::bin_scores<Sum>;
#endif
        default:
            return &portable::bin_scores<Sum>;
    }
}

#define SKTREE_ROUGH_KERNELS(isa) \
    {{&isa::rough_pair_scores<false>, &isa::rough_pair_scores<true>}, &isa::largest_of_rows}

inline RoughPairKernels choose_rough_pair_kernels(InstructionSet set) {
    switch (set) {
#if defined(SKTREE_PASS_X86)
        case InstructionSet::AVX512:
            return SKTREE_ROUGH_KERNELS(avx512);
        case InstructionSet::AVX2:
            return SKTREE_ROUGH_KERNELS(avx2);
#endif
        default:
            return SKTREE_ROUGH_KERNELS(portable);
    }
}
#undef SKTREE_ROUGH_KERNELS

}  // namespace sktree_opt::thresholds
