"""What several tests of optimal trees need."""

import gzip
import json

import numpy as np
from hypothesis import settings

from sktree_opt.optimal.bits._engine import COLUMN_ORDERS, SWITCHES
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES, REGRESSION_OBJECTIVES
from sktree_opt.optimal.run import _driver
from sktree_opt.preprocessing._binary_tests import BinaryTests


def examples(count):
    """Examples of a hypothesis test: `count` in CI, more with a more thorough profile."""
    return count * settings.default.max_examples // 100


def load_binary(data_dir, name):
    """Features and labels of one of the binary sets."""
    with gzip.open(data_dir / "binary" / f"{name}.txt.gz", "rt") as file:
        table = np.loadtxt(file, dtype=np.uint8)
    return table[:, 1:], table[:, 0].astype(np.int32)


def reference_errors(data_dir):
    """Proved errors by set and depth."""
    lines = (data_dir / "reference" / "binary.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return {(one["name"], one["depth"]): one["err"] for one in found if one["optimal"]}


def random_table(seed, n=300, m=20, n_classes=2):
    """A table whose best tree is not obvious: noisy labels of a small tree, correlated columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, m))
    X[:, m // 2 :] = X[:, : m - m // 2] ^ (rng.random((n, m - m // 2)) < 0.2)
    score = (X[:, 0] ^ X[:, 1]) + X[:, 2] * X[:, 3]
    y = np.where(rng.random(n) < 0.25, rng.integers(0, n_classes, n), score % n_classes)
    return X.astype(np.uint8), np.unique(y, return_inverse=True)[1].astype(np.int32)


# Each technique off, and each other order of columns.
VARIANTS = {f"no {name}": {"off": (name,)} for name in SWITCHES} | {
    f"by {order}": {"column_order": order} for order in COLUMN_ORDERS[1:]
}
ENGINE = ("off", "column_order", "seed")


def search(X, y, objective="error", weights=None, **limits):
    """The search alone; among its limits, what sets the engine (see ``ENGINE``)."""
    class_weights = np.bincount(y, weights=weights).astype(np.float64)
    unit = np.ones(len(y)) if weights is None else weights
    form = OBJECTIVES[objective].leaf_form(class_weights, unit)
    return search_with(form, X, y, weights, **limits)


def search_with(form, X, y, weights, **limits):
    """The search for one form of an objective."""
    variant = {name: limits.pop(name) for name in ENGINE if name in limits}
    tests = BinaryTests.from_matrix(X.astype(np.float64), np.full(X.shape[1], -1))
    limits.setdefault("max_splits", 2 ** limits["max_depth"] - 1)
    problem = _driver.Problem(tests, y, weights, form, _driver.SearchLimits(**limits))
    return _driver.search(problem, **variant)


def search_regression(X, targets, weights=None, **limits):
    """The search for squared errors of centred targets."""
    unit = np.ones(len(targets)) if weights is None else weights
    targets = targets - np.average(targets, weights=unit)
    form = REGRESSION_OBJECTIVES["squared_error"].leaf_form(targets, unit)
    return search_with(form, X, targets, weights, **limits)
