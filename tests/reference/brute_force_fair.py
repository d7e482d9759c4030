"""Costs and positive answers by group of every tree with every answer of its leaves."""

from itertools import combinations, product


def sums_of_all_trees(rows, n_groups, max_depth, may_be_leaf, costs, split_cost=0.0):
    """Every cost and weight of positive answers by class and group that some tree has.

    Parameters
    ----------
    rows : list of (tuple of 0/1, class, group, weight)
        The training rows; classes are 0 and 1, groups count from 0.

    n_groups : int
        Number of groups.

    max_depth : int
        Most tests on a path.

    may_be_leaf : callable
        Whether a list of rows is large enough for a leaf.

    costs : sequence of sequences
        Cost of answering the second index for a row of weight 1 of the class of the first.

    split_cost : float
        Cost of each split.

    Returns
    -------
    sums : set of tuple
        Cost, and weight of the rows that are answered 1 by (class, group), without what is
        rounding.
    """
    sums = set()
    if may_be_leaf(rows):
        for answer in (0, 1):
            cost = sum(costs[label][answer] * weight for _, label, _, weight in rows)
            by_code = [
                answer * sum(w for _, label, group, w in rows if (label, group) == code)
                for code in product((0, 1), range(n_groups))
            ]
            sums.add((round(cost, 9), *(round(w, 9) for w in by_code)))
    if max_depth == 0:
        return sums
    for column in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][column] == value] for value in (0, 1)]
        if not all(sides):
            continue
        below = [
            sums_of_all_trees(side, n_groups, max_depth - 1, may_be_leaf, costs, split_cost)
            for side in sides
        ]
        for first in below[0]:
            for second in below[1]:
                cost, *by_code = (a + b for a, b in zip(first, second, strict=True))
                sums.add((round(cost + split_cost, 9), *(round(w, 9) for w in by_code)))
    return sums


def differences(sums, totals, of_positives):
    """Pairs of cost and largest difference of two groups' rates; `totals` by (class, group)."""
    pairs, n_groups = set(), len(totals) // 2
    for cost, *by_code in sums:
        rates = [
            (by_code[n_groups + group] + (0 if of_positives else by_code[group]))
            / (totals[n_groups + group] + (0 if of_positives else totals[group]))
            for group in range(n_groups)
        ]
        apart = max(abs(one - other) for one, other in combinations(rates, 2))
        pairs.add((cost, round(apart, 9)))
    return pairs
