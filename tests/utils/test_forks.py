"""Processes that a fork makes of one that has used threads."""

import os
import subprocess
import sys
import textwrap

import pytest

FORKS = """
    import os, signal, warnings
    import numpy as np
    from sklearn.base import clone
    from sktree_opt.greedy import GreedyTreeClassifier
    from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
    from sktree_opt.subset import DTsbeSelector
    rng = np.random.default_rng(0)
    X = rng.random((2000, 6)).round(1)
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.3)
    models = [
        GreedyTreeClassifier(n_jobs=2),
        OptimalTreeClassifier(max_depth=3, thresholds=3, n_jobs=2),
        OptimalTreeClassifier(max_depth=2, n_jobs=2),
        OptimalTreeRegressor(max_depth=2, n_jobs=2),
        DTsbeSelector(random_state=0, n_jobs=2),
    ]
    fitted = [clone(model).fit(X, y) for model in models]
    answers = [model.predict(X) for model in fitted]
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a child that hangs
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for model, expected in zip(models, answers):
                assert (clone(model).fit(X, y).predict(X) == expected).all()
        found = [str(w.message) for w in caught if w.category is RuntimeWarning]
        assert len(found) == 1 and "n_jobs=2 is taken for 1" in found[0], found
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    fitted[0].predict(X)  # the parent has its threads still
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_threads_of_its_parent():
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(FORKS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
