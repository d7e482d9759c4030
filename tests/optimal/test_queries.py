"""Rankings and paths, against brute force."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt import SmallestTreeClassifier
from sktree_opt.optimal.bits._bit_engine import BitEngine
from sktree_opt.optimal.objectives._for_data import class_objective
from sktree_opt.optimal.run._bits_solver import BitsSolver
from sktree_opt.optimal.run._problem import Limits, Problem
from sktree_opt.optimal.run.queries._path import lower_hull, solve_path
from sktree_opt.optimal.run.queries._rankings import best_by_ranking, check_ranking
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.optimal.common import new_session, training_data
from tests.optimal.test_set_search import kernel_objective, problems
from tests.reference.brute_force_queries import first_by_ranking, least_costs

RANKINGS = [("error", "size"), ("size", "error"), *permutations(("error", "size", "depth"))]


def error_of(rows, n_classes):
    weights = np.zeros(n_classes)
    for _, label, weight in rows:
        weights[label] += weight
    return weights.sum() - weights.max()


def engine_of(problem, control):
    matrix = problem["matrix"]
    bits = np.zeros((len(matrix), 4), dtype=np.uint8)
    packed = np.packbits(matrix, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    objective = kernel_objective("error", problem["n_classes"])
    return BitEngine(
        bits,
        matrix.shape[1],
        problem["classes"].astype(np.int32),
        problem["weights"],
        objective,
        control,
        min_samples_leaf=problem["min_rows"],
        min_weight_leaf=problem["min_weight"],
    )


def solver_of(problem, split_cost=0.0):
    data = training_data(
        problem["matrix"], problem["classes"], problem["weights"], problem["n_classes"]
    )
    limits = Limits(problem["max_depth"], problem["max_splits"])
    asked = Problem(data, class_objective("error", data), limits)
    session = new_session(limits)
    tests = BinaryTests.from_matrix(data.matrix, data.encoder.n_categories_)
    return BitsSolver(asked, tests, session, engine_of(problem, session.control), split_cost)


def all_costs(problem, split_cost=0.0):
    rows = list(
        zip(
            map(tuple, problem["matrix"].tolist()),
            problem["classes"].tolist(),
            problem["weights"].tolist(),
            strict=True,
        )
    )
    return least_costs(
        rows,
        problem["max_depth"],
        lambda rows: (
            len(rows) >= problem["min_rows"]
            and sum(row[2] for row in rows) >= problem["min_weight"]
        ),
        lambda rows: error_of(rows, problem["n_classes"]),
        split_cost,
    )


def depth_of(nodes, at=0):
    column, first, second = nodes[at]
    return 0 if column < 0 else 1 + max(depth_of(nodes, first), depth_of(nodes, second))


@examples(300)
@given(
    problem=problems(),
    ranking=st.sampled_from(RANKINGS),
    max_error=st.sampled_from([0.0, 1.0, 3.0, 8.0, np.inf]),
    split_cost=st.sampled_from([0.0, 0.25]),
)
def test_ranking_picks_the_first_of_all_trees(problem, ranking, max_error, split_cost):
    costs = all_costs(problem, split_cost)
    assume(costs)
    expected = first_by_ranking(costs, ranking, problem["max_splits"], max_error)
    solver = solver_of(problem, split_cost)
    answer = best_by_ranking(
        solver, ranking, problem["max_depth"], problem["max_splits"], max_error
    )
    found = answer
    if answer is not None:
        of = {"error": answer.cost, "size": answer.n_splits, "depth": depth_of(answer.nodes)}
        found = tuple(of[name] for name in ranking)
    # Where costs are no whole numbers, each test costs a rounding error more, which settles ties.
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected, abs=1e-9)


@examples(300)
@given(problem=problems(), split_cost=st.sampled_from([0.0, 0.25, 1.0, 1 / 3]))
def test_ties_fall_to_the_fewest_splits(problem, split_cost):
    costs = all_costs(problem, split_cost)
    assume(costs)
    engine = engine_of(problem, SearchControl())
    max_splits = min(problem["max_splits"], 2 ** problem["max_depth"] - 1)
    engine.begin(problem["max_depth"], max_splits, split_cost)
    for depth in range(3, problem["max_depth"] + 1):
        engine.deepen(depth)
    cost, n_splits = first_by_ranking(costs, ("error", "size"), max_splits, np.inf)
    nodes = engine.tree()
    assert engine.cost == pytest.approx(cost, abs=1e-9)
    if abs(split_cost - 1 / 3) > 1e-9:  # else equal sums may differ by rounding
        assert np.count_nonzero(nodes[:, 0] >= 0) == n_splits


@examples(300)
@given(problem=problems())
def test_path_holds_the_optimum_of_every_depth_and_size(problem):
    costs = all_costs(problem)
    assume(costs)
    solver = solver_of(problem)
    path = solve_path(solver, problem["max_depth"], problem["max_splits"])
    assert path.is_proved
    for (depth, splits), cost in np.ndenumerate(path.costs):
        assert cost == min(c for (n, d), c in costs.items() if n <= splits and d <= depth)
        answer = path.answers[path.tree_index[depth, splits]]
        assert answer.cost == cost
        assert answer.n_splits <= splits
        assert depth_of(answer.nodes) <= depth


@given(costs=st.lists(st.integers(0, 20), min_size=1, max_size=15))
def test_hull_is_best_for_every_cost_of_a_split(costs):
    costs = np.minimum.accumulate(np.array(costs, dtype=float))
    n_splits, split_costs = lower_hull(costs)
    assert split_costs[0] == 0.0
    assert (np.diff(split_costs) > 0).all()
    for split_cost in np.linspace(0.0, 25.0, 101):
        totals = costs + split_cost * np.arange(len(costs))
        corner = np.searchsorted(split_costs, split_cost, side="right") - 1
        assert totals[n_splits[corner]] == pytest.approx(totals.min())


@pytest.mark.parametrize(
    "ranking", [("error",), ("error", "depth"), ("error", "size", "size"), ("error", "size", "x")]
)
def test_rankings_that_are_refused(ranking):
    with pytest.raises(ValueError, match="ranking must contain"):
        check_ranking(ranking, None)


@pytest.mark.parametrize("seed", [0, 13, 50])
def test_a_later_criterion_keeps_what_an_earlier_one_reached(seed):
    # Of these tables, a tree with one test more has one level less.
    random = np.random.default_rng(seed)
    X = random.random((random.integers(8, 30), 4)) < 0.5
    y = random.integers(0, 2, len(X))
    smallest = SmallestTreeClassifier(max_depth=4, ranking=("error", "size")).fit(X, y)
    lowest = SmallestTreeClassifier(max_depth=4, ranking=("error", "size", "depth")).fit(X, y)
    assert lowest.get_n_leaves() == smallest.get_n_leaves() == 6
    flattest = SmallestTreeClassifier(max_depth=4, ranking=("error", "depth", "size")).fit(X, y)
    assert (flattest.get_depth(), flattest.get_n_leaves()) == (3, 7)
    # Without a limit on the errors, a single leaf is the smallest tree.
    least = SmallestTreeClassifier(max_depth=4, ranking=("size", "pessimistic_error")).fit(X, y)
    assert least.get_n_leaves() == 1
