"""The optimal classification tree."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.optimal.estimators._base import (
    BaseOptimalTree,
    class_problem,
    document_optimal,
    what_is_known,
)
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.objectives._metrics import METRICS
from sktree_opt.optimal.run._f1 import sums_leaves
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run._run import find_tree
from sktree_opt.tree._mixin import TreeClassifierMixin
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
    ClassWeight,
    FilePath,
    Label,
    LeafObjectiveName,
    MetricLoss,
    MetricName,
    SearchName,
    TableLike,
    TargetsName,
    Thresholds,
)


@document_optimal
class OptimalTreeClassifier(TreeClassifierMixin, BaseOptimalTree):
    """The best classification tree within a depth and a number of leaves, with proof.

    No tree whose tests come from the table has a smaller objective. A numeric column is
    compared with thresholds between its values, a nominal one with each category, and a column
    with missing values may be asked whether it misses one. Every other test sends missing values to
    the side that is better.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    %(size_limits)s

    objective : {"error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy", \
            "log_loss", "f1", "mcc", "g_mean"} or callable, default="error"
        What is minimised. A sum over leaves: the weight of misclassified rows; the mean of the
        classes' error rates, times the total weight; the cost of the answers by `cost_matrix`;
        C4.5's estimate of the errors on new rows; the impurity ("log_loss" is the entropy, as in
        scikit-learn). Or, for two classes, one minus a metric: F1 score, Matthews correlation,
        geometric mean of the classes' recalls. Or a function of the weights of the false positives
        and the false negatives that falls with neither, which is checked at some points only.

    %(cost_matrix)s Read by the
        objective "cost".

    %(confidence)s

    pos_label : label or None, default=None
        For a metric: the positive class. None means 1 if the classes are 0 and 1, or -1 and 1; for
        "mcc" and "g_mean", which treat both classes alike, the second of `classes_`. Otherwise it
        is required.

    %(targets)s

    complexity_cost : float, default=0.0
        Cost of each test, as a share of the total weight; for a metric it is added to the metric.

    %(class_weight)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(tests_and_limits)s

    %(checkpoint)s

    %(search)s

    Attributes
    ----------
    tree_ : Tree
        The tree. It does not know the answers of a metric or a cost: predict with, and export, the
        estimator.

    %(proof)s

    pareto_front_ : ndarray
        Only for a metric: the pairs of errors that no tree betters in both, by rising
        ``false_positives``, with ``false_negatives`` (weights), ``n_splits`` and ``loss``. With a
        `complexity_cost`, of the trees of the sizes that may be best. For "f1" and many thresholds,
        of the trees that were found on the way.

    search_stats_ : dict
        Counters of the search. ``has_fewest_tests``, of a search of binary tests, says whether it
        is known that no tree as good has fewer tests.

    classes_ : ndarray of shape (n_classes,)
        Class labels. A class with a `class_weight` of 0 stays among them; one whose rows all have
        ``sample_weight`` 0 does not.

    %(columns)s

    See Also
    --------
    OptimalTreeRegressor : The tree for numeric targets.
    OptimalTreeClassifierCV : Chooses depth, size and other parameters by cross-validation.
    SmallestTreeClassifier : The smallest tree that is good enough.
    TreeSetClassifier : The best tree, the second best, and so on.
    optimal_path : The trees of all depths and numbers of leaves.
    sktree_opt.greedy.GreedyTreeClassifier : A tree of any size, without such a guarantee.

    Notes
    -----
    `predict` and `predict_proba` agree except for objectives that weigh errors by class: a leaf of
    a tree for "cost", a metric or a function answers what that objective asks for, which may be the
    rarer class. `predict_proba` gives its class frequencies all the same. Tools that vote by
    probabilities, such as ``VotingClassifier(voting="soft")``, ``BaggingClassifier`` and
    ``CalibratedClassifierCV``, then lose the objective: let them vote by answers, or put
    ``sklearn.model_selection.FixedThresholdClassifier`` (for two classes) or
    ``TunedThresholdClassifierCV`` around what they make. For two classes and a cost matrix ``c``
    without costs of right answers, the threshold of the second class is
    ``c[0, 1] / (c[0, 1] + c[1, 0])``. For "f1" that of the positive class is half the F1 score of
    the tree. Trees of "balanced_error" weigh the classes equally in both.

    The search is MurTree's [1]_ over DL8's row-set caches [2]_. Among equally good trees it takes
    the one with the fewest tests, then with the fewest levels and the lowest columns and thresholds
    from the root down. Where the objective is the least that any tree might have, the search for
    fewer tests is given up after some work; where a table has many thresholds, not all equally good
    trees are compared. The tree is the same for any `n_jobs`; see the user guide.

    Objectives that differ by rounding in double precision, about ``1e-15`` of the total weight for
    each row, count as equal. Metrics take fractional weights of a class if none is more than
    ``1e7`` times as large as another.

    A search of binary tests takes at most 10,000 of them (thresholds, categories, missing values).
    If there are more, some thresholds of each column are searched, with a warning. Tables of many
    thresholds or categories are searched by ranks instead, whatever their number, by "error",
    "balanced_error", "cost", "f1" and, for two classes, "gini", without
    ``categorical_splits="subset"``.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.
    .. [2] S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices",
       KDD 2007.

    Examples
    --------
    >>> from sktree_opt import OptimalTreeClassifier
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
        "targets": [StrOptions({"given", "forest"})],
        **shared_constraints(*OF_CLASSIFIERS, "checkpoint", "search"),
        "pos_label": [Real, str, "boolean", None],
    }

    def __init__(
        self,
        *,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: LeafObjectiveName | MetricName | MetricLoss = "error",
        cost_matrix: ArrayLike | None = None,
        confidence: float = 0.25,
        pos_label: Label | None = None,
        targets: TargetsName = "given",
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
        search: SearchName = "exact",
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.confidence = confidence
        self.pos_label = pos_label
        self.targets = targets
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
        self.search = search

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the best tree.

        Parameters
        ----------
        %(fit_classes)s

        Returns
        -------
        self : OptimalTreeClassifier
            The fitted tree.
        """
        with self._fitting(X, y, sample_weight) as session:
            self._search(session, X, y, sample_weight)
        warn_of_limit(self, self.status_, what_is_known(self))
        return self

    def _search(self, session, X, y, sample_weight):
        problem = class_problem(self, X, y, sample_weight)
        plan = make_plan(
            problem,
            session,
            thresholds=self.thresholds,
            categorical_splits=self.categorical_splits,
            sums_one_tree=sums_leaves(problem),
        )
        session.begin()
        solution = find_tree(plan, session)
        self._keep(plan, solution)
