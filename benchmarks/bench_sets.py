"""Sets of nearly optimal trees beside TreeFARMS and PRAXIS: CPU seconds on one thread.

    python benchmarks/bench_sets.py --task best --depth 4 5
    python benchmarks/bench_sets.py --task treefarms --depth 3 4
    python benchmarks/bench_sets.py --task praxis --depth 4 5

`best` finds the 1,000, 10,000 and 100,000 best trees of sets of ``$SKTREE_OPT_DATA/binary`` at a
cost of 0.005 per leaf, and the best tree alone. Beside them it prints the times of SORTeD, which is
not on PyPI: they were measured once on the machine of the other figures.

`treefarms` and `praxis` find all trees within a share of the best objective. Trees are different by
their tests (``distinct_by="tests"``), and get the distinct columns only. PRAXIS rounds the cost
of a leaf to a whole number of rows, so everyone is given such a cost. It is exact if it looks ahead
to the last level but one. A peer that is not installed is skipped. Each fit has its own process.
"""

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from bench_optimal import distinct_columns, load

SETS = ("anneal", "hypothyroid", "kr-vs-kp", "yeast", "vote", "compas")
NUMBERS = (1000, 10000, 100000)
COST = 0.005

# CPU seconds of SORTeD for 1,000, 10,000 and 100,000 trees (compiled from a public copy; root-leaf
# bound, cost 0.005 per leaf, one thread).
SORTED = {
    ("anneal", 4): (0.25, 0.56, 1.5),
    ("hypothyroid", 4): (0.67, 0.90, 1.1),
    ("kr-vs-kp", 4): (0.75, 0.79, 1.1),
    ("yeast", 4): (0.50, 0.66, 0.84),
    ("vote", 4): (0.58, 1.2, 2.6),
    ("compas", 4): (0.06, 0.07, 0.10),
    ("anneal", 5): (5.0, 5.2, 6.0),
    ("hypothyroid", 5): (14.9, None, None),
    ("kr-vs-kp", 5): (6.5, 8.6, 12.6),
    ("yeast", 5): (10.1, 11.4, 13.4),
    ("vote", 5): (6.6, 9.2, 12.7),
    ("compas", 5): (0.23, 0.28, 0.35),
}


def table_of(name):
    """Distinct columns and class codes."""
    X, y = load(name)
    return distinct_columns(X), np.unique(y, return_inverse=True)[1]


def ours(X, y, depth, **settings):
    """Our set; seconds, number of trees and what is left of the search."""
    from sktree_opt import TreeSetClassifier

    model = TreeSetClassifier(max_depth=depth, time_limit=None, **settings)
    begin = time.process_time()
    model.fit(X, y)
    return time.process_time() - begin, model


def run_best(name, depth, number, cost):
    """The k best trees, or the best one alone for k = 1."""
    X, y = table_of(name)
    if number == 1:
        from sktree_opt import OptimalTreeClassifier

        model = OptimalTreeClassifier(max_depth=depth, complexity_cost=cost)
        begin = time.process_time()
        model.fit(X, y)
        return {"seconds": time.process_time() - begin, "n_trees": 1}
    seconds, model = ours(X, y, depth, n_trees=number, complexity_cost=cost)
    begin = time.process_time()
    _ = [tree for tree, _ in zip(model.trees_, range(100), strict=False)]
    reading = time.process_time() - begin
    return {"seconds": seconds, "n_trees": model.n_trees_, "reading": reading}


def rows_per_leaf(n_rows, cost):
    """A cost of a leaf as a whole number of rows."""
    return max(1, round(cost * n_rows))


def run_ours_within(name, depth, epsilon, cost):
    """All trees within a share of the best objective, the cost of leaves included."""
    X, y = table_of(name)
    of_leaf = rows_per_leaf(len(y), cost)
    settings = {"complexity_cost": of_leaf / len(y), "distinct_by": "tests"}
    _, best = ours(X, y, depth, n_trees=1, **settings)
    # Our objective counts splits, of which there is one fewer than leaves.
    largest = int(np.floor((best.objective_ + of_leaf) * (1 + epsilon) + 1e-9))
    more = largest - of_leaf - best.objective_
    seconds, model = ours(X, y, depth, epsilon=more, epsilon_kind="absolute", **settings)
    return {"seconds": seconds, "n_trees": model.n_trees_, "largest": largest}


def run_praxis(name, depth, epsilon, cost, largest):
    """PRAXIS with look-ahead to the last level but one, with the same bound."""
    from praxis import PRAXIS

    X, y = table_of(name)
    model = PRAXIS()
    begin = time.process_time()
    model.fit(
        X,
        y,
        lambda_reg=rows_per_leaf(len(y), cost) / len(y),
        depth_budget=depth,
        rashomon_mult=epsilon,
        lookahead_k=depth - 1,
        majority_leaf_only=True,
        root_budget=largest,
    )
    n_trees = model.count_trees()
    return {"seconds": time.process_time() - begin, "n_trees": int(n_trees)}


