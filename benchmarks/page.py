"""The tables of the documentation's benchmark page: ``make bench-page``.

    python benchmarks/page.py [--limit 60] [--tables greedy regression thresholds price sets]

All tables of data come with scikit-learn or are made up, so that anyone can repeat the run. Seconds
are CPU seconds of ``fit`` on one thread in one process, the least of three; both sides take turns.
The results are written to ``doc/benchmarks/*.csv``. ``make bench-page`` then runs ``figures.py``;
see ``bench_*.py`` for longer comparisons.
"""

import argparse
import contextlib
import csv
import importlib.util
import os
import platform
import sys
import time
import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
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

import sktree_opt
from bench_optimal import gosdt_splits
from sktree_opt import (
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    TreeSetClassifier,
)

FOLDER = Path(__file__).parents[1] / "doc" / "benchmarks"
REPEATS = 3
LONG = 2.0
# Seconds where a peer may find no proof on most tables.
SHORT_LIMIT = 30.0
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


def zeros_and_ones(load):
    """Whether each column is above its median, and whether the class is the most frequent one."""
    X, y = load()
    X = np.unique(np.median(X, axis=0) < X, axis=1)
    X = X[:, X.any(axis=0) & ~X.all(axis=0)]
    return X.astype(np.int64), (y == np.bincount(y).argmax()).astype(int)


@contextlib.contextmanager
def quiet():
    """Nothing is printed, neither by Python nor by other code."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def price_of_tests(limit):
    """Best trees when each test costs a share of the rows, to depth 5: pystreed and ours."""
    from pystreed import STreeDClassifier

    for name, cost, X, y in priced_tables():
        peer = STreeDClassifier(
            "cost-complex-accuracy", max_depth=5, cost_complexity=cost, time_limit=limit
        )
        (ours, theirs), (model, peer) = seconds_of(
            lambda cost=cost, X=X, y=y: priced_tree(cost, limit, max_depth=5).fit(X, y),
            lambda peer=peer, X=X, y=y: fitted(peer, X, y),
        )
        objective = errors_of(peer, X, y) + cost * len(y) * (peer.get_n_leaves() - 1)
        is_same = np.isclose(objective, model.objective_)
        yield [
            name, f"{cost:g}", f"{model.objective_:g}", model.status_, short(ours),
            *peer_time(theirs, ours, theirs < 0.9 * limit, is_same, limit),
        ]  # fmt: skip


def price_at_any_depth(limit):
    """The same without a limit on depth: imodels, GOSDT and ours."""
    from gosdt import GOSDTClassifier
    from imodels import FastSmallTreeClassifier

    limit = min(limit, SHORT_LIMIT)
    with quiet():  # The first fit compiles.
        FastSmallTreeClassifier().fit(np.eye(8), np.arange(8) % 2)
    for name, cost, X, y in priced_tables():
        columns = [f"c{j}" for j in range(X.shape[1])]
        frame, target = pd.DataFrame(X.astype(bool), columns=columns), pd.Series(y, name="class")
        fast = FastSmallTreeClassifier(regularization=cost, time_limit=limit)
        gosdt = GOSDTClassifier(cost, allow_small_reg=True, time_limit=int(limit))
        with quiet():
            seconds, (model, *_) = seconds_of(
                lambda cost=cost, X=X, y=y: priced_tree(cost, limit, max_depth=None).fit(X, y),
                lambda fast=fast, X=X, y=y: fitted(fast, X, y),
                lambda gosdt=gosdt, X=frame, y=target: fitted(gosdt, X, y),
            )
        tests = fast.estimator_.get_n_leaves() - 1, gosdt_splits(gosdt.trees_[0].tree)
        errors = np.count_nonzero([fast.predict(X), gosdt.trees_[0].predict(X)] != y, axis=1)
        is_proved = gosdt.result_.status.name == "CONVERGED"
        is_same = np.isclose(errors + cost * len(y) * np.array(tests), model.objective_)
        yield [
            name, f"{cost:g}", f"{model.objective_:g}", model.get_n_leaves(), model.status_,
            short(seconds[0]),
            *peer_time(seconds[1], seconds[0], fast.optimal_, is_same[0], limit),
            *peer_time(seconds[2], seconds[0], is_proved, is_same[1], limit),
        ]  # fmt: skip


def priced_tables():
    """Each binary table with each price."""
    for name, load in CLASSES.items():
        for cost in (0.01, 0.005):
            yield name, cost, *zeros_and_ones(load)


def priced_tree(cost, limit, **depth):
    """Our estimator; its price is for each test, of which a tree has one fewer than leaves."""
    return OptimalTreeClassifier(complexity_cost=cost, time_limit=limit, n_jobs=1, **depth)


def peer_time(theirs, ours, is_proved, is_same, limit):
    """Seconds of a peer and the ratio, if it proved what we found."""
    if not is_proved:
        return f"over {limit:g}", ""
    return (short(theirs), f"{theirs / ours:.1f}") if is_same else ("other objective", "")


def sets_of_trees(limit):
    """All trees within 5 % of the best objective at a hundredth of the rows a leaf."""
    for name, load in CLASSES.items():
        X, y = zeros_and_ones(load)
        of_leaf = max(1, round(0.01 * len(y)))
        for depth in (3, 4):
            make = partial(
                TreeSetClassifier, max_depth=depth, complexity_cost=of_leaf / len(y),
                distinct_by="tests", time_limit=limit, n_jobs=1, epsilon_kind="absolute",
            )  # fmt: skip
            # Our objective counts tests, of which there is one fewer than leaves.
            best = make(n_trees=1).fit(X, y).objective_
            largest = int(np.floor((best + of_leaf) * 1.05 + 1e-9))
            epsilon = largest - of_leaf - best
            (ours,), (model,) = seconds_of(
                lambda make=make, X=X, y=y, e=epsilon: make(epsilon=e).fit(X, y)
            )
            cells = [
                peer_cell(find, model.n_trees_, ours, X, y, depth, of_leaf, largest)
                for find in (praxis_trees, treefarms_trees if depth == 3 else None)
            ]
            yield [name, depth, model.n_trees_, model.status_, short(ours), *cells]


def peer_cell(find, n_trees, ours, *problem):
    """Seconds of a peer that is installed, and the ratio; it has to count the same trees."""
    if find is None or importlib.util.find_spec(find.package) is None:
        return ""
    with quiet():
        (theirs,), (n_theirs,) = seconds_of(lambda: find(*problem))
    if n_theirs != n_trees:
        return f"{short(theirs)}, {n_theirs} trees"
    return f"{short(theirs)} ({theirs / ours:.1f})"


def praxis_trees(X, y, depth, of_leaf, largest):
    """Number of trees of PRAXIS, which is exact as it looks ahead to the last level but one."""
    from praxis import PRAXIS

    model = PRAXIS()
    model.fit(
        X, y, lambda_reg=of_leaf / len(y), depth_budget=depth, rashomon_mult=0.05,
        lookahead_k=depth - 1, majority_leaf_only=True, root_budget=largest,
    )  # fmt: skip
    return int(model.count_trees())


def treefarms_trees(X, y, depth, of_leaf, largest):
    """Number of trees of TreeFARMS, whose depth counts levels of nodes."""
    from treefarms.model.treefarms import TREEFARMS

    settings = {
        "regularization": of_leaf / len(y),
        "rashomon_bound_multiplier": 0.05,
        "depth_budget": depth + 1,
        "verbose": False,
    }
    model = TREEFARMS(settings)
    columns = [f"c{j}" for j in range(X.shape[1])]
    model.fit(pd.DataFrame(X, columns=columns), pd.Series(y, name="class"))
    return int(model.get_tree_count())


praxis_trees.package, treefarms_trees.package = "praxis", "treefarms"


def write(name, header, lines):
    """Write and print a table."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for line in [header, *lines]:
            writer.writerow(line)
            print(*line, sep=" | ", flush=True)
    print()


