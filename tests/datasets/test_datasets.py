"""The shipped tables: what they hold, in every form they can be asked for."""

from importlib.resources import files

import numpy as np
import pytest

from sktree_opt import GreedyTreeClassifier
from sktree_opt.datasets import load_loans, load_restaurant
from sktree_opt.export import export_text

LOADERS = [load_restaurant, load_loans]


@pytest.mark.parametrize("load", LOADERS)
def test_forms_agree(load):
    pytest.importorskip("pandas")
    bunch, framed = load(), load(as_frame=True)
    assert bunch.frame is None
    assert bunch.data.shape == framed.data.shape == (len(bunch.target), len(bunch.feature_names))
    assert list(framed.data.columns) == bunch.feature_names == framed.feature_names
    assert list(framed.frame.columns) == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(framed.target, bunch.target)
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        column = framed.data[name].astype(object)
        assert column.where(column.notna(), None).tolist() == list(values)

    for form in (False, True):
        X, y = load(return_X_y=True, as_frame=form)
        np.testing.assert_array_equal(y, bunch.target)
        assert X.shape == bunch.data.shape


@pytest.mark.parametrize("load", LOADERS)
def test_loads_are_independent(load):
    load().data[:] = None
    assert not all(value is None for value in load().data.ravel())


def test_restaurant_is_the_textbook_table():
    X, y = load_restaurant(return_X_y=True)
    patrons = X[:, 4]
    # "None" is a category here: nobody is in the restaurant.
    assert sorted(set(patrons)) == ["Full", "None", "Some"]
    assert y[patrons == "Some"].all()
    assert not y[patrons == "None"].any()
    assert y.dtype == bool
    assert (int((patrons == "Full").sum()), int(y[patrons == "Full"].sum())) == (6, 2)


def test_restaurant_licence_is_stated():
    assert "licence" in load_restaurant().DESCR
    shipped = {path.name for path in (files("sktree_opt.datasets") / "data").iterdir()}
    assert {"restaurant.csv", "README.md"} <= shipped


def test_loans_follow_their_formula():
    bunch = load_loans()
    rows = [dict(zip(bunch.feature_names, row, strict=True)) for row in bunch.data]
    known = [all(value is not None for value in row.values()) for row in rows]
    assert 0.6 < np.mean(known) < 0.8
    as_stated = []
    for row, target in zip(rows, bunch.target, strict=True):
        if any(value is None for value in row.values()):
            continue
        share = row["amount"] / (row["income"] * row["months"])
        exposed = (row["housing"], row["guarantor"]) in {("tenant", True), ("owner", False)}
        unsteady = row["employment"] in {"student", "self-employed"} and row["rating"] == "poor"
        at_risk = share > 0.35 or (exposed and share > 0.15) or unsteady
        as_stated.append(at_risk == (target == "default"))
    assert 0.88 < np.mean(as_stated) < 0.96
    assert 0.2 < np.mean(bunch.target == "default") < 0.6


def test_frame_dtypes():
    pytest.importorskip("pandas")
    loans = load_loans(as_frame=True).data
    assert {name: loans[name].dtype.kind for name in ("age", "income", "guarantor")} == {
        "age": "i",
        "income": "f",
        "guarantor": "b",
    }
    assert loans["rating"].cat.ordered
    assert not loans["employment"].cat.ordered
    assert sorted(loans.columns[loans.isna().any()]) == ["employment", "income", "rating"]
    assert set(load_restaurant(as_frame=True).data.dtypes.map(str)) == {"category"}
    X, y = load_restaurant(return_X_y=True, as_frame=True, ordered=True)
    ordered = [name for name in X if X[name].cat.ordered]
    assert sorted(ordered) == ["Patrons", "Price", "WaitEstimate"]
    assert not X.isna().any(axis=None)
    tree = GreedyTreeClassifier(max_depth=1).fit(X[["Price"]], y)
    assert export_text(tree).splitlines()[0].startswith('Price <= "$$":')
    with pytest.raises(ValueError, match="ordered=True needs as_frame=True"):
        load_restaurant(ordered=True)
