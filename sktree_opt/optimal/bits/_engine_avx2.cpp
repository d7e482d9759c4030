// The vector kernels for AVX2.
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

#if defined(SKTREE_X86)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

namespace sktree_opt::avx2 {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_avx2.hpp"
#include "sktree_opt/simd/simd_unmasked.hpp"
#include "sktree_opt/optimal/bits/kernels/counts_by_table.hpp"
#include "sktree_opt/optimal/bits/kernels/isa_body.hpp"
}  // namespace sktree_opt::avx2

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
