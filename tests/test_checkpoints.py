"""Searches that go on where they were when their process was killed, or a limit ended them."""

import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from sktree_opt import (
    AcceptableSubsetSelector,
    DistinctTreeEnumerator,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    TreeSetClassifier,
    TreeSetRegressor,
)
from sktree_opt.utils._checkpoint import Checkpoint, write_every
from tests.effort import long_test, number_of_examples


def bits(seed, n_rows=150, n_columns=10):
    """Rows of 0 and 1, and classes with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    return X, (X[:, 0] ^ X[:, 1] ^ (X[:, 2] & X[:, 3])) ^ (rng.random(n_rows) < 0.15)


def numbers(seed, n_rows=100, n_columns=4):
    """Rows of numbers, and numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, np.round(X[:, 0] * X[:, 1] + rng.normal(size=n_rows), 2)


def classes(seed, **sizes):
    """Rows of numbers, and classes."""
    X, y = numbers(seed, **sizes)
    return X, y > 0


def of(estimator, *names, **parameters):
    """An estimator, and the attributes that have to be the same."""
    return estimator(time_limit=None, **parameters), names


# By name: the table, the estimator, and what it answers.
SEARCHES = {
    "bits": (bits, *of(OptimalTreeClassifier, "objective_", max_depth=4)),
    "leaves": (bits, *of(OptimalTreeClassifier, "objective_", max_depth=4, max_leaf_nodes=6)),
    "costs": (bits, *of(OptimalTreeClassifier, "objective_", max_depth=4, complexity_cost=0.01)),
    "gini": (bits, *of(OptimalTreeClassifier, "objective_", max_depth=3, objective="gini")),
    "thresholds": (classes, *of(OptimalTreeClassifier, "objective_", max_depth=3)),
    "threshold leaves": (
        classes,
        *of(OptimalTreeClassifier, "objective_", max_depth=4, max_leaf_nodes=7),
    ),
    "squared": (numbers, *of(OptimalTreeRegressor, "objective_", max_depth=3)),
    "absolute": (
        numbers,
        *of(OptimalTreeRegressor, "objective_", max_depth=3, objective="absolute_error"),
    ),
    "cross-validation": (
        bits,
        *of(OptimalTreeClassifierCV, "objective_", "best_params_", "best_score_", cv=3),
    ),
    "subsets": (classes, *of(AcceptableSubsetSelector, "objective_", "error_", error="training")),
    "collection": (
        classes,
        *of(
            AcceptableSubsetSelector,
            "error_",
            "n_acceptable_",
            "feature_verdicts_",
            error="training",
            delta=0.05,
            collect=True,
        ),
    ),
    "distinct": (
        classes,
        *of(
            DistinctTreeEnumerator, "n_distinct_by_size_", "errors_", "feature_usage_", max_trees=3
        ),
    ),
}
SETS = {
    "set": (bits, *of(TreeSetClassifier, "n_trees_by_objective_", epsilon=0.2)),
    "deep set": (
        bits,
        *of(TreeSetClassifier, "n_trees_by_objective_", max_depth=4, n_trees=500),
    ),
    "regression set": (
        numbers,
        *of(TreeSetRegressor, "n_trees_by_objective_", thresholds=4, n_trees=50),
    ),
}


class Killed(BaseException):
    """The process is gone."""


def assert_same(one, other, names):
    assert other.status_ == one.status_ == "optimal"
    for name in names:
        before, after = getattr(one, name), getattr(other, name)
        if isinstance(before, dict):
            assert after == before
        elif isinstance(before, float):
            assert after == pytest.approx(before, rel=1e-12)
        else:
            np.testing.assert_array_equal(after, before)


# Others differ from these in the objective, or in limits.
QUICK = ("bits", "leaves", "thresholds", "absolute", "cross-validation", "collection", "distinct")


def names_of(*searches):
    """Names of searches; most of them in the long run alone."""
    return [
        name if name in {*QUICK, *SETS} else pytest.param(name, marks=long_test)
        for name in searches
    ]


