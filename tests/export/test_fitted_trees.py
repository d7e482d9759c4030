"""Exports of trees that were fitted to data, not drawn at random."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from sktree_opt.datasets import load_loans
from sktree_opt.export import export_dot, export_rules, export_text, from_json, to_json, to_sklearn
from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.optimal import OptimalTreeClassifier
from tests.export import test_dot, test_text
from tests.export.interpreter import predict
from tests.export.test_rules import listed_categories, share_of

pytest.importorskip("pandas")

MODELS = [
    GreedyTreeClassifier(),
    GreedyTreeClassifier(nominal_split="subset", max_depth=5),
    GreedyTreeClassifier(nominal_split="one_vs_rest", criterion="gini"),
    GreedyTreeClassifier(pruning="error_based"),
    OptimalTreeClassifier(max_depth=2),
    OptimalTreeClassifier(max_depth=2, thresholds=5, categorical_splits="subset"),
]


def columns_of(tree):
    encoder = tree._encoder
    for name, kind, categories in zip(
        encoder.feature_names_, encoder.kinds_, encoder.categories_, strict=True
    ):
        column = {"name": name, "kind": kind}
        yield column if categories is None else {**column, "categories": categories.tolist()}


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_loans(model):
    """Numbers, ordered and other categories, Booleans; missing values in training too."""
    X, y = load_loans(return_X_y=True, as_frame=True)
    known, new, y_known, _ = train_test_split(X, y, random_state=0)
    tree = clone(model).fit(known, y_known)
    expected, columns = tree.predict_proba(new), list(columns_of(tree))
    rows = [[None if v is None or v != v else v for v in row] for row in new.to_numpy(object)]
    names = [column["name"] for column in columns]
    for root in (
        test_text.parse(export_text(tree, precision=None), names),
        test_dot.parse(export_dot(tree, precision=None)),
    ):
        found = [predict(root, row, columns, tree.classes_) for row in rows]
        np.testing.assert_allclose(found, expected, atol=1e-9)
    rules = export_rules(tree)
    listed = listed_categories(rules)
    for row, proba in zip(rows, expected, strict=True):
        cells = dict(zip(names, row, strict=True))
        found = sum(
            share_of(rule, cells, listed) * np.array(list(rule["probabilities"].values()))
            for rule in rules
        )
        np.testing.assert_allclose(found, proba, atol=1e-9)
    np.testing.assert_array_equal(from_json(to_json(tree)).predict_proba(new), expected)
    np.testing.assert_array_equal(to_sklearn(tree).predict(new), tree.predict(new))


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_diabetes])
def test_to_sklearn(load):
    X, y = load(return_X_y=True, as_frame=True)
    # scikit-learn would round to float32 only after fit, and numbers on a grid meet thresholds.
    X = X.astype(np.float32)
    known, new, y_known, _ = train_test_split(X, y, random_state=0)
    estimator = GreedyTreeRegressor if load is load_diabetes else GreedyTreeClassifier
    tree = estimator().fit(known, y_known)
    other = to_sklearn(tree)
    for part in (known, new):
        np.testing.assert_array_equal(other.predict(part), tree.predict(part))
        np.testing.assert_array_equal(other.apply(part), tree.apply(part))
    np.testing.assert_allclose(other.tree_.impurity, tree.tree_.nodes["impurity"])
    assert other.score(known, y_known) == pytest.approx(tree.score(known, y_known))
