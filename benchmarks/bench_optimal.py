"""Optimal trees against peers, side by side: CPU seconds of ``fit`` alone, one process each.

    python benchmarks/bench_optimal.py --depth 4 5 --peer-python path/to/python
    python benchmarks/bench_optimal.py --task complexity --cost 0.001 0.01 --depth 5 ...
    python benchmarks/bench_optimal.py --task regression --depth 4 ...
    python benchmarks/bench_optimal.py --task raw-regression --depth 3 ...
    python benchmarks/bench_optimal.py --task instructions --depth 4
    python benchmarks/bench_optimal.py --task threads --depth 5 --sets ionosphere spambase
    python benchmarks/bench_optimal.py --task proofs --depth 6 7 8 --limit 120

Each set of ``$SKTREE_OPT_DATA/binary`` is fitted by each solver in processes of their own, on one
thread, taking turns, so that whatever else the machine does falls on all of them; of `--repeats`
processes the fastest counts. Peers are given the distinct columns only; ours gets the table as it
is. Prints seconds, the objective, peak memory, and the ratio to the fastest peer that found the
optimum. At the end it prints the geometric mean and the minimum of these ratios over the sets where
that peer takes 0.05 s or more, and the number of sets that need less memory than with pystreed.

`raw-regression` predicts the first column of each set of ``continuous`` from the others, which have
been cut into tenths by quantiles: ours gets these numbers, the peer a column of zeros and ones for
each threshold between two of them.

`instructions` compares our own instruction sets with the best one, `threads` two threads with one
by wall clock. `proofs` counts the sets that two threads prove within the limit, by wall clock, and
prints the gap of the others. `--sets` splits a long run.
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

DATA = Path(os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[2] / "shared" / "data"))
# Where the fastest peer takes less, a ratio says little.
LEAST_SECONDS = 0.05
# A peer that took this share of the limit was stopped by it.
LATE = 0.95
LONG = 1.0  # seconds above which one process is enough
PEERS = {
    "error": ("pystreed", "pydl85"),
    "complexity": ("pystreed", "gosdt"),
    "regression": ("pystreed",),
    "raw-regression": ("pystreed",),
}
OURS_ALONE = ("instructions", "threads", "proofs")
REGRESSIONS = ("regression", "raw-regression")
# Values that a column of a raw regression has at most.
LEVELS = 10


def folder_of(task):
    """Where the sets of a task are."""
    return DATA / ("continuous" if task == "raw-regression" else "binary")


def names_of(task="error"):
    """Names of the sets of a task."""
    return sorted(path.name.split(".")[0] for path in folder_of(task).glob("*.txt.gz"))


def load(name, task="error"):
    """Columns, and what is predicted from them."""
    with gzip.open(folder_of(task) / f"{name}.txt.gz", "rt") as file:
        table = np.loadtxt(file)
    if task == "raw-regression":
        y = table[:, 1]
        return levels_of(table[:, 2:]), (y - y.mean()) / y.std()
    X, y = table[:, 1:].astype(np.uint8), table[:, 0].astype(np.int64)
    return X, targets_for(y, X) if task == "regression" else y


def levels_of(columns):
    """Each column by ranks of quantiles."""
    cuts = np.quantile(columns, np.arange(1, LEVELS) / LEVELS, axis=0)
    return (columns[:, :, None] > cuts.T).sum(axis=2).astype(np.float64)


def tests_of(levels):
    """A column of zeros and ones for each threshold."""
    return np.concatenate([levels > level for level in range(LEVELS - 1)], axis=1).astype(np.uint8)


def distinct_columns(X):
    """X without constant, equal and complementary columns."""
    oriented = np.where(X[:1] == 1, 1 - X, X)
    oriented_unique, first = np.unique(oriented, axis=1, return_index=True)
    return X[:, np.sort(first[oriented_unique.any(axis=0)])]


def targets_for(y, X):
    """Numeric targets for a regression: reproducible, and not a function of the labels alone."""
    return y + 0.1 * np.random.default_rng(0).normal(size=len(y)) + 0.3 * X.mean(axis=1)


def ours(task, depth, cost, limit, n_jobs):
    """Our estimator."""
    from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor

    settings = {"max_depth": depth, "time_limit": limit, "n_jobs": n_jobs}
    if task in REGRESSIONS:
        return OptimalTreeRegressor(**settings)
    return OptimalTreeClassifier(complexity_cost=cost, **settings)


def peer(solver, task, depth, cost, limit):
    """A peer's estimator for the same problem."""
    if solver == "pydl85":
        from pydl85 import DL85Classifier

        return DL85Classifier(max_depth=depth, time_limit=limit)
    if solver == "gosdt":
        from gosdt import GOSDTClassifier

        # Its cost is per leaf, of which there is one more than splits.
        return GOSDTClassifier(
            regularization=cost,
            allow_small_reg=True,
            depth_budget=depth,
            time_limit=int(limit),
        )
    from pystreed import STreeDClassifier, STreeDRegressor

    if task in REGRESSIONS:
        return STreeDRegressor("regression", max_depth=depth, time_limit=limit)
    if task == "complexity":
        return STreeDClassifier(
            "cost-complex-accuracy", max_depth=depth, cost_complexity=cost, time_limit=limit
        )
    return STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)


