"""Rows down a tree: the compiled walk against the plain one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.tree._node import IS_MISSING
from tests.effort import examples
from tests.reference import naive_predict
from tests.tree.random_tree import COLUMNS, NUMERIC_COLUMNS, encode, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=40, **options):
    rng = np.random.default_rng(seed)
    columns = options.setdefault("columns", COLUMNS)
    return random_tree(rng, **options), encode(random_rows(rng, n_rows, columns), columns)


def assert_same_as_naive(tree, X, n_threads=1):
    leaves, distributed = tree.walk(X, n_threads)
    heaviest, values = tree.evaluate(X, tree.node_values(), n_threads)
    paths = tree.decision_path(X).toarray()
    for i, row in enumerate(X):
        shares = naive_predict.leaf_shares(tree, row)
        assert (leaves[i] == -1) == (i in distributed)
        # A row that is sent down every branch may still end in one leaf: the others are empty.
        assert leaves[i] == -1 or shares == {leaves[i]: 1.0}
        assert len(shares) == 1 or leaves[i] == -1
        assert shares[heaviest[i]] == pytest.approx(max(shares.values()))
        np.testing.assert_allclose(values[i], naive_predict.predict(tree, row), atol=1e-12)
        reached = sorted({index for index, _ in naive_predict.visit(tree, row)})
        assert np.flatnonzero(paths[i]).tolist() == reached
        assert paths[i].max() == 1


@given(seeds, st.booleans(), st.sampled_from([None, True, False]))
@examples(150)
def test_same_as_the_plain_walk(seed, is_classifier, by_weight):
    assert_same_as_naive(*draw(seed, is_classifier=is_classifier, by_weight=by_weight))


@given(seeds, st.sampled_from([1, 2, 3]))
@examples(100)
def test_trees_of_numeric_tests_only(seed, n_threads):
    # They take the walk of several rows abreast; 37 rows leave a rest.
    tree, X = draw(seed, n_rows=37, columns=COLUMNS[:2], max_depth=6)
    if np.any(tree.nodes["kind"] == naive_predict.IS_MISSING):
        X = np.where(np.isnan(X), 0.0, X)
    assert_same_as_naive(tree, X, n_threads)


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[:2]], ids=["all kinds", "numeric"])
@given(seed=seeds)
@examples(25)
def test_any_layout_and_width_of_floats(columns, seed):
    tree, X = draw(seed, n_rows=60, columns=columns)
    X = X.astype(np.float32).astype(np.float64)
    expected_leaves, expected = tree.evaluate(X, tree.node_values())
    wide = np.zeros((120, 2 * X.shape[1]))
    wide[::2, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    layouts = [
        np.asfortranarray(X),
        X.astype(np.float32),
        np.asfortranarray(X.astype(np.float32)),
        wide[::2, ::2],
        X[::-1][::-1],
        locked,
    ]
    for layout in layouts:
        leaves, values = tree.evaluate(layout, tree.node_values())
        assert leaves.tolist() == expected_leaves.tolist()
        np.testing.assert_array_equal(values, expected)
        assert (tree.decision_path(layout) != tree.decision_path(X)).nnz == 0


@pytest.mark.parametrize("columns", [COLUMNS, NUMERIC_COLUMNS, COLUMNS[:2]])
def test_any_number_of_threads(columns, global_random_seed):
    tree, X = draw(global_random_seed, n_rows=20_000, columns=columns, max_depth=7)
    one_leaves, one_values = tree.evaluate(X, tree.node_values(), n_threads=1)
    for n_threads in (2, 3):
        leaves, values = tree.evaluate(X, tree.node_values(), n_threads=n_threads)
        np.testing.assert_array_equal(leaves, one_leaves)
        np.testing.assert_array_equal(values, one_values)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 4095, 4096, 4097])
def test_any_number_of_rows(n_rows):
    tree, X = draw(3, n_rows=5000, columns=COLUMNS[:2])
    all_leaves, all_values = tree.evaluate(X, tree.node_values(), n_threads=2)
    leaves, values = tree.evaluate(X[:n_rows], tree.node_values(), n_threads=2)
    np.testing.assert_array_equal(leaves, all_leaves[:n_rows])
    np.testing.assert_array_equal(values, all_values[:n_rows])
    assert tree.decision_path(X[:n_rows]).shape == (n_rows, tree.n_nodes)


def test_a_code_that_fit_never_saw_is_missing():
    tree, X = draw(7, n_rows=200)
    nominal = [j for j, column in enumerate(COLUMNS) if column["kind"] == "nominal"]
    kinds = tree.nodes["kind"][np.isin(tree.nodes["feature"], nominal)]
    # For a test of the value itself, not for one that asks whether it is missing.
    assert len(kinds) > 0
    assert IS_MISSING not in kinds
    for code in (-1.0, 99.0, 1e300, np.inf, -np.inf):
        strange, missing = X.copy(), X.copy()
        strange[:, nominal], missing[:, nominal] = code, np.nan
        np.testing.assert_array_equal(
            tree.evaluate(strange, tree.node_values())[1],
            tree.evaluate(missing, tree.node_values())[1],
        )


def test_a_matrix_of_another_width_is_refused():
    tree, X = draw(0)
    for wrong in (X[:, :-1], np.column_stack([X, X]), X[0]):
        with pytest.raises(ValueError, match="columns is expected"):
            tree.walk(wrong)
        with pytest.raises(ValueError, match="columns is expected"):
            tree.decision_path(wrong)
        with pytest.raises(ValueError, match="columns is expected"):
            tree.share(wrong, [0], tree.node_values())
