"""A row of weight zero is absent: its classes and categories are not those of the table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.subset import AcceptableSubsetSelector, DTsbeSelector

ESTIMATORS = [
    GreedyTreeClassifier(),
    GreedyTreeRegressor(),
    OptimalTreeClassifier(max_depth=2),
    OptimalTreeRegressor(max_depth=2),
    AcceptableSubsetSelector(error="training"),
    DTsbeSelector(error="training"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("as_codes", [False, True])
def test_categories_of_absent_rows_are_absent(estimator, as_codes):
    table = pd.DataFrame({"a": list("zxxxxyyyyz" * 3), "b": list("uuvvuuvvww" * 3)})
    if as_codes:
        table = table.apply(lambda column: column.astype("category").cat.codes).to_numpy(float)
        is_absent, columns = table[:, 0] == table[:, 0].max(), [0, 1]
        if "categorical_features" in estimator.get_params():
            learner = clone(estimator).set_params(categorical_features=columns)
        else:
            tree = GreedyTreeClassifier(categorical_features=columns)
            learner = clone(estimator).set_params(estimator=tree)
    else:
        is_absent, learner = (table["a"] == "z").to_numpy(), clone(estimator)
    y = np.array([0, 0, 1, 0, 0, 1, 1, 1, 0, 1] * 3)
    weights = np.where(is_absent, 0.0, 1.0)
    kept = table[~is_absent]
    weighted = learner.fit(table, y, sample_weight=weights)
    first, shown = weighted.tree_, weighted.predict(table)
    without = learner.fit(kept, y[~is_absent])
    assert first.n_leaves == without.tree_.n_leaves
    assert first.nodes.tobytes() == without.tree_.nodes.tobytes()  # thresholds may be NaN
    assert (shown == without.predict(table)).all()


def test_codes_are_renumbered():
    encoder = TableEncoder()
    matrix = encoder.fit_transform(pd.DataFrame({"a": ["x", "y", None, "z"], "b": [1, 2, 3, 4]}))
    left = matrix[[1, 2, 3]]
    encoder.forget_absent(left)
    assert encoder.categories_[0].tolist() == ["y", "z"]
    np.testing.assert_array_equal(left[:, 0], [0, np.nan, 1])
    again = encoder.transform(pd.DataFrame({"a": ["x", "z"], "b": [1, 2]}))
    np.testing.assert_array_equal(again[:, 0], [np.nan, 1])
