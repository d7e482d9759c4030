"""DT(S) on checked data: what the greedy trees and the searches for feature subsets grow.

``make_learner`` is all that a search needs of a greedy tree's parameters: it checks them against
the data, and grows the tree of any features and rows, as ``fit`` does with all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

import sktree_opt.greedy._grow as _grow
from sktree_opt.greedy._registries import (
    CLASSIFICATION_CRITERIA,
    CLASSIFICATION_PRUNINGS,
    NOMINAL_SPLITS,
    REGRESSION_CRITERIA,
    REGRESSION_PRUNINGS,
    split_for_validation,
)
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree import Tree
from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._params import rows_from
from sktree_opt.utils._validation import TrainingData, checked_costs, refuse_extreme_weights

MAX_CLASSES = 65535
# Numeric tests of a tree whose thresholds are made short.
MOST_READ_TESTS = 100
# Its square is a float.
LARGEST_ROOT = 1e154
# Sums of squares up to here, and their products with weights, are finite.
LARGEST_TARGET = 1e150


def make_learner(tree, data, n_threads):
    """Check the parameters of a greedy tree against a training set, and rank its columns.

    Parameters
    ----------
    tree : GreedyTreeClassifier or GreedyTreeRegressor
        Parameters that have been validated; it is not changed.

    data : TrainingData
        Its matrix is dropped when it has been ranked.

    n_threads : int

    Returns
    -------
    learner : Learner
    """
    refuse_extreme_weights(data.weights)
    costs = None
    if data.classes is None:
        refuse_extreme_targets(data.y, data.weights)
    else:
        if len(data.classes) > MAX_CLASSES:
            raise ValueError(f"y must have at most {MAX_CLASSES} classes, got {len(data.classes)}.")
        if tree.cost_matrix is not None:
            costs = checked_costs(tree.cost_matrix, data)
        elif criterion_of(tree).needs_costs:
            raise ValueError(f"criterion={tree.criterion!r} needs a cost_matrix.")
    matrix, data.matrix = data.matrix, None
    if tree.nominal_split == "multiway" and data.encoder.identifiers_:
        # A branch for each value would be a leaf for each row: the column is not split on.
        matrix = matrix.copy()
        matrix[:, data.encoder.identifiers_] = np.nan
    table = Table.from_matrix(matrix, data.encoder.n_categories_, n_threads)
    if tree.missing == "category":
        table = table.with_missing_as_value()
    refuse_large_subsets(tree, table, data)
    weights, unit = (None, 1.0) if data.has_unit_weights else count_weights(data.weights)
    return Learner(tree, data, table, weights, unit, costs, n_threads)


@dataclass(frozen=True)
class Learner:
    """A greedy tree's parameters and a training set, ready to grow DT(S) for any features S.

    Attributes
    ----------
    tree : GreedyTreeClassifier or GreedyTreeRegressor
        The parameters.

    data : TrainingData

    table : Table
        What the kernels read.

    weights : ndarray or None
        Weights of the rows divided by `unit`; None if all are 1.

    unit : float
        The weight that counts as one row.

    costs : ndarray or None
        The checked `cost_matrix`.

    n_threads : int
    """

    tree: Any
    data: TrainingData
    table: Table
    weights: np.ndarray | None
    unit: float
    costs: np.ndarray | None
    n_threads: int

    @property
    def is_classifier(self):
        """Whether the targets are classes."""
        return self.data.classes is not None

    @property
    def n_classes(self):
        """Number of classes; 0 for regression."""
        return len(self.data.classes) if self.is_classifier else 0

    @property
    def row_weights(self):
        """Weights of all rows, in `unit`."""
        return np.ones(self.table.n_rows) if self.weights is None else self.weights

    @property
    def rules(self):
        """Arguments of the kernels: which splits are allowed, and how they are compared.

        Shares of the rows are of all rows; weights are in `unit`. By default a split takes the
        weight of two rows, and a branch that of one (C4.5).
        """
        tree, criterion = self.tree, criterion_of(self.tree)
        split, branch = tree.min_weight_split, tree.min_weight_branch
        return {
            "measure": criterion.measure,
            "gain_ratio": criterion.gain_ratio,
            "nominal_split": NOMINAL_SPLITS[tree.nominal_split].code,
            # A measure of bits; it has no meaning for squared errors.
            "numeric_gain_penalty": getattr(tree, "numeric_gain_penalty", False),
            "min_split_weight": 2.0 if split is None else split / self.unit,
            "min_leaf_weight": 1.0 if branch is None else branch / self.unit,
            "every_branch": tree.min_weight_branches == "every",
            "min_split_rows": rows_from(tree.min_samples_split, self.table.n_rows),
            "min_leaf_rows": rows_from(tree.min_samples_leaf, self.table.n_rows),
            "min_gain": tree.min_gain,
            "allow_zero_gain": tree.allow_zero_gain,
            "missing_to_heaviest": tree.missing == "majority",
            "acceptable_error": tree.acceptable_error,
            "max_depth": tree.max_depth,
        }

    @cached_property
    def induction(self):
        """The learning problem of the kernels."""
        return _grow.Induction(
            self.table,
            self.data.y,
            self.n_classes,
            self.weights,
            self.costs,
            **self.rules,
            above_average=criterion_of(self.tree).above_average,
            max_leaf_nodes=self.tree.max_leaf_nodes,
            **self.draw,
            n_threads=self.n_threads,
        )

    @property
    def draw(self):
        """Arguments of the kernels: how many columns are drawn for each node, and the seed."""
        if self.tree.max_features is None:
            return {}
        rng = check_random_state(self.tree.random_state)
        n = count_features(self.tree.max_features, self.table.n_columns)
        return {"max_features": n, "seed": int(rng.randint(2**31 - 1))}

    def grow(self, features=None, rows=None, control=None, *, has_short_thresholds=False):
        """Grow and prune the tree of some features and rows; None means all of them.

        `rows` cannot be given to prunings that divide the rows themselves. If `control` stops, the
        tree is what has been grown so far, without pruning. Searches for features rate trees whose
        thresholds are midpoints, so that theirs are not made short.

        Returns
        -------
        tree : Tree
        """
        control = SearchControl() if control is None else control
        pruning, validation_rows = self._pruning(), None
        if pruning is not None and pruning.needs_validation:
            rng = check_random_state(self.tree.random_state)
            rows, validation_rows = split_for_validation(
                self.data.y, self.tree.validation_fraction, rng, self.is_classifier
            )
        grown = self.induction.grow(control, rows, features)
        control.raise_pending()
        if pruning is not None and not control.stopped:
            grown = pruning.prune(self.tree, self.induction, grown, control, rows, validation_rows)
            control.raise_pending()
        nodes, values, category_branch = grown.to_arrays()
        if has_short_thresholds:
            shorten_thresholds(nodes, self.table, self.data.encoder)
        if self.tree.missing == "category":
            name_missing(nodes, values, category_branch, self.table)
        if self.unit != 1.0:
            nodes["weight"] *= self.unit
            if self.is_classifier:
                values *= self.unit
        return Tree(
            nodes,
            values,
            category_branch,
            n_features=self.table.n_columns,
            is_classifier=self.is_classifier,
        )

    def fitted_attributes(self, tree):
        """What an estimator keeps to predict by a grown tree."""
        attributes = {"tree_": tree, "_encoder": self.data.encoder}
        if self.is_classifier:
            attributes.update(classes_=self.data.classes, _costs=self.costs)
        return attributes

    def fit_on(self, features, rows=None, control=None):
        """A clone of the estimator, fitted on some features; it takes all columns of the table."""
        estimator = clone(self.tree)
        attributes = self.fitted_attributes(self.grow(features, rows, control))
        vars(estimator).update(attributes, n_features_in_=self.table.n_columns)
        return estimator

    def _pruning(self):
        if self.tree.pruning is None:
            return None
        prunings = CLASSIFICATION_PRUNINGS if self.is_classifier else REGRESSION_PRUNINGS
        return prunings[self.tree.pruning]


def count_features(max_features, n_columns):
    """Number of columns that `max_features` means, as in scikit-learn's trees."""
    if isinstance(max_features, str):
        root = np.sqrt(n_columns) if max_features == "sqrt" else np.log2(n_columns)
        return max(1, int(root))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(max_features * n_columns))


