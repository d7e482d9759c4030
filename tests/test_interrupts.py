"""Ctrl-C at random moments of every estimator: a fit ends at once and leaves all or nothing.

``make faults`` tries 200 moments of each case.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sktree_opt.utils import all_estimators
from tests.processes import needs_sigint, processor_seconds, wait_for_processor

N_MOMENTS, LATEST = (200, 0.3) if "SKTREE_OPT_FAULTS" in os.environ else (1, 0.1)

# Fits the models that it reads, one after the other, and says what Ctrl-C has left of each.
INTERRUPTED = """
    import sys, time
    import numpy as np
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted
    from sktree_opt import *
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 120)), rng.integers(0, 2, 2000)
    small = X[:60, :5], y[:60]
    numbers = rng.normal(size=(6000, 60))
    many = np.tile(numbers, (10, 1))
    TABLES = {
        "bits": {"X": X, "y": y},
        "groups": {"X": X, "y": y, "sensitive_features": X[:, 0]},
        "numbers": {"X": numbers, "y": rng.integers(0, 2, 6000)},
        "rows": {"X": many, "y": rng.integers(0, 2, 60000)},
        "few columns": {"X": numbers[:600, :12], "y": rng.integers(0, 2, 600)},
    }
    OptimalTreeClassifier(max_depth=1).fit(*small)
    for line in sys.stdin:
        kind, model = line.split(": ")
        model, table = eval(model), TABLES[kind]
        print("ready", flush=True)
        try:
            # A fit that ends by itself is begun again.
            while True:
                model.fit(**table)
        except KeyboardInterrupt:
            end = time.process_time()
        try:
            check_is_fitted(model)
            left = getattr(model, "status_", "fitted")
            answer = model.predict if hasattr(model, "predict") else model.transform
            assert len(answer(table["X"])) == len(table["X"])
            # A search for subsets that has rated none keeps all features.
            assert getattr(model, "objective_", 0.0) < np.inf or np.isnan(model.error_)
        except NotFittedError:
            left = "nothing"
            assert not hasattr(model, "n_features_in_")
        print(left, end, flush=True)
        print(OptimalTreeClassifier(max_depth=3).fit(*small).status_, flush=True)
"""

CASES = {
    "plain": "bits: OptimalTreeClassifier(max_depth=7, time_limit=None)",
    "two threads": "bits: OptimalTreeClassifier(max_depth=7, n_jobs=2)",
    "short searches": "bits: OptimalTreeClassifier(max_depth=8)",
    "warm start": "bits: OptimalTreeClassifier(max_depth=7, warm_start=True)",
    "metric": "bits: OptimalTreeClassifier(max_depth=6, objective='f1', n_jobs=2)",
    "metric without bounds": (
        "bits: OptimalTreeClassifier(max_depth=6, objective='f1', time_limit=None)"
    ),
    "several trees": "bits: TreeSetClassifier(max_depth=6, n_trees=20)",
    "several regressions": "bits: TreeSetRegressor(max_depth=6, n_trees=20)",
    "smallest": "bits: SmallestTreeClassifier(max_depth=6, max_error=700)",
    "smallest regression": "bits: SmallestTreeRegressor(max_depth=6, max_error=0.2)",
    "fair": "groups: FairTreeClassifier(max_depth=6, max_difference=0.01)",
    "cross-validation": "bits: OptimalTreeClassifierCV(max_depth=6)",
    "cross-validated regression": "bits: OptimalTreeRegressorCV(max_depth=6)",
    "regression": "bits: OptimalTreeRegressor(max_depth=6)",
    "numbers": "numbers: OptimalTreeClassifier(max_depth=4)",
    "numbers, regression": "numbers: OptimalTreeRegressor(max_depth=4)",
    "greedy": "rows: GreedyTreeClassifier()",
    "greedy, two threads": "rows: GreedyTreeClassifier(n_jobs=2)",
    "greedy regression": "rows: GreedyTreeRegressor()",
    "rules": "numbers: RuleListClassifier()",
    "discretizer": "rows: MDLPDiscretizer()",
    "combiner": "numbers: ColumnCombiner()",
    "elimination": "few columns: DTsbeSelector(error=BootstrapError(60))",
    "acceptable subsets": "few columns: AcceptableSubsetSelector(error=BootstrapError(60))",
    "distinct trees": "few columns: DistinctTreeEnumerator(error=BootstrapError(60))",
}

# Fits that are no searches: what was fitted last is still there, if one has ended.
SHORT = {"greedy", "greedy, two threads", "greedy regression", "rules", "discretizer", "combiner"}


@pytest.fixture(scope="module")
def interrupted():
    """A function that presses Ctrl-C some seconds after a fit has begun, and returns what is left.

    The seconds are of the processor, so that a busy machine has come as far. The fit has to end
    within 0.2 s of the processor for each of two threads; five times as much is allowed.
    """
    command, pipe = [sys.executable, "-c", textwrap.dedent(INTERRUPTED)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as run:

        def interrupt(case, delay):
            print(CASES[case], file=run.stdin, flush=True)
            assert run.stdout.readline() == "ready\n"
            wait_for_processor(run.pid, delay)
            before = processor_seconds(run.pid)
            run.send_signal(signal.SIGINT)
            left, end = run.stdout.readline().split()
            assert run.stdout.readline() == "optimal\n"
            if before is not None:
                print(f"{case}: {float(end) - before:.3f} s of processors")
                assert float(end) - before < 5 * 2 * 0.2
            return left

        yield interrupt
        run.stdin.close()
    assert run.returncode == 0


def test_every_estimator_is_interrupted():
    named = {re.search(r"\w+(?=\()", line).group() for line in CASES.values()}
    assert named == {name for name, _ in all_estimators()}


@needs_sigint
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_leaves_the_best_answer(interrupted, case):
    # Long enough that a search has begun.
    assert interrupted(case, 0.2) in (("nothing", "fitted") if case in SHORT else ("stopped",))


@needs_sigint
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_at_any_moment_leaves_all_or_nothing(interrupted, case, global_random_seed):
    # Whether there is an answer yet depends on what the fit has come to.
    rng = np.random.default_rng([global_random_seed, len(case)])
    for delay in rng.uniform(0.0, LATEST, N_MOMENTS):
        assert interrupted(case, delay) in ("nothing", "stopped", "fitted", "optimal")
