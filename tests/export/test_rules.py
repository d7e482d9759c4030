"""The rules, executed as their documentation says, predict the same."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sktree_opt.export import export_rules
from sktree_opt.tree._node import LEAF
from tests.export.interpreter import read_row
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)


def share_of(rule, cells):
    """Share of a row that a rule holds for."""
    share = 1.0
    for condition in rule["conditions"]:
        value, asked = cells[condition["feature"]].value, condition["value"]
        if value is None:
            share *= condition["missing"]
            continue
        share *= {
            "<=": lambda v, a: v <= a,
            ">": lambda v, a: v > a,
            "between": lambda v, a: a[0] < v <= a[1],
            "in": lambda v, a: v in a,
            "known": lambda v, a: True,
            "missing": lambda v, a: False,
        }[condition["operator"]](value, asked)
    return share


@given(seeds, st.sampled_from([None, True, False]))
@settings(max_examples=80, deadline=None)
def test_the_rules_predict_the_same(seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=by_weight))
    rows = random_rows(rng, 40)
    rules = export_rules(model)
    for row, expected in zip(rows, model.predict_proba(rows), strict=True):
        cells = read_row(row, COLUMNS)
        shares = [share_of(rule, cells) for rule in rules]
        assert sum(shares) == pytest.approx(1.0)
        if all(cell.value is not None for cell in cells.values()):
            assert sorted(shares)[-1] == 1.0
        proba = sum(
            share * np.array(list(rule["probabilities"].values()))
            for share, rule in zip(shares, rules, strict=True)
        )
        np.testing.assert_allclose(proba, expected, atol=1e-9)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_the_rules_of_a_regression_predict_the_same(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False))
    rows = random_rows(rng, 40)
    rules = export_rules(model)
    for row, expected in zip(rows, model.predict(rows), strict=True):
        cells = read_row(row, COLUMNS)
        found = sum(share_of(rule, cells) * rule["prediction"] for rule in rules)
        assert found == pytest.approx(expected)


@given(seeds, st.booleans())
@settings(max_examples=40, deadline=None)
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
    lines = [line for line in lines if not line.startswith("A missing value goes")]
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