def criterion_of(tree):
    """The entry of the registry that a greedy tree's `criterion` names."""
    return {**CLASSIFICATION_CRITERIA, **REGRESSION_CRITERIA}[tree.criterion]


def refuse_large_subsets(tree, table, data):
    """Raise where the best subset of categories would have to be searched for too long."""
    if tree.nominal_split != "subset" or data.classes is None or len(data.classes) <= 2:
        return
    for j in np.flatnonzero(table.is_nominal):
        n_categories = len(table.values[j])
        if n_categories > _grow.MAX_SUBSET_CATEGORIES:
            raise ValueError(
                f"Column {data.encoder.feature_names_[j]!r} has {n_categories} categories; with "
                "more than two classes nominal_split='subset' takes at most "
                f"{_grow.MAX_SUBSET_CATEGORIES}. Use 'one_vs_rest' or 'multiway'."
            )


def shorten_thresholds(nodes, table, encoder):
    """Make thresholds short decimals, and round dates, between the same two values of the table.

    Only in trees that somebody may read: it takes as long as growing a part of the tree.

    Parameters
    ----------
    nodes : ndarray
        Of the tree; changed in place.

    table : Table
        The training rows.

    encoder : TableEncoder
    """
    at = np.flatnonzero(nodes["kind"] == NUMERIC)
    if len(at) > MOST_READ_TESTS:
        return
    features, thresholds = nodes["feature"][at], nodes["threshold"][at]
    lower, upper = np.empty(len(at)), np.empty(len(at))
    for feature in np.unique(features):
        of_feature, values = features == feature, table.values[feature]
        above = np.searchsorted(values, thresholds[of_feature], side="right")
        upper[of_feature] = np.append(values, np.inf)[above]
        lower[of_feature] = values[above - 1]
    # Missing values as a value of their own are infinite.
    known = np.isfinite(upper)
    at, features = at[known], features[known]
    nodes["threshold"][at] = encoder.thresholds_between(features, lower[known], upper[known])


