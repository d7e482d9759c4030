"""Searches that are stopped at random moments: their bounds against the brute-force optimum."""

import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tests.recorder import Recorder


def time_limits(seconds, seed, n_stops):
    """Moments of a search that takes `seconds`, early ones more often."""
    rng = np.random.default_rng(seed)
    return [0.0, *(seconds * rng.random(n_stops - 1) ** 2)]


def fitted_in(seconds, model, *data):
    """A copy of the model that is fitted under a time limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).set_params(time_limit=float(seconds)).fit(*data)


def assert_between(model, optimum):
    """No bound of a search is above the optimum, no tree is better than it; returns its status."""
    slack = 1e-9 * max(1.0, abs(optimum))
    assert model.lower_bound_ <= optimum + slack
    assert model.objective_ >= optimum - slack
    for _, objective, bound in getattr(model, "incumbents_", ()):
        assert bound <= optimum + slack <= objective + 2 * slack
    if model.status_ == "optimal":
        assert model.lower_bound_ == pytest.approx(optimum, rel=1e-9, abs=1e-9)
        assert model.objective_ == pytest.approx(optimum, rel=1e-9, abs=1e-9)
    return model.status_


def assert_bounds_hold(model, data, optimum, seed, n_stops=8, *, is_short=False):
    """Stops copies of the model by time limits and by a callback at random moments.

    A search that `is_short` may have its proof before it can be stopped.
    """
    recorder = Recorder()
    begin = time.perf_counter()
    whole = clone(model).set_callbacks(recorder).fit(*data)
    seconds = time.perf_counter() - begin
    assert assert_between(whole, optimum) == "optimal"
    statuses = [
        assert_between(fitted_in(limit, model, *data), optimum)
        for limit in time_limits(seconds, seed, n_stops)
    ]
    rng = np.random.default_rng(seed)
    for count in rng.integers(1, len(recorder.tasks) + 1, n_stops // 4):
        stopped = clone(model).set_callbacks(Recorder(stop_after=int(count))).fit(*data)
        statuses.append(assert_between(stopped, optimum))
    assert is_short or set(statuses) != {"optimal"}, "no search was stopped"
