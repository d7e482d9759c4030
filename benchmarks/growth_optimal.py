"""How the time of an optimal tree grows with rows, columns and depth: seconds, exponents, a plot.

    python benchmarks/growth_optimal.py --plot growth.png
    python benchmarks/growth_optimal.py --table

Rows: a set is repeated 1 to 64 times with cells flipped at random, so that no two copies are alike
and equal rows cannot be merged away, to a million rows and over. Columns: the first of a set's.
Depth: 2 to 5. The exponent is the slope between the logarithms, fitted to the larger half; with
depth, the factor is that of one more level, fitted likewise.
`--table` prints the seconds of random tables of n rows and m columns for the user guide.
"""

import argparse
import time

import numpy as np

from bench_optimal import load
from sktree_opt.optimal import OptimalTreeClassifier

FLIPPED = 0.01


def seconds(X, y, depth, repeats=2):
    """CPU seconds of a fit on one thread."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        OptimalTreeClassifier(max_depth=depth, time_limit=200).fit(X, y)
        best = min(best, time.process_time() - start)
        if best > 2.0:
            break
    return best


def noisy_copies(X, y, n_copies, rng):
    """The rows `n_copies` times, a share of the cells flipped."""
    X, y = np.tile(X, (n_copies, 1)), np.tile(y, n_copies)
    return X ^ (rng.random(X.shape, dtype=np.float32) < FLIPPED), y


def exponent(sizes, times):
    """Slope of the larger half, on logarithms."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)[0])


def growth(title, sizes, times):
    """The exponent or, of depths, the factor, in words."""
    if title.startswith("depth"):
        return f"factor {np.exp(exponent(np.exp(sizes), times)):.0f}"
    return f"exponent {exponent(sizes, times):.2f}"


def by_rows(name, depth, rng):
    """(rows, seconds) of 1 to 64 copies."""
    X, y = load(name)
    points = []
    for n_copies in (1, 2, 4, 8, 16, 32, 64):
        table, target = noisy_copies(X, y, n_copies, rng)
        points.append((len(table), seconds(table, target, depth)))
    return points


def by_columns(name, depth, rng):
    """(columns, seconds) of the first columns, in a random order."""
    X, y = load(name)
    order = rng.permutation(X.shape[1])
    sizes = [n for n in (16, 32, 64, 128, 256) if n <= X.shape[1]]
    return [(n, seconds(X[:, np.sort(order[:n])], y, depth)) for n in sizes]


def by_depth(name):
    """(depth, seconds)."""
    X, y = load(name)
    return [(depth, seconds(X, y, depth)) for depth in (2, 3, 4, 5)]


def report(title, points):
    """Print points and their growth; returns them for the plot."""
    sizes, times = np.array(points).T
    cells = "  ".join(f"{int(n)}: {s:.4f}s" for n, s in points)
    print(f"{title:34s} {cells}  {growth(title, sizes, times)}", flush=True)
    return title, sizes, times


def plot(curves, path):
    """Draw all curves with logarithmic axes."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    for axis, (what, group) in zip(axes, curves.items(), strict=True):
        for title, sizes, times in group:
            label = f"{title} ({growth(title, sizes, times)})"
            axis.loglog(sizes, times, "o-", label=label)
        if what != "rows":
            if what == "depth":
                axis.set_xscale("linear")
            # Few sizes, less than a decade: each is a tick, and no other is.
            axis.xaxis.set_minor_locator(NullLocator())
            ticks = sorted({int(size) for _, sizes, _ in group for size in sizes})
            axis.set_xticks(ticks, labels=ticks)
        axis.set_xlabel(what)
        axis.set_ylabel("seconds")
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def print_table(rng):
    """Seconds of noisy tables of n rows, m columns and a depth."""
    print(f"{'rows':>9s} {'columns':>8s}" + "".join(f"{f'depth {d}':>10s}" for d in (2, 3, 4, 5)))
    for n_rows in (1_000, 10_000, 100_000):
        for n_columns in (20, 50, 100):
            X = (rng.random((n_rows, n_columns)) < 0.4).astype(np.uint8)
            hidden = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3] & 1)
            y = hidden ^ (rng.random(n_rows) < 0.15)
            cells = []
            for depth in (2, 3, 4, 5):
                took = seconds(X, y.astype(int), depth, repeats=1)
                cells.append(f"{took:10.3f}")
                if took > 1.0:
                    break
            print(f"{n_rows:9d} {n_columns:8d}" + "".join(cells), flush=True)


def main():
    """Measure, print, plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows-of", nargs="+", default=["HTRU_2", "anneal", "kr-vs-kp"])
    parser.add_argument("--columns-of", nargs="+", default=["pendigits", "splice-1"])
    parser.add_argument("--depth-of", nargs="+", default=["anneal", "hypothyroid", "yeast"])
    parser.add_argument("--depth", type=int, default=4, help="for rows and columns")
    parser.add_argument("--plot", help="file to draw to")
    parser.add_argument("--table", action="store_true", help="the user guide's table instead")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    if options.table:
        print_table(rng)
        return
    curves = {
        "rows": [report(f"rows, {n}", by_rows(n, options.depth, rng)) for n in options.rows_of],
        "columns": [
            report(f"columns, {n}", by_columns(n, options.depth, rng)) for n in options.columns_of
        ],
        "depth": [report(f"depth, {n}", by_depth(n)) for n in options.depth_of],
    }
    if options.plot:
        plot(curves, options.plot)


if __name__ == "__main__":
    main()
