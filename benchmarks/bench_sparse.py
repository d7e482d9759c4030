"""Sparse trees without a depth limit beside other packages, in one run.

All minimise the share of wrong rows plus a penalty for each leaf, over trees of any depth
(pystreed: up to 20 levels). The objective of each answer is computed anew, from its predictions and
leaves. A line ends in DIFFERENT if two answers are proved and disagree.

    python benchmarks/bench_sparse.py --peer-python imodels=/path/with/imodels/bin/python
    python benchmarks/bench_sparse.py --group binary     # beside pystreed and gosdt
    python benchmarks/bench_sparse.py --group branches   # open problems of Branches (ICML 2025)

Seconds are CPU seconds of ``fit`` with one thread, the least of a few repeats where it is short. A
peer that is not installed here runs in another Python; without peers only our fits run. A process
that takes too much memory, or three times the limit, has no answer. Tables come from the folders
``sparse`` and ``binary`` of SKTREE_OPT_DATA.
"""

import argparse
import json
import math
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

DATA = Path(os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
# Shorter problems are where fixed costs decide.
LONG = 0.05

# Peers, and (folder, penalties) of a group. The open problems have the penalties of Branches'
# table; its best objectives after 5 minutes were .816, .901, .829 and .766 in accuracy less penalty
# times tests. "balance" is generated: all 625 balances. Its nursery is not among our tables.
GROUPS = {
    "sparse": (("imodels",), "sparse", (0.1, 0.05, 0.02, 0.01, 0.005)),
    "binary": (("pystreed", "gosdt"), "binary", (0.01, 0.005)),
    "branches": ((), "binary", None),
}
BRANCHES = {"tic-tac-toe": 0.005, "kr-vs-kp": 0.01, "lymph": 0.01, "balance": 0.005}

# Reads "[path, penalty, limit]" a line; writes what a fit took and found.
WORKER = """
import json, resource, sys, time, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
{imports}
def table_of(path):
    if path == "balance":
        X = np.stack(np.meshgrid(*[np.arange(1, 6)] * 4), axis=-1).reshape(-1, 4)
        y = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3])
        X = (X[:, :, None] == np.arange(1, 6)).reshape(len(X), -1).astype(int)
        return X, np.unique(y, return_inverse=True)[1]
    if path.endswith(".txt.gz"):
        table = np.loadtxt(path, dtype=int)
        X, y = table[:, 1:], table[:, 0]
        # One of equal, opposite and constant columns.
        X = np.unique(np.where(X[:1] == 1, 1 - X, X), axis=1)
        return X[:, X.any(axis=0)], y
    table = pd.read_csv(path)
    return table.iloc[:, :-1], np.unique(table.iloc[:, -1], return_inverse=True)[1]
def fitted(X, y, penalty, limit):
    model = {make}
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start
few = np.random.default_rng(0).integers(0, 2, (40, 3))
fitted({table}(few), few[:, 0], 0.1, 10.0)
for line in sys.stdin:
    path, penalty, limit = json.loads(line)
    X, y = table_of(path)
    X = {table}(X)
    best, clock, spent = np.inf, np.inf, 0.0
    for _ in range(10):
        model, seconds = fitted(X, y, penalty, limit)
        best, spent = min(best, seconds), spent + seconds
        clock = min(clock, {clock} or np.inf)
        if spent > 0.3:
            break
    errors = float((np.asarray({predict}) != y).mean())
    answer = {{"seconds": best, "proved": bool({proved}), "objective": errors + penalty * {leaves}}}
    answer["bound"] = {bound}
    answer["clock"] = clock if clock < np.inf else None
    print("answer " + json.dumps(answer), flush=True)
"""
PLAIN = {"table": "", "predict": "model.predict(X)", "bound": "None", "clock": "None"}
GOSDT = """
from gosdt import GOSDTClassifier, Status
def count(node):
    return count(node.left_child) + count(node.right_child) if hasattr(node, "left_child") else 1
def frame(X):
    X = np.asarray(X)
    return pd.DataFrame(X.astype(bool), columns=[f"x{j}" for j in range(X.shape[1])])
"""
SOLVERS = {
    "ours": PLAIN
    | {
        "imports": "from sktree_opt import OptimalTreeClassifier",
        "make": "OptimalTreeClassifier(max_depth=None, complexity_cost=penalty, time_limit=limit)",
        "proved": "model.status_ == 'optimal'",
        "leaves": "model.get_n_leaves()",
        "bound": "model.lower_bound_ / len(y) + penalty",
    },
    "imodels": PLAIN
    | {
        "imports": "from imodels import FastSmallTreeClassifier",
        "make": "FastSmallTreeClassifier(regularization=penalty, time_limit=limit)",
        "proved": "model.optimal_",
        "leaves": "model.estimator_.get_n_leaves()",
        "clock": "model.time_",
    },
    "pystreed": PLAIN
    | {
        "imports": "from pystreed import STreeDClassifier",
        "make": "STreeDClassifier('cost-complex-accuracy', max_depth=20, cost_complexity=penalty, "
        "time_limit=limit)",
        "proved": "model.fit_result.is_optimal()",
        "leaves": "model.get_n_leaves()",
    },
    "gosdt": {
        "imports": GOSDT,
        "table": "frame",
        "make": "GOSDTClassifier(regularization=penalty, allow_small_reg=True, "
        "time_limit=int(limit))",
        # Its own predict asks scikit-learn for a parameter that is gone.
        "predict": "model.trees_[0].predict(X.to_numpy())",
        "proved": "model.result_.status == Status.CONVERGED",
        "leaves": "count(model.trees_[0].tree)",
        "bound": "None",
        "clock": "None",
    },
}


class Worker:
    """A process that fits one problem after another."""

    def __init__(self, python, program):
        self.command = [python, "-c", program]
        self.process, self.patience = None, 120.0

    def fit(self, path, penalty, limit):
        """Fit a problem; None if the process ends or takes too long."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.lines = queue.Queue()
            threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        try:
            print(json.dumps([path, penalty, limit]), file=self.process.stdin, flush=True)
            # The first fit brings in a peer, and may compile it.
            answer = self.lines.get(timeout=3.0 * limit + self.patience)
            self.patience = 10.0
        except (BrokenPipeError, queue.Empty):
            answer = None
        if answer is None:
            self.process.kill()
            self.process = None
        return answer

    def _read(self, process):
        for line in process.stdout:
            if line.startswith("answer "):
                self.lines.put(json.loads(line.removeprefix("answer ")))
        self.lines.put(None)


def mean_ratio(pairs):
    """Geometric mean of peer's seconds over ours."""
    return math.exp(sum(math.log(peer / ours) for ours, peer in pairs) / len(pairs))


def problems_of(options):
    """(name, path, penalty) of each problem."""
    _, folder, penalties = GROUPS[options.group]
    paths = {path.name.split(".")[0]: str(path) for path in (DATA / folder).glob("*.gz")}
    if not paths:
        sys.exit(f"{DATA / folder}: no tables; SKTREE_OPT_DATA names the folder of data")
    if options.group == "branches":
        paths = {name: paths.get(name, name) for name in BRANCHES}
    for name in sorted(paths):
        if options.sets is None or name in options.sets:
            own = (BRANCHES[name],) if penalties is None else penalties
            for penalty in options.penalties or own:
                yield name, paths[name], penalty


def cell(one):
    """Seconds, with a star and the gap where the answer is not proved."""
    if one is None:
        return f"{'no answer':>12s}"
    gap = ""
    if not one["proved"] and one["bound"] is not None:
        gap = f" gap {1.0 - one['bound'] / one['objective']:.0%}"
    return f"{one['seconds']:11.4f}{' ' if one['proved'] else '*'}{gap}"


def summary(peer, answers):
    """Print how a peer compares on the problems that both prove."""
    both = [
        (one["ours"], one[peer])
        for one in answers
        if one[peer] is not None and one["ours"]["proved"] and one[peer]["proved"]
    ]
    pairs = [(ours["seconds"], other["seconds"]) for ours, other in both]
    hard = [pair for pair in pairs if max(pair) > LONG]
    if pairs:
        print(f"{peer} / ours, {len(pairs)} problems that both prove: {mean_ratio(pairs):.1f}x")
    clocks = [(ours["seconds"], other["clock"]) for ours, other in both if other["clock"]]
    if clocks:
        print(f"its own clock of the search alone / our whole fit: {mean_ratio(clocks):.1f}x")
    if hard:
        print(f"of these {len(hard)} above {LONG} s: {mean_ratio(hard):.1f}x")


def main():
    """Fit all problems with all solvers, and print a line for each and a summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--group", choices=GROUPS, default="sparse")
    parser.add_argument("--peers", nargs="*", choices=[name for name in SOLVERS if name != "ours"])
    parser.add_argument(
        "--peer-python", nargs="+", default=[], metavar="PEER=PYTHON", help="where a peer is"
    )
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of a fit")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--penalties", nargs="+", type=float)
    options = parser.parse_args()
    pythons = dict(one.split("=", 1) for one in options.peer_python)
    peers = GROUPS[options.group][0] if options.peers is None else options.peers
    workers = {
        name: Worker(pythons.get(name, sys.executable), WORKER.format(**SOLVERS[name]))
        for name in ("ours", *peers)
    }
    print(f"{'set':20s}{'penalty':>8s}{'objective':>11s}" + "".join(f"{w:>12s}" for w in workers))
    answers = []
    for name, path, penalty in problems_of(options):
        found = {who: one.fit(path, penalty, options.limit) for who, one in workers.items()}
        answers.append(found)
        line = f"{name:20s}{penalty:8g}{found['ours']['objective']:11.5f}"
        line += "".join(map(cell, found.values()))
        proved = [one["objective"] for one in found.values() if one is not None and one["proved"]]
        if proved and max(proved) - min(proved) > 1e-9:
            line += "  DIFFERENT: " + " ".join(f"{objective:.5f}" for objective in proved)
        print(line, flush=True)
    for who in workers:
        n_proved = sum(one[who] is not None and one[who]["proved"] for one in answers)
        print(f"proved of {len(answers)}: {n_proved} {who}   (* not proved)")
    for peer in peers:
        summary(peer, answers)


if __name__ == "__main__":
    main()
