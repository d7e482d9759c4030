"""What an optimal tree minimises: one class and one line of the registry for each objective.

An objective tells the engine which leaf score its kernels compute (see ``objectives.hpp``), and
what a row adds to the sums that the score reads. It also computes the cost of leaves from their
class weights; every tree that an engine returns is checked by this cost.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sktree_opt.utils._validation import common_divisor

# The leaf scores that kernels compute, in the order of ``scores.hpp``.
SCORES = ("two_class", "largest", "gini", "entropy", "pessimistic", "squared")

# Searches over binary tests make a table of classes by classes.
MAX_CLASSES = 8192


@dataclass
class LeafObjective:
    """An objective for given data, as the engine takes it.

    The cost of a tree is ``scale`` times what the engine minimises, which is
    ``unit * (base_factor * base - sum of leaf scores)`` plus the cost of its splits; `base` sums
    the masses of the rows.

    Attributes
    ----------
    score : str
        Name of the leaf score.

    class_channels : ndarray of shape (n_classes, n_channels) or (n_classes,)
        What a row of weight 1 adds to the sums that the score reads; in one dimension, the diagonal
        of a matrix that has nothing else, which may be large.

    class_mass : ndarray of shape (n_classes,)
        What it adds to the base.

    unit, base_factor, scale : float
        See above.

    leaf_cost : float
        Without a base, what the leaf that has all rows costs; else of no use.

    loss_factor : float
        The most that a row of mass 1 can add to the engine's cost.

    loss_is_bounded : bool
        Whether more rows never cost less, and never more than their loss.

    cancels : bool
        Whether equal rows of two classes of equal mass cost the same in every tree, as a pair.

    constant : float
        Cost that no tree avoids, not seen by the engine.

    least_weight : float
        Of a row.

    z, cf : float
        Normal quantile and confidence of the pessimistic error.
    """

    score: str
    class_channels: np.ndarray
    class_mass: np.ndarray
    unit: float = 1.0
    base_factor: float = 1.0
    leaf_cost: float = 0.0
    scale: float = 1.0
    loss_factor: float = 1.0
    loss_is_bounded: bool = True
    cancels: bool = False
    constant: float = 0.0
    least_weight: float = 1.0
    z: float = 0.0
    cf: float = 0.25

    @property
    def n_channels(self):
        """Number of sums that the score reads."""
        return self.class_channels.shape[-1]

    def channel_matrix(self):
        """`class_channels` in two dimensions."""
        is_diagonal = self.class_channels.ndim == 1
        return np.diag(self.class_channels) if is_diagonal else self.class_channels


def refuse_many_classes(form):
    """Raise if there are more classes than a search over binary tests can hold."""
    n_classes = len(form.class_mass)
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"y has {n_classes} classes; a search over binary tests takes at most {MAX_CLASSES}. "
            "With objective='error' and thresholds='all', numeric columns need no binary tests."
        )


def two_class_form(first, second, **settings):
    """The least of two linear costs: errors on class 0 and 1 that weigh `first` and `second`."""
    return LeafObjective(
        score="two_class",
        class_channels=np.array([[first], [-second]], dtype=np.float64),
        class_mass=np.array([first, second], dtype=np.float64),
        unit=0.5,
        cancels=True,
        **settings,
    )


def largest_form(costs, **settings):
    """The least of several linear costs: ``costs[c, a]`` for answering `a` for class `c`.

    The score is what the best answer saves over the worst, class by class.
    """
    savings = costs.max(axis=1, keepdims=True) - costs
    return LeafObjective(
        score="largest",
        class_channels=savings,
        class_mass=savings.max(axis=1),
        **settings,
    )


class MisclassificationCost:
    """Cost of the cheapest answer of each leaf, by a cost matrix."""

    needs_costs = True

    def costs(self, class_weights, cost_matrix):
        """Cost of answering class `a` (column) for a row of weight 1 of class `c` (row)."""
        return cost_matrix

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        costs = self.costs(class_weights, cost_matrix)
        # A cost that every answer has is a constant.
        least = costs.min(axis=1)
        constant = float(least @ class_weights)
        costs = costs - least[:, np.newaxis]
        if len(costs) == 1:
            return two_class_form(0.0, 0.0, constant=constant)
        # Whole costs are counted exactly, in narrow integers.
        factor = common_divisor(costs) or 1.0
        if factor != 1.0:
            costs = np.round(costs / factor)
        if len(costs) == 2 and not costs.diagonal().any():
            return two_class_form(costs[0, 1], costs[1, 0], scale=factor, constant=constant)
        return largest_form(costs, scale=factor, constant=constant)

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf, given its class weights (rows of `values`)."""
        return (values @ self.costs(class_weights, cost_matrix)).min(axis=1)


