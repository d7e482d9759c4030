"""Allocations that fail end a fit in an error or in its best tree, never in a hang or a crash."""

import subprocess
import sys

import pytest

# Prints for each limit how a fit in a process of its own ended, and whether a second fit without a
# limit was as usual there.
SCRIPT = """
import os, resource, signal, sys, warnings
import numpy as np
from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor

warnings.simplefilter("ignore")
kind = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.random((60000, 24))
y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(60000) < 0.3)).astype(int)
models = {
    "bits": (OptimalTreeClassifier(max_depth=4), (X < 0.5).astype(float), y),
    "real bits": (OptimalTreeRegressor(max_depth=4), (X < 0.5).astype(float), X[:, 0]),
    "thresholds": (OptimalTreeClassifier(max_depth=3), X, y),
    "few values": (OptimalTreeRegressor(max_depth=3), X.round(1), X[:, 0] * y),
    "tree sets": (OptimalTreeClassifier(max_depth=3, objective="f1"), (X < 0.5).astype(float), y),
}
model, X, y = models[kind]
model.set_params(time_limit=1)
small = model.__class__(max_depth=2, objective=model.objective)
expected = small.fit(X[:300], y[:300]).objective_  # what is loaded on first use is loaded
for megabytes in (1, 4, 12, 40):
    child = os.fork()
    if child:
        _, code = os.waitpid(child, 0)
        if code:
            sys.exit(f"{megabytes} MB: code {code}")
        continue
    signal.alarm(60)  # a fit that hangs keeps the GIL: only a signal ends it
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
    try:
        end = model.fit(X, y).status_
    except MemoryError:
        end = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(end, small.fit(X[:300], y[:300]).objective_ == expected, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize("kind", ["bits", "real bits", "thresholds", "few values", "tree sets"])
def test_failed_allocations_end_a_fit(kind):
    command = [sys.executable, "-c", SCRIPT, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ends = [line.split() for line in done.stdout.splitlines()]
    assert len(ends) == 4
    assert {end for end, _ in ends} <= {"MemoryError", "memory_limit", "time_limit", "optimal"}
    assert {same for _, same in ends} == {"True"}
