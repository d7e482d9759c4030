"""The published searches against their pseudocode, and the worked examples of the paper."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt.subset.complete._streams import DistinctStream
from sktree_opt.subset.errors._parts import EstimatePart
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.reference.naive_greedy_tree import Node
from tests.reference.published_searches import (
    distinct_trees,
    error_left,
    error_of_equal_rows,
    frontier,
    keep_worthwhile,
    rank_by_frontier,
)
from tests.subset.cases import Case, cases


def node(column, *children):
    return Node(column=column, children=list(children))


# Figure 3 (a): a1 at the root; a2, below which a1 is asked again; a3, below which is a4.
SAMPLE = node(1, node(2, Node(), node(1, Node(), Node())), node(3, Node(), node(4, Node(), Node())))


def test_examples_3_and_4():
    assert frontier([SAMPLE], {1}, 2) == 1
    assert frontier([SAMPLE], {1}, 3) == 2
    assert frontier([SAMPLE], {1, 3}, 2) == frontier([SAMPLE], {1, 3}, 4) == 1
    assert rank_by_frontier([SAMPLE], set(), {1, 2, 3, 4}) == [4, 2, 3, 1]


def test_example_9():
    """Without a4, or without a4 and a3, nothing is lost; without a4 and a2 something might be."""
    errors = dict(zip(map(id, leaves(SAMPLE)), [1, 1, 1, 3, 2, 2], strict=True))
    bound = {
        cut: error_left(SAMPLE, set(cut), lambda leaf: errors[id(leaf)])
        for cut in [(4,), (4, 2), (4, 3), (4, 3, 1)]
    }
    assert bound == {(4,): 6, (4, 2): 3, (4, 3): 3, (4, 3, 1): 0}
    # The errors of the leaves are such that a2 stays: e_acc is between the two bounds.
    errors = dict(zip(map(id, leaves(SAMPLE)), [2, 2, 1, 2, 0, 0], strict=True))

    def is_hopeless(cut):
        return error_left(SAMPLE, cut, lambda leaf: errors[id(leaf)]) >= 4

    assert keep_worthwhile([4, 2, 3, 1], is_hopeless) == [2, 1]


def leaves(tree):
    if not tree.children:
        return [tree]
    return [leaf for child in tree.children for leaf in leaves(child)]


def test_the_sample_tree_is_enumerated_in_the_order_of_the_paper():
    """A table whose tree is shaped like Figure 3 (a), with columns 0 to 3 for a1 to a4."""
    rows = [[i >> 3 & 1, i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(16)]
    y = [a2 if a1 == 0 else 2 if a3 == 0 else 3 + a4 for a1, a2, a3, a4 in rows]
    part = EstimatePart(np.arange(16), np.ones(16), np.arange(16), np.ones(16))
    parameters = {"min_split_weight": 2, "min_leaf_weight": 1, "max_depth": None}
    case = Case(rows, [False] * 4, y, [part], "information_gain", parameters)
    tree = case.grow(range(4))[0]
    assert tree.column == 0
    assert [child.column for child in tree.children] == [1, 2]
    assert rank_by_frontier([tree], set(), range(4)) == [3, 1, 2, 0]
    found = [
        features.tolist() for features, _, _ in DistinctStream(case.problem(), SearchControl())
    ]
    assert found[:2] == [[0, 1, 2, 3], [0, 1, 2]]
    assert_published(case)


def assert_published(case):
    expected, n_built = [], 0
    for trees, is_new in distinct_trees(case.grow, range(len(case.nominal))):
        n_built += 1
        if is_new:
            expected.append(sorted(set().union(*(tree.columns() for tree in trees))))
    stream = DistinctStream(case.problem(), SearchControl())
    assert [features.tolist() for features, _, _ in stream] == expected
    assert stream.stats["n_built"] == n_built


@examples(100)
@given(cases(max_columns=5))
def test_distinct_trees_come_in_the_published_order(case):
    assert_published(case)


def errors_at(case, problem, tree):
    """Cost of each leaf, and the search rows of each node, by its identity."""
    costs, rows_of, part = {}, {}, case.parts[0]
    for row, weight in zip(part.search_rows, part.search_weights, strict=True):
        node, units = tree, round(weight / problem.cost_unit)
        while True:
            rows_of.setdefault(id(node), []).append((case.table[row], case.y[row], units))
            if not node.children:
                break
            node = node.children[node.branch(case.table[row][node.column])]
        most = max(node.answer_from) - 1e-9 * sum(node.answer_from)
        answered = next(c for c, w in enumerate(node.answer_from) if w >= most)
        costs[id(node)] = costs.get(id(node), 0) + units * (answered != case.y[row])
    return costs, rows_of


@examples(100)
@given(cases(max_columns=5))
def test_the_bound_of_footnote_8_loses_no_best_tree(case):
    assume(all(value is not None for row in case.table for value in row))
    assume(case.costs is None and len(case.parts) == 1)
    problem, known = case.problem(), []

    def is_hopeless(trees, cut):
        costs, rows_of = errors_at(case, problem, trees[0])
        plain, tight = (
            error_left(trees[0], cut, lambda leaf: costs.get(id(leaf), 0), of_cut)
            for of_cut in (
                lambda node: 0,
                lambda node: error_of_equal_rows(rows_of.get(id(node), [])),
            )
        )
        assert plain <= tight
        return tight >= min(known)

    def grow(subset):
        trees = case.grow(subset)
        known.append(sum(errors_at(case, problem, trees[0])[0].values()))
        return trees

    least = min(problem.to_cost(error) for error in case.brute_force().errors.values())
    list(distinct_trees(grow, range(len(case.nominal)), is_hopeless))
    assert min(known) == pytest.approx(least)


@examples(100)
@given(cases(max_columns=5), st.sampled_from([0.0, 0.0, 0.1]))
def test_acceptable_trees_come_in_the_published_order(case, delta):
    # Errors of rows that miss a value are not sums over leaves, and costs may not be whole.
    assume(all(value is not None for row in case.table for value in row))
    assume(case.costs is None and len(case.parts) == 1)
    problem = case.problem()
    slack = int(delta * problem.total_cost / problem.cost_unit)
    best = []

    def is_hopeless(trees, cut):
        costs, size = errors_at(case, problem, trees[0])[0], set()
        bound = error_left(trees[0], cut, lambda leaf: costs.get(id(leaf), 0))
        stack = [trees[0]]
        while stack:
            inner = stack.pop()
            if inner.children and inner.column not in cut:
                size.add(inner.column)
                stack += inner.children
        if bound + slack != best[0]:
            return bound + slack > best[0]
        # Of equally good trees one with fewer columns is wanted.
        return slack > 0 or len(size) >= best[1]

    found = []

    def grow(subset):
        trees = case.grow(subset)
        used = sorted(trees[0].columns())
        rated = [sum(errors_at(case, problem, trees[0])[0].values()), len(used)]
        if not best or rated < best:
            best[:] = rated
            found.append((used, rated[0]))
        return trees

    n_built = len(list(distinct_trees(grow, range(len(case.nominal)), is_hopeless)))
    stream = DistinctStream(problem, SearchControl(), accepts=True, slack=slack)
    assert [(features.tolist(), cost) for features, cost, _ in stream] == found
    assert stream.stats["n_built"] == n_built
