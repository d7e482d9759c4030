"""The optimal classification tree."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.optimal.estimators._base import BaseOptimalTree
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.objectives._metrics import METRICS
from sktree_opt.optimal.run._driver import breadth_first
from sktree_opt.optimal.run._questions import answer, is_metric
from sktree_opt.tree import TreeClassifierMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    ClassWeight,
    LeafObjectiveName,
    MetricLoss,
    MetricName,
    RankingCriterion,
    TableLike,
    Thresholds,
    TreeLike,
)


class OptimalTreeClassifier(TreeClassifierMixin, BaseOptimalTree):
    """The best classification tree within a depth and a number of splits, with proof.

    Of all trees whose tests come from the table, none has a smaller objective. A numeric column is
    compared with the midpoints between its values, a nominal one with each category, and a column
    with missing values may be asked whether it misses one. Every other test sends missing values to
    the side that is better.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    max_depth : int, default=3
        Most tests on a path, at most 20. The time grows steeply with it: 3 and 4 take moments on
        most tables, 5 seconds to minutes.

    max_splits : int or None, default=None
        Most tests in the tree; None for as many as `max_depth` allows.

    min_samples_leaf : int, default=1
        Least rows of every leaf, whatever their weight.

    min_weight_leaf : float, default=0.0
        Least weight of every leaf.

    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight; the larger of the two counts.

    objective : {"error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy", \
            "f1", "mcc", "g_mean"} or callable, default="error"
        What is minimised, summed over leaves: the weight of misclassified rows; the mean of the
        classes' error rates, times the total weight; the cost of the answers by `cost_matrix`;
        C4.5's estimate of the errors on new rows; the impurity. Or, for two classes, one minus a
        metric (F1 score, Matthews correlation, geometric mean of the classes' recalls), or a
        function of the weights of the false positives and the false negatives that falls with
        neither, which is looked at on some of them only; the second of `classes_` is the positive
        one.

    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        For "cost": cost of answering class `j` (columns) for class `i` (rows), classes in sorted
        order, those of rows of weight zero included.

    complexity_cost : float, default=0.0
        Cost of each test, as a share of the total weight; for a metric it is added to the metric.

    ranking : tuple of {"error", "size", "depth"} or None, default=None
        What is minimised first, second and third: the objective, the number of tests, the depth.
        "error" and "size" have to be among them. None: the objective alone. With "size" or "depth"
        first, `max_error` says what is good enough: without it a single leaf is the answer.

    max_error : float or None, default=None
        Largest objective that is acceptable, but for a billionth, which rounding may take; with
        ``ranking=("size", "error")`` the smallest tree that is as good is found. A ValueError if
        there is none. Without a `ranking` it is ("error", "size"), so that `max_error` changes no
        tree: it only raises the error.

    n_trees : int, default=1
        Number of trees, different from each other, to find for `trees_`.

    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class. A class of factor 0 stays in ``classes_``; one whose
        rows all have ``sample_weight`` 0 does not.

    thresholds : {"all", "quantile", "mdlp", "ensemble"}, int or transformer, default="all"
        Which thresholds of numeric columns the tests may use: every midpoint between two values;
        10 quantiles of each column, or as many as an int says; the cuts of
        :class:`~sktree_opt.preprocessing.MDLPDiscretizer`; the thresholds of a small ensemble of
        boosted trees; or the cuts of a transformer with ``thresholds_`` or ``bin_edges_``, such as
        scikit-learn's KBinsDiscretizer, fitted or else to be fitted to each column (``clone``
        forgets fits: wrap a fitted one in ``sklearn.frozen.FrozenEstimator`` for a grid search).
        The proof is relative to these thresholds.

    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Nominal columns: by their dtype, a mask, indices, names, or none.

    categorical_splits : {"one_vs_rest", "subset"}, default="one_vs_rest"
        What is asked of a nominal column: one category, or any set of them. A column of `k`
        categories has 2**(k - 1) - 1 sets to ask for; at most 12 categories are possible.

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
        ones at once. Its tests need only part the rows as tests of the table do; of our greedy
        trees, those of tables with missing values mostly do not, since a row that misses a value
        goes down both branches. To survive ``clone``, a Tree or an estimator in
        ``FrozenEstimator``.

    Attributes
    ----------
    tree_ : Tree
        The tree. Of a metric's or a cost's answers it knows nothing: what predicts or is exported
        should be the estimator.

    objective_ : float
        Its objective, the cost of its tests included.

    lower_bound_ : float
        No tree within the limits has a smaller objective.

    gap_ : float
        Difference of the two; 0 for a proved optimum.

    status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
        Whether the tree is proved to be optimal, or what ended the search before.

    trees_ : list of Tree
        The `n_trees` best trees, best first, then with the fewest tests; fewer if there are not so
        many, or not the time to read them. ``ranked_estimator`` makes estimators of them. Trees are
        different if they part the training rows differently at some node; a test over two leaves
        that does not lower the objective, the cost of tests left out, makes no tree of its own.

    tree_objectives_ : ndarray of shape (n_trees,)
        Their objectives.

    pareto_front_ : ndarray
        Only for a metric: the pairs of errors that no tree betters in both, by rising
        ``false_positives``, with ``false_negatives`` (weights), ``n_splits`` and ``loss``. With a
        `complexity_cost`, of the trees of the sizes that may be best.

    incumbents_ : list of (float, float, float)
        Seconds, objective and lower bound, each time a better tree or bound was found.

    optimality_scope_ : str
        What the proof is relative to, in words.

    search_stats_ : dict
        Counters of the search; of one for the best tree of binary tests, ``has_fewest_tests``, too:
        whether it is known that no tree as good has fewer tests.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    feature_importances_ : ndarray of shape (n_features,)
        Change of the answers when a feature is not known, as shares that sum to 1.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when all are strings.

    See Also
    --------
    OptimalTreeRegressor : The tree for numeric targets.
    optimal_path : The trees of all depths and numbers of tests; a fit finds one of them.
    sktree_opt.greedy.GreedyTreeClassifier : A tree of any size, without such a guarantee.

    Notes
    -----
    The search is MurTree's [1]_ over DL8's row-set caches [2]_. Of equally good trees, the one with
    the fewest tests is taken, then with the fewest levels and the lowest columns and thresholds
    from the root down. Where the objective is the least that any tree might have, the search for
    fewer tests is given up after some work; where a table has many thresholds, not all equally good
    trees are compared. For any `n_jobs` the tree is the same then, too; see the user guide.

    Objectives that differ by what sums in double precision are rounded to, some ``1e-15`` of the
    total weight for each row, count as equal. Metrics and `n_trees` take weights of a class that
    are no whole numbers if none is more than ``1e7`` times as large as another.

    A search over binary tests takes at most 10,000 of them (midpoints, categories, missing values),
    and a fit with more is refused. Tables of many thresholds or categories are searched by ranks
    instead, whatever their number, by "error", "balanced_error", "cost" and, for two classes,
    "gini", without `ranking`, `max_error`, `n_trees` and ``categorical_splits="subset"``.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.
    .. [2] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007.

    Examples
    --------
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> y = [0, 1, 1, 0]
    >>> clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.objective_, clf.status_
    (0.0, 'optimal')
    """

    pareto_front_: NDArray[np.void]

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "objective": [StrOptions({*OBJECTIVES, *METRICS}), callable],
        "ranking": [list, tuple, None],
        "max_error": [Interval(Real, 0, None, closed="left"), None],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "cost_matrix": ["array-like", None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        max_depth: int = 3,
        max_splits: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: LeafObjectiveName | MetricName | MetricLoss = "error",
        cost_matrix: ArrayLike | None = None,
        complexity_cost: float = 0.0,
        ranking: Sequence[RankingCriterion] | None = None,
        max_error: float | None = None,
        n_trees: int = 1,
        class_weight: ClassWeight = None,
        thresholds: Thresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
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
        self.cost_matrix = cost_matrix
        self.complexity_cost = complexity_cost
        self.ranking = ranking
        self.max_error = max_error
        self.n_trees = n_trees
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
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
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones.

        Returns
        -------
        self : OptimalTreeClassifier
            The fitted tree.
        """
        return self._fit_tree(
            X, y, sample_weight, is_classifier=True, class_weight=self.class_weight
        )

    def _leaf_objective(self):
        """The objective of leaves; for a metric, what the impurity of nodes is measured by."""
        return OBJECTIVES["error" if is_metric(self.objective) else self.objective]

    def _asks_for_one_tree(self):
        is_plain = self.ranking is None and self.max_error is None and self.n_trees == 1
        return is_plain and not is_metric(self.objective) and super()._asks_for_one_tree()

    def _search(self, problem):
        if problem.table is not None:
            return super()._search(problem)
        return answer(
            problem,
            objective=self.objective,
            ranking=self.ranking,
            max_error=self.max_error,
            n_trees=self.n_trees,
        )

    def _keep_result(self, problem, result):
        super()._keep_result(problem, result)
        vars(self).pop("pareto_front_", None)
        if getattr(result, "front", None) is not None:
            self._keep_metric(problem, result)

    def _keep_metric(self, problem, result):
        self.pareto_front_ = result.front
        self.objective_, self.lower_bound_ = result.cost, result.lower_bound
        # Both may be infinite.
        self.gap_ = 0.0 if result.cost == result.lower_bound else result.cost - result.lower_bound
        self.tree_objectives_ = np.array([result.cost])
        self._answers = self._attributes(problem, result.nodes, result.answers)["_answers"]

    def _refuse_worse_tree(self, result, objective, weights):
        # A metric is no sum over the leaves.
        if getattr(result, "front", None) is None:
            super()._refuse_worse_tree(result, objective, weights)

    def _attributes(self, problem, nodes, answers=None):
        attributes = super()._attributes(problem, nodes)
        if answers is not None:
            # Within a leaf the metric may ask for the rarer class.
            answers = answers[breadth_first(nodes)[1]]
            most_frequent = attributes["tree_"].values.argmax(axis=1)
            attributes["_answers"] = np.where(answers < 0, most_frequent, answers)
        return attributes

    def _prepare_objective(self, data):
        """Set ``classes_`` and ``_costs``, what the answers of leaves depend on."""
        objective = self._leaf_objective()
        n_classes = len(data.classes)
        costs = None
        if objective.needs_costs:
            if self.cost_matrix is None:
                raise ValueError(f"objective={self.objective!r} needs a cost_matrix.")
            costs = checked_costs(self.cost_matrix, data)
        elif self.cost_matrix is not None:
            raise ValueError(f"cost_matrix has no meaning for objective={self.objective!r}.")
        class_weights = np.bincount(data.y, weights=data.weights, minlength=n_classes)
        if self.objective == "balanced_error":
            costs = objective.costs(class_weights)
        self.classes_, self._costs, self._answers = data.classes, costs, None
        self._class_weights = class_weights

    def _targets(self, data):
        return data.y

    def _leaf_form(self, data):
        return self._leaf_objective().leaf_form(self._class_weights, data.weights, self._costs)

    def _node_values(self, data, reached):
        """Class weights and cost of each node, given its rows."""
        costs = self._leaf_objective().leaf_costs(reached.weights, self._class_weights, self._costs)
        return reached.weights, costs


def checked_costs(cost_matrix, data):
    """Costs of the classes that have weight, out of those of all classes of `y`."""
    try:
        costs = np.asarray(cost_matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost_matrix must be a square table of numbers: {error}") from None
    n_classes = len(data.given_classes)
    if costs.shape != (n_classes, n_classes):
        message = (
            f"cost_matrix has shape {costs.shape}; y has {n_classes} classes, so that "
            f"{(n_classes, n_classes)} is expected."
        )
        if costs.shape[:1] > (n_classes,):
            message += (
                " In cross-validation the training rows of a fold may lack a class: stratify the "
                "folds."
            )
        raise ValueError(message)
    if not np.isfinite(costs).all() or (costs < 0.0).any():
        raise ValueError("cost_matrix must hold finite numbers that are not negative.")
    present = np.isin(data.given_classes, data.classes)
    return costs[np.ix_(present, present)]
