"""Sets of nearly optimal trees against all trees of small tables, as a user asks for them."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone

from sktree_opt.optimal import TreeSetClassifier, TreeSetRegressor
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.effort import examples
from tests.optimal.cases import (
    REGRESSION,
    leaf_rules,
    most_splits,
    problems,
    reference_of,
    rows_of,
)
from tests.reference.brute_force_tree_sets import (
    all_test_trees,
    form_of,
    importance_range,
    needs_feature,
    rows_below,
    tree_set,
)


def estimator_of(options):
    """An estimator for a drawn problem."""
    options = dict(options)
    if options["objective"] != REGRESSION:
        return TreeSetClassifier(**options)
    del options["objective"]
    return TreeSetRegressor(**options)


def expected_set(reference, options):
    """What ``tree_set`` lists for the parameters of an estimator, and the cost of some rows."""
    rows = [row[::-1] for row in rows_of(reference)]
    may_be_leaf, leaf_cost = leaf_rules(reference, number=0)

    def cost_of_rows(numbers):
        return leaf_cost([rows[k] for k in numbers])

    trees = all_test_trees(rows, options["max_depth"], may_be_leaf)
    by_tests = options.get("distinct_by") == "tests"
    every = tree_set(trees, cost_of_rows, reference["split_cost"], by_tests)
    return [one for one in every if one[1] <= most_splits(options)], cost_of_rows


def within(every, epsilon, is_relative, number):
    """Those of a list that are within a distance, at most a number of them."""
    best = every[0][0]
    largest = best * (1.0 + epsilon) if is_relative else best + epsilon
    return [one for one in every if one[0] <= largest + 1e-7][:number]


@st.composite
def wanted(draw, objective):
    """A problem, what is asked of it, and the answer by brute force."""
    X, y, weights, options = draw(problems(objective, max_columns=4))
    X = X[:, : 2 if options["max_depth"] == 3 else 3]
    options["complexity_cost"] = draw(st.sampled_from([0.0, 0.03]))
    options["distinct_by"] = draw(st.sampled_from(["partitions", "tests"]))
    options["epsilon_kind"] = draw(st.sampled_from(["relative", "absolute"]))
    options["n_trees"] = draw(st.sampled_from([None, None, 7]))
    options["epsilon"] = draw(st.sampled_from([0.0, 0.11, 0.52, 10.0]))
    reference = reference_of(X, y, weights, options)
    every, cost_of_rows = expected_set(reference, options)
    is_relative = options["epsilon_kind"] == "relative"
    expected = within(every, options["epsilon"], is_relative, options["n_trees"])
    return (X, y, weights), options, reference, expected, cost_of_rows


@pytest.mark.parametrize("objective", [*OBJECTIVES, REGRESSION])
@examples(60)
@given(data=st.data())
def test_a_set_has_all_trees_within_a_distance(objective, data):
    (X, y, weights), options, reference, expected, _ = data.draw(wanted(objective))
    model = estimator_of(options).fit(X, y, sample_weight=weights)
    near = {"rel": 1e-6, "abs": 1e-6 * max(1.0, sum(reference["weights"]))}
    assert model.status_ == "optimal"
    assert model.n_trees_ == len(model) == len(expected)
    assert model.tree_objectives_ == pytest.approx([one[0] for one in expected], **near)
    assert sum(model.n_trees_by_objective_.values()) == len(expected)
    sizes = [one[1] + 1 for one in expected]
    assert model.n_trees_by_size_ == {size: sizes.count(size) for size in sorted(set(sizes))}
    n_leaves = [tree.n_leaves for tree in itertools.islice(model.trees_, 50)]
    if options["objective"] == "error" and options["n_trees"] is None:
        assert n_leaves == sizes[:50]
    assert len({str(tree.to_dict()) for tree in model.trees_}) == len(expected)


@pytest.mark.parametrize("simd", available_instruction_sets())
@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_equal_rows_count_as_often_as_they_are(simd, n_classes, global_random_seed, monkeypatch):
    rng = np.random.default_rng(global_random_seed)
    X, repeats = rng.integers(0, 2, (40, 12)), rng.integers(2, 40, 40)
    y = rng.normal(size=40) if n_classes is None else rng.integers(0, n_classes, 40)
    X, y = np.repeat(X, repeats, axis=0), np.repeat(y, repeats)
    make = TreeSetRegressor if n_classes is None else TreeSetClassifier
    settings = {"max_depth": 3, "complexity_cost": 0.01, "n_trees": 200}
    # A minimum that all leaves reach, but a search that counts each row.
    monkeypatch.setenv("SKTREE_OPT_SIMD", "portable")
    expected = make(min_samples_leaf=2, **settings).fit(X, y)
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    found = make(**settings).fit(X, y)
    assert found.n_trees_ == expected.n_trees_ == 200
    assert np.array_equal(found.tree_objectives_, expected.tree_objectives_)
    assert np.array_equal(found.disagreement(X[:50]), expected.disagreement(X[:50]))


def nested(tree, X):
    """A tree as ``brute_force_tree_sets`` has it, by the rows in its leaves."""
    leaves, _ = tree.walk(X.astype(float))

    def below(at):
        children = tree.children(at)
        if children.start == children.stop:
            return tuple(np.flatnonzero(leaves == at).tolist())
        column = int(tree.nodes["feature"][at])
        parts = [below(child) for child in range(children.start, children.stop)]
        return column, *sorted(parts, key=lambda part: -X[rows_below(part)[0], column])

    return below(0)


@pytest.mark.parametrize("objective", ["error", "balanced_error", "gini", REGRESSION])
@examples(40)
@given(data=st.data())
def test_sums_over_all_trees(objective, data):
    (X, y, weights), options, reference, _, cost_of_rows = data.draw(wanted(objective))
    model = estimator_of(options).fit(X, y, sample_weight=weights)
    by_tests = options["distinct_by"] == "tests"
    kept = X if weights is None else X[weights > 0]
    every, _ = expected_set(reference, options)
    known = {one[0] if by_tests else form_of(one[0]): one for _, _, one in every}
    trees = [nested(tree, kept) for tree in model.trees_]
    groups = [known[tree if by_tests else form_of(tree)] for tree in trees]
    features = range(X.shape[1])
    for feature, found in zip(features, model.feature_reliance_, strict=True):
        needing = [needs_feature(same, features, feature) for same in groups]
        assert found["share"] == pytest.approx(np.mean(needing))
        verdict = "all" if all(needing) else "some" if any(needing) else "none"
        assert found["verdict"] == verdict
        ranges = [importance_range(same, features, feature, cost_of_rows) for same in groups]
        least, largest = np.array(ranges).T
        assert found["least_importance"] == pytest.approx(least.min(), abs=1e-5)
        assert found["largest_importance"] == pytest.approx(largest.max(), abs=1e-5)
        without = [
            cost for cost, need in zip(model.tree_objectives_, needing, strict=True) if not need
        ]
        if without:
            one = model.without(feature)
            assert feature not in one.tree_.features
            assert one.objective_ == pytest.approx(without[0], rel=1e-6, abs=1e-6)
            assert one.gap_ == 0.0
        else:
            with pytest.raises(LookupError, match="None of the"):
                model.without([feature])
    rows = np.array(list(itertools.product([0, 1], repeat=X.shape[1])))
    answers = np.array([one.predict(rows) for one in model])
    model.set_params(predict_by="vote")
    if objective == REGRESSION:
        assert model.disagreement(rows) == pytest.approx(answers.std(axis=0), abs=1e-6)
        assert model.predict(rows) == pytest.approx(answers.mean(axis=0))
    else:
        shares = (answers[:, :, np.newaxis] == model.classes_).mean(axis=0)
        assert model.disagreement(rows) == pytest.approx(shares)
        assert model.predict_proba(rows) == pytest.approx(shares)
        votes = np.take_along_axis(
            shares, np.searchsorted(model.classes_, model.predict(rows))[:, np.newaxis], axis=1
        )
        assert votes[:, 0] == pytest.approx(shares.max(axis=1))


@examples(25)
@given(seed=st.integers(0, 2**32 - 1), sign=st.sampled_from([-1, 1]))
def test_a_monotonic_tree_never_falls(seed, sign):
    table, _, y = table_with_holes(seed)
    table["other"] = np.random.default_rng(seed).integers(0, 3, len(table))
    model = TreeSetClassifier(max_depth=3, n_trees=60, thresholds=2).fit(table, y > 0)
    values = [[0.0, 1.0, 2.0, np.nan], ["a", "b", "c", None], [0, 1, 2]]
    grid = pd.DataFrame(list(itertools.product(*values)), columns=table.columns)
    grid["category"] = pd.Categorical(grid["category"], categories=["a", "b", "c"])

    def never_falls(one):
        answers = one.predict_proba(grid)[:, -1].reshape(4, 4, 3)
        rises = sign * np.diff(answers[:3], axis=0), np.diff(answers, axis=2)
        return all((rise >= -1e-12).all() for rise in rises)

    expected = [one.objective_ for one in model if never_falls(one)]
    cst = {"number": sign, "other": 1}
    if not expected:
        with pytest.raises(LookupError):
            model.having(monotonic_cst=cst)
        return
    one = model.having(monotonic_cst=cst)
    assert never_falls(one)
    assert one.objective_ == expected[0] == model.having(never_falls).objective_
    assert "monotonic in 'number'" in one.optimality_scope_


def test_what_conditions_refuse(small):
    model = TreeSetClassifier(max_depth=2, epsilon=1.0).fit(*small)
    assert model.having(lambda one: one.get_n_leaves() == 1).objective_ == max(
        model.n_trees_by_objective_
    )
    for names in (7, "age", 1.5):
        with pytest.raises(ValueError, match="features must be"):
            model.without([names])
    with pytest.raises(ValueError, match="one entry for each of 5"):
        model.having(monotonic_cst=[1])
    with pytest.raises(ValueError, match="must hold -1, 0 and 1"):
        model.having(monotonic_cst={0: 2})
    model.set_params(time_limit=0.0)
    with pytest.raises(TimeoutError, match="time_limit=0.0"):
        model.having(lambda one: False)


def table_with_holes(seed, n=40):
    """A table of numbers, categories and holes, and its 0/1 tests by their definition."""
    rng = np.random.default_rng(seed)
    number, category = rng.integers(0, 3, n).astype(float), rng.choice(["a", "b", "c"], n)
    number[rng.random(n) < 0.2] = np.nan
    table = pd.DataFrame({"number": number, "category": pd.Categorical(category)})
    table["category"] = table["category"].where(rng.random(n) > 0.2)
    is_number, is_category = table["number"].notna(), table["category"].notna()
    tests = [~is_number, ~is_category]
    for threshold in (0.5, 1.5):
        tests += [(number <= threshold) & is_number, (number <= threshold) | ~is_number]
    for value in "abc":
        tests += [table["category"] == value, (table["category"] == value) | ~is_category]
    y = np.where(is_number ^ (table["category"] == "b"), 1, 0) ^ (rng.random(n) < 0.2)
    return table, np.column_stack(tests).astype(int), y * (1 + (rng.random(n) < 0.3))


@examples(15)
@given(seed=st.integers(0, 2**32 - 1), by=st.sampled_from(["partitions", "tests"]))
def test_categories_holes_and_several_classes(seed, by):
    table, matrix, y = table_with_holes(seed)
    rng = np.random.default_rng(seed)
    weights = rng.choice([1.0, 2.5], len(y))
    options = {"objective": "error", "max_depth": 2, "max_leaf_nodes": 3, "distinct_by": by}
    options |= {"epsilon": 0.2, "class_weight": None}
    model = TreeSetClassifier(**options, time_limit=None).fit(table, y, sample_weight=weights)
    every, _ = expected_set(reference_of(matrix, y, weights, options), options)
    expected = within(every, 0.2, True, None)
    assert model.tree_objectives_ == pytest.approx([one[0] for one in expected])
    for one, objective in zip(model, model.tree_objectives_, strict=True):
        assert (weights * (one.predict(table) != y)).sum() == pytest.approx(objective)


@pytest.fixture
def small():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (60, 5))
    return X, (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.2)


@pytest.mark.parametrize("n_trees", [None, 23])
def test_trees_are_drawn_with_equal_probability(small, n_trees):
    model = TreeSetClassifier(max_depth=2, epsilon=0.5, n_trees=n_trees, distinct_by="tests").fit(
        *small
    )
    n = len(model)
    assert n == 23 if n_trees else n > 23
    keys = [str(tree.to_dict()) for tree in model.trees_]
    drawn = [str(one.tree_.to_dict()) for one in model.sample(20 * n, random_state=0)]
    assert chisquare([drawn.count(key) for key in keys]).pvalue > 0.01
    again = [str(one.tree_.to_dict()) for one in model.sample(20 * n, random_state=0)]
    assert drawn == again


def test_very_many_trees_are_counted_and_reached():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 14))
    y = (X[:, 0] ^ X[:, 1]) & (X[:, 2] | X[:, 3]) ^ (rng.random(300) < 0.1)
    model = TreeSetClassifier(max_depth=4, epsilon=1.0, distinct_by="tests").fit(X, y)
    assert model.status_ == "optimal"
    assert isinstance(model.n_trees_, int)
    assert model.n_trees_ > 10**12
    last = model[model.n_trees_ - 1]
    assert last.objective_ == (last.predict(X) != y).sum() == max(model.n_trees_by_objective_)
    assert last.objective_ <= 2 * model.objective_
    assert {one.objective_ for one in model.sample(20, random_state=1)} <= set(
        model.n_trees_by_objective_
    )
    with pytest.raises(MemoryError, match="n_trees_by_objective_"):
        _ = model.tree_objectives_
    # Better trees first, and among equal ones smaller trees.
    head = [(one.objective_, one.get_n_leaves()) for one in itertools.islice(model.trees(), 200)]
    assert head == sorted(head)
    again = pickle.loads(pickle.dumps(model))
    assert again.n_trees_ == model.n_trees_
    assert again[10**12].tree_ == model[10**12].tree_
    threads = clone(model).set_params(n_jobs=2).fit(X, y)
    assert threads.n_trees_by_objective_ == model.n_trees_by_objective_
    assert threads[10**9].tree_ == model[10**9].tree_


def test_what_a_set_refuses(small):
    for parameter, value in [("n_trees", 0), ("epsilon", -0.1), ("distinct_by", "names")]:
        with pytest.raises(ValueError, match=f"'{parameter}' parameter"):
            TreeSetClassifier(**{parameter: value}).fit(*small)
    assert len(TreeSetClassifier(max_depth=2).fit(*small)) == 10
