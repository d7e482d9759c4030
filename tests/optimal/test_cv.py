"""Cross-validated trees: the same choice as GridSearchCV makes, out of fewer searches."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)

from sktree_opt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    load_loans,
)
from sktree_opt.optimal.estimators import _cv_folds
from sktree_opt.optimal.objectives._forest_targets import forest_answers
from tests.optimal.common import random_table
from tests.recorder import Recorder


@pytest.fixture
def table(global_random_seed):
    return random_table(global_random_seed, n=150, m=8)


def targets(X, seed):
    """Targets for which no two trees are equally good."""
    noise = np.random.default_rng(seed).normal(size=len(X))
    return X[:, 0] * 2.0 + X[:, 1] * X[:, 2] + noise


def grid_search(model, plain, **chosen):
    """GridSearchCV over the points of a fitted model, a fit of `plain` for each of them."""
    points = [{k: [v] for k, v in params.items()} for params in model.cv_results_["params"]]
    settings = {"cv": model.cv, "scoring": model.scoring, "refit": model.refit} | chosen
    return GridSearchCV(plain, points, **settings)


def assert_same_choice(model, search):
    """The tables of scores are equal, and so is what is chosen by them."""
    names = [name for name in model.cv_results_ if "_test_" in name]
    assert set(names) == {name for name in search.cv_results_ if "_test_" in name}
    for name in names:
        np.testing.assert_allclose(model.cv_results_[name], search.cv_results_[name], atol=1e-9)
    if model.refit is not False:
        assert model.best_score_ == pytest.approx(search.best_score_)


CLASSIFIERS = {
    "sizes": {},
    "lists": {"max_depth": [0, 2], "max_leaf_nodes": [2, 3]},
    "costs": {"max_depth": [1, 3], "complexity_cost": [0.0, 0.004, 0.011, 0.05]},
    "every cost": {"max_depth": 3, "complexity_cost": "all"},
    "leaves": {"min_samples_leaf": [1, 5, 0.1]},
    "objectives": {"objective": ["error", "gini", "f1"]},
    "costs of a metric": {"objective": "f1", "complexity_cost": [0.0, 0.013, 0.1]},
    "scores": {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"},
    "named scores": {"scoring": {"a": "f1", "b": "accuracy"}, "refit": "b"},
    "no tree": {"scoring": ("accuracy", "f1"), "refit": False},
    "a score": {"scoring": "balanced_accuracy"},
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_scores_as_a_grid_search(name, table):
    X, y = table
    chosen = {"max_depth": 2, "cv": StratifiedKFold(3), "fold_thresholds": None}
    model = OptimalTreeClassifierCV(**chosen | CLASSIFIERS[name]).fit(X, y)
    objective = model.objective if isinstance(model.objective, str) else "error"
    search = grid_search(model, OptimalTreeClassifier(objective=objective)).fit(X, y)
    assert_same_choice(model, search)
    if model.refit is not False:
        best = clone(search.estimator).set_params(**model.best_params_).fit(X, y)
        assert model.objective_ == pytest.approx(best.objective_)
        assert (model.predict(X) == model.best_estimator_.predict(X)).all()
        assert model.best_params_ == model.cv_results_["params"][model.best_index_]
        assert model.status_ == "optimal"


REGRESSORS = {
    "sizes": {},
    "costs": {"max_depth": 3, "complexity_cost": "all"},
    "leaves": {"min_samples_leaf": [1, 8], "objective": ["squared_error"]},
    "a score": {"scoring": "neg_mean_absolute_error"},
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_scores_as_a_grid_search(name, table, global_random_seed):
    X = table[0]
    y = targets(X, global_random_seed)
    chosen = {"max_depth": 2, "cv": KFold(3), "fold_thresholds": None}
    chosen |= {"targets": "given", "min_samples_leaf": 1}
    model = OptimalTreeRegressorCV(**chosen | REGRESSORS[name]).fit(X, y)
    objective = model.objective if isinstance(model.objective, str) else "squared_error"
    search = grid_search(model, OptimalTreeRegressor(objective=objective)).fit(X, y)
    assert_same_choice(model, search)
    best = clone(search.estimator).set_params(**model.best_params_).fit(X, y)
    assert model.objective_ == pytest.approx(best.objective_)


def test_the_grid_is_what_was_asked_for(table):
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=2, cv=2).fit(X, y)
    points = [tuple(one.values()) for one in model.cv_results_["params"]]
    assert points == [(0, None), (1, 2), (2, 3), (2, 4)]
    assert model.cv_results_["param_max_leaf_nodes"].tolist() == [None, 2, 3, 4]
    model.set_params(max_depth=[2, 3], max_leaf_nodes=[2, 4], min_samples_leaf=[1, 9])
    grid = [(d, k, m) for m in (1, 9) for d in (2, 3) for k in (2, 4)]
    assert [tuple(one.values()) for one in model.fit(X, y).cv_results_["params"]] == grid
    model = OptimalTreeClassifierCV(max_depth=3, complexity_cost="all", cv=2).fit(X, y)
    costs = model.cv_results_["param_complexity_cost"].tolist()
    assert costs[0] == 0.0
    assert costs == sorted(set(costs))
    # No other cost has a better score.
    more = clone(model).set_params(complexity_cost=np.geomspace(1e-4, 0.5, 40).tolist()).fit(X, y)
    assert more.best_score_ <= model.best_score_


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"max_depth": []}, "max_depth must have at least one value"),
        ({"max_depth": [2, 11]}, "Each max_depth must be between 0 and 10, got 11"),
        ({"max_leaf_nodes": [1]}, "Each max_leaf_nodes must be at least 2, got 1"),
        ({"complexity_cost": [-1.0]}, "Each complexity_cost must be at least 0, got -1.0"),
        (
            {"complexity_cost": 0.1, "max_leaf_nodes": [2]},
            "max_leaf_nodes must be a number or None",
        ),
        ({"min_samples_leaf": [1, 0]}, "'min_samples_leaf' parameter"),
        ({"objective": ["error", "none"]}, "'objective' parameter"),
        ({"scoring": ["accuracy", "f1"]}, "refit must be False, a callable or the name"),
    ],
)
def test_grids_that_are_refused(table, chosen, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifierCV(**chosen).fit(*table)


def test_the_rule_of_one_standard_error(table):
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=4, cv=4, fold_thresholds=None)
    results = model.fit(X, y).cv_results_
    means = results["mean_test_score"]
    splits = np.array([results[f"split{k}_test_score"] for k in range(4)])
    best = model.best_index_
    least = means[best] - splits[:, best].std(ddof=1) / 4**0.5
    sizes = [(one["max_leaf_nodes"] or 1, one["max_depth"]) for one in results["params"]]
    simple = min(size for size, mean in zip(sizes, means, strict=True) if mean >= least)
    model.set_params(rule="one_standard_error").fit(X, y)
    assert (model.best_params_["max_leaf_nodes"] or 1, model.best_params_["max_depth"]) == simple
    assert simple <= sizes[best]


def test_a_callable_chooses(table):
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=2, cv=2, refit=lambda results: 1).fit(X, y)
    assert model.best_params_ == {"max_depth": 1, "max_leaf_nodes": 2}
    assert not hasattr(model, "best_score_")
    for wrong, error in ((lambda _: 0.5, TypeError), (lambda _: 99, IndexError)):
        with pytest.raises(error, match="refit must return"):
            clone(model).set_params(refit=wrong).fit(X, y)

    def scores(estimator, X, y):
        return {"a": estimator.score(X, y), "b": 0.0}

    both = OptimalTreeClassifierCV(max_depth=1, cv=2, scoring=scores, refit="a").fit(X, y)
    assert both.multimetric_
    assert both.best_score_ == OptimalTreeClassifierCV(max_depth=1, cv=2).fit(X, y).best_score_
    with pytest.raises(ValueError, match="refit must name one of the scores"):
        clone(both).set_params(refit=True).fit(X, y)


def test_without_a_tree(table):
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=1, cv=2).fit(X, y)
    model.set_params(refit=False).fit(X, y)
    assert model.best_params_ in model.cv_results_["params"]
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "best_estimator_")
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_folds_search_few_thresholds_and_the_tree_all():
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressorCV(max_depth=[2], max_leaf_nodes=[4], cv=2, targets="given")
    model.fit(X, y)
    assert model.objective_ < model.path_.objectives[2, 3]
    best = OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert model.objective_ == pytest.approx(best.objective_)
    assert "every threshold" in model.optimality_scope_
    same = clone(model).set_params(fold_thresholds=None).fit(X, y)
    assert same.objective_ == pytest.approx(same.path_.objectives[2, 3])


def noisy(seed):
    """A table and a noisy target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    return X, X[:, 0] + 2.0 * (X[:, 1] > 0.2) + rng.normal(size=120)


