// The instruction sets that kernels are compiled for, and which of them the processor has.
//
// _dispatch.pyx decides which one is used. Each simd/<name>.cpp compiles the kernels of an
// engine for one instruction set, in a namespace of that name, which keeps the same templates with
// different vectors apart. All of them give the same numbers, so a tree does not depend on the
// machine.
#pragma once

// Needed by the primitives, which are included inside of namespaces.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define SKTREE_X86 1
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__)
#define SKTREE_NEON 1
#include <arm_neon.h>
#endif

#if defined(__GNUC__)
#define SKTREE_INLINE inline __attribute__((always_inline))
#define SKTREE_INLINE_LAMBDA __attribute__((always_inline))
#define SKTREE_APART __attribute__((noinline))
#else
#define SKTREE_INLINE __forceinline
#define SKTREE_INLINE_LAMBDA
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

// In the order of INSTRUCTION_SETS in _dispatch.pyx. A later one is better.
enum class InstructionSet : int { PORTABLE, NEON, AVX2, AVX512, AVX512BITALG };

inline bool is_available(InstructionSet set) {
    switch (set) {
        case InstructionSet::PORTABLE:
            return true;
#if defined(SKTREE_X86)
        case InstructionSet::AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                   __builtin_cpu_supports("popcnt");
        case InstructionSet::AVX512:
            return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("popcnt");
        case InstructionSet::AVX512BITALG:
            return is_available(InstructionSet::AVX512) && __builtin_cpu_supports("avx512bitalg");
#endif
#if defined(SKTREE_NEON)
        case InstructionSet::NEON:
            return true;
#endif
        default:
            return false;
    }
}

}  // namespace sktree_opt
