// Compiles the kernels of an engine for AVX2 (see kernel_sources() in setup.py).
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include SKTREE_KERNEL_TYPES

#if defined(SKTREE_X86)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

namespace sktree_opt::avx2 {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_avx2.hpp"
#include SKTREE_KERNELS
}  // namespace sktree_opt::avx2

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