def answers_of_forest(X, y, weights, classes=None):
    """The answers that trees are fitted to."""
    weights = np.ones(len(y)) if weights is None else weights
    return forest_answers(SimpleNamespace(matrix=X, y=y, weights=weights, classes=classes))


def test_the_answers_of_a_forest_do_not_see_their_row(global_random_seed):
    X, y = noisy(global_random_seed)
    answers = answers_of_forest(X, y, None)[:, 0]
    truth = X[:, 0] + 2.0 * (X[:, 1] > 0.2)
    assert ((answers - truth) ** 2).mean() < 0.7 * ((y - truth) ** 2).mean()
    # A wild target moves the answers for other rows alone.
    wild = y.copy()
    wild[7] += 1e-9
    moved = y.copy()
    moved[7] += 5.0
    assert abs(answers_of_forest(X, wild, None)[7, 0] - answers[7]) < 2.0
    assert abs(answers_of_forest(X, moved, None)[7, 0] - answers[7]) < 2.0
    order = np.random.default_rng(0).permutation(120)
    np.testing.assert_allclose(answers_of_forest(X[order], y[order], None)[:, 0], answers[order])
    codes = (y > 1.0).astype(np.int32)
    repeats = np.random.default_rng(1).integers(1, 4, 120)
    for target, classes in ((y, None), (codes, np.array([0, 1]))):
        weighted = answers_of_forest(X, target, repeats.astype(float), classes)
        repeated = [np.repeat(part, repeats, axis=0) for part in (X, target, weighted)]
        found = answers_of_forest(*repeated[:2], None, classes)
        np.testing.assert_allclose(found, repeated[2], atol=1e-9)
        assert found.shape == (repeats.sum(), 1 if classes is None else 2)


