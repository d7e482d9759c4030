"""Prediction in plain Python: one row, one node at a time, straight from the meaning of a node."""

import math

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


def leaf_answer(tree, leaf, smooth=False):
    """Class frequencies, or the mean, of a leaf."""
    values = [float(v) + (1.0 if smooth else 0.0) for v in tree.values[leaf]]
    return [v / sum(values) for v in values] if tree.is_classifier else values


def predict(tree, row, smooth=False):
    """Answer for a row: the leaves' answers averaged by share."""
    shares = leaf_shares(tree, row)
    answers = {leaf: leaf_answer(tree, leaf, smooth) for leaf in shares}
    return [
        sum(share * answers[leaf][k] for leaf, share in shares.items())
        for k in range(tree.values.shape[1])
    ]
