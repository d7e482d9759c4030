"""Optimal trees inside scikit-learn's own tools, on tables with categories and holes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
)

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def table():
    """Numbers, strings, an ordered and an unordered category, Booleans, holes; and labels."""
    rng = np.random.default_rng(0)
    n_rows = 240
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(1),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "shape": pd.Categorical(rng.choice(["round", "square"], n_rows)),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True
            ),
            "new": rng.random(n_rows) < 0.5,
        }
    )
    y = np.where(
        (frame["size"] > 0.2) ^ (frame["colour"] == "red") ^ (rng.random(n_rows) < 0.05),
        "yes",
        "no",
    )
    frame.loc[::11, "size"] = np.nan
    frame.loc[::13, "colour"] = None
    return frame, y


def test_cross_validation_of_a_table(table):
    X, y = table
    scores = cross_val_score(OptimalTreeClassifier(max_depth=2), X, y, cv=4)
    assert scores.mean() > 0.8
    scores = cross_validate(
        OptimalTreeClassifier(max_depth=2), X, y, cv=3, scoring=["accuracy", "roc_auc", "f1_macro"]
    )
    assert scores["test_roc_auc"].min() > 0.8


def test_grid_search_on_a_table(table):
    X, y = table
    grid = {"max_depth": [1, 2], "objective": ["error", "gini"], "thresholds": ["all", 5]}
    search = GridSearchCV(OptimalTreeClassifier(), grid, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 2
    assert search.score(X, y) > 0.85
    assert search.best_estimator_.feature_names_in_.tolist() == X.columns.tolist()


def test_after_a_column_transformer_of_data_frames(table):
    X, y = table
    prepare = ColumnTransformer(
        [("number", StandardScaler(), make_column_selector(dtype_include="number"))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = Pipeline([("prepare", prepare), ("tree", OptimalTreeClassifier(max_depth=2))])
    direct = OptimalTreeClassifier(max_depth=2).fit(X, y)
    fitted = model.fit(X, y)
    # Categories stay categories on the way, and a scale changes no split.
    assert fitted["tree"].objective_ == direct.objective_
    assert fitted["tree"].feature_names_in_.tolist() == X.columns.tolist()
    assert (fitted.predict(X) == direct.predict(X)).all()
    search = GridSearchCV(model, {"tree__max_depth": [1, 2]}, cv=3).fit(X, y)
    assert search.best_params_ == {"tree__max_depth": 2}


def test_after_steps_that_give_arrays(table):
    X, y = table
    numbers = make_pipeline(
        FunctionTransformer(lambda frame: frame[["size"]]),
        SimpleImputer(add_indicator=True),
        OptimalTreeClassifier(max_depth=2),
    )
    assert numbers.fit(X, y).score(X, y) > 0.5


def test_calibration(table):
    X, y = table
    calibrated = CalibratedClassifierCV(OptimalTreeClassifier(max_depth=2), cv=3).fit(X, y)
    proba = calibrated.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert calibrated.score(X, y) > 0.85


@pytest.mark.parametrize("sampling", [{}, {"max_features": 0.6}, {"bootstrap_features": True}])
def test_bagging(sampling):
    # Bagging hands over arrays of numbers only.
    X, y = numbers_with_holes()
    bag = BaggingClassifier(
        OptimalTreeClassifier(max_depth=2), n_estimators=4, random_state=0, **sampling
    )
    assert bag.fit(X, y).score(X, y) > 0.7


def numbers_with_holes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)).round(1)
    y = np.where(X[:, 0] + X[:, 1] > 0.0, 1, -1)
    X[rng.random(200) < 0.1, 2] = np.nan
    return X, y


def test_boosting():
    # scikit-learn's AdaBoost refuses missing values itself.
    X, y = numbers_with_holes()
    X = np.nan_to_num(X)
    weak = OptimalTreeClassifier(max_depth=1).fit(X, y).score(X, y)
    boosted = AdaBoostClassifier(OptimalTreeClassifier(max_depth=2), n_estimators=5, random_state=0)
    assert boosted.fit(X, y).score(X, y) > max(0.9, weak)


def test_voting(table):
    X, y = table
    models = [(str(depth), OptimalTreeClassifier(max_depth=depth)) for depth in (1, 2)]
    assert VotingClassifier(models, voting="soft").fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("smoothing", [{}, {"leaf_smoothing": "laplace"}])
def test_balanced_trees_vote_by_probabilities(smoothing):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (600, 5))
    y = rng.random(600) < np.where(X[:, 0] + X[:, 1] > 3, 0.4, 0.05)
    model = OptimalTreeClassifier(max_depth=2, objective="balanced_error", **smoothing).fit(X, y)
    proba = model.predict_proba(X)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()
    if not smoothing:
        # Frequencies under weights by which both classes are equally frequent.
        leaves, weights = model.apply(X), compute_sample_weight("balanced", y)
        for leaf in set(leaves.tolist()):
            at = leaves == leaf
            expected = np.average(y[at], weights=weights[at])
            assert proba[at, 1] == pytest.approx(expected)
    alone = balanced_accuracy_score(y, model.predict(X))
    plain = OptimalTreeClassifier(max_depth=2).fit(X, y).predict(X)
    assert alone > balanced_accuracy_score(y, plain) + 0.1
    bag = BaggingClassifier(model, n_estimators=5, random_state=0)
    voting = VotingClassifier([("a", model), ("b", clone(model))], voting="soft")
    for ensemble in (bag, voting):
        assert balanced_accuracy_score(y, ensemble.fit(X, y).predict(X)) > alone - 0.05
    calibrated = CalibratedClassifierCV(model, cv=3, ensemble=False).fit(X, y)
    # Calibration undoes the balance, as it does for any class weights.
    assert calibrated.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


def test_a_fixed_threshold_keeps_the_answers_of_costs():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (500, 5))
    y = (rng.random(500) < np.where(X[:, 0] + X[:, 1] > 3, 0.35, 0.05)).astype(int)
    costs = np.array([[0.0, 1.0], [6.0, 0.0]])
    model = OptimalTreeClassifier(max_depth=2, objective="cost", cost_matrix=costs)
    threshold = costs[0, 1] / costs.sum()
    fixed = FixedThresholdClassifier(
        model, threshold=threshold, response_method="predict_proba"
    ).fit(X, y)
    assert (fixed.predict(X) == model.fit(X, y).predict(X)).all()

    def cost_of(answers):
        return costs[y, answers].sum()

    bag = BaggingClassifier(model, n_estimators=5, random_state=0)
    kept = FixedThresholdClassifier(bag, threshold=threshold, response_method="predict_proba")
    assert cost_of(kept.fit(X, y).predict(X)) < 0.8 * cost_of(bag.fit(X, y).predict(X))


def test_permutation_importance(table):
    X, y = table
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=5, random_state=0).importances_mean
    assert set(np.argsort(found)[-2:]) == {0, 1}
    unused = model.feature_importances_ == 0.0
    np.testing.assert_array_equal(found[unused], 0.0)


def test_partial_dependence():
    X, y = numbers_with_holes()
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    found = partial_dependence(model, X, [0], method="brute")
    assert np.isfinite(found["average"]).all()


def test_decision_boundary():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = numbers_with_holes()
    for method in ("predict", "predict_proba"):
        model = OptimalTreeClassifier(max_depth=2).fit(X[:, :2], y)
        display = DecisionBoundaryDisplay.from_estimator(model, X[:, :2], response_method=method)
        assert np.isfinite(display.response).all()
        plt.close(display.figure_)
        assert len(np.unique(display.response)) >= 2


def test_feature_selection():
    X, y = numbers_with_holes()
    kept = SelectFromModel(OptimalTreeClassifier(max_depth=2)).fit(X, y).get_support()
    assert kept[:2].all()


def test_learning_curve(table):
    X, y = table
    _, _, scores = learning_curve(
        OptimalTreeClassifierCV(max_depth=2, cv=3), X, y, cv=3, train_sizes=[0.3, 1.0]
    )
    assert scores.shape == (2, 3)


def test_regression(table):
    X, y = table
    target = (y == "yes") + X["new"]
    assert cross_val_score(OptimalTreeRegressor(max_depth=2), X, target, cv=3).mean() > 0.2
    several = MultiOutputRegressor(OptimalTreeRegressor(max_depth=1))
    numbers = X[["size"]].fillna(0.0)
    assert several.fit(numbers, np.column_stack([target, -target])).predict(numbers).shape[1] == 2


@pytest.mark.parametrize("scale", [1e-59, 1e-20, 1e20, 1e59])
@pytest.mark.parametrize("n_values", [2, 10, None])
def test_weights_of_any_scale_give_the_same_tree(scale, n_values, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(200, 3)) if n_values is None else rng.integers(0, n_values, (200, 4))
    targets, weights = rng.normal(size=200), rng.random(200)
    for tree, y in (
        (OptimalTreeRegressor(max_depth=3), targets),
        (OptimalTreeRegressor(max_depth=2, objective="absolute_error"), targets),
        (OptimalTreeClassifier(max_depth=3), targets > 0.0),
    ):
        expected = tree.fit(X, y, sample_weight=weights).objective_
        assert tree.fit(X, y, sample_weight=scale * weights).objective_ == pytest.approx(
            scale * expected, rel=1e-9
        )


@pytest.mark.parametrize("scale", [1e-100, 1e80])
def test_weights_without_products_are_refused(scale):
    X, y = np.arange(6.0).reshape(-1, 1), np.arange(6) % 2
    for tree in (OptimalTreeRegressor(), OptimalTreeClassifier(), OptimalTreeClassifierCV(cv=2)):
        with pytest.raises(
            ValueError, match="sample_weight times class_weight must be between 1e-60"
        ):
            tree.fit(X, y, sample_weight=np.full(6, scale))


def test_weights_lost_in_rounding_are_named():
    named = []
    for seed in range(200, 260):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (30, 4)), np.exp(4.0 * rng.normal(size=30))
        weights = np.append(np.ones(3), np.full(27, 1e-12))
        tree = OptimalTreeRegressor(max_depth=3)
        try:
            tree.fit(X, y, sample_weight=weights)
        except ValueError as error:
            named.append(str(error))
    assert len(named) < 10
    assert all("smallest weight is 3e-13 of the sum" in message for message in named)


@pytest.mark.parametrize("search", ["exact", "lookahead"])
def test_integers_of_numpy_are_depths(search):
    """They neither overflow nor lack what Python's integers have."""
    X, y = load_iris(return_X_y=True)
    usual = OptimalTreeClassifier(
        max_depth=7, max_leaf_nodes=4, complexity_cost=0.01, search=search
    ).fit(X, y)
    small = {"max_depth": np.int8(7), "max_leaf_nodes": np.int8(4)}
    model = clone(usual).set_params(**small).fit(X, y)
    assert model.objective_ == usual.objective_
    assert model.get_n_leaves() == usual.get_n_leaves() > 1
