"""The selectors among scikit-learn's tools: pipelines, searches, set_output, pickle, clone."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector

SELECTORS = [AcceptableSubsetSelector, DTsbeSelector]
ALL = [*SELECTORS, DistinctTreeEnumerator]


@pytest.fixture
def mixed():
    """A table of numbers and categories, with holes, whose class hangs on two columns."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=120),
            "colour": rng.choice(["red", "green", "blue"], 120),
            "noise": rng.normal(size=120),
        }
    )
    y = np.where((frame["colour"] == "red") ^ (frame["size"] > 0), "yes", "no")
    frame.loc[3, "colour"], frame.loc[5, "size"] = None, np.nan
    return frame, y


def test_forest_on_selected_features():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0)
    pipe = Pipeline([("select", DTsbeSelector(random_state=0)), ("rf", forest)]).fit(X, y)
    support = pipe["select"].support_
    assert 0 < support.sum() < X.shape[1]
    assert pipe["rf"].n_features_in_ == support.sum()
    alone = clone(forest).fit(X[:, support], y)
    assert np.array_equal(pipe.predict_proba(X), alone.predict_proba(X[:, support]))


@pytest.mark.parametrize("selector", SELECTORS)
def test_as_the_last_step(selector):
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), selector(random_state=0))
    scores = cross_validate(pipe, X, y, cv=3)["test_score"]
    assert scores.mean() > 0.8
    assert pipe.fit(X, y)[-1].predict_proba(pipe[0].transform(X)).shape == (150, 3)


def test_search_over_delta_and_the_tree_inside():
    X, y = load_iris(return_X_y=True)
    pipe = Pipeline(
        [
            ("select", AcceptableSubsetSelector(GreedyTreeClassifier(), random_state=0)),
            ("rf", RandomForestClassifier(10, random_state=0)),
        ]
    )
    grid = {"select__delta": [0.0, 0.3], "select__estimator__min_samples_leaf": [1, 5]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    chosen = search.best_estimator_["select"]
    assert chosen.delta == search.best_params_["select__delta"]
    assert (
        chosen.estimator_.min_samples_leaf
        == search.best_params_["select__estimator__min_samples_leaf"]
    )


def test_delta_is_kept():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    best = AcceptableSubsetSelector(random_state=0).fit(X, y)
    for delta in (0.02, 0.2):
        some = AcceptableSubsetSelector(delta=delta, random_state=0).fit(X, y)
        assert best.error_ <= some.error_ <= best.error_ + delta + 1e-9


@pytest.mark.parametrize("selector", SELECTORS)
def test_pandas_output_keeps_columns_as_they_are(selector, mixed):
    frame, y = mixed
    fitted = selector(random_state=0).set_output(transform="pandas").fit(frame, y)
    names = list(fitted.get_feature_names_out())
    assert names == [name for name, kept in zip(frame, fitted.support_, strict=True) if kept]
    selected = fitted.transform(frame)
    assert list(selected.columns) == names
    for name in names:
        of_rows = frame[name].notna()
        assert selected[name][of_rows].tolist() == frame[name][of_rows].tolist()
        assert selected[name].isna().tolist() == frame[name].isna().tolist()


@pytest.mark.parametrize("estimator", ALL)
def test_pickle_and_clone(estimator, mixed):
    frame, y = mixed
    fitted = estimator(random_state=0, error="training").fit(frame, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(frame), fitted.predict_proba(frame))
    assert vars(again).keys() == vars(fitted).keys()
    copy = clone(fitted)
    assert not hasattr(copy, "tree_")
    assert copy.get_params() == fitted.get_params()
    refitted = copy.fit(frame, y)
    assert refitted.tree_.nodes.tobytes() == fitted.tree_.nodes.tobytes()


@pytest.mark.parametrize("selector", SELECTORS)
def test_reordered_columns_are_refused(selector, mixed):
    frame, y = mixed
    fitted = selector(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[list(reversed(frame.columns))])


@pytest.mark.parametrize("selector", SELECTORS)
def test_importances_serve_other_selectors(selector):
    X, y = load_iris(return_X_y=True)
    meta = SelectFromModel(selector(random_state=0), threshold=1e-9).fit(X, y)
    assert np.array_equal(meta.get_support(), meta.estimator_.feature_importances_ > 0)


@pytest.mark.parametrize("selector", SELECTORS)
def test_frames_of_polars_keep_their_types(selector):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"a": rng.normal(size=80), "c": rng.choice(["x", "y"], 80), "b": rng.normal(size=80)}
    )
    y = ((frame["c"] == "x") ^ (frame["a"] > 0)).to_numpy()
    fitted = selector(error="training").fit(frame, y).set_output(transform="polars")
    selected = fitted.transform(frame)
    assert selected.columns == fitted.get_feature_names_out().tolist()
    assert dict(selected.schema) == {name: frame.schema[name] for name in selected.columns}
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.select("b", "a", "c"))


@pytest.mark.parametrize("selector", SELECTORS)
def test_holes_go_back_to_their_places(mixed, selector):
    frame, y = mixed
    fitted = selector(error="training").fit(frame, y)
    selected = frame.loc[:, fitted.get_support()]
    back = fitted.inverse_transform(selected)
    assert back.shape == frame.shape
    for j, kept in enumerate(fitted.get_support()):
        if kept:
            column = frame.iloc[:, j]
            assert (column.isna() == [cell is None or cell != cell for cell in back[:, j]]).all()
        else:
            assert (back[:, j] == 0).all()
    with pytest.raises(ValueError, match=r"columns, but \d were selected"):
        fitted.inverse_transform(np.zeros((2, 7)))
