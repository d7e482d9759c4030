"""Importances of a tree in plain Python: what each leaf's rows get when one feature is not known.

A row of a leaf is known by the path to the leaf. Which values the path allows is found by trying
values: for numbers the thresholds of the tree and points between and beyond them, for categories
every code. A row that loses a feature goes down every branch of the tests on it by weight.
"""

import math
from itertools import pairwise

from tests.reference.naive_predict import IS_MISSING, LEAF, NUMERIC, branch_of


def children(tree, index):
    first = int(tree.nodes["first_child"][index])
    return range(first, first + int(tree.nodes["n_children"][index]))


def values_to_try(tree, feature):
    tests = [i for i in range(tree.n_nodes) if tree.nodes["feature"][i] == feature]
    cuts = [float(tree.nodes["threshold"][i]) for i in tests if tree.nodes["kind"][i] == NUMERIC]
    if cuts:
        cuts = sorted(set(cuts))
        between = [(low + high) / 2 for low, high in pairwise(cuts)]
        return [*cuts, *between, cuts[0] - 1, cuts[-1] + 1]
    return list(range(int(max(tree.nodes["n_categories"][i] for i in tests))))


def missing_by(tree, path, feature):
    """Whether the rows of a path miss the feature: True, False, or None for either."""
    found = None
    for node, branch in path:
        if tree.nodes["feature"][node] != feature:
            continue
        to_branch = int(tree.nodes["missing_branch"][node])
        if tree.nodes["kind"][node] == IS_MISSING:
            found = branch == 0
        elif to_branch >= 0 and to_branch != branch:
            found = False
    return found


def open_branches(tree, path, node):
    """Branches of a test that rows of the path may take; all of them if none is left.

    Rows whose path allows no value miss it, if they may.
    """
    feature = int(tree.nodes["feature"][node])
    is_missing = missing_by(tree, path, feature)
    every = set(range(int(tree.nodes["n_children"][node])))
    of_missing = branch_of(tree, node, math.nan)
    of_missing = every if of_missing is None else {of_missing}
    if is_missing:
        return of_missing
    if tree.nodes["kind"][node] == IS_MISSING:
        return {1} if is_missing is False else {0, 1}
    known = [
        (n, b)
        for n, b in path
        if tree.nodes["feature"][n] == feature and tree.nodes["kind"][n] != IS_MISSING
    ]
    allowed = [
        x
        for x in values_to_try(tree, feature)
        if all(branch_of(tree, n, float(x)) == b for n, b in known)
    ]
    if not allowed:
        return every if is_missing is False else of_missing
    return {branch_of(tree, node, float(x)) for x in allowed}


def mean_answer(tree, answers, index):
    """The answer of a node's leaves, averaged by weight."""
    below = children(tree, index)
    total = sum(float(tree.nodes["weight"][c]) for c in below)
    if not below or total == 0.0:
        return [float(a) for a in answers[index]]
    parts = [(float(tree.nodes["weight"][c]) / total, mean_answer(tree, answers, c)) for c in below]
    return [sum(share * answer[k] for share, answer in parts) for k in range(len(answers[index]))]


def answer_without(tree, answers, path, feature, index):
    """Mean answer of a row of `path` at node `index` whose value of `feature` is not known."""
    if tree.nodes["kind"][index] == LEAF:
        return [float(a) for a in answers[index]]
    if tree.nodes["feature"][index] == feature:
        branches = set(range(int(tree.nodes["n_children"][index])))
    else:
        branches = open_branches(tree, path, index)
    below = [c for b, c in enumerate(children(tree, index)) if b in branches]
    weights = [float(tree.nodes["weight"][c]) for c in below]
    if len(below) == 1:
        return answer_without(tree, answers, path, feature, below[0])
    if sum(weights) == 0.0:
        return mean_answer(tree, answers, index)
    parts = [
        (w / sum(weights), answer_without(tree, answers, path, feature, c))
        for w, c in zip(weights, below, strict=True)
        if w > 0
    ]
    return [sum(share * answer[k] for share, answer in parts) for k in range(len(answers[index]))]


def paths(tree, index=0, path=()):
    """(leaf, path) of each leaf; a path lists nodes and the branches taken."""
    if tree.nodes["kind"][index] == LEAF:
        yield index, path
    for branch, child in enumerate(children(tree, index)):
        yield from paths(tree, child, (*path, (index, branch)))


def importances(tree, answers):
    """Mean squared change of the answers without each feature, over all rows; not normalised."""
    found = [0.0] * tree.n_features
    for leaf, path in paths(tree):
        for feature in {int(tree.nodes["feature"][node]) for node, _ in path}:
            top = next(node for node, _ in path if tree.nodes["feature"][node] == feature)
            without = answer_without(tree, answers, path, feature, top)
            change = sum((float(a) - m) ** 2 for a, m in zip(answers[leaf], without, strict=True))
            found[feature] += float(tree.nodes["weight"][leaf]) * change
    return found