@pytest.mark.parametrize(
    ("objective", "answer"), [("squared_error", np.mean), ("absolute_error", np.median)]
)
def test_a_tree_of_the_answers_of_a_forest(objective, answer, global_random_seed):
    X, y = noisy(global_random_seed)
    model = OptimalTreeRegressor(max_depth=2, objective=objective)
    plain = clone(model).fit(X, answers_of_forest(X, y, None)[:, 0])
    model.set_params(targets="forest").fit(X, y)
    assert model.objective_ == pytest.approx(plain.objective_)
    leaves = model.apply(X)
    assert (leaves == plain.apply(X)).all()
    expected = [answer(y[leaves == leaf]) for leaf in leaves]
    np.testing.assert_allclose(model.predict(X), expected)


@pytest.mark.parametrize("objective", ["error", "gini", "balanced_error"])
def test_a_tree_of_the_classes_of_a_forest(objective, global_random_seed):
    X, y = noisy(global_random_seed)
    codes = np.digitize(y, [0.0, 2.0]).astype(np.int32)
    y = np.array(["a", "b", "c"])[codes]
    shares = np.round(8 * answers_of_forest(X, codes, None, np.arange(3))) / 8
    shares[np.arange(120), shares.argmax(axis=1)] += 1.0 - shares.sum(axis=1)
    rows, found = np.nonzero(shares)
    model = OptimalTreeClassifier(max_depth=2, objective=objective, min_samples_leaf=7)
    plain = clone(model).set_params(min_samples_leaf=1, min_weight_leaf=7.0)
    plain.fit(X[rows], np.array(["a", "b", "c"])[found], shares[rows, found])
    model.set_params(targets="forest").fit(X, y)
    assert model.objective_ == pytest.approx(plain.objective_)
    leaves = model.apply(X)
    # Leaves know the rows as they were given.
    counts = np.array([[(y[leaves == leaf] == label).sum() for label in "abc"] for leaf in leaves])
    np.testing.assert_array_equal(model.tree_.values[leaves], counts)
    assert (model.tree_.nodes["n_samples"][leaves] == counts.sum(axis=1)).all()