def answers_of(estimator, solver, X):
    """What a fitted estimator predicts."""
    if solver == "gosdt":
        # Its own predict asks scikit-learn for a parameter that is gone.
        return estimator.trees_[0].predict(X.to_numpy())
    return estimator.predict(X)


def gosdt_splits(node):
    """Tests below a node of gosdt's."""
    if not hasattr(node, "left_child"):
        return 0
    return 1 + gosdt_splits(node.left_child) + gosdt_splits(node.right_child)


def n_splits_of(estimator, solver):
    """Tests of a fitted tree."""
    if solver == "ours":
        return estimator.tree_.n_splits
    if solver == "gosdt":
        return gosdt_splits(estimator.trees_[0].tree)
    return estimator.get_n_leaves() - 1


def work(solver, name, task, depth, cost, limit, n_jobs):
    """In a process of its own: fit once, return what it took."""
    X, y = load(name, task)

    def make(depth):
        if solver == "ours":
            return ours(task, depth, cost, limit, n_jobs)
        return peer(solver, task, depth, cost, limit)

    if solver != "ours":
        X = tests_of(X) if task == "raw-regression" else X
        X = np.ascontiguousarray(distinct_columns(X), dtype=np.int64)
    if solver == "gosdt":
        import pandas as pd

        X = pd.DataFrame(X.astype(bool), columns=[f"x{j}" for j in range(X.shape[1])])
        target = pd.Series(y, name="class")
    else:
        target = y
    # The first fit pays for imports. It has two levels, so that it takes less memory than the
    # search that is measured.
    small = X[:50] if solver == "gosdt" else X[:50, :5]
    if solver == "gosdt":
        small = small.iloc[:, :5]
        make(2).fit(small, target[:50])
    else:
        make(2).fit(small, np.arange(50) % 2 + (0.5 if task in REGRESSIONS else 0))
    estimator = make(depth)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, start = time.perf_counter(), time.process_time()
    estimator.fit(X, target)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers = np.asarray(answers_of(estimator, solver, X))
    if task in REGRESSIONS:
        loss = float(((answers - y) ** 2).sum())
    else:
        loss = float((answers != y).sum())
        if cost:
            loss += cost * len(y) * n_splits_of(estimator, solver)
    found = {"seconds": seconds, "wall": wall, "loss": loss, "megabytes": (after - before) / 1024}
    if solver == "ours":
        found |= {"is_proved": estimator.status_ == "optimal", "gap": estimator.gap_}
    return found


