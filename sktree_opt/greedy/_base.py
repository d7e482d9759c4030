"""What the greedy estimators share: parameters and ``fit``."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sktree_opt.greedy._learner import make_learner
from sktree_opt.greedy._registries import NOMINAL_SPLITS
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import (
    CheckedOnceMixin,
    Interval,
    RealNotInt,
    StrOptions,
    n_threads_for,
)
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import document_shared, shared_constraints
from sktree_opt.utils._validation import check_training_data

_DOCS = {
    "missing": """\
missing : {"distribute", "category", "majority"}, default="distribute"
    Where rows with a missing value go. "distribute": down every branch, with a share of their
    weight (C4.5). "category": a missing value is one more category, and on numbers it is larger
    than all others, with a test of its own. "majority": down the branch with the most weight.
""",
    "min_weight_split": """\
min_weight_split : float or None, default=None
    Minimum weight of a node that is split. None means the weight of two rows.
""",
    "min_weight_branch": """\
min_weight_branch : float or None, default=None
    Minimum weight of the branches of a split. None means the weight of one row.
""",
    "max_features": """\
max_features : int, float, "sqrt", "log2" or None, default=None
    Number of columns, drawn anew for each node, among which its split is chosen; a float is a share
    of the columns, None means all. As in scikit-learn's trees, more columns are looked at where
    those drawn have no split.
""",
    "min_weight_branches": """\
min_weight_branches : {"two", "every"}, default="two"
    Which branches of a split need `min_weight_branch`: at least two of them (C4.5's rule), or
    every one. The two differ for splits into three branches or more.
""",
}
document_greedy = partial(document_shared, more=_DOCS)


class BaseGreedyTree(CheckedOnceMixin, BaseEstimator):
    """Parameters and fit of both greedy trees."""

    tree_: Tree
    classes_: NDArray[Any]

    _parameter_constraints: ClassVar[dict] = {
        **shared_constraints(
            "max_depth",
            "max_leaf_nodes",
            "min_samples_split",
            "min_samples_leaf",
            "categorical_features",
            "random_state",
            "n_jobs",
        ),
        "nominal_split": [StrOptions(set(NOMINAL_SPLITS))],
        "missing": [StrOptions({"distribute", "category", "majority"})],
        "min_weight_split": [Interval(Real, 0, None, closed="left"), None],
        "min_weight_branch": [Interval(Real, 0, None, closed="left"), None],
        "min_weight_branches": [StrOptions({"two", "every"})],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
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
