"""The depth-two kernel against the machine: pair-bits counted per cycle, beside the peak.

    python benchmarks/bench_kernel.py

A pair-bit is one row looked at for one ordered pair of columns. The peak is the rate of a program
that only counts bits. With BITALG and NEON it is two vectors of popcounts a cycle. For the others
it is the vector width times the operations a cycle (two of 512 bits, else four), divided by the
operations that a vector takes: two shuffles and two additions where bits are looked up. The
benchmark times the whole solution of a node of two levels: counts of columns and pairs, scores, and
writing all pair counts. Cycles are counted by a chain of additions, each of which waits for the one
before, timed between the calls: systems report a nominal clock rate, which is not that of the
moment. The chain is machine code of x86-64; on other processors `--ghz` gives the rate.
"""

import argparse
import ctypes
import mmap
import os
import platform
import time

import numpy as np

from sktree_opt.optimal.bits._bit_engine import BitEngine
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.preprocessing._bits import pack_binary_matrix
from sktree_opt.simd._dispatch import available_instruction_sets
from sktree_opt.utils._control import SearchControl

# Bits counted a cycle.
PEAKS = {
    "avx512bitalg": 2 * 512,
    "avx512": 2 * 512 / 4,
    "avx2": 4 * 256 / 4,
    "neon": 2 * 128,
    "portable": 4 * 128 / 11,
}


class Clock:
    """Cycles a second, by a loop of so many dependent additions, one a cycle."""

    N_TURNS, N_ADDITIONS = 20_000, 16

    def __init__(self):
        # add rax, rdi (16 times); dec rdi; jnz back; ret
        code = b"\x48\x01\xf8" * self.N_ADDITIONS + b"\x48\xff\xcf\x75\xcb\xc3"
        protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        self.page = mmap.mmap(-1, mmap.PAGESIZE, prot=protection)
        self.page.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        self.loop = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(address)

    def hertz(self):
        """The rate at this moment."""
        start = time.perf_counter()
        self.loop(self.N_TURNS)
        return self.N_TURNS * self.N_ADDITIONS / (time.perf_counter() - start)


def cycles_a_call(n_rows, n_columns, hertz_of_now):
    """Cycles of one solution of a random root."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns)).astype(np.float64)
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    form = OBJECTIVES["error"].leaf_form(np.bincount(y).astype(float), np.ones(n_rows))
    engine = BitEngine(
        pack_binary_matrix(X), n_columns, y, None, form, SearchControl(), off=("merge_rows",)
    )
    engine.begin(2, 3)
    n_calls, best, hertz = 1 + 20_000_000 // (n_rows * n_columns), np.inf, 0.0
    for _ in range(7):
        start = time.process_time()
        engine.solve_root(n_calls)
        best = min(best, (time.process_time() - start) / n_calls)
        # An interruption makes the chain look slow, never fast.
        hertz = max(hertz, hertz_of_now())
    return best * hertz, hertz


def main():
    """Print a table for each instruction set of this machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ghz", type=float, help="clock rate; else as measured")
    options = parser.parse_args()
    if options.ghz:
        hertz_of_now = lambda: options.ghz * 1e9  # noqa: E731
    elif platform.machine() in ("x86_64", "AMD64"):
        hertz_of_now = Clock().hertz
    else:
        parser.error("the clock rate is not known here: give --ghz")
    for simd in available_instruction_sets():
        os.environ["SKTREE_OPT_SIMD"] = simd
        print(f"{simd}: peak {PEAKS[simd]:.0f} pair-bits a cycle")
        for n_columns in (64, 128, 256):
            for n_rows in (200, 1000, 4000):
                cycles, hertz = cycles_a_call(n_rows, n_columns, hertz_of_now)
                rate = n_rows * n_columns * n_columns / cycles
                print(
                    f"  {n_columns:4d} columns {n_rows:5d} rows: {rate:7.1f} a cycle, "
                    f"{100 * rate / PEAKS[simd]:5.1f} % at {hertz / 1e9:.2f} GHz"
                )


if __name__ == "__main__":
    main()