@pytest.mark.parametrize("name", names_of(*SEARCHES))
def test_a_killed_search_goes_on(name, tmp_path, monkeypatch, global_random_seed):
    table, model, names = SEARCHES[name]
    X, y = table(global_random_seed)
    expected = model.fit(X, y)
    again = type(model)(**model.get_params()).set_params(checkpoint=tmp_path / "file")
    n_left, n_killed, write = 0, 0, Checkpoint.write

    def write_and_die(checkpoint):
        nonlocal n_left
        write(checkpoint)
        n_left -= 1
        if n_left < 0:
            raise Killed

    monkeypatch.setattr(Checkpoint, "write", write_and_die)
    while True:
        # Each process lives a little longer than the last one.
        n_left = n_killed
        try:
            with write_every(1e-4):
                again.fit(X, y)
            break
        except Killed:
            n_killed += 1
    assert n_killed > 0
    assert_same(expected, again, names)


@pytest.mark.parametrize("name", names_of(*SEARCHES, *SETS))
def test_a_search_goes_on_after_a_limit(name, tmp_path, global_random_seed):
    table, model, names = {**SEARCHES, **SETS}[name]
    X, y = table(global_random_seed)
    expected = model.fit(X, y)
    again = type(model)(**model.get_params()).set_params(checkpoint=tmp_path / "file")
    with warnings.catch_warnings(), write_every(1e-3):
        warnings.simplefilter("ignore")
        for limit in (0.0, 0.002, 0.02):
            again.set_params(time_limit=limit).fit(X, y)
        again.set_params(time_limit=None).fit(X, y)
        assert_same(expected, again, names)
        # What is done is not done again.
        again.fit(X, y)
    assert_same(expected, again, names)


def test_a_finished_search_is_not_repeated(tmp_path):
    X, y = bits(0, n_rows=400, n_columns=25)
    model = OptimalTreeClassifier(max_depth=4, checkpoint=tmp_path / "file").fit(X, y)
    n_first = model.search_stats_["n_depth_two_counted"]
    assert model.fit(X, y).search_stats_["n_depth_two_counted"] < n_first / 4
    X, y = classes(0, n_rows=400)
    model.set_params(checkpoint=tmp_path / "other").fit(X, y)
    n_first = model.search_stats_["n_depth_two_calls"]
    assert model.fit(X, y).search_stats_["n_depth_two_calls"] < n_first / 4
    sets = TreeSetClassifier(max_depth=4, checkpoint=tmp_path / "set", thresholds=3)
    n_first = sets.fit(X, y).search_stats_["n_depth_two"]
    # The graph is put together again.
    assert sets.fit(X, y).search_stats_["n_depth_two"] < n_first


@pytest.mark.parametrize("name", ["bits", "thresholds", "cross-validation", "subsets", "set"])
@pytest.mark.parametrize("change", ["rows", "parameters"])
def test_another_search_is_refused(name, change, tmp_path):
    table, model, _ = {**SEARCHES, **SETS}[name]
    X, y = table(0)
    model = type(model)(**model.get_params()).set_params(checkpoint=tmp_path / "file").fit(X, y)
    before = model.status_, (tmp_path / "file").read_bytes()
    if change == "rows":
        X, y = table(1)
    elif name == "subsets":
        model.set_params(delta=0.1)
    else:
        model.set_params(min_samples_leaf=2)
    with pytest.raises(ValueError, match="belongs to another search"):
        model.fit(X, y)
    assert (model.status_, (tmp_path / "file").read_bytes()) == before


@pytest.mark.parametrize(
    "model",
    [
        OptimalTreeClassifier(objective="f1"),
        OptimalTreeClassifier(search="lookahead"),
        TreeSetClassifier(max_error=10.0),
        AcceptableSubsetSelector(method="dtaccept"),
        AcceptableSubsetSelector(error=lambda tree: 0.0),
        DistinctTreeEnumerator(method="dtdistinct"),
    ],
)
def test_searches_without_a_checkpoint_say_so(model, tmp_path):
    with pytest.raises(ValueError, match="checkpoint is (not|only) supported"):
        model.set_params(checkpoint=tmp_path / "file").fit(*bits(0))


