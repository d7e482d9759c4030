// The vector kernels of 16-bit counts for AVX-512 with BITALG; others are those of AVX-512.
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

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
#include "sktree_opt/simd/simd_avx512_popcount.hpp"
#include "sktree_opt/optimal/bits/kernels/isa_narrow.hpp"
}  // namespace sktree_opt::avx512bitalg

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
