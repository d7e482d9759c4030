"""Prunings against their definitions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer, load_diabetes

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor, _grow
from sktree_opt.greedy._registries import split_for_validation
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree import Tree
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.reference.naive_greedy_tree import Problem, close
from tests.reference.naive_pruning import cost_of_tree, error_based, estimate, nested, reduced_error

# Expected costs of two classes are never equal by rounding only.
COSTS = [[0, 1.013, 3.927], [2.871, 0.503, 1.117], [0.939, 2.059, 0]]


def random_problem(rng, is_classifier=True):
    n_rows, n_columns = int(rng.integers(4, 80)), int(rng.integers(1, 5))
    matrix = rng.integers(0, rng.integers(2, 6), size=(n_rows, n_columns)).astype(float)
    if rng.random() < 0.5:
        matrix[:, 0] = rng.normal(size=n_rows).round(2)
    nominal = (rng.random(n_columns) < 0.5) & (np.arange(n_columns) > 0)
    if rng.random() < 0.5:
        matrix[rng.random(matrix.shape) < 0.15] = np.nan
    whole, real = rng.integers(1, 4, size=n_rows), rng.uniform(0.2, 3.0, size=n_rows)
    weights = [None, whole.astype(float), real][rng.integers(3)]
    if is_classifier:
        # The class depends on a column, so that there is something to keep.
        signal = np.nan_to_num(matrix[:, -1]).astype(int) % 3
        target = np.where(rng.random(n_rows) < 0.4, rng.integers(0, 3, size=n_rows), signal)
    else:
        target = np.nan_to_num(matrix[:, -1]) + rng.normal(size=n_rows)
    costs = COSTS if is_classifier and rng.random() < 0.3 else None
    learner = _grow.Induction(
        Table.from_matrix(matrix, np.where(nominal, 6, -1)),
        target,
        3 if is_classifier else 0,
        weights,
        costs,
        measure=_grow.MEASURES["entropy" if is_classifier else "squared_error"],
        nominal_split=_grow.NOMINAL_SPLITS["multiway"],
    )
    problem = Problem(
        [[None if np.isnan(v) else v for v in row] for row in matrix.tolist()],
        target.tolist(),
        nominal.tolist(),
        "information_gain" if is_classifier else "squared_error",
        n_classes=3 if is_classifier else 0,
        costs=costs,
    )
    weights = np.ones(n_rows) if weights is None else weights
    return learner, problem, weights


def as_tree(grown, problem):
    arrays = grown.to_arrays()
    return Tree(*arrays, n_features=len(problem.nominal), is_classifier=problem.n_classes > 0)


@examples(500)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.25, 0.05, 0.5]))
def test_error_based(seed, confidence):
    learner, problem, weights = random_problem(np.random.default_rng(seed))
    z = float(ndtri(1 - confidence))
    cases = list(enumerate(weights.tolist()))
    control = SearchControl()
    full = learner.grow(control)
    pruned = as_tree(learner.prune_error_based(full, control, confidence, z), problem)
    expected = error_based(problem, nested(as_tree(full, problem)), cases, confidence, z)
    assert pruned.n_leaves == expected.leaves()
    ours = estimate(problem, nested(pruned), cases, confidence, z)
    assert close(ours, estimate(problem, expected, cases, confidence, z))
    check_counts(problem, pruned, cases)


def check_counts(problem, tree, cases):
    """Class weights of the root, and of the children of each node, are those of its cases."""
    totals = np.bincount(
        [problem.target[row] for row, _ in cases], [w for _, w in cases], minlength=3
    )
    np.testing.assert_allclose(tree.values[0], totals)
    for index in np.flatnonzero(tree.nodes["n_children"]):
        children = tree.children(index)
        below = tree.values[children][tree.nodes["weight"][children] > 0]
        np.testing.assert_allclose(below.sum(axis=0), tree.values[index], atol=1e-9)


@pytest.mark.parametrize("is_classifier", [True, False])
@examples(300)
@given(st.integers(0, 2**32 - 1))
def test_reduced_error(is_classifier, seed):
    rng = np.random.default_rng(seed)
    learner, problem, weights = random_problem(rng, is_classifier)
    rows = np.arange(len(weights))
    validation = rows[rng.random(len(rows)) < 0.4]
    growing = np.setdiff1d(rows, validation)
    assume(len(growing) > 0)
    control = SearchControl()
    full = learner.grow(control, growing)
    pruned = as_tree(learner.prune_reduced_error(full, control, validation), problem)
    cases = [(int(row), float(weights[row])) for row in validation]
    expected = reduced_error(problem, nested(as_tree(full, problem)), cases)
    assert pruned.n_leaves == expected.leaves()
    assert close(
        cost_of_tree(problem, nested(pruned), cases), cost_of_tree(problem, expected, cases)
    )


def test_error_based_makes_trees_smaller_as_confidence_falls():
    X, y = load_breast_cancer(return_X_y=True)
    sizes = [GreedyTreeClassifier().fit(X, y).get_n_leaves()]
    for confidence in (0.5, 0.25, 0.01, 1e-6):
        tree = GreedyTreeClassifier(pruning="error_based", confidence=confidence).fit(X, y)
        sizes.append(tree.get_n_leaves())
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]


def test_subtrees_are_raised_somewhere():
    """Among random problems there are some whose root gives way to a branch, not to a leaf."""
    control, n_raised, z = SearchControl(), 0, float(ndtri(0.75))
    for seed in range(300):
        learner, problem, _ = random_problem(np.random.default_rng(seed))
        full = learner.grow(control)
        pruned = as_tree(learner.prune_error_based(full, control, 0.25, z), problem)
        before = as_tree(full, problem).nodes["feature"][0]
        n_raised += pruned.nodes["feature"][0] not in (-1, before)
    assert n_raised > 0


def test_pruned_deep_chain():
    """A tree as deep as the table is long is pruned without recursion."""
    n = 4000
    X = np.arange(n, dtype=float).reshape(-1, 1)
    y = np.arange(n) % 2
    tree = GreedyTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() == n
    pruned = GreedyTreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    assert pruned.get_n_leaves() < n


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.6])
def test_validation_part_is_stratified(fraction, global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    y = rng.randint(0, 4, size=200)
    growing, validation = split_for_validation(y, fraction, rng, is_classifier=True)
    assert sorted([*growing, *validation]) == list(range(200))
    for c in range(4):
        assert abs(np.sum(y[validation] == c) - fraction * np.sum(y == c)) <= 0.5


@pytest.mark.parametrize("y", [[0], [0, 1], [1, 1, 1]])
def test_reduced_error_of_few_rows(y):
    X = np.arange(len(y), dtype=float).reshape(-1, 1)
    tree = GreedyTreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    assert tree.classes_.tolist() == sorted(set(y))


def test_reduced_error_depends_on_random_state_only():
    X, y = load_diabetes(return_X_y=True)
    trees = [
        GreedyTreeRegressor(pruning="reduced_error", random_state=seed).fit(X, y).tree_
        for seed in (0, 0, 1)
    ]
    assert trees[0] == trees[1] != trees[2]
    assert trees[0].n_leaves < GreedyTreeRegressor().fit(X, y).get_n_leaves()
