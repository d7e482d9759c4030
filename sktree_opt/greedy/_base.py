"""What the greedy estimators share: parameters and ``fit``."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sktree_opt.greedy._learner import make_learner
from sktree_opt.greedy._registries import NOMINAL_SPLITS
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import Interval, StrOptions, n_threads_for
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import shared_constraints
from sktree_opt.utils._validation import check_training_data


class BaseGreedyTree(BaseEstimator):
    """Parameters and fit of both greedy trees."""

    tree_: Tree
    classes_: NDArray[Any]

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

    def _fit_tree(
        self,
        X,
        y,
        sample_weight,
        *,
        is_classifier,
        class_weight=None,
        has_short_thresholds=True,
    ):
        """Set ``tree_``, ``_encoder`` and, for a classifier, ``classes_`` and ``_costs``."""
        with all_or_nothing(self):
            data = check_training_data(
                self,
                TableEncoder(self.categorical_features),
                X,
                y,
                sample_weight,
                class_weight=class_weight,
                is_classifier=is_classifier,
            )
            learner = make_learner(self, data, n_threads_for(self.n_jobs))
            tree = learner.grow(has_short_thresholds=has_short_thresholds)
            vars(self).update(learner.fitted_attributes(tree))
        return self
