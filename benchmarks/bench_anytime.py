"""How good the tree is after 1, 10 and 60 seconds, beside other searches that may be stopped.

Continuous sets: ``OptimalTreeClassifier`` beside pytrees-rs (ConTree by limited discrepancy, the
setting that its authors rank first) and pycontree, in one run, one after the other, one thread
each. The gap of a tree is (errors - least errors) / errors, where the least is that of any search
in the run. Its mean over the time limit is the average primal gap. pycontree does not tell when it
found a tree, so that it is fitted anew for each time.

Binary tables (``--binary``): the first trees beside LicketySPLIT, by objective (share of errors and
a cost for each leaf) and processor seconds.

    python benchmarks/bench_anytime.py --depths 4,5,6             # an hour or more
    python benchmarks/bench_anytime.py --quick                    # minutes
    python benchmarks/bench_anytime.py --binary
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn import datasets

DATA = Path(os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
OURS, PYTREES, CONTREE = "sktree_opt", "pytrees-rs", "pycontree"
CONTINUOUS = ("bank", "fault", "page", "raisin", "rice", "room", "segment", "wilt")
UCI = ("letter", "spambase", "ionosphere", "madelon")
BUNDLED = {"digits": datasets.load_digits, "breast_cancer": datasets.load_breast_cancer}
QUICK = ("fault", "raisin", "room", "segment")
LEAF_COST = 0.001


def load(name):
    """Features and class codes of a set."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    if name in CONTINUOUS:
        table = np.loadtxt(DATA / "continuous" / f"{name}.txt.gz")
        return table[:, 1:].copy(), np.unique(table[:, 0], return_inverse=True)[1]
    sys.path.insert(0, str(Path(__file__).parent))
    import uci

    X, y = uci.load(name)
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64)), y


def fit_ours(X, y, depth, limit, _):
    """Seconds and errors of each incumbent, and the errors of the answer."""
    from sktree_opt import OptimalTreeClassifier

    model = OptimalTreeClassifier(max_depth=depth, time_limit=limit).fit(X, y)
    return [(seconds, errors) for seconds, errors, _ in model.incumbents_], model


def fit_pytrees(X, y, depth, limit, _):
    """The same of limited discrepancy search over all thresholds."""
    from pytrees import ConTreeClassifier

    found = []
    model = ConTreeClassifier(
        max_depth=depth, max_time=limit, split_selection="first", sort_by_heuristic=True
    )
    model.fit_anytime(X, y, lambda errors, seconds, _: found.append((seconds, errors)))
    return found, model


def fit_contree(X, y, depth, limit, times):
    """The same of one fit for each time."""
    from pycontree import ConTree

    found = []
    for seconds in (*(one for one in times if one < limit), limit):
        model = ConTree(max_depth=depth, time_limit=seconds)
        start = time.perf_counter()
        model.fit(X, y)
        taken = time.perf_counter() - start
        found.append((min(taken, seconds), int(np.count_nonzero(model.predict(X) != y))))
        if taken < 0.9 * seconds:
            break
    return found, model


SOLVERS = {OURS: fit_ours, PYTREES: fit_pytrees, CONTREE: fit_contree}


def run_one(solver, name, depth, limit, times):
    """Fit in this process, and print the incumbents."""
    warnings.simplefilter("ignore")
    X, y = load(name)
    few = np.random.default_rng(0).random((60, 2))
    SOLVERS[solver](few, (few[:, 0] > 0.5).astype(int), 2, 1.0, ())
    found, model = SOLVERS[solver](X, y, depth, limit, times)
    errors = int(np.count_nonzero(model.predict(X) != y))
    # The answer's errors count, whatever a search says of itself.
    found = [(seconds, max(cost, errors)) for seconds, cost in found if seconds <= limit]
    print(json.dumps([*found, (limit, errors)]))


def run(solver, name, depth, limit, times):
    """Incumbents of a solver in a process of its own; none when it fails or hangs."""
    command = [sys.executable, __file__, "--one", solver, "--sets", name]
    command += ["--depths", str(depth), "--limit", str(limit), "--times", ",".join(map(str, times))]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    longest = 60 + 2 * (limit + sum(times))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=longest, env=environment, check=True
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(f"  {solver} on {name}: {error}", file=sys.stderr)
        return []
    return json.loads(done.stdout.splitlines()[-1])


def errors_at(found, seconds):
    """Errors of the best tree after so many seconds; infinity before the first."""
    return min((errors for at, errors in found if at <= seconds), default=np.inf)


def gap(errors, least):
    """Primal gap between 0 and 1."""
    return 0.0 if errors == least else 1.0 - least / errors


