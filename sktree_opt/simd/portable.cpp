// Compiles the kernels of an engine for any processor (see kernel_sources() in setup.py).
#include "sktree_opt/simd/instruction_sets.hpp"
#include "sktree_opt/simd/lookup_tables.hpp"
#include SKTREE_KERNEL_TYPES

namespace sktree_opt::portable {
#include "sktree_opt/simd/native.hpp"
#include "sktree_opt/simd/simd_portable.hpp"
#include SKTREE_KERNELS
}  // namespace sktree_opt::portable
