"""Rankings with two kinds of errors, limits on both and predicates on leaves, against all trees."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt import GreedyTreeClassifier, SmallestTreeClassifier
from tests.effort import examples
from tests.optimal.cases import leaf_rules, most_splits, problems, reference_of, rows_of
from tests.reference.brute_force_queries import measures_of_all_trees
from tests.reference.brute_force_tree import class_sums, pessimistic_cost

NAMES = ("error", "pessimistic_error", "size", "depth")
RANKINGS = [
    ranking
    for n in (2, 3, 4)
    for ranking in permutations(NAMES, n)
    if "size" in ranking and {"error", "pessimistic_error"} & set(ranking)
]


def class_rules(reference, minimum, purity):
    """Whether the classes of some rows allow a leaf."""

    def may_be_leaf(rows):
        sums = class_sums([row[1] for row in rows], reference)
        smallest = [least - 1e-9 * max(1.0, least) for least in minimum]
        is_pure = max(sums) >= purity * sum(sums) - 1e-9
        return is_pure and all(s >= least for s, least in zip(sums, smallest, strict=True))

    return may_be_leaf


def draw_query(data, objective):
    """A table, the parameters of a query, and the measures of all trees that fulfil them."""
    X, y, weights, options = data.draw(problems(objective, max_columns=4))
    options["complexity_cost"] = data.draw(st.sampled_from([0.0, 0.0, 0.03]))
    options["confidence"] = data.draw(st.sampled_from([0.25, 0.05, 0.5]))
    reference = reference_of(X, y, weights, options)
    kind = data.draw(st.sampled_from(["none", "all", "one", "purity"]))
    n_classes, purity = reference["n_classes"], 0.0
    minimum, total = [0.0] * n_classes, sum(reference["weights"])
    labels = np.unique(y if weights is None else y[weights > 0]).tolist()
    if kind == "all":
        minimum = [0.04 * total] * n_classes
        options["min_class_weight_leaf"] = minimum[0]
    elif kind == "one":
        minimum[0] = 0.06 * total
        options["min_class_weight_leaf"] = {labels[0]: minimum[0]}
    elif kind == "purity":
        purity = options["min_purity_leaf"] = data.draw(st.sampled_from([0.4, 0.7, 0.9]))
    is_large, cost = leaf_rules(reference)
    suits = class_rules(reference, minimum, purity)

    def costs(rows):
        return cost(rows), pessimistic_cost([row[1] for row in rows], reference)

    measures = measures_of_all_trees(
        rows_of(reference),
        options["max_depth"],
        lambda rows: is_large(rows) and suits(rows),
        costs,
    )
    within = [
        (round(error + n * reference["split_cost"], 9), estimate, n, depth)
        for error, estimate, n, depth in measures
        if n <= most_splits(options)
    ]
    return X, y, weights, options, within


@pytest.mark.parametrize("objective", ["error", "balanced_error", "cost", "gini", "entropy"])
@examples(100)
@given(data=st.data())
def test_queries_with_both_errors_against_all_trees(objective, data):
    X, y, weights, options, measures = draw_query(data, objective)
    options["ranking"] = data.draw(st.sampled_from(RANKINGS))
    if not {"pessimistic_error"} & set(options["ranking"]):
        options["ranking"] = ("error", "pessimistic_error", "size")
    for at, name in enumerate(["max_error", "max_pessimistic_error"]):
        # Above the value of a tree, so that rounding does not matter.
        goals = sorted({measure[at] for measure in measures}) or [1.0]
        goal = data.draw(st.none() | st.sampled_from(goals))
        options[name] = None if goal is None else goal + 1e-6
        most = math.inf if goal is None else goal + 1e-6
        measures = [measure for measure in measures if measure[at] <= most]
    model = SmallestTreeClassifier(**options)
    if not measures:
        with pytest.raises(ValueError, match="No tree within"):
            model.fit(X, y, sample_weight=weights)
        return
    model.fit(X, y, sample_weight=weights)
    order = [NAMES.index(name) for name in options["ranking"]]
    first = []
    for k in order:
        first.append(min(measure[k] for measure in measures))
        # Equal sums are rounded otherwise.
        measures = [measure for measure in measures if measure[k] <= first[-1] + 1e-7]
    tree = model.tree_
    is_leaf = tree.nodes["n_children"] == 0
    problem = {"n_classes": tree.values.shape[1], "confidence": options["confidence"]}
    estimate = sum(
        pessimistic_cost(range(len(leaf)), problem | {"weights": leaf, "y": range(len(leaf))})
        for leaf in tree.values[is_leaf].tolist()
    )
    found = (model.objective_, estimate, tree.n_splits, tree.depth)
    assert model.status_ == "optimal"
    assert [found[k] for k in order] == pytest.approx(first, abs=1e-6, rel=1e-6)


def test_limits_that_name_nothing():
    X, y = [[0], [1], [1]], [0, 1, 0]
    for wrong, match in [
        ({"min_class_weight_leaf": {7: 1.0}}, "labels among the classes"),
        ({"objective": "pessimistic_error", "max_pessimistic_error": 1.0}, "named 'error'"),
        ({"max_pessimistic_error": 0.1}, "fulfils max_pessimistic_error=0.1"),
        ({"min_purity_leaf": 1.0}, "fulfils min_purity_leaf=1.0"),
    ]:
        with pytest.raises(ValueError, match=match):
            SmallestTreeClassifier(**wrong).fit(X, y)


def test_the_size_of_a_greedy_tree_as_the_limit(global_random_seed):
    """DL8, Figure 10: the best tree that is no larger than C4.5's."""
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    greedy = GreedyTreeClassifier(max_depth=3, pruning="error_based").fit(X, y)
    n_leaves = max(2, greedy.get_n_leaves())
    model = SmallestTreeClassifier(max_leaf_nodes=n_leaves, max_depth=3).fit(X, y)
    assert model.get_n_leaves() <= n_leaves
    assert model.objective_ <= np.count_nonzero(greedy.predict(X) != y)


def test_a_stopped_query_answers():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (500, 40)), rng.integers(0, 2, 500)
    model = SmallestTreeClassifier(
        max_depth=4, ranking=("error", "pessimistic_error", "size"), time_limit=0.05
    )
    with pytest.warns(match="time_limit"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.objective_ == np.count_nonzero(model.predict(X) != y)
    greedy = GreedyTreeClassifier(max_depth=4).fit(X, y)
    assert model.lower_bound_ <= np.count_nonzero(greedy.predict(X) != y)
