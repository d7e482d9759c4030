"""All different trees with their costs, by trying them all: what rankings are checked against."""


def all_trees(rows, max_depth, may_be_leaf, leaf_cost, split_cost=0.0):
    """Every tree on some rows, as the way it parts them.

    Parameters
    ----------
    rows : list of (row number, tuple of 0/1, class, weight)
        The training rows.

    max_depth : int
        Most tests on a path.

    may_be_leaf : callable
        Whether a list of rows is large enough for a leaf.

    leaf_cost : callable
        Cost of a list of rows as a leaf.

    split_cost : float
        Cost of each split.

    Returns
    -------
    trees : dict
        From a form to (cost, number of splits). The form of a leaf is the frozenset of its row
        numbers, that of a split the frozenset of its two sides' forms: two trees with the same form
        part the rows alike at every node.
    """
    trees = {}
    if may_be_leaf(rows):
        trees[frozenset(row[0] for row in rows)] = leaf_cost(rows), 0
    if max_depth == 0 or not rows:
        return trees
    for column in range(len(rows[0][1])):
        sides = [[row for row in rows if row[1][column] == value] for value in (0, 1)]
        if not all(sides):
            continue
        first, second = (
            all_trees(side, max_depth - 1, may_be_leaf, leaf_cost, split_cost) for side in sides
        )
        for form, (cost, n_splits) in first.items():
            for other_form, (other_cost, n_others) in second.items():
                is_last = n_splits == 0 and n_others == 0
                if is_last and cost + other_cost > leaf_cost(rows) - 1e-9:
                    continue
                trees[frozenset([form, other_form])] = (
                    cost + other_cost + split_cost,
                    n_splits + n_others + 1,
                )
    return trees
