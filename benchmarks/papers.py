"""The tables and figures of the papers behind the package, each by one command.

    python benchmarks/papers.py --list
    python benchmarks/papers.py --paper 001 --table 2 --quick
    python benchmarks/papers.py --paper 001 --table 6 7 8 --sets Sonar Hypo --folds 10
    python benchmarks/papers.py --paper 003 --figure 9 --quick

000  S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017
001  S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019
002  lecture notes on decision trees
003  S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices", KDD 2007
004  E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and Search",
     JMLR 23, 2022

Ours is printed beside the paper's numbers where the paper has them as text; plots go to a folder.
`--quick` takes few sets and folds and ends within ten minutes. Data come from the folder that
SKTREE_OPT_DATA names and from OpenML; sets that neither has are named. The code of each paper
is in ``benchmarks/published``, which says in what order to read it.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

from published.sets import MissingSetError

PAPERS = {
    "000": "icml2017",
    "001": "jmlr2019",
    "002": "notes",
    "003": "dl8",
    "004": "murtree",
}


def parse_options(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--paper", choices=list(PAPERS))
    add("--list", action="store_true", help="tables and figures of each paper")
    add("--table", "--tables", type=int, nargs="+", default=[])
    add("--figure", "--figures", type=int, nargs="+", default=[])
    add("--quick", action="store_true")
    add("--sets", nargs="+", help="sets in place of those of the paper")
    add("--folds", type=int, help="of each cross-validation; 001: take only so many")
    add("--repeats", type=int, help="of cross-validation (000 and 001)")
    add("--time-limit", type=float, help="seconds of a search")
    add("--jobs", type=int, default=2, help="processes, or threads where times count (001)")
    add("--m", type=float, nargs="+", help="the least weight of two branches (000 and 001)")
    add("--columns", nargs="+", help="methods of a table (001)")
    add("--output", type=Path, default=Path("figures"), help="folder of the figures")
    options = parser.parse_args(argv)
    if not options.list and (options.paper is None or not (options.table or options.figure)):
        parser.error("--paper and --table or --figure are needed; --list tells what there is")
    return options


def load_paper(name):
    return importlib.import_module(f"published.{PAPERS[name]}")


def list_all():
    """Print what there is."""
    for name in PAPERS:
        paper = load_paper(name)
        for kind, known in (("table", paper.TABLES), ("figure", paper.FIGURES)):
            for number, function in known.items():
                print(f"{name}: {kind} {number}: {function.__doc__.splitlines()[0]}")


def main(argv=None):
    options = parse_options(argv)
    if options.list:
        list_all()
        return
    paper = load_paper(options.paper)
    asked = [("table", n, paper.TABLES) for n in options.table]
    asked += [("figure", n, paper.FIGURES) for n in options.figure]
    for kind, number, known in asked:
        if number not in known:
            sys.exit(f"paper {options.paper} has {kind}s {sorted(known)}, not {number}")
        print(f"paper {options.paper}, {kind} {number}: {known[number].__doc__}", flush=True)
        start = time.perf_counter()
        try:
            figure = known[number](options)
        except MissingSetError as error:
            figure = None
            print(f"missing set {error}")
        if figure is not None:
            options.output.mkdir(parents=True, exist_ok=True)
            path = options.output / f"paper{options.paper}_{kind}{number}.png"
            figure.savefig(path, dpi=100)
            print(path)
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
