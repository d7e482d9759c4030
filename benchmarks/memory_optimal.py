"""Whether ``memory_limit`` holds: peak resident memory of a fit beside the limit it was given.

    python benchmarks/memory_optimal.py --set german-credit --depth 5 --limits 20MB 50MB 200MB
    python benchmarks/memory_optimal.py --set yeast --depth 6 --limits 200MB none --seconds 60
    python benchmarks/memory_optimal.py --depth 6 --limits 200MB none --questions smallest several

Each fit has a process of its own; what counts is its peak over what the process had when `fit` was
called. Caches take what the limit leaves: with less, a proof takes longer, and it is the same.
`--questions` are the searches: the plain one, the smallest tree, several trees, and a metric; a
regression is the plain search for targets. A peak over the limit by more than a fifth is marked.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

from bench_optimal import load
from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
)
from sktree_opt.utils._params import parse_memory

QUESTIONS = {
    "plain": (OptimalTreeClassifier, {}),
    "smallest": (SmallestTreeClassifier, {}),
    "several": (TreeSetClassifier, {"n_trees": 1000}),
    "metric": (OptimalTreeClassifier, {"objective": "f1"}),
    "regression": (OptimalTreeRegressor, {}),
}
# Share of a limit that a peak may take.
MOST = 1.2


def megabytes():
    """Peak resident memory of this process; what getrusage counts begins with the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def work(name, question, depth, limit, seconds):
    """One fit."""
    estimator, parameters = QUESTIONS[question]
    X, y = load(name, "regression" if question == "regression" else "error")
    OptimalTreeClassifier(max_depth=2).fit(X[:50], y[:50] > y.mean())
    model = estimator(max_depth=depth, memory_limit=limit, time_limit=seconds, **parameters)
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
    parser.add_argument("--questions", nargs="+", default=["plain"], choices=QUESTIONS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        limit = None if options.worker == "none" else options.worker
        question = options.questions[0]
        print(json.dumps(work(options.set, question, options.depth, limit, options.seconds)))
        return
    print(f"{options.set}, depth {options.depth}, at most {options.seconds:g} s")
    for question in options.questions:
        for limit in options.limits:
            show(question, limit, options)


def show(question, limit, options):
    """Run a process for one fit; print a line."""
    command = [sys.executable, __file__, "--worker", limit, "--set", options.set]
    command += ["--depth", str(options.depth), "--seconds", str(options.seconds)]
    command += ["--questions", question]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    share = ""
    if limit != "none":
        part = found["megabytes"] * 2**20 / parse_memory(limit)
        share = f" ({part:.0%}{', OVER' if part > MOST else ''})"
    print(
        f"{question:10s} limit {limit:>6s}: peak {found['megabytes']:7.1f} MiB{share}, "
        f"{found['seconds']:6.2f} s, {found['status']}, objective {found['objective']:g}",
        flush=True,
    )


if __name__ == "__main__":
    main()
