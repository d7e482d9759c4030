// Compiles the kernels of an engine for NEON, which every 64-bit ARM processor has (see
// kernel_sources() in setup.py).
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include SKTREE_KERNEL_TYPES

#if defined(SKTREE_NEON)

namespace sktree_opt::neon {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_neon.hpp"
#include SKTREE_KERNELS
}  // namespace sktree_opt::neon
#endif