TABLES = {
    "greedy": (["table", "ours (s)", "scikit-learn (s)", "ratio"], lambda _: greedy()),
    "regression": (
        ["table", "depth", "R2 of CART", "R2 of the best tree", "status", "ours (s)"],
        errors_at_a_depth,
    ),
    "thresholds": (
        ["table", "depth", "errors", "status", "ours (s)", "pycontree (s)", "ratio"],
        against_contree,
    ),
    "price": (
        ["table", "cost", "objective", "status", "ours (s)", "pystreed (s)", "ratio"],
        price_of_tests,
    ),
    "any_depth": (
        [
            "table", "cost", "objective", "leaves", "status", "ours (s)", "imodels (s)", "ratio",
            "gosdt (s)", "ratio",
        ],
        price_at_any_depth,
    ),
    "sets": (
        ["table", "depth", "trees", "status", "ours (s)", "tree-praxis (s)", "TreeFARMS (s)"],
        sets_of_trees,
    ),
}  # fmt: skip
PACKAGES = [
    "pycontree", "pystreed", "gosdt", "imodels", "tree-praxis", "treefarms", "scikit-learn", "numpy"
]  # fmt: skip


def main():
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    machine = f"{processor()}, {os.cpu_count()} processors"
    versions = [["sktree-opt", sktree_opt.__version__]]
    versions += [[name, found] for name in PACKAGES if (found := version_of(name))]
    versions += [["Python", platform.python_version()], ["machine", machine]]
    versions += [["month", time.strftime("%B %Y")]]
    write("versions", ["package", "version"], versions)
    for name in options.tables:
        header, lines = TABLES[name]
        write(name, header, lines(options.limit))
    print(f"{time.process_time():.0f} seconds of the processor")


def processor():
    """Name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version_of(name):
    """Version of a package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
