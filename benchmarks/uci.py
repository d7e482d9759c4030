"""The UCI tables of Ruggieri (2019), from the folder that SKTREE_OPT_DATA names."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(
    os.environ.get("SKTREE_OPT_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
).resolve()


def require_data():
    """Exit with a message if the data are missing."""
    if not (FOLDER / "uci").is_dir():
        sys.exit(f"no data in {FOLDER}: set SKTREE_OPT_DATA to the folder that holds uci/")


def load(name):
    """Features (nominal columns as category, missing cells as NA) and class codes."""
    nominal = json.loads((FOLDER / "uci" / "nominal_columns.json").read_text("utf-8"))[name]
    path = next(iter(sorted((FOLDER / "uci").glob(f"{name}.csv*"))))
    table = pd.read_csv(
        path, keep_default_na=False, na_values=[""], dtype=dict.fromkeys(nominal, str)
    )
    X = table.drop(columns="class").astype(dict.fromkeys(nominal, "category"))
    return X, np.unique(table["class"], return_inverse=True)[1]


def as_codes(X):
    """One float64 matrix, categories as codes and NaN where a cell is missing."""
    matrix = np.empty(X.shape)
    for j, name in enumerate(X.columns):
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            matrix[:, j] = np.where(column.isna(), np.nan, column.cat.codes)
        else:
            matrix[:, j] = column.to_numpy(np.float64)
    return matrix
