"""The optimal regression tree."""

from numbers import Integral
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._base import BaseOptimalTree, threshold_constraints
from sktree_opt.optimal.objectives._leaf_objectives import REGRESSION_OBJECTIVES
from sktree_opt.optimal.run._k_best_trees import search_k_best
from sktree_opt.optimal.run._questions import refuse_initial_tree
from sktree_opt.preprocessing._thresholds import REGRESSION_THRESHOLDS
from sktree_opt.tree import TreeRegressorMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    RegressionThresholds,
    TableLike,
    TreeLike,
)

# Decimal digits that a sum of errors may have, before the point or after.
EXTREME_ERROR = 290.0


class OptimalTreeRegressor(TreeRegressorMixin, BaseOptimalTree):
    """The best regression tree within a depth and a number of splits, with proof.

    Of all trees whose tests come from the table, none has a smaller objective. A numeric column is
    compared with the midpoints between its values, a nominal one with each category, and a column
    with missing values may be asked whether it misses one. Every other test sends missing values to
    the side that is better.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    max_depth : int, default=3
        Most tests on a path, at most 20.

    max_splits : int or None, default=None
        Most tests in the tree; None for as many as `max_depth` allows.

    min_samples_leaf : int, default=1
        Least rows of every leaf, whatever their weight.

    min_weight_leaf : float, default=0.0
        Least weight of every leaf.

    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight; the larger of the two counts.

    objective : {"squared_error", "absolute_error"}, default="squared_error"
        What is minimised, by weight: the squares of the distances from the leaves' means, or the
        distances from their medians.

    complexity_cost : float, default=0.0
        Cost of each test, as a share of the total weight.

    thresholds : {"all", "quantile", "ensemble"}, int or transformer, default="all"
        Which thresholds of numeric columns the tests may use: every midpoint between two values;
        10 quantiles of each column, or as many as an int says; the thresholds of a small ensemble
        of boosted trees; or the cuts of a transformer with ``bin_edges_`` or ``thresholds_``, such
        as scikit-learn's KBinsDiscretizer, fitted or else to be fitted to each column (``clone``
        forgets fits: wrap a fitted one in ``sklearn.frozen.FrozenEstimator`` for a grid search).
        The proof is relative to these thresholds.

    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Nominal columns: by their dtype, a mask, indices, names, or none.

    categorical_splits : {"one_vs_rest", "subset"}, default="one_vs_rest"
        What is asked of a nominal column: one category, or any set of them. A column of `k`
        categories has 2**(k - 1) - 1 sets to ask for; at most 12 categories are possible.

    n_trees : int, default=1
        Number of trees, different from each other, to find for `trees_`; more than one by squared
        errors only.

    time_limit : float or None, default=None
        Seconds after which the search ends with the best tree found; None or infinity for no limit.

    memory_limit : int, str or None, default=None
        Bytes, or a size such as "2GB", that the search may take.

    n_jobs : int or None, default=None
        Threads; the tree does not depend on them. None means 1, -1 all.

    warm_start : bool, default=False
        Keep what the search has found: the next fit on the same data, with another depth, number
        of tests or `complexity_cost`, pays for what is new only. Copies and pickles do not keep it.

    initial_tree : Tree, fitted tree estimator or None, default=None
        A tree that is known, ours or scikit-learn's, within the limits; the search looks for better
        ones at once. Its tests need only part the rows as tests of the table do. To survive
        ``clone``, a Tree or an estimator in ``FrozenEstimator``.

    Attributes
    ----------
    tree_ : Tree
        The tree.

    trees_ : list of Tree
        The `n_trees` best trees, best first, then with the fewest tests; fewer if there are not so
        many, or not the time to read them. ``ranked_estimator`` makes estimators of them. Trees are
        different if they part the training rows differently at some node; a test over two leaves
        that does not lower the objective, the cost of tests left out, makes no tree of its own.

    tree_objectives_ : ndarray of shape (n_trees,)
        Their objectives.

    objective_ : float
        Its objective, the cost of its tests included.

    lower_bound_ : float
        No tree within the limits has a smaller objective.

    gap_ : float
        Difference of the two; 0 for a proved optimum.

    status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
        Whether the tree is proved to be optimal, or what ended the search before.

    incumbents_ : list of (float, float, float)
        Seconds, objective and lower bound, each time a better tree or bound was found.

    optimality_scope_ : str
        What the proof is relative to, in words.

    search_stats_ : dict
        Counters of the search; of one for the best tree of binary tests, ``has_fewest_tests``, too:
        whether it is known that no tree as good has fewer tests.

    feature_importances_ : ndarray of shape (n_features,)
        Change of the answers when a feature is not known, as shares that sum to 1.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when all are strings.

    See Also
    --------
    OptimalTreeClassifier : The tree for classes.

    Notes
    -----
    Section 4.8.2 of [1]_; tables with many thresholds, and absolute errors, after [2]_. Sums of
    real numbers are exact to about 12 digits, and so is the proof.

    A search over binary tests takes at most 10,000 of them (midpoints, categories, missing values),
    and a fit with more is refused. Tables of many thresholds or categories are searched by ranks
    instead, whatever their number, for one tree and without ``categorical_splits="subset"``.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.
    .. [2] C. E. Brita et al., "Optimal Classification Trees for Continuous Feature Data Using
       Dynamic Programming with Branch-and-Bound", AAAI 2025.

    Examples
    --------
    >>> from sktree_opt.optimal import OptimalTreeRegressor
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> reg = OptimalTreeRegressor(max_depth=2).fit(X, [1.0, 2.0, 2.0, 1.0])
    >>> reg.predict([[1, 0]])
    array([2.])
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "thresholds": threshold_constraints(REGRESSION_THRESHOLDS),
        "objective": [StrOptions(set(REGRESSION_OBJECTIVES))],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        max_depth: int = 3,
        max_splits: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: Literal["squared_error", "absolute_error"] = "squared_error",
        complexity_cost: float = 0.0,
        thresholds: RegressionThresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        n_trees: int = 1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        initial_tree: TreeLike | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.complexity_cost = complexity_cost
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.n_trees = n_trees
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.initial_tree = initial_tree

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best tree.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Targets.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones.

        Returns
        -------
        self : OptimalTreeRegressor
            The fitted tree.
        """
        return self._fit_tree(X, y, sample_weight, is_classifier=False)

    def _asks_for_one_tree(self):
        return self.n_trees == 1 and super()._asks_for_one_tree()

    def _search(self, problem):
        if self.n_trees == 1:
            return super()._search(problem)
        refuse_initial_tree(problem, True)
        return search_k_best(problem, self.n_trees)

    def _prepare_objective(self, data):
        # Sums of squares of centred targets lose no digits to their mean. It is counted from a
        # target, from which equal ones differ by nothing.
        with np.errstate(over="ignore", invalid="ignore"):
            rises = data.y - data.y[0]
            self._centre = float(data.y[0] + np.average(rises, weights=data.weights))
            distance = float(np.abs(data.y - self._centre).max())
        refuse_extreme_targets(distance, REGRESSION_OBJECTIVES[self.objective].power, data.weights)

    def _targets(self, data):
        return data.y - self._centre

    def _leaf_form(self, data):
        objective = REGRESSION_OBJECTIVES[self.objective]
        return objective.leaf_form(self._targets(data), data.weights)

    def _node_values(self, data, reached):
        """Answer (as a column) and cost of each node."""
        objective = REGRESSION_OBJECTIVES[self.objective]
        answers, costs = objective.node_values(data.y, data.weights, reached)
        return answers[:, np.newaxis], costs


def refuse_extreme_targets(distance, power, weights):
    """Raise if errors, powers of the targets' largest distance from their mean, are no floats."""
    if distance == 0.0:
        return
    # Means are made of sums of weighted targets, which are squared, too.
    digits = EXTREME_ERROR - power * abs(np.log10(weights.max())) - np.log10(len(weights))
    most = 10.0 ** (digits / power)
    # Of targets that are further apart than any float, the mean is none.
    distance = np.nan_to_num(distance, nan=np.inf)
    if not 1.0 / most <= distance <= most:
        raise ValueError(
            f"The targets y are up to {distance:g} away from their mean; the errors of a tree are "
            f"floats where that is between {1.0 / most:.0e} and {most:.0e}: scale y."
        )
