"""Prediction in plain Python: one row, one node at a time, straight from the meaning of a node."""

import math
from itertools import pairwise

LEAF, NUMERIC, MULTIWAY, ONE, SUBSET, IS_MISSING = range(6)


def branch_of(tree, index, x):
    """Branch of value `x` at test `index`; None when it goes down every branch."""
    node = tree.nodes[index]
    if node["kind"] == IS_MISSING:
        return 0 if math.isnan(x) else 1
    missing = node["missing_branch"]
    if math.isnan(x):
        return None if missing == -1 else int(missing)
    if node["kind"] == NUMERIC:
        return 0 if x <= node["threshold"] else 1
    return int(tree.category_branch[node["category_start"] + int(x)])


def visit(tree, row, index=0, share=1.0):
    """All (node, share) that a row reaches."""
    found = [(index, share)]
    node = tree.nodes[index]
    if node["kind"] == LEAF:
        return found
    first, count = int(node["first_child"]), int(node["n_children"])
    branch = branch_of(tree, index, float(row[node["feature"]]))
    if branch is not None:
        return found + visit(tree, row, first + branch, share)
    weights = [float(tree.nodes["weight"][first + b]) for b in range(count)]
    for b in range(count):
        if weights[b] > 0:
            found += visit(tree, row, first + b, share * weights[b] / sum(weights))
    return found


def leaf_shares(tree, row):
    """Share of the row at each leaf it ends in."""
    return {i: share for i, share in visit(tree, row) if tree.nodes["kind"][i] == LEAF}


def weight_of_row(tree):
    """The weight that counts as one row: the mean weight, at most 1."""
    return min(1.0, float(tree.nodes["weight"][0]) / int(tree.nodes["n_samples"][0]))


def smoothed(tree, node, smooth):
    """Class frequencies of a node with the rows that `smooth` adds: one of each class, or some."""
    values = [float(v) for v in tree.values[node]]
    rows = float(tree.nodes["weight"][node]) / weight_of_row(tree)
    frequencies = [v / sum(values) for v in values]
    if smooth is False:
        return frequencies
    root = [float(v) for v in tree.values[0]]
    added = [1.0] * len(root) if smooth is True else [smooth * v / sum(root) for v in root]
    if rows + sum(added) == 0.0:
        return frequencies
    return [(rows * f + a) / (rows + sum(added)) for f, a in zip(frequencies, added, strict=True)]


def path_to(tree, leaf):
    """Nodes from the root to a leaf."""
    path = [leaf]
    while path[0] != 0:
        for i in range(tree.n_nodes):
            first, count = int(tree.nodes["first_child"][i]), int(tree.nodes["n_children"][i])
            if first <= path[0] < first + count:
                path.insert(0, i)
    return path


def leaf_answer(tree, leaf, smooth=False, shrinkage=0.0):
    """Class frequencies, or the mean, of a leaf; frequencies may be smoothed and shrunk."""
    if not tree.is_classifier:
        return [float(v) for v in tree.values[leaf]]
    path = path_to(tree, leaf)
    answer = smoothed(tree, 0, smooth)
    for parent, child in pairwise(path):
        rows = float(tree.nodes["weight"][parent]) / weight_of_row(tree)
        before, after = smoothed(tree, parent, smooth), smoothed(tree, child, smooth)
        answer = [
            p + (b - a) / (1 + shrinkage / rows)
            for p, a, b in zip(answer, before, after, strict=True)
        ]
    return answer


def predict(tree, row, smooth=False, shrinkage=0.0):
    """Answer for a row: the leaves' answers averaged by share."""
    shares = leaf_shares(tree, row)
    answers = {leaf: leaf_answer(tree, leaf, smooth, shrinkage) for leaf in shares}
    return [
        sum(share * answers[leaf][k] for leaf, share in shares.items())
        for k in range(tree.values.shape[1])
    ]
