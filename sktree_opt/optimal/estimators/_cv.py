"""The base of the cross-validated optimal trees: which parameters are tried, scored and kept.

A fit looks at all rows once, searches the training rows of each fold, scores the trees of every
point of the grid on the rows left out, chooses a point, and searches all rows for its tree.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from sktree_opt.optimal.estimators._base import DOCS, BaseOptimalTree
from sktree_opt.optimal.estimators._cv_folds import CVSearches, summed
from sktree_opt.optimal.estimators._cv_grid import (
    RULES,
    best_index,
    is_list,
    make_grid,
    results_of,
)
from sktree_opt.optimal.objectives._for_data import is_metric
from sktree_opt.utils._checkpoint import open_checkpoint
from sktree_opt.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    accepts_weights,
    raise_for_params,
    routing_enabled,
)
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import (
    document_shared,
    seconds_from,
    shared_constraints,
    warn_of_limit,
    warn_user,
)
from sktree_opt.utils._typing import TableLike

# Parameters of the estimator of a tree that the grid, or each search, has values of its own for.
OF_SEARCH = {
    "max_depth",
    "max_leaf_nodes",
    "complexity_cost",
    "time_limit",
    "n_jobs",
    "checkpoint",
}

# Fitted attributes that depend on the data alone, and those of the chosen tree.
OF_DATA = (
    "classes_",
    "n_features_in_",
    "feature_names_in_",
    "_encoder",
    "_costs",
    "_class_factors",
)
OF_TREE = (
    "tree_",
    "objective_",
    "lower_bound_",
    "gap_",
    "incumbents_",
    "optimality_scope_",
    "pareto_front_",
    "_costs",
    "_class_factors",
    "_answers",
)

CV_DOCS = DOCS | {
    "cv_depth": """\
max_depth : int or array-like of int, default=3
    Largest depths to try: those of a list, or every depth up to a number. At most 10. With a
    `complexity_cost`, a number is the only depth.
""",
    "cv_leaves": """\
max_leaf_nodes : int, array-like of int or None, default=None
    Largest numbers of leaves to try: those of a list, or every one up to a number. None means as
    many as the depth allows.
""",
    "cv_min_samples_leaf": """\
min_samples_leaf : int, float or array-like, default=1
    Minimum number of rows in every leaf; a float in (0, 1) is a share of the rows. Each value of a
    list is tried, with a search of its own on each fold.
""",
    "cv_complexity_cost": """\
complexity_cost : "all", float, array-like of float or None, default=None
    Cost of each test, as a share of the total weight. None: numbers of leaves are tried instead. A
    number or a list: these costs are tried. "all": every cost is tried, by one value of each range
    in which no fold changes its tree.
""",
    "cv_targets": """\
targets : {"given", "forest"} or list of them, default="given"
    The targets that each tree is fitted to. "forest": the answers of a forest for the training
    rows, see the estimator of a single tree. Each value of a list is tried, with a search of its
    own on each fold. Scores are about `y`.
""",
    "cv": """\
cv : int, cross-validation generator, iterable or None, default=None
    Folds: a number of them (None for 5; stratified for a classifier), a splitter, or pairs of row
    indices.
""",
    "scoring_values": """\
scoring : str, callable, list, tuple, dict or None, default=None
    What is maximised on the rows left out, as in scikit-learn's GridSearchCV. None for the
    estimator's ``score``. Several scores need `refit` to name the one that decides.
""",
    "refit": """\
refit : bool, str or callable, default=True
    Whether the tree of the best parameters is searched on all rows; without it there is nothing to
    predict with. For several scores the name of the one that decides. A callable gets
    ``cv_results_`` and returns ``best_index_``.
""",
    "rule": """\
rule : {"best", "one_standard_error"}, default="best"
    "best": the best mean score, and of equal ones the fewest leaves, then the smallest depth.
    "one_standard_error": the fewest leaves (or the largest cost of a test) of all whose mean score
    is at most one standard error below the best (Breiman et al., 1984).
""",
    "cv_time_limit": """\
time_limit : float or None, default=60.0
    Seconds for the whole fit: at least 30 %% of them for the final tree, the rest in equal parts
    for the searches of the folds. None or infinity means no limit.""".replace("%%", "%"),
    "cv_memory_limit": """\
memory_limit : int, float, str or None, default=None
    Bytes that each search may take, or a size such as "2GB". None or infinity means no limit.
""",
    "cv_n_jobs": """\
n_jobs : int or None, default=None
    Number of folds at a time, by joblib, and of threads for the final tree. None means 1, -1 means
    all processors.
""",
    "cv_attributes": """\
best_params_ : dict
    The chosen parameters: ``max_depth`` and ``max_leaf_nodes`` or ``complexity_cost``, and others
    of which a list was given.

best_index_ : int
    Their place in ``cv_results_``.

best_score_ : float
    Their mean score. Not there if `refit` is a callable.

