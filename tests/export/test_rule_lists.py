"""Exports of rule lists are run, or read, and answer as predict does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from sktree_opt import (
    AcceptableSubsetSelector,
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    RuleListClassifier,
)
from sktree_opt.datasets import load_loans
from sktree_opt.export import (
    RowPredictor,
    explain,
    export_dot,
    export_rules,
    export_text,
)
from tests.export.test_code import check, every_language, few
from tests.tree.random_tree import COLUMNS, random_rows

TREES = [
    GreedyTreeClassifier(max_depth=5),
    GreedyTreeClassifier(missing="category", nominal_split="subset", max_depth=3),
    GreedyTreeClassifier(missing="majority", nominal_split="one_vs_rest"),
    OptimalTreeClassifier(max_depth=2),
]


def random_list(seed, tree):
    """A rule list on a random table, and rows to ask about, some with unknown categories."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    names = [column["name"] for column in COLUMNS]
    rows = random_rows(rng, 80)
    y = rng.integers(0, 3, 80)
    table = pd.DataFrame(rows, columns=names)
    for column in COLUMNS:
        name = column["name"]
        if column["kind"] == "numeric":
            table[name] = table[name].astype(float)
        else:
            categories = pd.CategoricalDtype(column["categories"], column["kind"] == "ordinal")
            known = table[name].where(table[name].isin(column["categories"]), None)
            table[name] = known.astype(categories)
    model = RuleListClassifier(tree, random_state=0).fit(table, y)
    # The rows to ask about are arrays.
    del model.feature_names_in_
    return model, random_rows(rng, 60)


@every_language
@given(st.integers(0, 2**32 - 1), st.sampled_from(TREES))
@few
def test_code_is_run(run, tmp_path, seed, tree):
    model, rows = random_list(seed, tree)
    check(run, model, rows, COLUMNS, tmp_path)


def holds(condition, row):
    """Whether a record's condition holds for a row, as the docstring of export_rules says."""
    value = row[condition["feature"]]
    operator, asked = condition["operator"], condition["value"]
    is_known = value is not None and value == value
    if operator == "not in":
        return (is_known or condition["missing"] == 1.0) and value not in asked
    if operator == "in":
        # Other values count as missing.
        return is_known and value in asked
    if not is_known:
        return condition["missing"] == 1.0
    if operator == "between":
        return asked[0] < value <= asked[1]
    return {
        "<=": lambda: value <= asked,
        ">": lambda: value > asked,
        "known": lambda: True,
        "missing": lambda: False,
    }[operator]()


@given(st.integers(0, 2**32 - 1), st.sampled_from(TREES))
@few
def test_records_and_single_rows(seed, tree):
    model, rows = random_list(seed, tree)
    names = [column["name"] for column in COLUMNS]
    records, predict = export_rules(model), RowPredictor(model)
    assert [r["accuracy"] for r in records[:-1]] == [r["accuracy"] for r in model.rules_]
    assert records[-1]["conditions"] == []
    assert sum(r["n_samples"] for r in records) == 80
    answers, proba = model.predict(rows).tolist(), model.predict_proba(rows)
    for cells, answer, shares in zip(rows, answers, proba, strict=True):
        row = dict(zip(names, cells, strict=True))
        first = next(
            i for i, r in enumerate(records) if all(holds(c, row) for c in r["conditions"])
        )
        assert records[first]["prediction"] == predict(row) == answer
        np.testing.assert_allclose(list(records[first]["probabilities"].values()), shares)
        np.testing.assert_allclose(list(predict.proba(row).values()), shares)
        explanation = explain(model, row)
        assert explanation.prediction == answer
        assert explanation.leaves[0]["leaf"] == first
        assert len(explanation.reasons) == len(records[first]["conditions"])


def test_text():
    X, y = load_loans(return_X_y=True, as_frame=True)
    model = RuleListClassifier(OptimalTreeClassifier(max_depth=2), random_state=0).fit(X, y)
    text = export_text(model)
    assert text == export_rules(model, output="text")
    lines = text.splitlines()
    assert lines[0].startswith("if ")
    assert lines[1].startswith("else if ")
    default = lines[len(model.rules_)]
    assert default.startswith(f"else {model.default_} (")
    row = X.iloc[[0]]
    text = str(explain(model, row))
    assert f"The answer is {model.predict(row)[0]}: " in text
    assert export_text(make_pipeline(model)) == export_text(model)
    assert "else NO (" in export_text(model, class_names=["NO", "NO"])


def test_selectors_are_no_rule_lists():
    X, y = load_loans(return_X_y=True, as_frame=True)
    selector = AcceptableSubsetSelector(random_state=0).fit(X, y)
    assert export_text(selector) == export_text(selector.estimator_)


def test_what_rule_lists_do_not_have():
    X, y = load_loans(return_X_y=True, as_frame=True)
    with pytest.raises(NotFittedError):
        export_text(RuleListClassifier())
    model = RuleListClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="max_depth is not supported for a rule list"):
        export_text(model, max_depth=2)
    with pytest.raises(TypeError, match="not RuleListClassifier"):
        export_dot(model)
