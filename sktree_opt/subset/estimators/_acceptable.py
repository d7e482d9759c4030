"""The best or an acceptable feature subset of a greedy tree, as a scikit-learn selector."""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset.complete._collection import Collection, warn_of_short_list
from sktree_opt.subset.complete._complete_run import CompleteRun
from sktree_opt.subset.complete._streams import DistinctStream
from sktree_opt.subset.elimination._backward import eliminate
from sktree_opt.subset.errors import ErrorEstimate, estimate_of
from sktree_opt.subset.estimators._base import BaseSubsetSearch, document_search
from sktree_opt.subset.estimators._selector import SubsetSelectorMixin
from sktree_opt.utils._callbacks import Progress
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, shared_constraints
from sktree_opt.utils._typing import ErrorName, RandomState, TableLike
from sktree_opt.utils._validation import all_or_nothing

# The parameters that define the problem; a continued search may change the others.
PROBLEM_PARAMETERS = ("delta", "feature_penalty", "method", "feature_groups")


def error_key(error):
    """What tells error estimates apart: the function, or the estimate's class and parameters.

    Parameters that are objects, such as splitters, come with their attributes.
    """
    estimate = estimate_of(error)
    if estimate is None:
        return {"error": error}
    key = {"error": type(estimate)}
    for name, value in estimate.get_params().items():
        key[name] = value
        key[f"vars({name})"] = joblib.hash(getattr(value, "__dict__", None))
    return key


def is_same(before, now):
    """Whether two keys of ``error_key`` agree; objects agree only with themselves."""

    def agree(one, other):
        return one is other or (isinstance(other, int | float | str) and one == other)

    return before.keys() == now.keys() and all(agree(before[name], now[name]) for name in now)


