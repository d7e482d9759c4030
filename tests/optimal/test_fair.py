"""Trees with a limit on the difference of groups' rates."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sktree_opt import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    TreeSetClassifier,
    export_code,
    rate_difference,
)
from tests.effort import examples
from tests.reference.brute_force_fair import differences, sums_of_all_trees


@st.composite
def tables(draw):
    """0/1 table, classes, groups and weights; each class has all groups."""
    n_groups = draw(st.sampled_from([2, 2, 3, 4]))
    n, m = draw(st.integers(2 * n_groups, 16)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, y, groups = rng.integers(0, 2, (n, m)), rng.integers(0, 2, n), rng.integers(0, n_groups, n)
    y[: 2 * n_groups], groups[: 2 * n_groups] = np.indices((2, n_groups)).reshape(2, -1)
    # Weights without a common divisor are refused of more than two groups.
    kinds = ["none", "whole", "few", "real"][: 4 if n_groups == 2 else 3]
    kind = draw(st.sampled_from(kinds))
    weights = {
        "none": None,
        "whole": rng.integers(1, 5, n).astype(float),
        "few": rng.choice([0.3, 1.7], n),
        "real": rng.uniform(0.1, 3.0, n),
    }[kind]
    return X, y, groups, weights


@examples(80)
@given(
    tables(),
    st.sampled_from(["positive", "true_positive"]),
    st.sampled_from(["error", "balanced_error", "cost"]),
    st.sampled_from([0.0, 0.0, 0.03]),
    st.integers(1, 3),
    st.integers(0, 2),
    st.data(),
)
def test_the_least_cost_within_every_limit(
    table, rate, objective, test_cost, min_rows, depth, data
):
    X, y, groups, weights = table
    w = np.ones(len(y)) if weights is None else weights
    totals = [w[(y == c) & (groups == g)].sum() for c in (0, 1) for g in np.unique(groups)]
    costs = {
        "error": [[0.0, 1.0], [1.0, 0.0]],
        "cost": [[0.0, 2.0], [5.0, 1.0]],
        "balanced_error": [
            [0.0, w.sum() / 2 / w[y == 0].sum()],
            [w.sum() / 2 / w[y == 1].sum(), 0.0],
        ],
    }[objective]
    rows = list(zip(map(tuple, X.tolist()), y.tolist(), groups.tolist(), w.tolist(), strict=True))
    sums = sums_of_all_trees(
        rows,
        len(totals) // 2,
        depth,
        lambda part: len(part) >= min_rows,
        costs,
        test_cost * w.sum(),
    )
    pairs = differences(sums, totals, rate == "true_positive")
    limit = data.draw(st.sampled_from([0.0, *sorted({d for _, d in pairs})]))
    model = FairTreeClassifier(
        max_difference=min(1.0, limit + 1e-7),
        rate=rate,
        objective=objective,
        cost_matrix=costs if objective == "cost" else None,
        complexity_cost=test_cost,
        min_samples_leaf=min_rows,
        max_depth=depth,
        n_jobs=data.draw(st.sampled_from([1, 2])),
    ).fit(X, y, weights, sensitive_features=groups)
    expected = min(cost for cost, difference in pairs if difference <= limit + 1e-7)
    near = {"abs": 1e-6 * w.sum(), "rel": 1e-6}
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(expected, **near)
    assert model.lower_bound_ == model.objective_
    answers = model.predict(X)
    cost = sum(costs[c][a] * v for c, a, v in zip(y, answers, w, strict=True))
    cost += test_cost * w.sum() * model.tree_.n_splits
    assert model.objective_ == pytest.approx(cost, **near)
    found = rate_difference(y, answers, groups, rate=rate, sample_weight=weights)
    assert model.difference_ == pytest.approx(found, abs=1e-7)
    assert found <= limit + 1e-6
    # The front: the least difference for each cost up to that of the answer.
    front = []
    for cost, difference in sorted(pairs):
        if cost <= expected + 1e-7 and (not front or difference < front[-1][1] - 1e-7):
            if front and cost - front[-1][0] < 1e-7:
                front.pop()
            front.append((cost, difference))
    assert model.fairness_front_["objective"] == pytest.approx(
        np.array([cost for cost, _ in front]), **near
    )
    assert model.fairness_front_["difference"] == pytest.approx(
        np.array([difference for _, difference in front]), abs=1e-6
    )


def test_real_weights_of_many_rows():
    """Sums are rounded at leaves, so that the number of rows does not matter."""
    rng = np.random.default_rng(54)
    n = 3000
    X, y, groups = rng.integers(0, 2, (n, 4)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    w = rng.uniform(0.1, 3.0, n)
    rows = list(zip(map(tuple, X.tolist()), y.tolist(), groups.tolist(), w.tolist(), strict=True))
    totals = [w[(y == c) & (groups == g)].sum() for c in (0, 1) for g in (0, 1)]
    sums = sums_of_all_trees(rows, 2, 1, lambda _: True, [[0.0, 1.0], [1.0, 0.0]])
    pairs = differences(sums, totals, of_positives=False)
    for limit in sorted({difference for _, difference in pairs}):
        model = FairTreeClassifier(max_difference=limit + 1e-8, max_depth=1)
        model.fit(X, y, w, sensitive_features=groups)
        expected = min(cost for cost, difference in pairs if difference <= limit)
        assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def loans():
    """A raw table: numbers with holes, categories, text labels."""
    rng = np.random.default_rng(0)
    n = 200
    group = rng.choice(["men", "women"], n)
    income = rng.normal(3.0 + (group == "men"), 1.0).round(1)
    y = np.where(income + rng.normal(0, 0.7, n) > 3.2, "yes", "no")
    income[rng.random(n) < 0.1] = np.nan
    job = pd.Categorical(rng.choice(["a", "b", "c"], n))
    return pd.DataFrame({"income": income, "job": job}), y, group


def test_raw_tables_and_the_front(loans):
    X, y, group = loans
    model = FairTreeClassifier(max_difference=0.05, pos_label="yes", max_depth=2, thresholds=8)
    model.fit(X, y, sensitive_features=group)
    assert model.groups_.tolist() == ["men", "women"]
    assert model.status_ == "optimal"
    front = model.fairness_front_
    assert (np.diff(front["objective"]) > 0).all()
    assert (np.diff(front["difference"]) < 0).all()
    best = OptimalTreeClassifier(max_depth=2, thresholds=8).fit(X, y)
    assert front["objective"][0] == best.objective_ < model.objective_
    for point in front:
        one = pickle.loads(pickle.dumps(model.within(point["difference"])))
        answers = one.predict(X)
        assert np.count_nonzero(answers != y) == one.objective_ == point["objective"]
        found = rate_difference(y, answers, group, pos_label="yes")
        assert found == pytest.approx(one.difference_)
        assert one.status_ == "optimal"
    with pytest.raises(ValueError, match="max_difference must be at least"):
        model.within(0.0)
    # The negative class as the positive one: the same rates, less one.
    other = clone(model).set_params(pos_label="no").fit(X, y, sensitive_features=group)
    assert other.objective_ == model.objective_
    # The answers that the errors do not choose are exported.
    answer_of = {}
    exec(export_code(model), answer_of)
    assert callable(answer_of["predict"])


def test_the_set_of_trees_takes_the_difference_as_a_condition(loans):
    X, y, group = loans
    trees = TreeSetClassifier(max_depth=2, thresholds=8, epsilon=0.5).fit(X, y)

    def is_fair(tree):
        return rate_difference(y, tree.predict(X), group, pos_label="yes") <= 0.25

    fair = trees.having(is_fair)
    limit = FairTreeClassifier(max_difference=0.25, pos_label="yes", max_depth=2, thresholds=8)
    # With free answers there are more trees.
    assert limit.fit(X, y, sensitive_features=group).objective_ <= fair.objective_


def test_groups_are_routed(loans):
    X, y, group = loans
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairTreeClassifier(max_difference=0.1, pos_label="yes", thresholds=4)
        model.set_fit_request(sensitive_features=True)
        search = GridSearchCV(model, {"max_depth": [1, 2]}, cv=2)
        search.fit(X, y, sensitive_features=group)
    assert search.best_estimator_.difference_ <= 0.1 + 1e-9


def test_a_stopped_search_is_fair():
    rng = np.random.default_rng(0)
    X, y, group = rng.integers(0, 2, (600, 30)), rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    model = FairTreeClassifier(max_difference=0.0, max_depth=4, time_limit=0.5)
    with pytest.warns(match="time_limit"):
        model.fit(X, y, sensitive_features=group)
    assert model.status_ == "time_limit"
    assert 0.0 < model.lower_bound_ < model.objective_
    assert model.difference_ <= 1e-9
    assert len(model.fairness_front_) > 1


def test_what_groups_may_be(loans):
    X, y, group = loans
    for wrong, match in [
        (None, "max_difference needs sensitive_features"),
        (group[:-1], "has 199 rows, and y has 200"),
        (np.full(200, "men"), r"must have at least two groups, got \['men'\]"),
        (np.where(np.arange(200) < 3, None, group), "must not have missing values"),
        (np.column_stack([group, group]), "must be one column"),
        (np.where(y == "yes", "men", "women"), "one of the groups has no"),
    ]:
        model = FairTreeClassifier(max_difference=0.1, rate="true_positive", pos_label="yes")
        with pytest.raises(ValueError, match=match):
            model.fit(X, y, sensitive_features=wrong)
    three = np.where(np.arange(200) % 3, group, "other")
    weights = np.random.default_rng(0).random(200)
    with pytest.raises(ValueError, match="weights must be multiples of one number"):
        FairTreeClassifier(max_difference=0.1).fit(X, y, weights, sensitive_features=three)
    with pytest.raises(ValueError, match="has 50 groups with more combinations"):
        FairTreeClassifier(max_difference=0.1).fit(X, y, sensitive_features=np.arange(200) // 4)
    with pytest.raises(ValueError, match="pass the positive"):
        FairTreeClassifier(rate="true_positive").fit(X, y, sensitive_features=group)
    with pytest.raises(ValueError, match="rate must be one of"):
        rate_difference([0, 1], [0, 1], [0, 1], rate="odds")
