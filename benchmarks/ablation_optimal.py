"""What each technique of the search is worth: it is switched off, and the search run again.

    python benchmarks/ablation_optimal.py --sets anneal german-credit yeast
    python benchmarks/ablation_optimal.py --quick

After Tables 1 to 3 of Demirovic et al., MurTree, JMLR 23 (2022): for each set of
``$SKTREE_OPT_DATA/binary`` fifteen trees of depth four, with at most 1 to 15 tests, one after the
other in one engine that keeps its caches. The first three tables have the columns of the paper's:

1. "branch cache" and "dataset cache": what nodes are known by in the caches, with CPU seconds and
   thousands of entries. The dataset cache is what we use.
2. "noInc-noSLB", "inc-noSLB" and "inc-SLB": the counts of the larger child by subtraction, which is
   our form of the paper's incremental counts, and the similarity bound.
3. "Gini", "random" and "in order" with the dynamic order of children, and "in order" with the child
   that has the test always first (the paper's post-order).

The tables after these are about techniques of our own and what the paper does not take apart. Each
opens with "plain", the search as it is, in CPU seconds and depth-two problems counted; other
columns say how many times as long they take. Every run has to find the same optima.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np

from bench_optimal import load, names_of
from sktree_opt.optimal.bits._engine import Engine
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.preprocessing._bits import pack_binary_matrix
from sktree_opt.utils._control import SearchControl

QUICK = ("anneal", "hypothyroid", "kr-vs-kp", "tic-tac-toe", "vote")
WIDTH = 20


class Run(NamedTuple):
    """What one engine took for all trees of a set."""

    seconds: float
    costs: list
    n_counted: int
    n_entries: int


class Variant(NamedTuple):
    """A way to search: what is off, and in which order columns are tried."""

    off: tuple = ()
    column_order: str = "bounds"


def variants(**names):
    """Variants from what is off."""
    return {title.replace("_", " "): Variant(off) for title, off in names.items()}


CACHES = ("cache", "small_cache")
PAPER = {
    "Table 1: caches (thousands of entries)": {
        "branch cache": Variant(("row_sets",)),
        "dataset cache": Variant(),
    },
    "Table 2: incremental counts and similarity bound": {
        "noInc-noSLB": Variant(("subtraction", "similarity")),
        "inc-noSLB": Variant(("similarity",)),
        "inc-SLB": Variant(),
    },
    "Table 3: orders of features and of nodes": {
        "Gini, dynamic": Variant((), "gini"),
        "random, dynamic": Variant((), "random"),
        "in order, post": Variant(("dynamic_order",), "index"),
        "in order, dynamic": Variant((), "index"),
    },
}
OURS = {
    "caches": variants(no_bounds=CACHES[:1], no_small=CACHES[1:], no_caches=CACHES),
    "bounds and counts": variants(
        no_inheritance=("inheritance",),
        no_removal=("removal",),
        no_similarity=("similarity",),
        both_sides=("side_bounds",),
        rows_apart=("merge_rows",),
        all_columns=("merge_columns", "merge_node_columns"),
        none_of_them=(
            "similarity",
            "inheritance",
            "merge_rows",
            "merge_columns",
            "merge_node_columns",
        ),
    ),
    "orders": {
        "by errors": Variant((), "look_ahead"),
        "no look-ahead": Variant(("look_ahead",)),
        "post-order": Variant(("dynamic_order",)),
        "neither": Variant(("look_ahead", "dynamic_order")),
        "in order, neither": Variant(("look_ahead", "dynamic_order"), "index"),
    },
}


def solve(X, y, variant, depth, limit):
    """The run of a variant; None past the limit."""
    y = np.unique(y, return_inverse=True)[1]
    class_weights = np.bincount(y).astype(np.float64)
    form = OBJECTIVES["error"].leaf_form(class_weights, np.ones(len(y)))
    control = SearchControl(time_limit=limit)
    start = time.process_time()
    engine = Engine(
        pack_binary_matrix(X),
        X.shape[1],
        y.astype(np.int32),
        None,
        form,
        control,
        off=variant.off,
        column_order=variant.column_order,
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
    seconds = time.process_time() - start
    return Run(seconds, costs, counted, engine.stats["n_cache_entries"])


def paper_cell(run, plain, with_entries):
    """Seconds, and entries in the table about them."""
    if run is None:
        return "-"
    entries = f" {run.n_entries / 1000:8.1f}k" if with_entries else ""
    return f"{run.seconds:.3f}s{entries}" + mark(run, plain)


def our_cell(run, plain):
    """Times as long as a plain run, and problems counted."""
    if run is None:
        return "-"
    return f"{run.seconds / plain.seconds:.2f}x {run.n_counted:8d}" + mark(run, plain)


def mark(run, plain):
    """Costs have to be the same."""
    return "" if plain is None or run.costs == plain.costs else " DIFFERENT"


def show(*cells):
    """One line of a table."""
    print(f"{cells[0]:18s} " + "".join(f"{cell:>{WIDTH}s}" for cell in cells[1:]), flush=True)


def main():
    """Print a table for each group of techniques."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--quick", action="store_true", help="some sets that take seconds")
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--limit", type=float, default=100.0)
    options = parser.parse_args()
    names = options.sets or (QUICK if options.quick else names_of())

    def run(name, variant):
        return solve(*load(name), variant, options.depth, options.limit)

    plain = {name: run(name, Variant()) for name in names}
    for title, table in PAPER.items():
        print(f"\n{title}")
        show("", *table)
        for name in names:
            runs = [plain[name] if v == Variant() else run(name, v) for v in table.values()]
            show(name, *(paper_cell(one, plain[name], "entries" in title) for one in runs))
    for title, table in OURS.items():
        print(f"\nOurs: {title}")
        show("", "plain", *table)
        for name in names:
            if plain[name] is None:
                show(name, f"over {options.limit:g} s")
                continue
            first = f"{plain[name].seconds:.3f}s {plain[name].n_counted:8d}"
            runs = [run(name, variant) for variant in table.values()]
            show(name, first, *(our_cell(one, plain[name]) for one in runs))


if __name__ == "__main__":
    main()
