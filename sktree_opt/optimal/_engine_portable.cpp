// The kernels for any processor.
#include "sktree_opt/optimal/_kernels.hpp"

namespace sktree_opt {
namespace portable {
#include "sktree_opt/optimal/_native.hpp"
#include "sktree_opt/optimal/_simd_portable.hpp"
#include "sktree_opt/optimal/_simd_unmasked.hpp"
#include "sktree_opt/optimal/_isa_body.hpp"
}  // namespace portable
}  // namespace sktree_opt
