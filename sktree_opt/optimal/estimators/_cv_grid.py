"""The parameters that cross-validation tries, the table of their scores, and the choice among them.

One search answers for every depth and number of leaves, or for every cost of a test. Other
parameters, such as `min_samples_leaf`, need a search for each of their values: a *setting*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from sktree_opt.optimal.run._bits_solver import n_useful_splits

RULES = ("best", "one_standard_error")


@dataclass(frozen=True)
class Point:
    """Parameters that are tried.

    Attributes
    ----------
    setting : int
        Which of the settings of the grid.

    depth, splits : int
        Largest depth and number of tests.

    cost : float or None
        Cost of a test; None if sizes are tried instead.

    params : dict
        The parameters as an estimator takes them.
    """

    setting: int
    depth: int
    splits: int
    cost: float | None
    params: dict[str, Any]

    @property
    def size(self):
        """Sorts points: the simplest one is the least."""
        return (self.splits if self.cost is None else -self.cost, self.depth, self.setting)


@dataclass(frozen=True)
class Grid:
    """What is tried.

    Attributes
    ----------
    settings : list of dict
        Parameters of each search.

    tuned : tuple of str
        Those of them that have several values.

    depths : list of int
        Largest depths.

    leaves : list of int or None
        Numbers of leaves; None for all that are useful.

    max_leaf_nodes : int or None
        No tree has more leaves.

    costs : list of float, "all" or None
        Costs of a test; "all" for one in each range that has the same trees; None for sizes.
    """

    settings: list[dict[str, Any]]
    tuned: tuple[str, ...]
    depths: list[int]
    leaves: list[int] | None
    max_leaf_nodes: int | None
    costs: Any

    @property
    def max_depth(self):
        """The largest depth."""
        return max(self.depths)

    def points(self, folds):
        """All that is tried, once the folds have been searched."""
        costs = self.costs
        if isinstance(costs, str):
            costs = costs_between([fold.changes(self.depths) for fold in folds])
        found = []
        for k, setting in enumerate(self.settings):
            params = {name: setting[name] for name in self.tuned}
            for depth in self.depths:
                if costs is None:
                    found += self._sizes(k, depth, params)
                else:
                    splits = n_useful_splits(depth, self._most_splits(depth))
                    found += [
                        Point(k, depth, splits, cost, self._of_cost(params, depth, cost))
                        for cost in costs
                    ]
        return found

    def _of_cost(self, params, depth, cost):
        return {"max_depth": depth, "complexity_cost": cost} | params

    def _most_splits(self, depth):
        most = 2**depth - 1
        return most if self.max_leaf_nodes is None else min(most, self.max_leaf_nodes - 1)

    def _sizes(self, setting, depth, params):
        """The points of one setting and depth, by number of leaves."""
        most = self._most_splits(depth)
        if depth == 0 or most == 0:
            sizes = [None]
        elif self.leaves is None:
            # A depth needs as many tests.
            sizes = list(range(depth + 1, most + 2))
        else:
            sizes = self.leaves
        return [
            Point(
                setting,
                depth,
                0 if leaves is None else min(leaves - 1, 2**depth - 1),
                None,
                {"max_depth": depth, "max_leaf_nodes": leaves} | params,
            )
            for leaves in sizes
        ]


def make_grid(model, searched):
    """The grid that the parameters of a cross-validated tree ask for.

    Parameters
    ----------
    model : estimator

    searched : tuple of str
        Parameters of which each value needs a search.
    """
    values = {name: listed(getattr(model, name), name) for name in searched}
    tuned = tuple(name for name in searched if is_list(getattr(model, name)))
    settings = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    costs = model.complexity_cost
    if costs is not None and not isinstance(costs, str):
        costs = [float(cost) for cost in listed(costs, "complexity_cost")]
        refuse(costs, "complexity_cost", lambda cost: cost >= 0.0, "at least 0")
    depths = model.max_depth
    if is_list(depths):
        depths = [int(depth) for depth in listed(depths, "max_depth")]
        refuse(depths, "max_depth", lambda depth: 0 <= depth <= 10, "between 0 and 10")
    else:
        depths = list(range(depths + 1)) if costs is None else [depths]
    leaves, most = None, model.max_leaf_nodes
    if is_list(most):
        leaves = [int(one) for one in listed(most, "max_leaf_nodes")]
        refuse(leaves, "max_leaf_nodes", lambda one: one >= 2, "at least 2")
        if costs is not None:
            raise ValueError(
                "max_leaf_nodes must be a number or None where complexity_cost is tried, got "
                f"{most!r}."
            )
        most = max(leaves)
    return Grid(settings, tuned, depths, leaves, most, costs)


def is_list(value):
    """Whether several values are given."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def listed(value, name):
    """The values of a parameter as a list."""
    if not is_list(value):
        return [value]
    values = list(value)
    if not values:
        raise ValueError(f"{name} must have at least one value, got {value!r}.")
    return values


