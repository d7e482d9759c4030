"""The search gives one optimum, whatever techniques, instructions and threads it uses."""

import numpy as np
import pytest

from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.optimal.run._bits_solver import make_engine
from sktree_opt.optimal.run._trees import tree_and_objective
from sktree_opt.simd._dispatch import available_instruction_sets
from sktree_opt.utils._control import SearchControl
from tests.effort import IS_LONG_RUN
from tests.optimal.common import (
    VARIANTS,
    load_binary,
    plan_of,
    random_table,
    reference_errors,
    search,
    search_regression,
)

CASES = {
    "plain": {},
    "few splits": {"max_splits": 6},
    "split cost": {"split_cost": 2.3},
    "large leaves": {"min_samples_leaf": 7},
    "gini": {"objective": "gini"},
    "entropy": {"objective": "entropy"},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_technique_changes_the_optimum(variant, case, n_classes, global_random_seed):
    X, y = random_table(global_random_seed, n=200, m=12, n_classes=n_classes)
    expected = search(X, y, max_depth=4, **CASES[case])
    found = search(X, y, max_depth=4, **VARIANTS[variant], **CASES[case])
    assert found.status == expected.status == "optimal"
    assert found.cost == pytest.approx(expected.cost, rel=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "name", ["anneal", "tic-tac-toe", "wine", "compas", "vote", "german-credit"]
)
def test_no_technique_changes_the_optimum_of_real_sets(variant, name, data_dir):
    X, y = load_binary(data_dir, name)
    expected = reference_errors(data_dir)[name, 4]
    assert search(X, y, max_depth=4, **VARIANTS[variant]).cost == expected


# Nothing rules a node out but its caches, so that their answers can be counted.
UNBOUNDED = ("similarity", "inheritance", "removal", "look_ahead", "side_bounds", "cache")


def test_the_cache_finds_equal_rows_below_different_tests(global_random_seed):
    X, y = random_table(global_random_seed, m=10)
    # Both of the first two columns hold where both of the next two do.
    X[:, 2] = np.where(X[:, 0], X[:, 1], X[:, 4])
    X[:, 3] = np.where(X[:, 0], X[:, 1], 1 - X[:, 4])
    counted = [
        search(X, y, max_depth=4, off=UNBOUNDED + off).stats["n_depth_two_counted"]
        for off in ((), ("small_cache",))
    ]
    assert counted[0] < counted[1]


def regression_problem(seed, kind):
    """Columns that few or most rows have; equal rows, or rows that all weigh the same."""
    rng = np.random.default_rng(seed)
    if kind == "unit":
        X = np.unique(rng.random((400, 14)) < rng.uniform(0.1, 0.95, 14), axis=0)
    else:
        X = rng.random((400, 9)) < rng.uniform(0.1, 0.95, 9)
    score = 2.0 * (X[:, 0] ^ X[:, 1]) + X[:, 2] * X[:, 3]
    weights = rng.uniform(0.5, 2.0, len(X)) if kind == "weighted" else None
    return X.astype(np.uint8), score + rng.normal(size=len(X)), weights


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", ["unit", "equal rows", "weighted"])
@pytest.mark.parametrize("split_cost", [0.0, 4.0])
def test_no_technique_changes_the_optimum_of_a_regression(
    variant, kind, split_cost, global_random_seed
):
    X, y, weights = regression_problem(global_random_seed, kind)
    limits = {"max_depth": 4, "split_cost": split_cost}
    expected = search_regression(X, y, weights, **limits)
    found = search_regression(X, y, weights, **VARIANTS[variant], **limits)
    assert found.status == expected.status == "optimal"
    assert found.cost == pytest.approx(expected.cost, rel=1e-10)


TARGETS = {
    "normal": lambda rng, score: score + rng.normal(size=len(score)),
    "few": lambda rng, score: score,
    "far apart": lambda rng, score: score + np.exp(6.0 * rng.normal(size=len(score))),
    "tiny": lambda rng, score: 1e-12 * (score + rng.normal(size=len(score))),
}


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("whole_weights", [False, True])
@pytest.mark.parametrize("n_columns", [33, 70, 130])
def test_rough_sweeps_find_the_optimum(targets, whole_weights, n_columns, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = (rng.random((150, n_columns)) < rng.uniform(0.1, 0.9, n_columns)).astype(np.uint8)
    y = TARGETS[targets](rng, 2.0 * (X[:, 0] ^ X[:, 1]) + X[:, 2] * X[:, 3])
    weights = rng.integers(1, 5, len(y)).astype(float) if whole_weights else None
    expected = search_regression(X, y, weights, off=("rough_sweeps",), max_depth=3)
    found = search_regression(X, y, weights, max_depth=3)
    assert found.cost == pytest.approx(expected.cost, rel=1e-10, abs=1e-10 * (y**2).sum())


@pytest.mark.parametrize("kind", ["unit", "equal rows"])
@pytest.mark.parametrize("max_splits", [2, 3, 4, 6, 9])
def test_rough_bounds_keep_the_optimum_of_few_splits(kind, max_splits, global_random_seed):
    X, y, _ = regression_problem(global_random_seed, kind)
    for split_cost in (0.0, 1.5):
        limits = {"max_depth": 4, "max_splits": max_splits, "split_cost": split_cost}
        plain = ("rough_sweeps", "subtraction", "side_bounds")
        expected = search_regression(X, y, off=plain, **limits)
        found = search_regression(X, y, **limits)
        assert found.cost == pytest.approx(expected.cost, rel=1e-10)


@pytest.mark.parametrize("simd", available_instruction_sets())
@pytest.mark.parametrize("kind", ["unit", "equal rows", "weighted"])
def test_instruction_sets_agree_on_a_regression(simd, kind, global_random_seed, monkeypatch):
    X, y, weights = regression_problem(global_random_seed, kind)
    monkeypatch.setenv("SKTREE_OPT_SIMD", "portable")
    expected = search_regression(X, y, weights, max_depth=4)
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    found = search_regression(X, y, weights, max_depth=4)
    assert found.cost == expected.cost
    assert np.array_equal(found.nodes, expected.nodes)


@pytest.mark.parametrize("simd", available_instruction_sets())
@pytest.mark.parametrize("weights", ["none", "whole", "large", "real"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_instruction_sets_agree(simd, weights, n_classes, global_random_seed, monkeypatch):
    X, y = random_table(global_random_seed, m=40, n_classes=n_classes)
    rng = np.random.default_rng(global_random_seed)
    values = {
        "none": None,
        "whole": rng.integers(1, 9, len(y)).astype(np.float64),
        "large": rng.integers(1, 5000, len(y)).astype(np.float64),
        "real": rng.uniform(0.5, 2.0, len(y)),
    }[weights]
    monkeypatch.setenv("SKTREE_OPT_SIMD", "portable")
    expected = search(X, y, weights=values, max_depth=3)
    monkeypatch.setenv("SKTREE_OPT_SIMD", simd)
    found = search(X, y, weights=values, max_depth=3)
    types = {"none": "int16", "whole": "int16", "large": "int32", "real": "float64"}
    assert found.stats["number_type"] == types[weights]
    assert found.cost == expected.cost
    assert np.array_equal(found.nodes, expected.nodes)
    assert found.stats["n_depth_two_counted"] == expected.stats["n_depth_two_counted"]


def test_many_rows_of_one_kind_do_not_overflow(global_random_seed):
    # More than a 16-bit lane or one folding of byte counts can hold.
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (150_000, 20)).astype(np.uint8)
    y = (X[:, 0] ^ X[:, 1]).astype(np.int32)
    y[rng.random(len(y)) < 0.1] ^= 1
    tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    errors = min(((X[:, 0] ^ X[:, 1]) != y).sum(), len(y))
    assert tree.objective_ == errors == (tree.predict(X) != y).sum()


def test_an_unknown_instruction_set_is_refused(monkeypatch):
    monkeypatch.setenv("SKTREE_OPT_SIMD", "mmx")
    X, y = random_table(0)
    with pytest.raises(ValueError, match="SKTREE_OPT_SIMD"):
        search(X, y, max_depth=2)


@pytest.mark.parametrize("case", CASES)
def test_threads_change_nothing(case, global_random_seed):
    X, y = random_table(global_random_seed, m=16)
    serial = search(X, y, max_depth=4, **CASES[case])
    for n_threads in (2, 3, 8):
        found = search(X, y, max_depth=4, n_threads=n_threads, **CASES[case])
        assert found.cost == pytest.approx(serial.cost, rel=1e-9)
        assert np.array_equal(found.nodes, serial.nodes)


@pytest.mark.parametrize("case", CASES)
def test_the_order_of_rows_changes_nothing(case, global_random_seed):
    # Few rows and many columns: many trees are equally good.
    X, y = random_table(global_random_seed, n=60, m=24)
    expected = search(X, y, max_depth=3, **CASES[case])
    rng = np.random.default_rng(global_random_seed)
    for _ in range(3):
        rows = rng.permutation(len(y))
        found = search(X[rows], y[rows], max_depth=3, n_threads=2, **CASES[case])
        assert np.array_equal(found.nodes, expected.nodes)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_technique_changes_the_tree(variant, global_random_seed):
    X, y = random_table(global_random_seed, n=80, m=14)
    expected = search(X, y, max_depth=4)
    assert np.array_equal(search(X, y, max_depth=4, **VARIANTS[variant]).nodes, expected.nodes)


def test_the_root_is_the_first_of_equally_good_columns(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (40, 6)).astype(np.uint8)
    y = (X[:, 2] ^ X[:, 4]).astype(np.int32)
    assert search(X, y, max_depth=3).nodes[0, 0] == 2


def test_proved_optima_of_real_sets(data_dir):
    for (name, depth), errors in reference_errors(data_dir).items():
        X, y = load_binary(data_dir, name)
        if depth > 4 or X.shape[1] > 200:
            continue
        tree = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        assert (name, depth, tree.objective_) == (name, depth, errors)
        assert (tree.predict(X) != y).sum() == errors


def test_more_depth_or_splits_never_cost_more(global_random_seed):
    X, y = random_table(global_random_seed, m=14)
    costs = {
        (depth, splits): search(X, y, max_depth=depth, max_splits=splits).cost
        for depth in range(5)
        for splits in range(9)
    }
    for depth, splits in costs:
        assert costs[depth, splits] <= costs.get((depth - 1, splits), np.inf)
        assert costs[depth, splits] <= costs.get((depth, splits - 1), np.inf)


@pytest.mark.parametrize("variant", ["all", *VARIANTS])
@pytest.mark.parametrize("depth", [3, 4])
def test_the_smallest_of_trees_without_errors(variant, depth, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (120, 9)).astype(np.uint8)
    # A tree of six tests, some of which a smaller one may do without.
    deep = np.where(X[:, 3], X[:, 4] & X[:, 5], X[:, 6])
    y = np.where(X[:, 0], X[:, 1] if depth == 3 else deep, X[:, 2]).astype(np.int32)
    found = search(X, y, max_depth=depth, **VARIANTS.get(variant, {}))
    n_splits = int((found.nodes[:, 0] >= 0).sum())
    assert found.cost == 0.0
    assert search(X, y, max_depth=depth, max_splits=n_splits - 1).cost > 0.0
    assert np.array_equal(search(X, y, max_depth=depth, n_threads=2).nodes, found.nodes)


def test_a_search_for_trees_below_nothing_ends(global_random_seed):
    X, y = random_table(global_random_seed, n=80, m=6)
    plan = plan_of(OptimalTreeClassifier(max_depth=4), X, y)
    engine = make_engine(plan.problem, plan.tests, SearchControl())
    engine.begin(4, 15)
    for depth in (3, 4):
        assert engine.deepen(depth, engine.lower_bound)
    assert engine.cost > 0.0


@pytest.mark.parametrize("objective", ["gini", "entropy", "error"])
def test_after_every_level_the_known_tree_costs_what_the_engine_says(objective):
    # Sums of real numbers may make a cost smaller by rounding, with a tree that nobody can find.
    for seed in range(40, 60 if IS_LONG_RUN else 44):
        X, y = random_table(seed)
        model = OptimalTreeClassifier(max_depth=5, max_leaf_nodes=10, objective=objective)
        plan = plan_of(model, X, y)
        engine = make_engine(plan.problem, plan.tests, SearchControl())
        engine.begin(5, 9)
        engine.search_discrepancies(0)
        for depth in (3, 4, 5):
            engine.deepen(depth)
            _, found = tree_and_objective(plan.problem, plan.tests, engine.known_tree())
            assert found == pytest.approx(engine.cost, rel=1e-9)
