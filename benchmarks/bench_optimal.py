"""Optimal trees against peers, side by side: CPU seconds of ``fit`` alone, one process each.

    python benchmarks/bench_optimal.py --depth 4 5 --peer-python path/to/python

Each set of ``$SKTREE_OPT_DATA/binary`` is fitted by each solver in a process of its own, on one
thread, in turn, so that whatever else the machine does falls on all of them. Peers are given the
distinct columns only; ours gets the table as it is. Prints seconds, peak memory and the ratio to
the fastest peer, and the geometric mean of the ratios where that peer takes 0.05 s or more.
"""

import argparse
import gzip
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

DATA = Path(
    os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[2] / "shared" / "data"), "binary"
)
PEERS = ("pystreed", "pydl85")
# Where the fastest peer takes less, a ratio says little.
LEAST_SECONDS = 0.05


def load(name):
    """Features and labels of a set."""
    with gzip.open(DATA / f"{name}.txt.gz", "rt") as file:
        table = np.loadtxt(file, dtype=np.uint8)
    return table[:, 1:], table[:, 0].astype(np.int64)


def distinct_columns(X):
    """X without constant, equal and complementary columns."""
    oriented = np.where(X[:1] == 1, 1 - X, X)
    oriented_unique, first = np.unique(oriented, axis=1, return_index=True)
    return X[:, np.sort(first[oriented_unique.any(axis=0)])]


def targets_for(y, X):
    """Numeric targets for a regression: reproducible, and not a function of the labels alone."""
    return y + 0.1 * np.random.default_rng(0).normal(size=len(y)) + 0.3 * X.mean(axis=1)


def ours(task, depth, cost, limit):
    """Our estimator, and how to read its objective."""
    from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor

    if task == "regression":
        return OptimalTreeRegressor(max_depth=depth, time_limit=limit)
    complexity = cost if task == "complexity" else 0.0
    return OptimalTreeClassifier(max_depth=depth, complexity_cost=complexity, time_limit=limit)


def peer(solver, task, depth, cost, limit):
    """A peer's estimator for the same problem, or None."""
    if solver == "pydl85":
        from pydl85 import DL85Classifier

        return DL85Classifier(max_depth=depth, time_limit=limit) if task == "error" else None
    from pystreed import STreeDClassifier, STreeDRegressor

    if task == "regression":
        return STreeDRegressor(max_depth=depth, time_limit=limit)
    if task == "complexity":
        return STreeDClassifier(
            "cost-complex-accuracy", max_depth=depth, cost_complexity=cost, time_limit=limit
        )
    return STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)


def work(solver, name, task, depth, cost, limit):
    """In a process of its own: fit once, print what it took."""
    X, y = load(name)
    target = targets_for(y, X) if task == "regression" else y
    make = ours if solver == "ours" else peer
    arguments = (task, depth, cost, limit)
    estimator = make(*arguments) if solver == "ours" else make(solver, *arguments)
    if estimator is None:
        return None
    if solver != "ours":
        X = np.ascontiguousarray(distinct_columns(X), dtype=np.int64)
    # Imports and first calls are nobody's search.
    warm_up = make(*arguments) if solver == "ours" else make(solver, *arguments)
    warm_up.fit(X[:50, :5], np.arange(50) % 2 + (0.5 if task == "regression" else 0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    estimator.fit(X, target)
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers = np.asarray(estimator.predict(X))
    if task == "regression":
        loss = float(((answers - target) ** 2).sum())
    else:
        loss = float((answers != y).sum())
    return {"seconds": seconds, "loss": loss, "megabytes": (after - before) / 1024}


def run(python, solver, name, options):
    """Call `work` in a process; None if it fails or takes too long."""
    command = [python, __file__, "--worker", solver, "--sets", name, "--task", options.task]
    command += ["--depth", str(options.depth), "--cost", str(options.cost)]
    command += ["--limit", str(options.limit)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if solver == "ours":
        root = str(Path(__file__).parents[1])
        environment["PYTHONPATH"] = os.pathsep.join([root, environment.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=1.5 * options.limit + 30,
            env=environment,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else None


def compare(name, options):
    """One line of the table; the ratio to the fastest peer, or None."""
    found = {"ours": run(sys.executable, "ours", name, options)}
    for solver in PEERS:
        found[solver] = run(options.peer_python, solver, name, options)
    cells = [f"{name:18s}"]
    for solver, result in found.items():
        if result is None:
            cells.append(f"{solver} -")
            continue
        cells.append(
            f"{solver} {result['seconds']:9.4f}s {result['loss']:9.1f} {result['megabytes']:6.1f}MB"
        )
    # A peer that ended with a worse tree has not solved the problem.
    losses = [result["loss"] for result in found.values() if result]
    solved = 1.000001 * min(losses, default=0.0) + 1e-9
    peers = [
        found[solver]["seconds"]
        for solver in PEERS
        if found[solver] and (options.task == "complexity" or found[solver]["loss"] <= solved)
    ]
    if not peers or found["ours"] is None:
        print("  ".join(cells), flush=True)
        return None
    ratio = min(peers) / found["ours"]["seconds"]
    print("  ".join(cells), f" x{ratio:.1f}", flush=True)
    return ratio if min(peers) >= LEAST_SECONDS else None


def main():
    """Parse the command line; run all sets, or one as a worker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[4])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--task", choices=["error", "complexity", "regression"], default="error")
    parser.add_argument("--cost", type=float, default=0.01)
    parser.add_argument("--limit", type=float, default=100.0)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        arguments = (options.sets[0], options.task, options.depth[0], options.cost, options.limit)
        print(json.dumps(work(options.worker, *arguments)))
        return
    names = options.sets or sorted(path.name.split(".")[0] for path in DATA.glob("*.txt.gz"))
    for depth in options.depth:
        print(f"depth {depth}, {options.task}")
        settings = argparse.Namespace(**(vars(options) | {"depth": depth}))
        ratios = [ratio for name in names if (ratio := compare(name, settings))]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"depth {depth}: geometric mean x{mean:.1f}, least x{min(ratios):.1f}")


if __name__ == "__main__":
    main()
