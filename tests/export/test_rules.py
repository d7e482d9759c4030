"""The rules, executed as their documentation says, predict the same."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.export import export_rules
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.tree._node import LEAF
from tests.effort import examples
from tests.export.interpreter import share_of
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)


def listed_categories(rules):
    """All that the rules list, by feature."""
    listed = {}
    for rule in rules:
        for condition in rule["conditions"]:
            if condition["operator"] in ("in", "not in"):
                listed.setdefault(condition["feature"], []).extend(condition["value"])
    return listed


def rows_as_dicts(rows):
    """Rows by column name; None where a value is missing."""
    names = [column["name"] for column in COLUMNS]
    return [
        {name: None if v is None or v != v else v for name, v in zip(names, row, strict=True)}
        for row in rows
    ]


@given(seeds, st.sampled_from([None, True, False]))
@examples(80)
def test_the_rules_predict_the_same(seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=by_weight))
    rows = random_rows(rng, 40)
    rules = export_rules(model)
    listed = listed_categories(rules)
    for row, expected in zip(rows_as_dicts(rows), model.predict_proba(rows), strict=True):
        shares = [share_of(rule, row, listed) for rule in rules]
        assert sum(shares) == pytest.approx(1.0)
        if by_weight is False:
            # One rule holds, whether values are missing, unseen or neither.
            assert sorted(shares)[-1] == 1.0
        proba = sum(
            share * np.array(list(rule["probabilities"].values()))
            for share, rule in zip(shares, rules, strict=True)
        )
        np.testing.assert_allclose(proba, expected, atol=1e-9)


@given(seeds)
@examples(40)
def test_the_rules_of_a_regression_predict_the_same(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False))
    rows = random_rows(rng, 40)
    rules = export_rules(model)
    listed = listed_categories(rules)
    for row, expected in zip(rows_as_dicts(rows), model.predict(rows), strict=True):
        found = sum(share_of(rule, row, listed) * rule["prediction"] for rule in rules)
        assert found == pytest.approx(expected)


@given(seeds, st.booleans())
@examples(40)
def test_records(seed, is_classifier):
    model = model_of(random_tree(np.random.default_rng(seed), is_classifier=is_classifier))
    tree, rules = model.tree_, export_rules(model)
    leaves = [rule["leaf"] for rule in rules]
    assert len(set(leaves)) == len(leaves)
    assert set(leaves) <= set(np.flatnonzero(tree.nodes["kind"] == LEAF).tolist())
    for rule in rules:
        assert rule["support"] == tree.nodes["weight"][rule["leaf"]]
        assert rule["n_samples"] == tree.nodes["n_samples"][rule["leaf"]]
        asked = [condition["feature"] for condition in rule["conditions"]]
        # Tests of the same feature are one condition.
        assert len(set(asked)) == len(asked)
        if is_classifier:
            likely = max(rule["probabilities"], key=rule["probabilities"].get)
            assert rule["prediction"] == likely
        assert all(0.0 <= condition["missing"] <= 1.0 for condition in rule["conditions"])
    assert json.loads(json.dumps(rules, allow_nan=False)) == rules
    lines = export_rules(model, output="text").splitlines()
    lines = [line for line in lines if line.startswith("if ")]
    assert len(lines) == len(rules)
    for line, rule in zip(lines, rules, strict=True):
        assert line.startswith(f"if {rule['rule']} then ")


def test_a_table_of_rules():
    pd = pytest.importorskip("pandas")
    model = model_of(random_tree(np.random.default_rng(0)))
    frame = pd.DataFrame(export_rules(model))
    assert frame.columns.tolist() == [
        "rule", "conditions", "prediction", "probabilities", "support", "n_samples", "leaf",
    ]  # fmt: skip
    reached = model.tree_.nodes["weight"][frame["leaf"]]
    assert frame["support"].tolist() == reached.tolist()


def test_a_lone_leaf():
    model = model_of(random_tree(np.random.default_rng(0), max_depth=0))
    (rule,) = export_rules(model)
    assert rule["rule"] == "always"
    assert rule["conditions"] == []


def test_wrong_output():
    model = model_of(random_tree(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="'output' parameter of export_rules must be"):
        export_rules(model, output="sql")


def draw_rules(X, y, **parameters):
    tree = OptimalTreeClassifier(max_depth=2, **parameters).fit(X, y)
    return tree, export_rules(tree, output="text").splitlines()


def test_only_columns_with_holes_name_missing_values():
    """And brackets keep "or missing" apart from the "and" of the rule."""
    age = np.array([30.0, 40.0, 60.0, 70.0, np.nan, np.nan] * 4)
    months = np.array([10.0, 20.0] * 12)
    y = np.where(np.nan_to_num(age, nan=20.0) > 50, "bad", np.where(months > 15, "ok", "good"))
    _, lines = draw_rules(np.column_stack([age, months]), y)
    assert sum("(x0 <= 50 or missing)" in line for line in lines) == 2
    assert not any("x1" in line and "x1 > 15 or" in line for line in lines)
    assert lines[-1] == (
        "Where no rule says so, a missing number counts as larger than every threshold."
    )
    _, lines = draw_rules(months[:, None], y)
    assert lines[-1] == "A missing number counts as larger than every threshold."


def test_other_categories_are_not_in_a_list():
    rows = [["<0"], ["0-200"], [">=200"], ["none"]] * 5
    y = ["bad" if row == ["<0"] else "good" for row in rows]
    tree, lines = draw_rules(rows, y)
    assert lines == [
        'if x0 = "<0" then bad (5 rows: bad 100%)',
        'if x0 != "<0" then good (15 rows: good 100%)',
        "A missing category counts as one that is not listed.",
    ]
    conditions = [rule["conditions"][0] for rule in export_rules(tree)]
    assert [(c["operator"], c["value"], c["missing"]) for c in conditions] == [
        ("in", ["<0"], 0.0),
        ("not in", ["<0"], 1.0),
    ]
