"""The same fits again and again: answers stay the same, memory does not grow.

python -m tests.soak --minutes 10
"""

import argparse
import threading
import time
import warnings

import numpy as np
import psutil
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sktree_opt import (
    AcceptableSubsetSelector,
    DTsbeSelector,
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    from_json,
    to_json,
)

# Growth of a process between its second minute and its last, in bytes, that is no leak.
MOST_GROWTH = 20e6
MODELS = [
    GreedyTreeClassifier(pruning="error_based"),
    GreedyTreeRegressor(n_jobs=2),
    OptimalTreeClassifier(max_depth=3, thresholds=4),
    OptimalTreeClassifier(max_depth=2, n_jobs=2),
    OptimalTreeClassifier(max_depth=2, thresholds=4, objective="f1"),
    OptimalTreeClassifier(max_depth=3, thresholds=4, memory_limit="1MB", objective="gini"),
    OptimalTreeRegressor(max_depth=2),
    DTsbeSelector(random_state=0),
    AcceptableSubsetSelector(random_state=0, n_jobs=2),
    OptimalTreeClassifier(max_depth=6, time_limit=0.02),  # another tree each time
]


def tables():
    rng = np.random.default_rng(0)
    for n in (60, 200, 300):
        X = rng.normal(size=(n, 6)).round(1)
        X[rng.random(X.shape) < 0.05] = np.nan
        yield X, ((np.nan_to_num(X[:, 0]) > 0) ^ (rng.random(n) < 0.2)).astype(int)


def answers_of(model, X, y):
    fitted = clone(model).fit(X, y)
    assert (from_json(to_json(fitted)).predict(X) == fitted.predict(X)).all()
    return fitted.predict(X)


def work(end, counts, errors):
    """Fit all models in turn until the end; counts fits and lists what differs."""
    first = {}
    while time.monotonic() < end and not errors:
        for k, model in enumerate(MODELS):
            for t, (X, y) in enumerate(tables()):
                answers = answers_of(model, X, y)
                if k < len(MODELS) - 1 and (first.setdefault((k, t), answers) != answers).any():
                    errors.append(f"{model} on table {t} answers otherwise than before")
                counts[0] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    minutes = parser.parse_args().minutes
    warnings.simplefilter("ignore", ConvergenceWarning)
    process, counts, errors, sizes = psutil.Process(), [0], [], []
    end = time.monotonic() + 60 * minutes
    threads = [threading.Thread(target=work, args=(end, counts, errors)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(min(60.0, max(1.0, (end - time.monotonic()) / 3)))
        sizes.append(process.memory_info().rss)
        print(f"{counts[0]} fits, {sizes[-1] / 1e6:.1f} MB, {process.num_threads()} threads")
    growth = sizes[-1] - sizes[min(1, len(sizes) - 1)]
    if errors or growth > MOST_GROWTH:
        raise SystemExit(errors or f"memory grew by {growth / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
