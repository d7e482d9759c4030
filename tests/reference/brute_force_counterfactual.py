"""The cost of the nearest row with a wanted answer, by trying all rows of a grid."""

import itertools
import math


def nearest_cost(row, kinds, grids, is_wanted, fixed, costs):
    """Cost of the cheapest wanted row, and how it is ranked among equals; None if there is none.

    Parameters
    ----------
    row : list
        The row; None where a value is missing.

    kinds : list of str
        "numeric", "ordinal" or "nominal" for each column.

    grids : list of list
        Values to try for each column, beside the row's own. Of an ordinal column, all categories in
        their order.

    is_wanted : callable
        Takes a list of rows; returns for each whether its answer is wanted.

    fixed : set of int
        Columns that keep their value.

    costs : dict of int to float
        Cost by unit, step or change. Other columns cost 1.

    Returns
    -------
    cost : tuple of float or None
        The cost, and the sum of relative changes.
    """
    choices = []
    for j, (value, grid) in enumerate(zip(row, grids, strict=True)):
        others = [] if j in fixed else [new for new in grid if new != value]
        choices.append([(value, (0.0, 0.0)), *((v, price(value, v, kinds[j], grid, costs.get(j)))
                                               for v in others)])  # fmt: skip
    rows, prices = [], []
    for combination in itertools.product(*choices):
        rows.append([value for value, _ in combination])
        parts = [cost for _, cost in combination]
        prices.append((math.fsum(p[0] for p in parts), math.fsum(p[1] for p in parts)))
    wanted = is_wanted(rows)
    return min((cost for cost, good in zip(prices, wanted, strict=True) if good), default=None)


def price(old, new, kind, grid, cost):
    """Cost of one change, and its relative size."""
    if old is None or (old not in grid and kind == "ordinal") or kind == "nominal":
        return 1.0 if cost is None else cost, 1.0
    if kind == "ordinal":
        steps = abs(grid.index(old) - grid.index(new))
        relative = steps / (len(grid) - 1)
    else:
        steps = abs(old - new)
        relative = steps / max(abs(old), abs(new))
    return 1.0 if cost is None else cost * steps, relative
