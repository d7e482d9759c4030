// The kernels for any processor.
#include "sktree_opt/optimal/bits/kernels/kernels.hpp"

namespace sktree_opt::portable {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_portable.hpp"
#include "sktree_opt/simd/simd_unmasked.hpp"
#include "sktree_opt/optimal/bits/kernels/isa_body.hpp"
}  // namespace sktree_opt::portable
