"""The best regression trees: the first, the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.optimal.estimators._base import (
    QUERY_CONSTRAINTS,
    target_problem,
    threshold_constraints,
)
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.optimal.estimators._tree_set import BaseTreeSet, document_set, what_set_is_known
from sktree_opt.optimal.run._best_trees import find_best_trees
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run.queries._ranked_set import find_ranked_set
from sktree_opt.optimal.run.queries._rankings import SIZES, Query, check_ranking
from sktree_opt.preprocessing._thresholds import REGRESSION_THRESHOLDS
from sktree_opt.tree._mixin import TreeRegressorMixin
from sktree_opt.utils._compat import fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, warn_of_limit
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    FilePath,
    RankingCriterion,
    RegressionThresholds,
    TableLike,
)


@document_set
class TreeSetRegressor(TreeRegressorMixin, BaseTreeSet):
    """All regression trees that are nearly as good as the best one, or the k best.

    No tree that is left out has a smaller objective than one of the set. The objective is the
    weighted sum of the squared distances from the leaves' means, plus the cost of the tests.

    Read more in the :ref:`User Guide <other_trees>`.

    Parameters
    ----------
    %(n_trees)s

    %(epsilon)s

    ranking : sequence of {"error", "size", "depth"} or None, default=None
        The order of the trees: by objective, number of tests, depth. "error" and "size" must be
        among them. None means ("error", "size").

    max_error : float or None, default=None
        Largest objective that is acceptable; a billionth is allowed for rounding.

    %(size_limits)s

    %(complexity_cost)s

    %(regression_tests_and_limits)s

    %(checkpoint)s

    %(predict_by)s

    Attributes
    ----------
    %(the_set)s

    %(columns)s

    See Also
    --------
    OptimalTreeRegressor : The best tree alone.
    TreeSetClassifier : The same for classes.

    Notes
    -----
    ``model[k]`` is the tree of rank `k` as a fitted OptimalTreeRegressor, ``len(model)`` the
    number of trees, and the set can be iterated over. ``n_trees_`` may be larger than any length.

    The set is kept as a graph of row sets, in which trees are counted, ranked and drawn without
    being made. The search for it takes binary tests, at most 10,000 of them. If there are more,
    some thresholds of each column are searched, with a warning; `thresholds` chooses others.

    Examples
    --------
    >>> from sktree_opt import TreeSetRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = TreeSetRegressor(n_trees=2, max_depth=1).fit(X, [1.0, 2.0, 4.0, 6.0])
    >>> model.tree_objectives_
    array([ 2.5, 12.5])
    >>> model[1].predict(X)
    array([2.5, 4. , 2.5, 4. ])
    """

    _one_tree = OptimalTreeRegressor

    _parameter_constraints: ClassVar[dict] = {
        **BaseTreeSet._parameter_constraints,
        "ranking": QUERY_CONSTRAINTS["ranking"],
        "max_error": QUERY_CONSTRAINTS["max_error"],
        "thresholds": threshold_constraints(REGRESSION_THRESHOLDS),
    }

    def __init__(
        self,
        *,
        n_trees: int | None = None,
        epsilon: float | None = None,
        epsilon_kind: Literal["relative", "absolute"] = "relative",
        distinct_by: Literal["partitions", "tests"] = "partitions",
        ranking: Sequence[RankingCriterion] | None = None,
        max_error: float | None = None,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        complexity_cost: float = 0.0,
        thresholds: RegressionThresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: FilePath | None = None,
        predict_by: Literal["best", "vote"] = "best",
    ) -> None:
        self.n_trees = n_trees
        self.epsilon = epsilon
        self.epsilon_kind = epsilon_kind
        self.distinct_by = distinct_by
        self.ranking = ranking
        self.max_error = max_error
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.complexity_cost = complexity_cost
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.predict_by = predict_by

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best trees.

        Parameters
        ----------
        %(fit_numbers)s

        Returns
        -------
        self : TreeSetRegressor
            The fitted set.
        """
        with self._fitting(X, y, sample_weight) as session:
            query = Query(check_ranking(self.ranking, None, SIZES), self.max_error)
            problem = target_problem(self, X, y, sample_weight, "squared_error")
            plan = make_plan(
                problem,
                session,
                thresholds=self.thresholds,
                categorical_splits=self.categorical_splits,
                sums_one_tree=False,
            )
            session.begin()
            find = find_best_trees
            if not query.is_plain:
                find = partial(find_ranked_set, query=query)
            solution = find(plan, session, self._wanted())
            self._keep_set(plan, solution)
        warn_of_limit(self, self.status_, what_set_is_known(self))
        return self

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the target of each row, by the best tree or by all trees (`predict_by`).

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The mean of the row's leaf; by vote, the mean of the answers of all trees.
        """
        return super().predict(X) if self.predict_by == "best" else self._answers_of_all(X)[:, 0]
