"""The three estimators as a user meets them."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    subsets,
)
from sktree_opt.subset.errors import ERROR_ESTIMATES
from sktree_opt.utils._control import SearchControl
from tests.processes import interrupt_after, needs_sigint

ALL = [AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector]


@pytest.mark.parametrize("n", range(7))
def test_subsets_count_backwards(n):
    numbers = range(2**n - 1, -1, -1)
    expected = [tuple(i for i in range(n) if k >> (n - 1 - i) & 1) for k in numbers]
    assert list(subsets(n)) == expected


def test_subsets_between_two_sets_in_any_order():
    expected = sorted(tuple(sorted((7, *some))) for some in subsets(4))
    rng = np.random.default_rng(0)
    shuffled = list(subsets(4, [7], order=lambda R, S: rng.permutation(S).tolist()))
    assert sorted(shuffled) == sorted(subsets(range(4), [7])) == expected
    assert shuffled[0] == expected[0]
    with pytest.raises(ValueError, match=r"order must return the elements of \(0, 1\), got \(0,\)"):
        list(subsets(2, order=lambda R, S: S[:1]))
    with pytest.raises(ValueError, match="must name each element once"):
        list(subsets(2, [1]))


@pytest.mark.parametrize("error", ERROR_ESTIMATES)
def test_complete_search_is_never_worse_than_elimination(error):
    X, y = load_iris(return_X_y=True)
    some = DTsbeSelector(error=error, random_state=0).fit(X, y)
    best = AcceptableSubsetSelector(error=error, random_state=0).fit(X, y)
    assert best.status_ == "optimal"
    assert best.gap_ == 0.0
    assert best.error_ <= some.error_ <= some.history_[0]["error"]


def test_callable_error_rates_fitted_trees():
    X, y = load_iris(return_X_y=True)
    rated = []

    def error(tree):
        rated.append(tuple(tree.tree_.features))
        return 1.0 - tree.score(X, y)

    by_hand = AcceptableSubsetSelector(error=error).fit(X, y)
    assert by_hand.error_ == pytest.approx(
        AcceptableSubsetSelector(error="training").fit(X, y).error_
    )
    assert len(rated) == len(set(rated))


def test_what_a_callable_raises_is_raised():
    def error(tree):
        raise RuntimeError("no such luck")

    for estimator in (DTsbeSelector, AcceptableSubsetSelector):
        with pytest.raises(RuntimeError, match="no such luck"):
            estimator(error=error).fit(*load_iris(return_X_y=True))


def test_methods_of_the_enumerator_agree():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    on_demand = DistinctTreeEnumerator(max_trees=5).fit(X, y)
    paper = DistinctTreeEnumerator(method="dtdistinct", max_trees=5).fit(X, y)
    assert on_demand.overhead_ == 1.0 <= paper.overhead_
    assert on_demand.n_distinct_by_size_.tolist() == paper.n_distinct_by_size_.tolist()
    assert list(map(tuple, on_demand.supports_)) == list(map(tuple, paper.supports_))
    assert paper.max_alive_trees_ <= 9


def test_iter_trees_yields_the_trees_that_use_the_features():
    X, y = load_iris(return_X_y=True)
    enumerator = DistinctTreeEnumerator()
    seen = 0
    for features, tree in enumerator.iter_trees(X, y):
        assert tree.tree_.features.tolist() == features.tolist()
        seen += 1
    assert seen == DistinctTreeEnumerator().fit(X, y).n_distinct_


def test_collected_subsets_hold_their_error():
    X, y = load_iris(return_X_y=True)
    selector = AcceptableSubsetSelector(delta=0.1, collect=True, error="training").fit(X, y)
    for entry in selector.acceptable_subsets_:
        tree = selector.tree_on(entry["features"], X, y)
        assert 1.0 - tree.score(X, y) == pytest.approx(entry["error"])
    assert len(selector.acceptable_subsets_) > 1


def test_time_limit_gives_the_best_so_far():
    X, y = load_breast_cancer(return_X_y=True)
    selector = AcceptableSubsetSelector(time_limit=0.2, error="cross_validation")
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        selector.fit(X, y)
    assert selector.status_ == "time_limit"


@pytest.mark.parametrize("estimator", ALL)
def test_refused_parameters(estimator):
    X, y = load_iris(return_X_y=True)
    for parameters in ({"max_leaf_nodes": 4}, {"pruning": "reduced_error"}, {"max_features": 2}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            estimator(GreedyTreeClassifier(**parameters)).fit(X, y)


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_useful_selects_nothing():
    X, y = np.zeros((20, 3)), np.arange(20) % 2
    for estimator in ALL:
        fitted = estimator(random_state=0).fit(X, y)
        assert fitted.tree_.n_nodes == 1
    assert DTsbeSelector(random_state=0).fit_transform(X, y).shape == (20, 0)


def test_search_over_delta():
    X, y = load_iris(return_X_y=True)
    selector = AcceptableSubsetSelector(random_state=0)
    search = GridSearchCV(selector, {"delta": [0.0, 0.05]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert make_pipeline(DTsbeSelector(random_state=0), GreedyTreeClassifier()).fit(X, y)


@pytest.mark.parametrize("selector", [AcceptableSubsetSelector, DTsbeSelector])
def test_groups_are_kept_or_dropped_together(selector):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :10]
    groups = [["mean radius", "mean area"], [5, 6, 7]]
    fitted = selector(feature_groups=groups, random_state=0).fit(X, y)
    assert fitted.support_[0] == fitted.support_[3]
    assert len(set(fitted.support_[5:8])) == 1
    alone = selector(random_state=0).fit(X, y)
    with_groups = selector(feature_groups=[[j] for j in range(10)], random_state=0).fit(X, y)
    assert with_groups.support_.tolist() == alone.support_.tolist()


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ([[0, 1], [1, 2]], ValueError),
        ([[0, 0]], ValueError),
        ([[0, 4]], ValueError),
        ([["a", "b"]], ValueError),
        (["ab"], TypeError),
        ([3], TypeError),
    ],
)
def test_groups_that_are_none(groups, error):
    with pytest.raises(error, match="feature_groups"):
        DTsbeSelector(feature_groups=groups).fit(*load_iris(return_X_y=True))


def test_methods_find_the_same_groups():
    X, y = load_breast_cancer(return_X_y=True)
    groups = [[0, 1], [2, 3, 4], [8, 9]]
    errors = {
        AcceptableSubsetSelector(method=method, feature_groups=groups, random_state=0)
        .fit(X[:, :10], y)
        .error_
        for method in ("on_demand", "dtaccept")
    }
    assert len(errors) == 1


@pytest.mark.parametrize("criterion", ["gini_cost", "information_gain"])
def test_errors_with_a_cost_matrix_are_mean_costs(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    X, costs = X[:, :5], np.array([[0.0, 1.0], [5.5, 0.0]])
    learner = GreedyTreeClassifier(criterion=criterion, cost_matrix=costs, min_samples_leaf=20)
    best = AcceptableSubsetSelector(learner, error="training").fit(X, y)
    some = DTsbeSelector(learner, error="training").fit(X, y)
    for fitted in (best, some):
        assert fitted.error_ == pytest.approx(costs[y, fitted.predict(X)].mean())
    assert best.error_ <= some.error_
    with pytest.raises(ValueError, match="pessimistic"):
        DTsbeSelector(learner, error="pessimistic").fit(X, y)


def test_warm_start_goes_on_where_a_limit_ended_the_search():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :9]
    options = {"random_state": 0, "error": "cross_validation"}
    whole = AcceptableSubsetSelector(**options).fit(X, y)
    selector = AcceptableSubsetSelector(**options, warm_start=True, time_limit=0.02)
    bounds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while selector.fit(X, y).status_ != "optimal":
            bounds.append(selector.lower_bound_)
            selector = pickle.loads(pickle.dumps(selector))
            # Limits may grow; the problem is the same.
            selector.set_params(time_limit=2 * selector.time_limit)
    assert bounds == sorted(bounds)
    assert selector.error_ == whole.error_
    assert selector.n_features_ == whole.n_features_
    again = selector.fit(X, y)
    assert again.search_stats_["n_decisions"] == 0
    assert again.error_ == whole.error_
    other = selector.set_params(time_limit=None).fit(X[:300], y[:300])
    assert other.error_ == AcceptableSubsetSelector(**options).fit(X[:300], y[:300]).error_


@pytest.mark.parametrize(
    "change",
    [
        {"error": CrossValidationError(2)},
        {"error": CrossValidationError(StratifiedKFold(2))},
        {"error": "training"},
        {"error": lambda tree: 1.0 / tree.get_n_leaves()},
        {"delta": 0.1},
        {"estimator": GreedyTreeClassifier(max_depth=1)},
    ],
)
def test_warm_start_of_another_problem_starts_afresh(change):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    options = {"random_state": 0, "error": CrossValidationError(5)}
    selector = AcceptableSubsetSelector(**options, warm_start=True).fit(X, y)
    other = AcceptableSubsetSelector(**{**options, **change}).fit(X, y)
    selector.set_params(**change).fit(X, y)
    assert selector.error_ == other.error_
    assert selector.search_stats_["n_decisions"] == other.search_stats_["n_decisions"]
    again = selector.fit(X, y)
    assert again.search_stats_["n_decisions"] == 0
    assert again.error_ == other.error_


def test_warm_start_is_for_on_demand():
    with pytest.raises(ValueError, match="warm_start"):
        AcceptableSubsetSelector(method="dtaccept", warm_start=True).fit([[0], [1]] * 5, [0, 1] * 5)


@pytest.mark.parametrize("estimator", ALL)
def test_any_number_of_threads(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :9]
    fitted = [estimator(random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 5)]
    for other in fitted[1:]:
        for name in ("tree_", "n_distinct_", "history_", "lower_bound_"):
            if hasattr(other, name) and name != "tree_":
                np.testing.assert_equal(getattr(other, name), getattr(fitted[0], name))
        np.testing.assert_equal(other.tree_.features, fitted[0].tree_.features)


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [1.0], [0.0], [1.0]] * 3, [0, 1, 0, 1] * 3),  # one feature, kept
        ([[0.0], [1.0]] * 4, ["a"] * 8),  # one class
        ([[np.nan, 1.0]] * 6, [0, 1] * 3),  # constant columns only
        (np.eye(7), [0, 0, 0, 0, 0, 0, 1]),  # one class is in one part only
    ],
)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_small_tables(estimator, X, y):
    fitted = estimator(random_state=0).fit(X, y)
    assert fitted.predict(X).shape == (len(y),)
    if hasattr(fitted, "support_"):
        assert fitted.transform(X).shape == (len(y), fitted.n_features_)


def test_all_features_may_be_kept():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4)
    y = X[:, 0] + 2 * X[:, 1] + 4 * X[:, 2]
    for selector in (AcceptableSubsetSelector, DTsbeSelector):
        assert selector(error="training").fit(X, y).support_.all()


def test_many_sparse_columns():
    rng = np.random.RandomState(0)
    X = sparse.random(100, 20000, density=0.005, format="csr", random_state=rng)
    y = np.asarray((X[:, :40].sum(axis=1) > 0).ravel()).astype(int)[0]
    selector = DTsbeSelector(error="training", n_features_to_select=3).fit(X, y)
    assert 0 < selector.n_features_ <= 3
    assert sparse.issparse(selector.transform(X))


@needs_sigint
def test_ctrl_c_while_the_last_tree_takes_long():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 30)), rng.integers(0, 2, 20000)
    model = DistinctTreeEnumerator(time_limit=None)
    assert interrupt_after(0.3, lambda: model.fit(X, y))
    assert not hasattr(model, "status_") or model.status_ == "stopped"


@needs_sigint
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_at_any_moment(n_jobs, global_random_seed):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :9]
    options = {"error": CrossValidationError(3), "random_state": 0, "time_limit": None}
    best = AcceptableSubsetSelector(**options).fit(X, y).error_
    rng = np.random.default_rng(global_random_seed)
    for delay in rng.uniform(0.0, 0.3, size=6):
        for estimator in ALL:
            model = estimator(**options, n_jobs=n_jobs)
            if estimator is AcceptableSubsetSelector:
                model.set_params(collect=True, delta=0.01, warm_start=True)
            is_interrupted = interrupt_after(delay, lambda model=model: model.fit(X, y))
            if not hasattr(model, "tree_"):
                # The signal came before there was a search.
                assert is_interrupted
                assert not hasattr(model, "n_features_in_")
                continue
            assert model.status_ in ("stopped", "optimal")
            assert model.predict(X).shape == y.shape
            if estimator is not AcceptableSubsetSelector:
                continue
            assert model.lower_bound_ <= best + 1e-12
            assert not model.error_ < best - 1e-12
            assert model.collect_status_ in ("stopped", "optimal")
            assert model.fit(X, y).error_ <= best + 0.01 + 1e-12
            assert model.collect_status_ == model.status_ == "optimal"


@pytest.mark.parametrize("selector", [DTsbeSelector, AcceptableSubsetSelector])
@pytest.mark.filterwarnings("ignore:The search stopped at time_limit")
def test_the_time_limit_ends_the_growing_of_the_last_tree(selector):
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(20_000, 100)), rng.randint(2, size=20_000)
    fitted = selector(time_limit=1e-6).fit(X, y)
    assert fitted.status_ == "time_limit"
    # A whole tree, without pruning, makes no errors.
    assert fitted.score(X, y) < 0.9


def test_a_limited_search_keeps_the_tree_of_its_subset():
    X, y = load_breast_cancer(return_X_y=True)
    supports = []
    for time_limit in (None, 1000.0):
        selector = AcceptableSubsetSelector(random_state=0, time_limit=time_limit).fit(X, y)
        alone = selector.tree_on(np.flatnonzero(selector.support_), X, y)
        assert selector.tree_.n_leaves == alone.tree_.n_leaves
        assert (selector.predict(X) == alone.predict(X)).all()
        supports.append(selector.support_.tolist())
    assert supports[0] == supports[1]


def test_time_that_is_kept_back():
    assert SearchControl().seconds_left == float("inf")
    control = SearchControl(time_limit=1000.0)
    control.keep_back(900.0)
    assert 50.0 < control.seconds_left <= 100.0
    control.keep_back(900.0)
    assert control.poll()
    assert control.status == "time_limit"
    without = SearchControl()
    without.keep_back(1.0)
    assert not without.poll()


def test_no_threads_are_none():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="n_jobs=0"):
        DTsbeSelector(n_jobs=0).fit(X, y)
