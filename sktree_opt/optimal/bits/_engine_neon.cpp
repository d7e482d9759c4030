// The vector kernels for NEON, which every 64-bit ARM processor has.
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

#if defined(SKTREE_NEON)
namespace sktree_opt::neon {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_neon.hpp"
#include "sktree_opt/simd/simd_unmasked.hpp"
#include "sktree_opt/optimal/bits/kernels/isa_body.hpp"
}  // namespace sktree_opt::neon
#endif
