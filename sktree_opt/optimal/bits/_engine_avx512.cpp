// The vector kernels for AVX-512.
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

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
#include "sktree_opt/simd/simd_avx512_table.hpp"
#include "sktree_opt/optimal/bits/kernels/counts_by_table.hpp"
#include "sktree_opt/optimal/bits/kernels/isa_body.hpp"
}  // namespace sktree_opt::avx512

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
