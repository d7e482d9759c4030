"""Searches that are given out in rounds, killed and taken up again, against brute force."""

import tempfile
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor, TreeSetClassifier, to_json
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run._plan import use_engine
from sktree_opt.utils import _checkpoint
from tests.effort import examples
from tests.in_rounds import in_rounds
from tests.optimal.cases import REGRESSION, problems, reference_of
from tests.optimal.test_tree_sets import estimator_of, expected_set, within
from tests.recorder import Recorder
from tests.reference import pair_counts
from tests.stopped import assert_between


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_at(write):
    """Let the process be killed after it has written its checkpoint so many times."""
    checkpoint, n_left = _checkpoint.Checkpoint, write
    before = checkpoint.write

    def write_and_die(self):
        nonlocal n_left
        before(self)
        n_left -= 1
        if n_left < 0:
            raise Killed

    with mock.patch.object(checkpoint, "write", write_and_die):
        yield


@contextmanager
def written_often():
    """Write a checkpoint whenever a search comes back, which is soon."""
    always = mock.patch.object(_checkpoint, "SHARE_FOR_WRITING", np.inf)
    no_disk = mock.patch.object(_checkpoint.os, "fsync")
    with _checkpoint.write_every(1e-4), always, no_disk, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# How a search ends before its time, when, and whether its parts are tasks.
ENDS = ["kill", "limit", "callback"]
SITTINGS = st.lists(st.tuples(st.sampled_from(ENDS), st.integers(0, 8), st.booleans()), max_size=4)


def take_up(model, sittings, fit, check):
    """Fit again and again until the ends of all sittings, then to the end; `check` each time."""
    with tempfile.TemporaryDirectory() as folder, written_often():
        model.set_params(checkpoint=Path(folder, "file"))
        for end, moment, is_remote in [*sittings, (None, 3, True)]:
            model.set_params(time_limit=1e-4 * 2**moment if end == "limit" else None)
            # A callback has one task to come back to at least.
            model.set_callbacks(*[Recorder(1 + moment)] * (end == "callback"))
            kill = killed_at(moment if end == "kill" else np.inf)
            rounds = in_rounds(1 + moment % 3) if is_remote else nullcontext()
            try:
                with kill, rounds:
                    fit(model)
            except Killed:
                continue
            check(model)
    assert model.status_ == "optimal"


@pytest.mark.parametrize("engine", ["bits", "thresholds"])
@pytest.mark.parametrize("objective", ["error", "gini", "squared_error"])
@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.sampled_from([3, 3, 4]),
    complexity_cost=st.sampled_from([0.0, 0.02]),
    sittings=SITTINGS,
)
def test_one_tree(engine, objective, seed, depth, complexity_cost, sittings):
    rng = np.random.default_rng(seed)
    if engine == "bits":
        X = rng.integers(0, 2, (60, 6)).astype(float)
    else:
        X = rng.integers(0, 13, (40, 1 + (depth == 3))).astype(float)
    rule = (X[:, 0] > X[:, 0].mean()) ^ (X[:, -1] > 4)
    if objective == "squared_error":
        y, leaf_cost = rule + rng.normal(size=len(X)).round(1), pair_counts.squared_error
        channels, model = pair_counts.target_channels(y, np.ones(len(X))), OptimalTreeRegressor()
    else:
        y = rule ^ (rng.random(len(X)) < 0.3)
        assume(0 < y.sum() < len(y))
        leaf_cost = getattr(pair_counts, objective)
        channels = pair_counts.class_channels(y.astype(int), np.ones(len(X)), 2)
        model = OptimalTreeClassifier(objective=objective)
    price = complexity_cost * len(X)
    optimum = pair_counts.best_cost(pair_counts.tests_of(X), channels, leaf_cost, depth, price)
    model.set_params(max_depth=depth, complexity_cost=complexity_cost)
    with use_engine(engine):
        take_up(
            model, sittings, lambda one: one.fit(X, y), lambda one: assert_between(one, optimum)
        )