@document_search
class AcceptableSubsetSelector(SubsetSelectorMixin, BaseSubsetSearch):
    """Features whose greedy tree has the least estimated error over all feature subsets.

    Or, with `delta`, an error that departs from the least one by at most `delta`. The search is
    complete: its result is the best one, not a good one. Of equally good subsets it takes one of
    the smallest.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    %(estimator)s

    delta : float, default=0.0
        How far the error, with penalties, may be from the least one. 0 finds a best subset.

    feature_penalty : float, default=0.0
        What each used feature adds to the error.

    method : {"on_demand", "dtaccept"}, default="on_demand"
        "on_demand" decides features when a node asks for them and bounds what is left;
        "dtaccept" is Algorithm 3 of [1]_ with the lower bound of Algorithm 4, and nothing else.

    lookahead : int or None, default=None
        How many splits the bounds of "on_demand" look ahead; None for 1. More takes longer for each
        decision and needs fewer of them; 0 switches this off. "dtaccept" has no such bounds.

    warm_start : bool, default=False
        Whether a search that a limit or Ctrl-C has ended is continued by the next `fit`, if that is
        given the same data and the same problem; it has to be True in the first fit, too.
        `lookahead` and the limits may be others. "on_demand" only.

    collect : bool, default=False
        Whether `acceptable_subsets_` is to be made. It takes a second search.

    max_collected : int, default=1000
        How many of the acceptable subsets, the best ones, are kept. There is a warning where there
        are more.

    %(error)s No bound holds
        for a callable: every distinct tree is rated.

    %(feature_groups)s

    %(time_limit)s

    %(memory_limit)s

    %(random_state)s

    n_jobs : int or None, default=None
        Threads; the result does not depend on them. "dtaccept" searches on one. None means 1, -1
        all. Under a joblib backend for several machines, such as dask's, "on_demand" is run by its
        workers.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.

    n_features_ : int
        Number of selected features.

    error_ : float
        Estimated error of the selected features, without penalty; NaN where a limit ended the
        search before any tree was rated.

    objective_ : float
        `error_` and the penalties of the selected features.

    lower_bound_ : float
        No subset has a smaller objective.

    gap_ : float
        `objective_` - `lower_bound_`.

    status_ : str
        "optimal" when the search has ended, so that the result is at most `delta` from the best
        one; else "time_limit", "memory_limit" or "stopped".

    acceptable_subsets_ : list of dict
        With `collect`: the distinct trees of which the error is at most `delta` more than the least
        one, best first, and of those the `max_collected` first: "features" (indices), "error",
        "n_features", "n_leaves", and "tree", a ``GreedyTreeClassifier`` fitted on all rows with
        these features (None where time was up before). Penalties do not count here.

    n_acceptable_ : int
        With `collect`: how many such trees were found.

    collect_status_ : str
        With `collect`: "optimal" when these are all there are; else what ended the search for
        them, "time_limit", "memory_limit" or "stopped".

    search_stats_ : dict
        Counters of the search.

    %(estimator_)s

    %(fitted)s

    See Also
    --------
    DTsbeSelector : A good subset in a fraction of the time.
    DistinctTreeEnumerator : All distinct trees.

    References
    ----------
    .. [1] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.subset import AcceptableSubsetSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = AcceptableSubsetSelector(random_state=0).fit(X, y)
    >>> selector.status_, selector.gap_
    ('optimal', 0.0)
    """

    support_: NDArray[np.bool_]
    n_features_: int
    error_: float
    objective_: float
    lower_bound_: float
    gap_: float
    acceptable_subsets_: list[dict[str, Any]]
    n_acceptable_: int
    collect_status_: str

    _parameter_constraints: ClassVar[dict] = {
        **BaseSubsetSearch._parameter_constraints,
        "feature_groups": [list, tuple, None],
        "delta": [Interval(Real, 0, None, closed="left")],
        "feature_penalty": [Interval(Real, 0, None, closed="left")],
        "method": [StrOptions({"on_demand", "dtaccept"})],
        "lookahead": [Interval(Integral, 0, 8, closed="both"), None],
        **shared_constraints("warm_start"),
        "collect": ["boolean"],
        "max_collected": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: GreedyTreeClassifier | None = None,
        *,
        delta: float = 0.0,
        feature_penalty: float = 0.0,
        method: Literal["on_demand", "dtaccept"] = "on_demand",
        lookahead: int | None = None,
        warm_start: bool = False,
        collect: bool = False,
        max_collected: int = 1000,
        error: ErrorName | ErrorEstimate | Callable[[GreedyTreeClassifier], float] = "search",
        feature_groups: Sequence[ArrayLike] | None = None,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.delta = delta
        self.feature_penalty = feature_penalty
        self.method = method
        self.lookahead = lookahead
        self.warm_start = warm_start
        self.collect = collect
        self.max_collected = max_collected
        self.error = error
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
        """Search the feature subsets.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights, of growing and of errors.

        groups : array-like of shape (n_samples,) or None, default=None
            Rows of a group stay on one side of a split.

        Returns
        -------
        self : AcceptableSubsetSelector
            The fitted selector.
        """
        self._check_method()
        progress = Progress(self, X, y, sample_weight)
        interrupted: dict[str, Any] = {}
        try:
            with all_or_nothing(self):
                search = self._begin(X, y, sample_weight, progress)
                self._set_status(self._fit_search(search, y, groups, interrupted))
                if self.collect:
                    warn_of_short_list(self)
        except KeyboardInterrupt:
            # What has been searched is not lost.
            if interrupted:
                self._unfinished = interrupted
            raise
        progress.finish()
        return self

    def _fit_search(self, search, y, groups, interrupted):
        """Set all but the status, which is returned; `interrupted` gets what Ctrl-C leaves."""
        before = self._take_up(search, groups)
        parts = self._parts(search, y, groups) if before is None else before["parts"]
        if self.warm_start:
            self._unfinished = {**self._unfinished, "parts": parts}
        problem = self._make_problem(search, parts)
        best, short_of = self._search_best(search, problem, before, interrupted)
        self.support_ = np.zeros(search.table.n_columns, dtype=bool)
        self.support_[best[0]] = True
        self.n_features_ = len(best[0])
        self._set_errors(problem, best, short_of)
        for name in ("acceptable_subsets_", "n_acceptable_", "collect_status_"):
            self.__dict__.pop(name, None)
        status = search.status
        if self.collect:
            self._collect(search, problem, best)
            if status == "optimal":
                search.remote_status = "optimal"  # what ended the list has not ended the search
        self._keep_tree(search, best[0])
        return status if search.remote_status == "optimal" else search.remote_status

    def _check_method(self):
        if self.method == "on_demand":
            return
        if self.warm_start:
            raise ValueError("warm_start=True needs method='on_demand'.")
        if self.lookahead is not None:
            raise ValueError("lookahead needs method='on_demand': 'dtaccept' has no such bounds.")

    def _set_errors(self, problem, best, short_of):
        """Set error, objective and bound of the best tree; others may cost `short_of` less."""
        # Errors are not negative, but what a callable returns may be.
        least = -np.inf if problem.is_callable else 0.0
        if best[1] is None:  # Nothing has been rated.
            self.error_, self.objective_, self.lower_bound_, self.gap_ = (
                np.nan,
                np.inf,
                least,
                np.inf,
            )
            return
        self.error_ = problem.to_error(best[1])
        self.objective_ = self.error_ + self.feature_penalty * self.n_features_
        self.lower_bound_ = max(self.objective_ - problem.to_error(short_of), least)
        self.gap_ = self.objective_ - self.lower_bound_

    def _take_up(self, search, groups):
        """What an earlier search of the same problem has left, or None."""
        if not self.warm_start:
            self.__dict__.pop("_unfinished", None)
            return None
        own = self.get_params(deep=False)
        parameters = {name: own[name] for name in PROBLEM_PARAMETERS}
        if isinstance(self.random_state, Integral):
            parameters["random_state"] = self.random_state
        of_tree = {**search.tree.get_params(), "n_jobs": None}
        table, data = search.table, (search.data.y, search.weights, groups)
        fingerprint = joblib.hash((table.codes, table.values, data, parameters, of_tree))
        key = {"fingerprint": fingerprint, **error_key(self.error)}
        before = getattr(self, "_unfinished", None)
        if before is not None and is_same(before["key"], key):
            return before
        self._unfinished = {"key": key}
        return None

    def _search_best(self, search, problem, before, interrupted):
        """Features, cost and leaves of the best tree, and how much less others may cost."""
        penalty = problem.to_cost(self.feature_penalty)
        # Rounded down, so that nothing is cut off that is better by more than delta.
        slack = int(np.floor(problem.to_cost(self.delta, exact=True) * (1.0 - 1e-9)))
        if self.method == "dtaccept":
            return self._run_dtaccept(search, problem, slack, penalty)
        if before is None or before.get("best") is None:
            best = self._first_tree(search, problem, penalty)
        else:
            best = before["best"]
        if self.warm_start:
            self._unfinished = {**self._unfinished, "best": best}
        if best is None:
            self.search_stats_ = {}
            return self._nothing(search), np.inf
        self._grow_ahead(search, best[0])
        run = CompleteRun(
            problem,
            search,
            start=best,
            state=None if before is None else before.get("state"),
            only_best=True,
            lookahead=self._lookahead,
            slack=slack,
            penalty=penalty,
        )
        attributes_of = partial(self._attributes_on, search)
        try:
            for found in search.watch(
                "subsets", run.pieces(), lambda tree: attributes_of(tree[0]), best
            ):
                best = found
        except KeyboardInterrupt:
            if self.warm_start and run.knows_its_state:
                interrupted.update(self._unfinished, best=run.stream.best, state=run.stream.state)
            raise
        self.search_stats_ = run.stats
        if self.warm_start:
            self._unfinished = {**self._unfinished, "best": best, "state": run.stream.state}
        if problem.is_callable and not run.stream.is_done:
            return best, np.inf
        return best, max(0, rating(best, penalty)[0] - run.stream.lower_bound)

    @property
    def _lookahead(self):
        return 1 if self.lookahead is None else self.lookahead

    def _first_tree(self, search, problem, penalty):
        """The best tree of a backward elimination; None when it was stopped at once."""
        steps, _ = eliminate(
            problem, search.control, n_threads=search.n_threads, budget=search.budget
        )
        trees = [(step["features"], step["cost"], step["n_leaves"]) for step in steps]
        return min(trees, key=lambda tree: rating(tree, penalty), default=None)

    @staticmethod
    def _nothing(search):
        """All features, not rated."""
        return np.arange(search.table.n_columns), None, 0

    def _run_dtaccept(self, search, problem, slack, penalty):
        """As `_search_best`, by Algorithms 3 and 4."""
        self._grow_ahead(search, np.arange(search.table.n_columns))
        stream = DistinctStream(
            problem,
            search.control,
            accepts=True,
            slack=slack,
            penalty=penalty,
            budget=search.budget,
        )
        best = None
        for found in search.watch("subsets", ([tree] for tree in stream)):
            if best is None or rating(found, penalty) < rating(best, penalty):
                best = found
        self.search_stats_ = stream.stats
        if best is None:
            return self._nothing(search), np.inf
        return best, slack if stream.is_done else np.inf

    def _collect(self, search, problem, best):
        """Set ``acceptable_subsets_`` and how complete they are."""
        self.acceptable_subsets_, self.n_acceptable_ = [], 0
        self.collect_status_ = search.status
        if best[1] is None:
            return
        slack = int(np.floor(problem.to_cost(self.delta, exact=True) * (1.0 + 1e-9)))
        asked = best, slack, self.max_collected
        collection = self._unfinished.get("collection") if self.warm_start else None
        if collection is None or not collection.is_for(*asked):
            collection = Collection(*asked)
        collection.go_on(problem, search, self._lookahead)
        if self.warm_start:
            self._unfinished = {**self._unfinished, "collection": collection}
        self.collect_status_ = "optimal" if collection.is_done else search.status
        self.n_acceptable_ = collection.n_acceptable
        self.acceptable_subsets_ = [
            {
                "features": features,
                "error": problem.to_error(tree_cost),
                "n_features": len(features),
                "n_leaves": n_leaves,
                "tree": self._fit_tree_in_time(search, features),
            }
            for features, tree_cost, n_leaves in collection.in_order()
        ]


def rating(tree, penalty):
    """What trees (features, cost, leaves) are compared by: cost with penalties, then size."""
    features, cost, _ = tree
    return cost + penalty * len(features), len(features)
