"""What the greedy estimators share: parameters, and the way from a table to a pruned tree."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

import sktree_opt.greedy._grow as _grow
from sktree_opt.greedy._registries import NOMINAL_SPLITS, split_for_validation
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree import Tree
from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._compat import Interval, StrOptions, n_threads_for
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import rows_from, shared_constraints
from sktree_opt.utils._validation import check_training_data

MAX_CLASSES = 65535
# Squares of sums of such weights, and their products with squared targets, are floats.
LARGEST_WEIGHT = 1e60
# Its square is a float.
LARGEST_ROOT = 1e154
# Sums of squares up to here, and their products with weights, are finite.
LARGEST_TARGET = 1e150


class BaseGreedyTree(BaseEstimator):
    """Parameters and fit of both greedy trees."""

    tree_: Tree
    classes_: NDArray[Any]

    # Registries of the subclass.
    _criteria: ClassVar[dict] = {}
    _prunings: ClassVar[dict] = {}

    _parameter_constraints: ClassVar[dict] = {
        **shared_constraints(
            "max_leaf_nodes",
            "min_samples_split",
            "min_samples_leaf",
            "categorical_features",
            "random_state",
            "n_jobs",
        ),
        "nominal_split": [StrOptions(set(NOMINAL_SPLITS))],
        "missing": [StrOptions({"distribute", "category", "majority"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_weight_split": [Interval(Real, 0, None, closed="left"), None],
        "min_weight_leaf": [Interval(Real, 0, None, closed="left"), None],
        "min_weight_branches": [StrOptions({"two", "every"})],
        "min_gain": [Interval(Real, 0, None, closed="left")],
        "allow_zero_gain": ["boolean"],
        "acceptable_error": [Interval(Real, 0, None, closed="left")],
        "numeric_gain_penalty": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def _fit_tree(self, X, y, sample_weight, *, is_classifier, class_weight=None):
        """Set ``tree_``, ``_encoder`` and, for a classifier, ``classes_`` and ``_costs``."""
        encoder = TableEncoder(self.categorical_features)
        with all_or_nothing(self):
            data = check_training_data(
                self,
                encoder,
                X,
                y,
                sample_weight,
                class_weight=class_weight,
                is_classifier=is_classifier,
            )
            refuse_extreme_weights(data.weights)
            costs = None
            if is_classifier:
                costs = self._check_costs(len(data.classes))
            else:
                refuse_extreme_targets(data.y, data.weights)
            n_threads = n_threads_for(self.n_jobs)
            table = self._learning_table(data.matrix, encoder, n_threads)
            data.matrix = None
            self._refuse_large_subsets(table, data, encoder)
            weights, unit = (None, 1.0) if data.has_unit_weights else count_weights(data.weights)
            induction = self._make_induction(table, data, weights, costs, n_threads, unit)
            self.tree_ = self._induce(induction, data, unit)
            self._encoder = encoder
            if is_classifier:
                self.classes_, self._costs = data.classes, costs
        return self

    def _learning_table(self, matrix, encoder, n_threads):
        """The table that the kernels read."""
        table = Table.from_matrix(matrix, encoder.n_categories_, n_threads)
        return table.with_missing_as_value() if self.missing == "category" else table

    def _growth_limits(self, n_rows, unit):
        """Arguments of the kernels that say when a node may be split, and where missing values go.

        Shares of the rows are of `n_rows`; weights are divided by `unit` (see ``count_weights``).
        By default a split takes the weight of two rows, and a branch that of one (C4.5).
        """
        split, leaf = self.min_weight_split, self.min_weight_leaf
        return {
            "min_split_weight": 2.0 if split is None else split / unit,
            "min_leaf_weight": 1.0 if leaf is None else leaf / unit,
            "every_branch": self.min_weight_branches == "every",
            "min_split_rows": rows_from(self.min_samples_split, n_rows),
            "min_leaf_rows": rows_from(self.min_samples_leaf, n_rows),
            "min_gain": self.min_gain,
            "allow_zero_gain": self.allow_zero_gain,
            "missing_to_heaviest": self.missing == "majority",
            "acceptable_error": self.acceptable_error,
        }

    def _make_induction(self, table, data, weights, costs, n_threads, unit):
        """The learning problem of these parameters on a table."""
        criterion = self._criteria[self.criterion]
        return _grow.Induction(
            table,
            data.y,
            0 if data.classes is None else len(data.classes),
            weights,
            costs,
            measure=criterion.measure,
            gain_ratio=criterion.gain_ratio,
            above_average=criterion.above_average,
            nominal_split=NOMINAL_SPLITS[self.nominal_split].code,
            numeric_gain_penalty=self.numeric_gain_penalty,
            **self._growth_limits(table.n_rows, unit),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            n_threads=n_threads,
        )

    def _induce(self, induction, data, unit, features=None, rows=None, control=None):
        """Grow and prune; `unit` is the weight of one row.

        On all rows and features, or those given; `rows` cannot be given to prunings that divide
        the rows themselves. When `control` stops, the tree is what there is of it, not pruned.
        """
        control = SearchControl() if control is None else control
        is_classifier = data.classes is not None
        pruning = None if self.pruning is None else self._prunings[self.pruning]
        validation_rows = None
        if pruning is not None and pruning.needs_validation:
            rng = check_random_state(self.random_state)
            rows, validation_rows = split_for_validation(
                data.y, self.validation_fraction, rng, is_classifier
            )
        tree = induction.grow(control, rows, features)
        control.raise_pending()
        if pruning is not None and not control.stopped:
            tree = pruning.prune(self, induction, tree, control, rows, validation_rows)
            control.raise_pending()
        nodes, values, category_branch = tree.to_arrays()
        if self.missing == "category":
            name_missing(nodes, values, category_branch, induction.table)
        if unit != 1.0:
            nodes["weight"] *= unit
            if is_classifier:
                values *= unit
        return Tree(
            nodes,
            values,
            category_branch,
            n_features=induction.table.n_columns,
            is_classifier=is_classifier,
        )

    def _refuse_large_subsets(self, table, data, encoder):
        """Raise where the best subset of categories would have to be searched for too long."""
        if self.nominal_split != "subset" or data.classes is None or len(data.classes) <= 2:
            return
        for j in np.flatnonzero(table.is_nominal):
            n_categories = len(table.values[j])
            if n_categories > _grow.MAX_SUBSET_CATEGORIES:
                raise ValueError(
                    f"Column {encoder.feature_names_[j]!r} has {n_categories} categories; with "
                    "more than two classes nominal_split='subset' takes at most "
                    f"{_grow.MAX_SUBSET_CATEGORIES}. Use 'one_vs_rest' or 'multiway'."
                )


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


def refuse_extreme_weights(weights):
    """Raise if squares of sums of the weights overflow."""
    if weights.max() > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight times class_weight is up to {weights.max():g}, but must be at most "
            f"{LARGEST_WEIGHT:g}; divide the weights by a constant."
        )


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
