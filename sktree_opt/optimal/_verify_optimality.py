"""The proof of an optimal tree, made again by a search that shares nothing with the engines.

``TestedRows`` lists every test of the table and what leaves cost, straight from the definitions.
``ExhaustiveSearch`` tries all trees of one level more at a time. Its only cutoff is that costs are
not negative: a side is not searched once the other side alone costs too much.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from math import ceil, inf

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.utils._typing import TableLike

# Costs closer than this share of those of a single leaf are equal.
ROUNDING = 1e-9

MOST_REMEMBERED = 500_000


@dataclass(frozen=True)
class Verification:
    """The result of ``verify_optimality``.

    Parameters
    ----------
    status : {"proved", "refuted", "time_limit"}
        Whether the model's claims hold; "time_limit" if that is still open.

    objective : float
        Of the model's tree on the rows, computed again.

    lower_bound : float
        The proved bound: no tree within the limits costs less.

    depth : int
        All trees of so many levels were tried, or excluded.

    n_subproblems : int
        Sets of rows that were searched.

    reason : str
        The finding in words.
    """

    status: str
    objective: float
    lower_bound: float
    depth: int
    n_subproblems: int
    reason: str


def verify_optimality(
    model: OptimalTreeClassifier | OptimalTreeRegressor,
    X: TableLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    time_limit: float | None = 60.0,
) -> Verification:
    """Prove again what a fitted optimal tree claims, by a simple search of its own.

    The tree must lie within its limits and cost `objective_`, and no tree may cost less than
    `lower_bound_`. Both are checked from the model's parameters and answers alone, with plain
    numpy: no code of the engines takes part, and none of their bounds.

    Read more in the :ref:`User Guide <verify_optimality>`.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        Fitted with ``thresholds="all"`` to the given targets, by an objective that sums over
        leaves.

    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
        The rows that it was fitted to.

    y : array-like of shape (n_samples,)
        Their class labels or targets.

    sample_weight : array-like of shape (n_samples,) or None, default=None
        Their weights; None for equal ones.

    time_limit : float or None, default=60.0
        Seconds after which the proof is given up; None for no limit.

    Returns
    -------
    verification : Verification
        ``status`` is "proved", "refuted" or "time_limit", ``reason`` says why, and ``depth`` how
        many levels are done.

    See Also
    --------
    OptimalTreeClassifier : Makes the claim.

    Notes
    -----
    The time grows with the number of tests to the power of `max_depth` less one: tables of about
    100 tests take seconds to depth 3.

    Examples
    --------
    >>> from sktree_opt import OptimalTreeClassifier, verify_optimality
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> verify_optimality(model, X, y).status
    'proved'
    """
    if not isinstance(model, (OptimalTreeClassifier, OptimalTreeRegressor)):
        raise TypeError(
            "model must be an OptimalTreeClassifier or OptimalTreeRegressor, got "
            f"{type(model).__name__}."
        )
    if time_limit is not None and not time_limit >= 0.0:
        raise ValueError(f"time_limit must be None or a number from 0 on, got {time_limit!r}.")
    check_is_fitted(model)
    if not (isinstance(model.thresholds, str) and model.thresholds == "all"):
        raise ValueError(f"verify_optimality needs thresholds='all', got {model.thresholds!r}.")
    if model.targets != "given":
        raise ValueError(f"verify_optimality needs targets='given', got {model.targets!r}.")
    end = inf if time_limit is None else time.perf_counter() + time_limit
    rows = TestedRows(model, X, y, sample_weight)
    objective, flaw = rows.check_tree(model, X)
    search = ExhaustiveSearch(rows, end)
    bound = search.bound_of_equal_rows()
    if flaw:
        return Verification("refuted", objective, bound, 0, 0, flaw)
    claimed, depth = float(model.lower_bound_), 0
    if bound >= claimed - rows.tolerance:
        reason = "Rows that no test tells apart cost as much in every tree."
        return Verification("proved", objective, bound, rows.max_depth, 0, reason)
    try:
        for levels in range(rows.max_depth + 1):
            least = search.least(levels, claimed - rows.tolerance)
            if least < claimed - rows.tolerance:
                reason = f"A tree costs {least!r}, less than lower_bound_ = {claimed!r}."
                return Verification(
                    "refuted", objective, bound, levels, search.n_subproblems, reason
                )
            depth = levels
    except OutOfTimeError:
        reason = f"Trees of more than {depth} levels are not excluded yet: {time_limit} s are over."
        return Verification("time_limit", objective, bound, depth, search.n_subproblems, reason)
    reason = f"No tree of at most {depth} levels costs less than lower_bound_ = {claimed!r}."
    return Verification("proved", objective, claimed, depth, search.n_subproblems, reason)


class OutOfTimeError(Exception):
    """The time limit of a proof is over."""


class TestedRows:
    """The rows that have weight, all tests of the table, and what leaves cost.

    Attributes
    ----------
    passes : ndarray of bool, shape (n_tests, n_rows)
        Each way in which a test divides the rows, once.

    sums : ndarray of shape (n_rows, n_sums)
        What each row adds to the sums that a leaf's cost is made of.

    tolerance : float
        Costs that are closer are equal.
    """

    def __init__(self, model, X, y, sample_weight):
        y = np.asarray(y)
        weights = np.ones(len(y))
        if sample_weight is not None:
            weights = weights * np.asarray(sample_weight, dtype=np.float64)
        self.kept = np.flatnonzero(weights)
        given_labels = y
        y, weights = y[self.kept], weights[self.kept]
        if getattr(model, "class_weight", None) is not None:
            weights = weights * compute_sample_weight(model.class_weight, y)
        self.y, self.weights, self.objective = y, weights, model.objective
        n, total = len(y), float(weights.sum())
        self._set_costs(model, given_labels)
        self.split_cost = model.complexity_cost * total
        least = model.min_samples_leaf
        self.min_rows = least if isinstance(least, int) else ceil(least * n)
        self.min_weight = max(model.min_weight_leaf, model.min_weight_fraction_leaf * total)
        most = n - 1 if model.max_leaf_nodes is None else model.max_leaf_nodes - 1
        self.max_splits = min(most, n - 1)
        self.max_depth = min(inf if model.max_depth is None else model.max_depth, self.max_splits)
        matrix = model._encoder.transform(X)
        matrix = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
        matrix = matrix[self.kept].astype(np.float64)
        is_nominal = np.asarray(model._encoder.n_categories_) >= 0
        by_subset = model.categorical_splits == "subset"
        found = [np.zeros((0, n), dtype=bool)]
        for column, nominal in zip(matrix.T, is_nominal, strict=True):
            found += list(divisions(column, nominal, by_subset))
        passes = np.vstack(found)
        # A test and its opposite are one division.
        passes ^= passes[:, :1]
        passes = np.unique(passes, axis=0)
        self.passes = passes[passes.any(axis=1)]
        root = self.leaf_cost(np.arange(n))
        self.tolerance = ROUNDING * max(root, abs(float(model.objective_)), total * 1e-3)

    def _set_costs(self, model, given_labels):
        n = len(self.y)
        if isinstance(model, OptimalTreeRegressor):
            middle = self.y.astype(np.float64) - np.average(self.y, weights=self.weights)
            self.targets = middle
            self.sums = self.weights[:, np.newaxis] * np.column_stack(
                [np.ones(n), middle, middle**2]
            )
            return
        self.classes, labels = np.unique(self.y, return_inverse=True)
        k = len(self.classes)
        self.sums = np.zeros((n, k))
        self.sums[np.arange(n), labels] = self.weights
        self.costs = 1.0 - np.eye(k)
        if self.objective == "balanced_error":
            of_class = self.sums.sum(axis=0)
            has_weight = of_class > 0.0
            factors = np.divide(
                of_class.sum(), of_class * has_weight.sum(), out=np.zeros(k), where=has_weight
            )
            self.costs = factors[:, np.newaxis] * self.costs
        elif self.objective == "cost":
            # The matrix has a row for each class of `y`, those without weight, too.
            present = np.isin(np.unique(given_labels), self.classes)
            costs = np.asarray(model.cost_matrix, dtype=np.float64)
            self.costs = costs[np.ix_(present, present)]
        elif self.objective not in ("error", "gini", "entropy", "log_loss"):
            raise ValueError(
                f"verify_optimality does not know objective={self.objective!r}: it is not a plain "
                "sum over leaves."
            )

    def costs_of(self, sums):
        """Cost of leaves from their sums, in the last dimension."""
        if self.objective == "squared_error":
            weight, first, second = np.moveaxis(sums, -1, 0)
            mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0.0)
            return np.maximum(0.0, second - mean * first)
        if self.objective in ("error", "balanced_error", "cost"):
            return (sums @ self.costs).min(axis=-1)
        weight = sums.sum(axis=-1, keepdims=True)
        shares = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0.0)
        if self.objective == "gini":
            return weight[..., 0] * (1.0 - (shares**2).sum(axis=-1))
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0.0)
        return np.maximum(0.0, -(sums * logs).sum(axis=-1))

    def leaf_cost(self, rows):
        """Cost of some rows as one leaf."""
        if self.objective != "absolute_error":
            return float(self.costs_of(self.sums[rows].sum(axis=0)))
        targets, weights = self.targets[rows], self.weights[rows]
        order = np.argsort(targets)
        middle = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2.0)
        return float(weights @ np.abs(targets - targets[order][min(middle, len(order) - 1)]))

    def is_large_enough(self, n_rows, weight):
        """Whether leaves of so many rows and so much weight are allowed."""
        slack = ROUNDING * self.weights.sum()
        return (n_rows >= max(1, self.min_rows)) & (weight >= self.min_weight - slack)

    def check_tree(self, model, X):
        """Objective of the model's tree, and what is wrong with it, or nothing."""
        leaves, answers = model.apply(X)[self.kept], model.predict(X)[self.kept]
        cost, flaw = self.split_cost * model.tree_.n_splits, ""
        for leaf in np.unique(leaves):
            rows = np.flatnonzero(leaves == leaf)
            cost += self.cost_of_answers(rows, answers[rows])
            if not self.is_large_enough(len(rows), self.weights[rows].sum()):
                flaw = f"Leaf {leaf} is smaller than the minimum."
        if model.tree_.depth > self.max_depth or model.tree_.n_splits > self.max_splits:
            flaw = "The tree has more levels or leaves than are allowed."
        if abs(cost - model.objective_) > self.tolerance:
            flaw = f"The tree costs {cost!r}, not objective_ = {model.objective_!r}."
        elif model.lower_bound_ > model.objective_ + self.tolerance:
            flaw = "lower_bound_ exceeds objective_."
        elif model.status_ == "optimal" and model.lower_bound_ < model.objective_ - self.tolerance:
            flaw = "status_ is 'optimal', but lower_bound_ is below objective_."
        return float(cost), flaw

    def cost_of_answers(self, rows, answers):
        """Cost of what a leaf answers."""
        if self.objective in ("squared_error", "absolute_error"):
            power = 2 if self.objective == "squared_error" else 1
            return float(self.weights[rows] @ np.abs(self.y[rows] - answers) ** power)
        if self.objective in ("error", "balanced_error", "cost"):
            answered = np.searchsorted(self.classes, answers)
            return float((self.sums[rows] * self.costs.T[answered]).sum())
        return self.leaf_cost(rows)


