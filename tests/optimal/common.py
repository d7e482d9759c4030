"""What several tests of optimal trees need."""

import gzip
import json
from types import SimpleNamespace

import numpy as np
from sklearn.base import is_regressor

from sktree_opt.optimal.bits._bit_engine import SWITCHES
from sktree_opt.optimal.estimators._base import class_problem, target_problem
from sktree_opt.optimal.objectives._for_data import class_objective, target_objective
from sktree_opt.optimal.run._bits_solver import find_tree_of_tests
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run._problem import Limits, Problem
from sktree_opt.optimal.run._session import Session
from sktree_opt.preprocessing._binary_tests import BinaryTests, midpoints
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._validation import TrainingData


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


# Each technique off.
VARIANTS = {f"no {name}": {"off": (name,)} for name in SWITCHES}


def training_data(X, y, weights=None, n_classes=None):
    """A table of numbers as a fit has checked it; `n_classes` is 0 for a regression."""
    X = np.asarray(X, dtype=np.float64)
    unit = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_classes = int(np.max(y)) + 1 if n_classes is None else n_classes
    encoder = SimpleNamespace(
        n_categories_=np.full(X.shape[1], -1),
        feature_names_=[f"column {j}" for j in range(X.shape[1])],
        thresholds_between=lambda features, lower, upper: midpoints(lower, upper),
    )
    classes = np.arange(n_classes) if n_classes else None
    return TrainingData(
        matrix=X,
        y=np.asarray(y, dtype=np.int32 if n_classes else np.float64),
        weights=unit,
        has_unit_weights=weights is None,
        classes=classes,
        encoder=encoder,
        kept_rows=slice(None),
        given_classes=classes,
    )


def plan_of(model, X, y, weights=None):
    """The plan of an estimator for one tree."""
    if is_regressor(model):
        problem = target_problem(model, X, y, weights, model.objective)
    else:
        problem = class_problem(model, X, y, weights)
    return make_plan(
        problem,
        new_session(problem.limits),
        thresholds=model.thresholds,
        categorical_splits=model.categorical_splits,
    )


def new_session(limits):
    """A session whose clock begins now."""
    return Session(SearchControl(limits.time_limit, limits.memory_limit))


def search(X, y, objective="error", weights=None, **limits):
    """The search alone; among its limits, the techniques that are `off`."""
    data = training_data(X, y, weights)
    return search_with(class_objective(objective, data), data, **limits)


def search_with(objective, data, off=(), **limits):
    """The search for one objective."""
    tests = BinaryTests.from_matrix(data.matrix, data.encoder.n_categories_)
    limits.setdefault("max_splits", 2 ** limits["max_depth"] - 1)
    problem = Problem(data, objective, Limits(**limits))
    return find_tree_of_tests(problem, tests, new_session(problem.limits), off)


def search_regression(X, targets, weights=None, **limits):
    """The search for squared errors."""
    data = training_data(X, targets, weights, n_classes=0)
    return search_with(target_objective("squared_error", data), data, **limits)
