"""Estimators saved by skops, which loads named types alone and no code."""

import numpy as np
import pytest

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, TreeSetClassifier
from sktree_opt.datasets import load_loans
from tests.effort import long_test

# Importing it imports all of scikit-learn.
pytestmark = long_test

TYPES = ("sktree_opt.preprocessing._encoder.TableEncoder", "sktree_opt.tree._tree.Tree")


@pytest.fixture(scope="module")
def skops_io():
    return pytest.importorskip("skops.io")


@pytest.fixture(scope="module")
def loans():
    return load_loans(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("model", [GreedyTreeClassifier(), OptimalTreeClassifier(max_depth=2)])
def test_a_loaded_tree_predicts_the_same(skops_io, loans, model):
    X, y = loans
    data = skops_io.dumps(model.fit(X, y))
    own = f"{type(model).__module__}.{type(model).__name__}"
    assert set(skops_io.get_untrusted_types(data=data)) == {own, *TYPES}
    loaded = skops_io.loads(data, trusted=[own, *TYPES])
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_set_is_refused_and_its_trees_are_not(skops_io):
    X = np.random.default_rng(0).integers(0, 2, (30, 3))
    model = TreeSetClassifier(max_depth=2, n_trees=3).fit(X, X[:, 0])
    data = skops_io.dumps(model)
    with pytest.raises(ValueError, match="graph of a tree set is lost"):
        skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
    data = skops_io.dumps(model[0])
    one = skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
    np.testing.assert_array_equal(one.predict(X), model.predict(X))
