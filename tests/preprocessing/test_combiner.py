"""Combined columns against their definition, and trees that test them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from sktree_opt import ColumnCombiner, GreedyTreeClassifier, OptimalTreeClassifier
from sktree_opt.datasets import load_loans
from sktree_opt.export import export_text

KINDS = ["difference", "ratio", "discriminant", "logistic"]


def by_name(name, row):
    """The value that the name of a column promises, for one row of x0, x1 and so on."""
    if " / " in name:
        first, second = (row[int(part[1:])] for part in name.split(" / "))
        return np.nan if second == 0 else first / second
    terms = re.findall(r"([+-] |-)?(?:(\d[\d.e+-]*) )?x(\d+)", name)
    return sum(
        (-1.0 if "-" in sign else 1.0) * float(size or 1.0) * row[int(column)]
        for sign, size, column in terms
    )


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(KINDS), max_size=3, unique=True))
def test_columns_are_what_their_names_say(seed, kinds):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (30, int(rng.integers(2, 5)))).astype(float)
    X[rng.random(X.shape) < 0.03] = np.nan
    y = np.arange(30) % int(rng.integers(2, 4))
    combiner = ColumnCombiner(kinds, keep_columns=bool(rng.integers(2))).fit(X, y)
    names, columns = combiner.get_feature_names_out(), combiner.transform(X)
    assert columns.shape == (30, len(names))
    for j, name in enumerate(names):
        np.testing.assert_allclose(columns[:, j], [by_name(name, row) for row in X], rtol=1e-9)
    n_pairs = X.shape[1] * (X.shape[1] - 1) // 2
    assert sum(" / " in name for name in names) == n_pairs * ("ratio" in kinds)


def test_a_slanted_border_takes_one_test():
    """Figure 13 of the lecture notes: the target is a linear function of both columns."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + 0.8 * X[:, 1] < 0.9
    plain = OptimalTreeClassifier(max_depth=1).fit(X, y)
    for kind in ("discriminant", "logistic"):
        model = make_pipeline(ColumnCombiner(kind, digits=6), OptimalTreeClassifier(max_depth=1))
        assert model.fit(X, y).score(X, y) > 0.94 > plain.score(X, y) + 0.1


def test_names_reach_the_printout():
    pd = pytest.importorskip("pandas")
    X, y = load_loans(return_X_y=True, as_frame=True)
    numbers = X.select_dtypes("number").columns.tolist()
    X = X.assign(waited=np.arange(len(X)) % 50)
    combine = make_column_transformer(
        (ColumnCombiner(), [*numbers, "waited"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(combine, GreedyTreeClassifier()).fit(X, y)
    columns = model[0].transform(X)
    assert isinstance(columns, pd.DataFrame)
    assert f"{numbers[0]} - waited" in columns
    assert " - waited <= " in export_text(model)


def test_what_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="combinations must be among .* got 'product'"):
        ColumnCombiner(["ratio", "product"]).fit(X)
    with pytest.raises(ValueError, match="y"):
        ColumnCombiner("logistic").fit(X)
    with pytest.raises(ValueError, match="Column 'x0' holds categories without an order"):
        ColumnCombiner().fit([["a"], ["b"]])
    X[:, 0] = np.nan
    with pytest.raises(ValueError, match="rows of two classes without missing values"):
        ColumnCombiner("discriminant").fit(X, y)
