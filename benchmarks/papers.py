"""The tables and figures of the papers behind the package, each by one command.

    python benchmarks/papers.py --list
    python benchmarks/papers.py --paper 001 --table 2 --quick
    python benchmarks/papers.py --paper 003 --figure 9 --quick
    python benchmarks/papers.py --paper 004 --table 4 --sets anneal vote

000  S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017
001  S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019
002  lecture notes on decision trees
003  S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices", KDD 2007
004  E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and Search",
     JMLR 23, 2022

Ours is printed beside the paper's numbers where the paper has them as text; plots go to a folder.
`--quick` takes few sets and folds and ends within ten minutes. Sets that are not in the folder that
SKTREE_OPT_DATA names are listed as missing. Paper 001 has more options: see
``benchmarks/ruggieri/command.py``.
"""

import argparse
import sys
import time
from pathlib import Path

from published import dl8, icml2017, murtree, notes

PAPERS = {"000": icml2017, "002": notes, "003": dl8, "004": murtree}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--paper", choices=["000", "001", "002", "003", "004"])
    add("--list", action="store_true", help="tables and figures of each paper")
    add("--table", "--tables", type=int, nargs="+", default=[])
    add("--figure", "--figures", type=int, nargs="+", default=[])
    add("--quick", action="store_true")
    add("--sets", nargs="+", help="sets in place of those of the paper")
    add("--folds", type=int, help="of each cross-validation")
    add("--time-limit", type=float, help="seconds of a search")
    add("--output", type=Path, default=Path("figures"), help="folder of the figures")
    return parser.parse_known_args()


def list_all():
    """Print what there is."""
    print("001: tables 1 to 8, figures 4 to 8")
    for name, paper in PAPERS.items():
        for kind, found in (("table", paper.TABLES), ("figure", paper.FIGURES)):
            for number, function in found.items():
                print(f"{name}: {kind} {number}: {function.__doc__.splitlines()[0]}")


def main():
    arguments, rest = parse_arguments()
    if arguments.list:
        list_all()
        return
    if arguments.paper is None or not (arguments.table or arguments.figure):
        sys.exit("--paper and --table or --figure are needed; --list tells what there is")
    if arguments.paper == "001":
        from ruggieri import command

        place = sys.argv.index("--paper")
        command.main(sys.argv[1:place] + sys.argv[place + 2 :])
        return
    if rest:
        sys.exit(f"unknown arguments: {' '.join(rest)}")
    paper = PAPERS[arguments.paper]
    asked = [("table", n, paper.TABLES) for n in arguments.table]
    asked += [("figure", n, paper.FIGURES) for n in arguments.figure]
    for kind, number, known in asked:
        if number not in known:
            sys.exit(f"paper {arguments.paper} has {kind}s {sorted(known)} here, not {number}")
        print(f"paper {arguments.paper}, {kind} {number}: {known[number].__doc__}")
        start = time.perf_counter()
        figure = known[number](arguments)
        if figure is not None:
            arguments.output.mkdir(parents=True, exist_ok=True)
            path = arguments.output / f"paper{arguments.paper}_{kind}{number}.png"
            figure.savefig(path, dpi=100)
            print(path)
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
