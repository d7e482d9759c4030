// Compiles the kernels of an engine for AVX-512 (see kernel_sources() in setup.py).
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include SKTREE_KERNEL_TYPES

#if defined(SKTREE_X86)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,popcnt")
#endif

namespace sktree_opt::avx512 {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_avx512.hpp"
#include SKTREE_KERNELS
}  // namespace sktree_opt::avx512

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
