"""The figures of the page "What we promise and how we test it": ``make trust``.

    python benchmarks/trust.py [--minutes 2] [--only fuzz soak]

Runs the commands of ``doc/user_guide/trust.csv``, one after the other, and writes what they found,
with the date, into that table. Rows of commands that were not run stay as they are; the row of a
command that fails says so. All of them take hours, most of all the sanitizers.
"""

import argparse
import csv
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "doc" / "user_guide" / "trust.csv"
# The parts of the output that are figures; where a command says how far it has come, the last one.
CLOSING = r"\d+ (?:passed|failed).*? in [\d.]+s"
FIGURES = {
    "fuzz": r"\d+ tables, none failed",
    "fuzz-readers": r"stat::number_of_executed_units: *\d+",
    "soak": r"\d+ fits, [\d.]+ MB",
    "sanitize": rf"{CLOSING}|\d+ tables, none failed",
}


def figures_of(name, minutes):
    """Run ``make <name>`` and return the figures that it prints at its end."""
    words = ["make", name, f"MINUTES={minutes:g}"]
    print("+", *words, flush=True)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.findall(FIGURES.get(name, CLOSING), done.stdout + done.stderr)
    if name == "soak":
        found = found[-1:]
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
        found.insert(0, "failed")
    return "; ".join(found).replace("stat::number_of_executed_units:", "texts read: ")


def main():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = {
            row["command"].strip("`").removeprefix("make "): row for row in csv.DictReader(file)
        }
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="of each fuzz and of the soak")
    parser.add_argument("--only", nargs="*", choices=rows, default=list(rows))
    arguments = parser.parse_args()
    for name in arguments.only:
        found = figures_of(name, arguments.minutes)
        rows[name] |= {"last figures": found, "date": datetime.now(UTC).date().isoformat()}
        print(found, flush=True)
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, rows[name], lineterminator="\n")
            table.writeheader()
            table.writerows(rows.values())


if __name__ == "__main__":
    main()
