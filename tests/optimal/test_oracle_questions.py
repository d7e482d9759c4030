"""Rankings, several trees and paths for every objective against all trees, as a user asks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    SmallestTreeRegressor,
    TreeSetClassifier,
    TreeSetRegressor,
    optimal_path,
)
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from tests.effort import examples
from tests.optimal.cases import (
    REGRESSION,
    leaf_rules,
    most_splits,
    problems,
    reference_of,
    rows_of,
)
from tests.optimal.test_queries import RANKINGS
from tests.reference.brute_force_k_best import all_trees
from tests.reference.brute_force_queries import first_by_ranking, least_costs

# Costs of different trees that differ by less are equal but for rounding.
DIGITS = 9


def small_problems(objective):
    """Problems whose trees can be listed."""
    return problems(objective, max_columns=4)


def costs_by_size(reference, max_depth):
    """Least cost for each (number of splits, depth), without what is rounding."""
    costs = least_costs(
        rows_of(reference), max_depth, *leaf_rules(reference), reference["split_cost"]
    )
    level = reference["depth_cost"]
    return {(n, depth): round(c + level * depth, DIGITS) for (n, depth), c in costs.items()}


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(100)
@given(data=st.data())
def test_ranking_picks_the_first_of_all_trees(objective, data):
    X, y, weights, options = data.draw(small_problems(objective))
    options["complexity_cost"] = data.draw(st.sampled_from([0.0, 0.0, 0.03]))
    options["depth_cost"] = data.draw(st.sampled_from([0.0, 0.0, 0.02, 0.2]))
    if objective == "pessimistic_error":
        options["confidence"] = data.draw(st.sampled_from([0.25, 0.05, 0.5]))
    reference = reference_of(X, y, weights, options)
    costs = costs_by_size(reference, options["max_depth"])
    within = [cost for (n, _), cost in costs.items() if n <= most_splits(options)]
    # Between the costs of two trees, so that rounding does not matter.
    goal = data.draw(st.none() | st.sampled_from(sorted(within)))
    options["ranking"] = data.draw(st.sampled_from(RANKINGS))
    options["max_error"] = None if goal is None else goal + 1e-7
    expected = first_by_ranking(
        costs,
        options["ranking"],
        most_splits(options),
        math.inf if goal is None else goal + 1e-7,
    )
    if objective == REGRESSION:
        del options["objective"]
    smallest = SmallestTreeRegressor if objective == REGRESSION else SmallestTreeClassifier
    model = smallest(**options).fit(X, y, sample_weight=weights)
    tree = model.tree_
    found = {"error": model.objective_, "size": tree.n_splits, "depth": tree.depth}
    assert model.status_ == "optimal"
    assert [found[name] for name in options["ranking"]] == pytest.approx(expected, abs=1e-8)


def form_of(tree, X):
    """The way a tree parts the rows (see ``all_trees``)."""
    leaves, _ = tree.walk(X.astype(float))

    def form(at):
        children = tree.children(at)
        if children.start == children.stop:
            return frozenset(np.flatnonzero(leaves == at).tolist())
        return frozenset(form(child) for child in range(children.start, children.stop))

    return form(0)


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(100)
@given(data=st.data())
def test_every_one_of_several_trees_is_the_next_of_all(objective, data):
    X, y, weights, options = data.draw(small_problems(objective))
    # Of these all trees are listed, by the thousands.
    X = X[:, : 3 if options["max_depth"] == 3 else 4]
    options["complexity_cost"] = data.draw(st.sampled_from([0.0, 0.03]))
    options["n_trees"] = data.draw(st.sampled_from([2, 5, 20]))
    reference = reference_of(X, y, weights, options)
    rows = [row[::-1] for row in rows_of(reference)]
    rules = leaf_rules(reference, number=0)
    trees = all_trees(rows, options["max_depth"], *rules, reference["split_cost"])
    allowed = [tree for tree in trees.values() if tree[1] <= most_splits(options)]
    expected = sorted(cost for cost, _ in allowed)[: options["n_trees"]]

    if objective == REGRESSION:
        del options["objective"]
    estimator = TreeSetRegressor if objective == REGRESSION else TreeSetClassifier
    model = estimator(**options).fit(X, y, sample_weight=weights)
    # Weights are rounded a little.
    total = max(1.0, sum(reference["weights"]))
    near = {"rel": 1e-6, "abs": 1e-6 * total}
    assert model.tree_objectives_ == pytest.approx(np.array(expected), **near)
    assert model.tree_ == model.trees_[0]
    assert model.objective_ == pytest.approx(model.tree_objectives_[0], **near)
    kept = X if weights is None else X[weights > 0]
    forms = [form_of(tree, kept) for tree in model.trees_]
    assert len(set(forms)) == len(forms)
    for tree, form, objective_found in zip(
        model.trees_, forms, model.tree_objectives_, strict=True
    ):
        cost, n_splits = trees[form]
        assert objective_found == pytest.approx(cost, **near)
        assert tree.n_splits == n_splits


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(100)
@given(data=st.data())
def test_path_holds_the_optimum_of_every_depth_and_size(objective, data):
    X, y, weights, options = data.draw(small_problems(objective))
    reference = reference_of(X, y, weights, options)
    costs = costs_by_size(reference, options["max_depth"])
    estimator = OptimalTreeRegressor if objective == REGRESSION else OptimalTreeClassifier
    path = optimal_path(estimator(**options), X, y, sample_weight=weights)
    assert path.status == "optimal"
    for (depth, splits), objective_found in np.ndenumerate(path.objectives):
        expected = min(c for (n, d), c in costs.items() if n <= splits and d <= depth)
        assert objective_found == pytest.approx(expected, rel=1e-8, abs=1e-8)
        tree = path.trees[path.tree_index[depth, splits]]
        assert tree.n_splits <= splits
        assert tree.depth <= depth
    deepest, total = path.objectives[-1], sum(reference["weights"])
    n_splits = np.arange(len(deepest))
    for at, index in zip(path.complexity_costs, path.complexity_tree_index, strict=True):
        chosen = path.trees[index].n_splits
        price = at * total
        least = (deepest + price * n_splits).min()
        assert deepest[chosen] + price * chosen == pytest.approx(least, rel=1e-8, abs=1e-8)
