"""Single rows: answers, and why."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.datasets import load_loans
from sktree_opt.export import RowPredictor, explain, export_rules
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.effort import examples
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
NAMES = [column["name"] for column in COLUMNS]
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])


def as_dicts(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


@given(seeds, st.sampled_from([None, True, False]), st.sampled_from([None, COSTS]), st.booleans())
@examples(60)
def test_single_rows_get_the_same_answers(seed, by_weight, costs, smooth):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=by_weight), costs=costs, smooth=smooth)
    rows, predict = random_rows(rng, 30), RowPredictor(model)
    answers, proba, leaves = model.predict(rows), model.predict_proba(rows), model.apply(rows)
    for row, answer, shares, leaf in zip(as_dicts(rows), answers, proba, leaves, strict=True):
        assert predict(row) == answer
        np.testing.assert_allclose(list(predict.proba(row).values()), shares, atol=1e-12)
        found = explain(model, row)
        assert found.prediction == answer
        np.testing.assert_allclose(list(found.probabilities.values()), shares, atol=1e-12)
        assert sum(part["share"] for part in found.leaves) == pytest.approx(1.0)
        assert found.leaves[0]["share"] == max(part["share"] for part in found.leaves)
        # Leaves of the same share are equally good as the one of the largest share.
        assert leaf in [
            p["leaf"] for p in found.leaves if p["share"] >= found.leaves[0]["share"] - 1e-12
        ]
        assert np.prod([step["share"] for step in found.path]) == pytest.approx(
            found.leaves[0]["share"]
        )


@given(seeds, st.sampled_from([None, True, False]))
@examples(30)
def test_single_rows_get_the_same_means(seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False, by_weight=by_weight))
    rows, predict = random_rows(rng, 30), RowPredictor(model)
    found = [predict(row) for row in as_dicts(rows)]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-12)
    assert explain(model, as_dicts(rows)[0]).probabilities is None
    with pytest.raises(AttributeError, match="no probabilities"):
        predict.proba(as_dicts(rows)[0])


@given(seeds)
@examples(30)
def test_the_reasons_are_those_of_the_rule(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=False))
    rules = {rule["leaf"]: rule for rule in export_rules(model)}
    for row in as_dicts(random_rows(rng, 10)):
        found = explain(model, row)
        (leaf,) = found.leaves
        rule = rules[leaf["leaf"]]
        assert leaf["rule"] == rule["rule"]
        assert leaf["support"] == rule["support"]
        asked = [(r["feature"], r["operator"], r["value_asked"]) for r in found.reasons]
        assert asked == [(c["feature"], c["operator"], c["value"]) for c in rule["conditions"]]
        for reason in found.reasons:
            value = row[reason["feature"]]
            assert reason["value"] == (None if value is None or value != value else value)
        assert json.dumps([found.reasons, found.path, found.leaves], allow_nan=False)


def test_description_for_a_customer():
    X, y = load_loans(return_X_y=True, as_frame=True)
    tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    row = {"employment": None, "months": 24, "rating": "poor"}
    assert str(explain(tree, row)).splitlines() == [
        "The answer is default.",
        '- rating = "poor"',
        '- employment != "retired" or missing; here it is missing',
        "Of 76 training rows like this one, 71.1% are default and 28.9% repaid.",
    ]
    assert explain(tree, row, class_names=["lost", "paid"]).text.startswith("The answer is lost.")


def test_description_for_a_shared_row():
    X, y = load_loans(return_X_y=True, as_frame=True)
    tree = GreedyTreeClassifier(max_depth=1).fit(X, y)
    assert str(explain(tree, {"rating": None})).splitlines() == [
        "The answer is repaid.",
        (
            "The row has no value for rating, so it goes down several branches, in proportion to "
            "the training rows:"
        ),
        '- 66.7%: repaid, if rating in {"fair", "good"} (or missing: 66.7%)',
        '- 33.3%: repaid, if rating = "poor" (or missing: 33.3%)',
        "Together they give 71.8% repaid and 28.3% default.",
    ]


def test_description_for_a_mean():
    tree = OptimalTreeRegressor(max_depth=1).fit([[0.0], [1.0]] * 3, [1.0, 5.0] * 3)
    assert explain(tree, [0.25]).text.splitlines() == [
        "The answer is 1.",
        "- x0 <= 0.5; here it is 0.25",
        "This is the mean of 3 training rows like this one.",
    ]


def test_kinds_of_rows():
    pd = pytest.importorskip("pandas")
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0, 9.0], [1.0, 9.0]] * 3, ["a", "b"] * 3)
    rows = [[1.0, 9.0], (1, 9), np.array([1.0, 9.0]), np.array([[1.0, 9.0]]), {"x0": np.float32(1)}]
    rows += [pd.Series({"x0": 1, "x1": 2}), pd.DataFrame([[1.0, 9.0]])]
    for row in rows:
        assert explain(tree, row).prediction == "b"


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        (
            {"x1": 1.0},
            ValueError,
            "The row has no value for column 'x0'; give None if",
        ),
        ({"x0": "1"}, TypeError, "Column 'x0' must hold numbers, got '1'"),
        ({"x0": np.inf}, ValueError, "Column 'x0' holds infinity"),
        ([1.0], ValueError, "row has 1 values, but the tree takes 2"),
        ("ab", TypeError, "row must be a dict, a sequence or a table, got str"),
    ],
)
def test_wrong_rows(row, error, message):
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0, 9.0], [1.0, 9.0]] * 3, ["a", "b"] * 3)
    with pytest.raises(error, match=message):
        explain(tree, row)


def test_a_table_of_several_rows():
    pd = pytest.importorskip("pandas")
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0, 9.0], [1.0, 9.0]] * 3, ["a", "b"] * 3)
    with pytest.raises(ValueError, match="row must be one row, got a table of 2"):
        explain(tree, pd.DataFrame([[1.0, 9.0], [2.0, 9.0]]))
