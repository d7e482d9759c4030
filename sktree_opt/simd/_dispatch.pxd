cdef extern from "sktree_opt/simd/instruction_sets.hpp" namespace "sktree_opt" nogil:
    enum class InstructionSet(int):
        pass


cdef InstructionSet instruction_set() except *