def divisions(column, is_nominal, by_subset):
    """Outcomes of all tests of one column, NaN where it is missing."""
    missing = np.isnan(column)
    values = np.unique(column[~missing])
    if not is_nominal:
        asked = [column <= value for value in values[:-1]]
    else:
        sizes = range(1, len(values)) if by_subset else [1]
        asked = [np.isin(column, part) for size in sizes for part in combinations(values, size)]
    yield missing
    for passes in asked:
        yield passes & ~missing
        if missing.any():
            yield passes | missing


class ExhaustiveSearch:
    """All trees, one level more at a time.

    Parameters
    ----------
    rows : TestedRows

    end : float
        When to give up, by ``time.perf_counter``.
    """

    def __init__(self, rows, end):
        self.rows, self.end = rows, end
        self.n_subproblems = 0
        # By set of rows, levels and tests: (cost, whether it is the least or just a bound).
        self.known = {}

    def bound_of_equal_rows(self):
        """Cost of the rows that no test tells apart: they share a leaf in every tree."""
        rows = self.rows
        _, group = np.unique(rows.passes, axis=1, return_inverse=True)
        group = group.ravel() if len(rows.passes) else np.zeros(len(rows.y), dtype=int)
        order = np.argsort(group, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
        return float(sum(rows.leaf_cost(part) for part in parts))

    def least(self, levels, limit):
        """The least cost of a tree of so many levels, or any cost from `limit` on."""
        return self._solve(np.arange(len(self.rows.y)), levels, self.rows.max_splits, limit)

    def _solve(self, part, levels, n_splits, limit):
        if time.perf_counter() >= self.end:
            raise OutOfTimeError
        self.n_subproblems += 1
        rows, n = self.rows, len(part)
        n_splits = min(n_splits, 2 ** min(levels, 30) - 1, n - 1)
        is_leaf = rows.is_large_enough(n, rows.weights[part].sum())
        best = rows.leaf_cost(part) if is_leaf else inf
        if n_splits < 1:
            return best
        key = part.tobytes(), levels, n_splits
        cost, is_least = self.known.get(key, (0.0, False))
        if is_least or cost >= limit:
            return cost
        passes = rows.passes[:, part]
        n_with = passes.sum(axis=1)
        tests = np.flatnonzero((n_with > 0) & (n_with < n))
        if levels == 1 or n_splits == 1:
            best = min(best, self._one_test(part, passes[tests]))
        else:
            room = 2 ** min(levels - 1, 30) - 1
            shares = {(min(k, room), min(n_splits - 1 - k, room)) for k in range(n_splits)}
            for with_test in passes[tests]:
                for left, right in shares:
                    most = min(limit, best) - rows.split_cost
                    cost = self._solve(part[with_test], levels - 1, left, most)
                    if cost < most:
                        cost += self._solve(part[~with_test], levels - 1, right, most - cost)
                    best = min(best, cost + rows.split_cost)
        if len(self.known) < MOST_REMEMBERED:
            self.known[key] = (best, True) if best < limit else (limit, False)
        return best

    def _one_test(self, part, passes):
        """The least cost of a tree of one test."""
        rows = self.rows
        if not len(passes):
            return inf
        with_test = passes.astype(np.float64)
        n_with, weight = passes.sum(axis=1), rows.weights[part]
        weight_with = with_test @ weight
        allowed = rows.is_large_enough(n_with, weight_with)
        allowed &= rows.is_large_enough(len(part) - n_with, weight.sum() - weight_with)
        if not allowed.any():
            return inf
        if rows.objective == "absolute_error":
            sides = [(part[side], part[~side]) for side in passes[allowed]]
            costs = [rows.leaf_cost(a) + rows.leaf_cost(b) for a, b in sides]
            return min(costs) + rows.split_cost
        sums = rows.sums[part]
        of_with = with_test[allowed] @ sums
        others = np.maximum(0.0, sums.sum(axis=0) - of_with)
        if rows.objective == "squared_error":
            others = sums.sum(axis=0) - of_with
        return float((rows.costs_of(of_with) + rows.costs_of(others)).min()) + rows.split_cost
