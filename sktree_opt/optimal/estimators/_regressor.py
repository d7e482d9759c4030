"""The optimal regression tree."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._base import (
    BaseOptimalTree,
    document_optimal,
    target_problem,
    threshold_constraints,
    what_is_known,
)
from sktree_opt.optimal.objectives._leaf_objectives import REGRESSION_OBJECTIVES
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run._run import find_tree
from sktree_opt.preprocessing._thresholds import REGRESSION_THRESHOLDS
from sktree_opt.tree._mixin import TreeRegressorMixin
from sktree_opt.utils._compat import StrOptions, fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, shared_constraints, warn_of_limit
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    FilePath,
    RegressionThresholds,
    SearchName,
    TableLike,
    TargetsName,
)


@document_optimal
class OptimalTreeRegressor(TreeRegressorMixin, BaseOptimalTree):
    """The best regression tree within a depth and a number of leaves, with proof.

    No tree whose tests come from the table has a smaller objective. A numeric column is
    compared with thresholds between its values, a nominal one with each category, and a column
    with missing values may be asked whether it misses one. Every other test sends missing values to
    the side that is better.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    %(size_limits)s

    objective : {"squared_error", "absolute_error"}, default="squared_error"
        What is minimised, by weight: the squares of the distances from the leaves' means, or the
        distances from their medians.

    %(targets)s

    %(complexity_cost)s

    %(regression_tests_and_limits)s

    %(checkpoint)s

    %(search)s

    Attributes
    ----------
    tree_ : Tree
        The tree.

    %(proof)s

    search_stats_ : dict
        Counters of the search. ``has_fewest_tests``, of a search of binary tests and of absolute
        errors, says whether it is known that no tree as good has fewer tests.

    %(columns)s

    See Also
    --------
    OptimalTreeClassifier : The tree for classes.
    OptimalTreeRegressorCV : Chooses depth, size and other parameters by cross-validation.
    TreeSetRegressor : The best tree, the second best, and so on.
    optimal_path : The trees of all depths and numbers of leaves.

    Notes
    -----
    Section 4.8.2 of [1]_; tables with many thresholds, and absolute errors, after [2]_. Sums of
    real numbers are exact to about 12 digits, and so is the proof.

    A search of binary tests takes at most 10,000 of them (thresholds, categories, missing values).
    If there are more, some thresholds of each column are searched, with a warning. Tables of many
    thresholds or categories are searched by ranks instead, whatever their number, without
    ``categorical_splits="subset"``.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.
    .. [2] C. E. Brita et al., "Optimal Classification Trees for Continuous Feature Data Using
       Dynamic Programming with Branch-and-Bound", AAAI 2025.

    Examples
    --------
    >>> from sktree_opt import OptimalTreeRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> reg = OptimalTreeRegressor(max_depth=2).fit(X, [1.0, 2.0, 2.0, 1.0])
    >>> reg.predict([[1, 0]])
    array([2.])
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "thresholds": threshold_constraints(REGRESSION_THRESHOLDS),
        "objective": [StrOptions(set(REGRESSION_OBJECTIVES))],
        "targets": [StrOptions({"given", "forest"})],
        **shared_constraints("checkpoint", "search"),
    }

    def __init__(
        self,
        *,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: Literal["squared_error", "absolute_error"] = "squared_error",
        targets: TargetsName = "given",
        complexity_cost: float = 0.0,
        thresholds: RegressionThresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: FilePath | None = None,
        search: SearchName = "exact",
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.targets = targets
        self.complexity_cost = complexity_cost
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.search = search

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best tree.

        Parameters
        ----------
        %(fit_numbers)s

        Returns
        -------
        self : OptimalTreeRegressor
            The fitted tree.
        """
        with self._fitting(X, y, sample_weight) as session:
            self._search(session, X, y, sample_weight)
        warn_of_limit(self, self.status_, what_is_known(self))
        return self

    def _search(self, session, X, y, sample_weight):
        problem = target_problem(self, X, y, sample_weight, self.objective)
        plan = make_plan(
            problem,
            session,
            thresholds=self.thresholds,
            categorical_splits=self.categorical_splits,
        )
        session.begin()
        solution = find_tree(plan, session)
        self._keep(plan, solution)
