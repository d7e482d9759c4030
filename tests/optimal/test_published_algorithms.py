"""DL8 and MurTree as published, in the plain Python of ``benchmarks/published``."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.reference.brute_force_queries import least_costs

FOLDER = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs a checkout of the project")

CACHES = ("dataset", "branch")
COLUMNS = ("in order", "gini", "random")
NODES = ("dynamic", "post-order")


@pytest.fixture(scope="module")
def dl8():
    return import_published("dl8_algorithm")


@pytest.fixture(scope="module")
def murtree():
    return import_published("murtree_algorithm")


def import_published(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        return importlib.import_module(f"published.{name}")


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, k = draw(st.integers(2, 24)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    return rng.integers(0, 2, (n, m)).tolist(), rng.integers(0, k, n).tolist()


def costs_of(X, y, depth, min_rows=1):
    rows = list(zip(map(tuple, X), y, strict=True))

    def errors(part):
        labels = [label for _, label in part]
        return len(labels) - max(map(labels.count, set(labels)))

    return least_costs(rows, depth, lambda part: len(part) >= min_rows, errors)


@examples(100)
@given(tables(), st.integers(1, 4), st.data())
def test_all_variants_of_dl8_find_the_first_tree(dl8, table, min_rows, data):
    X, y = table
    min_rows = min(min_rows, len(y))
    costs = costs_of(X, y, len(X[0]), min_rows)
    most_tests, most_depth = data.draw(st.sampled_from([(dl8.INFINITY, dl8.INFINITY), (3, 2)]))
    ranking = data.draw(
        st.sampled_from(
            [("error", "size")]
            if most_tests > 3
            else [("error", "size"), ("error", "depth", "size"), ("size", "error")]
        )
    )
    max_error = data.draw(st.sampled_from([dl8.INFINITY, *sorted(set(costs.values()))]))
    trees = [
        {"error": error, "size": 2 * n_tests + 1, "depth": depth}
        for (n_tests, depth), error in costs.items()
        if n_tests <= most_tests and depth <= most_depth and error <= max_error
    ]
    expected = min((tuple(tree[name] for name in ranking) for tree in trees), default=None)
    n_stored = {}
    for variant in dl8.VARIANTS.values():
        tree, n_stored[variant] = dl8.search(
            X, y, min_rows, variant, ranking, 2 * most_tests + 1, most_depth, max_error
        )
        assert (None if tree is None else tree.rank(ranking)) == expected, variant
    # Theorem 1: DL8-Simple stores the relevant itemsets.
    assert n_stored["simple"] == n_stored["apriori"] == n_stored["eclat"] <= n_stored["frequent"]
    assert n_stored["closed"] <= n_stored["simple"]


@examples(100)
@given(
    tables(),
    st.integers(1, 4),
    st.sampled_from(CACHES),
    st.sampled_from(COLUMNS),
    st.sampled_from(NODES),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_murtree_as_published_finds_the_least_error(
    murtree, table, depth, cache, columns, nodes, incremental, similarity, inference, random
):
    X, y = table
    costs = costs_of(X, y, depth)
    search = murtree.MurTree(
        X,
        y,
        cache=cache,
        columns=columns,
        nodes=nodes,
        incremental=incremental,
        similarity=similarity,
        inference=inference,
    )
    limits = [(d, n) for d in range(depth + 1) for n in range(2**depth)]
    random.shuffle(limits)
    for d, n in limits:
        least = min(cost for (used, deep), cost in costs.items() if used <= n and deep <= d)
        assert search.least_error(d, n) == least, (d, n)
        tree = search.tree(d, n)
        assert n_tests(tree) <= n
        assert depth_of(tree) <= d
        assert sum(answer(tree, row) != label for row, label in zip(X, y, strict=True)) == least
    # Proposition 11 and equation 17: no bound is above an optimum.
    for known in (search.bounds[search.all_rows], search.bounds[frozenset()]):
        for (d, n), bound in known.items():
            assert bound <= min(c for (used, deep), c in costs.items() if used <= n and deep <= d)


def answer(tree, row):
    while isinstance(tree, tuple):
        tree = tree[1 + row[tree[0]]]
    return tree


def n_tests(tree):
    return 1 + n_tests(tree[1]) + n_tests(tree[2]) if isinstance(tree, tuple) else 0


def depth_of(tree):
    return 1 + max(depth_of(tree[1]), depth_of(tree[2])) if isinstance(tree, tuple) else 0


def test_what_the_techniques_of_murtree_save(murtree):
    """The counts that the paper's tables are about, on a table with many similar columns."""
    rng = np.random.default_rng(0)
    X = (rng.random((120, 1)) * 10 > np.arange(10) + rng.random((120, 10)) * 3).astype(int)
    y = (X[:, 2] ^ X[:, 7]) | (rng.random(120) < 0.2)

    def run(**options):
        search = murtree.MurTree(X, y, **options)
        errors = [search.least_error(4, n) for n in range(1, 16)]
        return errors, search

    errors, search = run()
    for options in ({"cache": "branch"}, {"incremental": False}, {"inference": False}):
        others, other = run(**options)
        assert others == errors
        if "cache" in options:
            assert other.n_entries > search.n_entries
        elif "incremental" in options:
            assert other.n_counted_rows > search.n_counted_rows
        elif "inference" in options:
            assert other.n_solved > search.n_solved
    with pytest.raises(murtree.StoppedError):
        run(seconds=0.0)


def test_dl8_stops(dl8):
    for variant in dl8.VARIANTS.values():
        with pytest.raises(dl8.StoppedError):
            dl8.search([[0, 1], [1, 0]], [0, 1], 1, variant, seconds=-1.0)
