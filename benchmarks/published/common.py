"""What the papers share: their numbers, folds, times, tests of differences, axes of plots."""

import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold


@cache
def numbers(paper, section):
    """A section of the text file of a paper: cells by row, then by column.

    A cell is a number, "mean/deviation", perhaps with a "*", ">1h", or "-".
    """
    text = Path(__file__).with_name(f"{paper}.txt").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        title, header, *lines = block.splitlines()
        if title == f"[{section}]":
            columns = header.split()[1:]
            rows = [line.split() for line in lines]
            return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in rows}
    raise KeyError(f"{paper}.txt has no section {section!r}")


def cell_of(paper, section, row, column):
    """A cell of the paper, "-" where it has none."""
    return numbers(paper, section).get(row, {}).get(column, "-")


def mean_of(cell):
    """Mean and deviation of a cell; None for what it has not."""
    mean, _, deviation = cell.rstrip("*").partition("/")
    try:
        return float(mean), float(deviation) if deviation else None
    except ValueError:
        return None, None


def limit_of(options, quick, full):
    """Seconds that a search may take."""
    return options.time_limit or (quick if options.quick else full)


def folds_of(options, y, n_folds=10):
    """Training and test rows of stratified folds; three in the quick form."""
    n_folds = options.folds or (3 if options.quick else n_folds)
    with warnings.catch_warnings():
        # Some classes have fewer members than there are folds, in the papers too.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y))


def quietly(function, *arguments):
    """A call without the warnings of searches that a limit ends: those are counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "y_pred|The number of unique classes", UserWarning)
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return function(*arguments)


def seconds_of(work, *arguments):
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = quietly(work, *arguments)
    return time.process_time() - start, result


def corrected_t_test(first, second, test_share):
    """Two-sided p-value of Nadeau and Bengio's corrected t-test of paired scores over folds."""
    differences = np.subtract(first, second)
    n, variance = len(differences), np.var(differences, ddof=1)
    if variance == 0.0:
        return 1.0 if differences[0] == 0.0 else 0.0
    statistic = differences.mean() / np.sqrt(variance * (1 / n + test_share / (1 - test_share)))
    return float(2.0 * student.sf(abs(statistic), n - 1))


def mark(p, difference, level=0.05):
    """ "+" where the first is significantly better, "-" where it is worse, else "0"."""
    if p >= level:
        return "0"
    return "+" if difference > 0 else "-"


def new_axes(*titles, xlabel="m", **settings):
    """A figure with one plot for each title."""
    figure = Figure(figsize=(5 * len(titles), 4), layout="constrained")
    axes = figure.subplots(1, len(titles), squeeze=False)[0]
    for axis, title in zip(axes, titles, strict=True):
        axis.set(title=title, xlabel=xlabel, **settings)
    return figure, axes


def draw_lines(axis, x, lines, what):
    """Draw and print a line over `x` for each name."""
    print(f"{what:28}" + "".join(f"{value:>12g}" for value in x))
    for name, values in lines.items():
        axis.plot(x, values, marker="o", label=name)
        print(f"  {name:26}" + "".join(f"{value:12.5g}" for value in values), flush=True)
    axis.set_ylabel(what)
    axis.legend(fontsize=7)
