"""Sparse trees without a depth limit beside imodels' FastSmallTreeClassifier, in one run.

Both minimise the share of wrong rows plus a penalty for each leaf, over trees of any depth. The
objective of both answers is computed anew, from their predictions and leaves. A line ends in
DIFFERENT if both are proved and disagree.

Seconds are CPU seconds of ``fit`` with one thread, the least of a few repeats where it is short.
The peer runs in another Python, which has it installed:

    python benchmarks/bench_sparse.py --peer-python /path/with/imodels/bin/python

Without ``--peer-python`` only our fits run. Tables come from the folder ``sparse`` of
SKTREE_OPT_DATA.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

DATA = Path(os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
PENALTIES = (0.1, 0.05, 0.02, 0.01, 0.005)
# Shorter problems are where fixed costs decide.
LONG = 0.05

# Reads "[path, penalty, limit]" a line; writes what a fit took and found. MAKE makes the model,
# PROVED says whether it is proved, LEAVES counts its leaves.
WORKER = """
import json, sys, time, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
{imports}
def fitted(X, y, penalty, limit):
    model = {make}
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start
few = np.random.default_rng(0).integers(0, 2, (40, 3))
fitted(few, few[:, 0], 0.1, 10.0)
for line in sys.stdin:
    path, penalty, limit = json.loads(line)
    table = pd.read_csv(path)
    X, y = table.iloc[:, :-1], np.unique(table.iloc[:, -1], return_inverse=True)[1]
    best, spent = np.inf, 0.0
    for _ in range(10):
        model, seconds = fitted(X, y, penalty, limit)
        best, spent = min(best, seconds), spent + seconds
        if spent > 0.3:
            break
    errors = float((np.asarray(model.predict(X)) != y).mean())
    answer = {{"seconds": best, "proved": bool({proved}), "objective": errors + penalty * {leaves}}}
    print("answer " + json.dumps(answer), flush=True)
"""
OURS = WORKER.format(
    imports="from sktree_opt import OptimalTreeClassifier",
    make="OptimalTreeClassifier(max_depth=None, complexity_cost=penalty, time_limit=limit)",
    proved="model.status_ == 'optimal'",
    leaves="model.get_n_leaves()",
)
PEER = WORKER.format(
    imports="from imodels import FastSmallTreeClassifier",
    make="FastSmallTreeClassifier(regularization=penalty, time_limit=limit)",
    proved="model.optimal_",
    leaves="model.estimator_.get_n_leaves()",
)


class Worker:
    """A process that fits one problem after another."""

    def __init__(self, python, program):
        self.process = subprocess.Popen(
            [python, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def fit(self, *problem):
        """Fit a problem; returns the seconds, the objective, and whether it is proved."""
        print(json.dumps(problem), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise RuntimeError(f"the process that fits has ended: {problem}")


def mean_ratio(pairs):
    """Geometric mean of peer's seconds over ours."""
    return math.exp(sum(math.log(peer / ours) for ours, peer in pairs) / len(pairs))


def main():
    """Fit all problems with both, and print a line for each and a summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", help="a Python that has imodels")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of a fit")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--penalties", nargs="+", type=float, default=PENALTIES)
    options = parser.parse_args()
    paths = sorted((DATA / "sparse").glob("*.csv.gz"))
    if not paths:
        sys.exit(f"{DATA / 'sparse'}: no tables; SKTREE_OPT_DATA names the folder of data")
    workers = {"ours": Worker(sys.executable, OURS)}
    if options.peer_python:
        workers["peer"] = Worker(options.peer_python, PEER)
    n_problems, n_proved, pairs = 0, dict.fromkeys(workers, 0), []
    print(f"{'set':16s}{'penalty':>8s}{'objective':>11s}" + "".join(f"{w:>12s}" for w in workers))
    for path in paths:
        name = path.name.removesuffix(".csv.gz")
        if options.sets and name not in options.sets:
            continue
        for penalty in options.penalties:
            found = {w: one.fit(str(path), penalty, options.limit) for w, one in workers.items()}
            n_problems += 1
            for worker, one in found.items():
                n_proved[worker] += one["proved"]
            line = f"{name:16s}{penalty:8g}{found['ours']['objective']:11.5f}"
            line += "".join(
                f"{one['seconds']:11.4f}{' ' if one['proved'] else '*'}" for one in found.values()
            )
            if len(found) == 2 and all(one["proved"] for one in found.values()):
                pairs.append([one["seconds"] for one in found.values()])
                objectives = [one["objective"] for one in found.values()]
                if not math.isclose(*objectives, abs_tol=1e-9):
                    line += f"  DIFFERENT: {objectives[1]:.5f}"
            print(line, flush=True)
    proved = ", ".join(f"{count} {worker}" for worker, count in n_proved.items())
    print(f"proved of {n_problems}: {proved}   (* not proved)")
    if pairs:
        print(f"peer / ours, {len(pairs)} problems that both prove: {mean_ratio(pairs):.1f}x")
    hard = [pair for pair in pairs if max(pair) > LONG]
    if hard:
        print(f"of these {len(hard)} above {LONG} s: {mean_ratio(hard):.1f}x")


if __name__ == "__main__":
    main()
