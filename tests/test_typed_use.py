"""What type checkers see of the package: mypy reads this file in ``make lint``, and it runs."""

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import KBinsDiscretizer

from sktree_opt.datasets import load_restaurant
from sktree_opt.export import export_rules, export_text, from_json, to_json
from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
)
from sktree_opt.preprocessing import MDLPDiscretizer
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    DistinctTreeEnumerator,
    DTsbeSelector,
    subsets,
)
from sktree_opt.tree import Tree

ROWS = [["red", 1.0], ["blue", None], ["red", 2.0], ["blue", 3.0]]
LABELS = ["stop", "go", "stop", "go"]


def test_greedy_trees() -> None:
    classifier = GreedyTreeClassifier(criterion="gini", class_weight={"stop": 2}).fit(ROWS, LABELS)
    assert_type(classifier, GreedyTreeClassifier)
    assert_type(classifier.predict_proba(ROWS), NDArray[np.float64])
    assert_type(classifier.classes_, NDArray[Any])
    assert_type(classifier.tree_, Tree)
    assert_type(classifier.tree_.depth, int)
    assert_type(export_text(classifier), str)
    assert_type(export_rules(classifier), list[dict[str, Any]])
    assert_type(export_rules(classifier.tree_, output="text"), str)
    assert from_json(to_json(classifier)).predict(ROWS).tolist() == LABELS
    X, _ = load_restaurant(return_X_y=True)
    regressor = GreedyTreeRegressor(max_leaf_nodes=3).fit(X, np.arange(12), sample_weight=[1] * 12)
    assert_type(regressor.predict(X), NDArray[np.float64])


def test_optimal_trees() -> None:
    X, y = load_iris(return_X_y=True)
    optimal = OptimalTreeClassifier(max_depth=2, memory_limit="1GB").fit(X, y)
    assert_type(optimal, OptimalTreeClassifier)
    assert_type(optimal.gap_, float)
    several = TreeSetClassifier(n_trees=2, max_depth=1, objective="gini").fit(X, y)
    assert_type(several.trees_, Sequence[Tree])
    assert_type(len(several), int)
    assert_type(SmallestTreeClassifier(max_error=60).fit(X, y), SmallestTreeClassifier)

    def loss(false_positives: float, false_negatives: float) -> float:
        return false_positives + 2.0 * false_negatives

    OptimalTreeClassifier(max_depth=1, objective=loss).fit(X, y == 1)
    OptimalTreeClassifier(max_depth=1, thresholds=MDLPDiscretizer()).fit(X, y)
    bins = KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")
    OptimalTreeRegressor(max_depth=1, thresholds=bins).fit(X, y)
    chosen = OptimalTreeClassifierCV(max_depth=1, cv=StratifiedKFold(3)).fit(X, y)
    assert_type(chosen.best_params_, dict[str, Any])


def test_subsets() -> None:
    X, y = load_iris(return_X_y=True)
    assert_type(subsets(2), Iterator[tuple[int, ...]])

    def leaves(tree: GreedyTreeClassifier) -> float:
        return tree.get_n_leaves()

    selector = AcceptableSubsetSelector(error=leaves, feature_groups=[[0, 1]]).fit(X, y)
    assert_type(selector.support_, NDArray[np.bool_])
    backward = DTsbeSelector(GreedyTreeClassifier(min_samples_leaf=5), random_state=0).fit(X, y)
    assert_type(backward.history_, list[dict[str, Any]])
    for features, tree in DistinctTreeEnumerator().iter_trees(X, y):
        assert_type(features, NDArray[Any])
        assert_type(tree, GreedyTreeClassifier | GreedyTreeRegressor)


def test_misspelt_options_are_seen() -> None:
    with pytest.raises(ValueError, match="criterion"):
        GreedyTreeClassifier(criterion="ginni").fit(ROWS, LABELS)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        OptimalTreeClassifier(max_deep=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        export_text(ROWS)  # type: ignore[arg-type]