def run_treefarms(name, depth, epsilon, cost):
    """TreeFARMS, whose depth counts levels of nodes."""
    import pandas as pd
    from treefarms.model.treefarms import TREEFARMS

    X, y = table_of(name)
    settings = {
        "regularization": rows_per_leaf(len(y), cost) / len(y),
        "rashomon_bound_multiplier": epsilon,
        "depth_budget": depth + 1,
        "verbose": False,
    }
    columns = [f"c{j}" for j in range(X.shape[1])]
    table, target = pd.DataFrame(X, columns=columns), pd.Series(y, name="class")
    model = TREEFARMS(settings)
    begin = time.process_time()
    model.fit(table, target)
    return {"seconds": time.process_time() - begin, "n_trees": int(model.get_tree_count())}


JOBS = {
    "best": run_best,
    "ours": run_ours_within,
    "praxis": run_praxis,
    "treefarms": run_treefarms,
}


def in_process(job, limit, *arguments):
    """The answer of a job in a process of its own, with peak memory; None after `limit` seconds."""
    command = [sys.executable, __file__, "--job", json.dumps([job, *arguments])]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=True, encoding="utf-8"
        )
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        print(error.stderr[-500:], file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measured(job, limit, *arguments, repeats=1):
    """The fastest of some processes."""
    found = [in_process(job, limit, *arguments) for _ in range(repeats)]
    return min((one for one in found if one), key=lambda one: one["seconds"], default=None)


def shown(found):
    """Seconds, megabytes and trees of an answer."""
    if found is None:
        return "not in time"
    return f"{found['seconds']:8.3f} s {found['megabytes']:6.0f} MB {found['n_trees']:>16,d}"


def compare_best(sets, depths, limit, repeats):
    """The table of the k best trees."""
    ratios = {}
    for depth in depths:
        for name in sets:
            plain = measured("best", limit, name, depth, 1, COST, repeats=3)
            print(f"{name} {depth}: the best tree alone {shown(plain)}")
            times = SORTED.get((name, depth), (None,) * 3)
            for number, then in zip(NUMBERS, times, strict=True):
                found = measured("best", limit, name, depth, number, COST, repeats=repeats)
                line = f"  {number:>7,d} trees {shown(found)}"
                if found and then:
                    ratio = then / found["seconds"]
                    ratios.setdefault((depth, number), []).append(ratio)
                    line += f"   SORTeD then {then:6.2f} s: {ratio:6.1f}x"
                print(line, flush=True)
    for (depth, number), values in ratios.items():
        mean = float(np.exp(np.mean(np.log(values))))
        print(f"depth {depth}, {number:,d} trees: {mean:.1f}x, least {min(values):.1f}x")


def compare_peer(peer, sets, depths, epsilon, cost, limit, repeats):
    """The table of all trees within a share of the best objective."""
    module = {"praxis": "praxis", "treefarms": "treefarms"}[peer]
    if importlib.util.find_spec(module) is None:
        print(f"{peer} is not installed: skipped.")
        return
    ratios = []
    for depth in depths:
        for name in sets:
            mine = measured("ours", limit, name, depth, epsilon, cost, repeats=repeats)
            more = [mine["largest"]] if peer == "praxis" and mine else []
            other = measured(peer, limit, name, depth, epsilon, cost, *more, repeats=repeats)
            print(f"{name} {depth}: ours {shown(mine)}   {peer} {shown(other)}", end="")
            if mine and other:
                ratios.append(other["seconds"] / mine["seconds"])
                same = "equal" if mine["n_trees"] == other["n_trees"] else "OTHER COUNT"
                print(f"   {ratios[-1]:6.1f}x {same}", end="")
            print(flush=True)
    if ratios:
        mean = float(np.exp(np.mean(np.log(ratios))))
        print(f"{peer}: geometric mean {mean:.1f}x, least {min(ratios):.1f}x")


def main():
    """Run a task, or a job of one in this process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=("best", "praxis", "treefarms"), default="best")
    parser.add_argument("--depth", type=int, nargs="+", default=[4])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--cost", type=float, default=0.01)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, *arguments = json.loads(options.job)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = JOBS[job](*arguments)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({**found, "megabytes": (peak - before) / 1024}))
        return
    if options.task == "best":
        compare_best(options.sets, options.depth, options.limit, options.repeats)
    else:
        numbers = options.epsilon, options.cost, options.limit, options.repeats
        compare_peer(options.task, options.sets, options.depth, *numbers)


if __name__ == "__main__":
    main()
