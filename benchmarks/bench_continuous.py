"""Exact search over all thresholds beside ConTree (pycontree), in one run.

Each fit has a process of its own and one thread; the figure is CPU seconds of the estimators'
``fit``, the least of a few repeats where it is short, or wall seconds with ``--threads``. "MB"
is how far the fit raises the peak of the process's memory, after a fit of a few rows has brought in
the code. Objectives are compared: a line ends in DIFFERENT when the two disagree.

    python benchmarks/bench_continuous.py --depth 3 --peer-python /path/with/pycontree/bin/python
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
REPEATS = 3
LONG = 1.0  # seconds above which one repeat is enough

PEER = """
import gzip, json, resource, sys, time
import numpy as np
from pycontree import ConTree
path, depth, limit, repeats = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
table = np.loadtxt(gzip.open(path, "rt"))
X, y = table[:, 1:].copy(), table[:, 0].astype(int)
best = None
few = np.random.default_rng(0).random((200, 4))
ConTree(max_depth=depth).fit(few, (few[:, 0] > 0.5).astype(int))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(repeats):
    model = ConTree(max_depth=depth, time_limit=limit)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    best = seconds if best is None else min(best, seconds)
    if seconds > 1.0:
        break
errors = int((model.predict(X) != y).sum())
megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps({"seconds": best, "errors": errors, "megabytes": megabytes}))
"""


def load(path):
    """Features and class codes of a set."""
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file)
    return table[:, 1:].copy(), np.unique(table[:, 0], return_inverse=True)[1]


def run_ours(path, depth, limit, n_threads):
    """Fit in this process, and print what was found."""
    import resource
    import time

    from sktree_opt.optimal import OptimalTreeClassifier

    X, y = load(path)
    few = np.random.default_rng(0).random((200, 4))
    OptimalTreeClassifier(max_depth=depth).fit(few, few[:, 0] > 0.5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    best = None
    for _ in range(REPEATS):
        model = OptimalTreeClassifier(max_depth=depth, time_limit=limit, n_jobs=n_threads)
        start, start_wall = time.process_time(), time.perf_counter()
        with warnings.catch_warnings(action="ignore"):
            model.fit(X, y)
        seconds = time.process_time() - start
        wall = time.perf_counter() - start_wall
        best = (seconds, wall) if best is None else min(best, (seconds, wall))
        if seconds > LONG:
            break
    found = {
        "seconds": best[0],
        "wall": best[1],
        "errors": int((model.predict(X) != y).sum()),
        "status": model.status_,
        "lower_bound": model.lower_bound_,
        "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        "stats": model.search_stats_,
    }
    print(json.dumps(found))


def run(command, limit):
    """Last line of a command's output, as JSON; None when it fails or takes too long."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment, check=True
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(f"  {command[0]}: {error}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--sets", default="bank,raisin,wilt,room,segment,page,rice,fault")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds for one fit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peer-python", help="interpreter that has pycontree")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        run_ours(arguments.one, arguments.depth, arguments.limit, arguments.threads)
        return
    ratios = []
    print(
        f"{'set':10s} {'errors':>6s} {'ours s':>9s} {'peer s':>9s} {'ratio':>7s} "
        f"{'ours MB':>8s} {'peer MB':>8s}  status"
    )
    for name in arguments.sets.split(","):
        path = str(DATA / "continuous" / f"{name}.txt.gz")
        shared = ["--depth", str(arguments.depth), "--limit", str(arguments.limit)]
        ours = run(
            [sys.executable, __file__, "--one", path, *shared, "--threads", str(arguments.threads)],
            10 * arguments.limit + 60,
        )
        peer = None
        if arguments.peer_python:
            peer = run(
                [
                    arguments.peer_python,
                    "-c",
                    PEER,
                    path,
                    str(arguments.depth),
                    str(arguments.limit),
                    str(REPEATS),
                ],
                10 * arguments.limit + 60,
            )
        if ours is None:
            print(f"{name:10s} failed")
            continue
        seconds = ours["seconds" if arguments.threads == 1 else "wall"]
        line = f"{name:10s} {ours['errors']:6d} {seconds:9.4f}"
        if peer is not None:
            ratios.append(peer["seconds"] / seconds)
            line += f" {peer['seconds']:9.4f} {ratios[-1]:7.1f}"
            line += f" {ours['megabytes']:8.1f} {peer['megabytes']:8.1f}"
        else:
            line += f" {'-':>9s} {'-':>7s} {ours['megabytes']:8.1f} {'-':>8s}"
        line += f"  {ours['status']}"
        if peer is not None and peer["errors"] != ours["errors"]:
            line += f" DIFFERENT: peer has {peer['errors']}"
        print(line, flush=True)
    if ratios:
        print(
            f"geometric mean of ratios {np.exp(np.mean(np.log(ratios))):.1f}, "
            f"least {min(ratios):.1f}"
        )


if __name__ == "__main__":
    main()
