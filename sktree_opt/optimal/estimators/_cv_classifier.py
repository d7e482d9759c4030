"""The optimal classification tree whose parameters predict best in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._cv import BaseOptimalTreeCV, document_cv
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.utils._compat import fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT
from sktree_opt.utils._typing import (
    CV,
    CategoricalFeatures,
    CategoricalSplit,
    ClassWeight,
    FilePath,
    Label,
    LeafObjectiveName,
    MetricLoss,
    MetricName,
    Scoring,
    TableLike,
    TargetsName,
    Thresholds,
)

_CHECKS = OptimalTreeClassifier._parameter_constraints


@document_cv
class OptimalTreeClassifierCV(TreeClassifierMixin, BaseOptimalTreeCV):
    """The optimal classification tree whose size predicts best in cross-validation.

    For each fold, one search finds the optimal trees of every depth and number of leaves on the
    training rows, each of which is scored on the others. The best parameters are then applied to
    all rows. Searches of folds use few thresholds, and the final tree all of them.

    Read more in the :ref:`User Guide <optimal_cv>`.

    Parameters
    ----------
    %(cv_depth)s

    %(cv_leaves)s

    %(cv_min_samples_leaf)s

    %(cv_complexity_cost)s

    objective : str, callable or list of them, default="error"
        What each tree minimises on its training rows, as in :class:`OptimalTreeClassifier`. Each
        value of a list is tried, with a search of its own on each fold.

    %(cv_targets)s

    %(cv)s

    %(scoring_values)s

    %(refit)s

    %(rule)s

    %(min_weight_leaf)s

    %(min_weight_fraction_leaf)s

    pos_label : label or None, default=None
        The positive class of a metric as `objective`.

    %(cost_matrix)s Read by the
        objective "cost".

    %(class_weight)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(thresholds)s

    fold_thresholds : as `thresholds`, or None, default="ensemble"
        The same for the searches of the folds, which need many more searches than the final tree.
        None means those of `thresholds`.

    %(categorical_features)s

    %(categorical_splits)s

    %(cv_time_limit)s

    %(cv_memory_limit)s

    %(cv_n_jobs)s

    %(checkpoint)s

    Attributes
    ----------
    %(cv_attributes)s

    pareto_front_ : ndarray
        Only for a metric as objective: see :class:`OptimalTreeClassifier`.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    %(columns)s

    See Also
    --------
    OptimalTreeRegressorCV : The same for numeric targets.
    OptimalTreeClassifier : One depth and number of leaves.
    optimal_path : The trees of all of them.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree", JMLR 23, 2022, section 5.4.2 (MT-A).
    .. [2] L. Breiman et al., "Classification and Regression Trees", 1984, section 3.4.3 (the rule
       of one standard error).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import OptimalTreeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifierCV(max_depth=2).fit(X, y)
    >>> clf.best_params_
    {'max_depth': 2, 'max_leaf_nodes': 3}
    """

    _tree_type = OptimalTreeClassifier

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTreeCV._parameter_constraints,
        **{
            name: _CHECKS[name]
            for name in (
                "pos_label",
                "cost_matrix",
                "class_weight",
                "leaf_smoothing",
                "hierarchical_shrinkage",
            )
        },
        "objective": [*_CHECKS["objective"], "array-like"],
        "fold_thresholds": [*_CHECKS["thresholds"], None],
    }

    def __init__(
        self,
        *,
        max_depth: int | Sequence[int] = 3,
        max_leaf_nodes: int | Sequence[int] | None = None,
        min_samples_leaf: float | Sequence[float] = 1,
        complexity_cost: Literal["all"] | float | Sequence[float] | None = None,
        objective: LeafObjectiveName
        | MetricName
        | MetricLoss
        | Sequence[LeafObjectiveName | MetricName | MetricLoss] = "error",
        targets: TargetsName | Sequence[TargetsName] = "given",
        cv: CV = None,
        scoring: Scoring = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        rule: Literal["best", "one_standard_error"] = "best",
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        pos_label: Label | None = None,
        cost_matrix: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        leaf_smoothing: Literal["laplace"] | float | None = None,
        hierarchical_shrinkage: float = 0.0,
        thresholds: Thresholds = "all",
        fold_thresholds: Thresholds | None = "ensemble",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        checkpoint: FilePath | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.complexity_cost = complexity_cost
        self.objective = objective
        self.targets = targets
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.rule = rule
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.pos_label = pos_label
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.leaf_smoothing = leaf_smoothing
        self.hierarchical_shrinkage = hierarchical_shrinkage
        self.thresholds = thresholds
        self.fold_thresholds = fold_thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose the parameters, and find the tree.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones. Scores are weighted too.

        **params : dict
            `groups` for the splitter. With metadata routing, whatever the splitter and the scorer
            request.

        Returns
        -------
        self : OptimalTreeClassifierCV
            The fitted tree.
        """
        self._fit(X, y, sample_weight, params)
        return self