@pytest.mark.parametrize(
    "name",
    ["bits", "leaves", "thresholds", "subsets", "set"]
    + [pytest.param(name, marks=long_test) for name in ("cross-validation", "collection")],
)
def test_forged_states_are_refused_or_used(name, tmp_path, global_random_seed):
    """A file with a right digest may hold anything; no memory outside the search is touched."""
    table, model, _ = {**SEARCHES, **SETS}[name]
    X, y = table(global_random_seed)
    model = type(model)(**model.get_params()).set_params(checkpoint=tmp_path / "file").fit(X, y)
    content = (tmp_path / "file").read_bytes()
    rng = np.random.default_rng(global_random_seed)
    for _ in range(number_of_examples(40)):
        (tmp_path / "file").write_bytes(content)
        checkpoint = Checkpoint(tmp_path / "file", type(model).__name__)
        forge(checkpoint._searches, rng)
        checkpoint.write()
        refusal = "checkpoint"
        try:
            model.fit(X, y)
        except ValueError as error:
            refusal = str(error)
        except RuntimeError:
            continue  # the tree does not cost what the file says
        assert "checkpoint" in refusal


def forge(value, rng):
    """Change a random number in nested dicts, lists and arrays."""
    while not isinstance(value, np.ndarray):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        keys = [key for key in keys if key != "fingerprint"]
        if not len(keys):
            return
        key = keys[rng.integers(len(keys))]
        inner = value[key]
        if isinstance(inner, np.ndarray):
            value[key] = inner = inner.copy()
        elif not isinstance(inner, dict | list):
            value[key] = [None, -1, 10**9, 1e300, "text"][rng.integers(5)]
            return
        value = inner
    if value.size:
        low = 0 if value.dtype.kind == "u" else -3
        value.flat[rng.integers(value.size)] = rng.choice([low, 0, 1, 100])


CHILD = """
import sys, warnings
from sktree_opt.utils._checkpoint import write_every
from tests.test_checkpoints import LARGE
warnings.simplefilter("ignore")
table, model, _ = LARGE[sys.argv[1]]
X, y = table()
print("ready", flush=True)
with write_every(0.05):
    model.set_params(checkpoint=sys.argv[2]).fit(X, y)
"""
LARGE = {
    "bits": (lambda: bits(0, 5000, 100), *of(OptimalTreeClassifier, "objective_", max_depth=4)),
    "thresholds": (
        lambda: classes(0, n_rows=600, n_columns=6),
        *of(OptimalTreeClassifier, "objective_", max_depth=4),
    ),
    "set": (
        lambda: bits(0, 400, 40),
        *of(TreeSetClassifier, "n_trees_by_objective_", max_depth=4, n_trees=100),
    ),
    "cross-validation": (
        lambda: numbers(0, n_rows=200),
        *of(OptimalTreeRegressorCV, "objective_", "best_params_", "best_score_", cv=4),
    ),
    "distinct": (
        lambda: classes(0, n_rows=200, n_columns=13),
        *of(DistinctTreeEnumerator, "n_distinct_by_size_", "errors_", max_trees=5),
    ),
}


@long_test
@pytest.mark.parametrize("name", LARGE)
def test_sigkill_at_random_moments(name, tmp_path, global_random_seed):
    table, model, names = LARGE[name]
    X, y = table()
    start = time.perf_counter()
    expected = model.fit(X, y)
    seconds = time.perf_counter() - start
    rng = np.random.default_rng(global_random_seed)
    path = tmp_path / "file"
    for _ in range(10):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, name, str(path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        )
        with child:
            child.stdout.readline()
            try:
                child.wait(rng.uniform(0.0, seconds))
                assert child.returncode == 0
                break
            except subprocess.TimeoutExpired:
                child.kill()
    again = type(model)(**model.get_params()).set_params(checkpoint=path).fit(X, y)
    assert_same(expected, again, names)
