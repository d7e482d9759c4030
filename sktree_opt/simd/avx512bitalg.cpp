// Compiles the kernels of an engine for AVX-512 with BITALG (see kernel_sources() in setup.py).
#define SKTREE_BITALG 1
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include SKTREE_KERNEL_TYPES

#if defined(SKTREE_X86)
#if defined(__clang__)
#pragma clang attribute push(                                                   \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bitalg"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bitalg")
#endif

namespace sktree_opt::avx512bitalg {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_avx512.hpp"
#include SKTREE_KERNELS
}  // namespace sktree_opt::avx512bitalg

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
