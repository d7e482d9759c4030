"""Exact trees of depth three on the tables that users have: numbers, categories and holes.

Two tables of 50 columns, whose labels come from a planted tree and are then turned at random:

nominal
    Every column has 8 categories.
mixed
    8 columns have 8 categories, the others are numbers that hardly ever repeat.

Prints the incumbent at a few moments, what was proved, the seconds of the fit and what the planted
tree itself costs.

    python benchmarks/mixed_tables.py --rows 50000 --holes 0.05 --noise 0.15 --jobs 2
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.optimal import OptimalTreeClassifier

N_COLUMNS = 50
N_CATEGORIES = 8
N_NOMINAL = {"nominal": N_COLUMNS, "mixed": N_CATEGORIES}
MOMENTS = [1.0, 5.0, 10.0, 30.0, 60.0]


def planted_labels(columns, is_nominal, depth, rng):
    """Class of each row in a random tree that divides evenly enough; its tests take turns."""
    n_rows = len(columns[0])
    node = np.zeros(n_rows, dtype=int)
    for level in range(depth):
        for place in range(2**level):
            rows = np.flatnonzero(node == place + 2**level - 1)
            j = rng.integers(len(columns))
            values = columns[j][rows]
            if is_nominal[j]:
                passed = values == rng.integers(N_CATEGORIES)
            else:
                passed = values <= np.quantile(values, rng.uniform(0.3, 0.7))
            node[rows] = 2 * node[rows] + np.where(passed, 1, 2)
    return (node - 2**depth + 1) % 2


def make_table(kind, n_rows, depth, noise, holes, seed):
    """A data frame, its labels, and how many of them the planted tree has wrong."""
    rng = np.random.default_rng(seed)
    is_nominal = np.arange(N_COLUMNS) < N_NOMINAL[kind]
    columns = [
        rng.integers(N_CATEGORIES, size=n_rows) if nominal else rng.normal(size=n_rows)
        for nominal in is_nominal
    ]
    # Numbers of one user go together.
    for j in range(N_NOMINAL[kind] + 1, N_COLUMNS, 3):
        columns[j] = 0.7 * columns[j - 1] + 0.7 * columns[j]
    planted = planted_labels(columns, is_nominal, depth, rng)
    y = planted ^ (rng.random(n_rows) < noise)
    frame = {}
    for j, (values, nominal) in enumerate(zip(columns, is_nominal, strict=True)):
        column = pd.Series(values.astype(float)).mask(rng.random(n_rows) < holes)
        names = [f"c{code}" for code in range(N_CATEGORIES)]
        if nominal:
            codes = column.fillna(-1).astype(int)
            column = pd.Series(pd.Categorical.from_codes(codes, categories=names))
        frame[f"x{j}"] = column
    return pd.DataFrame(frame), y.astype(int), int((planted != y).sum())


def measure(kind, options):
    X, y, n_planted = make_table(
        kind, options.rows, options.tree_depth, options.noise, options.holes, options.seed
    )
    model = OptimalTreeClassifier(
        max_depth=options.depth, time_limit=options.limit, n_jobs=options.jobs
    )
    start, start_processor = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, processor = time.perf_counter() - start, time.process_time() - start_processor
    errors = int((model.predict(X) != y).sum())
    print(
        f"{kind:8s} {options.rows} rows: {wall:6.1f} s ({processor:.1f} s of processors), "
        f"{model.status_}, {errors} errors (planted tree: {n_planted}), gap {model.gap_:.3f}"
    )
    for moment in MOMENTS:
        known = [each for each in model.incumbents_ if each[0] <= moment]
        if known and moment < wall:
            objective, lower_bound = known[-1][1:]
            print(f"  after {moment:3.0f} s: {objective:.0f} errors, at least {lower_bound:.0f}")
    if options.verbose:
        print(model.search_stats_)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=N_NOMINAL, default=list(N_NOMINAL))
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--tree-depth", type=int, default=3, help="of the planted tree")
    parser.add_argument("--noise", type=float, default=0.15, help="share of labels turned")
    parser.add_argument("--holes", type=float, default=0.05, help="share of missing values")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for kind in options.kinds:
        measure(kind, options)


if __name__ == "__main__":
    main()
