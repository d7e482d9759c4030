"""The depth-two kernel against the machine: pair-bits counted per cycle, beside the peak.

    python benchmarks/bench_kernel.py --ghz 4.1

A pair-bit is one row looked at for one ordered pair of columns. The peak is what the popcount
instruction could do if nothing else had to be done: two vectors of the set's width a cycle
(AVX-512), for the others the vector width times four operations a cycle over the operations that a
popcount takes there. What is timed is the whole solution of a node of two levels: counts of columns
and pairs, scores, and writing all pair counts. Virtual machines report a nominal clock rate, below
the true one: shares above 100 % are a sign of it, and `--ghz` sets it right.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from sktree_opt.optimal._engine import Engine, available_instruction_sets
from sktree_opt.optimal.objectives import OBJECTIVES
from sktree_opt.preprocessing._bits import pack_binary_matrix
from sktree_opt.utils._control import SearchControl

# Bits of popcount a cycle: vectors of 512 bits, two a cycle; else operations per vector counted.
PEAKS = {"avx512": 2 * 512, "avx2": 4 * 256 / 6, "neon": 2 * 128, "portable": 4 * 128 / 11}


def clock_rate():
    """Hertz of the first core as the system reports it, or None."""
    try:
        with Path("/proc/cpuinfo").open() as file:
            rates = [float(line.split(":")[1]) for line in file if line.startswith("cpu MHz")]
    except OSError:
        return None
    return rates[0] * 1e6 if rates else None


def seconds_a_call(n_rows, n_columns):
    """Time of one solution of a random root."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns)).astype(np.float64)
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    form = OBJECTIVES["error"].leaf_form(np.bincount(y).astype(float), np.ones(n_rows))
    engine = Engine(
        pack_binary_matrix(X), n_columns, y, None, form, SearchControl(), off=("merge_rows",)
    )
    engine.begin(2, 3)
    n_calls, best = 1 + 20_000_000 // (n_rows * n_columns), np.inf
    for _ in range(7):
        start = time.process_time()
        engine.solve_root(n_calls)
        best = min(best, (time.process_time() - start) / n_calls)
    return best


def main():
    """Print a table for each instruction set of this machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ghz", type=float, help="clock rate; else as the system reports it")
    options = parser.parse_args()
    hertz = options.ghz * 1e9 if options.ghz else clock_rate()
    if hertz is None:
        parser.error("the clock rate is not known here: give --ghz")
    for simd in available_instruction_sets():
        os.environ["SKTREE_OPT_SIMD"] = simd
        print(f"{simd}: peak {PEAKS[simd]:.0f} pair-bits a cycle at {hertz / 1e9:.2f} GHz")
        for n_columns in (64, 128, 256):
            for n_rows in (200, 1000, 4000):
                cycles = seconds_a_call(n_rows, n_columns) * hertz
                rate = n_rows * n_columns * n_columns / cycles
                print(
                    f"  {n_columns:4d} columns {n_rows:5d} rows: {rate:7.1f} a cycle, "
                    f"{100 * rate / PEAKS[simd]:5.1f} %"
                )


if __name__ == "__main__":
    main()
