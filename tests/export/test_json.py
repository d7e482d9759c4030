"""JSON and back: the same tree, columns, labels and predictions."""

import json
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktree_opt.export import export_text, from_json, to_json
from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.optimal import OptimalTreeClassifier
from tests.effort import examples
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])


@given(seeds, st.sampled_from([None, COSTS]), st.booleans(), st.sampled_from([None, 2]))
@examples(60)
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
@examples(30)
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


def test_clone_keeps_the_tree_and_fit_is_refused():
    other = from_json(to_json(model_of(random_tree(np.random.default_rng(0)))))
    assert clone(other).tree_ is other.tree_
    with pytest.raises(TypeError, match="was read from JSON and cannot be fitted"):
        other.fit([[1.0]], [1], sample_weight=[2.0])
    assert FrozenEstimator(other).fit([[1.0]], [1]).estimator is other


def test_categories_that_json_does_not_know():
    pd = pytest.importorskip("pandas")
    model = model_of(random_tree(np.random.default_rng(0)))
    model._encoder.categories_[5] = pd.period_range("2020", periods=4).to_numpy()
    with pytest.raises(TypeError, match="The categories of column 'size' are of type Period"):
        to_json(model)


@pytest.mark.filterwarnings("ignore:The values of column")
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


def damaged(change):
    """A text with a cost matrix, changed by a function of its state."""
    state = json.loads(to_json(model_of(random_tree(np.random.default_rng(0)), costs=COSTS)))
    change(state)
    return json.dumps(state)


def set_part(*path):
    *steps, last, value = path

    def change(state):
        for step in steps:
            state = state[step]
        state[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(set_part("costs", v) for v in ([[0], [1]], [0, 1], "x", 5, {}, [["a"] * 3] * 3)),
        set_part("costs", [[0.0, float("nan"), 1.0]] * 3),
        set_part("costs", [[0.0, None, 1.0]] * 3),
        set_part("costs", 0, 0, 1e999),
        set_part("costs", [[0.0] * 4] * 4),
        *(set_part("leaf_smoothing", v) for v in ("no", -1.0, [1.0], float("inf"))),
        *(set_part("hierarchical_shrinkage", v) for v in ("no", -1.0, None, True, float("inf"))),
        set_part("has_column_names", "yes"),
        set_part("classes", ["a", "a", "b"]),
        set_part("classes", [["a"], ["b"], ["c"]]),
        set_part("classes", [1.5, None, 2.5]),
        *(set_part("classes_dtype", v) for v in ("<U500000000", "<U1", "<f8", "<M8[s]", "V8")),
        *(set_part("classes_dtype", v) for v in (None, "f8,01f8", "(01,)f8")),
        *(
            set_part("columns", 2, "categories", v)
            for v in ([[1], [2], [3]], ["a"], ["a"] * 3, "ab")
        ),
        set_part("columns", 2, "categories", 0, None),
        set_part("columns", 2, "kind", "numeric"),
        set_part("columns", 2, "kind", "other"),
        set_part("columns", 2, "name", 7),
        set_part("tree", "values", 0, 0, None),
        set_part("tree", "values", 0, 0, -1.0),
        set_part("tree", "values", 0, 0, float("inf")),
        set_part("tree", "values", 0, [0.0, 0.0, 0.0]),
        set_part("tree", "is_classifier", "yes"),
        set_part("tree", "nodes", "impurity", [1.0]),
        set_part("tree", "nodes", "n_samples", 0, -1),
        set_part("training", 7),
    ],
)
def test_damage_is_told(change):
    with pytest.raises(ValueError, match="Not a tree written by to_json"):
        from_json(damaged(change))


@pytest.mark.parametrize("n_values", [0, 2])
def test_one_value_for_each_node_of_a_regression_tree(n_values):
    state = json.loads(to_json(GreedyTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])))
    state["tree"]["values"] = [[1.0] * n_values] * len(state["tree"]["values"])
    with pytest.raises(ValueError, match="Not a tree written by to_json"):
        from_json(json.dumps(state))


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "NaN", "[Infinity]"])
def test_odd_texts(text):
    with pytest.raises(ValueError, match="Not a tree written by to_json"):
        from_json(text)


def test_texts_of_the_future():
    text = damaged(set_part("format_version", 99))
    with pytest.raises(ValueError, match="a newer version of sktree_opt has written it"):
        from_json(text)


def test_parameters_and_proof_are_kept():
    X = np.arange(12.0)[:, None]
    y = [0, 1] * 6
    model = OptimalTreeClassifier(max_depth=2, time_limit=np.inf, class_weight={0: 2}).fit(X, y)
    other = from_json(to_json(model))
    assert other.training_["estimator"] == "OptimalTreeClassifier"
    assert other.training_["parameters"]["max_depth"] == 2
    assert other.training_["parameters"]["time_limit"] == "inf"
    for name in ("status_", "objective_", "lower_bound_", "gap_", "optimality_scope_"):
        assert getattr(other, name) == getattr(model, name)
    assert to_json(from_json(to_json(other))) == to_json(model)
    # A greedy tree has proved nothing.
    greedy = from_json(to_json(GreedyTreeClassifier().fit(X, y)))
    assert not hasattr(greedy, "status_")


def test_pipelines_and_searches():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0)[::-1] ** 2})
    tree = OptimalTreeClassifier(max_depth=1)
    model = make_pipeline(StandardScaler(), tree).fit(X, [0] * 5 + [1] * 7)
    search = GridSearchCV(model, {"optimaltreeclassifier__max_depth": [1]}, cv=2)
    for fitted in (model, search.fit(X, [0] * 5 + [1] * 7)):
        other = from_json(to_json(fitted))
        assert other.feature_names_in_.tolist() == ["a", "b"]
        scaled = pd.DataFrame(model[0].transform(X), columns=["a", "b"])
        assert other.predict(scaled).tolist() == model.predict(X).tolist()


def test_texts_of_the_first_version():
    """Without the record of the training, and without what is known of holes."""
    state = json.loads(to_json(model_of(random_tree(np.random.default_rng(0)))))
    del state["training"]
    for column in state["columns"]:
        column.pop("had_holes", None)
    assert from_json(json.dumps(state)).training_ == {}


@given(seeds, st.booleans())
@examples(20)
def test_the_schema(seed, is_classifier):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((resources.files("sktree_opt.export") / "tree.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    tree = random_tree(np.random.default_rng(seed), is_classifier=is_classifier)
    state = json.loads(to_json(model_of(tree)))
    validator.validate(state)
    fitted = OptimalTreeClassifier(max_depth=1, objective="f1").fit([[0.0], [1.0]] * 3, [0, 1] * 3)
    validator.validate(json.loads(to_json(fitted)))
    for part in ("columns", "tree", "format", "has_column_names"):
        broken = {name: value for name, value in state.items() if name != part}
        assert not validator.is_valid(broken)
    assert not validator.is_valid({**state, "costs": "x"})
