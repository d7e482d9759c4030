// The vector kernels of every instruction set, and the choice among them at run time.
//
// The same source is compiled once per instruction set, in a namespace each (see isa_body.hpp). The
// environment variable SKTREE_OPT_SIMD = avx512bitalg | avx512 | avx2 | neon | portable forces one;
// otherwise the best that the processor has is taken. All of them count alike, so a tree does not
// depend on the machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define SKTREE_X86 1
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__)
#define SKTREE_NEON 1
#include <arm_neon.h>
#endif

#include "sktree_opt/optimal/bits/kernels/kernel_types.hpp"

#if defined(__GNUC__)
#define SKTREE_INLINE inline __attribute__((always_inline))
#else
#define SKTREE_INLINE __forceinline
#endif
#if defined(__GNUC__)
#define SKTREE_APART __attribute__((noinline))
#else
#define SKTREE_APART __declspec(noinline)
#endif
// Loops over registers: unrolled whatever the compiler thinks of the size, or they go to memory.
#if defined(__clang__)
#define SKTREE_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define SKTREE_UNROLL _Pragma("GCC unroll 16")
#else
#define SKTREE_UNROLL
#endif

namespace sktree_opt {

enum class Score : int { TWO_CLASS, LARGEST, GINI, ENTROPY, PESSIMISTIC, SQUARED };

// Indexed by: has sibling.
template <class Lane>
struct SweepTable {
    void (*plain[2])(SweepTask<Lane>&);
    void (*supported[2])(SweepTask<Lane>&);
    void (*with_signs[2])(SweepTask<Lane>&);  // null: the score has no such form
    void operator()(SweepTask<Lane>& task) const {
        const bool has_sibling = task.sibling != nullptr;
        if (task.score.n_supports > 0) return supported[has_sibling](task);
        if (task.largest_power > 0 && with_signs[0] != nullptr) {
            return with_signs[has_sibling](task);
        }
        plain[has_sibling](task);
    }
};

template <class Lane>
struct Kernels {
    SweepTable<Lane> sweep;
    void (*count_marginals)(const SweepTask<Lane>&, Lane*);
    void (*refresh_bounds)(const Lane*, const Lane*, Lane, Lane, double, SolvedSides, int, double*,
                           double*);
    // Of squared errors; see rough_squares.hpp.
    void (*solve_leaves)(SweepTask<Lane>&) = nullptr;
    void (*solve_column)(SweepTask<Lane>&, int) = nullptr;
    void (*sum_pairs_of)(const SweepTask<Lane>&, int) = nullptr;
    void (*score_pairs_of)(SweepTask<Lane>&, int) = nullptr;
    void (*sweep_roughly)(RoughTask&) = nullptr;
    void (*score_rough_pairs)(RoughTask&) = nullptr;
    void (*sum_rough_pairs)(RoughTask&) = nullptr;
    void (*sum_rough_marginals)(const RoughTask&, std::int32_t*) = nullptr;
};

struct BitKernels {
    void (*rows_to_words)(const std::uint8_t*, int, const std::int32_t*, int, std::uint16_t*, int);
    void (*words_to_rows)(const std::uint16_t*, int, int, std::uint8_t*, int);
    int (*list_side)(const std::uint16_t*, const std::uint16_t*, int, int, bool, int, int,
                     std::int32_t*);
    int (*count_column)(const std::uint16_t*, int, int);
    void (*hash_columns)(const std::uint16_t*, int, int, int, std::uint32_t*);
};

// Each instruction set has a source of its own, _engine_<name>.cpp, compiled for that set.
#define SKTREE_KERNELS_OF(name)                       \
    namespace name {                                  \
    bool find_kernels(Score, Kernels<std::int16_t>&); \
    bool find_kernels(Score, Kernels<std::int32_t>&); \
    bool find_kernels(Score, Kernels<double>&);       \
    BitKernels bit_kernels();                         \
    }
SKTREE_KERNELS_OF(portable)
SKTREE_KERNELS_OF(avx2)
SKTREE_KERNELS_OF(avx512)
SKTREE_KERNELS_OF(neon)
#undef SKTREE_KERNELS_OF
// The rest as without BITALG.
namespace avx512bitalg {
bool find_kernels(Score, Kernels<std::int16_t>&);
}

enum class Simd : int { PORTABLE, AVX2, AVX512, AVX512BITALG, NEON };

inline bool simd_available(Simd simd) {
    switch (simd) {
        case Simd::PORTABLE:
            return true;
#if defined(SKTREE_X86)
        case Simd::AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
        case Simd::AVX512:
            return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq");
        case Simd::AVX512BITALG:
            return simd_available(Simd::AVX512) && __builtin_cpu_supports("avx512bitalg");
#endif
#if defined(SKTREE_NEON)
        case Simd::NEON:
            return true;
#endif
        default:
            return false;
    }
}

template <class Lane>
bool choose_kernels(Simd simd, Score score, Kernels<Lane>& kernels) {
    switch (simd) {
#if defined(SKTREE_X86)
        case Simd::AVX2:
            return avx2::find_kernels(score, kernels);
        case Simd::AVX512BITALG:
            if constexpr (sizeof(Lane) == sizeof(std::int16_t)) {
                return avx512bitalg::find_kernels(score, kernels);
            } else {
                return avx512::find_kernels(score, kernels);
            }
        case Simd::AVX512:
            return avx512::find_kernels(score, kernels);
#endif
#if defined(SKTREE_NEON)
        case Simd::NEON:
            return neon::find_kernels(score, kernels);
#endif
        default:
            return portable::find_kernels(score, kernels);
    }
}

inline BitKernels choose_bit_kernels(Simd simd) {
    switch (simd) {
#if defined(SKTREE_X86)
        case Simd::AVX2:
            return avx2::bit_kernels();
        case Simd::AVX512BITALG:
        case Simd::AVX512:
            return avx512::bit_kernels();
#endif
#if defined(SKTREE_NEON)
        case Simd::NEON:
            return neon::bit_kernels();
#endif
        default:
            return portable::bit_kernels();
    }
}

// The best of the machine, or what SKTREE_OPT_SIMD asks for. False if it asks for what is not
// there.
inline bool choose_simd(Simd& simd) {
    const char* const names[] = {"portable", "avx2", "avx512", "avx512bitalg", "neon"};
    const char* asked = std::getenv("SKTREE_OPT_SIMD");
    if (asked != nullptr && *asked != '\0') {
        for (int k = 0; k < 5; ++k) {
            simd = static_cast<Simd>(k);
            if (std::strcmp(asked, names[k]) == 0) return simd_available(simd);
        }
        return false;
    }
    simd = Simd::PORTABLE;
    for (const Simd better : {Simd::NEON, Simd::AVX2, Simd::AVX512, Simd::AVX512BITALG}) {
        if (simd_available(better)) simd = better;
    }
    return true;
}

}  // namespace sktree_opt