def test_targets_are_tried(global_random_seed):
    X, y = noisy(global_random_seed)
    model = OptimalTreeRegressorCV(targets=["given", "forest"], cv=KFold(3), max_depth=2)
    model.fit(X, y)
    search = grid_search(model, OptimalTreeRegressor(thresholds="ensemble"))
    search.fit(X, y)
    assert_same_choice(model, search)
    with pytest.raises(ValueError, match="'forest' is not supported with objective='f1'"):
        OptimalTreeClassifier(targets="forest", objective="f1").fit(X, (y > 1).astype(int))


def test_several_workers_choose_alike(table):
    X, y = table
    models = [
        OptimalTreeClassifierCV(max_depth=2, n_jobs=n_jobs, cv=3).fit(X, y) for n_jobs in (1, 2)
    ]
    assert models[0].tree_ == models[1].tree_
    for name in ("mean_test_score", "std_test_score"):
        assert (models[0].cv_results_[name] == models[1].cv_results_[name]).all()


@pytest.mark.parametrize("kind", [OptimalTreeClassifierCV, OptimalTreeRegressorCV])
def test_groups_reach_the_splitter(table, kind):
    X, y = table
    groups = np.arange(len(y)) % 4
    y = targets(X, 0) if is_regressor(kind()) else y
    plain = kind(max_depth=1, cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert plain.n_splits_ == 4
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        kind().fit(X, y, other=groups)
    with config_context(enable_metadata_routing=True):
        cv = GroupKFold(4).set_split_request(groups=True)
        routed = kind(max_depth=1, cv=cv).fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], routed.cv_results_["mean_test_score"]
    )


def test_weights_reach_the_score(table):
    X, y = table
    weights = np.random.default_rng(0).integers(1, 9, len(y)).astype(float)
    model = OptimalTreeClassifierCV(max_depth=1).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        routed = OptimalTreeClassifierCV(max_depth=1).fit(X, y, sample_weight=weights)
        assert OptimalTreeClassifierCV(max_depth=1).fit(X, y).best_score_ != model.best_score_
    for name, values in model.cv_results_.items():
        np.testing.assert_array_equal(values, routed.cv_results_[name])

    def unweighted(estimator, X, y):
        return accuracy_score(y, estimator.predict(X))

    with pytest.warns(UserWarning, match="takes no weights"):
        clone(model).set_params(scoring=unweighted).fit(X, y, sample_weight=weights)


def test_a_refit_forgets_names(table):
    pd = pytest.importorskip("pandas")
    X, y = table
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    model = OptimalTreeClassifierCV(max_depth=1).fit(frame, y)
    assert hasattr(model, "feature_names_in_")
    model.fit(np.asarray(X), y)
    assert not hasattr(model, "feature_names_in_")


def test_a_score_that_is_never_a_number_is_warned_about(table):
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=1, scoring=lambda *_: np.nan)
    with pytest.warns(UserWarning, match="gave NaN"):
        model.fit(X, y)
    assert np.isnan(model.best_score_)
    assert model.best_params_ == {"max_depth": 0, "max_leaf_nodes": None}


