"""The parameters that estimators share: what they may be, what they mean, how they are documented.

An estimator takes its checks from ``shared_constraints`` and the text of its docstring from
``document_shared``, so that a word means the same thing in every room.
"""

import inspect
import math
import os
import re
import sys
import warnings
from numbers import Integral, Real
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.utils._compat import Interval, RealNotInt, StrOptions

# Seconds after which every exact search stops by default: a first call has to come back.
DEFAULT_TIME_LIMIT = 60.0

# Parameters that only classifiers have.
OF_CLASSIFIERS = (
    "class_weight",
    "confidence",
    "cost_matrix",
    "hierarchical_shrinkage",
    "leaf_smoothing",
)

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}

_CONSTRAINTS = {
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "confidence": [Interval(Real, 0, 0.5, closed="right")],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_weight_leaf": [Interval(Real, 0, None, closed="left")],
    "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "cost_matrix": ["array-like", None],
    "leaf_smoothing": [
        StrOptions({"laplace"}),
        Interval(Real, 0, None, closed="left"),
        None,
    ],
    "hierarchical_shrinkage": [Interval(Real, 0, None, closed="left")],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "search": [StrOptions({"exact", "lookahead"})],
    "time_limit": [Interval(Real, 0, None, closed="both"), None],
    "memory_limit": [Interval(Real, 1, None, closed="both"), str, None],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "warm_start": ["boolean"],
    "checkpoint": [str, os.PathLike, None],
}

_DOCS = {
    "max_leaf_nodes": """\
max_leaf_nodes : int or None, default=None
    Maximum number of leaves. None means no limit.
""",
    "min_samples_leaf": """\
min_samples_leaf : int or float, default=1
    Minimum number of rows in every leaf, whatever their weight. A float in (0, 1) is a share of
    the rows.
""",
    "min_samples_split": """\
min_samples_split : int or float, default=2
    Minimum number of rows of a node that is split. A float in (0, 1] is a share of the rows.
""",
    "min_weight_leaf": """\
min_weight_leaf : float, default=0.0
    Minimum weight of every leaf.
""",
    "min_weight_fraction_leaf": """\
min_weight_fraction_leaf : float, default=0.0
    Minimum weight of every leaf as a share of the total weight. The larger of the two minima
    counts.
""",
    "max_depth": """\
max_depth : int or None, default=None
    Maximum number of tests on a path. None means no limit.
""",
    "class_weight": """\
class_weight : dict, "balanced" or None, default=None
    Factors of the sample weights by class. "balanced" gives every class the same total weight.
""",
    "cost_matrix": """\
cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
    Cost of answering class `j` (columns) for class `i` (rows). Classes are in sorted order, those
    of rows of weight zero included.
""",
    "confidence": """\
confidence : float, default=0.25
    Confidence of C4.5's estimate of the errors on new rows: a smaller one fears more errors.
""",
    "leaf_smoothing": """\
leaf_smoothing : "laplace", float or None, default=None
    Rows that `predict_proba` adds to each leaf: "laplace" adds one row of each class, a float m
    adds m rows with the class frequencies of the root (m-estimate). `predict` does not change.
""",
    "hierarchical_shrinkage": """\
hierarchical_shrinkage : float, default=0.0
    Shrinks the probabilities of a leaf towards those of the nodes above it: each change from a
    node with n rows to its child is divided by ``1 + hierarchical_shrinkage / n``. `predict` does
    not change.
""",
    "categorical_features": """\
categorical_features : "from_dtype", array-like of bool, int or str, or None, \
default="from_dtype"
    Nominal columns: by their dtype, a mask, indices, names, or none. A list of "from_dtype" and
    indices or names: both. Ordered categorical and Boolean columns that are not named are split as
    numbers.
""",
    "search": """\
search : {"exact", "lookahead"}, default="exact"
    "exact": search until there is a proof, or a limit ends the search. "lookahead": the tree that
    an exact search of four or more levels begins with, found in polynomial time, for tables where
    no proof is to be expected. ``status_`` is then "lookahead", and ``lower_bound_`` is one that
    takes as little time.
""",
    "time_limit": """\
time_limit : float or None, default=60.0
    Seconds after which the fit ends with the best answer found so far and a warning; reading the
    table counts, but is not cut short. None or infinity means no limit.
""",
    "memory_limit": """\
memory_limit : int, float, str or None, default=None
    Bytes that the search may take besides the table and its encoded copy, or a size such as "2GB".
    None or infinity means no limit.
""",
    "random_state": """\
random_state : int, RandomState instance or None, default=None
    Seed of everything random. Pass an int for the same result in every call.
""",
    "n_jobs": """\
n_jobs : int or None, default=None
    Number of threads. The result does not depend on it. None means 1, -1 means all cores.
""",
    "warm_start": """\
warm_start : bool, default=False
    Keep what the search has found: the next `fit` on the same data searches only what is new.
""",
    "checkpoint": """\
checkpoint : str, path-like or None, default=None
    File in which the search is written every few seconds. The same call goes on from there, after
    the process was killed or a limit has ended the search; `time_limit`, `memory_limit` and
    `n_jobs` may change. The file stays when the search is done. See :ref:`checkpoints`.
""",
    # What `fit` takes.
    "fit_classes": """\
X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
    The rows; NaN, None and NA are missing values.

y : array-like of shape (n_samples,)
    Class labels.

sample_weight : array-like of shape (n_samples,) or None, default=None
    Weights; None for equal ones.
""",
    "fit_numbers": """\
X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
    The rows; NaN, None and NA are missing values.

y : array-like of shape (n_samples,)
    Targets.

sample_weight : array-like of shape (n_samples,) or None, default=None
    Weights; None for equal ones.
""",
    # Attributes.
    "columns": """\
feature_importances_ : ndarray of shape (n_features,)
    Change of the answers when a feature is not known, as shares that sum to 1.

%(columns_seen)s
""",
    "columns_seen": """\
n_features_in_ : int
    Number of columns seen in `fit`.

feature_names_in_ : ndarray of shape (n_features,)
    Their names, when all are strings.
""",
}


