"""The best classification trees: the first, the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.optimal.estimators._base import QUERY_CONSTRAINTS, class_problem
from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._tree_set import BaseTreeSet, document_set, what_set_is_known
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run._best_trees import find_best_trees
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run.queries._ranked_set import find_ranked_set
from sktree_opt.optimal.run.queries._rankings import class_query
from sktree_opt.tree._mixin import TIE_TOLERANCE, TreeClassifierMixin
from sktree_opt.utils._compat import StrOptions, fit_context
from sktree_opt.utils._params import (
    DEFAULT_TIME_LIMIT,
    OF_CLASSIFIERS,
    shared_constraints,
    warn_of_limit,
)
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    ClassMinima,
    ClassRankingCriterion,
    ClassWeight,
    FilePath,
    LeafObjectiveName,
    TableLike,
    Thresholds,
)


@document_set
class TreeSetClassifier(TreeClassifierMixin, BaseTreeSet):
    """All classification trees that are nearly as good as the best one, or the k best.

    No tree that is left out has a smaller objective than one of the set. Often many trees are
    almost as good as the best one, and one of them is easier to explain. The set is also called the
    Rashomon set.

    Read more in the :ref:`User Guide <other_trees>`.

    Parameters
    ----------
    %(n_trees)s

    %(epsilon)s

    %(ranked)s

    %(size_limits)s

    %(class_minima)s

    %(leaf_objective)s

    %(cost_matrix)s Read by the
        objective "cost".

    %(confidence)s

    %(complexity_cost)s

    %(class_weight)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(tests_and_limits)s

    %(checkpoint)s

    %(predict_by)s

    Attributes
    ----------
    %(the_set)s

    classes_ : ndarray of shape (n_classes,)
        Class labels. A class with a `class_weight` of 0 stays among them; one whose rows all have
        ``sample_weight`` 0 does not.

    %(columns)s

    See Also
    --------
    OptimalTreeClassifier : The best tree alone.
    TreeSetRegressor : The same for numeric targets.
    SmallestTreeClassifier : The smallest tree that is good enough.

    Notes
    -----
    ``model[k]`` is the tree of rank `k` as a fitted OptimalTreeClassifier, ``len(model)`` the
    number of trees, and the set can be iterated over. ``n_trees_`` may be larger than any length.

    The set is kept as a graph of row sets, in which trees are counted, ranked and drawn without
    being made. The search for it takes binary tests, at most 10,000 of them. If there are more,
    some thresholds of each column are searched, with a warning; `thresholds` chooses others.
    Fractional weights of a class are possible if none is more than ``1e7`` times as large as
    another.

    Examples
    --------
    >>> from sktree_opt import TreeSetClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = TreeSetClassifier(n_trees=2, max_depth=2).fit(X, [0, 1, 1, 1])
    >>> model.tree_objectives_
    array([0., 0.])
    >>> [int(tree.tree_.nodes["feature"][0]) for tree in model]
    [0, 1]
    """

    _one_tree = OptimalTreeClassifier

    _parameter_constraints: ClassVar[dict] = {
        **BaseTreeSet._parameter_constraints,
        **QUERY_CONSTRAINTS,
        "objective": [StrOptions(set(OBJECTIVES))],
        **shared_constraints(*OF_CLASSIFIERS),
    }

    def __init__(
        self,
        *,
        n_trees: int | None = None,
        epsilon: float | None = None,
        epsilon_kind: Literal["relative", "absolute"] = "relative",
        distinct_by: Literal["partitions", "tests"] = "partitions",
        ranking: Sequence[ClassRankingCriterion] | None = None,
        max_error: float | None = None,
        max_pessimistic_error: float | None = None,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        min_class_weight_leaf: ClassMinima = None,
        min_purity_leaf: float = 0.0,
        objective: LeafObjectiveName = "error",
        cost_matrix: ArrayLike | None = None,
        confidence: float = 0.25,
        complexity_cost: float = 0.0,
        class_weight: ClassWeight = None,
        leaf_smoothing: Literal["laplace"] | float | None = None,
        hierarchical_shrinkage: float = 0.0,
        thresholds: Thresholds = "all",
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
        self.max_pessimistic_error = max_pessimistic_error
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_class_weight_leaf = min_class_weight_leaf
        self.min_purity_leaf = min_purity_leaf
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.confidence = confidence
        self.complexity_cost = complexity_cost
        self.class_weight = class_weight
        self.leaf_smoothing = leaf_smoothing
        self.hierarchical_shrinkage = hierarchical_shrinkage
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
        %(fit_classes)s

        Returns
        -------
        self : TreeSetClassifier
            The fitted set.
        """
        with self._fitting(X, y, sample_weight) as session:
            problem = class_problem(self, X, y, sample_weight)
            query = class_query(self, problem, prefers_size=False)
            plan = make_plan(
                problem,
                session,
                thresholds=self.thresholds,
                categorical_splits=self.categorical_splits,
                sums_one_tree=False,
            )
            session.begin()
            find = find_best_trees
            if not query.is_plain or problem.limits.has_class_minima:
                find = partial(find_ranked_set, query=query)
            solution = find(plan, session, self._wanted())
            self._keep_set(plan, solution)
        warn_of_limit(self, self.status_, what_set_is_known(self))
        return self

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Predict the class of each row, by the best tree or by vote (`predict_by`).

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        if self.predict_by == "best":
            return super().predict(X)
        shares = self._answers_of_all(X)
        is_most = shares >= shares.max(axis=1, keepdims=True) - TIE_TOLERANCE
        return self.classes_[is_most.argmax(axis=1)]

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict class probabilities, by the best tree or by vote (`predict_by`).

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Class frequencies of the row's leaf; by vote, the share of the trees that answer each
            class.
        """
        return super().predict_proba(X) if self.predict_by == "best" else self._answers_of_all(X)
