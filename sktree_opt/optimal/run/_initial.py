"""A tree that is known before the search, in terms of the table's tests."""

import numpy as np
from scipy import sparse

from sktree_opt.optimal.run._known_tests import AllTests, TableTests
from sktree_opt.tree import Tree
from sktree_opt.utils._validation import encode_new_rows


def initial_nodes(initial, X, problem):
    """Nodes of a fitted tree, as ``Engine.tree`` gives them.

    A test of the tree becomes the first one of the table that parts the rows of its node alike; on
    other rows they may differ. Nodes that no row reaches are left out.

    Parameters
    ----------
    initial : Tree, or fitted estimator with a tree
        Ours, or scikit-learn's.

    X : table
        As `fit` was given it.

    problem : Problem
        Its tests and rows; of a table without tests, those of the tree become its tests.
    """
    path, children = path_and_children(initial, X, problem.data)
    path = sparse.csc_matrix(path)
    rows = np.arange(path.shape[0])
    known = problem.tests
    tests = TableTests(problem.table, problem.thresholds) if known is None else AllTests(known)
    nodes = np.array(grow(path, children, 0, rows, tests, []), dtype=np.int32)
    problem.tests = tests.asked()
    check_limits(nodes, problem)
    return nodes


def path_and_children(initial, X, data):
    """Which rows reach which nodes, and a function from a node to its children."""
    tree = getattr(initial, "tree_", initial)
    if isinstance(tree, Tree):
        if initial is tree:
            matrix = data.matrix
            matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
            path = tree.decision_path(dense(matrix))
        else:
            path = tree.decision_path(dense(encode_new_rows(initial, X)))[data.kept_rows]
        slices = [tree.children(k) for k in range(tree.n_nodes)]
        return path, lambda node: list(range(slices[node].start, slices[node].stop))
    if not hasattr(tree, "children_left"):
        raise ValueError(
            f"initial_tree must be a fitted tree, not {type(initial).__name__} without one. clone, "
            "and with it every grid search, forgets what was fitted: give the estimator's tree_, "
            "or wrap it in sklearn.frozen.FrozenEstimator."
        )
    if initial is tree:
        path = tree.decision_path(np.asarray(dense(data.matrix), dtype=np.float32))
    else:
        path = initial.decision_path(X)[data.kept_rows]
    left, right = tree.children_left, tree.children_right
    return path, lambda node: [left[node], right[node]] if left[node] >= 0 else []


def dense(matrix):
    """Encoded rows as floats in one block."""
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    return np.ascontiguousarray(matrix, dtype=np.float64)


def grow(path, children, node, rows, tests, nodes):
    """Append the subtree of `node` on `rows` to `nodes`, and return them."""
    at = len(nodes)
    nodes.append([-1, -1, -1])
    below = children(node)
    reached = np.zeros((len(below), path.shape[0]), dtype=bool)
    for k, child in enumerate(below):
        reached[k, path.indices[path.indptr[child] : path.indptr[child + 1]]] = True
    reached = reached[:, rows]
    filled = np.flatnonzero(reached.any(axis=1))
    if len(filled) == 0:
        return nodes
    if len(filled) > 2 or (reached.sum(axis=0) != 1).any():
        raise ValueError(
            f"Node {node} of initial_tree does not part its rows in two; no test of the table does "
            "as it does."
        )
    if len(filled) == 1:
        nodes.pop()
        return grow(path, children, below[filled[0]], rows, tests, nodes)
    passed = reached[filled[0]]
    test, is_flipped = tests.matching(rows, passed)
    if test is None:
        raise ValueError(
            f"Node {node} of initial_tree parts its {len(rows)} rows as no test of the table does."
        )
    nodes[at][0] = test
    for k in (0, 1):
        side = passed if k == 0 else ~passed
        nodes[at][2 if is_flipped ^ (k == 1) else 1] = len(nodes)
        grow(path, children, below[filled[k]], rows[side], tests, nodes)
    return nodes


def check_limits(nodes, problem):
    """Refuse a tree that the search may not answer: its objective would be no bound."""
    limits, (depth, n_splits) = problem.limits, shape_of(nodes)
    if not is_within(nodes, limits):
        raise ValueError(
            f"initial_tree has depth {depth} and {n_splits} tests; "
            f"max_depth={limits.max_depth}, max_splits={limits.max_splits}."
        )
    reached = problem.rows_in(nodes)
    is_leaf = reached.nodes[:, 0] < 0
    if (
        reached.n_rows[is_leaf].min() < limits.min_samples_leaf
        or reached.weights[is_leaf].sum(axis=1).min() < limits.min_weight_leaf
    ):
        raise ValueError(
            "A leaf of initial_tree is smaller than min_samples_leaf, min_weight_leaf or "
            "min_weight_fraction_leaf allows."
        )


def is_within(nodes, limits):
    """Whether a tree is no deeper or larger than allowed."""
    depth, n_splits = shape_of(nodes)
    return depth <= limits.max_depth and n_splits <= limits.max_splits


def shape_of(nodes, at=0):
    """Levels and number of tests below a node."""
    test, first, second = nodes[at]
    if test < 0:
        return 0, 0
    (a, m), (b, n) = shape_of(nodes, first), shape_of(nodes, second)
    return 1 + max(a, b), 1 + m + n
