"""Tables and figures of S. Ruggieri, "Complete Search for Feature Selection in Decision Trees",
JMLR 20 (2019).

    python benchmarks/papers.py --paper 001 --table 2 --column baseline
    python benchmarks/papers.py --paper 001 --tables 6 7 8 --quick
    python benchmarks/papers.py --paper 001 --figure 4 5 --output figures

prints ours beside the paper's; "apart" is a mean that departs from the paper's by more than half
the paper's standard deviation, "above" a ratio of times above the paper's. "finished" counts the
folds whose searches ended before their time limit. Figures are drawn into a folder. `--quick` is
one repetition, without Census, and without the complete search where the paper took long.

The tree is what fits the paper's figures best: its "m=2" is the least weight of two branches, and
gains of numeric splits carry the penalty of C4.5 release 8. "Not applicable" in Anneal is a
category.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

from ruggieri import paper, tables
from ruggieri.methods import METHODS, Settings
from sktree_opt.greedy import GreedyTreeClassifier
from uci import require_data

# Values of m in figures.
WEIGHTS = (2, 8, 16, 32, 64, 96, 128)
QUICK_WEIGHTS = (32, 128)


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description="Tables and figures of Ruggieri (2019).")
    add = parser.add_argument
    add("--table", "--tables", type=int, nargs="+", default=[], choices=list(tables.TABLES))
    add("--figure", "--figures", type=int, nargs="+", default=[], choices=range(4, 9))
    add("--column", "--columns", "--methods", dest="methods", nargs="+", choices=list(METHODS))
    add("--datasets", nargs="+", choices=list(paper.DATASETS))
    add("--quick", action="store_true")
    add("--repeats", type=int, help="of cross-validation; 10, quick: 1")
    add("--folds", type=int, help="take only so many folds")
    add("--time-limit", type=float, help="seconds of a search; 3600, quick: 10, in a figure 45")
    add("--jobs", type=int, default=2, help="processes, or threads where times count")
    add("--leaf-weights", type=float, nargs="+", help="the paper's m: one for tables")
    add("--numeric-gain-penalty", action=argparse.BooleanOptionalAction, default=True)
    add("--output", type=Path, default=Path("figures"), help="folder of the figures")
    arguments = parser.parse_args(argv)
    if not arguments.table and not arguments.figure:
        parser.error("--table or --figure is needed")
    if arguments.datasets is None:
        arguments.datasets = [n for n in paper.DATASETS if not (arguments.quick and n == "Census")]
    if arguments.repeats is None:
        arguments.repeats = 1 if arguments.quick else 10
    return arguments


def run_table(number, arguments, known):
    """Print a table; `known` keeps outcomes for tables that share them."""
    table = tables.TABLES[number]
    # Where times are compared, folds run one by one, and the searches have the threads.
    is_timed = "SBE" in table.methods
    settings = Settings(
        GreedyTreeClassifier(
            min_weight_leaf=(arguments.leaf_weights or [2])[0],
            numeric_gain_penalty=arguments.numeric_gain_penalty,
            **table.tree,
        ),
        error=table.error,
        time_limit=arguments.time_limit or (10.0 if arguments.quick else 3600.0),
        n_jobs=arguments.jobs if is_timed else 1,
    )
    n_folds = arguments.folds or (1 if is_timed and arguments.quick else None)
    n_jobs = 1 if is_timed else arguments.jobs
    print(f"table {number}: {settings.tree}, error={table.error!r}")
    tables.print_header(table)
    start = time.perf_counter()
    by_set = {}
    for name in arguments.datasets:
        methods = tables.methods_for(name, table, arguments)
        outcomes = known.setdefault((name, repr(settings), n_folds), {})
        missing = tuple(method for method in methods if method not in outcomes)
        if missing:
            outcomes |= tables.fold_outcomes(
                name, missing, settings, arguments.repeats, n_folds, n_jobs, table.is_one_hot
            )
        by_set[name] = {method: outcomes[method] for method in methods}
        tables.print_dataset(name, table, by_set[name])
    tables.print_wins(table, by_set)
    tables.print_correlation(by_set)
    print(f"{time.perf_counter() - start:.0f} s")


def draw_figure(number, arguments):
    from ruggieri import plots

    if arguments.quick:
        run = plots.Run(QUICK_WEIGHTS, 45.0, arguments.jobs, arguments.folds or 2, 1, 2)
    else:
        run = plots.Run(WEIGHTS, 3600.0, arguments.jobs, arguments.folds, arguments.repeats, 20)
    if arguments.leaf_weights:
        run = replace(run, leaf_weights=tuple(arguments.leaf_weights))
    if arguments.time_limit:
        run = replace(run, time_limit=arguments.time_limit)
    print(f"figure {number}")
    start = time.perf_counter()
    figure = plots.FIGURES[number](run)
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / f"ruggieri2019_figure{number}.png"
    figure.savefig(path, dpi=100)
    print(f"{path}; {time.perf_counter() - start:.0f} s")


def main(argv):
    arguments = parse_arguments(argv)
    require_data()
    known = {}
    for number in arguments.table:
        run_table(number, arguments, known)
    for number in arguments.figure:
        draw_figure(number, arguments)