@pytest.mark.parametrize(
    ("n_tasks", "n_splits", "tasks"),
    [
        (1, 0, ["all rows"]),
        (3, 2, ["all rows", "fold 0", "fold 1"]),
        (99, 3, ["all rows", "fold 0", "fold 1", "fold 2"]),
    ],
)
def test_a_callback_ends_the_search(table, n_tasks, n_splits, tasks):
    pytest.importorskip("sklearn.callback")
    X, y = table
    recorder = Recorder(stop_after=n_tasks)
    model = OptimalTreeClassifierCV(max_depth=3, cv=3).set_callbacks(recorder).fit(X, y)
    assert [task for task in recorder.tasks if "depth" not in task] == [*tasks, "fit"]
    assert model.n_splits_ == n_splits
    assert model.objective_ == (model.predict(X) != y).sum()
    assert model.gap_ == 0.0
    assert model.status_ == ("optimal" if n_tasks == 99 else "stopped")


def test_a_stopped_search_of_costs_has_a_tree(table):
    pytest.importorskip("sklearn.callback")
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=2, complexity_cost=0.03, min_samples_leaf=[1, 5])
    model.set_callbacks(Recorder(stop_after=2)).fit(X, y)
    best = OptimalTreeClassifier(max_depth=2, complexity_cost=0.03).fit(X, y)
    assert model.objective_ == pytest.approx(best.objective_)
    assert model.lower_bound_ <= best.objective_ + 1e-9
    assert model.best_params_ == {
        "max_depth": 2,
        "complexity_cost": 0.03,
        "min_samples_leaf": 1,
    }


def test_a_time_limit_is_for_the_whole_fit(table, monkeypatch):
    limits, path_of = [], _cv_folds.path_of

    def noted(model, *data):
        limits.append(model.time_limit)
        return path_of(model, *data)

    monkeypatch.setattr(_cv_folds, "path_of", noted)
    X, y = table
    model = OptimalTreeClassifierCV(
        max_depth=2, time_limit=300.0, cv=4, min_samples_leaf=[1, 2]
    ).fit(X, y)
    assert model.status_ == "optimal"
    all_rows, *folds = limits
    assert 20.0 < all_rows <= 30.0
    assert len(folds) == 8
    # Later searches get what earlier ones have left.
    assert folds == sorted(folds)
    assert folds[0] <= 300.0 * 0.7 / 8 < folds[-1] <= 210.0
    assert 90.0 < model.best_estimator_.time_limit <= 300.0


def test_folds_that_were_cut_short_are_reported(table, monkeypatch):
    path_of = _cv_folds.path_of

    def cut_short(model, X_part, *rest):
        model.set_params(time_limit=None if len(X_part) == len(X) else 0.0)
        return path_of(model, X_part, *rest)

    monkeypatch.setattr(_cv_folds, "path_of", cut_short)
    X, y = table
    model = OptimalTreeClassifierCV(max_depth=4, max_leaf_nodes=5, cv=2)
    with pytest.warns(ConvergenceWarning, match="time_limit=.* ended. 2 of 2 searches of folds"):
        model.fit(X, y)
    assert (model.status_, model.fold_status_) == ("time_limit", ["time_limit"] * 2)
    assert model.best_estimator_.status_ == "optimal"
    assert model.gap_ == 0.0


def test_a_final_search_without_time_takes_the_known_tree():
    X, y = load_loans(return_X_y=True)
    model = OptimalTreeClassifierCV(max_depth=3, cv=2, time_limit=0.0)
    with pytest.warns(ConvergenceWarning, match="search of the final tree"):
        model.fit(X, y)
    optimum = OptimalTreeClassifier(max_depth=3).fit(X, y).objective_
    assert model.lower_bound_ <= optimum <= model.objective_ == (model.predict(X) != y).sum()


def test_repeated_folds_and_pairs_of_rows(table):
    X, y = table
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)
    model = OptimalTreeClassifierCV(max_depth=1, cv=cv).fit(X, y)
    assert model.n_splits_ == 6
    pairs = OptimalTreeClassifierCV(max_depth=1, cv=list(cv.split(X, y))).fit(X, y)
    assert pairs.best_score_ == model.best_score_