def average_gap(found, least, limit):
    """Mean gap from 0 to the limit."""
    edges = sorted({0.0, limit, *(at for at, _ in found if at < limit)})
    parts = [(end - start) * gap(errors_at(found, start), least) for start, end in pairwise(edges)]
    return sum(parts) / limit


def compare(sets, depth, limit, times):
    """Print errors by time for each set, and what the searches are worth."""
    gaps, behind = {solver: [] for solver in SOLVERS}, dict.fromkeys(times, 0)
    print(f"depth {depth}: errors after {', '.join(f'{one:g}' for one in times)} s")
    print(f"{'set':14s}" + "".join(f"{solver:>24s}" for solver in SOLVERS), flush=True)
    for name in sets:
        found = {solver: run(solver, name, depth, limit, times) for solver in SOLVERS}
        least = min(errors_at(one, limit) for one in found.values())
        line = f"{name:14s}"
        for solver, one in found.items():
            gaps[solver].append(average_gap(one, least, limit))
            line += f"{'/'.join(f'{errors_at(one, at):g}' for at in times):>24s}"
        for at in times:
            peers = min(errors_at(found[solver], at) for solver in SOLVERS if solver != OURS)
            behind[at] += errors_at(found[OURS], at) > peers
        print(line, flush=True)
    means = "  ".join(f"{solver} {100.0 * np.mean(one):.1f} %" for solver, one in gaps.items())
    print(f"average primal gap over {limit:g} s: {means}")
    counts = ", ".join(f"{n} after {at:g} s" for at, n in behind.items())
    print(f"sets on which a peer is ahead of {OURS}: {counts} (of {len(sets)})\n", flush=True)


def binary_tables():
    """Adult and a large table of random bits, as 0/1 columns."""
    sys.path.insert(0, str(Path(__file__).parent))
    import uci

    X, y = uci.load("adult")
    columns = []
    for name in X:
        column = X[name]
        if column.dtype == "category":
            columns += [(column == value).to_numpy() for value in column.cat.categories]
        else:
            cuts = np.unique(np.quantile(column.dropna(), np.arange(1, 9) / 9))
            columns += [(column <= cut).to_numpy() for cut in cuts]
    yield "adult", np.column_stack(columns).astype(np.uint8), y
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (500_000, 50)).astype(np.uint8)
    answer = (bits[:, 0] & bits[:, 1]) ^ (bits[:, 2] & (bits[:, 3] | bits[:, 4]))
    yield "500,000 x 50 bits", bits, np.where(rng.random(len(bits)) < 0.17, 1 - answer, answer)


def compare_binary(depths):
    """Print objective and seconds beside LicketySPLIT."""
    from licketysplit import LicketySPLITClassifier

    from sktree_opt import OptimalTreeClassifier

    for name, X, y in binary_tables():
        for depth in depths:
            shared = {"max_depth": depth, "complexity_cost": LEAF_COST}
            models = {
                "LicketySPLIT": LicketySPLITClassifier(lambda_leaf=LEAF_COST, depth_budget=depth),
                "ours, look-ahead": OptimalTreeClassifier(**shared, search="lookahead"),
                "ours, 5 s": OptimalTreeClassifier(**shared, time_limit=5.0),
            }
            for label, model in models.items():
                start = time.process_time()
                model.fit(X, y)
                seconds = time.process_time() - start
                share, leaves = np.mean(model.predict(X) != y), ""
                if label != "LicketySPLIT":
                    leaves = f" objective {model.objective_ / len(y) + LEAF_COST:.5f}"
                print(f"{name} depth {depth} {label}: errors {share:.5f}{leaves}, {seconds:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join((*CONTINUOUS, *UCI, *BUNDLED)))
    parser.add_argument("--depths", default="5")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one fit")
    parser.add_argument("--times", default="1,10,60")
    parser.add_argument("--quick", action="store_true", help="few sets, 10 seconds")
    parser.add_argument("--binary", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    depths = [int(one) for one in arguments.depths.split(",")]
    times = [float(one) for one in arguments.times.split(",")]
    limit, sets = arguments.limit, arguments.sets.split(",")
    warnings.simplefilter("ignore")
    if arguments.quick:
        limit, sets = min(limit, 10.0), [one for one in sets if one in QUICK]
    times = [one for one in times if one <= limit]
    if arguments.one:
        run_one(arguments.one, sets[0], depths[0], limit, times)
    elif arguments.binary:
        compare_binary(depths)
    else:
        for depth in depths:
            compare(sets, depth, limit, times)


if __name__ == "__main__":
    main()