def refuse(values, name, is_right, expected):
    """Raise for the first value that is not right."""
    for value in values:
        if not is_right(value):
            raise ValueError(f"Each {name} must be {expected}, got {value!r}.")


def costs_between(changes):
    """A cost of a test within each range of costs in which no fold changes its tree.

    Parameters
    ----------
    changes : list of ndarray
        Of each fold, the costs at which its best tree changes.
    """
    at = np.unique(np.concatenate([np.empty(0), *changes]))
    at = at[at > 0.0]
    if len(at) == 0:
        return [0.0]
    # Folds that change at the same cost differ by rounding.
    at = at[np.append(True, at[1:] > at[:-1] * (1.0 + 1e-9))]
    return [0.0, *np.sqrt(at[:-1] * at[1:]).tolist(), 2.0 * float(at[-1])]


def results_of(points, folds, n_splits, metrics):
    """``cv_results_``: the score of each point on each fold, with means and ranks.

    Parameters
    ----------
    points : list of Point

    folds : dict
        ``ScoredFold`` by (setting, fold).

    n_splits : int
        Number of folds.

    metrics : list of str

    Returns
    -------
    results : dict
    """
    results: dict[str, Any] = {"params": [point.params for point in points]}
    for name in points[0].params:
        column = [point.params[name] for point in points]
        is_missing = [value is None for value in column]
        # Masked where a depth of 0 has no number of leaves.
        filled = [0 if value is None else value for value in column]
        dtype = None if all(isinstance(value, Real) for value in filled) else object
        results[f"param_{name}"] = np.ma.MaskedArray(np.array(filled, dtype=dtype), is_missing)
    for metric in metrics:
        scores = np.array(
            [
                [folds[point.setting, k].score(metric, point) for point in points]
                for k in range(n_splits)
            ]
        ).reshape(n_splits, len(points))
        # Without folds, all scores are missing.
        means = scores.mean(axis=0) if n_splits else np.full(len(points), np.nan)
        results |= {f"split{k}_test_{metric}": scores[k] for k in range(n_splits)}
        results[f"mean_test_{metric}"] = means
        results[f"std_test_{metric}"] = scores.std(axis=0) if n_splits else means
        results[f"rank_test_{metric}"] = ranks(means)
    return results


def ranks(scores):
    """Rank of each score, 1 for the best; equal scores share the better rank, NaN is the worst."""
    scores = np.where(np.isnan(scores), -np.inf, scores)
    return 1 + (scores[:, np.newaxis] < scores).sum(axis=1).astype(np.int32)


def best_index(points, results, metric, rule, n_splits):
    """Choose a point.

    Parameters
    ----------
    points : list of Point

    results : dict
        As ``results_of`` makes it.

    metric : str

    rule : {"best", "one_standard_error"}
        The simplest of the best points; or the simplest of those whose mean score is at most a
        standard error below the best one's.

    n_splits : int
        Number of folds.
    """
    means = results[f"mean_test_{metric}"]
    if n_splits == 0:
        # Without scores, the tree of the largest limits is the best known.
        return max(range(len(points)), key=lambda at: points[at].size)
    least = np.nanmax(means) if np.isfinite(means).any() else np.nan
    if rule == "one_standard_error" and n_splits > 1:
        best = simplest(points, means >= least)
        least -= results[f"std_test_{metric}"][best] / np.sqrt(n_splits - 1)
    is_good = means >= least
    return simplest(points, is_good if is_good.any() else np.ones(len(points), dtype=bool))


def simplest(points, is_allowed):
    """The first of the simplest points that are allowed."""
    return min(np.flatnonzero(is_allowed).tolist(), key=lambda at: points[at].size)
