"""Complete searches on the workers of a dask cluster."""

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from sktree_opt.subset import AcceptableSubsetSelector, BootstrapError, DistinctTreeEnumerator

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :10], y


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_best_subset_is_that_of_one_machine(cluster, data, delta):
    selector = AcceptableSubsetSelector(error="cross_validation", delta=delta, random_state=0)
    here = selector.fit(*data)
    support, error, stats = here.support_, here.error_, here.search_stats_
    with joblib.parallel_config("dask"):
        there = selector.fit(*data)
    assert there.support_.tolist() == support.tolist()
    assert there.error_ == error
    assert there.status_ == "optimal"
    assert there.search_stats_["n_decisions"] == stats["n_decisions"]


def test_the_distinct_trees_are_those_of_one_machine(cluster, data):
    X, y = data
    here = DistinctTreeEnumerator(max_trees=3).fit(X, y)
    with joblib.parallel_config("dask"):
        there = DistinctTreeEnumerator(max_trees=3).fit(X, y)
    assert there.n_distinct_by_size_.tolist() == here.n_distinct_by_size_.tolist()
    for ours, theirs in zip(here.supports_, there.supports_, strict=True):
        np.testing.assert_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:The search stopped at time_limit")
def test_a_limit_ends_the_search_on_all_workers(cluster, data):
    selector = AcceptableSubsetSelector(error=BootstrapError(40), time_limit=0.3, random_state=0)
    with joblib.parallel_config("dask"):
        selector.fit(*data)
    assert selector.status_ == "time_limit"
    assert selector.gap_ > 0.0
