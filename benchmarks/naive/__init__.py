"""A plain one-thread DTsbe in C++ (dtsbe.cpp): compiled when it is first asked for, and run."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd


@cache
def program():
    """Path of the compiled program."""
    path = Path(tempfile.mkdtemp(), "dtsbe")
    source = Path(__file__).with_name("dtsbe.cpp")
    flags = ["-O3", "-std=c++17"]
    subprocess.run([os.environ.get("CXX", "c++"), *flags, source, "-o", path], check=True)
    return path


def write_table(path, X, y, search_rows):
    """Columns of floating-point numbers or categories, without missing values."""
    classes, labels = np.unique(y, return_inverse=True)
    blocks = [[len(X), X.shape[1], len(classes), len(search_rows)]]
    for name in X.columns:
        is_nominal = isinstance(X[name].dtype, pd.CategoricalDtype)
        cells = X[name].cat.codes if is_nominal else X[name]
        values, codes = np.unique(np.asarray(cells, dtype=np.float64), return_inverse=True)
        if is_nominal:
            values, codes = np.arange(len(X[name].cat.categories), dtype=np.float64), cells
        blocks += [[is_nominal, len(values)], codes, values.view(np.int64)]
    with path.open("wb") as file:
        for block in [*blocks, labels, search_rows]:
            file.write(np.ascontiguousarray(block, dtype=np.int64).tobytes())


@dataclass(frozen=True)
class NaiveResult:
    """What the program printed."""

    seconds: float
    n_trees: int
    n_case_sets: int
    n_errors: int  # on the search rows
    features: list  # of the last tree


def run_naive(X, y, search_rows):
    """Eliminate features of a table without missing values."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table")
        write_table(path, X, y, search_rows)
        command = [program(), path]
        words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    n_trees, n_case_sets, n_errors, *features = map(int, words[1:])
    return NaiveResult(float(words[0]), n_trees, n_case_sets, n_errors, features)
