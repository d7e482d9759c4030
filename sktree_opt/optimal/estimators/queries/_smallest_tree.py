"""The smallest classification tree that is good enough."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._base import (
    QUERY_CONSTRAINTS,
    BaseOptimalTree,
    class_problem,
    document_optimal,
)
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run.queries._rankings import class_query, find_smallest_tree
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
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
    LeafObjectiveName,
    TableLike,
    Thresholds,
)


@document_optimal
class SmallestTreeClassifier(TreeClassifierMixin, BaseOptimalTree):
    """The smallest classification tree that is good enough, with proof.

    Without `max_error`, of the trees of the least objective the one with the fewest tests. With it,
    of the trees whose objective is at most `max_error` the one with the fewest tests: as good as a
    greedy tree, say, and smaller. `ranking` asks for any other order of error, C4.5's estimate of
    it, size and depth.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    %(limited)s

    %(size_limits)s

    %(class_minima)s

    %(leaf_objective)s

    %(cost_matrix)s Read by the
        objective "cost".

    %(confidence)s

    %(complexity_cost)s

    %(depth_cost)s

    %(class_weight)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(tests_and_limits)s

    Attributes
    ----------
    tree_ : Tree
        The tree. It does not know the answers of a cost: predict with, and export, the estimator.

    %(of_smallest)s

    classes_ : ndarray of shape (n_classes,)
        Class labels. A class with a `class_weight` of 0 stays among them; one whose rows all have
        ``sample_weight`` 0 does not.

    %(columns)s

    See Also
    --------
    OptimalTreeClassifier : The tree of the least objective.
    SmallestTreeRegressor : The same for numbers.
    TreeSetClassifier : The best tree, the second best, and so on.
    optimal_path : The trees of all depths and numbers of leaves.

    Notes
    -----
    The queries are those of DL8 [1]_, the cost of levels is that of MurTree [2]_, section 4.8.3.
    The search takes binary tests, at most 10,000 of them. If there are more, some thresholds of
    each column are searched, with a warning; `thresholds` chooses others.

    References
    ----------
    .. [1] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007.
    .. [2] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.

    Examples
    --------
    >>> from sktree_opt import SmallestTreeClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> y = [0, 1, 1, 0]
    >>> SmallestTreeClassifier(max_depth=2).fit(X, y).get_n_leaves()
    4
    >>> SmallestTreeClassifier(max_depth=2, max_error=1).fit(X, y).get_n_leaves()
    3
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        **QUERY_CONSTRAINTS,
        "objective": [StrOptions(set(OBJECTIVES))],
        "depth_cost": [Interval(Real, 0, None, closed="left")],
        **shared_constraints(*OF_CLASSIFIERS),
    }

    def __init__(
        self,
        *,
        max_error: float | None = None,
        max_pessimistic_error: float | None = None,
        ranking: Sequence[ClassRankingCriterion] | None = None,
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
        depth_cost: float = 0.0,
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
    ) -> None:
        self.max_error = max_error
        self.max_pessimistic_error = max_pessimistic_error
        self.ranking = ranking
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
        self.depth_cost = depth_cost
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the smallest tree.

        Parameters
        ----------
        %(fit_classes)s

        Returns
        -------
        self : SmallestTreeClassifier
            The fitted tree.
        """
        with self._fitting(X, y, sample_weight) as session:
            problem = class_problem(self, X, y, sample_weight)
            query = class_query(self, problem)
            plan = make_plan(
                problem,
                session,
                thresholds=self.thresholds,
                categorical_splits=self.categorical_splits,
                sums_one_tree=False,
            )
            session.begin()
            solution = find_smallest_tree(plan, session, query)
            self._keep(plan, solution, gap_is_proof=False)
        warn_of_limit(self, self.status_, what_was_found(self))
        return self


def what_was_found(estimator):
    """The result of a search that a limit ended, for its warning."""
    return (
        f"The objective of the tree found is {estimator.objective_!r}, with "
        f"{estimator.get_n_leaves()} leaves; a smaller or a better one may exist."
    )
