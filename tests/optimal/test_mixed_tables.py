"""Optimal trees on tables with numbers, categories and missing values, against brute force."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.optimal.run._plan import use_engine
from sktree_opt.preprocessing._binary_tests import Subset
from sktree_opt.tree._node import CATEGORY_ONE, NUMERIC
from tests.effort import examples
from tests.reference import naive_predict
from tests.reference.brute_force_thresholds import best_cost
from tests.reference.brute_force_tree import LEAF_COSTS

NAN = float("nan")


@st.composite
def mixed_tables(draw, max_rows, max_columns=3):
    """A matrix with ties and holes, and which of its columns are nominal."""
    n_rows, n_columns = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, nominal = np.empty((n_rows, n_columns)), np.zeros(n_columns, dtype=bool)
    for j in range(n_columns):
        n_values = draw(st.sampled_from([1, 2, 3, 5, 100]))
        X[:, j] = rng.integers(0, n_values, n_rows)
        nominal[j] = n_values <= 5 and draw(st.booleans())
        X[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.2, 0.6])), j] = NAN
    return X, nominal, rng


def check_against_brute_force(data, objective, max_rows=(14, 14, 12, 6), **params):
    """Fit an optimal tree on a small table, and compare it with all trees."""
    max_depth = data.draw(st.integers(0, 3))
    X, nominal, rng = data.draw(mixed_tables(max_rows[max_depth]))
    n_rows = len(X)
    is_regression = objective == "squared_error"
    y = rng.integers(0, 4, n_rows) if is_regression else rng.integers(0, 3, n_rows)
    codes = y if is_regression else np.unique(y, return_inverse=True)[1]
    weights = data.draw(st.sampled_from([np.ones(n_rows), rng.integers(1, 4, n_rows) / 2.0]))
    options = {
        "max_depth": max_depth,
        "max_leaf_nodes": data.draw(st.none() | st.integers(2, 2**max_depth + 1)),
        "min_samples_leaf": data.draw(st.sampled_from([1, 1, 2])),
        "complexity_cost": data.draw(st.sampled_from([0.0, 0.0, 0.05])),
    }
    assume(n_rows >= options["min_samples_leaf"])
    estimator = OptimalTreeRegressor if is_regression else OptimalTreeClassifier
    model = estimator(objective=objective, categorical_features=nominal, **options, **params)
    model.fit(X, y, sample_weight=weights)
    leaves = options["max_leaf_nodes"]
    problem = {"y": codes.tolist(), "weights": weights.tolist(), "n_classes": 4}
    split_cost = options["complexity_cost"] * weights.sum()
    expected = best_cost(
        list(enumerate(map(tuple, X.tolist()))),
        lambda rows: LEAF_COSTS[objective]([i for i, _ in rows], problem),
        nominal,
        weights,
        max_depth=max_depth,
        max_splits=None if leaves is None else leaves - 1,
        min_rows=options["min_samples_leaf"],
        split_cost=split_cost,
        subsets=params.get("categorical_splits") == "subset",
    )
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # The tree itself, followed as a user would, has that objective.
    matrix = model._encoder.transform(X)
    leaves = [dict(naive_predict.leaf_shares(model.tree_, row)) for row in matrix]
    assert [list(shares.values()) for shares in leaves] == [[1.0]] * n_rows
    of_leaf = {}
    for i, shares in enumerate(leaves):
        of_leaf.setdefault(next(iter(shares)), []).append(i)
    cost = sum(LEAF_COSTS[objective](rows, problem) for rows in of_leaf.values())
    assert cost + split_cost * model.tree_.n_splits == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("objective", ["error", "gini", "balanced_error", "squared_error"])
@examples(60)
@given(data=st.data())
def test_equals_brute_force(objective, data):
    check_against_brute_force(data, objective)


@examples(60)
@given(data=st.data())
def test_equals_brute_force_by_ranks(data):
    with use_engine("thresholds"):
        check_against_brute_force(data, "error")


@pytest.mark.parametrize("objective", ["error", "entropy", "squared_error"])
@examples(40)
@given(data=st.data())
def test_subsets_equal_brute_force(objective, data):
    check_against_brute_force(data, objective, max_rows=(12, 12, 9, 5), categorical_splits="subset")


# Both engines, whatever the number of thresholds.
@pytest.fixture(params=["bits", "thresholds"])
def either_search(request):
    with use_engine(request.param):
        yield


@pytest.mark.usefixtures("either_search")
@pytest.mark.parametrize("side", ["low", "high"])
def test_missing_values_take_the_better_side(side):
    low, high = [1.0, 2.0, 3.0], [7.0, 8.0, 9.0]
    X = np.array([*low, *high, NAN, NAN])[:, np.newaxis]
    y = ["low"] * 3 + ["high"] * 3 + [side] * 2
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert model.objective_ == 0.0
    assert model.predict([[NAN], [0.0], [10.0]]).tolist() == [side, "low", "high"]
    assert model.apply([[NAN]]).tolist() == model.apply([[0.0 if side == "low" else 10.0]]).tolist()
    assert model.decision_path([[NAN]]).sum() == 2


@pytest.mark.usefixtures("either_search")
@pytest.mark.parametrize("side", ["red", "other"])
def test_missing_categories_take_the_better_side(side):
    pd = pytest.importorskip("pandas")
    colours = ["red", "red", "green", "blue", None, None]
    y = ["red", "red", "other", "other", side, side]
    model = OptimalTreeClassifier(max_depth=1).fit(pd.DataFrame({"colour": colours}), y)
    assert model.objective_ == 0.0
    # A category that fit never saw is as good as missing.
    new = pd.DataFrame({"colour": [None, "violet", "red", "blue"]})
    assert model.predict(new).tolist() == [side, side, "red", "other"]


@pytest.mark.usefixtures("either_search")
def test_missing_is_a_test_of_its_own():
    X = np.array([1.0, 2.0, 3.0, NAN, NAN, NAN])[:, np.newaxis]
    model = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.objective_ == 0.0
    assert model.predict([[NAN], [-5.0], [5.0]]).tolist() == [1, 0, 0]


@pytest.mark.usefixtures("either_search")
def test_without_missing_values_in_training_they_fail_the_test():
    X = np.array([1.0, 2.0, 3.0, 4.0])[:, np.newaxis]
    model = OptimalTreeClassifier(max_depth=1).fit(X, ["yes", "yes", "no", "no"])
    assert model.predict([[NAN], [1.0]]).tolist() == ["no", "yes"]
    colours = OptimalTreeClassifier(max_depth=1).fit([["a"], ["a"], ["b"], ["c"]], [1, 1, 0, 0])
    assert colours.predict([[None], ["never seen"], ["a"]]).tolist() == [0, 0, 1]


@pytest.mark.usefixtures("either_search")
@pytest.mark.parametrize("missing", [True, False])
def test_subsets_of_categories(missing):
    letters = ["a", "b", "c", "d", "e", "f"] * 2
    y = [letter in "bde" for letter in letters]
    X = [[letter, float(k)] for k, letter in enumerate(letters)]
    if missing:
        X, y = [*X, [None, 20.0], [None, 21.0]], [*y, True, True]
    model = OptimalTreeClassifier(max_depth=1, categorical_splits="subset").fit(X, y)
    assert model.objective_ == 0.0
    assert "any categories against the others" in model.optimality_scope_
    assert model.predict(X).tolist() == y
    if missing:
        assert model.predict([["never seen", 0.0]]).tolist() == [True]
    one = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert one.objective_ > 0.0
    assert "one category against the others" in one.optimality_scope_


def test_divisions_are_all_there_and_different():
    for n_categories in range(13):
        kind, asked = Subset.questions(n_categories, "x")
        assert len(kind) == max(0, 2 ** max(0, n_categories - 1) - 1)
        tests = [
            frozenset({code} if k == CATEGORY_ONE else {c for c in range(13) if code >> c & 1})
            for k, code in zip(kind.tolist(), asked.astype(int).tolist(), strict=True)
        ]
        everything = frozenset(range(n_categories))
        assert len({frozenset({test, everything - test}) for test in tests}) == len(tests)
        assert all(0 < len(test) < n_categories for test in tests)
        assert [len(test) for test in tests] == sorted(len(test) for test in tests)


@pytest.mark.filterwarnings("ignore:The values of column")
def test_too_many_categories_are_refused():
    rows = [[f"value {k}", float(k % 2)] for k in range(13)]
    y = [k % 2 for k in range(13)]
    message = r"at most 12 categories.*column 'x0' has 13"
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(categorical_splits="subset").fit(rows, y)
    names = [[f"{k}"] for k in range(10_001)]
    with pytest.raises(ValueError, match=r"10001 of them in column 'x0'.*join rare categories"):
        OptimalTreeClassifier(max_depth=1, objective="entropy").fit(names, np.arange(10_001) % 2)


def test_ordered_categories_are_ranks():
    pd = pytest.importorskip("pandas")
    levels = ["low", "mid", "high", "top"]
    values = pd.Categorical(levels * 3, levels, ordered=True)
    y = [0, 0, 1, 1] * 3
    for splits in ("one_vs_rest", "subset"):
        model = OptimalTreeClassifier(max_depth=1, categorical_splits=splits)
        model.fit(pd.DataFrame({"level": values}), y)
        # One test of the order does it; "high" or "low" alone would not.
        assert model.objective_ == 0.0
        assert model.tree_.nodes["kind"][0] == NUMERIC
        assert model.predict(pd.DataFrame({"level": ["mid", "high"]})).tolist() == [0, 1]