class Error:
    """Weight of the misclassified rows."""

    needs_costs = False

    def costs(self, class_weights, cost_matrix=None):
        """Cost of answering class `a` (column) for a row of weight 1 of class `c` (row)."""
        return self.factors(class_weights)[:, np.newaxis] * (1.0 - np.eye(len(class_weights)))

    def factors(self, class_weights):
        """Cost of an error on a row of weight 1 of each class: all errors cost 1."""
        return np.ones(len(class_weights))

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        factors = self.factors(class_weights)
        if len(factors) == 1:
            return two_class_form(0.0, 0.0)
        # Whole costs are counted exactly, in narrow integers.
        unit = common_divisor(factors) or 1.0
        if unit != 1.0:
            factors = np.round(factors / unit)
        if len(factors) == 2:
            return two_class_form(*factors, scale=unit)
        return LeafObjective("largest", factors, factors, scale=unit)

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf, given its class weights (rows of `values`)."""
        by_class = values * self.factors(class_weights)
        # A difference of sums would lose digits.
        by_class[np.arange(len(by_class)), by_class.argmax(axis=1)] = 0.0
        return by_class.sum(axis=1)


class BalancedError(Error):
    """Mean of the classes' error rates, times the total weight."""

    def factors(self, class_weights):
        """An error costs in inverse proportion to the weight of its class."""
        # A class whose weight is 0 has no error rate.
        has_weight = class_weights > 0.0
        shares = has_weight.sum() * class_weights
        factors = np.zeros(len(shares))
        np.divide(class_weights.sum(), shares, out=factors, where=has_weight)
        return factors


def least_weight(weights):
    """The least weight of a row that has one: class_weight may leave some without."""
    return float(weights.min(where=weights > 0.0, initial=weights.max()))


class Gini:
    """Gini impurity of the leaves, summed over rows."""

    needs_costs = False

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        n_classes = len(class_weights)
        # A row of weight w in a pure leaf of another class costs less than 2 w.
        return LeafObjective(
            "gini",
            np.ones(n_classes),
            np.ones(n_classes),
            loss_factor=2.0,
            least_weight=least_weight(weights),
        )

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf."""
        totals = values.sum(axis=1)
        return totals - (values**2).sum(axis=1) / np.where(totals > 0.0, totals, 1.0)


class Entropy:
    """Entropy of the leaves in bits, summed over rows."""

    needs_costs = False

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        n_classes = len(class_weights)
        least = least_weight(weights)
        # A row of weight w in a pure leaf of weight W of another class costs
        # (W + w) log (W + w) - W log W - w log w <= w (log (1 + W / w) + log e).
        loss = math.log2(1.0 + float(weights.sum()) / least) + math.log2(math.e)
        return LeafObjective(
            "entropy",
            np.ones(n_classes),
            np.ones(n_classes),
            base_factor=0.0,
            leaf_cost=float(self.leaf_costs(class_weights[np.newaxis], None)[0]),
            loss_factor=loss,
            least_weight=least,
        )

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf."""
        return x_log_x(values.sum(axis=1)) - x_log_x(values).sum(axis=1)


def x_log_x(x):
    """``x log2 x``, 0 at 0."""
    return x * np.log2(np.where(x > 0.0, x, 1.0))


