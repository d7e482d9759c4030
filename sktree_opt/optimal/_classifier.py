"""The optimal classification tree."""

from typing import ClassVar

import numpy as np
from scipy import sparse

from sktree_opt.optimal._base import BaseOptimalTree
from sktree_opt.optimal.continuous import has_many_thresholds, solve_table
from sktree_opt.optimal.objectives import OBJECTIVES
from sktree_opt.preprocessing import Table
from sktree_opt.tree import TreeClassifierMixin
from sktree_opt.utils._compat import StrOptions, fit_context
from sktree_opt.utils._control import SearchControl


class OptimalTreeClassifier(TreeClassifierMixin, BaseOptimalTree):
    """The best classification tree within a depth and a number of splits, with proof.

    Of all trees whose tests come from the table, none has a smaller objective. A numeric column is
    compared with the midpoints between its values, a nominal one with each category, and a column
    with missing values may be asked whether it misses one; a missing value fails other tests.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    max_depth : int, default=3
        Most tests on a path. The time grows steeply with it: 3 and 4 take moments on most tables,
        5 seconds to minutes.

    max_splits : int or None, default=None
        Most tests in the tree; None for as many as `max_depth` allows.

    min_samples_leaf : int, default=1
        Least rows of every leaf, whatever their weight.

    min_weight_leaf : float, default=0.0
        Least weight of every leaf.

    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight; the larger of the two counts.

    objective : {"error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy"}, \
            default="error"
        What is minimised, summed over leaves: the weight of misclassified rows; the mean of the
        classes' error rates, times the total weight; the cost of the answers by `cost_matrix`;
        C4.5's estimate of the errors on new rows; the impurity.

    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        For "cost": cost of answering class `j` (columns) for class `i` (rows), classes in sorted
        order.

    complexity_cost : float, default=0.0
        Cost of each test, as a share of the total weight.

    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class.

    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Nominal columns: by their dtype, a mask, indices, names, or none.

    time_limit : float or None, default=None
        Seconds after which the search ends with the best tree found.

    memory_limit : int, str or None, default=None
        Bytes, or a size such as "2GB", that the search may take.

    n_jobs : int or None, default=None
        Threads; the tree does not depend on them. None means 1, -1 all.

    Attributes
    ----------
    tree_ : Tree
        The tree.

    objective_ : float
        Its objective, the cost of its tests included.

    lower_bound_ : float
        No tree within the limits has a smaller objective.

    gap_ : float
        Difference of the two; 0 for a proved optimum.

    status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
        Whether the tree is proved to be optimal, or what ended the search before.

    incumbents_ : list of (float, float, float)
        Seconds, objective and lower bound, each time a better tree was found.

    search_stats_ : dict
        Counters of the search.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of the objective.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when all are strings.

    See Also
    --------
    OptimalTreeRegressor : The tree for numeric targets.
    sktree_opt.greedy.GreedyTreeClassifier : A tree of any size, without such a guarantee.

    Notes
    -----
    The search is MurTree's [1]_ over DL8's row-set caches [2]_. Of equally good trees, the one with
    the fewest levels at each node is taken.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and Search",
       JMLR 23, 2022.
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

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "objective": [StrOptions(set(OBJECTIVES))],
        "cost_matrix": ["array-like", None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        max_depth=3,
        max_splits=None,
        min_samples_leaf=1,
        min_weight_leaf=0.0,
        min_weight_fraction_leaf=0.0,
        objective="error",
        cost_matrix=None,
        complexity_cost=0.0,
        class_weight=None,
        categorical_features="from_dtype",
        time_limit=None,
        memory_limit=None,
        n_jobs=None,
    ):
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.complexity_cost = complexity_cost
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
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

    def _prepare_objective(self, data):
        """Set ``classes_`` and ``_costs``, what the answers of leaves depend on."""
        objective = OBJECTIVES[self.objective]
        n_classes = len(data.classes)
        costs = None
        if objective.needs_costs:
            if self.cost_matrix is None:
                raise ValueError(f"objective={self.objective!r} needs a cost_matrix.")
            costs = np.asarray(self.cost_matrix, dtype=np.float64)
            if costs.shape != (n_classes, n_classes):
                raise ValueError(
                    f"cost_matrix has shape {costs.shape}; y has {n_classes} classes, so that "
                    f"{(n_classes, n_classes)} is expected."
                )
            if not np.isfinite(costs).all() or (costs < 0.0).any():
                raise ValueError("cost_matrix must hold finite numbers that are not negative.")
        elif self.cost_matrix is not None:
            raise ValueError(f"cost_matrix has no meaning for objective={self.objective!r}.")
        class_weights = np.bincount(data.y, weights=data.weights, minlength=n_classes)
        if self.objective == "balanced_error":
            costs = objective.costs(class_weights)
        self.classes_, self._costs = data.classes, costs
        self._class_weights = class_weights

    def _threshold_table(self, data, encoder, n_threads):
        linear = self.objective in ("error", "balanced_error", "cost")
        # Ranks hold missing values on either side of a test; here they fail it.
        if (
            not linear
            or self.memory_limit is not None
            or len(self.classes_) < 2
            or sparse.issparse(data.matrix)
            or np.isnan(data.matrix).any()
            or not data.weights.all()
        ):
            return None
        table = Table.from_matrix(data.matrix, encoder.n_categories_, n_threads)
        return table if has_many_thresholds(table) else None

    def _search_thresholds(self, table, data, n_threads):
        total = float(data.weights.sum())
        return solve_table(
            table,
            data.y,
            data.weights,
            n_classes=len(self.classes_),
            max_depth=self.max_depth,
            max_splits=self._splits_within_depth(),
            min_samples_leaf=self.min_samples_leaf,
            min_weight_leaf=max(self.min_weight_leaf, self.min_weight_fraction_leaf * total),
            complexity_cost=self.complexity_cost,
            cost_matrix=self._costs,
            n_threads=n_threads,
            control=SearchControl(self.time_limit),
        )

    def _targets(self, data):
        return data.y

    def _leaf_form(self, data):
        return OBJECTIVES[self.objective].leaf_form(self._class_weights, data.weights, self._costs)

    def _node_values(self, data, rows):
        """Class weights and cost of each node, given its rows."""
        n_classes = len(self.classes_)
        values = np.array(
            [np.bincount(data.y[r], weights=data.weights[r], minlength=n_classes) for r in rows]
        )
        objective = OBJECTIVES[self.objective]
        return values, objective.leaf_costs(values, self._class_weights, self._costs)
