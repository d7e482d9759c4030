"""Seconds and memory of optimal trees on large tables that lie in files.

    python benchmarks/large_tables.py --write
    python benchmarks/large_tables.py --kinds numbers --depths 2 3 --rows 10000000 --seconds 600

Two kinds of tables: 20 columns of numbers, float32, and 100 columns of 0 and 1, uint8. They are
written to a folder as ``.npy`` files and memory-mapped. Each fit has a process of its own on one
thread. Its memory is the peak of what it has allocated; pages of the file, which the system can
drop, do not count. "Times the table" is this peak divided by the size of the file. `--write` puts
what is measured into the table of the user guide, in place of the same fits, and draws its figure.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

KINDS = {"numbers": (20, np.float32), "bits": (100, np.uint8)}
ROWS_AT_ONCE = 1_000_000
NAMES = {"numbers": "20 numbers, float32", "bits": "100 of 0/1, uint8"}

DOC = Path(__file__).parents[1] / "doc"
TABLE, FIGURE = DOC / "user_guide" / "large_tables.csv", DOC / "images" / "large_tables.png"


def write_table(kind, n_rows, folder):
    """The files of a table, made if they are missing."""
    n_columns, dtype = KINDS[kind]
    paths = [folder / f"{kind}_{n_rows}_{what}.npy" for what in ("X", "y")]
    if paths[1].exists():
        return paths
    X = np.lib.format.open_memmap(paths[0], mode="w+", dtype=dtype, shape=(n_rows, n_columns))
    y = np.empty(n_rows, dtype=np.uint8)
    rng = np.random.default_rng(0)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        part = slice(first, min(first + ROWS_AT_ONCE, n_rows))
        shape = (part.stop - first, n_columns)
        if kind == "bits":
            block = (rng.random(shape, dtype=np.float32) < 0.4).astype(np.uint8)
            signs = block.astype(bool)
        else:
            # Two decimals, as measured numbers have them.
            block = np.round(rng.normal(size=shape), 2).astype(dtype)
            signs = block > 0.3
        X[part] = block
        hidden = (signs[:, 0] & signs[:, 1]) | (signs[:, 2] & ~signs[:, 3])
        y[part] = hidden ^ (rng.random(shape[0]) < 0.15)
    X.flush()
    np.save(paths[1], y)
    return paths


def allocated():
    """Bytes that this process has allocated and touched."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


class Peak:
    """The largest ``allocated()`` while the block runs, asked for every hundredth of a second."""

    def __enter__(self):
        self.bytes, self._is_over = allocated(), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._is_over.wait(0.01):
            self.bytes = max(self.bytes, allocated())

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()
        self.bytes = max(self.bytes, allocated())


def work(kind, n_rows, depth, seconds, folder):
    """One fit; what it took."""
    from sktree_opt import OptimalTreeClassifier

    paths = write_table(kind, n_rows, Path(folder))
    X, y = (np.load(path, mmap_mode="r") for path in paths)
    OptimalTreeClassifier(max_depth=2).fit(X[:200], y[:200])
    before, start, clock = allocated(), time.process_time(), time.perf_counter()
    with warnings.catch_warnings(), Peak() as peak:
        warnings.simplefilter("ignore")
        model = OptimalTreeClassifier(max_depth=depth, time_limit=seconds).fit(X, y)
    return {
        "kind": kind,
        "n_rows": n_rows,
        "depth": depth,
        "cpu_seconds": round(time.process_time() - start, 2),
        "seconds": round(time.perf_counter() - clock, 2),
        "megabytes": round((peak.bytes - before) / 1e6),
        "times_the_table": round((peak.bytes - before) / X.nbytes, 2),
        "status": model.status_,
        "error": model.objective_ / n_rows,
        "gap": model.gap_ / n_rows,
    }


def add_to_table(found):
    """Put fits into the table of the user guide; returns all of them."""
    rows = {}
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            rows = {
                (row["columns"], row["rows"], row["depth"]): row for row in csv.DictReader(file)
            }
    for one in found:
        row = {
            "columns": NAMES[one["kind"]],
            "rows": f"{one['n_rows']:,}",
            "depth": str(one["depth"]),
            "seconds": f"{one['cpu_seconds']:.{2 if one['cpu_seconds'] < 100 else 3}g}",
            "megabytes": f"{one['megabytes']:,}",
            "times the table": f"{one['times_the_table']:.1f}",
            "errors": f"{one['error']:.4%}",
            "proved at least": f"{one['error'] - one['gap']:.4%}",
            "status": one["status"],
        }
        rows[row["columns"], row["rows"], row["depth"]] = row
    order = sorted(rows, key=lambda key: (key[0], int(key[1].replace(",", "")), int(key[2])))
    with TABLE.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[order[0]]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows[key] for key in order)
    return [rows[key] for key in order]


def draw(rows):
    """Draw seconds and memory against the number of rows."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True)
    lines = sorted({(row["columns"], row["depth"]) for row in rows})
    for columns, depth in lines:
        mine = [row for row in rows if (row["columns"], row["depth"]) == (columns, depth)]
        style = {"color": f"C{depth}", "ls": "-" if columns == NAMES["bits"] else "--"}
        for axis, name in zip(axes, ("seconds", "megabytes"), strict=True):
            numbers = [[float(row[key].replace(",", "")) for row in mine] for key in ("rows", name)]
            axis.loglog(*numbers, label=f"{columns.split(',')[0]}, depth {depth}", **style)
            for x, y, row in zip(*numbers, mine, strict=True):
                is_proved = row["status"] == "optimal"
                axis.plot(x, y, "o", color=style["color"], mfc=None if is_proved else "white")
    for axis, label in zip(axes, ("seconds of a processor", "megabytes"), strict=True):
        axis.set_xlabel("rows")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=120)


def main():
    """Measure, print, plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--rows", nargs="+", type=int, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--depths", nargs="+", type=int, default=[2, 3, 4])
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a fit")
    parser.add_argument("--folder", help="of the tables; a temporary one by default")
    parser.add_argument("--write", action="store_true", help="into the user guide")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        kind, n_rows, depth = options.work
        found = work(kind, int(n_rows), int(depth), options.seconds, options.folder)
        print(json.dumps(found))
        return
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        for kind in options.kinds:
            for n_rows in options.rows:
                for depth in options.depths:
                    command = [sys.executable, __file__, "--folder", folder]
                    command += ["--seconds", str(options.seconds)]
                    command += ["--work", kind, str(n_rows), str(depth)]
                    answer = subprocess.run(command, capture_output=True, text=True, check=True)
                    found.append(json.loads(answer.stdout))
                    print(found[-1], flush=True)
                    if options.write:
                        draw(add_to_table(found[-1:]))


if __name__ == "__main__":
    main()