@dataclass(frozen=True)
class PessimisticError:
    """C4.5's estimate of the errors that each leaf makes on new rows, by its confidence."""

    confidence: float = 0.25
    needs_costs = False

    def leaf_form(self, class_weights, weights, cost_matrix=None):
        """The objective for these data."""
        n_classes = len(class_weights)
        return LeafObjective(
            "pessimistic",
            np.ones(n_classes),
            np.ones(n_classes),
            base_factor=0.0,
            leaf_cost=float(self.leaf_costs(class_weights[np.newaxis], None)[0]),
            loss_is_bounded=False,
            least_weight=least_weight(weights),
            z=NormalDist().inv_cdf(1.0 - self.confidence),
            cf=self.confidence,
        )

    def leaf_costs(self, values, class_weights, cost_matrix=None):
        """Cost of each leaf."""
        totals = values.sum(axis=1)
        errors = totals - values.max(axis=1)
        return np.array(
            [self.upper_errors(w, e) for w, e in zip(totals, errors, strict=True)], dtype=np.float64
        )

    def upper_errors(self, weight, errors):
        """The estimate for a leaf: errors and what C4.5 adds to them."""
        if weight <= 0.0:
            return 0.0
        none = weight * (1.0 - self.confidence ** (1.0 / weight))
        if errors < 1e-6:
            return none
        if errors < 0.9999:
            return none + errors * (self.upper_errors(weight, 1.0) - none)
        if errors + 0.5 >= weight:
            return errors + 0.67 * max(0.0, weight - errors)
        z = NormalDist().inv_cdf(1.0 - self.confidence)
        f = errors + 0.5
        root = math.sqrt(f * (1.0 - f / weight) + z * z / 4.0)
        return weight * (f + z * z / 2.0 + z * root) / (weight + z * z)


class SquaredError:
    """Weighted sum of the squared distances from the leaf's mean."""

    # Of a distance.
    power = 2

    def node_values(self, targets, weights, reached):
        """Answer and cost of each node (see ``run._trees.NodeRows``)."""
        leaves, node_weights = reached.leaves, reached.weights[:, 0]
        n_nodes = len(reached.nodes)
        # Means are counted from a target of their own rows: exact where all of them are equal.
        bases = np.zeros(n_nodes)
        bases[leaves] = targets
        rises = targets - bases[leaves]
        means = np.bincount(leaves, weights * rises, n_nodes) / node_weights
        costs = np.bincount(leaves, weights * (rises - means[leaves]) ** 2, n_nodes)
        # Children come after their parents: what is known of two sets gives the mean and the
        # squared distances of both together.
        for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
            with_test, without = reached.nodes[at, 1:]
            share = node_weights[without] / node_weights[at]
            distance = (bases[without] - bases[with_test]) + (means[without] - means[with_test])
            bases[at], means[at] = bases[with_test], means[with_test] + share * distance
            between = node_weights[with_test] * share * distance**2
            costs[at] = costs[with_test] + costs[without] + between
        return bases + means, costs

    def leaf_form(self, targets, weights):
        """The objective for targets whose mean is about 0."""
        # The engine reads weights and targets; the class tables are not used.
        return LeafObjective(
            "squared",
            np.zeros((1, 2)),
            np.zeros(1),
            least_weight=least_weight(weights),
        )


class AbsoluteError:
    """Weighted sum of the distances from the leaf's median."""

    power = 1

    def node_values(self, targets, weights, reached):
        """Answer and cost of each node (see ``run._trees.NodeRows``)."""
        n_nodes = len(reached.nodes)
        by_leaf = np.argsort(reached.leaves, kind="stable")
        rows = np.split(by_leaf, np.cumsum(np.bincount(reached.leaves, minlength=n_nodes))[:-1])
        for at in np.flatnonzero(reached.nodes[:, 0] >= 0)[::-1]:
            with_test, without = reached.nodes[at, 1:]
            rows[at] = np.concatenate([rows[with_test], rows[without]])
        leaves = np.array([self.leaf(targets[r], weights[r]) for r in rows])
        return leaves[:, 0], leaves[:, 1]

    def leaf(self, targets, weights):
        """The answer of a leaf, and its cost."""
        # Sums do not depend on the order of rows.
        order = np.lexsort((weights, targets))
        targets, weights = targets[order], weights[order]
        below = np.cumsum(weights)
        half = below[-1] / 2.0
        # From the first to the second of these, all answers are as good.
        first = np.searchsorted(below, half)
        second = np.searchsorted(below, half, side="right")
        median = targets[first] / 2.0 + targets[min(second, len(targets) - 1)] / 2.0
        return median, (weights * np.abs(targets - median)).sum()

    def leaf_form(self, targets, weights):
        """The objective for these data."""
        return LeafObjective("absolute", np.zeros((1, 1)), np.zeros(1))


OBJECTIVES = {
    "error": Error(),
    "balanced_error": BalancedError(),
    "cost": MisclassificationCost(),
    "pessimistic_error": PessimisticError(),
    "gini": Gini(),
    "entropy": Entropy(),
    "log_loss": Entropy(),
}

REGRESSION_OBJECTIVES = {"squared_error": SquaredError(), "absolute_error": AbsoluteError()}
