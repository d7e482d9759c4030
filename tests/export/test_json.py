"""JSON and back: the same tree, columns, labels and predictions."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from sktree_opt.export import export_text, from_json, to_json
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])


@given(seeds, st.sampled_from([None, COSTS]), st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=60, deadline=None)
def test_classifier(seed, costs, smooth, indent):
    rng = np.random.default_rng(seed)
    model, rows = model_of(random_tree(rng), costs=costs, smooth=smooth), random_rows(rng, 40)
    other = from_json(to_json(model, indent=indent))
    assert other.tree_ == model.tree_
    np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(other.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(other.apply(rows), model.apply(rows))
    # And once more: what was read can be written.
    assert to_json(other, indent=indent) == to_json(model, indent=indent)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_regressor(seed):
    rng = np.random.default_rng(seed)
    model, rows = model_of(random_tree(rng, is_classifier=False)), random_rows(rng, 40)
    other = from_json(to_json(model))
    np.testing.assert_array_equal(other.predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    "labels",
    [["a", "b", "c"], [-1, 0, 1], [0.5, 1.0, 2.0], np.array(["x", "y", "z"], dtype=object)],
    ids=["strings", "integers", "floats", "objects"],
)
def test_labels_keep_their_type(labels):
    model = model_of(random_tree(np.random.default_rng(0)), labels=labels)
    other = from_json(to_json(model))
    assert other.classes_.dtype == model.classes_.dtype
    assert other.classes_.tolist() == model.classes_.tolist()


def test_strict_json():
    """No NaN, which other readers do not know; tests without a threshold have null."""
    model = model_of(random_tree(np.random.default_rng(0)))

    def refuse(word):
        raise AssertionError(word)

    state = json.loads(to_json(model), parse_constant=refuse)
    assert None in state["tree"]["nodes"]["threshold"]
    assert [column["name"] for column in state["columns"]] == [c["name"] for c in COLUMNS]


def test_names_are_checked_as_before():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    model = model_of(random_tree(rng))
    names = [column["name"] for column in COLUMNS]
    model.feature_names_in_ = np.array(names, dtype=object)
    frame = pd.DataFrame(random_rows(rng, 10), columns=names)
    other = from_json(to_json(model))
    assert other.predict(frame).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        other.predict(frame[names[::-1]])


def test_fit_and_clone_keep_the_tree():
    other = from_json(to_json(model_of(random_tree(np.random.default_rng(0)))))
    tree = other.tree_
    assert other.fit([[1.0]], [1]).tree_ is tree
    assert clone(other).tree_ is tree


def test_categories_that_json_does_not_know():
    pd = pytest.importorskip("pandas")
    model = model_of(random_tree(np.random.default_rng(0)))
    model._encoder.categories_[5] = pd.period_range("2020", periods=4).to_numpy()
    with pytest.raises(TypeError, match="The categories of column 'size' are of type Period"):
        to_json(model)


def test_intervals_and_timestamps():
    """``pandas.cut`` makes such categories."""
    pd = pytest.importorskip("pandas")
    days = pd.Series(pd.date_range("2020-01-01", periods=40, tz="Europe/Berlin"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": pd.cut(rng.uniform(0, 100, 40), [0, 18.5, 65, 120]),
            "week": pd.cut(days, 5, right=False),
            "day": pd.Categorical(days),
            "plain": rng.permutation(40),
        }
    )
    y = (np.arange(40) // 8 + frame["age"].cat.codes) % 2
    tree = GreedyTreeClassifier().fit(frame, y)
    text = to_json(tree)
    other = from_json(text)
    np.testing.assert_array_equal(other.predict_proba(frame), tree.predict_proba(frame))
    assert export_text(other) == export_text(tree)
    assert to_json(other) == text
    for known, found in zip(tree._encoder.categories_, other._encoder.categories_, strict=True):
        assert (known is None) == (found is None)
        assert known is None or known.tolist() == found.tolist()


def test_fit_takes_what_other_trees_take():
    model = from_json(to_json(model_of(random_tree(np.random.default_rng(0)))))
    assert model.fit([[1.0]], [1], sample_weight=[2.0]) is model


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (["tree"], "'tree' is missing"),
        (["columns"], "'columns' is missing"),
        (["classes"], "'classes' is missing"),
        (["classes_dtype"], "'classes_dtype' is missing"),
        (["costs"], "'costs' is missing"),
        (["has_column_names"], "'has_column_names' is missing"),
        (["tree", "nodes"], "'nodes' is missing"),
        (["tree", "nodes", "kind"], "'kind' is missing"),
        (["columns", 2, "categories"], "'categories' is missing"),
        (["columns", 2, "name"], "'name' is missing"),
    ],
    ids=str,
)
def test_missing_parts(path, message):
    state = json.loads(to_json(model_of(random_tree(np.random.default_rng(0)))))
    inner = state
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    with pytest.raises(ValueError, match=f"Not a tree written by to_json.*: {message}"):
        from_json(json.dumps(state))


@pytest.mark.parametrize("part", ["tree", "columns", "classes", "classes_dtype"])
@pytest.mark.parametrize("damage", [None, 7, "x", [1], {"a": 1}], ids=str)
def test_damaged_parts(part, damage):
    state = json.loads(to_json(model_of(random_tree(np.random.default_rng(0)))))
    with pytest.raises(ValueError, match="Not a tree written by to_json"):
        from_json(json.dumps({**state, part: damage}))


@pytest.mark.parametrize("size", [0, 1, 40, -1])
def test_a_text_that_is_cut_short(size):
    text = to_json(model_of(random_tree(np.random.default_rng(0))))
    with pytest.raises(ValueError, match="Not a tree written by to_json.*no JSON"):
        from_json(text[:size])


def test_a_tree_without_an_estimator():
    tree = random_tree(np.random.default_rng(0))
    with pytest.raises(TypeError, match="to_json writes estimators"):
        to_json(tree)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "Not a tree written by to_json"),
        ({"format_version": 0}, "Not a tree written by to_json"),
        ({"columns": []}, "columns do not fit"),
        ({"classes": ["a"]}, "class labels do not fit"),
    ],
)
def test_wrong_text(change, message):
    state = json.loads(to_json(model_of(random_tree(np.random.default_rng(0)))))
    with pytest.raises(ValueError, match=message):
        from_json(json.dumps({**state, **change}))
    with pytest.raises(ValueError, match="Not a tree written by to_json"):
        from_json("[]")


def test_answers_that_a_metric_has_chosen():
    model = OptimalTreeClassifier(objective="f1", max_depth=1)
    model.fit(np.zeros((10, 1)), [1] * 4 + [0] * 6)
    text = to_json(model)
    assert model.predict([[0]]).tolist() == from_json(text).predict([[0]]).tolist() == [1]
    assert to_json(from_json(text)) == text
    state = json.loads(text)
    state["answers"] = [2]
    with pytest.raises(ValueError, match="answers do not fit"):
        from_json(json.dumps(state))
