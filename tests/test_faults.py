"""Allocations that fail: every fit ends without a hang or a crash, and the next one is as usual."""

import json
import os
import subprocess
import sys

import pytest

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
        TABLES[kind][0].set_params(time_limit=0.3)
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
LIMITS = [2, 8, 20]
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