best_estimator_ : estimator
    The tree of these parameters, fitted to all rows. Predictions are its.

cv_results_ : dict of ndarray
    One entry for each point of the grid: ``params``, ``param_max_depth`` and so on (masked where
    a parameter has no value), ``mean_test_score``, ``std_test_score``, ``rank_test_score``,
    ``split0_test_score`` and so on. With several scores, their names instead of ``score``.

path_ : Bunch
    The trees of all sizes on all rows with `fold_thresholds`, as :func:`optimal_path` returns
    them, for the first value of every other parameter.

tree_ : Tree
    The chosen tree.

objective_, lower_bound_, gap_ : float
    Its objective, what no tree within these parameters goes below, and the difference.

incumbents_ : list of (float, float, float)
    Seconds, objective and lower bound of the final search.

status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
    Whether all trees are proved to be optimal, those of the folds included, or what ended the
    first search that was not.

fold_status_ : list of str
    The same for each search of a fold.

search_stats_ : dict
    Counters of all searches, summed, and ``seconds``.

optimality_scope_ : str
    What the proof of the tree is relative to, in words.

scorer_ : callable
    What has scored.

multimetric_ : bool
    Whether there are several scores.

refit_time_ : float
    Seconds for the final tree.

n_splits_ : int
    Number of folds.
