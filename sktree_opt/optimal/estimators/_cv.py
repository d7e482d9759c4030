"""Depth and number of leaves of an optimal tree, by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed

from sktree_opt.optimal.estimators._base import document_optimal
from sktree_opt.optimal.estimators._classifier import OptimalTreeClassifier
from sktree_opt.optimal.estimators._cv_folds import score_fold, summed
from sktree_opt.optimal.estimators._optimal_path import path_of
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    fit_context,
    n_threads_for,
    raise_for_params,
    routing_enabled,
    safe_indexing,
)
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import (
    DEFAULT_TIME_LIMIT,
    seconds_from,
    warn_of_limit,
    warn_user,
)
from sktree_opt.utils._typing import (
    CV,
    CategoricalFeatures,
    CategoricalSplit,
    ClassWeight,
    LeafObjectiveName,
    TableLike,
    Thresholds,
)
from sktree_opt.utils._validation import as_weights

# Share of the time limit for the search on all rows.
SHARE_OF_ALL_ROWS = 1 / 3

# Parameters that every path takes over.
PATH_PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "min_weight_leaf",
    "min_weight_fraction_leaf",
    "objective",
    "cost_matrix",
    "class_weight",
    "thresholds",
    "categorical_features",
    "categorical_splits",
    "memory_limit",
)

# Fitted attributes of the last path's model.
FROM_MODEL = (
    "classes_",
    "optimality_scope_",
    "_costs",
    "_class_factors",
    "_encoder",
    "n_features_in_",
    "feature_names_in_",
)


@document_optimal
class OptimalTreeClassifierCV(CallbackSupportMixin, TreeClassifierMixin, BaseEstimator):
    """The optimal tree whose depth and number of leaves predict best in cross-validation.

    For each fold, one search finds the optimal trees of every depth and number of leaves on the
    training rows, each of which is scored on the others; the best limits are then applied to all
    rows.

    Read more in the :ref:`User Guide <optimal_trees>`.

    Parameters
    ----------
    max_depth : int, default=4
        Largest depth to try, at most 10.

    max_leaf_nodes : int or None, default=None
        Largest number of leaves to try. None means as many as `max_depth` allows.

    cv : int, cross-validation generator, iterable or None, default=None
        Folds: a number of stratified ones (None for 5), a splitter, or pairs of row indices.

    scoring : str, callable or None, default=None
        What is maximised on the rows left out; None for the accuracy.

    %(min_samples_leaf)s

    %(min_weight_leaf)s

    %(min_weight_fraction_leaf)s

    objective : {"error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy", \
            "log_loss"}, default="error"
        What each tree minimises on its training rows.

    %(cost_matrix)s

    %(class_weight)s

    %(thresholds)s

    %(categorical_features)s

    %(categorical_splits)s

    time_limit : float or None, default=60.0
        Seconds for the whole fit: a third for the search on all rows, what is left for the folds.
        None or infinity means no limit.

    memory_limit : int, float, str or None, default=None
        Bytes that each search may take, or a size such as "2GB". None or infinity means no limit.

    n_jobs : int or None, default=None
        Number of folds at a time, by joblib. None means 1, -1 means all processors.

    Attributes
    ----------
    best_params_ : dict
        ``max_depth`` and ``max_leaf_nodes`` with the best mean score; of equal ones the fewest
        leaves, then the smallest depth.

    best_index_ : int
        Their place in ``cv_results_``.

    best_score_ : float
        Their mean score.

    cv_results_ : dict of ndarray
        One entry for each pair of limits: ``params``, ``param_max_depth``,
        ``param_max_leaf_nodes`` (masked for a depth of 0), ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``split0_test_score`` and so on.

    path_ : Bunch
        The path on all rows, as :func:`optimal_path` returns it.

    tree_ : Tree
        The tree of the best limits on all rows.

    objective_, lower_bound_, gap_ : float
        Its objective, what no tree within these limits goes below, and the difference.

    status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
        Whether all trees are proved to be optimal, those of the folds included, or what ended the
        first search that was not.

    fold_status_ : list of str
        The same for the search of each fold.

    search_stats_ : dict
        Counters of all searches, summed, and ``seconds``.

    optimality_scope_ : str
        What the proof is relative to, in words.

    n_splits_ : int
        Number of folds.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    %(columns)s

    See Also
    --------
    OptimalTreeClassifier : One depth and number of leaves.
    optimal_path : The trees of all of them.

    Notes
    -----
    A table of more than 10,000 tests is searched by ranks where :class:`OptimalTreeClassifier` does
    so, and otherwise refused.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree", JMLR 23, 2022, section 5.4.2 (MT-A).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.optimal import OptimalTreeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifierCV(max_depth=2).fit(X, y)
    >>> clf.best_params_
    {'max_depth': 2, 'max_leaf_nodes': 3}
    """

    best_params_: dict[str, int | None]
    best_index_: int
    best_score_: float
    cv_results_: dict[str, NDArray[Any]]
    path_: Bunch
    objective_: float
    lower_bound_: float
    gap_: float
    status_: str
    fold_status_: list[str]
    search_stats_: dict[str, Any]
    optimality_scope_: str
    n_splits_: int

    _parameter_constraints: ClassVar[dict] = {
        **{
            name: OptimalTreeClassifier._parameter_constraints[name]
            for name in (*PATH_PARAMETERS, "time_limit", "n_jobs")
        },
        "objective": [StrOptions(set(OBJECTIVES))],
        "max_depth": [Interval(Integral, 0, 10, closed="both")],
        "cv": ["cv_object"],
        "scoring": [str, callable, HasMethods("__call__"), None],
    }

    def __init__(
        self,
        *,
        max_depth: int = 4,
        max_leaf_nodes: int | None = None,
        cv: CV = None,
        scoring: str | Callable[..., float] | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: LeafObjectiveName = "error",
        cost_matrix: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        thresholds: Thresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.cv = cv
        self.scoring = scoring
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose depth and number of leaves, and find the tree.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones. Scores are weighted too.

        **params : dict
            With metadata routing, for the splitter's ``split``, such as `groups`, and the scorer.

        Returns
        -------
        self : OptimalTreeClassifierCV
            The fitted tree.
        """
        raise_for_params(params, self, "fit")
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            progress.begin("all rows")
            limit, begin = seconds_from(self.time_limit), time.perf_counter()
            # First all rows: what is wrong with them is said before any fold is searched.
            share = None if limit is None else SHARE_OF_ALL_ROWS * limit
            model = self._path_model(share)
            path = path_of(model, X, y, sample_weight, interrupt)
            interrupt.release()
            progress.end()
            if sample_weight is not None:
                sample_weight = as_weights(sample_weight, X)
            routed = self._route(sample_weight, params)
            left = None if limit is None else max(0.0, limit + begin - time.perf_counter())
            folds = self._score_folds(X, y, sample_weight, routed, progress, left, interrupt)
            self._keep(path, model, folds, interrupt.came)
        progress.finish()
        if np.isnan(self.best_score_) and self.n_splits_ > 0:
            warn_user(
                f"scoring={self.scoring!r} gave NaN for some fold of every depth and number of "
                "leaves. The smallest tree is taken, because no other can be said to be better."
            )
        warn_of_limit(self, self.status_, self._what_ended(path.status))
        return self

    def _what_ended(self, status):
        """The searches that were not finished, in words."""
        ended = ["the search on all rows"] if status != "optimal" else []
        n_folds = sum(one != "optimal" for one in self.fold_status_)
        if n_folds:
            ended.append(f"{n_folds} of {len(self.fold_status_)} searches of folds")
        message = " and ".join(ended)
        return f"{message[:1].upper()}{message[1:]} did not prove their trees to be optimal."

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata `fit` hands to the splitter and the scorer.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv, classifier=True),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        )

    def _scorer(self):
        model = self._path_model()
        if self.scoring is None and routing_enabled():
            # The model scores itself, and knows which metadata it takes.
            model.set_score_request(sample_weight=True)
        return check_scoring(model, scoring=self.scoring)

    def _path_model(self, seconds=None):
        chosen = {name: getattr(self, name) for name in PATH_PARAMETERS}
        return OptimalTreeClassifier(**chosen, time_limit=seconds)

    def _route(self, sample_weight, params):
        if routing_enabled():
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=weights))

    def _score_folds(self, X, y, sample_weight, routed, progress, seconds, interrupt):
        """What is found on each fold, in so many seconds for all of them (None for any number).

        A callback or Ctrl-C may end it after any fold: those left are not scored.
        """
        if interrupt.came:
            return []
        X, y, sample_weight = indexable(X, y, sample_weight)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **routed.splitter.split))
        if seconds is not None:
            n_rounds = -(-len(folds) // n_threads_for(self.n_jobs))
            seconds /= max(1, n_rounds)
        tasks = (
            delayed(score_fold)(
                self._path_model(seconds),
                self._scorer(),
                X,
                y,
                sample_weight,
                train,
                test,
                routed.scorer.score,
                self._fold_costs(y, train),
            )
            for train, test in folds
        )
        scored = []
        try:
            found = Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks)
            for k in range(len(folds)):
                progress.begin(f"fold {k}")
                scored.append(next(found))
                if progress.end():
                    found.close()
                    break
        except KeyboardInterrupt as error:
            interrupt.hold(error)
        return scored

    def _fold_costs(self, y, rows):
        """The cost matrix of the classes that some training rows have."""
        if self.cost_matrix is None:
            return None
        present = np.isin(np.unique(y), np.unique(safe_indexing(y, rows)))
        return np.asarray(self.cost_matrix)[np.ix_(present, present)]

    def _keep(self, path, model, folds, is_interrupted):
        scores = np.array([fold.scores for fold in folds])
        if not folds:
            scores = np.full((1, *path.objectives.shape), np.nan)
        means = scores.mean(axis=0)
        limits = np.array(list(np.ndindex(means.shape)))
        # A depth needs as many tests, and allows 2**depth - 1.
        depth, splits = limits.T
        limits = limits[(splits >= depth) & (splits <= 2.0**depth - 1)]
        depth, splits = limits.T
        # Without scores, the tree of the largest limits is the best known.
        best = len(limits) - 1
        if folds:
            best = np.lexsort((depth, splits, -means[depth, splits]))[0]
        best_depth, best_splits = limits[best]
        leaves = np.ma.masked_array(splits + 1, mask=depth == 0)
        grid = zip(depth.tolist(), leaves.tolist(), strict=True)
        grid = [{"max_depth": one, "max_leaf_nodes": other} for one, other in grid]
        self.n_splits_ = len(folds)
        self.best_index_ = int(best)
        self.best_params_ = grid[self.best_index_]
        self.best_score_ = float(means[best_depth, best_splits])
        self.cv_results_ = {
            "params": grid,
            "param_max_depth": depth,
            "param_max_leaf_nodes": leaves,
            **{f"split{k}_test_score": scores[k][depth, splits] for k in range(len(folds))},
            "mean_test_score": means[depth, splits],
            "std_test_score": scores.std(axis=0)[depth, splits],
            "rank_test_score": ranks(means[depth, splits]),
        }
        self.path_ = path
        self.tree_ = path.trees[path.tree_index[best_depth, best_splits]]
        self.objective_ = float(path.objectives[best_depth, best_splits])
        self.lower_bound_ = float(path.lower_bounds[best_depth, best_splits])
        self.gap_ = self.objective_ - self.lower_bound_
        self.fold_status_ = [fold.status for fold in folds]
        statuses = [path.status, *self.fold_status_]
        self.status_ = next((one for one in statuses if one != "optimal"), "optimal")
        if is_interrupted:
            self.status_ = "stopped"
        self.search_stats_ = summed([path.search_stats, *(fold.stats for fold in folds)])
        for name in FROM_MODEL:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            else:
                # It was set by an earlier fit, for example to a table with names.
                vars(self).pop(name, None)


def ranks(scores):
    """Rank of each score, 1 for the best; equal scores share the better rank."""
    return 1 + (scores[:, np.newaxis] < scores).sum(axis=1)
