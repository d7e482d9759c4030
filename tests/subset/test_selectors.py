"""What the parameters of the selectors promise, held against all subsets of small tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    SearchError,
)
from sktree_opt.subset.errors._parts import EstimateRequest
from tests.effort import examples
from tests.subset.cases import fit_with_midpoints

ROWS = np.arange(0, 569, 2), np.arange(1, 569, 2)
SPLIT = CrossValidationError([ROWS])


def some_table(n_columns=6, first=10):
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, first : first + n_columns], y


def errors_of_subsets(X, y, split=ROWS, tree=None, sample_weight=None):
    """By the features that a tree uses: the error on the second rows of that grown on the first."""
    build, search = split
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
    errors = {}
    for size in range(X.shape[1] + 1):
        for subset in itertools.combinations(range(X.shape[1]), size):
            masked = np.zeros_like(X)
            masked[:, subset] = X[:, subset]
            grown = GreedyTreeClassifier() if tree is None else tree
            fit_with_midpoints(grown, masked[build], y[build], weights[build])
            wrong = grown.predict(masked[search]) != y[search]
            error = np.average(wrong, weights=weights[search])
            errors[tuple(grown.tree_.features.tolist())] = error
    return errors


@pytest.mark.parametrize("method", ["on_demand", "dtaccept"])
@pytest.mark.parametrize("penalty", [0.0, 0.0004, 0.001, 1 / 284, 0.003, 0.0029, 0.02])
def test_penalties_are_what_they_are_said_to_be(method, penalty):
    X, y = some_table()
    rated = [
        (error + penalty * len(features), len(features))
        for features, error in errors_of_subsets(X, y).items()
    ]
    least = min(objective for objective, _ in rated)
    found = AcceptableSubsetSelector(error=SPLIT, feature_penalty=penalty, method=method).fit(X, y)
    assert found.objective_ == pytest.approx(least, abs=1e-11)
    assert found.objective_ == pytest.approx(found.error_ + penalty * found.n_features_)
    assert found.gap_ == 0.0
    # A third of an error, three times, ties with an error: the smaller one is taken.
    assert found.n_features_ == min(n for objective, n in rated if objective < least + 1e-9)


@pytest.mark.parametrize("selector", [AcceptableSubsetSelector, DTsbeSelector])
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=8, max_size=14),
    weights=st.lists(st.integers(1, 4), min_size=14, max_size=14),
    scale=st.sampled_from([0.1, 0.01, 0.7, 1 / 3, 3.0]),
)
@examples(40)
def test_ties_do_not_depend_on_the_scale_of_weights(selector, rows, weights, scale):
    table = np.array(rows)
    X, y = table[:, :3], table[:, 3]
    weights = np.array(weights[: len(y)], dtype=float)
    tree = GreedyTreeClassifier(min_weight_branch=0, min_weight_split=0)
    error = CrossValidationError([(np.arange(0, len(y), 2), np.arange(1, len(y), 2))])
    one, other = (selector(tree, error=error).fit(X, y, w) for w in (weights, scale * weights))
    assert one.support_.tolist() == other.support_.tolist()


@given(
    cells=st.lists(st.sampled_from([np.nan, 1.0, 2.0, 3.0]), min_size=4, max_size=12),
    labels=st.lists(st.integers(0, 2), min_size=12, max_size=12),
)
@examples(100)
def test_errors_are_those_of_predict(cells, labels):
    X, y = np.array(cells)[:, None], np.array(labels[: len(cells)])
    selector = DTsbeSelector(error="training").fit(X, y)
    assert selector.error_ == pytest.approx(np.mean(selector.predict(X) != y))


@pytest.mark.parametrize("delta", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("method", ["on_demand", "dtaccept"])
def test_acceptable_subsets_are_all_within_delta_of_the_best(delta, method):
    X, y = some_table()
    errors = errors_of_subsets(X, y)
    least = min(errors.values())
    expected = {features for features, error in errors.items() if error <= least + delta + 1e-12}
    selector = AcceptableSubsetSelector(
        error=SPLIT, delta=delta, collect=True, method=method, max_collected=1000
    ).fit(X, y)
    table = pd.DataFrame(selector.acceptable_subsets_)
    assert {tuple(features) for features in table["features"]} == expected
    assert selector.n_acceptable_ == len(expected)
    assert table["error"].is_monotonic_increasing
    assert table["error"].tolist() == pytest.approx([errors[tuple(f)] for f in table["features"]])
    for entry in selector.acceptable_subsets_[:5]:
        alone = selector.tree_on(entry["features"], X, y)
        assert (entry["tree"].predict(X) == alone.predict(X)).all()
    few = AcceptableSubsetSelector(error=SPLIT, delta=delta, collect=True, max_collected=3)
    if len(expected) > 3:
        with pytest.warns(UserWarning, match=f"{len(expected)} subsets are .* the 3 of"):
            few.fit(X, y)
        assert [e["error"] for e in few.acceptable_subsets_] == table["error"].tolist()[:3]
        assert few.n_acceptable_ == len(expected)
    few = few.set_params(max_collected=len(expected)).fit(X, y)
    assert [e["error"] for e in few.acceptable_subsets_] == table["error"].tolist()
    assert few.n_acceptable_ == selector.n_acceptable_
    assert few.collect_status_ == "optimal"
    few.set_params(collect=False).fit(X, y)
    assert not hasattr(few, "acceptable_subsets_")


def test_groups_stay_together_in_folds():
    rng = np.random.RandomState(0)
    groups = rng.permutation(np.repeat(np.arange(20), 5))
    labels = rng.randint(2, size=20)[groups]
    request = EstimateRequest(labels, np.ones(100), groups=groups, random_state=0)
    parts = CrossValidationError()._make_parts(request)
    assert len(parts) == 5
    for part in parts:
        assert not set(groups[part.build_rows]) & set(groups[part.search_rows])
    # Who a row's group is tells its label: an honest estimate cannot use that.
    X = groups[:, None] + 0.1 * rng.rand(100, 1)
    honest = DTsbeSelector(error="cross_validation", random_state=0).fit(X, labels, groups=groups)
    assert honest.error_ > 0.3
    assert len(CrossValidationError(3)._make_parts(request)) == 3


@pytest.mark.parametrize("error", ["search", "cross_validation"])
def test_groups_that_cannot_be_split(error):
    X, y = some_table()
    with pytest.raises(ValueError, match="group"):
        DTsbeSelector(error=error).fit(X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="inconsistent"):
        DTsbeSelector(error=error).fit(X, y, groups=[1, 2, 3])


@pytest.mark.parametrize("error", ["training", "pessimistic", "bootstrap", len])
def test_groups_where_no_rows_are_split(error):
    X, y = some_table()
    with pytest.raises(ValueError, match="groups are not supported with error=('|a function)"):
        DTsbeSelector(error=error).fit(X, y, groups=y)


def test_two_groups_make_two_folds():
    request = EstimateRequest(np.arange(12) % 2, np.ones(12), groups=np.arange(12) // 6)
    assert len(CrossValidationError()._make_parts(request)) == 2


def test_a_splitter_that_has_been_changed_is_another_one():
    X, y = some_table()
    cv = StratifiedKFold(3)
    selector = AcceptableSubsetSelector(error=CrossValidationError(cv), warm_start=True).fit(X, y)
    cv.n_splits = 7
    anew = AcceptableSubsetSelector(error=CrossValidationError(StratifiedKFold(7))).fit(X, y)
    assert selector.fit(X, y).error_ == anew.error_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 1, "min_features": 2}, "below min_features=2"),
        ({"n_features_to_select": 7}, "n_features_to_select=7, but X has 6 features"),
        ({"min_features": 7}, "min_features=7, but X has 6 features"),
        ({"error": SearchError(1e-9)}, "cannot be split into rows"),
        ({"error": lambda tree: 1e10}, "error returned 10000000000.0; a finite"),
        ({"error": lambda tree: "low"}, "error returned 'low', not a number"),
    ],
)
def test_eliminations_that_cannot_be_meant(options, message):
    X, y = some_table()
    with pytest.raises((ValueError, TypeError), match=message):
        DTsbeSelector(**options).fit(X, y)


def test_features_to_keep_are_for_on_demand():
    with pytest.raises(ValueError, match="features_to_keep"):
        AcceptableSubsetSelector(method="dtaccept", features_to_keep=[0]).fit(*some_table())


def test_a_tie_goes_on_or_stops():
    # Both columns are the label: removing either of them is a tie.
    X = np.repeat([[0, 0], [1, 1]], 10, axis=0)
    y = X[:, 0]
    on = DTsbeSelector(error="training").fit(X, y)
    stop = DTsbeSelector(error="training", on_tie="stop").fit(X, y)
    assert on.error_ == stop.error_ == 0.0
    assert [step["features"].tolist() for step in stop.history_] == [[0]]
    assert [step["removed"].tolist() for step in on.history_] == [[], [1]]
    assert on.ranking_.tolist() == [1, 2]


def test_the_history_counts_every_tree():
    X, y = some_table(8)
    fast, used, black = (
        DTsbeSelector(method=method, error=SPLIT).fit(X, y) for method in ("dtsbe", "psbe", "sbe")
    )
    assert fast.ranking_.tolist() == used.ranking_.tolist() == black.ranking_.tolist()
    counts = ("built", "given_up", "unused", "unchanged")
    left = 8
    for before, *steps in itertools.pairwise(
        zip(fast.history_, used.history_, black.history_, strict=True)
    ):
        (of_fast, of_used, of_black) = steps[0]
        assert of_black["built"] == left
        for step in (of_fast, of_used):
            assert sum(step[name] for name in counts) == left
        assert of_used["built"] == len(before[0]["features"])
        left -= len(of_fast["removed"])


def test_fewer_features_than_asked_for_are_not_selected():
    X, y = some_table(8)
    selector = DTsbeSelector(error=SPLIT, min_features=4).fit(X, y)
    assert selector.n_features_ >= 4
    path = DTsbeSelector(error=SPLIT, n_features_to_select=2).fit(X, y)
    assert path.n_features_ <= 2
    assert path.history_[-2]["features"].size > 2


def test_class_weights_are_weights():
    X, y = some_table()
    weights = np.where(y == 1, 3.0, 1.0)
    tree = GreedyTreeClassifier(class_weight={1: 3.0})
    by_class = AcceptableSubsetSelector(tree, error=SPLIT).fit(X, y)
    by_row = AcceptableSubsetSelector(error=SPLIT).fit(X, y, weights)
    assert by_class.error_ == by_row.error_
    assert by_class.error_ == pytest.approx(
        min(errors_of_subsets(X, y, sample_weight=weights).values())
    )


def test_a_callable_is_held_against_all_subsets():
    X, y = some_table(5)

    def error(tree):
        return float(np.mean(tree.predict(X) != y)) + 0.01 * tree.get_n_leaves()

    best = AcceptableSubsetSelector(error=error).fit(X, y)
    rated = []
    for size in range(6):
        for subset in itertools.combinations(range(5), size):
            masked = np.zeros_like(X)
            masked[:, subset] = X[:, subset]
            rated.append(error(best.tree_on(subset, X, y)))
    assert best.error_ == pytest.approx(min(rated))


@pytest.mark.parametrize("is_regression", [False, True])
def test_a_scorer_is_held_against_all_subsets(is_regression):
    X, y = some_table(5)
    weights = 1.0 + np.arange(len(y)) % 2
    scoring, tree = "roc_auc", GreedyTreeClassifier()
    if is_regression:
        # Squared errors far above 2**20.
        scoring, tree, y = "neg_mean_squared_error", GreedyTreeRegressor(), 1e5 * y + 1e4 * X[:, 0]
    folds = [(np.arange(k, len(y), 2), np.arange(1 - k, len(y), 2)) for k in range(2)]
    options = {"error": CrossValidationError(cv=folds), "scoring": scoring}
    best = AcceptableSubsetSelector(tree, collect=True, delta=1e12, **options)
    best.fit(X, y, sample_weight=weights)
    every = DistinctTreeEnumerator(tree, **options).fit(X, y, sample_weight=weights)
    steps = DTsbeSelector(tree, n_features_to_select=0, **options).fit(X, y, sample_weight=weights)
    errors = {}
    for size in range(6):
        for subset in itertools.combinations(range(5), size):
            scores = []
            for build, search in folds:
                one = best.tree_on(subset, X[build], y[build], weights[build])
                scores.append(
                    get_scorer(scoring)(one, X[search], y[search], sample_weight=weights[search])
                )
            errors[subset] = -np.mean(scores)
    assert best.status_ == "optimal"
    assert AcceptableSubsetSelector(tree, **options).fit(X, y, weights).error_ == pytest.approx(
        min(errors.values())
    )
    for results in (best.cv_results_, every.cv_results_):
        # Distinct trees use all their features: the best of a size may be that of a smaller one.
        least = np.minimum.accumulate(-results["mean_test_score"])
        assert least[-1] == pytest.approx(min(errors.values()))
        for mask, error in zip(results["support"], results["mean_test_score"], strict=True):
            assert -error == pytest.approx(errors[tuple(np.flatnonzero(mask).tolist())])
    for step in steps.history_:
        assert step["error"] == pytest.approx(errors[tuple(step["features"].tolist())])
    assert steps.cv_results_["n_features"].tolist() == sorted(
        {len(step["features"]) for step in steps.history_}
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": "pessimistic"}, "scoring is not supported with error='pessimistic'"),
        ({"error": "bootstrap"}, "scoring is not supported with error='bootstrap'"),
        ({"error": lambda tree: 0.0}, "scoring is not supported with error=a function"),
        ({"loss": "squared_error"}, "loss='squared_error' is not supported together with scoring"),
        ({"scoring": "exactness"}, "The 'scoring' parameter"),
        ({"scoring": lambda *rows: np.nan}, "gave nan; a finite number is needed"),
        ({"error": CrossValidationError(cv=[([0, 0, 1, 2, 3], [4, 5])])}, "a cv that repeats rows"),
    ],
)
def test_what_cannot_be_scored_is_refused(options, message):
    X, y = some_table()
    for search in (DTsbeSelector, AcceptableSubsetSelector, DistinctTreeEnumerator):
        with pytest.raises(ValueError, match=message):
            search(**{"scoring": "accuracy", **options}).fit(X, y)


def test_a_small_memory_limit_gives_the_best_so_far():
    X, y = load_breast_cancer(return_X_y=True)
    options = {"error": "cross_validation", "random_state": 0}
    selector = AcceptableSubsetSelector(memory_limit="200kB", **options)
    with pytest.warns(UserWarning, match="memory_limit"):
        selector.fit(X, y)
    assert selector.status_ == "memory_limit"
    assert selector.objective_ < 0.2
    # Where not even one tree was rated, nothing is said about errors.
    selector.set_params(memory_limit=20_000, collect=True)
    with pytest.warns(UserWarning, match="memory_limit"):
        selector.fit(X, y)
    assert np.isnan(selector.error_)
    assert selector.lower_bound_ == 0.0 < selector.gap_ == np.inf
    assert selector.acceptable_subsets_ == []
    assert selector.support_.all()


def test_the_peak_of_the_black_box_is_that_of_a_tree():
    X, y = some_table()
    black = DTsbeSelector(method="sbe", error=SPLIT).fit(X, y)
    fast = DTsbeSelector(error=SPLIT).fit(X, y)
    assert 0 < black.search_stats_["peak_bytes"] < 10 * fast.search_stats_["peak_bytes"]
