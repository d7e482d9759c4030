"""What the optimal estimators share: parameters, and the way from a table to a proved tree."""

import warnings
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.optimal import _driver
from sktree_opt.preprocessing import TableEncoder
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.utils._compat import Interval, StrOptions, n_threads_for
from sktree_opt.utils._limits import parse_memory_limit
from sktree_opt.utils._validation import all_or_nothing, check_training_data


class BaseOptimalTree(BaseEstimator):
    """Parameters and fit of both optimal trees."""

    _parameter_constraints: ClassVar[dict] = {
        "max_depth": [Interval(Integral, 0, 20, closed="both")],
        "max_splits": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_weight_leaf": [Interval(Real, 0, None, closed="left")],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "complexity_cost": [Interval(Real, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "memory_limit": [Interval(Integral, 1, None, closed="left"), str, None],
        "n_jobs": [Integral, None],
    }

    def _fit_tree(self, X, y, sample_weight, *, is_classifier, class_weight=None):
        """Set all fitted attributes."""
        with all_or_nothing(self):
            encoder = TableEncoder(self.categorical_features)
            memory_limit = parse_memory_limit(self.memory_limit)
            data = check_training_data(
                self,
                encoder,
                X,
                y,
                sample_weight,
                class_weight=class_weight,
                is_classifier=is_classifier,
            )
            self._refuse_impossible_leaves(data)
            n_threads = n_threads_for(self.n_jobs)
            self._prepare_objective(data)
            table = self._threshold_table(data, encoder, n_threads)
            if table is not None:
                result = self._search_thresholds(table, data, n_threads)
                self._keep_tree(result.tree, encoder, result)
                return self._warn_unproved()
            tests = BinaryTests.from_matrix(data.matrix, encoder.n_categories_, n_threads)
            total = float(data.weights.sum())
            limits = _driver.SearchLimits(
                max_depth=self.max_depth,
                max_splits=self._splits_within_depth(),
                min_samples_leaf=self.min_samples_leaf,
                min_weight_leaf=max(self.min_weight_leaf, self.min_weight_fraction_leaf * total),
                split_cost=self.complexity_cost * total,
                time_limit=self.time_limit,
                memory_limit=memory_limit,
                n_threads=n_threads,
            )
            weights = None if data.has_unit_weights else data.weights
            result = _driver.search(
                tests, self._targets(data), weights, self._leaf_form(data), limits
            )
            self._keep_result(tests, data, encoder, limits, result)
        return self._warn_unproved()

    def _threshold_table(self, data, encoder, n_threads):
        """The table of ranks when the search over all thresholds is the one to run, else None."""
        return None

    def _warn_unproved(self):
        if self.status_ != "optimal":
            warnings.warn(
                f"The search ended by {self.status_} before it proved an optimum: the objective "
                f"of the tree is {self.objective_:.6g}, its lower bound {self.lower_bound_:.6g}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self

    def _keep_tree(self, tree, encoder, result):
        """Set the fitted attributes that a search over all thresholds gives."""
        self.tree_ = tree
        self._encoder = encoder
        self.objective_ = result.objective
        self.status_ = result.status
        proved = result.status == "optimal"
        self.lower_bound_ = result.objective if proved else result.lower_bound
        self.gap_ = self.objective_ - self.lower_bound_
        self.incumbents_ = [(s, c, min(c, self.lower_bound_)) for s, c, _ in result.incumbents]
        self.search_stats_ = result.stats

    def _splits_within_depth(self):
        full = 2**self.max_depth - 1
        return full if self.max_splits is None else min(self.max_splits, full)

    def _refuse_impossible_leaves(self, data):
        n_rows, weight = len(data.y), float(data.weights.sum())
        if n_rows < self.min_samples_leaf:
            raise ValueError(
                f"min_samples_leaf={self.min_samples_leaf} is more than the {n_rows} rows of "
                "positive weight, so that no tree is possible."
            )
        if weight < self.min_weight_leaf:
            raise ValueError(
                f"min_weight_leaf={self.min_weight_leaf} is more than the total weight {weight}, "
                "so that no tree is possible."
            )

    def _keep_result(self, tests, data, encoder, limits, result):
        order, rows = _driver.rows_by_node(tests, result.nodes)
        values, costs = self._node_values(data, rows)
        weights = np.array([data.weights[r].sum() for r in rows])
        tree = _driver.make_tree(
            tests,
            result.nodes,
            values,
            np.divide(costs, weights, out=np.zeros_like(costs), where=weights > 0.0),
            weights,
            [len(r) for r in rows],
            order,
            self.n_features_in_,
            encoder.n_categories_,
            data.classes is not None,
        )
        is_leaf = result.nodes[order, 0] < 0
        # The cost of the tree itself, not what the search says of it.
        objective = float(costs[is_leaf].sum()) + limits.split_cost * tree.n_splits
        self.tree_ = tree
        self._encoder = encoder
        self.objective_ = objective
        self.status_ = result.status
        self.lower_bound_ = objective if result.status == "optimal" else result.lower_bound
        self.gap_ = objective - self.lower_bound_
        self.incumbents_ = [(s, c, min(c, self.lower_bound_)) for s, c in result.incumbents]
        self.search_stats_ = result.stats