def shared_constraints(*names):
    """Checks of the shared parameters of these names, for ``_parameter_constraints``."""
    return {name: _CONSTRAINTS[name] for name in names}


def document_shared(cls, more=None):
    """Class decorator: replaces ``%(name)s`` in the docstrings by the text of a shared parameter.

    Parameters
    ----------
    cls : type
        With docstrings, its own and those of its methods.

    more : dict or None, default=None
        Texts by name that only some estimators share; they may name the shared ones.
    """
    texts = {**(more or {}), **{name: _DOCS[name] for name in _DOCS.keys() - (more or {}).keys()}}
    for documented in (cls, *filter(inspect.isfunction, vars(cls).values())):
        if "%(" in (documented.__doc__ or ""):
            documented.__doc__ = filled(inspect.cleandoc(documented.__doc__), texts)
    return cls


def filled(text, texts):
    """A docstring with the texts that it names, which may name others."""
    while names := [name for name in re.findall(r"%\((\w+)\)s", text) if name in texts]:
        for name in names:
            text = text.replace(f"%({name})s", texts[name].rstrip())
    # A type over two lines of source is one line with the indentation of the second.
    return re.sub(r"^\w+ : .*$", lambda line: " ".join(line[0].split()), text, flags=re.MULTILINE)


def rows_from(minimum, n_rows):
    """A minimum as a number of rows: an int as it is, a float as a share of `n_rows`."""
    return int(minimum) if isinstance(minimum, Integral) else math.ceil(minimum * n_rows)


def seconds_from(time_limit):
    """Seconds, or None for no limit."""
    return None if time_limit is None or time_limit == np.inf else float(time_limit)


def bytes_from(memory_limit):
    """Bytes, or None for no limit."""
    is_unlimited = isinstance(memory_limit, Real) and memory_limit == np.inf
    return None if is_unlimited else parse_memory(memory_limit)


def parse_memory(limit):
    """Bytes of a `memory_limit`: a number of bytes, or a string such as ``"2GB"``; None is None."""
    if limit is None:
        return None
    if isinstance(limit, Real) and 1 <= limit < float("inf"):
        return int(limit)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(limit))
    unit = UNITS.get(match.group(2).upper().removesuffix("B") + "B") if match else None
    if match and match.group(2).upper() in ("", "B"):
        unit = 1
    n_bytes = 0 if unit is None else int(float(match.group(1)) * unit)
    if n_bytes <= 0:
        raise ValueError(
            f"memory_limit must be a positive number of bytes or a string such as '2GB', got "
            f"{limit!r}."
        )
    return n_bytes


def warn_of_limit(estimator, status, found):
    """Warn that a search ended before its proof.

    Parameters
    ----------
    estimator : estimator
        With the parameter that `status` names.

    status : str
        The value of ``status_``; nothing happens unless it is "time_limit" or "memory_limit".

    found : str
        What the search leaves, as a sentence.
    """
    if status in ("time_limit", "memory_limit"):
        warn_user(
            f"The search stopped at {status}={getattr(estimator, status)!r} before it ended. "
            f"{found} Increase {status} to let it go on.",
            ConvergenceWarning,
        )


def warn_user(message, category=UserWarning):
    """Warn at the user's line: the last one outside this package, scikit-learn and joblib."""
    names = ("sktree_opt", "sklearn", "joblib")
    inside = tuple(str(Path(sys.modules[name].__file__).parent) for name in names)
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
