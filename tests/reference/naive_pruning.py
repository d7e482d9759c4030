"""Error-based and reduced-error pruning in plain Python, on trees of nested nodes.

Written from chapter 4 of Quinlan's "C4.5" and from algorithm 2 of the lecture notes on decision
trees. A case whose value is unknown goes down every branch by the branches' known weight; where no
case is known, by the weight the branches had.
"""

from math import exp, log, sqrt

from tests.reference.naive_greedy_tree import Node, branch_function, class_weights, total


def nested(tree, index=0):
    """Nested nodes of a ``Tree``."""
    record = tree.nodes[index]
    node = Node(weight=float(record["weight"]), answer_from=tree.values[index].tolist())
    if record["kind"] != 0:
        first = int(record["first_child"])
        node.column, node.branch = int(record["feature"]), branch_function(tree, index)
        node.children = [nested(tree, first + b) for b in range(int(record["n_children"]))]
    return node


def send_down(problem, node, cases):
    """Cases of each child."""
    parts = [[] for _ in node.children]
    unknown = []
    for row, weight in cases:
        value = problem.table[row][node.column]
        if value is None:
            unknown.append((row, weight))
        else:
            parts[node.branch(value)].append((row, weight))
    known = [total(part) for part in parts]
    shares = known if sum(known) > 0 else [child.weight for child in node.children]
    for part, share in zip(parts, shares, strict=True):
        if share > 0:
            part += [(row, weight * share / sum(shares)) for row, weight in unknown]
    return parts


def best_class(problem, weights):
    if problem.costs is None:
        return weights.index(max(weights))
    classes = range(problem.n_classes)
    expected = [sum(problem.costs[i][j] * weights[i] for i in classes) for j in classes]
    return expected.index(min(expected))


def extra_errors(n, errors, confidence, z):
    """How many errors more than those seen are to be expected, at the upper limit."""
    if n == 0:
        return 0.0
    if errors < 1e-6:
        return n * (1 - exp(log(confidence) / n))
    if errors < 0.9999:
        none = extra_errors(n, 0, confidence, z)
        return none + errors * (extra_errors(n, 1, confidence, z) - none)
    if errors + 0.5 >= n:
        return 0.67 * max(n - errors, 0.0)
    f = (errors + 0.5) / n
    limit = (f + z * z / (2 * n) + z * sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    return n * limit - errors


def leaf_estimate(problem, cases, confidence, z):
    if not cases:
        return 0.0
    weights = class_weights(problem, cases)
    errors = total(cases) - weights[best_class(problem, weights)]
    return errors + extra_errors(total(cases), errors, confidence, z)


def estimate(problem, node, cases, confidence, z):
    """Estimated errors of a subtree as it stands."""
    if not node.children or not cases:
        return leaf_estimate(problem, cases, confidence, z)
    parts = send_down(problem, node, cases)
    return sum(
        estimate(problem, child, part, confidence, z)
        for child, part in zip(node.children, parts, strict=True)
    )


def error_based(problem, node, cases, confidence, z):
    """The pruned subtree."""
    if not node.children or not cases:
        return Node(weight=total(cases))
    parts = send_down(problem, node, cases)
    children = [
        error_based(problem, child, part, confidence, z)
        for child, part in zip(node.children, parts, strict=True)
    ]
    kept = Node(node.column, branch=node.branch, children=children, weight=total(cases))
    as_subtree = sum(
        estimate(problem, child, part, confidence, z)
        for child, part in zip(children, parts, strict=True)
    )
    weights = [child.weight for child in children]
    heaviest = children[weights.index(max(weights))]
    as_branch = estimate(problem, heaviest, cases, confidence, z)
    as_leaf = leaf_estimate(problem, cases, confidence, z)
    if as_leaf <= min(as_subtree, as_branch) + 0.1:
        return Node(weight=total(cases))
    if as_branch <= as_subtree + 0.1:
        return error_based(problem, heaviest, cases, confidence, z)
    return kept


def cost_of_leaf(problem, node, cases):
    if problem.n_classes == 0:
        return sum(
            weight * (problem.target[row] - node.answer_from[0]) ** 2 for row, weight in cases
        )
    answer = best_class(problem, node.answer_from)
    if problem.costs is None:
        return sum(weight for row, weight in cases if problem.target[row] != answer)
    return sum(weight * problem.costs[problem.target[row]][answer] for row, weight in cases)


def cost_of_tree(problem, node, cases):
    if not node.children or not cases:
        return cost_of_leaf(problem, node, cases)
    parts = send_down(problem, node, cases)
    return sum(
        cost_of_tree(problem, child, part) for child, part in zip(node.children, parts, strict=True)
    )


def inner_nodes(node):
    """Bottom up."""
    for child in node.children:
        yield from inner_nodes(child)
    if node.children:
        yield node


def reduced_error(problem, root, cases):
    """Prune `root` in place: each inner node is tried as a leaf once, bottom up."""
    for node in list(inner_nodes(root)):
        before = cost_of_tree(problem, root, cases)
        children, node.children = node.children, []
        if cost_of_tree(problem, root, cases) > before + 1e-9:
            node.children = children
    return root
