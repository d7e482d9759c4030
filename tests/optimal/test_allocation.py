"""Allocations that fail end a fit in an error or in its best tree, never in a hang or a crash."""

import subprocess
import sys

import pytest

# Prints how the fit ended under the limit, and whether a second fit without it was as usual.
SCRIPT = """
import resource, sys, warnings
import numpy as np
from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor

warnings.simplefilter("ignore")
kind, megabytes, n_jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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
model.set_params(time_limit=2, n_jobs=n_jobs)
small = model.__class__(max_depth=2, objective=model.objective, n_jobs=n_jobs)
expected = small.fit(X[:300], y[:300]).objective_  # what is loaded on first use is loaded
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
try:
    end = model.fit(X, y).status_
except MemoryError:
    end = "MemoryError"
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
again = small.fit(X[:300], y[:300]).objective_
print(end, again == expected)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize("kind", ["bits", "real bits", "thresholds", "few values", "tree sets"])
def test_failed_allocations_end_a_fit(kind):
    for megabytes in (1, 4, 12, 40):
        command = [sys.executable, "-c", SCRIPT, kind, str(megabytes), "1"]
        # A fit that hangs keeps the GIL: only a signal from outside ends it.
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (megabytes, done.returncode, done.stderr)
        end, same = done.stdout.split()
        assert end in ("MemoryError", "memory_limit", "time_limit", "optimal"), megabytes
        assert same == "True", megabytes
