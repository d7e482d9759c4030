"""One optimal fit on the workers of a dask cluster: what it costs, and what more workers would do.

    python benchmarks/workers.py
    python benchmarks/workers.py --rows 20000 --columns 200 --depth 4 --workers 2

Processor seconds of one process, and of this process and the workers together, for a table of 0
and 1, for one of numbers, and for a set of trees. Then each column of the root is searched alone,
as a task would. The distribution of these times says how long the last of 10 or 100 workers would
be at work: tasks go to whoever is free, in the order of the search.
"""

import argparse
import heapq
import time

import joblib
import numpy as np

from sktree_opt import OptimalTreeClassifier, TreeSetClassifier
from sktree_opt.optimal.estimators._base import class_problem
from sktree_opt.optimal.run._best_trees import make_search
from sktree_opt.optimal.run._bits_solver import make_engine
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.utils._control import SearchControl

QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)


def bits(n_rows, n_columns):
    """A table of 0 and 1 with a planted tree and noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns)).astype(np.uint8)
    return X, (X[:, 0] ^ X[:, 1] ^ (X[:, 2] & X[:, 3])) ^ (rng.random(n_rows) < 0.1)


def numbers(n_rows, n_columns):
    """A table of numbers, likewise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    hidden = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (X[:, 2] + X[:, 3] > 0)
    return X, hidden ^ (rng.random(n_rows) < 0.1)


def compare(name, model, table, client):
    """Print the processor seconds of one process and of the workers."""
    start = time.process_time()
    here = model.fit(*table).objective_
    n_here = getattr(model, "n_trees_", 1)
    alone = time.process_time() - start
    before = sum(client.run(time.process_time).values())
    start, clock = time.process_time(), time.perf_counter()
    with joblib.parallel_config("dask"):
        there = model.fit(*table).objective_
    own = time.process_time() - start
    workers = sum(client.run(time.process_time).values()) - before
    clock = time.perf_counter() - clock
    assert getattr(model, "n_trees_", 1) == n_here
    print(
        f"{name}: one process {alone:.2f} s; here {own:.2f} s, workers {workers:.2f} s of "
        f"processors, {clock:.2f} s by the clock; objectives {here:g} and {there:g}",
        flush=True,
    )


def times_of_columns(model, X, y):
    """Processor seconds of each column of the root in the last level, with the best tree known."""
    problem = class_problem(model, X, y, None)
    limits = problem.limits
    tests = BinaryTests.from_binary_matrix(problem.data.matrix, np.full(X.shape[1], -1))
    whole = make_engine(problem, tests, SearchControl())
    whole.begin(limits.max_depth, limits.max_splits)
    for depth in range(3, limits.max_depth):
        whole.deepen(depth)
    whole.search_discrepancies(1)
    whole.deepen(limits.max_depth, seconds=0.0)
    engine = make_engine(problem, tests, SearchControl())
    engine.begin(limits.max_depth, limits.max_splits)
    engine.offer(whole.known_tree(), whole.cost)
    times = []
    for column in whole.root_columns:
        start = time.process_time()
        engine.open_part(limits.max_depth, [column])
        engine.deepen(limits.max_depth)
        times.append(time.process_time() - start)
    return np.array(times)


def times_of_parts(model, X, y):
    """The same for the set: each column of the root, its least cost and its graph."""
    problem = class_problem(model, X, y, None)
    limits = problem.limits
    tests = BinaryTests.from_binary_matrix(problem.data.matrix, np.full(X.shape[1], -1))
    search = make_search(problem, tests, model._wanted(), SearchControl())
    bound = model.fit(X, y).objective_ * (1.0 + model.epsilon) / search.grid
    times = []
    for column in search.root_columns:
        start = time.process_time()
        search.least_cost_of(column, limits.max_depth, limits.max_splits, bound)
        search.build_part(limits.max_depth, limits.max_splits, bound, [column])
        times.append(time.process_time() - start)
    return np.array(times)


def makespan(times, n_workers):
    """When the last task ends, if each goes to the first free worker."""
    free = [0.0] * n_workers
    for seconds in times:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def main():
    """Measure and print."""
    import distributed

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    model = OptimalTreeClassifier(max_depth=options.depth, time_limit=None)
    X, y = bits(options.rows, options.columns)
    with (
        distributed.LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        with joblib.parallel_config("dask"):
            # Workers read the package once.
            model.fit(X[:200], y[:200])
        compare("0/1 columns", model, (X, y), client)
        few = max(500, options.rows // 4), max(4, options.columns // 14)
        compare("numbers", model, numbers(*few), client)
        trees = TreeSetClassifier(max_depth=options.depth, epsilon=0.05, time_limit=None)
        compare("a set of trees", trees, (X, y), client)
    for name, times in (
        ("one tree", times_of_columns(model, X, y)),
        ("a set of trees", times_of_parts(trees, X, y)),
    ):
        cells = ", ".join(f"{np.quantile(times, q):.3f}" for q in QUANTILES)
        print(f"{name}: {len(times)} root columns, seconds at quantiles {QUANTILES}: {cells}")
        for n_workers in (1, 2, 10, 100):
            last = makespan(times, n_workers)
            print(f"{n_workers:5d} workers: {last:8.3f} s, {times.sum() / last:.1f} times faster")


if __name__ == "__main__":
    main()
