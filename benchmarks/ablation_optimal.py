"""What each technique of the search is worth: it is switched off, and the search run again.

    python benchmarks/ablation_optimal.py --sets anneal german-credit yeast

After Tables 1 to 3 of Demirovic et al., MurTree, JMLR 23 (2022): for each set of
``$SKTREE_OPT_DATA/binary`` fifteen trees of depth four, with at most 1 to 15 tests, one after the
other in one engine that keeps its caches. The tables are about the caches, the bounds and counts,
and the orders. Prints CPU seconds of a plain run, how many times as long each run without a
technique takes, and the depth-two problems that it counts. Every run has to find the same optima.
"""

import argparse
import time

import numpy as np

from bench_optimal import load, names_of
from sktree_opt.optimal._engine import Engine
from sktree_opt.optimal.objectives import OBJECTIVES
from sktree_opt.preprocessing._bits import pack_binary_matrix
from sktree_opt.utils._control import SearchControl

TABLES = {
    "caches": {
        "no bounds": ("cache",),
        "no small": ("small_cache",),
        "no caches": ("cache", "small_cache"),
    },
    "bounds and counts": {
        "no inheritance": ("inheritance",),
        "no removal": ("removal",),
        "no similarity": ("similarity",),
        "both sides": ("side_bounds",),
        "rows apart": ("merge_rows",),
        "all columns": ("merge_columns", "merge_node_columns"),
        "none of them": (
            "similarity",
            "inheritance",
            "merge_rows",
            "merge_columns",
            "merge_node_columns",
        ),
    },
    "orders": {
        "no look-ahead": ("look_ahead",),
        "children in order": ("dynamic_order",),
        "neither": ("look_ahead", "dynamic_order"),
    },
}


def solve(X, y, off, depth, limit):
    """Seconds, costs of the trees and depth-two problems counted; None past the limit."""
    y = np.unique(y, return_inverse=True)[1]
    class_weights = np.bincount(y).astype(np.float64)
    form = OBJECTIVES["error"].leaf_form(class_weights, np.ones(len(y)))
    control = SearchControl(time_limit=limit)
    start = time.process_time()
    engine = Engine(
        pack_binary_matrix(X), X.shape[1], y.astype(np.int32), None, form, control, off=off
    )
    costs, counted = [], 0
    for splits in range(1, 2**depth):
        engine.begin(depth, splits)
        for level in range(3, depth + 1):
            engine.deepen(level)
        costs.append(engine.cost)
        counted += engine.stats["n_depth_two_counted"]
        if control.poll():
            return None
    return time.process_time() - start, costs, counted


def main():
    """Print a table for each group of techniques."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--limit", type=float, default=100.0)
    options = parser.parse_args()
    names = options.sets or names_of()
    plain = {name: solve(*load(name), (), options.depth, options.limit) for name in names}
    for title, variants in TABLES.items():
        print(f"\n{title}\n{'':18s} {'plain':>18s}" + "".join(f"{v:>20s}" for v in variants))
        for name in names:
            if plain[name] is None:
                print(f"{name:18s} over {options.limit:g} s")
                continue
            seconds, costs, counted = plain[name]
            cells = [f"{seconds:8.3f}s {counted:8d}"]
            for off in variants.values():
                found = solve(*load(name), off, options.depth, options.limit)
                if found is None:
                    cells.append(f"{'-':>18s}")
                    continue
                same = "" if found[1] == costs else " DIFFERENT"
                cells.append(f"{found[0] / seconds:8.2f}x {found[2]:8d}{same}")
            print(f"{name:18s} " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