""",
}
# The default of a regression.
CV_DOCS["cv_targets_both"] = CV_DOCS["cv_targets"].replace('="given"', '=("given", "forest")')
document_cv = partial(document_shared, more=CV_DOCS)


class BaseOptimalTreeCV(CallbackSupportMixin, BaseEstimator):
    """Parameters, fit and attributes of an optimal tree chosen by cross-validation."""

    best_params_: dict[str, Any]
    best_index_: int
    best_score_: float
    best_estimator_: Any
    cv_results_: dict[str, Any]
    path_: Bunch
    objective_: float
    lower_bound_: float
    gap_: float
    incumbents_: list[tuple[float, float, float]]
    status_: str
    fold_status_: list[str]
    search_stats_: dict[str, Any]
    optimality_scope_: str
    scorer_: Any
    multimetric_: bool
    refit_time_: float
    n_splits_: int
    pareto_front_: NDArray[np.void]

    # The estimator of one tree, and its parameters of which each value needs a search of its own.
    _tree_type: ClassVar[type]
    _searched: ClassVar[tuple[str, ...]] = ("min_samples_leaf", "objective", "targets")

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "max_depth": [Interval(Integral, 0, 10, closed="both"), "array-like"],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), "array-like", None],
        "min_samples_leaf": [
            *BaseOptimalTree._parameter_constraints["min_samples_leaf"],
            "array-like",
        ],
        "complexity_cost": [
            Interval(Real, 0, None, closed="left"),
            StrOptions({"all"}),
            "array-like",
            None,
        ],
        "targets": [StrOptions({"given", "forest"}), "array-like"],
        **shared_constraints("checkpoint"),
        "cv": ["cv_object"],
        "scoring": [str, callable, HasMethods("__call__"), list, tuple, set, dict, None],
        "refit": ["boolean", str, callable],
        "rule": [StrOptions(set(RULES))],
    }
    del _parameter_constraints["warm_start"]

    def _fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> None:
        raise_for_params(params, self, "fit", allow=["groups"])
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            self._forget()
            seconds, data = seconds_from(self.time_limit), (X, y, sample_weight)
            searches = CVSearches(
                self, self._grid(), data, seconds, progress, interrupt, open_checkpoint(self)
            )
            # First all rows: what is wrong with them is said before any fold is searched.
            searches.find_path_on_all_rows()
            searches.score_folds(*self._route(searches.data, params))
            points = self._keep_scores(searches)
            model = searches.model
            if self.refit is not False:
                model = self.best_estimator_ = searches.find_tree(points[self.best_index_])
            self._keep(model, searches)
        progress.finish()
        self._warn()

    def _forget(self):
        """Drop what an earlier fit has left, for example names of columns."""
        for name in [*vars(self)]:
            if name in (*OF_DATA, *OF_TREE) or (name.endswith("_") and not name.startswith("_")):
                delattr(self, name)

    def _grid(self):
        """The grid; parameters that an estimator would refuse are refused at once."""
        grid = make_grid(self, self._searched)
        for setting in grid.settings:
            self._model(setting)._validate_params()
        if is_list(self.scoring) and not (
            self.refit is False
            or callable(self.refit)
            or (isinstance(self.refit, str) and self.refit in self.scoring)
        ):
            raise ValueError(
                "refit must be False, a callable or the name of the score that decides where "
                f"scoring has several, got {self.refit!r}."
            )
        return grid

    def _model(self, setting, **limits):
        """The estimator of one tree."""
        own = self.get_params(deep=False)
        names = set(self._tree_type().get_params()) & set(own) - OF_SEARCH
        params = {name: own[name] for name in names} | setting
        if is_list(own["objective"]):
            # Each objective takes what has a meaning for it.
            if setting["objective"] != "cost":
                params.pop("cost_matrix", None)
            if not is_metric(setting["objective"]):
                params.pop("pos_label", None)
        return self._tree_type(**(params | limits))

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
                splitter=check_cv(self.cv, classifier=is_classifier(self)),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        )

    def _scorer(self):
        model = self._tree_type()
        if self.scoring is None and routing_enabled():
            # The model scores itself, and knows which metadata it takes.
            model.set_score_request(sample_weight=True)
        return check_scoring(model, scoring=self.scoring)

    def _route(self, data, params):
        """The folds, the scorer, and what it takes beside a model and rows."""
        (X, y, sample_weight), scorer = data, self._scorer()
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if routing_enabled():
            routed = process_routing(self, "fit", **weights, **params)
            for_split, for_scorer = routed.splitter.split, routed.scorer.score
        else:
            for_split, for_scorer = {"groups": params.get("groups")}, weights
            if weights and not accepts_weights(scorer):
                warn_user(f"scoring={self.scoring!r} takes no weights: all rows count the same.")
                for_scorer = {}
        self.scorer_, (X, y) = scorer, indexable(X, y)
        folds = check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, **for_split)
        return list(folds), scorer, for_scorer

    def _keep_scores(self, searches):
        """Set ``cv_results_`` and what is chosen by it; returns the points of the grid."""
        folds, n_splits = searches.folds, searches.n_splits
        scored = {divmod(k, n_splits): fold for k, fold in enumerate(folds)}
        points = searches.grid.points(folds)
        metrics = list(folds[0].scores) if folds else ["score"]
        self.n_splits_ = n_splits
        self.multimetric_ = is_list(self.scoring) or metrics != ["score"]
        self.cv_results_ = results = results_of(points, scored, n_splits, metrics)
        deciding = self.refit if self.multimetric_ and folds else "score"
        if callable(self.refit) and folds:
            self.best_index_ = checked_index(self.refit(results), len(points))
        elif self.refit is not False or not self.multimetric_:
            if not folds:
                deciding = metrics[0]
            elif deciding not in metrics:
                raise ValueError(f"refit must name one of the scores {metrics}, got {deciding!r}.")
            best = best_index(points, results, deciding, self.rule, n_splits)
            self.best_index_ = best
            self.best_score_ = float(results[f"mean_test_{deciding}"][best])
        if hasattr(self, "best_index_"):
            self.best_params_ = points[self.best_index_].params
        return points

    def _keep_of_data(self, model):
        """Set what is the same for all trees of all rows."""
        vars(self).update({name: vars(model)[name] for name in OF_DATA if name in vars(model)})

    def _keep(self, model, searches):
        """Set the attributes of the chosen tree, and those of all searches."""
        self._keep_of_data(model)
        if self.refit is not False:
            vars(self).update({name: vars(model)[name] for name in OF_TREE if name in vars(model)})
        path, folds = searches.path, searches.folds
        self.path_, self.fold_status_ = path, [fold.status for fold in folds]
        statuses = [path.status, *self.fold_status_]
        stats = [path.search_stats, *(fold.stats for fold in folds)]
        if self.refit is not False:
            self.refit_time_ = model.search_stats_["seconds"]
            statuses.append(model.status_)
            stats.append(model.search_stats_)
        self.status_ = next((one for one in statuses if one != "optimal"), "optimal")
        if searches.is_stopped:
            self.status_ = "stopped"
        self.search_stats_ = summed(stats)

    def _warn(self):
        """Warn of scores that are not numbers, and of searches that were cut short."""
        if np.isnan(getattr(self, "best_score_", 0.0)) and self.n_splits_ > 0:
            warn_user(
                f"scoring={self.scoring!r} gave NaN for some fold of every depth and number of "
                "leaves. The smallest tree is taken, because no other can be said to be better."
            )
        n_folds = sum(one != "optimal" for one in self.fold_status_)
        ended = [f"{n_folds} of {len(self.fold_status_)} searches of folds"] if n_folds else []
        best = getattr(self, "best_estimator_", None)
        if best is not None and best.status_ != "optimal":
            ended.append("the search of the final tree")
        message = " and ".join(ended) or "the search on all rows with the thresholds of the folds"
        message = f"{message[:1].upper()}{message[1:]}"
        warn_of_limit(self, self.status_, f"{message} did not prove the trees to be optimal.")


def checked_index(index, n_points):
    """The index that a callable `refit` returned."""
    if not isinstance(index, Integral):
        raise TypeError(f"refit must return an integer, got {index!r}.")
    if not 0 <= index < n_points:
        raise IndexError(f"refit must return an index below {n_points}, got {index!r}.")
    return int(index)
