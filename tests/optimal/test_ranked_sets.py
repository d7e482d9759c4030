"""The first trees by any order of errors, size and depth, against the list of all trees."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt import GreedyTreeClassifier, TreeSetClassifier, TreeSetRegressor
from tests.effort import examples
from tests.optimal.cases import REGRESSION, leaf_rules, most_splits, problems, reference_of, rows_of
from tests.optimal.test_oracle_limits import NAMES, RANKINGS, class_rules
from tests.optimal.test_tree_sets import nested
from tests.reference.brute_force_tree import pessimistic_cost
from tests.reference.brute_force_tree_sets import (
    all_test_trees,
    form_of,
    is_leaf,
    leaves_of,
    rows_below,
    splits_of,
)


def depth_of(tree):
    return 0 if is_leaf(tree) else 1 + max(map(depth_of, tree[1:]))


class Measures:
    """What a ranking reads of a tree, by the definitions."""

    def __init__(self, reference):
        self.reference = reference
        self.rows = [row[::-1] for row in rows_of(reference)]
        self.is_large, self.cost = leaf_rules(reference, number=0)

    def of_rows(self, numbers):
        rows = [self.rows[k] for k in numbers]
        if self.reference["n_classes"] == 0:
            return self.cost(rows), 0.0
        return self.cost(rows), pessimistic_cost(numbers, self.reference)

    def of(self, tree):
        sums = np.sum([self.of_rows(leaf) for leaf in leaves_of(tree)], axis=0)
        n_splits = len(splits_of(tree))
        sums[0] += self.reference["split_cost"] * n_splits
        return (*np.round(sums, 6).tolist(), n_splits, depth_of(tree))

    def has_idle_split(self, tree, may_be_leaf, with_estimate):
        """Whether a split over two leaves lowers nothing that is asked for."""
        for one in splits_of(tree):
            whole = rows_below(one)
            if not (is_leaf(one[1]) and is_leaf(one[2])):
                continue
            if not may_be_leaf([self.rows[k] for k in whole]):
                continue
            gains = np.subtract(self.of_rows(whole), np.add(*map(self.of_rows, one[1:])))
            if (gains[: 1 + with_estimate] < 1e-9).all():
                return True
        return False


def is_plain_leaf(rows):
    return True


@pytest.mark.parametrize("objective", ["error", "cost", "gini", REGRESSION])
@examples(50)
@given(data=st.data())
def test_the_first_trees_by_any_ranking(objective, data):
    X, y, weights, options = data.draw(problems(objective, max_columns=3))
    if options["max_depth"] == 3:
        X = X[:, :2]
    options["complexity_cost"] = data.draw(st.sampled_from([0.0, 0.03]))
    options["distinct_by"] = data.draw(st.sampled_from(["tests", "partitions"]))
    options["n_trees"] = data.draw(st.sampled_from([1, 4, 15, None]))
    reference = reference_of(X, y, weights, options)
    measures, suits = Measures(reference), is_plain_leaf
    names = NAMES
    if objective == REGRESSION:
        names = tuple(name for name in NAMES if name != "pessimistic_error")
    elif data.draw(st.booleans()):
        least = 0.04 * sum(reference["weights"])
        options["min_class_weight_leaf"] = least
        rules = class_rules(reference, [least] * reference["n_classes"], 0.0)

        def suits(rows):
            return rules([row[::-1] for row in rows])

    ranking = data.draw(st.sampled_from([r for r in RANKINGS if set(r) <= set(names)]))
    options["ranking"] = ranking
    with_estimate = "pessimistic_error" in ranking

    def may_be_leaf(rows):
        return measures.is_large(rows) and suits(rows)

    trees = all_test_trees(measures.rows, options["max_depth"], may_be_leaf)
    by_tests = options["distinct_by"] == "tests"
    every = {}
    for tree in trees:
        if by_tests or not measures.has_idle_split(tree, may_be_leaf, with_estimate):
            every[tree if by_tests else form_of(tree)] = measures.of(tree)
    order = [NAMES.index(name) for name in ranking]
    found = sorted(
        [one[k] for k in order] for one in every.values() if one[2] <= most_splits(options)
    )
    if data.draw(st.booleans()) and found and "error" in ranking:
        at = ranking.index("error")
        goal = data.draw(st.sampled_from(found))[at] + 3e-6
        options["max_error"] = goal
        found = [one for one in found if one[at] <= goal]
    if objective == REGRESSION:
        del options["objective"]
    estimator = TreeSetRegressor if objective == REGRESSION else TreeSetClassifier
    model = estimator(**options)
    if not found:
        with pytest.raises(ValueError, match="No tree within"):
            model.fit(X, y, sample_weight=weights)
        return
    model.fit(X, y, sample_weight=weights)
    number = 10 if options["n_trees"] is None else options["n_trees"]
    assert model.status_ == "optimal"
    kept = X if weights is None else X[weights > 0]
    listed = [nested(tree, kept) for tree in model.trees_]
    assert len({one if by_tests else form_of(one) for one in listed}) == len(listed)
    values = [[measures.of(tree)[k] for k in order] for tree in listed]
    assert len(values) == min(number, len(found))
    for value, expected in zip(values, found, strict=False):
        assert value == pytest.approx(expected, abs=5e-6)
    check_sums(model, measures, listed, by_tests, kept[:3])


def check_sums(model, measures, listed, by_tests, rows):
    """Whether counts, shares and the best tree without a feature are those of some trees."""
    objectives = [measures.of(tree)[0] for tree in listed]
    near = {"rel": 1e-6, "abs": 5e-6 * max(1.0, sum(measures.reference["weights"]))}
    assert model.tree_objectives_ == pytest.approx(np.array(objectives), **near)
    assert sum(model.n_trees_by_objective_.values()) == len(listed)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_objectives_.tolist() == model.tree_objectives_.tolist()
    shares = model.disagreement(rows)
    if shares.ndim == 2:
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    # The best one without a feature is the first of those that do without it.
    free = [one for one in listed if all(split[0] != 0 for split in splits_of(one))]
    if free and by_tests:
        assert model.without(0).objective_ == pytest.approx(measures.of(free[0])[0], **near)
    assert model.feature_reliance_["share"].max() <= 1.0


@pytest.mark.parametrize("ranking", [None, ("error", "size", "depth")])
@pytest.mark.parametrize("n_trees", [1, 2])
def test_costs_that_differ_by_rounding_are_equal(ranking, n_trees):
    X, y, weights = [[1], [1], [0], [0]], [1, 0, 0, 1], [0.3, 0.7, 0.7, 0.3]
    model = TreeSetClassifier(n_trees=n_trees, max_depth=1, distinct_by="tests", ranking=ranking)
    model.fit(X, y, sample_weight=weights)
    assert model.tree_objectives_ == pytest.approx(np.full(n_trees, 0.6), abs=0.0)
    assert [tree.n_splits for tree in model.trees_] == [0, 1][:n_trees]


@pytest.mark.parametrize(
    ("epsilon", "n_trees"), [(0.11, 1), (0.12, 3), (0.23, 3), (0.24, 7), (0.35, 7), (0.36, 9)]
)
def test_tests_count_where_rows_cost_nothing(epsilon, n_trees):
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    options = {"max_depth": 2, "complexity_cost": 0.03, "epsilon_kind": "absolute"}
    model = TreeSetClassifier(epsilon=epsilon, distinct_by="tests", **options)
    assert model.fit(X, [0, 0, 0, 0]).n_trees_ == n_trees


def test_all_trees_within_a_distance_in_another_order():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 5)), rng.integers(0, 2, 60)
    plain = TreeSetClassifier(epsilon=0.2).fit(X, y)
    for ranking in (("size", "error"), ("depth", "size", "error")):
        model = TreeSetClassifier(epsilon=0.2, ranking=ranking).fit(X, y)
        assert model.n_trees_ == plain.n_trees_
        assert model.n_trees_by_size_ == plain.n_trees_by_size_
        leaves = [tree.n_leaves for tree in model.trees_[:30]]
        assert ranking[0] != "size" or leaves == sorted(leaves)
    likely = TreeSetClassifier(epsilon=0.2, ranking=("pessimistic_error", "size")).fit(X, y)
    # A split that lowers the estimate alone makes a tree of its own there.
    assert likely.n_trees_ >= plain.n_trees_


def test_a_stopped_ranked_set_has_a_tree():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 60)), rng.integers(0, 2, 2000)
    model = TreeSetClassifier(
        n_trees=20, max_depth=5, ranking=("error", "pessimistic_error", "size"), time_limit=0.4
    )
    with pytest.warns(match="time_limit"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.objective_ == np.count_nonzero(model.predict(X) != y) == model.tree_objectives_[0]
    greedy = GreedyTreeClassifier(max_depth=5).fit(X, y)
    assert model.lower_bound_ <= np.count_nonzero(greedy.predict(X) != y)
