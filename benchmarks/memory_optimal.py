"""Whether ``memory_limit`` holds: peak resident memory of a fit beside the limit it was given.

    python benchmarks/memory_optimal.py --set german-credit --depth 5 --limits 20MB 50MB 200MB
    python benchmarks/memory_optimal.py --set yeast --depth 6 --limits 200MB none --seconds 60

Each fit has a process of its own; what counts is its peak over what the process had when `fit` was
called. Caches take what the limit leaves: with less, a proof takes longer, and it is the same.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

from bench_optimal import load
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.utils._memory import parse_memory


def megabytes():
    """Peak resident memory of this process; what getrusage counts begins with the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def work(name, depth, limit, seconds):
    """One fit."""
    X, y = load(name)
    OptimalTreeClassifier(max_depth=2).fit(X[:50], y[:50])
    model = OptimalTreeClassifier(max_depth=depth, memory_limit=limit, time_limit=seconds)
    before, start = megabytes(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return {
        "megabytes": megabytes() - before,
        "seconds": time.process_time() - start,
        "status": model.status_,
        "objective": model.objective_,
    }


def main():
    """Parse the command line; run all limits, or one as a worker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="german-credit")
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--limits", nargs="+", default=["20MB", "50MB", "200MB", "none"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        limit = None if options.worker == "none" else options.worker
        print(json.dumps(work(options.set, options.depth, limit, options.seconds)))
        return
    print(f"{options.set}, depth {options.depth}, at most {options.seconds:g} s")
    for limit in options.limits:
        command = [sys.executable, __file__, "--worker", limit, "--set", options.set]
        command += ["--depth", str(options.depth), "--seconds", str(options.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        share = ""
        if limit != "none":
            share = f" ({1e8 * found['megabytes'] * 1.048576 / parse_memory(limit):.0f} %)"
        print(
            f"limit {limit:>6s}: peak {found['megabytes']:7.1f} MiB{share}, "
            f"{found['seconds']:6.2f} s, {found['status']}, objective {found['objective']:g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