def name_missing(nodes, values, category_branch, table):
    """Write missing values, which had a code of their own, as tests on missing values.

    Parameters
    ----------
    nodes, values, category_branch : ndarray
        Of the tree, as ``GrownTree.to_arrays`` returns them; changed in place.

    table : Table
        Made by ``Table.with_missing_as_value``.
    """
    tested = np.flatnonzero(nodes["kind"] != LEAF)
    tested = tested[table.n_missing[nodes["feature"][tested]] > 0]
    # Children, which come after their parent, may change places.
    for index in reversed(tested.tolist()):
        node = nodes[index]
        if node["kind"] == NUMERIC:
            node["missing_branch"] = 1
            is_alone = node["threshold"] == table.values[node["feature"]][-2]
        else:
            first, n_known = int(node["category_start"]), int(node["n_categories"]) - 1
            node["missing_branch"] = branch = category_branch[first + n_known]
            node["n_categories"] = n_known
            is_alone = branch not in category_branch[first : first + n_known]
            is_alone &= node["n_children"] == 2
        if is_alone:
            # One branch for missing values and one for the others: the first is theirs.
            if node["missing_branch"] == 1:
                pair = node["first_child"] + np.array([0, 1])
                nodes[pair], values[pair] = nodes[pair[::-1]], values[pair[::-1]]
            node["kind"], node["threshold"], node["missing_branch"] = IS_MISSING, np.nan, 0
            node["category_start"], node["n_categories"] = -1, 0


def count_weights(weights):
    """Weights in a unit in which they can be held against counts of rows, and that unit.

    A weight of k counts as k rows. Where weights are shares of something (their mean is below 1),
    a row of mean weight counts as one row.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)

    Returns
    -------
    weights : ndarray of shape (n_rows,) or None
        None if all are 1 in this unit.

    unit : float
    """
    unit = min(1.0, float(np.mean(weights)))
    if np.all(weights == weights[0]) and weights[0] <= 1.0:
        return None, float(weights[0])
    return weights / unit, unit


def refuse_extreme_targets(y, weights):
    """Raise if squares of the targets, or of their differences, overflow or vanish."""
    largest, smallest = float(y.max()), float(y.min())
    if max(largest, -smallest) > LARGEST_TARGET:
        raise ValueError(
            f"y holds numbers beyond {LARGEST_TARGET:g}, whose squares cannot be summed; divide "
            "y by a constant."
        )
    if max(largest, -smallest) * np.sqrt(weights.sum()) > LARGEST_ROOT:
        raise ValueError(
            "The squares of the numbers in y, times sample_weight, are too large to be summed; "
            "divide y or the weights by a constant."
        )
    spread = largest / 2.0 - smallest / 2.0
    if 0.0 < spread < 1.0 / LARGEST_TARGET:
        raise ValueError(
            f"The numbers in y differ by less than {1.0 / LARGEST_TARGET:g}, and the squares of "
            "the differences vanish; multiply y by a constant."
        )
