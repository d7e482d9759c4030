"""Known trees of tables that are searched by ranks: their tests, and what comes of them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run._known_tests import AllTests, TableTests
from sktree_opt.preprocessing import Table
from sktree_opt.preprocessing._binary_tests import BinaryTests


def test_tests_are_the_first_of_all_that_part_some_rows_alike(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = np.column_stack([rng.integers(0, k, 40) for k in (4, 30, 3)]).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    table = Table.from_matrix(np.asfortranarray(X), np.array([4, -1, -1]))
    every = BinaryTests.from_table(table)
    outcomes = np.unpackbits(every.bits, axis=1, bitorder="little").astype(bool)
    wanted, asked = AllTests(every), TableTests(table, None)
    pairs = []
    for _ in range(300):
        rows = rng.choice(40, rng.integers(2, 40), replace=False)
        passed = outcomes[rows, rng.integers(every.n_tests)] ^ (rng.random() < 0.5)
        if rng.random() < 0.1:
            passed[0] = ~passed[0]
        (one, is_flipped), (other, flips) = (
            tests.matching(rows, passed) for tests in (wanted, asked)
        )
        assert (one is None) == (other is None)
        if one is not None:
            assert is_flipped == flips
            pairs.append((one, other))
    one, other = np.array(pairs).T
    found = asked.asked()
    for name in ("kind", "feature", "threshold", "category", "missing_branch"):
        np.testing.assert_array_equal(getattr(found, name)[other], getattr(every, name)[one])
    bits = np.unpackbits(found.bits, axis=1, bitorder="little").astype(bool)
    np.testing.assert_array_equal(bits[:, other], outcomes[:, one])


@pytest.mark.parametrize("thresholds", ["all", 500])
def test_a_known_tree_is_taken_however_many_tests_there_are(thresholds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    plain = OptimalTreeClassifier(max_depth=2, thresholds=thresholds).fit(X, y)
    model = OptimalTreeClassifier(max_depth=2, thresholds=thresholds, initial_tree=plain)
    assert model.fit(X, y).tree_ == plain.tree_
    if thresholds == "all":
        cart = DecisionTreeClassifier(max_depth=2).fit(X, y)
        assert model.set_params(initial_tree=cart).fit(X, y).objective_ == plain.objective_
        cart = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
        model = OptimalTreeRegressor(max_depth=2, initial_tree=cart).fit(X, X[:, 0])
        assert model.status_ == "optimal"
    model = OptimalTreeClassifier(max_depth=1, initial_tree=plain, thresholds=thresholds)
    with pytest.raises(ValueError, match="initial_tree has depth 2"):
        model.fit(X, y)
    few = OptimalTreeClassifier(thresholds=499, initial_tree=plain)
    with pytest.raises(ValueError, match="of initial_tree parts its .* rows as no test"):
        few.fit(X, y)


def test_a_stopped_search_by_ranks_answers_the_known_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)
    known = DecisionTreeClassifier(max_depth=6, min_samples_leaf=5).fit(X, y)
    model = OptimalTreeClassifier(max_depth=6, time_limit=0.0, initial_tree=known)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.objective_ == (known.predict(X) != y).sum()
    assert (model.predict(X) == known.predict(X)).mean() > 0.99
