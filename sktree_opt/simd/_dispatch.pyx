"""The choice of an instruction set for all kernels, and the only reader of ``SKTREE_OPT_SIMD``."""

import os

from libcpp cimport bool as cpp_bool


cdef extern from "sktree_opt/simd/instruction_sets.hpp" namespace "sktree_opt" nogil:
    cpp_bool is_available(InstructionSet name)


# In the order of the enum; a later one is better. Kernels that are not compiled for a name are
# those of the next best one.
INSTRUCTION_SETS = ("portable", "neon", "avx2", "avx512", "avx512bitalg")


def available_instruction_sets():
    """Names that ``SKTREE_OPT_SIMD`` may have on this machine, the best one last."""
    return [
        name for k, name in enumerate(INSTRUCTION_SETS) if is_available(<InstructionSet> (<int> k))
    ]


cdef InstructionSet instruction_set() except *:
    """The best one that the processor has, or the one that ``SKTREE_OPT_SIMD`` names."""
    available = available_instruction_sets()
    name = os.environ.get("SKTREE_OPT_SIMD") or available[len(available) - 1]
    if name not in available:
        raise ValueError(
            f"The environment variable SKTREE_OPT_SIMD must be one of {list(INSTRUCTION_SETS)}, "
            f"and one that this processor has, {available}, got {name!r}."
        )
    return <InstructionSet> (<int> INSTRUCTION_SETS.index(name))
