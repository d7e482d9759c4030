"""The tables of the documentation's benchmark page, a few minutes: ``make bench-page``.

    python benchmarks/page.py [--limit 60]

All tables of data come with scikit-learn or are made up, so that anyone can repeat the run. Seconds
are CPU seconds of ``fit`` on one thread in one process, the least of three; both sides take turns.
The results are written to ``doc/benchmarks/*.csv``. See ``figures.py`` for the comparison with
pystreed, and ``bench_*.py`` for longer ones.
"""

import argparse
import csv
import platform
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt import (
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)

FOLDER = Path(__file__).parents[1] / "doc" / "benchmarks"
REPEATS = 3
LONG = 2.0
# Columns of many values: a search beyond this depth takes pycontree longer than a few minutes.
DEPTHS = {"digits": [2], "made up, 20,000 x 12": [2]}


def made_up(n, p):
    """A table of numbers whose classes depend on a third of the columns."""
    return make_classification(n, p, n_informative=p // 3, flip_y=0.1, random_state=0)


CLASSES = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "made up, 2,000 x 12": lambda: made_up(2_000, 12),
    "made up, 20,000 x 12": lambda: made_up(20_000, 12),
}
NUMBERS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "Friedman 1, 2,000 x 8": lambda: make_friedman1(2_000, 8, noise=1.0, random_state=0),
    "Friedman 1, 20,000 x 8": lambda: make_friedman1(20_000, 8, noise=1.0, random_state=0),
}


def seconds_of(*fits):
    """Least CPU seconds of each fit, and what it returned; they take turns.

    Long fits are not repeated.
    """
    best, found = [np.inf] * len(fits), [None] * len(fits)
    for _ in range(REPEATS):
        for k, fit in enumerate(fits):
            if found[k] is None or best[k] < LONG:
                start = time.process_time()
                found[k] = fit()
                best[k] = min(best[k], time.process_time() - start)
    return best, found


def short(seconds):
    """Seconds with two digits."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def errors_of(model, X, y):
    """Number of wrong answers."""
    return int(np.count_nonzero(np.asarray(model.predict(X)) != y))


def against_contree(limit):
    """Best trees over every threshold: pycontree and ours."""
    from pycontree import ConTree

    for name, load in CLASSES.items():
        for depth in DEPTHS.get(name, [2, 3]):
            X, y = load()
            (ours, theirs), (model, peer) = seconds_of(
                lambda X=X, y=y, d=depth: OptimalTreeClassifier(
                    max_depth=d, time_limit=limit, n_jobs=1
                ).fit(X, y),
                lambda X=X, y=y, d=depth: fitted(ConTree(max_depth=d, time_limit=limit), X, y),
            )
            # A search that its limit ended has no time to compare.
            ended = theirs < 0.9 * limit and errors_of(peer, X, y) == model.objective_
            yield [
                name, depth, f"{model.objective_:g}", model.status_, short(ours),
                short(theirs) if ended else f"over {limit:g}",
                f"{theirs / ours:.1f}" if ended else "",
            ]  # fmt: skip


def fitted(model, X, y):
    """A fitted peer whose ``fit`` may not return it."""
    model.fit(X, y)
    return model


def errors_at_a_depth(limit):
    """What the search gains over a greedy tree on the rows of training, in share of errors."""
    for depth in (2, 3):
        for name, load in NUMBERS.items():
            X, y = load()
            cart = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).score(X, y)
            (seconds,), (model,) = seconds_of(
                lambda X=X, y=y, d=depth: OptimalTreeRegressor(
                    max_depth=d, time_limit=limit, n_jobs=1
                ).fit(X, y)
            )
            yield [
                name, depth, f"{cart:.3f}", f"{model.score(X, y):.3f}", model.status_,
                short(seconds),
            ]  # fmt: skip


def greedy():
    """Greedy trees to the end: scikit-learn's and ours."""
    for name, load in (CLASSES | NUMBERS).items():
        X, y = load()
        theirs, ours = DecisionTreeClassifier(criterion="entropy"), GreedyTreeClassifier(n_jobs=1)
        if name in NUMBERS:
            theirs, ours = DecisionTreeRegressor(), GreedyTreeRegressor(n_jobs=1)
        (a, b), _ = seconds_of(
            lambda X=X, y=y, ours=ours: ours.fit(X, y),
            lambda X=X, y=y, theirs=theirs: theirs.fit(X, y),
        )
        yield [name, short(a), short(b), f"{b / a:.1f}"]


def write(name, header, lines):
    """Write and print a table."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for line in [header, *lines]:
            writer.writerow(line)
            print(*line, sep=" | ", flush=True)
    print()


def main():
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=600.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    packages = ["sktree-opt", "pycontree", "scikit-learn", "numpy"]
    print(platform.machine(), platform.python_implementation(), platform.python_version())
    write("versions", ["package", "version"], [[name, version_of(name)] for name in packages])
    write("greedy", ["table", "ours (s)", "scikit-learn (s)", "ratio"], greedy())
    write(
        "regression",
        ["table", "depth", "R2 of CART", "R2 of the best tree", "status", "ours (s)"],
        errors_at_a_depth(options.limit),
    )
    write(
        "thresholds",
        ["table", "depth", "errors", "status", "ours (s)", "pycontree (s)", "ratio"],
        against_contree(options.limit),
    )


def version_of(name):
    """Version of a package; ours may not be installed."""
    if name == "sktree-opt":
        import sktree_opt

        return sktree_opt.__version__
    return version(name)


if __name__ == "__main__":
    main()
