"""Greedy trees beside scikit-learn's: time of fit and predict, peak memory, growth with the table.

    python benchmarks/bench_greedy.py [--only fit predict memory growth] [--datasets adult ...]

Both get the same matrix in one process, one after the other; what is printed is the median of
--runs runs and the ratio of the medians (above 1: ours is faster). Absolute times mean little.
Nominal columns are codes for scikit-learn and categories for ours ("adult") or codes for both
("adult, as numbers"). The UCI sets are left out where SKTREE_OPT_DATA names no folder with them.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import uci
from sktree_opt.greedy import GreedyTreeClassifier

UCI = ["letter", "spambase", "madelon", "adult", "census_income_kdd"]
SYNTHETIC = "synthetic 500000 x 50"
RESULTS = Path(__file__).parent / "results"


def synthetic(n_rows, n_columns, seed=0):
    return make_classification(
        n_rows, n_columns, n_informative=n_columns // 3, flip_y=0.05, random_state=seed
    )


def load(name):
    """Matrix, classes, and which columns are nominal (None: none of them)."""
    if name.startswith("synthetic"):
        n_rows, _, n_columns = name.removeprefix("synthetic ").partition(" x ")
        return *synthetic(int(n_rows), int(n_columns)), None
    name, _, as_numbers = name.partition(", ")
    X, y = uci.load(name)
    nominal = [str(dtype) == "category" for dtype in X.dtypes]
    return uci.as_codes(X), y, nominal if any(nominal) and not as_numbers else None


def their_tree():
    return DecisionTreeClassifier(criterion="entropy", random_state=0)


def our_tree(nominal=None, n_jobs=1):
    return GreedyTreeClassifier(categorical_features=nominal, n_jobs=n_jobs)


def medians(runs, *functions):
    """Median seconds of each function; they take turns, so that a busy moment hits them alike."""
    seconds = [[] for _ in functions]
    for _ in range(runs):
        for function, taken in zip(functions, seconds, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in seconds]


def table_row(name, seconds):
    theirs, ours, two_threads = seconds
    print(
        f"{name:32}{1e3 * theirs:12.1f}{1e3 * ours:10.1f}{theirs / ours:8.2f}"
        f"{1e3 * two_threads:12.1f}{ours / two_threads:8.2f}",
        flush=True,
    )


def header(title):
    print(f"\n{title:32}{'scikit-learn':>12}{'ours':>10}{'ratio':>8}{'2 threads':>12}{'ratio':>8}")


def bench_fit(names, runs):
    header("fit, ms")
    for name in names:
        X, y, nominal = load(name)
        seconds = medians(
            runs if X.size < 10_000_000 else min(runs, 3),
            lambda X=X, y=y: their_tree().fit(X, y),
            lambda X=X, y=y, nominal=nominal: our_tree(nominal).fit(X, y),
            lambda X=X, y=y, nominal=nominal: our_tree(nominal, n_jobs=2).fit(X, y),
        )
        table_row(name, seconds)


def bench_predict(names, runs, n_rows=1_000_000):
    header(f"predict {n_rows} rows, ms")
    rng = np.random.default_rng(0)
    for name in names:
        X, y, nominal = load(name)
        theirs, ours = their_tree().fit(X, y), our_tree(nominal).fit(X, y)
        # scikit-learn's trees read float32; they get it, so that no conversion is timed.
        rows = X[rng.integers(len(X), size=n_rows)].astype(np.float32)
        two_threads = our_tree(nominal, n_jobs=2).fit(X, y)
        seconds = medians(
            runs,
            lambda theirs=theirs, rows=rows: theirs.predict(rows),
            lambda ours=ours, rows=rows: ours.predict(rows),
            lambda two=two_threads, rows=rows: two.predict(rows),
        )
        table_row(name, seconds)


def peak_memory():
    """Peak resident memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # This program's own peak. getrusage would include the process that started it.
        (line,) = (x for x in status.read_text("utf-8").splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_of_fit(folder, which):
    """For a process of its own: peak memory of loading the data and a fit, in MB."""
    X, y = (np.load(Path(folder) / f"{part}.npy") for part in "Xy")
    nominal = np.load(Path(folder) / "nominal.npy")
    if which == "theirs":
        their_tree().fit(X, y)
    elif which == "ours":
        our_tree(nominal if nominal.size else None).fit(X, y)
    print(peak_memory())


def bench_memory(names):
    print(f"\n{'peak memory, MB':32}{'data':>12}{'scikit-learn':>14}{'ours':>10}{'ratio':>8}")
    for name in names:
        X, y, nominal = load(name)
        peaks = []
        with tempfile.TemporaryDirectory() as folder:
            for part, array in (("X", X), ("y", y), ("nominal", nominal or [])):
                np.save(Path(folder) / f"{part}.npy", array)
            for which in ("data", "theirs", "ours"):
                command = [sys.executable, __file__, "--peak-of", folder, which]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                peaks.append(float(done.stdout))
        data, theirs, ours = peaks
        print(f"{name:32}{data:12.0f}{theirs:14.0f}{ours:10.0f}{ours / theirs:8.2f}", flush=True)


def bench_growth(runs):
    """Time of fit as rows and as columns grow, printed and drawn."""
    rows = [(n, 20) for n in (3_000, 10_000, 30_000, 100_000, 300_000)]
    columns = [(20_000, p) for p in (10, 30, 100, 300)]
    print(f"\n{'growth: rows x columns':32}{'scikit-learn':>12}{'ours':>10}{'ratio':>8}")
    measured = {}
    for size in rows + columns:
        X, y = synthetic(*size)
        measured[size] = medians(
            min(runs, 3),
            lambda X=X, y=y: their_tree().fit(X, y),
            lambda X=X, y=y: our_tree().fit(X, y),
        )
        theirs, ours = measured[size]
        name = f"{size[0]} x {size[1]}"
        print(f"{name:32}{1e3 * theirs:12.1f}{1e3 * ours:10.1f}{theirs / ours:8.2f}", flush=True)
    draw_growth(rows, columns, measured)


def draw_growth(rows, columns, measured):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axis, sizes, at, label in ((axes[0], rows, 0, "rows"), (axes[1], columns, 1, "columns")):
        x = np.array([size[at] for size in sizes], dtype=float)
        for which, tree in enumerate(("scikit-learn", "sktree_opt")):
            axis.loglog(x, [measured[size][which] for size in sizes], "o-", label=tree)
        shape = x * np.log2(x) if at == 0 else x
        guide = measured[sizes[0]][1] * shape / shape[0]
        axis.loglog(x, guide, "k:", label="n log n" if at == 0 else "linear")
        axis.set(xlabel=label, ylabel="seconds of fit")
        axis.legend()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "greedy_growth.png")
    print(f"drawn in {RESULTS / 'greedy_growth.png'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ["fit", "predict", "memory", "growth"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peak-of", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of:
        peak_of_fit(*arguments.peak_of)
        return
    names = arguments.datasets
    if names is None:
        has_uci = (uci.FOLDER / "uci").is_dir()
        names = [*(UCI if has_uci else []), SYNTHETIC]
        if has_uci:
            names[4:4] = ["adult, as numbers"]
    if "fit" in arguments.only:
        bench_fit(names, arguments.runs)
    if "predict" in arguments.only:
        bench_predict([name for name in names if name != SYNTHETIC], arguments.runs)
    if "memory" in arguments.only:
        bench_memory(names)
    if "growth" in arguments.only:
        bench_growth(arguments.runs)


if __name__ == "__main__":
    main()
