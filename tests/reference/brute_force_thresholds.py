"""Least cost of any tree over all thresholds, categories and sides for missing values.

Slow and obvious: every test of every column divides the rows, both sides are solved in the same
way, and the cheapest sum wins. Rows are tuples of floats with NaN for missing.
"""

import math
from itertools import combinations


def divisions(rows, nominal, subsets=False):
    """All ways a test can divide `rows` (lists of row numbers) into two non-empty sides.

    `rows` are (number, values) pairs; `nominal` says which columns hold categories. Of these one
    is asked for, or with `subsets` any number of them.
    """
    for j, is_nominal in enumerate(nominal):
        missing = [i for i, values in rows if math.isnan(values[j])]
        present = [(i, values[j]) for i, values in rows if not math.isnan(values[j])]
        conditions = []
        distinct = sorted({value for _, value in present})
        for v in distinct:
            if is_nominal:
                conditions.append([i for i, value in present if value == v])
            else:
                conditions.append([i for i, value in present if value <= v])
        if is_nominal and subsets:
            for size in range(2, len(distinct)):
                for asked in combinations(distinct, size):
                    conditions.append([i for i, value in present if value in asked])
        conditions = [met + extra for met in conditions for extra in ([], missing)] + [missing]
        for met in conditions:
            met = set(met)
            if 0 < len(met) < len(rows):
                yield (
                    [row for row in rows if row[0] in met],
                    [row for row in rows if row[0] not in met],
                )


def classification_leaf(y, weights, cost_matrix):
    """Cost of a leaf: the answer whose summed cost over its rows is least."""

    def cost(rows):
        return min(
            sum(weights[i] * cost_matrix[y[i]][answer] for i, _ in rows)
            for answer in range(len(cost_matrix))
        )

    return cost


def gini_leaf(y, weights):
    """Cost of a leaf: its weight less what is expected of guessing by the shares of the classes."""

    def cost(rows):
        weight = sum(weights[i] for i, _ in rows)
        by_class = {}
        for i, _ in rows:
            by_class[y[i]] = by_class.get(y[i], 0.0) + weights[i]
        return weight * (1.0 - sum((part / weight) ** 2 for part in by_class.values()))

    return cost


def squared_error_leaf(y, weights):
    """Cost of a leaf: squared distance from the weighted mean."""

    def cost(rows):
        weight = sum(weights[i] for i, _ in rows)
        mean = sum(weights[i] * y[i] for i, _ in rows) / weight
        return sum(weights[i] * (y[i] - mean) ** 2 for i, _ in rows)

    return cost


def absolute_error_leaf(y, weights):
    """Cost of a leaf: distance from the target that is best."""

    def cost(rows):
        return min(sum(weights[i] * abs(y[i] - y[answer]) for i, _ in rows) for answer, _ in rows)

    return cost


def best_cost(
    rows,
    leaf_cost,
    nominal,
    weights,
    *,
    max_depth,
    max_splits=None,
    min_rows=1,
    min_weight=0.0,
    split_cost=0.0,
    subsets=False,
):
    """Least cost of a tree on `rows`; infinite when the minima forbid all trees."""
    if max_splits is None:
        max_splits = 2**max_depth - 1
    best = math.inf
    if len(rows) >= min_rows and sum(weights[i] for i, _ in rows) >= min_weight:
        best = leaf_cost(rows)
    if max_depth == 0 or max_splits == 0 or best == 0.0:
        return best
    limits = {"min_rows": min_rows, "min_weight": min_weight, "split_cost": split_cost}
    limits["subsets"] = subsets
    # No more splits than a side's depth has room for: other allotments repeat these.
    room = 2 ** (max_depth - 1) - 1
    allotments = {(min(k, room), min(max_splits - 1 - k, room)) for k in range(max_splits)}
    for left, right in divisions(rows, nominal, subsets):
        solved = {}
        for side, part in enumerate((left, right)):
            for n_splits in {allotment[side] for allotment in allotments}:
                solved[side, n_splits] = best_cost(
                    part,
                    leaf_cost,
                    nominal,
                    weights,
                    max_depth=max_depth - 1,
                    max_splits=n_splits,
                    **limits,
                )
        for a, b in allotments:
            best = min(best, solved[0, a] + solved[1, b] + split_cost)
    return best
