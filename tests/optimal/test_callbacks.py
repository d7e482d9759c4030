"""scikit-learn's callbacks see a search, and may end it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
)
from tests.optimal.common import random_table
from tests.recorder import Recorder

callback = pytest.importorskip("sklearn.callback")

QUESTIONS = [
    OptimalTreeClassifier(max_depth=4),
    OptimalTreeClassifier(max_depth=4, objective="gini", max_leaf_nodes=10),
    OptimalTreeClassifier(max_depth=3, objective="f1"),
    TreeSetClassifier(max_depth=3, n_trees=3),
    SmallestTreeClassifier(max_depth=4),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_callbacks_see_better_and_better_trees(question, global_random_seed):
    X, y = random_table(global_random_seed)
    recorder = Recorder()
    model = clone(question).set_callbacks(recorder).fit(X, y)
    assert recorder.tasks[-1] == "fit"
    assert len(recorder.tasks) > 1
    assert recorder.n_open == 0
    assert recorder.is_torn_down
    assert recorder.scores[-1] == model.score(X, y)
    # A ranking tightens the limits, and Gini impurity is no accuracy.
    if question.objective == "error" and not isinstance(question, SmallestTreeClassifier):
        assert recorder.scores == sorted(recorder.scores)
    silent = clone(model).set_callbacks().fit(X, y)
    assert silent.tree_ == model.tree_


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("question", QUESTIONS[:4], ids=str)
def test_a_callback_ends_the_search(question, n_jobs, global_random_seed):
    X, y = random_table(global_random_seed)
    depth = question.max_depth + (question.objective in ("error", "gini"))
    model = clone(question).set_params(max_depth=depth, n_jobs=n_jobs)
    # No warning: it was asked for.
    model.set_callbacks(Recorder(stop_after=1)).fit(X, y)
    assert model.status_ == "stopped"
    assert clone(model).set_callbacks().fit(X, y).status_ == "optimal"


def test_a_long_search_is_stopped_between_root_features(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.integers(0, 2, (2000, 120)), rng.integers(0, 2, 2000)
    recorder = Recorder(stop_after=8)
    model = OptimalTreeClassifier(max_depth=5).set_callbacks(recorder).fit(X, y)
    assert model.status_ == "stopped"
    assert recorder.tasks[:3] == ["0 discrepancies", "depth 3", "depth 4"]
    assert max(recorder.tasks.count(f"depth {depth}") for depth in (4, 5)) > 1


def test_a_search_over_all_thresholds_is_watched(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.2) ^ (rng.random(1500) < 0.1)
    recorder = Recorder()
    model = OptimalTreeClassifier(max_depth=3).set_callbacks(recorder).fit(X, y)
    assert "n_passes" in model.search_stats_
    assert recorder.tasks[:2] == ["depth 2", "depth 3"]
    assert recorder.tasks[-1] == "fit"
    assert recorder.n_open == 0
    assert recorder.scores == sorted(recorder.scores)
    assert recorder.scores[-1] == model.score(X, y)
    assert clone(model).set_callbacks().fit(X, y).tree_ == model.tree_
    model.set_callbacks(Recorder(stop_after=1)).fit(X, y)
    assert model.status_ == "stopped"
    assert model.objective_ == (model.predict(X) != y).sum()


def test_a_failed_fit_is_torn_down():
    recorder = Recorder()
    model = OptimalTreeClassifier(min_samples_leaf=9).set_callbacks(recorder)
    with pytest.raises(ValueError, match="min_samples_leaf"):
        model.fit([[0], [1]], [0, 1])
    assert recorder.is_torn_down
    assert not hasattr(model, "_callback_fit_ctx")


def test_scikit_learn_s_own_callbacks(global_random_seed, capsys):
    pytest.importorskip("rich")
    X, y = random_table(global_random_seed)
    monitor = callback.ScoringMonitor(scoring="r2")
    weights = np.linspace(1, 2, len(y))
    OptimalTreeRegressor().set_callbacks(monitor, callback.ProgressBar()).fit(X, y, weights)
    scores = [row["r2"] for row in monitor.get_logs().data if row["task_name"] != "fit"]
    assert scores
    assert scores == sorted(scores)
    search = GridSearchCV(OptimalTreeClassifier(), {"max_depth": [1, 3]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, y)
    # The outermost estimator has it: a pipeline, or the search around it.
    inside = make_pipeline(StandardScaler(), OptimalTreeClassifier(max_depth=1))
    clone(inside).set_callbacks(callback.ProgressBar()).fit(X, y)
    search = GridSearchCV(inside, {"optimaltreeclassifier__max_depth": [1, 2]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, y)
