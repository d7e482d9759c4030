"""The restaurant table of a well-known textbook."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from sktree_opt.datasets._bunch import make_bunch

# Categories of the ordinal attributes, in their order.
ORDERS = {
    "Patrons": ["None", "Some", "Full"],
    "Price": ["$", "$$", "$$$"],
    "WaitEstimate": ["0-10", "10-30", "30-60", ">60"],
}


@overload
def load_restaurant(
    *, return_X_y: Literal[False] = False, as_frame: bool = False, ordered: bool = False
) -> Bunch: ...
@overload
def load_restaurant(
    *, return_X_y: Literal[True], as_frame: bool = False, ordered: bool = False
) -> tuple[Any, Any]: ...
def load_restaurant(
    *, return_X_y: bool = False, as_frame: bool = False, ordered: bool = False
) -> Bunch | tuple[Any, Any]:
    """Load the restaurant table: whether to wait for a seat.

    Twelve evenings described by ten nominal attributes, from the chapter on learning from
    examples of [1]_. Small enough to follow a tree by hand.

    =================   ==============
    Samples             12
    Features            10, nominal
    Classes             False, True
    Missing values      none
    =================   ==============

    Parameters
    ----------
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    as_frame : bool, default=False
        If True, the data are a pandas DataFrame with categorical columns; else an array of
        strings.

    ordered : bool, default=False
        If True, the columns Patrons, Price and WaitEstimate are ordered categories, which are split
        as numbers are. Needs ``as_frame=True``.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with ``data``, ``target`` (whether to wait), ``frame``,
        ``feature_names``, ``target_names`` and ``DESCR``. With ``return_X_y=True``, the tuple
        ``(data, target)``.

    See Also
    --------
    load_loans : A table with numbers, categories and missing values.

    References
    ----------
    .. [1] S. Russell and P. Norvig, "Artificial Intelligence: A Modern Approach".

    Examples
    --------
    >>> from sktree_opt.datasets import load_restaurant
    >>> X, y = load_restaurant(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((12, 10), 6)
    """
    if ordered and not as_frame:
        raise ValueError("ordered=True needs as_frame=True: an array of strings has no order.")
    folder = files("sktree_opt.datasets") / "data"
    header, *rows = csv.reader((folder / "restaurant.csv").read_text("utf-8").splitlines())
    *values, waits = zip(*rows, strict=True)
    columns = {name: list(column) for name, column in zip(header, values, strict=False)}
    return make_bunch(
        columns,
        {
            name: (ORDERS[name], True)
            if ordered and name in ORDERS
            else (sorted(set(column)), False)
            for name, column in columns.items()
        },
        np.array([answer == "Yes" for answer in waits]),
        target_names=["leave", "wait"],
        description=(folder / "README.md").read_text("utf-8"),
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
