"""C4.5's estimate of the error, over all subsets."""

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.stats import norm

from sktree_opt.subset.complete._streams import DistinctStream, OnDemandStream
from sktree_opt.subset.elimination._backward import eliminate
from sktree_opt.subset.errors._parts import EstimatePart
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.reference.brute_force_subsets import all_subsets
from tests.reference.naive_pruning import estimate
from tests.subset.cases import cases

CONFIDENCE = 0.25


def estimates_of(case):
    """By the features that DT(S) uses: what is feared of it, for a weight of 1."""
    naive, found = case.naive(), {}
    rows, weights = case.parts[0].build_rows.tolist(), case.parts[0].build_weights.tolist()
    for subset in all_subsets(len(case.nominal)):
        tree = case.grow(subset)[0]
        feared = estimate(
            naive,
            tree,
            list(zip(rows, weights, strict=True)),
            CONFIDENCE,
            norm.ppf(1 - CONFIDENCE),
        )
        found[tuple(sorted(tree.columns()))] = feared / sum(weights)
    return found


@examples(100)
@given(cases(max_columns=5))
def test_the_least_feared_error(case):
    assume(case.costs is None)
    n = len(case.y)
    weights = np.ones(n)
    weights[case.parts[0].build_rows] = case.parts[0].build_weights
    case.parts = [EstimatePart(np.arange(n), weights, np.arange(n), weights)]
    expected = estimates_of(case)
    problem = case.problem(confidence=CONFIDENCE)
    every = list(OnDemandStream(problem, SearchControl()))
    assert {tuple(features) for features, _, _ in every} == set(expected)
    for features, cost, _ in every:
        assert problem.to_error(cost) == pytest.approx(expected[tuple(features)])
    least = pytest.approx(min(expected.values()))
    for stream in (
        OnDemandStream(problem, SearchControl(), only_best=True),
        DistinctStream(problem, SearchControl(), accepts=True),
    ):
        *_, (_, cost, _) = stream
        assert problem.to_error(cost) == least
    for method in ("dtsbe", "sbe"):
        steps, _ = eliminate(problem, SearchControl(), method=method)
        for step in steps:
            feared = expected[tuple(step["features"].tolist())]
            assert problem.to_error(step["cost"]) == pytest.approx(feared)
