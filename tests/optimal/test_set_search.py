"""Searches that keep several trees at each node, against brute force."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.optimal.objectives._leaf_objectives import REGRESSION_OBJECTIVES, LeafObjective
from sktree_opt.optimal.tree_sets._bit_rows import LeafMinima, bit_rows, class_units, target_rows
from sktree_opt.optimal.tree_sets._set_search import ParetoSearch
from sktree_opt.optimal.tree_sets._tree_graph import GraphSearch
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.reference.brute_force_pareto import errors_of_all_trees, pareto_front
from tests.reference.brute_force_tree_sets import all_test_trees, form_of, tree_set


def entropy(weights):
    shares = weights[weights > 0]
    return weights.sum() * np.log2(weights.sum()) - (shares * np.log2(shares)).sum()


LEAF_COSTS = {
    "error": lambda weights: weights.sum() - weights.max(),
    "gini": lambda weights: weights.sum() - (weights**2).sum() / weights.sum(),
    "entropy": entropy,
}


def kernel_objective(objective, n_classes):
    """The objective in the kernel's words: see ``Objective`` of ``subset_problem.hpp``."""
    two_classes = objective == "error" and n_classes == 2
    channels = np.array([[1.0], [-1.0]]) if two_classes else np.eye(n_classes)
    return LeafObjective(
        score="two_class" if two_classes else {"error": "largest"}.get(objective, objective),
        class_channels=channels,
        class_mass=np.ones(n_classes),
        unit=0.5 if two_classes else 1.0,
        base_factor=0.0 if objective == "entropy" else 1.0,
        cancels=two_classes,
    )


@st.composite
def problems(draw, n_classes=None):
    """A small 0/1 table with classes, weights and limits."""
    max_depth = draw(st.integers(0, 3))
    n_columns = draw(st.integers(1, 5 if max_depth < 3 else 3))
    n_rows = draw(st.integers(1, 24))
    k = draw(st.integers(2, 4)) if n_classes is None else n_classes
    weight = draw(st.sampled_from([st.just(1), st.integers(1, 4), st.sampled_from([3, 6])]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n_rows, n_columns)) < draw(st.floats(0.1, 0.9))).astype(np.uint8)
    return {
        "matrix": matrix,
        "classes": rng.integers(0, k, n_rows),
        "weights": np.array([draw(weight) for _ in range(n_rows)], dtype=float),
        "n_classes": k,
        "max_depth": max_depth,
        "max_splits": draw(st.integers(0, 8)),
        "min_rows": draw(st.integers(1, 3)),
        "min_weight": float(draw(st.integers(0, 4))),
        "n_threads": draw(st.integers(1, 2)),
        "use_cache": draw(st.booleans()),
        "use_bounds": draw(st.booleans()),
    }


def limits(problem):
    names = ("min_rows", "min_weight", "n_threads", "use_cache", "use_bounds")
    return {name: problem[name] for name in names}


def pack(matrix, classes, weights, n_classes):
    bits = np.packbits(matrix, axis=1, bitorder="little")
    return bit_rows(bits, matrix.shape[1], classes, weights, n_classes)


def table_of(problem):
    return pack(*(problem[name] for name in ("matrix", "classes", "weights", "n_classes")))


def answers(columns, labels, matrix):
    """What a tree in preorder answers for each row."""
    result = np.empty(len(matrix), dtype=int)

    def walk(position, rows):
        if columns[position] < 0:
            result[rows] = labels[position]
            return position + 1
        asked = matrix[rows, columns[position]] == 1
        return walk(walk(position + 1, rows[asked]), rows[~asked])

    assert walk(0, np.arange(len(matrix))) == len(columns)
    return result


