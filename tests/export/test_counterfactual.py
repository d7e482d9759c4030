"""The nearest row with another answer, against all rows of a grid."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from sktree_opt.datasets import load_loans
from sktree_opt.export import RowPredictor, counterfactual
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.effort import examples
from tests.reference.brute_force_counterfactual import nearest_cost
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
NAMES = [column["name"] for column in COLUMNS]
# Few enough columns that all rows of the grid can be tried.
CHOSEN = [COLUMNS[0], COLUMNS[2], COLUMNS[5], COLUMNS[1]]


def grids_of(tree, columns):
    """For each column, values on both sides of every threshold, or all categories."""
    grids = []
    for j, column in enumerate(columns):
        if column["kind"] == "numeric":
            tests = tree.nodes[(tree.nodes["feature"] == j) & (tree.nodes["kind"] == 1)]
            cuts = sorted(set(tests["threshold"].tolist()))
            grid = [*cuts, *(math.nextafter(cut, math.inf) for cut in cuts)]
            # A known value where the tree asks for no more than that.
            grids.append(grid or [0.0])
        else:
            grids.append(list(column["categories"]))
    return grids


@given(
    seeds,
    st.sampled_from([None, True, False]),
    st.sets(st.integers(0, 3), max_size=2),
    st.dictionaries(st.integers(0, 3), st.sampled_from([0.0, 0.25, 3.0])),
    st.booleans(),
)
@examples(150)
def test_no_row_is_nearer(seed, by_weight, fixed, costs, is_named):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, CHOSEN, max_depth=3, by_weight=by_weight)
    model = model_of(tree, CHOSEN)
    names = [column["name"] for column in CHOSEN]
    row = [None if v is None or v != v else v for v in random_rows(rng, 1, CHOSEN)[0]]
    row = [0.5 if v == 0.0 else v for v in row]
    now = model.predict(np.array([row], dtype=object))[0]
    answer = "class 2" if is_named else None

    def is_wanted(rows):
        table = np.empty((len(rows), len(names)), dtype=object)
        table[:] = rows
        found = model.predict(table)
        return found == answer if is_named else found != now

    expected = nearest_cost(
        row, [column["kind"] for column in CHOSEN], grids_of(tree, CHOSEN), is_wanted, fixed, costs
    )
    found = counterfactual(
        model,
        dict(zip(names, row, strict=True)),
        answer=answer,
        fixed=[names[j] for j in fixed],
        costs={names[j]: cost for j, cost in costs.items()},
    )
    assert (found is None) == (expected is None)
    if found is not None:
        assert found.distance == pytest.approx(expected[0], abs=1e-9)
        check_result(model, found, row, names, fixed, is_wanted)


def check_result(model, found, row, names, fixed, is_wanted):
    """The row has the answer, and differs from the old one where the records say so."""
    new = [found.row[name] for name in names]
    assert is_wanted([new])[0]
    table = np.empty((1, len(names)), dtype=object)
    table[:] = [new]
    assert model.predict(table)[0] == found.prediction
    changed = {change["feature"] for change in found.changes}
    assert changed == {n for n, a, b in zip(names, row, new, strict=True) if a != b}
    assert not changed & {names[j] for j in fixed}
    for change in found.changes:
        assert change["from"] == row[names.index(change["feature"])]
        assert change["to"] == found.row[change["feature"]]
        assert change["to"] is not None
        assert change["condition"].startswith(change["feature"])
    assert sum(c["cost"] for c in found.changes) == pytest.approx(found.distance)
    assert len(str(found).splitlines()) == 1 + len(found.changes)


def test_one_customer():
    X, y = load_loans(return_X_y=True, as_frame=True)
    tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    row = {"employment": "student", "months": 6, "rating": "poor"}
    found = counterfactual(tree, row)
    assert found.changes == [
        {
            "feature": "employment",
            "from": "student",
            "to": "retired",
            "condition": 'employment = "retired"',
            "cost": 1.0,
        }
    ]
    found = counterfactual(tree, row, fixed=["employment"])
    assert found.row == {"employment": "student", "months": 10, "rating": "fair"}
    found = counterfactual(tree, row, costs={"employment": 9, "rating": 0.5, "months": 0.1})
    assert found.distance == pytest.approx(0.5 + 0.3)
    assert counterfactual(tree, row, fixed=["employment", "rating"]) is None
    # A whole row will do, as a table or as a list.
    whole = X[tree.predict(X) == "default"].head(1)
    found = counterfactual(tree, whole)
    assert found.row == counterfactual(tree, whole.to_numpy(object)[0].tolist()).row
    assert found.row == counterfactual(tree, whole.iloc[0]).row
    assert set(found.row) == set(X.columns)


def test_missing_values_that_are_shared_out():
    """They can stay missing or be filled in, which counts as a change."""
    X, y = load_loans(return_X_y=True, as_frame=True)
    tree = GreedyTreeClassifier(max_depth=2).fit(X, y)
    row = {"employment": "student", "months": 24, "rating": None}
    assert RowPredictor(tree)(row) == "repaid"
    found = counterfactual(tree, row, fixed=["months"])
    assert found.prediction == "default"
    assert [(c["feature"], c["from"], c["to"]) for c in found.changes] == [("rating", None, "poor")]
    assert str(found).endswith('- rating = "poor" instead of a missing value')


def test_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = OptimalTreeRegressor(max_depth=2).fit(X, y)
    means = sorted(set(tree.predict(X).tolist()))
    row = X[tree.predict(X) == means[0]].head(1)
    found = counterfactual(tree, row, answer=(means[-1], np.inf))
    assert found.prediction == means[-1]
    assert tree.predict(X.head(1).assign(**found.row))[0] == means[-1]
    with pytest.raises(ValueError, match="answer must be a pair"):
        counterfactual(tree, row)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"fixed": "x0"}, TypeError, "fixed must be a sequence of column names, got 'x0'"),
        ({"fixed": ["age"]}, ValueError, "fixed names columns that the tree does not have.*'age'"),
        ({"costs": {"age": 1}}, ValueError, "costs names columns that the tree does not have"),
        ({"costs": {"x0": -1}}, ValueError, r"costs\['x0'\] must be a finite number .* got -1"),
        (
            {"costs": {"x0": np.inf}},
            ValueError,
            r"costs\['x0'\] must be .* in fixed if",
        ),
        ({"answer": "c"}, ValueError, r"answer must be one of the classes \['a', 'b'\], got 'c'"),
    ],
)
def test_wrong_parameters(parameters, error, message):
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]] * 3, ["a", "b"] * 3)
    with pytest.raises(error, match=message):
        counterfactual(tree, [0.0], **parameters)


@pytest.mark.parametrize(
    ("old", "threshold", "new"),
    [(0, 57.5, 58), (0.3, 57.5, 57.6), (99, 57.5, 57), (0.1, 1e-7, 1e-7)],
)
def test_numbers_are_short(old, threshold, new):
    # Values so close that the threshold is their middle.
    half = min(0.5, threshold)
    X = [[threshold - half], [threshold + half]] * 3
    tree = OptimalTreeClassifier(max_depth=1).fit(X, ["a", "b"] * 3)
    assert tree.tree_.nodes["threshold"][0] == threshold
    found = counterfactual(tree, [old])
    assert found.row == {"x0": new}
    assert type(found.row["x0"]) is type(new)
