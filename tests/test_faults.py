"""What fails around a fit: memory, disks, callbacks, processes. The next fit is as usual."""

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.validation import check_is_fitted

from sktree_opt import (
    AcceptableSubsetSelector,
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    TreeSetClassifier,
    from_json,
    to_json,
)
from sktree_opt.__main__ import main
from tests.recorder import Recorder

# Fits in a process of its own for each kind and limit, which counts from what the process has; each
# line says how the fit ended, and whether a second fit without a limit was as usual.
STARVED = """
import json, os, resource, signal, sys, warnings
import numpy as np
from sklearn.base import clone
from sktree_opt import (
    DTsbeSelector, GreedyTreeClassifier, OptimalTreeClassifier, OptimalTreeRegressor
)

warnings.simplefilter("ignore")
kind, limits = sys.argv[1], json.loads(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.random((30000, 24))
bits = (X < 0.5).astype(float)
y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(len(X)) < 0.3)).astype(int)
TABLES = {
    "bits": (OptimalTreeClassifier(max_depth=5), bits, y),
    "gini": (OptimalTreeClassifier(max_depth=4, objective="gini"), bits, y),
    "targets": (OptimalTreeRegressor(max_depth=4), bits, X[:, 0]),
    "tree sets": (OptimalTreeClassifier(max_depth=4, objective="f1"), bits, y),
    "thresholds": (OptimalTreeClassifier(max_depth=3), X, y),
    "few values": (OptimalTreeRegressor(max_depth=3), X.round(1), X[:, 0] * y),
    "greedy": (GreedyTreeClassifier(max_depth=8), X, y),
    "selector": (DTsbeSelector(random_state=0), bits, y),
}


def answers(model, X, y):
    model = clone(model)
    if "max_depth" in model.get_params():
        model.set_params(max_depth=2)
    return model.fit(X[:300, :6], y[:300]).predict(X[:300, :6])


def starve(model, X, y, megabytes):
    expected = answers(model, X, y)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(megabytes * 2**20), resource.RLIM_INFINITY))
    try:
        end = getattr(model.fit(X, y), "status_", "optimal")
    except MemoryError:
        end = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(kind, megabytes, end, (answers(model, X, y) == expected).all(), flush=True)


for kind in TABLES if kind == "all" else [kind]:
    if "time_limit" in TABLES[kind][0].get_params():
        TABLES[kind][0].set_params(time_limit=0.15)
    answers(*TABLES[kind])  # what is loaded on first use is loaded
    for megabytes in limits:
        child = os.fork()
        if child:
            _, code = os.waitpid(child, 0)
            if code:
                sys.exit(f"{kind}, {megabytes} MB: code {code}")
            continue
        signal.alarm(60)  # a fit that hangs keeps the GIL: only a signal ends it
        starve(*TABLES[kind], megabytes)
        os._exit(0)
"""
LIMITS = [2, 12]
if "SKTREE_OPT_FAULTS" in os.environ:
    LIMITS = [0.25, 0.5, *range(1, 25), 28, 32, 40]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
def test_failed_allocations():
    command = [sys.executable, "-c", STARVED, "all", json.dumps(LIMITS)]
    # A second arena would have reserved memory before the limit was set.
    env = os.environ | {"MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    lines = [line.rsplit(maxsplit=3) for line in done.stdout.splitlines()]
    assert len(lines) == 8 * len(LIMITS)
    assert {end for *_, end, _ in lines} <= {"MemoryError", "memory_limit", "time_limit", "optimal"}
    assert [line for line in lines if line[-1] != "True"] == []
    # Each kind of search met a failed allocation.
    assert len({kind for kind, _, end, _ in lines if end == "MemoryError"}) == 8, lines


MODELS = [
    GreedyTreeClassifier(n_jobs=2),
    OptimalTreeClassifier(max_depth=3, thresholds=3, n_jobs=2),
    OptimalTreeClassifier(max_depth=2, n_jobs=2),
    OptimalTreeRegressor(max_depth=2, n_jobs=2),
    TreeSetClassifier(max_depth=2, thresholds=2, n_trees=5, n_jobs=2),
    AcceptableSubsetSelector(random_state=0, n_jobs=2),
]


@pytest.fixture
def table(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.random((300, 5)).round(1)
    return X, ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.3)).astype(int)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:n_jobs=2 is taken for 1:RuntimeWarning")
def test_processes_of_every_kind_fit_with_threads(method, table):
    expected = [clone(model).fit(*table).predict(table[0]) for model in MODELS]
    with multiprocessing.get_context(method).Pool(1) as pool:
        fits = [pool.apply_async(clone(model).fit, table) for model in MODELS]
        for fit, answers in zip(fits, expected, strict=True):
            np.testing.assert_array_equal(fit.get(timeout=120).predict(table[0]), answers)


def test_threads_of_processes_of_threads(table):
    def score(model):
        return cross_val_score(model, *table, cv=2, n_jobs=2)

    with ThreadPoolExecutor(2) as pool:
        nested = list(pool.map(score, MODELS[:4]))
    for model, scores in zip(MODELS, nested, strict=False):
        np.testing.assert_array_equal(scores, cross_val_score(model, *table, cv=2))


class Failing(Recorder):
    """A callback that fails in place of asking to stop."""

    def on_fit_task_end(self, *args, **kwargs):
        if super().on_fit_task_end(*args, **kwargs):
            raise RuntimeError("the callback failed")


@pytest.mark.parametrize("model", [model for model in MODELS if hasattr(model, "set_callbacks")])
def test_callbacks_that_raise(model, table):
    answers = clone(model).fit(*table).predict(table[0])
    failing = clone(model).set_callbacks(Failing(stop_after=1))
    with pytest.raises(RuntimeError, match="the callback failed"):
        failing.fit(*table)
    # All or nothing: the first task that ends may be the whole fit.
    if hasattr(failing, "n_features_in_"):
        np.testing.assert_array_equal(failing.predict(table[0]), answers)
    else:
        with pytest.raises(NotFittedError):
            check_is_fitted(failing)
    np.testing.assert_array_equal(failing.set_callbacks().fit(*table).predict(table[0]), answers)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path, capsys):
    (tmp_path / "table.csv").write_text("a,b,y\n" + "1,2,0\n3,1,1\n2,2,0\n" * 5)
    fit = ["fit", str(tmp_path / "table.csv"), "--target", "y", "--cv", "0"]
    for option in ("--out", "--html"):
        assert main([*fit, option, "/dev/full"]) != 0
        error = capsys.readouterr().err.strip().splitlines()[-1]
        assert "No space left on device" in error, error


def test_a_model_whose_writing_was_cut_short_is_refused(table):
    text = to_json(OptimalTreeClassifier(max_depth=2).fit(*table))
    for length in range(0, len(text) - 1, 7):
        with pytest.raises(ValueError, match="JSON"):
            from_json(text[:length])
