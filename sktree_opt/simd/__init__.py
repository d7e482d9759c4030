"""Vector types, instruction sets, and the choice among them.

- ``_dispatch.pyx``: which instruction set kernels use; the only reader of ``SKTREE_OPT_SIMD``.
- ``instruction_sets.hpp``: the instruction sets, and which of them the processor has.
- ``portable.cpp``, ``neon.cpp``, ``avx2.cpp``, ``avx512.cpp``, ``avx512bitalg.cpp``: compile the
  kernels of an engine (the folder ``kernels`` beside its ``.pyx``) for one instruction set.
- ``native.hpp``: vectors of the machine; ``lanes.hpp``: a number for each column, in as many
  vectors as its type needs.
- ``simd_portable.hpp``, ``simd_neon.hpp``, ``simd_avx2.hpp``, ``simd_avx512.hpp``: counting of bits
  on each instruction set; ``lookup_tables.hpp``: its tables.

Terms: a *lane* is an entry of a vector register.
"""
