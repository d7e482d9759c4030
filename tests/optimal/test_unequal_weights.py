"""Light rows count beside heavy ones as far as sums in double precision can hold them."""

import numpy as np
import pytest
from sklearn.base import clone

from sktree_opt.optimal import OptimalTreeClassifier, SmallestTreeClassifier, TreeSetClassifier
from tests.effort import number_of_examples


def table(seed, heavy):
    """Random rows, a tenth of which are heavy."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (80, 5)), rng.integers(0, 2, 80)
    return X, y, np.where(rng.random(80) < 0.1, heavy, rng.uniform(0.5, 1.5, 80))


def least_error(X, y, weights, depth):
    """The least weight of errors, summed in extended precision."""
    sums = [weights[y == c].astype(np.longdouble).sum() for c in (0, 1)]
    best = min(sums)
    for j in range(X.shape[1] if depth and best > 0.0 else 0):
        sides = [X[:, j] == value for value in (0, 1)]
        best = min(best, sum(least_error(X[s], y[s], weights[s], depth - 1) for s in sides))
    return best


@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e10, 1e11, 1e12])
@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, SmallestTreeClassifier])
def test_the_least_error_of_unequal_weights(heavy, estimator, global_random_seed):
    for seed in range(number_of_examples(15)):
        X, y, weights = table(100 * global_random_seed + seed, heavy)
        model = estimator(max_depth=2).fit(X, y, weights)
        # What sums of these weights are rounded to, and what counts as equal beside that.
        precision = 2.0**-42 * weights.sum()
        expected = float(least_error(X, y, weights, 2))
        assert model.objective_ == pytest.approx(expected, rel=1e-6, abs=precision)


@pytest.mark.parametrize(
    "question", [TreeSetClassifier(n_trees=2), OptimalTreeClassifier(objective="f1")], ids=str
)
def test_where_weights_are_rounded_more_unequal_ones_are_refused(question):
    for seed in range(number_of_examples(15)):
        model = clone(question).set_params(max_depth=2)
        model.fit(*table(seed, 1e6))
        with pytest.raises(ValueError, match=r"largest sample_weight .* of at most 1e\+07"):
            model.fit(*table(seed, 1e8))


@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, TreeSetClassifier])
def test_the_estimate_of_errors_of_less_weight_than_one_row(estimator):
    """What one error adds cannot be negative: .573 for no error, and .15 of the way to 1."""
    weights = {"sample_weight": [0.5, 0.15]}
    model = estimator(objective="pessimistic_error", max_depth=1)
    model.fit([[1], [1]], [0, 1], **weights)
    least = 0.65 * (1.0 - 0.25 ** (1.0 / 0.65))
    expected = pytest.approx(least + 0.15 * (1.0 - least), abs=1e-9)
    assert model.objective_ == model.lower_bound_ == expected
    assert getattr(model, "tree_objectives_", [model.objective_]) == [expected]