@examples(300)
@given(problem=problems(n_classes=2))
def test_front_is_the_front_of_all_trees(problem):
    matrix, classes, weights = (problem[name] for name in ("matrix", "classes", "weights"))
    rows = list(zip(map(tuple, matrix.tolist()), classes.tolist(), weights.tolist(), strict=True))
    attained = errors_of_all_trees(
        rows,
        problem["max_depth"],
        lambda rows: (
            len(rows) >= problem["min_rows"]
            and sum(row[2] for row in rows) >= problem["min_weight"]
        ),
    )
    expected = pareto_front(attained, problem["max_splits"])

    table = table_of(problem)
    search = ParetoSearch(table, SearchControl(), **limits(problem))
    front = search.front(problem["max_depth"], problem["max_splits"])

    assert [tuple(point) for point in front.sums * table.unit] == expected
    assert front.n_splits.tolist() == [attained[point] for point in expected]
    for rank, point in enumerate(expected):
        columns, labels = front.tree(rank, SearchControl())
        predicted = answers(columns, labels, matrix)
        fp = weights[(classes == 0) & (predicted == 1)].sum()
        fn = weights[(classes == 1) & (predicted == 0)].sum()
        assert (fp, fn) == point
        assert np.count_nonzero(columns >= 0) == front.n_splits[rank]


GRAPHS = {
    "split_cost": st.sampled_from([0.0, 0.25, 1.5]),
    "excess": st.sampled_from([0.0, 0.3, 2.0, 1e9]),
    "counts_tests": st.booleans(),
}


@examples(300)
@given(problem=problems(), objective=st.sampled_from(sorted(LEAF_COSTS)), **GRAPHS)
def test_a_graph_has_all_trees(problem, objective, **graph):
    n_classes = problem["n_classes"]

    def leaf_cost(rows):
        classes, weights = [row[2] for row in rows], [row[3] for row in rows]
        return LEAF_COSTS[objective](np.bincount(classes, weights, n_classes))

    form = kernel_objective(objective, n_classes)
    compare_with_all_trees(
        problem, problem["classes"], leaf_cost, table_of(problem), form, np.eye(n_classes), **graph
    )


@examples(300)
@given(
    problem=problems(),
    targets=st.sampled_from(["normal", "few", "equal"]),
    seed=st.integers(0, 2**32 - 1),
    **GRAPHS,
)
def test_a_graph_by_squared_errors_has_all_trees(problem, targets, seed, **graph):
    matrix, weights = problem["matrix"], problem["weights"]
    rng = np.random.default_rng(seed)
    draws = {"normal": rng.normal(size=64), "few": rng.integers(-2, 3, 64), "equal": np.full(64, 3)}
    y = draws[targets][: len(matrix)].astype(float)

    def leaf_cost(rows):
        values, weights = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
        return (weights * (values - np.average(values, weights=weights)) ** 2).sum()

    bits = np.packbits(matrix, axis=1, bitorder="little")
    table = target_rows(bits, matrix.shape[1], y, weights)
    form = REGRESSION_OBJECTIVES["squared_error"].leaf_form(y, weights)
    compare_with_all_trees(problem, y, leaf_cost, table, form, None, **graph)


