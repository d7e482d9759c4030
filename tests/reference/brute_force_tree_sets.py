"""Sets of nearly optimal trees by listing all trees: what graphs of trees are checked against.

A leaf is a tuple of row numbers, a split is (column, tree of the rows with it, tree of the others).
"""

from itertools import product


def all_test_trees(rows, max_depth, may_be_leaf):
    """Every tree whose tests have rows on both sides.

    Parameters
    ----------
    rows : list of (row number, tuple of 0/1, ...)
        The training rows.

    max_depth : int
        Most tests on a path.

    may_be_leaf : callable
        Whether a list of rows is large enough for a leaf.
    """
    trees = [tuple(row[0] for row in rows)] if may_be_leaf(rows) else []
    if max_depth == 0 or not rows:
        return trees
    for column in range(len(rows[0][1])):
        sides = [[row for row in rows if row[1][column] == value] for value in (1, 0)]
        if all(sides):
            below = [all_test_trees(side, max_depth - 1, may_be_leaf) for side in sides]
            trees += [(column, *pair) for pair in product(*below)]
    return trees


def is_leaf(tree):
    """Whether a tree is a single leaf."""
    return len(tree) < 3 or not isinstance(tree[1], tuple)


def splits_of(tree):
    """The splits of a tree."""
    return [] if is_leaf(tree) else [tree, *splits_of(tree[1]), *splits_of(tree[2])]


def leaves_of(tree):
    """The leaves of a tree."""
    return [tree] if is_leaf(tree) else leaves_of(tree[1]) + leaves_of(tree[2])


def rows_below(tree):
    """Numbers of the rows of a tree."""
    return sorted(row for leaf in leaves_of(tree) for row in leaf)


def form_of(tree):
    """The way a tree parts the rows: equal for trees that part them alike at every node."""
    return frozenset(tree if is_leaf(tree) else map(form_of, tree[1:]))


def cost_of(tree, cost_of_rows, split_cost=0.0):
    """Summed cost of the leaves and splits of a tree."""
    return sum(map(cost_of_rows, leaves_of(tree))) + split_cost * len(splits_of(tree))


def has_idle_split(tree, cost_of_rows):
    """Whether a split over two leaves does not lower their cost."""
    return any(
        is_leaf(one[1])
        and is_leaf(one[2])
        and cost_of(one, cost_of_rows) > cost_of_rows(rows_below(one)) - 1e-9
        for one in splits_of(tree)
    )


def tree_set(trees, cost_of_rows, split_cost, by_tests):
    """Different trees with their costs.

    Returns
    -------
    found : list of (float, int, list)
        Cost, number of splits, and all trees that count as this one; in order.
    """
    if by_tests:
        groups = {tree: [tree] for tree in trees}
    else:
        groups = {}
        for tree in trees:
            if not has_idle_split(tree, cost_of_rows):
                groups.setdefault(form_of(tree), []).append(tree)
    found = [
        (cost_of(one[0], cost_of_rows, split_cost), len(splits_of(one[0])), one)
        for one in groups.values()
    ]
    return sorted(found, key=lambda entry: (round(entry[0], 9), entry[1]))


def needs_feature(same, feature_of, feature):
    """Whether all trees that count as one ask about a feature."""
    return all(any(feature_of[one[0]] == feature for one in splits_of(tree)) for tree in same)


def importance_range(same, feature_of, feature, cost_of_rows):
    """Least and largest share of a feature in what trees that count as one lower the cost by."""
    shares = []
    for tree in same:
        gains = {one: gain_of(one, cost_of_rows) for one in set(splits_of(tree))}
        total = sum(gains[one] for one in splits_of(tree))
        mine = sum(gains[one] for one in splits_of(tree) if feature_of[one[0]] == feature)
        shares.append(mine / total if total > 1e-9 else 0.0)
    return min(shares), max(shares)


def gain_of(split, cost_of_rows):
    """By how much the leaves of a split's two sides cost less than a single leaf."""
    whole, *sides = (cost_of_rows(rows_below(part)) for part in (split, *split[1:]))
    return whole - sum(sides)
