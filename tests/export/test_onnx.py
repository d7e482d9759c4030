"""onnxruntime answers as predict does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from sktree_opt.datasets import load_loans
from sktree_opt.export import to_onnx
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.effort import examples
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
seeds = st.integers(0, 2**32 - 1)
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])


def run(model, rows):
    """Outputs by name, for rows of dicts in which None is missing."""
    session = runtime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {}
    for entry in session.get_inputs():
        cells = [row[entry.name] for row in rows]
        if "string" in entry.type:
            column = np.array(["" if v is None or v != v else str(v) for v in cells], dtype=object)
        else:
            column = np.array([np.nan if v is None else v for v in cells], dtype=np.float64)
        feeds[entry.name] = column[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def as_dicts(rows):
    names = [column["name"] for column in COLUMNS]
    return [dict(zip(names, row, strict=True)) for row in rows]


@given(
    seeds,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, COSTS]),
    st.booleans(),
    st.sampled_from([None, [3, 5, 7], [0.5, 1.0, 2.0]]),
)
@examples(60)
def test_classifiers(seed, by_weight, costs, smooth, labels):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, max_depth=3, by_weight=by_weight)
    model = model_of(tree, costs=costs, smooth=smooth, labels=labels)
    rows = random_rows(rng, 60)
    found = run(model, as_dicts(rows))
    np.testing.assert_array_equal(found["label"], model.predict(rows))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-6)


@given(seeds, st.sampled_from([None, True, False]))
@examples(30)
def test_regressors(seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False, max_depth=3, by_weight=by_weight))
    rows = random_rows(rng, 60)
    found = run(model, as_dicts(rows))["prediction"][:, 0]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        GreedyTreeClassifier(max_depth=4),
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, objective="balanced_error", categorical_splits="subset"),
    ],
    ids=str,
)
def test_fitted_trees(model):
    pytest.importorskip("pandas")
    X, y = load_loans(return_X_y=True, as_frame=True)
    model = model.fit(X[:300], y[:300])
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    found = run(model, rows)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-6)


def test_thresholds_have_double_precision():
    X, y = load_diabetes(return_X_y=True)
    tree = OptimalTreeRegressor(max_depth=2).fit(X, y)
    rows = []
    for node in tree.tree_.nodes[tree.tree_.nodes["kind"] == 1]:
        for value in (node["threshold"], np.nextafter(node["threshold"], np.inf)):
            row = X[0].copy()
            row[node["feature"]] = value
            rows.append(row)
    dicts = [dict(zip(tree._encoder.feature_names_, row, strict=True)) for row in rows]
    found = run(tree, dicts)["prediction"][:, 0]
    np.testing.assert_allclose(found, tree.predict(np.array(rows)), rtol=1e-6)


@pytest.mark.parametrize("labels", [[False, True], ["no", "yes"], [0, 1]], ids=str)
def test_types_of_labels(labels):
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]] * 3, np.array(labels * 3))
    found = run(tree, [{"x0": 0.0}, {"x0": 1.0}])["label"]
    assert found.tolist() == labels


def test_a_lone_leaf():
    tree = OptimalTreeClassifier(max_depth=1).fit([[1.0], [1.0]], ["a", "a"])
    assert run(tree, [{"x0": 0.0}])["label"].tolist() == ["a"]


def test_labels_that_onnx_does_not_know():
    tree = random_tree(np.random.default_rng(0), max_depth=1)
    model = model_of(tree)
    model.classes_ = np.array([(1,), (2,), (3,)], dtype=object)
    with pytest.raises(ValueError, match="The class labels must be strings, finite numbers"):
        to_onnx(model)
