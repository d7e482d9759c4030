"""Optimal trees by trying everything: slow, obvious, written from the definitions.

Rows are a list of 0/1 lists. ``best_cost`` goes through every test at every node and every way to
share the splits between the children; nothing is pruned, nothing is remembered.
"""

import math
from statistics import NormalDist


def error_cost(rows, problem):
    """Weight of the rows that the best single answer gets wrong."""
    sums = class_sums(rows, problem)
    return sum(sums) - max(sums)


def matrix_cost(rows, problem):
    """Cost of the cheapest answer."""
    sums = class_sums(rows, problem)
    classes = range(problem["n_classes"])
    return min(sum(sums[c] * problem["costs"][c][a] for c in classes) for a in classes)


def balanced_cost(rows, problem):
    """Errors, each divided by the weight of its class; times total weight over classes."""
    sums = class_sums(rows, problem)
    whole = class_sums(range(len(problem["y"])), problem)
    classes = range(problem["n_classes"])
    rates = [sums[c] / whole[c] if whole[c] else 0.0 for c in classes]
    n_present = sum(1 for c in classes if whole[c])
    return (sum(rates) - max(rates)) * sum(whole) / n_present


def gini_cost(rows, problem):
    """Weight times Gini impurity."""
    sums = class_sums(rows, problem)
    total = sum(sums)
    return total * (1.0 - sum((s / total) ** 2 for s in sums)) if total > 0 else 0.0


def entropy_cost(rows, problem):
    """Weight times entropy in bits."""
    sums = class_sums(rows, problem)
    total = sum(sums)
    return -sum(s * math.log2(s / total) for s in sums if s > 0)


def pessimistic_cost(rows, problem):
    """Quinlan's estimate of future errors, by default at confidence 0.25."""
    sums = class_sums(rows, problem)
    cf = problem.get("confidence", 0.25)
    return estimated_errors(sum(sums), sum(sums) - max(sums), cf)


def estimated_errors(n, e, cf=0.25):
    """C4.5: errors plus what its AddErrs adds."""
    if n <= 0.0:
        return 0.0
    if e < 1e-6:
        return n * (1.0 - math.exp(math.log(cf) / n))
    if e < 0.9999:
        zero = estimated_errors(n, 0.0, cf)
        return zero + e * (estimated_errors(n, 1.0, cf) - zero)
    if e + 0.5 >= n:
        return e + 0.67 * max(n - e, 0.0)
    z2 = NormalDist().inv_cdf(1.0 - cf) ** 2
    rate = (e + 0.5 + z2 / 2.0 + math.sqrt(z2 * ((e + 0.5) * (1.0 - (e + 0.5) / n) + z2 / 4.0))) / (
        n + z2
    )
    return n * rate


def squared_cost(rows, problem):
    """Weighted squared distances from the mean."""
    w, y = problem["weights"], problem["y"]
    total = sum(w[i] for i in rows)
    mean = sum(w[i] * y[i] for i in rows) / total
    return sum(w[i] * (y[i] - mean) ** 2 for i in rows)


LEAF_COSTS = {
    "error": error_cost,
    "cost": matrix_cost,
    "balanced_error": balanced_cost,
    "gini": gini_cost,
    "entropy": entropy_cost,
    "log_loss": entropy_cost,
    "pessimistic_error": pessimistic_cost,
    "squared_error": squared_cost,
}


def class_sums(rows, problem):
    sums = [0.0] * problem["n_classes"]
    for i in rows:
        sums[problem["y"][i]] += problem["weights"][i]
    return sums


def is_allowed(rows, problem):
    """Whether these rows may be a leaf."""
    weight = sum(problem["weights"][i] for i in rows)
    return (
        len(rows) >= max(1, problem["min_samples_leaf"])
        and weight >= problem["min_weight_leaf"] - 1e-9
    )


def best_cost(rows, depth, splits, problem):
    """The least cost of a tree for `rows`, infinite if there is none."""
    best = math.inf
    if is_allowed(rows, problem):
        best = LEAF_COSTS[problem["objective"]](rows, problem)
    if depth == 0 or splits == 0:
        return best
    for test in range(len(problem["X"][0])):
        with_test = [i for i in rows if problem["X"][i][test]]
        without = [i for i in rows if not problem["X"][i][test]]
        if not with_test or not without:
            continue
        most = 2 ** (depth - 1) - 1
        for left in range(min(most, splits - 1) + 1):
            right = min(most, splits - 1 - left)
            cost = best_cost(with_test, depth - 1, left, problem) + best_cost(
                without, depth - 1, right, problem
            )
            best = min(best, cost + problem["split_cost"])
    return best


def best_cost_of_any_depth(rows, problem, known=None):
    """The least cost of a tree of any depth and size for `rows`; sets of rows are kept."""
    known = {} if known is None else known
    key = tuple(rows)
    if key not in known:
        best = math.inf
        if is_allowed(rows, problem):
            best = LEAF_COSTS[problem["objective"]](rows, problem)
        for test in range(len(problem["X"][0])):
            sides = [[i for i in rows if problem["X"][i][test] == side] for side in (0, 1)]
            if all(sides):
                costs = [best_cost_of_any_depth(side, problem, known) for side in sides]
                best = min(best, sum(costs) + problem["split_cost"])
        known[key] = best
    return known[key]
