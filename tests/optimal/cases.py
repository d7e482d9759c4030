"""Small tables with weights and limits, and what brute force says of them."""

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from tests.reference.brute_force_tree import LEAF_COSTS, is_allowed

REGRESSION = "squared_error"


@st.composite
def problems(draw, objective, *, max_columns=6, n_classes=None):
    """X, y, sample_weight and parameters of an estimator."""
    n = draw(st.integers(2, 30))
    m = draw(st.integers(1, max_columns))
    k = draw(st.integers(1, 4)) if n_classes is None else n_classes
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Few distinct rows make equal and contradictory ones.
    distinct = rng.integers(0, 2, (draw(st.integers(1, n)), m))
    X = distinct[rng.integers(0, len(distinct), n)]
    if objective == REGRESSION:
        y = rng.normal(size=n).round(draw(st.integers(0, 3)))
    else:
        y = rng.integers(0, k, n)
        # Each class that a test counts on has a row.
        if n_classes is not None:
            y[:k] = np.arange(k)
    weights = draw_weights(draw, rng, y, keep_classes=objective == "cost" or n_classes is not None)
    depth = draw(st.integers(0, 3))
    options = {
        "objective": objective,
        "max_depth": depth,
        "max_leaf_nodes": draw(st.none() | st.integers(2, 2**depth + 1)),
    }
    if objective != REGRESSION:
        # A class may count for nothing, but for the metrics of two classes.
        values = [0.5, 1.0, 3.0] if n_classes is not None else [0.5, 1.0, 3.0, 0.0]
        factors = st.fixed_dictionaries({c: st.sampled_from(values) for c in range(k)})
        chosen = draw(st.sampled_from(["none", "none", "balanced", "dict"]))
        options["class_weight"] = {
            "none": None,
            "balanced": "balanced",
            "dict": {c: f for c, f in draw(factors).items() if c in present(y, weights)},
        }[chosen]
        if chosen == "dict":
            assume(any(options["class_weight"].values()))
    if objective == "cost":
        k = len(np.unique(y))
        options["cost_matrix"] = draw(
            st.sampled_from([rng.integers(0, 4, (k, k)).astype(float), rng.uniform(0, 2, (k, k))])
        )
    reference = reference_of(X, y, weights, options)
    n, total = len(reference["X"]), sum(reference["weights"])
    options["min_samples_leaf"] = draw(st.integers(1, min(n, 4)))
    options["min_weight_leaf"] = draw(st.sampled_from([0.0, 0.0, 0.1 * total]))
    return X, y, weights, options


def most_splits(options):
    """Largest number of splits that the parameters of an estimator allow."""
    leaves = options["max_leaf_nodes"]
    return math.inf if leaves is None else leaves - 1


def present(y, weights):
    """Classes that a row with a weight has."""
    return set(y[slice(None) if weights is None else weights > 0].tolist())


def draw_weights(draw, rng, y, keep_classes):
    """Weights of the rows, some of them 0; if wanted, of no class all."""
    n = len(y)
    kind = draw(st.sampled_from(["none", "whole", "real", "few", "zeros", "zeros and ones"]))
    weights = {
        "none": None,
        "whole": rng.integers(1, 6, n).astype(float),
        "real": rng.uniform(0.1, 3.0, n),
        "few": rng.choice([0.3, 1.7], n),
        "zeros": rng.choice([0.0, 0.7, 2.0], n),
        "zeros and ones": rng.choice([0.0, 1.0], n),
    }[kind]
    if weights is not None:
        first = np.unique(y, return_index=True)[1] if keep_classes else [0]
        weights[first] = np.maximum(weights[first], 1.0)
    return weights


def reference_of(X, y, weights, options):
    """The problem as ``brute_force_tree`` takes it: rows without weight are no rows."""
    weights = np.ones(len(y)) if weights is None else weights
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    is_regression = options["objective"] == REGRESSION
    if not is_regression:
        weights = weights * compute_sample_weight(options["class_weight"], y)
        y = np.unique(y, return_inverse=True)[1]
    return {
        "X": X.tolist(),
        "y": y.tolist(),
        "n_classes": 0 if is_regression else int(y.max()) + 1,
        "weights": weights.tolist(),
        "objective": options["objective"],
        "costs": options.get("cost_matrix"),
        "min_samples_leaf": options.get("min_samples_leaf", 1),
        "min_weight_leaf": options.get("min_weight_leaf", 0.0),
        "split_cost": options.get("complexity_cost", 0.0) * float(weights.sum()),
        "depth_cost": options.get("depth_cost", 0.0) * float(weights.sum()),
        "confidence": options.get("confidence", 0.25),
    }


def rows_of(problem):
    """Rows of a reference problem as other references take them, with their numbers."""
    return [(tuple(outcomes), i) for i, outcomes in enumerate(problem["X"])]


def leaf_rules(problem, number=1):
    """Whether rows may be a leaf, and what they cost as one; where in a row its number is."""

    def may_be_leaf(rows):
        return is_allowed([row[number] for row in rows], problem)

    def leaf_cost(rows):
        return LEAF_COSTS[problem["objective"]]([row[number] for row in rows], problem)

    return may_be_leaf, leaf_cost
