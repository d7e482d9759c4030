"""The optimal regression tree whose parameters predict best in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

from numpy.typing import ArrayLike

from sktree_opt.optimal.estimators._cv import BaseOptimalTreeCV, document_cv
from sktree_opt.optimal.estimators._regressor import OptimalTreeRegressor
from sktree_opt.tree._mixin import TreeRegressorMixin
from sktree_opt.utils._compat import fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT
from sktree_opt.utils._typing import (
    CV,
    CategoricalFeatures,
    CategoricalSplit,
    FilePath,
    RegressionThresholds,
    Scoring,
    TableLike,
    TargetsName,
)

TargetObjectiveName: TypeAlias = Literal["squared_error", "absolute_error"]
_CHECKS = OptimalTreeRegressor._parameter_constraints


@document_cv
class OptimalTreeRegressorCV(TreeRegressorMixin, BaseOptimalTreeCV):
    """The optimal regression tree whose size predicts best in cross-validation.

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

    objective : {"squared_error", "absolute_error"} or list of them, default="squared_error"
        What each tree minimises on its training rows, as in :class:`OptimalTreeRegressor`. Each
        value of a list is tried, with a search of its own on each fold.

    %(cv_targets_both)s

    %(cv)s

    %(scoring_values)s

    %(refit)s

    %(rule)s

    %(min_weight_leaf)s

    %(min_weight_fraction_leaf)s

    %(regression_thresholds)s

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

    %(columns)s

    See Also
    --------
    OptimalTreeClassifierCV : The same for classes.
    OptimalTreeRegressor : One depth and number of leaves.
    optimal_path : The trees of all of them.

    References
    ----------
    .. [1] L. Breiman et al., "Classification and Regression Trees", 1984, section 3.4.3 (the rule
       of one standard error).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sktree_opt import OptimalTreeRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = OptimalTreeRegressorCV(max_depth=2, min_samples_leaf=20).fit(X, y)
    >>> reg.best_params_
    {'max_depth': 2, 'max_leaf_nodes': 4, 'targets': 'forest'}
    """

    _tree_type = OptimalTreeRegressor

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTreeCV._parameter_constraints,
        "thresholds": _CHECKS["thresholds"],
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
        objective: TargetObjectiveName | Sequence[TargetObjectiveName] = "squared_error",
        targets: TargetsName | Sequence[TargetsName] = ("given", "forest"),
        cv: CV = None,
        scoring: Scoring = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        rule: Literal["best", "one_standard_error"] = "best",
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        thresholds: RegressionThresholds = "all",
        fold_thresholds: RegressionThresholds | None = "ensemble",
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
            Targets.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones. Scores are weighted too.

        **params : dict
            `groups` for the splitter. With metadata routing, whatever the splitter and the scorer
            request.

        Returns
        -------
        self : OptimalTreeRegressorCV
            The fitted tree.
        """
        self._fit(X, y, sample_weight, params)
        return self
