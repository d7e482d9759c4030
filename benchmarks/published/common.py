"""Sets, folds and tests that the papers share."""

import gzip
import time
import warnings

import numpy as np
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from uci import FOLDER


def binary_sets(arguments, names, quick):
    """Name, 0/1 columns and classes of each set; sets that are not there are named."""
    names = arguments.sets or (quick if arguments.quick else names)
    missing = [name for name in names if not binary_path(name).exists()]
    if missing:
        print(f"missing sets in {FOLDER / 'binary'}: {', '.join(missing)}")
    for name in names:
        if name not in missing:
            with gzip.open(binary_path(name), "rt") as file:
                table = np.loadtxt(file)
            yield name, table[:, 1:].astype(np.uint8), table[:, 0].astype(np.int64)


def binary_path(name):
    return FOLDER / "binary" / f"{name}.txt.gz"


def all_binary_sets():
    return sorted(path.name[: -len(".txt.gz")] for path in (FOLDER / "binary").glob("*.txt.gz"))


def folds_of(arguments, y, n_folds=10):
    """Training and test rows of stratified folds; three in the quick form."""
    n_folds = arguments.folds or (3 if arguments.quick else n_folds)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y))


def seconds_of(work, *values):
    """CPU seconds of a call, and what it returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        result = work(*values)
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
