"""The smallest regression tree that is good enough."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._base import (
    BaseOptimalTree,
    document_optimal,
    target_problem,
    threshold_constraints,
)
from sktree_opt.optimal.estimators.queries._smallest_tree import what_was_found
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run.queries._rankings import SIZES, Query, check_ranking, find_smallest_tree
from sktree_opt.preprocessing._thresholds import REGRESSION_THRESHOLDS
from sktree_opt.tree._mixin import TreeRegressorMixin
from sktree_opt.utils._compat import Interval, fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, warn_of_limit
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    RankingCriterion,
    RegressionThresholds,
    TableLike,
)


@document_optimal
class SmallestTreeRegressor(TreeRegressorMixin, BaseOptimalTree):
    """The smallest regression tree that is good enough, with proof.

    The objective is the sum of the squared distances from the leaves' means, by weight. Without
    `max_error`, of the trees of the least objective the one with the fewest tests. With it, of the
    trees whose objective is at most `max_error` the one with the fewest tests. `ranking` asks for
    any other order of error, size and depth.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    %(smallest)s

    %(size_limits)s

    %(complexity_cost)s

    %(depth_cost)s

    %(regression_tests_and_limits)s

    Attributes
    ----------
    tree_ : Tree
        The tree.

    %(of_smallest)s

    %(columns)s

    See Also
    --------
    OptimalTreeRegressor : The tree of the least objective.
    SmallestTreeClassifier : The same for classes.

    Notes
    -----
    The queries are those of DL8 [1]_, the cost of levels is that of MurTree [2]_, section 4.8.3.
    The search takes binary tests, at most 10,000 of them: choose some by `thresholds` where a table
    has more.

    References
    ----------
    .. [1] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007.
    .. [2] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.

    Examples
    --------
    >>> from sktree_opt import SmallestTreeRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> y = [1.0, 2.0, 2.0, 4.0]
    >>> SmallestTreeRegressor(max_depth=2).fit(X, y).get_n_leaves()
    4
    >>> SmallestTreeRegressor(max_depth=2, max_error=3).fit(X, y).get_n_leaves()
    2
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "max_error": [Interval(Real, 0, None, closed="left"), None],
        "ranking": [list, tuple, None],
        "thresholds": threshold_constraints(REGRESSION_THRESHOLDS),
        "depth_cost": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        max_error: float | None = None,
        ranking: Sequence[RankingCriterion] | None = None,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        complexity_cost: float = 0.0,
        depth_cost: float = 0.0,
        thresholds: RegressionThresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.max_error = max_error
        self.ranking = ranking
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.complexity_cost = complexity_cost
        self.depth_cost = depth_cost
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
        %(fit_numbers)s

        Returns
        -------
        self : SmallestTreeRegressor
            The fitted tree.
        """
        with self._fitting(X, y, sample_weight) as session:
            ranking = check_ranking(self.ranking, self.max_error, SIZES)
            problem = target_problem(self, X, y, sample_weight, "squared_error")
            plan = make_plan(
                problem,
                session,
                thresholds=self.thresholds,
                categorical_splits=self.categorical_splits,
                sums_one_tree=False,
            )
            session.begin()
            solution = find_smallest_tree(plan, session, Query(ranking, self.max_error))
            self._keep(plan, solution, gap_is_proof=False)
        warn_of_limit(self, self.status_, what_was_found(self))
        return self
