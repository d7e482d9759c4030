// The vector kernels for NEON, which every 64-bit ARM processor has.
#include "sktree_opt/optimal/_kernels.hpp"

#if defined(SKTREE_NEON)
namespace sktree_opt {
namespace neon {
#include "sktree_opt/optimal/_native.hpp"
#include "sktree_opt/optimal/_simd_neon.hpp"
#include "sktree_opt/optimal/_simd_unmasked.hpp"
#include "sktree_opt/optimal/_isa_body.hpp"
}  // namespace neon
}  // namespace sktree_opt
#endif
