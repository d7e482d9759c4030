"""scikit-learn's callbacks see the searches, and may end them."""

import numpy as np
import pytest
from sklearn.base import clone

from sktree_opt.subset import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
)
from sktree_opt.utils._fitting import call_back_every
from tests.recorder import Recorder

pytest.importorskip("sklearn.callback")

SEARCHES = [
    DTsbeSelector(random_state=0),
    DTsbeSelector(method="sbe", random_state=0),
    AcceptableSubsetSelector(random_state=0, time_limit=None),
    AcceptableSubsetSelector(method="dtaccept", random_state=0, time_limit=None),
    AcceptableSubsetSelector(collect=True, random_state=0, time_limit=None),
    DistinctTreeEnumerator(max_trees=2, random_state=0),
    DistinctTreeEnumerator(method="dtdistinct", max_trees=2, random_state=0),
]


def table(seed, n_rows=120, n_features=7):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, n_features)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 2)) ^ (rng.random(n_rows) < 0.2)
    return X, y


@pytest.fixture(autouse=True)
def _callbacks_are_told_at_once():
    with call_back_every(0.0):
        yield


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
def test_callbacks_see_the_search_and_change_nothing(search, global_random_seed):
    X, y = table(global_random_seed)
    recorder = Recorder()
    watched = clone(search).set_callbacks(recorder).fit(X, y)
    silent = clone(search).fit(X, y)
    assert recorder.tasks[-1] == "fit"
    assert len(recorder.tasks) > 2
    assert recorder.n_open == 0
    assert recorder.is_torn_down
    assert recorder.scores[-1] == watched.score(X, y)
    assert watched.status_ == silent.status_
    assert watched.tree_ == silent.tree_
    if isinstance(search, DTsbeSelector):
        # One tree for each step, and the last one again.
        assert len(recorder.scores) == len(watched.history_) + 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("search", SEARCHES, ids=repr)
def test_a_callback_ends_the_search(search, n_jobs, global_random_seed):
    X, y = table(global_random_seed, n_features=12)
    model = clone(search).set_params(n_jobs=n_jobs).set_callbacks(Recorder(stop_after=1))
    # No warning: it was asked for.
    model.fit(X, y)
    assert model.status_ == "stopped"
    assert model.predict(X).shape == y.shape


def test_a_failed_fit_is_torn_down():
    recorder = Recorder()
    model = DTsbeSelector(min_features=-1).set_callbacks(recorder)
    with pytest.raises(ValueError, match="min_features"):
        model.fit([[0.0], [1.0]], [0, 1])
    recorder = Recorder()
    model = DTsbeSelector(error=CrossValidationError([([0], [5])])).set_callbacks(recorder)
    with pytest.raises((ValueError, IndexError)):
        model.fit([[0.0], [1.0]], [0, 1])
    assert recorder.is_torn_down
    assert not hasattr(model, "_callback_fit_ctx")
