"""Backward elimination of features from a greedy tree, as a scikit-learn selector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.subset.elimination._backward import METHODS, BackwardStream
from sktree_opt.subset.errors import ErrorEstimate
from sktree_opt.subset.estimators._base import (
    BaseSubsetSearch,
    GreedyTree,
    check_size,
    document_search,
    results_by_size,
)
from sktree_opt.subset.estimators._selector import SubsetSelectorMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT
from sktree_opt.utils._typing import ErrorName, RandomState, TableLike


@document_search
class DTsbeSelector(SubsetSelectorMixin, BaseSubsetSearch):
    """Sequential backward elimination of the features of a greedy tree, made fast.

    The search starts from all features and removes the one whose removal leaves the smallest
    estimated error of the tree, as long as the error does not grow. Trees that are the same by
    Lemma 6 of [1]_ are not built, and of the other trees only the parts that differ. The result is
    that of the search that builds every tree, in a fraction of its time.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    %(estimator)s

    method : {"dtsbe", "psbe", "sbe", "black_box"}, default="dtsbe"
        The first three select the same features. "sbe" builds every tree anew, and "psbe" only
        those without a feature that the current tree uses. "black_box" cannot know which features
        a tree uses, so that unused ones leave one by one; it may decide ties otherwise. They serve
        for comparison.

    on_tie : {"continue", "stop"}, default="continue"
        Whether to make a removal that leaves the error unchanged, as in [1]_, or not, as in [2]_.

    min_features : int, default=0
        Minimum number of selected features: the elimination ends before there are fewer.

    max_features : int or None, default=None
        Maximum number of selected features. While there are more, features are removed whatever
        the error; then the elimination goes on as long as the error does not grow. None means no
        limit.

    n_features_to_select : int or None, default=None
        Remove features, whatever the error, until at most this number is left. None means to end
        when the error would grow.

    %(error)s

    %(scoring)s

    %(loss)s

    %(features_to_keep)s

    %(feature_groups)s

    %(time_limit)s

    %(memory_limit)s

    %(random_state)s

    %(n_jobs)s

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.

    ranking_ : ndarray of shape (n_features,)
        1 for selected features, 2 for those that were removed last, and so on.

    n_features_ : int
        Number of selected features.

    history_ : list of dict
        One entry for the full tree and one for each step: "step", "removed" and "features" (names,
        or indices where the table has no names; "features" are those that the tree uses and
        those to keep), "error" and "n_leaves". Four numbers count the trees that were tried:
        "built"; "given_up" because they had too many errors; not built because the tree does not
        use the feature ("unused"), or because the tree is known ("unchanged").

    cv_results_ : dict of ndarray
        The steps by number of features, as scikit-learn's ``RFECV`` tells them: ``n_features``,
        ``n_leaves``, ``support`` (masks) and ``mean_test_score`` (minus the error). Set
        ``n_features_to_select=0`` for all sizes.

    error_ : float
        Estimated error of the selected features.

    status_ : str
        "optimal" when the elimination came to its end, which does not make its result the best of
        all subsets; else "time_limit", "memory_limit", or "stopped" by Ctrl-C
        or a callback. The result is then that of the last complete step.

    search_stats_ : dict
        Counters of the search, and its "seconds".

    %(estimator_)s

    %(fitted)s

    See Also
    --------
    AcceptableSubsetSelector : The best subset, with proof.
    sklearn.feature_selection.SequentialFeatureSelector : For any estimator.

    Notes
    -----
    If the best removal leaves the error unchanged, the features that the tree does not use are
    removed first, all at once, because removing them leaves the error unchanged too. Ties are
    decided by the number of leaves, then by the index of the feature.

    References
    ----------
    .. [1] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.
    .. [2] S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sktree_opt.subset import DTsbeSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = DTsbeSelector(random_state=0).fit(X, y)
    >>> selector.transform(X).shape == (569, selector.n_features_)
    True
    >>> bool(selector.error_ <= selector.history_[0]["error"])
    True
    """

    support_: NDArray[np.bool_]
    ranking_: NDArray[np.int64]
    n_features_: int
    history_: list[dict[str, Any]]
    cv_results_: dict[str, NDArray[Any]]
    error_: float

    _parameter_constraints: ClassVar[dict] = {
        **BaseSubsetSearch._parameter_constraints,
        "feature_groups": [list, tuple, None],
        "method": [StrOptions(set(METHODS))],
        "on_tie": [StrOptions({"continue", "stop"})],
        "features_to_keep": ["array-like", None],
        "min_features": [Interval(Integral, 0, None, closed="left")],
        "max_features": [Interval(Integral, 0, None, closed="left"), None],
        "n_features_to_select": [Interval(Integral, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: GreedyTree | None = None,
        *,
        method: Literal["dtsbe", "psbe", "sbe", "black_box"] = "dtsbe",
        on_tie: Literal["continue", "stop"] = "continue",
        min_features: int = 0,
        max_features: int | None = None,
        n_features_to_select: int | None = None,
        error: ErrorName | ErrorEstimate | Callable[[Any], float] = "search",
        scoring: str | Callable[[Any, Any, Any], float] | None = None,
        loss: Literal["squared_error", "absolute_error"] | None = None,
        features_to_keep: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.on_tie = on_tie
        self.min_features = min_features
        self.max_features = max_features
        self.n_features_to_select = n_features_to_select
        self.error = error
        self.scoring = scoring
        self.loss = loss
        self.features_to_keep = features_to_keep
        self.feature_groups = feature_groups
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Eliminate features.

        Parameters
        ----------
        %(fit_search)s

        Returns
        -------
        self : DTsbeSelector
            The fitted selector.
        """
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            search = self._begin(X, y, sample_weight, progress)
            search.hold(interrupt)
            problem = self._make_problem(search, self._parts(search, y, groups))
            self._check_sizes(len(problem.kept_features))
            started = search.control.seconds
            stream = BackwardStream(
                problem,
                search.control,
                method=self.method,
                tie_goes_on=self.on_tie == "continue",
                min_features=self.min_features,
                max_features=self.max_features,
                target_features=self.n_features_to_select,
                n_threads=search.learner.n_threads,
                budget=search.budget,
            )
            steps = list(
                search.watch(
                    "steps",
                    ([step] for step in stream),
                    lambda step: self._attributes_on(search, step["features"]),
                )
            )
            self.search_stats_ = stream.stats
            self.search_stats_["seconds"] = search.control.seconds - started
            self._set_history(problem, steps, search.learner.table.n_columns)
            self._keep_tree(search, np.flatnonzero(self.support_))
            self._set_status(search.status)
        progress.finish()
        return self

    def _check_sizes(self, n_kept):
        check_size("min_features", self.min_features, self.n_features_in_)
        check_size("n_features_to_select", self.n_features_to_select, self.n_features_in_)
        for name in ("n_features_to_select", "max_features"):
            value = getattr(self, name)
            if value is not None and value < self.min_features:
                raise ValueError(f"{name}={value} is below min_features={self.min_features}.")
            if value is not None and value < n_kept:
                raise ValueError(
                    f"{name}={value} is below the number of features to keep, {n_kept}."
                )

    def _set_history(self, problem, steps, n_features):
        """Set the attributes that describe the steps; without steps all features are selected."""
        for step in steps:
            step["features"] = np.union1d(step["features"], problem.kept_features)
        self.cv_results_ = results_by_size(
            [(step["features"], step["cost"], step["n_leaves"]) for step in steps],
            n_features,
            problem.to_error,
        )
        self.history_ = [
            {
                "step": number,
                "removed": self._named(step["removed"]),
                "features": self._named(step["features"]),
                "error": problem.to_error(step["cost"]),
                "n_leaves": step["n_leaves"],
                "built": step["n_built"],
                "given_up": step["n_given_up"],
                "unused": step["n_unused"],
                "unchanged": step["n_unchanged"],
            }
            for number, step in enumerate(steps)
        ]
        self.support_ = np.ones(n_features, dtype=bool)
        self.ranking_ = np.ones(n_features, dtype=np.int64)
        self.error_ = np.nan
        if steps:
            self.error_ = self.history_[-1]["error"]
            self.support_[:] = False
            self.support_[steps[-1]["features"]] = True
            self._rank(steps)
        self.n_features_ = int(self.support_.sum())

    def _rank(self, steps):
        """Set ``ranking_``: features that were not removed but are not used come right after 1."""
        removed = [step["removed"] for step in steps[1:]]
        left = ~self.support_
        for group in removed:
            left[group] = False
        self.ranking_[left] = 2
        rank = 2 + bool(left.any())
        for group in reversed(removed):
            self.ranking_[group] = rank
            rank += 1
