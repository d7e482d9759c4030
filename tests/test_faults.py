"""Allocations that fail: every fit ends, and the process is as good as before."""

import os
import subprocess
import sys
import textwrap

import pytest

# The limit counts from what the process has when it is set; the last line says how many fits ended
# by MemoryError, and how many otherwise.
STARVED = """
    import resource, warnings
    from pathlib import Path
    import numpy as np
    from sktree_opt import OptimalTreeClassifier, OptimalTreeRegressor, DTsbeSelector
    from sktree_opt import GreedyTreeClassifier
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = (rng.random((20000, 30)) < 0.5).astype(float)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(20000) < 0.3)).astype(int)
    small = X[:300, :6], y[:300]
    model = MODEL
    expected = model.fit(*small).predict(small[0])
    numbers = {"failed": 0, "ended": 0}
    for megabytes in LIMITS:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        no_limit = resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_AS, (used + int(megabytes * 2**20), no_limit))
        try:
            model.fit(X, y)
            numbers["ended"] += 1
        except MemoryError:
            numbers["failed"] += 1
        resource.setrlimit(resource.RLIMIT_AS, (no_limit, no_limit))
        assert (model.fit(*small).predict(small[0]) == expected).all()
    print(*numbers.values())
"""
LIMITS = [1, 4, 6, 12]
if "SKTREE_OPT_FAULTS" in os.environ:
    LIMITS = [0.25, 0.5, *range(1, 25), 28, 32, 40]
MODELS = {
    "bits": "OptimalTreeClassifier(max_depth=5, time_limit=0.3)",
    "gini": "OptimalTreeClassifier(max_depth=4, objective='gini', time_limit=0.3)",
    "metric": "OptimalTreeClassifier(max_depth=4, objective='f1', time_limit=0.3)",
    "regression": "OptimalTreeRegressor(max_depth=4, time_limit=0.3)",
    "greedy": "GreedyTreeClassifier(max_depth=8)",
    "selector": "DTsbeSelector(random_state=0, time_limit=0.3)",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc")
@pytest.mark.parametrize("model", MODELS)
def test_failed_allocations(model):
    code = textwrap.dedent(STARVED).replace("MODEL", MODELS[model]).replace("LIMITS", str(LIMITS))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    n_failed, n_ended = map(int, done.stdout.split())
    assert n_failed + n_ended == len(LIMITS)
    assert n_failed > 0
