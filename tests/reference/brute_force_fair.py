"""Costs and positive answers by group of every tree with every answer of its leaves."""


def sums_of_all_trees(rows, max_depth, may_be_leaf, costs, split_cost=0.0):
    """Every cost and weight of positive answers in both groups that some tree has.

    Parameters
    ----------
    rows : list of (tuple of 0/1, class, group, weight)
        The training rows; classes and groups are 0 and 1.

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
                for code in ((0, 0), (0, 1), (1, 0), (1, 1))
            ]
            sums.add((round(cost, 9), *(round(w, 9) for w in by_code)))
    if max_depth == 0:
        return sums
    for column in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][column] == value] for value in (0, 1)]
        if not all(sides):
            continue
        below = [
            sums_of_all_trees(side, max_depth - 1, may_be_leaf, costs, split_cost) for side in sides
        ]
        for first in below[0]:
            for second in below[1]:
                cost, *by_code = (a + b for a, b in zip(first, second, strict=True))
                sums.add((round(cost + split_cost, 9), *(round(w, 9) for w in by_code)))
    return sums


def differences(sums, totals, of_positives):
    """Pairs of cost and difference of the two groups' rates; `totals` by (class, group)."""
    pairs = set()
    for cost, *by_code in sums:
        rates = [
            (by_code[2 + group] + (0 if of_positives else by_code[group]))
            / (totals[2 + group] + (0 if of_positives else totals[group]))
            for group in (0, 1)
        ]
        pairs.add((cost, round(abs(rates[1] - rates[0]), 9)))
    return pairs
