"""One fit on the workers of a dask cluster or of ray."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest

from sktree_opt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    TreeSetClassifier,
    to_json,
)
from sktree_opt.utils._workers import KeptInWorker, Shared, Workers
from tests.effort import also_long, long_test

distributed = pytest.importorskip("distributed")


def bits(n_rows=400, n_columns=20):
    """Rows of 0 and 1, and classes with noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_rows, n_columns))
    return X, (X[:, 0] ^ X[:, 1] ^ (X[:, 2] & X[:, 3])) ^ (rng.random(n_rows) < 0.1)


def numbers(n_rows=200, n_columns=4):
    """Rows of numbers, and classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(n_rows) < 0.1)


SEARCHES = {
    "bits": (OptimalTreeClassifier(max_depth=4, time_limit=None), bits),
    "leaves": (OptimalTreeClassifier(max_depth=4, max_leaf_nodes=7, time_limit=None), bits),
    "costs": (OptimalTreeClassifier(max_depth=4, complexity_cost=0.02, time_limit=None), bits),
    "thresholds": (OptimalTreeClassifier(max_depth=4, time_limit=None), numbers),
    "regression": (OptimalTreeRegressor(max_depth=3, time_limit=None), numbers),
    "cross-validation": (OptimalTreeClassifierCV(cv=3, time_limit=None), bits),
    "set": (TreeSetClassifier(max_depth=4, n_trees=2000, time_limit=None), bits),
}


@pytest.mark.parametrize(
    "name",
    ["bits", "thresholds", *also_long("set", "cross-validation", "leaves", "costs", "regression")],
)
def test_the_objective_is_that_of_one_machine(cluster, name):
    model, table = SEARCHES[name]
    here = model.fit(*table()).objective_
    tree, counts = to_json(model), getattr(model, "n_trees_by_objective_", None)
    with joblib.parallel_config("dask"):
        model.fit(*table())
    assert model.status_ == "optimal"
    assert table is numbers or to_json(model) == tree
    assert getattr(model, "n_trees_by_objective_", None) == counts
    assert model.objective_ == pytest.approx(here, rel=1e-12)
    assert model.lower_bound_ == pytest.approx(here, rel=1e-12)


@pytest.mark.filterwarnings("ignore:The search stopped at time_limit")
@pytest.mark.parametrize("table", also_long(bits, numbers))
def test_a_limit_ends_the_tasks(cluster, table):
    X, y = table(2000, 30)
    with joblib.parallel_config("dask"):
        model = OptimalTreeClassifier(max_depth=6, time_limit=1.0).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.lower_bound_ < model.objective_ == pytest.approx((model.predict(X) != y).sum())


def test_workers_go_on_from_a_checkpoint(cluster, tmp_path):
    for table in (bits, numbers):
        model = OptimalTreeClassifier(max_depth=4, time_limit=None).fit(*table())
        here = model.objective_
        model.set_params(checkpoint=tmp_path / table.__name__)
        with joblib.parallel_config("dask"):
            model.fit(*table())
        assert model.fit(*table()).objective_ == here


def test_a_round_that_fails_is_repeated():
    calls = []

    def task(shared, part):
        calls.append(part)
        if len(calls) == 2:
            raise OSError("the worker has gone")
        return part + shared.content

    with joblib.parallel_config("sequential"):
        assert Workers().run(task, Shared(b"key", 10), [1, 2]) == [11, 12]
        assert calls == [1, 2, 1, 2]
        with pytest.raises(ZeroDivisionError):
            Workers().run(lambda shared, part: 1 / 0, Shared(b"key", 10), [1])


def test_the_content_is_sent_to_workers_that_lack_it():
    contents = []

    def task(shared, part):
        contents.append(shared.content)
        return None if part == 2 and shared.content is None else part

    workers = Workers()
    with joblib.parallel_config("sequential"):
        for _ in range(2):
            assert workers.run(task, Shared(b"key", 10), [1, 2]) == [1, 2]
    assert contents == [10, 10, None, None, 10]


def test_a_worker_keeps_what_belongs_to_one_search():
    kept = KeptInWorker()
    assert kept.take(b"one") is None
    kept.keep(b"one", "engine")
    assert kept.take(b"one") == "engine"
    assert kept.take(b"one") is None
    assert kept.take(b"two") is None
    kept.keep(b"one", "engine")
    assert kept.take(b"two") is None


@long_test
@pytest.mark.parametrize("name", ["bits", "thresholds", "set"])
def test_a_worker_may_die(name):
    tables = {"bits": bits(8000, 100), "thresholds": numbers(500, 5), "set": bits(1000, 60)}
    X, y = tables[name]
    model = SEARCHES[name][0]
    here = model.fit(X, y).objective_
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def kill():
            time.sleep(0.5)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with joblib.parallel_config("dask"):
            model.fit(X, y)
        killer.join()
    assert model.status_ == "optimal"
    assert model.objective_ == here


@long_test
def test_ray_answers_the_same(monkeypatch):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        for name in ("bits", "thresholds", "set"):
            model, table = SEARCHES[name]
            here = model.fit(*table()).objective_
            with joblib.parallel_config("ray"):
                assert model.fit(*table()).objective_ == here
    finally:
        ray.shutdown()