@pytest.mark.parametrize("objective", ["no loss", "error", "entropy", "squared_error"])
@examples(40)
@given(
    seed=st.integers(0, 2**32 - 1),
    complexity_cost=st.sampled_from([0.0, 0.0, 0.02]),
    max_leaf_nodes=st.sampled_from([None, 5, 6]),
    n_parts=st.integers(1, 4),
)
def test_ties_are_those_of_one_machine(objective, seed, complexity_cost, max_leaf_nodes, n_parts):
    """Of many trees as good. Over all thresholds, that holds where a tree loses nothing."""
    rng = np.random.default_rng(seed)
    limits = {"max_leaf_nodes": max_leaf_nodes, "complexity_cost": complexity_cost}
    if objective == "no loss":
        engine, limits = rng.choice(["bits", "thresholds"]), {}
        X = rng.integers(0, 13, (rng.choice([12, 60]), 3)).astype(float)
        y = ((X[:, 0] > 6) ^ (X[:, 1] > 6)) + (X[:, 0] > 1).astype(int)
    else:
        engine, X = "bits", rng.integers(0, 2, (rng.choice([20, 60]), 6)).astype(float)
        y = np.where(rng.random(len(X)) < 0.3, rng.integers(0, 3, len(X)), X[:, 0] + X[:, 1])
    assume(len(np.unique(y)) > 1)
    if objective == "squared_error":
        model = OptimalTreeRegressor()
    else:
        model = OptimalTreeClassifier(objective="error" if objective == "no loss" else objective)
    model.set_params(max_depth=3, time_limit=None, **limits)
    with use_engine(engine):
        here = to_json(model.fit(X, y))
        with in_rounds(n_parts):
            assert to_json(model.fit(X, y)) == here


@examples(60)
@given(data=st.data(), sittings=SITTINGS)
def test_sets_of_trees(data, sittings):
    (X, y, weights), options = data.draw(sets("error"))
    expected, _ = expected_set(reference_of(X, y, weights, options), options)
    expected = within(expected, options["epsilon"], True, None)

    def check(model):
        if model.status_ == "optimal":
            assert model.n_trees_ == len(expected)
            objectives = [one[0] for one in expected]
            assert model.tree_objectives_ == pytest.approx(objectives, rel=1e-6, abs=1e-6)
        assert_between(model, expected[0][0])

    # A thread of its own writes the checkpoint.
    sittings = [("limit" if end == "kill" else end, *rest) for end, *rest in sittings]
    fit = {"sample_weight": weights}
    take_up(estimator_of(options), sittings, lambda model: model.fit(X, y, **fit), check)


@st.composite
def sets(draw, objective):
    """A table, and parameters of a set of trees of three levels or more."""
    X, y, weights, options = draw(problems(objective, max_columns=4))
    options["max_depth"] = 3
    options["max_leaf_nodes"] = draw(st.sampled_from([None, None, 4, 5]))
    options["min_samples_leaf"] = min(options["min_samples_leaf"], 2)
    options["min_weight_leaf"] = 0.0
    options["complexity_cost"] = draw(st.sampled_from([0.0, 0.03]))
    options["distinct_by"] = draw(st.sampled_from(["partitions", "tests"]))
    options["epsilon"] = draw(st.sampled_from([0.0, 0.11, 0.52]))
    return (X, y, weights), options


RANKING = ("error", "depth", "size")


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(40)
@given(data=st.data(), n_columns=st.integers(4, 9))
def test_a_joined_graph_is_that_of_one_machine(objective, data, n_columns):
    """Node by node: columns that are equal, complements or of one feature are among them."""
    (X, y, weights), options = data.draw(sets(objective))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = np.column_stack([X, rng.integers(0, 2, (len(X), n_columns)), 1 - X[:, 0]])
    if data.draw(st.booleans()):
        X = np.column_stack([X[:, :2].sum(axis=1) + X[:, 2], X[:, 3:]])
    options["max_depth"] = data.draw(st.sampled_from([3, 4]))
    options["ranking"] = data.draw(st.sampled_from([None, ("size", "error"), RANKING]))
    options["n_trees"] = data.draw(st.sampled_from([None, 30]))
    model = estimator_of(options)
    model.set_params(time_limit=None).fit(X, y, sample_weight=weights)
    here, *numbers = model._found.graph.__reduce__()[1]
    with in_rounds(data.draw(st.integers(1, 4))):
        model.fit(X, y, sample_weight=weights)
    assert model.status_ == "optimal"
    there, *others = model._found.graph.__reduce__()[1]
    assert others == numbers
    for name, values in here.items():
        np.testing.assert_array_equal(there[name], values)


@pytest.mark.filterwarnings("ignore:The search stopped at memory_limit")
@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, TreeSetClassifier])
def test_workers_without_memory_end_the_search(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 40)), rng.integers(0, 2, 400)
    statuses, bounds = [], []
    for size in range(13, 21):
        model = estimator(max_depth=4, time_limit=None, memory_limit=2**size)
        with in_rounds():
            model.fit(X, y)
        bounds.append(model.lower_bound_)
        statuses.append(model.status_)
    assert statuses[0] == "memory_limit"
    assert statuses[-1] == "optimal"
    assert max(bounds) <= model.objective_ * (1 + 1e-12)
