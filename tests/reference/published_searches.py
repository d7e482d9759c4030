"""DTdistinct and DTaccept as published, tree by tree.

Written from S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019):
Algorithms 2, 3 and 4, Definitions 8 and 9. A tree is a node with `column` and `children`; an error
estimate may have several, which count as one.
"""


def columns_below(node, fixed):
    """Columns that are not in `fixed` and are tested at or below a node."""
    if not node.children:
        return set()
    return {node.column} - fixed | set().union(*(columns_below(c, fixed) for c in node.children))


def frontier_nodes(node, fixed):
    """The highest nodes that test a column that is not in `fixed`."""
    if not node.children:
        return []
    if node.column not in fixed:
        return [node]
    return [found for child in node.children for found in frontier_nodes(child, fixed)]


def frontier(trees, fixed, column):
    """Definition 8: how many columns are tested below the frontier nodes of a column."""
    roots = [
        node for tree in trees for node in frontier_nodes(tree, fixed) if node.column == column
    ]
    return len(set().union(*(columns_below(n, fixed) for n in roots)))


def rank_by_frontier(trees, required, columns):
    """Definition 9: the last is the one of largest frontier, and so on, given those after it."""
    fixed, left, ranked = set(required), sorted(columns), []
    while left:
        best = max(left, key=lambda a: (frontier(trees, fixed, a), -a))
        fixed.add(best)
        left.remove(best)
        ranked.insert(0, best)
    return ranked


def error_left(node, cut, error_of_leaf, error_of_cut=lambda node: 0):
    """lberr: the error of a tree where the subtrees of some columns have none, or the least."""
    if not node.children:
        return error_of_leaf(node)
    if node.column in cut:
        return error_of_cut(node)
    return sum(error_left(child, cut, error_of_leaf, error_of_cut) for child in node.children)


def error_of_equal_rows(cases):
    """Footnote 8: equal rows get equal answers; `cases` are cells, class and weight."""
    by_row = {}
    for cells, label, weight in cases:
        by_class = by_row.setdefault(tuple(cells), {})
        by_class[label] = by_class.get(label, 0) + weight
    return sum(sum(by_class.values()) - max(by_class.values()) for by_class in by_row.values())


def keep_worthwhile(order, is_hopeless):
    """Algorithm 4: columns are cut off one by one as long as nothing better can be lost."""
    cut, kept = set(), []
    for column in order:
        if is_hopeless(cut | {column}):
            cut.add(column)
        else:
            kept.append(column)
    return kept


def distinct_trees(grow, columns, is_hopeless=None):
    """Algorithm 2, or with `is_hopeless` Algorithm 3: trees in order, and whether they are new.

    `is_hopeless` takes trees and the columns that are cut off.
    """

    def visit(required, possible):
        trees = grow(tuple(sorted(required | possible)))
        used = set().union(*(tree.columns() for tree in trees))
        yield trees, required <= used
        order = rank_by_frontier(trees, required, possible & used)
        if is_hopeless is not None:
            order = keep_worthwhile(order, lambda cut: is_hopeless(trees, cut))
        required, possible = required | set(order), possible - set(order)
        for column in order:
            required = required - {column}
            yield from visit(required, possible)
            possible = possible | {column}

    yield from visit(set(), set(columns))