def run_once(solver, name, options, environment):
    """Call `work` in a process; None if it fails or takes too long."""
    is_ours = solver == "ours"
    command = [sys.executable if is_ours else options.peer_python, __file__]
    command += ["--worker", solver, "--sets", name, "--task", options.task]
    command += ["--depth", str(options.depth), "--cost", str(options.cost)]
    command += ["--limit", str(options.limit), "--jobs", str(options.jobs)]
    environment = os.environ | {"OMP_NUM_THREADS": str(options.jobs)} | environment
    if is_ours:
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
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        if options.verbose:
            print(error, getattr(error, "stderr", ""), file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_all(solvers, name, options):
    """Each solver counts with the fastest of a few processes; fewer run if they take long.

    Solvers take turns: the speed of a shared machine changes within seconds.

    Parameters
    ----------
    solvers : dict
        By label: the solver, changes to the environment, and the number of threads.
    """
    best, open_ = dict.fromkeys(solvers), dict(solvers)
    for _ in range(options.repeats):
        for label, (solver, environment, jobs) in list(open_.items()):
            settings = argparse.Namespace(**(vars(options) | {"jobs": jobs}))
            found = run_once(solver, name, settings, environment)
            if found is None or found["wall"] > LONG:
                del open_[label]
            by = "wall" if options.task == "threads" else "seconds"
            if found is not None and (best[label] is None or found[by] < best[label][by]):
                best[label] = found
    return best


def cell(label, result):
    """One solver's columns of a line."""
    if result is None:
        return f"{label} -"
    return f"{label} {result['seconds']:9.4f}s {result['loss']:9.1f} {result['megabytes']:6.1f}MB"


def compare_with_peers(name, options):
    """One line of the table: (seconds of the best peer, ratio, whether pystreed takes more memory).

    None if no peer found the optimum.
    """
    solvers = ("ours", *(options.peers or PEERS[options.task]))
    found = run_all({solver: (solver, {}, 1) for solver in solvers}, name, options)
    line = f"{name:18s} " + "  ".join(cell(*item) for item in found.items())
    # A peer that ended with a worse tree, or by its time limit, has not solved the problem.
    mine = found.pop("ours")
    if mine is None:
        print(line, flush=True)
        return None
    solved = 1.0001 * mine["loss"] + 1e-6
    late = {s for s, r in found.items() if r and r["wall"] >= LATE * options.limit}
    ended = [r for s, r in found.items() if r and s not in late]
    times = [r["seconds"] for r in ended if r["loss"] <= solved]
    better = [s for s, r in found.items() if r and r["loss"] < 0.9999 * mine["loss"] - 1e-6]
    if late:
        line += f"  {sorted(late)} TOO LATE"
    if better:
        line += f"  {better} FOUND A BETTER TREE"
    if not times:
        print(line, flush=True)
        return None
    ratio = min(times) / mine["seconds"]
    print(line + f"  x{ratio:.1f}", flush=True)
    rival = found.get("pystreed")
    return min(times), ratio, rival is None or rival["megabytes"] >= mine["megabytes"]


def compare_instructions(name, options):
    """One line: our seconds with each instruction set, and the slowdown of each."""
    from sktree_opt.simd._dispatch import available_instruction_sets

    solvers = {
        simd: ("ours", {"SKTREE_OPT_SIMD": simd}, 1) for simd in available_instruction_sets()[::-1]
    }
    results = run_all(solvers, name, options)
    found = list(results.values())
    if None in found:
        return None
    seconds = [result["seconds"] for result in found]
    slower = {simd: s / seconds[0] for simd, s in zip(results, seconds, strict=True)}
    cells = [
        f"{simd} {s:9.4f}s ({r:.1f})" for (simd, r), s in zip(slower.items(), seconds, strict=True)
    ]
    same = len({result["loss"] for result in found}) == 1
    print(f"{name:18s} " + "  ".join(cells) + ("" if same else "  DIFFERENT"), flush=True)
    return slower


def compare_threads(name, options):
    """One line: wall seconds with one and with two threads."""
    solvers = {jobs: ("ours", {}, jobs) for jobs in (1, 2)}
    found = list(run_all(solvers, name, options).values())
    if None in found:
        return None
    one, two = (result["wall"] for result in found)
    print(f"{name:18s} one {one:8.3f}s  two {two:8.3f}s  x{one / two:.2f}", flush=True)
    return one, one / two


def prove(name, options):
    """One line: wall seconds of two threads, and the gap where the time is not enough."""
    found = run_once("ours", name, argparse.Namespace(**(vars(options) | {"jobs": 2})), {})
    if found is None:
        return None
    gap = "" if found["is_proved"] else f"  gap {found['gap'] / found['loss']:.0%}"
    print(f"{name:18s} {found['wall']:9.3f}s {found['loss']:9.1f}{gap}", flush=True)
    return name, found["wall"], gap


def geometric_mean(numbers):
    """Geometric mean."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def summarise(title, options, lines):
    """Print what a task is judged by."""
    if options.task == "instructions":
        for simd in lines[0] if lines else ():
            slower = [line[simd] for line in lines]
            print(f"{title}: {simd} takes {geometric_mean(slower):.2f} times as long", end="")
            print(f", at most {max(slower):.2f}")
    elif options.task == "threads":
        gains = [gain for seconds, gain in lines if seconds >= 1.0]
        if gains:
            print(f"{title}: two threads x{geometric_mean(gains):.2f}, least x{min(gains):.2f}")
    elif options.task == "proofs":
        seconds = [seconds for _, seconds, gap in lines if not gap]
        others = ", ".join(f"{name}{gap}" for name, _, gap in lines if gap) or "none"
        print(f"{title}: {len(seconds)} of {len(lines)} proved", end="")
        if seconds:
            print(f", geometric mean {geometric_mean(seconds):.3f} s, most {max(seconds):.1f} s")
        print(f"not proved: {others}")
    else:
        ratios = [ratio for seconds, ratio, _ in lines if seconds >= LEAST_SECONDS]
        if ratios:
            print(
                f"{title}: geometric mean x{geometric_mean(ratios):.1f}, "
                f"least x{min(ratios):.1f}, {len(ratios)} sets"
            )
        n_smaller = sum(is_smaller for _, _, is_smaller in lines)
        print(f"{title}: not more memory than pystreed on {n_smaller}", end="")
        print(f" of {len(lines)} sets")


def main():
    """Parse the command line; run all sets, or one as a worker."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[4])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--task", choices=[*PEERS, *OURS_ALONE], default="error")
    parser.add_argument("--cost", type=float, nargs="+", default=[0.0])
    parser.add_argument("--limit", type=float, default=100.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", nargs="+")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help="print why a solver failed")
    options = parser.parse_args()
    if options.worker:
        arguments = (options.sets[0], options.task, options.depth[0], options.cost[0])
        print(json.dumps(work(options.worker, *arguments, options.limit, options.jobs)))
        return
    names = options.sets or names_of(options.task)
    compare = dict(zip(OURS_ALONE, (compare_instructions, compare_threads, prove), strict=True))
    for depth in options.depth:
        for cost in options.cost:
            title = f"depth {depth}, {options.task}" + (f" {cost:g}" if cost else "")
            print(title)
            settings = argparse.Namespace(**(vars(options) | {"depth": depth, "cost": cost}))
            one_line = compare.get(options.task, compare_with_peers)
            lines = [line for name in names if (line := one_line(name, settings))]
            summarise(title, options, lines)


if __name__ == "__main__":
    main()
