"""Greedy trees against the definitions, on thousands of small tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.greedy._registries import CLASSIFICATION_CRITERIA, NOMINAL_SPLITS
from tests.effort import examples
from tests.reference.naive_greedy_tree import Problem, check_tree, with_missing_as_value

COSTS = [[0, 1, 4, 2], [3, 1, 1, 5], [1, 2, 0, 1], [2, 2, 3, 2]]


@st.composite
def tables(draw, max_rows=14, max_columns=4):
    """Rows of small integers and Nones, which columns are nominal, and a weight for each row."""
    n_rows = draw(st.integers(2, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    nominal = draw(st.lists(st.booleans(), min_size=n_columns, max_size=n_columns))
    n_values = draw(st.integers(2, 6))
    missing = draw(st.sampled_from([0, 0, 1, 3]))
    value = st.integers(-missing, n_values - 1).map(lambda v: None if v < 0 else v)
    row = st.lists(value, min_size=n_columns, max_size=n_columns)
    table = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    weight = draw(
        st.sampled_from([st.just(1.0), st.integers(1, 3).map(float), st.sampled_from([0.25, 1.7])])
    )
    weights = draw(st.lists(weight, min_size=n_rows, max_size=n_rows))
    return table, nominal, weights


PARAMETERS = st.fixed_dictionaries(
    {
        "nominal_split": st.sampled_from(sorted(NOMINAL_SPLITS)),
        "min_samples_split": st.sampled_from([2, 2, 2, 5, 0.4]),
        "min_samples_leaf": st.sampled_from([1, 1, 1, 2, 3, 0.2]),
        "min_weight_split": st.sampled_from([None, None, 0, 4]),
        "min_weight_branch": st.sampled_from([None, None, 0, 2, 2.5]),
        "min_weight_branches": st.sampled_from(["two", "every"]),
        "max_depth": st.sampled_from([None, 0, 1, 3]),
        "min_gain": st.sampled_from([0.0, 0.0, 0.1]),
        "allow_zero_gain": st.booleans(),
        "missing": st.sampled_from(["distribute", "distribute", "category", "majority"]),
        "acceptable_error": st.sampled_from([0.0, 0.0, 0.3]),
    }
)


def rows_of(minimum, n_rows):
    return math.ceil(minimum * n_rows) if isinstance(minimum, float) else minimum


def as_given(parameters, unit):
    """Parameters of the estimator: minima of weight are drawn in rows."""
    given = dict(parameters)
    for name in ("min_weight_split", "min_weight_branch"):
        given[name] = None if parameters[name] is None else parameters[name] * unit
    return given


def as_defined(parameters, n_rows):
    """Parameters of the definitions."""
    split, leaf = parameters["min_weight_split"], parameters["min_weight_branch"]
    named = ("nominal_split", "max_depth", "min_gain", "allow_zero_gain", "acceptable_error")
    return {
        **{name: parameters[name] for name in named},
        "missing": "majority" if parameters["missing"] == "majority" else "distribute",
        "min_split_rows": rows_of(parameters["min_samples_split"], n_rows),
        "min_leaf_rows": rows_of(parameters["min_samples_leaf"], n_rows),
        "min_split_weight": 2 if split is None else split,
        "min_leaf_weight": 1 if leaf is None else leaf,
        "every_branch": parameters["min_weight_branches"] == "every",
    }


def as_objects(table, nominal):
    """Category codes as strings, which sort like the codes; None for missing."""
    array = np.empty((len(table), len(nominal)), dtype=object)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            array[i, j] = None if value is None else f"c{value}" if nominal[j] else float(value)
    return array


def as_codes(table, nominal):
    """The codes that the encoder gives: those of the categories that occur, in order."""
    coded = [list(row) for row in table]
    for j in range(len(nominal)):
        if nominal[j]:
            found = sorted({row[j] for row in table if row[j] is not None})
            for row in coded:
                row[j] = None if row[j] is None else found.index(row[j])
    return coded


def unit_of(weights):
    """The weight of one row."""
    return min(1.0, sum(weights) / len(weights))


@pytest.mark.parametrize("criterion", CLASSIFICATION_CRITERIA)
@examples(400)
@given(tables(), PARAMETERS, st.data())
def test_classification_tree_is_the_greedy_one(criterion, drawn, parameters, data):
    table, nominal, weights = drawn
    n_classes = data.draw(st.integers(2, 4))
    y = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=len(table), max_size=len(table)))
    penalty = data.draw(st.booleans())
    n_classes = len(set(y))
    y = np.unique(y, return_inverse=True)[1].tolist()
    costs = [row[:n_classes] for row in COSTS[:n_classes]]
    tree = GreedyTreeClassifier(
        criterion=criterion,
        cost_matrix=costs if criterion == "gini_cost" else None,
        numeric_gain_penalty=penalty,
        categorical_features=nominal,
        **as_given(parameters, unit_of(weights)),
    ).fit(as_objects(table, nominal), y, sample_weight=weights)
    coded = as_codes(table, nominal)
    problem = Problem(
        with_missing_as_value(coded) if parameters["missing"] == "category" else coded,
        y,
        nominal,
        criterion,
        n_classes=n_classes,
        costs=costs,
        numeric_gain_penalty=penalty,
        unit=unit_of(weights),
        **as_defined(parameters, len(table)),
    )
    check_tree(problem, tree.tree_, list(enumerate(weights)))


@examples(400)
@given(tables(), PARAMETERS, st.data())
def test_regression_tree_is_the_greedy_one(drawn, parameters, data):
    table, nominal, weights = drawn
    value = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10, width=16))
    y = data.draw(st.lists(value, min_size=len(table), max_size=len(table)))
    tree = GreedyTreeRegressor(
        categorical_features=nominal, **as_given(parameters, unit_of(weights))
    ).fit(as_objects(table, nominal), y, sample_weight=weights)
    coded = as_codes(table, nominal)
    problem = Problem(
        with_missing_as_value(coded) if parameters["missing"] == "category" else coded,
        y,
        nominal,
        "squared_error",
        unit=unit_of(weights),
        **as_defined(parameters, len(table)),
    )
    check_tree(problem, tree.tree_, list(enumerate(weights)))
