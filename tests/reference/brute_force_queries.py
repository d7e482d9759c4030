"""Least costs by size and depth, and lexicographic rankings, from all trees one by one."""


def least_costs(rows, max_depth, may_be_leaf, leaf_cost, split_cost=0.0):
    """Least cost of a tree for each (number of splits, depth) that some tree has.

    Parameters
    ----------
    rows : list
        The training rows; the first item of a row is its tuple of 0/1.

    max_depth : int
        Most tests on a path.

    may_be_leaf, leaf_cost : callable
        Whether a list of rows is large enough for a leaf; what it costs as one.

    split_cost : float
        Cost of each split.

    Returns
    -------
    costs : dict
        From (number of splits, depth) to the least cost.
    """
    costs = {(0, 0): leaf_cost(rows)} if may_be_leaf(rows) else {}
    if max_depth == 0 or not rows:
        return costs
    for column in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][column] == value] for value in (0, 1)]
        if not all(sides):
            continue
        first, second = (
            least_costs(side, max_depth - 1, may_be_leaf, leaf_cost, split_cost) for side in sides
        )
        for (n_splits, depth), cost in first.items():
            for (n_others, other_depth), other_cost in second.items():
                key = n_splits + n_others + 1, 1 + max(depth, other_depth)
                total = cost + other_cost + split_cost
                costs[key] = min(total, costs.get(key, total))
    return costs


def first_by_ranking(costs, ranking, max_splits, max_error):
    """The least tuple of criteria of all trees within the limits; None if there is none."""
    tuples = [
        tuple({"error": cost, "size": n_splits, "depth": depth}[name] for name in ranking)
        for (n_splits, depth), cost in costs.items()
        if n_splits <= max_splits and cost <= max_error
    ]
    return min(tuples, default=None)


def measures_of_all_trees(rows, max_depth, may_be_leaf, leaf_costs):
    """Sums of several costs, number of splits and depth of all trees, equal ones once.

    Parameters
    ----------
    rows, max_depth, may_be_leaf
        As above.

    leaf_costs : callable
        From a list of rows to the tuple of what it costs as a leaf.

    Returns
    -------
    measures : set of tuple
        The costs, without what is rounding, number of splits, depth.
    """
    measures = {(*leaf_costs(rows), 0, 0)} if may_be_leaf(rows) else set()
    if max_depth == 0 or not rows:
        return measures
    for column in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][column] == value] for value in (0, 1)]
        if not all(sides):
            continue
        first, second = (
            measures_of_all_trees(side, max_depth - 1, may_be_leaf, leaf_costs) for side in sides
        )
        for *costs, n_splits, depth in first:
            for *other_costs, n_others, other_depth in second:
                sums = [round(a + b, 9) for a, b in zip(costs, other_costs, strict=True)]
                measures.add((*sums, n_splits + n_others + 1, 1 + max(depth, other_depth)))
    return measures
