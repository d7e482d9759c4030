"""Thresholds for a first look at a large table: errors and processor seconds of each choice.

    python benchmarks/first_looks.py

Numbers with three decimals, some of them missing. The labels come from two rectangles, and 12
percent of them are wrong. Trees have depth 3; the last choice, all thresholds, takes minutes.
"""

import argparse
import time

import numpy as np

from sktree_opt import OptimalTreeClassifier

CHOICES = ["mdlp", "ensemble", 10, 32, 50, "all"]


def make_table(n_rows, n_columns):
    """Columns and labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).round(3)
    X[rng.random(X.shape) < 0.03] = np.nan
    known = np.nan_to_num(X)
    first = (known[:, 0] > 0.3) & (known[:, 1] < 0.7)
    second = (known[:, 2] > 1.0) & (known[:, 3] > -0.5)
    return X, (first | second) ^ (rng.random(n_rows) < 0.12)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--time-limit", type=float, default=600.0)
    options = parser.parse_args()
    X, y = make_table(options.rows, options.columns)
    for thresholds in CHOICES:
        start = time.process_time()
        tree = OptimalTreeClassifier(thresholds=thresholds, time_limit=options.time_limit).fit(X, y)
        seconds = time.process_time() - start
        print(f"{thresholds!s:10s}{tree.objective_:8g} errors  {tree.status_}  {seconds:6.1f} s")


if __name__ == "__main__":
    main()
