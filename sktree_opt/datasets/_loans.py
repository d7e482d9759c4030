"""Made-up loans: the kind of table people bring, by a formula."""

from __future__ import annotations

from random import Random
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch

from sktree_opt.datasets._bunch import make_bunch

N_SAMPLES = 400
NOISE = 0.08
EMPLOYMENTS = ["retired", "salaried", "self-employed", "student"]
HOUSINGS = ["owner", "tenant", "with family"]
RATINGS = ["poor", "fair", "good"]

DESCRIPTION = """Made-up loans
=============
Four hundred loans that no bank gave, drawn from a fixed seed. A loan is at risk when

- the monthly rate passes 35% of the income; or
- the rating is poor and the applicant is a student or self-employed; or
- the monthly rate passes 15% of the income, and the applicant is a tenant with a guarantor or an
  owner without one. No single feature shows this interplay.

Loans at risk default and the others are repaid. In 8% of the rows it is the other way round. One
income in ten, one employment in twenty and one rating in six are not known. Licence: BSD-3-Clause,
as the package."""


def _draw_loan(draw):
    """One loan: true values first, the missing ones afterwards. `draw()` is uniform in [0, 1)."""
    loan = {
        "age": 18 + int(55 * draw()),
        "income": 10.0 * (80 + int(420 * draw() * (0.5 + 0.5 * draw()))),
        "employment": EMPLOYMENTS[int(4 * draw())],
        "housing": HOUSINGS[int(3 * draw())],
        "guarantor": draw() < 0.4,
        "amount": 100 * (5 + int(195 * draw() * draw())),
        "months": 6 * (1 + int(10 * draw())),
        "rating": RATINGS[int(3 * draw())],
    }
    # Percent of the income, without division: the same on every machine.
    burden, income = 100 * loan["amount"], loan["income"] * loan["months"]
    exposed = (loan["housing"] == "tenant" and loan["guarantor"]) or (
        loan["housing"] == "owner" and not loan["guarantor"]
    )
    unsteady = loan["employment"] in ("student", "self-employed")
    risk = (
        burden > 35 * income
        or (exposed and burden > 15 * income)
        or (unsteady and loan["rating"] == "poor")
    )
    repaid = risk == (draw() < NOISE)
    for name, share in {"income": 0.1, "employment": 0.05, "rating": 1 / 6}.items():
        if draw() < share:
            loan[name] = None
    return loan, repaid


@overload
def load_loans(*, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...
@overload
def load_loans(*, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...
def load_loans(*, return_X_y: bool = False, as_frame: bool = False) -> Bunch | tuple[Any, Any]:
    """Load a made-up table with numbers, categories and missing values.

    Drawn by a formula from a fixed seed, the same on every machine; ``DESCR`` states it.

    =================   =======================================================
    Samples             400
    Features            3 integer, 1 real, 2 nominal, 1 ordered, 1 Boolean
    Classes             "default", "repaid"
    Missing values      in income, employment and rating
    =================   =======================================================

    Parameters
    ----------
    return_X_y : bool, default=False
        If True, return ``(data, target)`` instead of a Bunch.

    as_frame : bool, default=False
        If True, the data are a pandas DataFrame; else an array of objects in which None is a
        missing value.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with ``data``, ``target``, ``frame``, ``feature_names``,
        ``target_names`` and ``DESCR``. With ``return_X_y=True``, the tuple ``(data, target)``.

    See Also
    --------
    load_restaurant : Twelve samples with nominal features.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> loans = load_loans()
    >>> loans.data.shape
    (400, 8)
    >>> loans.feature_names[:3]
    ['age', 'income', 'employment']
    """
    draw = Random(1852).random  # random() keeps its stream across versions; nothing else is used
    loans, repaid = zip(*[_draw_loan(draw) for _ in range(N_SAMPLES)], strict=True)
    return make_bunch(
        {name: [loan[name] for loan in loans] for name in loans[0]},
        {
            "employment": (EMPLOYMENTS, False),
            "housing": (HOUSINGS, False),
            "rating": (RATINGS, True),
        },
        np.where(repaid, "repaid", "default"),
        target_names=["default", "repaid"],
        description=DESCRIPTION,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
