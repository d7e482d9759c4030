"""Rules of a tree, pruned on some rows one by one, straight from their definition."""

from tests.reference.naive_predict import branch_of


def meets(tree, conditions, row):
    """Whether one row meets all conditions; a value that goes down every branch meets none."""
    return all(
        branch_of(tree, node, float(row[tree.nodes["feature"][node]])) == branch
        for node, branch in conditions
    )


def error(tree, conditions, answer, cases):
    """Share of errors among the cases (row, label, weight) that meet the conditions."""
    covered = [(label, w) for row, label, w in cases if meets(tree, conditions, row)]
    total = sum(w for _, w in covered)
    return sum(w for label, w in covered if label != answer) / total if total else 1.0


def paths(tree, index=0, path=()):
    """Each leaf with rows, and the tests above it: (node, branch)."""
    if tree.nodes["kind"][index] == 0:
        if tree.nodes["weight"][index] > 0:
            yield index, list(path)
        return
    first = int(tree.nodes["first_child"][index])
    for branch in range(int(tree.nodes["n_children"][index])):
        yield from paths(tree, first + branch, (*path, (index, branch)))


def naive_rules(tree, answers, cases, n_classes):
    """(conditions, Laplace accuracy) of the pruned rules, in the order of the leaves."""
    one = min(1.0, sum(w for *_, w in cases) / len(cases))
    for leaf, path in sorted(paths(tree)):
        kept, answer = list(path), answers[leaf]
        while kept:
            errors = [error(tree, [c for c in kept if c != gone], answer, cases) for gone in kept]
            if min(errors) > error(tree, kept, answer, cases) + 1e-12:
                break
            del kept[errors.index(min(errors))]
        covered = [(label, w) for row, label, w in cases if meets(tree, kept, row)]
        right = sum(w for label, w in covered if label == answer) / one
        yield tuple(kept), (right + 1) / (sum(w for _, w in covered) / one + n_classes)