def compare_with_all_trees(
    problem, y, leaf_cost, table, form, worth, split_cost, excess, counts_tests
):
    """Check a graph: how many trees there are by cost and size, and each of them."""
    matrix, weights = problem["matrix"], problem["weights"].tolist()
    rows = list(
        zip(range(len(matrix)), map(tuple, matrix.tolist()), y.tolist(), weights, strict=True)
    )

    def is_allowed(rows):
        weight = sum(row[3] for row in rows)
        return len(rows) >= problem["min_rows"] and weight >= problem["min_weight"]

    trees = all_test_trees(rows, problem["max_depth"], is_allowed)

    def cost_of_rows(numbers):
        return leaf_cost([rows[k] for k in numbers])

    every = tree_set(trees, cost_of_rows, split_cost, counts_tests)
    every = [one for one in every if one[1] <= problem["max_splits"]]
    options = limits(problem)
    del options["use_cache"], options["use_bounds"]
    options["minima"] = LeafMinima(options.pop("min_rows"), options.pop("min_weight"))
    search = GraphSearch(
        table,
        form,
        SearchControl(),
        feature=np.arange(matrix.shape[1]) // 2,
        worth=worth,
        split_cost=split_cost,
        counts_tests=counts_tests,
        **options,
    )
    depth, splits = problem["max_depth"], problem["max_splits"]
    assume(every)
    least = search.least_cost(depth, splits)
    # Idle splits cost no more than leaves.
    assert least * search.grid == pytest.approx(every[0][0], abs=1e-6)
    bound = every[0][0] + excess + 1e-7
    expected = [one for one in every if one[0] <= bound]
    graph = search.build(depth, splits, min(bound / search.grid, 2.0**58))
    counted = graph.count(SearchControl())
    assert sum(counted.counts) == len(expected)
    found = [
        (cost * search.grid, n)
        for cost, n, count in zip(counted.costs, counted.n_splits, counted.counts, strict=True)
        for _ in range(count)
    ]
    np.testing.assert_allclose(found, [one[:2] for one in expected], atol=1e-6)
    forms = {
        one if counts_tests else form_of(one): cost for cost, _, trees in expected for one in trees
    }
    kinds = zip(counted.costs, counted.counts, strict=True)
    for kind, (cost, count) in enumerate(kinds):
        for rank in range(count):
            tree = nested(counted.find(kind, rank)[0].tolist(), matrix, np.arange(len(matrix)))
            known = forms.pop(tree if counts_tests else form_of(tree))
            assert known == pytest.approx(cost * search.grid, abs=1e-6)
    assert not forms
    again = pickle.loads(pickle.dumps(graph)).count(SearchControl())
    assert again.counts == counted.counts


def nested(nodes, matrix, rows, at=0):
    """A tree as ``brute_force_tree_sets`` has it."""
    column, first, second = nodes[at]
    if column < 0:
        return tuple(rows.tolist())
    asked = matrix[rows, column] == 1
    return (
        column,
        nested(nodes, matrix, rows[asked], first),
        nested(nodes, matrix, rows[~asked], second),
    )


def test_same_trees_for_any_number_of_threads(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    matrix = rng.integers(0, 2, (300, 12), dtype=np.uint8)
    classes = (matrix[:, 0] ^ matrix[:, 1] ^ (rng.random(300) < 0.2)).astype(int)
    table = pack(matrix, classes, np.ones(300), 2)
    results = []
    for n_threads in (1, 2, 3):
        front = ParetoSearch(table, SearchControl(), n_threads=n_threads).front(4, 15)
        search = GraphSearch(
            table,
            kernel_objective("error", 2),
            SearchControl(),
            feature=np.arange(12),
            worth=np.eye(2),
            n_threads=n_threads,
        )
        graph = search.build(4, 15, search.least_cost(4, 15) + 2.5 / search.grid)
        results.append(
            (
                front.sums.tolist(),
                [front.tree(k, SearchControl())[0].tolist() for k in range(len(front.sums))],
                pickle.dumps(graph),
            )
        )
    assert results[0] == results[1] == results[2]


def test_fractional_weights_are_rounded_finely(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    weights = rng.random(100) + 1e-3
    classes = rng.integers(0, 3, 100)
    units, unit = class_units(weights, classes, 3)
    np.testing.assert_allclose(units * unit[classes], weights, rtol=1e-5, atol=2**-29)


def test_a_stopped_search_hands_over_what_it_has():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (2000, 60), dtype=np.uint8)
    classes = rng.integers(0, 2, 2000)
    table = pack(matrix, classes, np.ones(2000), 2)
    control = SearchControl(time_limit=0.05)
    front = ParetoSearch(table, control).front(5, 31)
    assert control.status == "time_limit"
    assert len(front.sums) >= 2
    columns, labels = front.tree(0, SearchControl())
    predicted = answers(columns, labels, matrix)
    fp = np.count_nonzero((classes == 0) & (predicted == 1))
    fn = np.count_nonzero((classes == 1) & (predicted == 0))
    assert (fp, fn) == tuple(front.sums[0])
