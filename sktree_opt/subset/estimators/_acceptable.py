"""The best or an acceptable feature subset of a greedy tree, as a scikit-learn selector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.subset.complete._collection import Collection, warn_of_short_list
from sktree_opt.subset.complete._complete_run import CompleteRun
from sktree_opt.subset.complete._streams import DistinctStream
from sktree_opt.subset.elimination._backward import eliminate
from sktree_opt.subset.errors import ErrorEstimate, estimate_of
from sktree_opt.subset.estimators._base import (
    BaseSubsetSearch,
    GreedyTree,
    check_size,
    column_indices,
    document_search,
    results_by_size,
)
from sktree_opt.subset.estimators._selector import SubsetSelectorMixin
from sktree_opt.utils._checkpoint import open_checkpoint
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, shared_constraints
from sktree_opt.utils._typing import ErrorName, FilePath, RandomState, TableLike

# The parameters that define the problem; a continued search may change the others.
PROBLEM_PARAMETERS = (
    "delta",
    "max_error",
    "feature_penalty",
    "min_features",
    "max_features",
    "features_to_keep",
    "method",
    "feature_groups",
    "loss",
)
# Those that the published algorithm does not have.
ON_DEMAND_PARAMETERS = {
    "warm_start": False,
    "max_error": None,
    "min_features": 0,
    "max_features": None,
    "features_to_keep": None,
    "checkpoint": None,
}

# A cost that an error allows may be rounded; these decide which way.
ROUNDED_DOWN, ROUNDED_UP = 1.0 - 1e-9, 1.0 + 1e-9


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

    With `delta`, the error may be larger than the least one by at most `delta`. With `max_error`,
    the smallest subset whose error is at most that. The search is complete: it proves its result.
    Among equally good subsets it takes one of the smallest.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    %(estimator)s

    delta : float, default=0.0
        How much larger than the least one the error, with penalties, may be. 0 finds a best subset.

    max_error : float or None, default=None
        If given, find the smallest subset whose error is at most this, and of several smallest
        ones one of least error. `objective_` is then the number of features. Not together with
        `delta` or `feature_penalty`.

    feature_penalty : float, array-like of shape (n_features,) or dict, default=0.0
        What each used feature adds to the error: one number for all features, one for each, or a
        dict of numbers by column name or index (0 for the others).

    min_features : int, default=0
        Minimum number of selected features.

    max_features : int or None, default=None
        Maximum number of selected features. None means no limit.

    method : {"on_demand", "dtaccept"}, default="on_demand"
        "on_demand" decides about a feature when a node asks for it, with lower bounds on the error
        of the trees that are left. "dtaccept" is Algorithm 3 of [1]_ with the lower bound of
        Algorithm 4, and nothing else.

    %(warm_start)s
        The limits may change in between. "on_demand" only.

    collect : bool, default=False
        Whether to list all acceptable subsets (`acceptable_subsets_`) and what they say about each
        feature (`feature_verdicts_`). This takes a second search.

    max_collected : int, default=1000
        Maximum number of acceptable subsets that are listed, best first. There is a warning if
        there are more.

    %(error)s No bound holds
        for a callable, nor with `scoring`: every distinct tree is rated, which is the proof.

    %(scoring)s

    %(loss)s

    %(features_to_keep)s

    %(feature_groups)s

    %(time_limit)s

    %(memory_limit)s

    %(random_state)s

    %(n_jobs)s Those of "dtaccept"
        share the features of a node. Under a joblib backend for several machines, such as dask's,
        "on_demand" runs on its workers.

    %(checkpoint)s
        "on_demand" only.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.

    n_features_ : int
        Number of selected features.

    error_ : float
        Estimated error of the selected features, without penalty; NaN if a limit ended the search
        before any tree was rated.

    objective_ : float
        `error_` and the penalties of the selected features; with `max_error`, their number.

    lower_bound_ : float
        No subset has a smaller objective.

    gap_ : float
        `objective_` - `lower_bound_`.

    status_ : str
        "optimal" when the search came to its end, so that the result is at most `delta` from the
        best one; else "time_limit", "memory_limit", or "stopped" by Ctrl-C or a callback.

    acceptable_subsets_ : list of dict
        With `collect`: the distinct trees whose error is at most `delta` larger than the least one,
        or at most `max_error`; best first, and only the first `max_collected`. Each has "features"
        (names, or indices where the table has no names), "error", "n_features", "n_leaves", and
        "tree", the greedy tree fitted on all rows with these features (None if the time was up
        before). Penalties do not count here.

    cv_results_ : dict of ndarray
        With `collect`: the best listed tree of each number of features, as scikit-learn's ``RFECV``
        tells it: ``n_features``, ``n_leaves``, ``support`` (masks) and ``mean_test_score`` (minus
        the error).

    feature_verdicts_ : ndarray of shape (n_features,)
        With `collect`: for each feature whether it is used by "all", "some" or "none" of the
        acceptable trees. Each is proved; "open" where a limit ended the search before.

    feature_reliance_ : ndarray of records
        With `collect`: ``name`` and ``verdict`` of each feature, and the ``share`` of the
        acceptable trees found that use it. :class:`~sktree_opt.export.FeatureUseDisplay` draws it.

    n_acceptable_ : int
        With `collect`: number of acceptable trees found.

    collect_status_ : str
        With `collect`: "optimal" when the list is complete; else the reason why its search ended:
        "time_limit", "memory_limit" or "stopped".

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
    cv_results_: dict[str, NDArray[Any]]
    feature_verdicts_: NDArray[Any]
    feature_reliance_: NDArray[np.void]
    n_acceptable_: int
    collect_status_: str

    _parameter_constraints: ClassVar[dict] = {
        **BaseSubsetSearch._parameter_constraints,
        "feature_groups": [list, tuple, None],
        "delta": [Interval(Real, 0, None, closed="left")],
        "max_error": [Interval(Real, None, None, closed="neither"), None],
        "feature_penalty": [Interval(Real, 0, None, closed="left"), "array-like", dict],
        "min_features": [Interval(Integral, 0, None, closed="left")],
        "max_features": [Interval(Integral, 0, None, closed="left"), None],
        "features_to_keep": ["array-like", None],
        "method": [StrOptions({"on_demand", "dtaccept"})],
        **shared_constraints("warm_start", "checkpoint"),
        "collect": ["boolean"],
        "max_collected": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: GreedyTree | None = None,
        *,
        delta: float = 0.0,
        max_error: float | None = None,
        feature_penalty: float | ArrayLike | dict[str | int, float] = 0.0,
        min_features: int = 0,
        max_features: int | None = None,
        method: Literal["on_demand", "dtaccept"] = "on_demand",
        warm_start: bool = False,
        collect: bool = False,
        max_collected: int = 1000,
        error: ErrorName | ErrorEstimate | Callable[[Any], float] = "search",
        scoring: str | Callable[[Any, Any, Any], float] | None = None,
        loss: Literal["squared_error", "absolute_error"] | None = None,
        features_to_keep: ArrayLike | None = None,
        feature_groups: Sequence[ArrayLike] | None = None,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        checkpoint: FilePath | None = None,
    ) -> None:
        self.estimator = estimator
        self.delta = delta
        self.max_error = max_error
        self.feature_penalty = feature_penalty
        self.min_features = min_features
        self.max_features = max_features
        self.method = method
        self.warm_start = warm_start
        self.collect = collect
        self.max_collected = max_collected
        self.error = error
        self.scoring = scoring
        self.loss = loss
        self.features_to_keep = features_to_keep
        self.feature_groups = feature_groups
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

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
        %(fit_search)s

        Returns
        -------
        self : AcceptableSubsetSelector
            The fitted selector.
        """
        self._check_method()
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            search = self._begin(X, y, sample_weight, progress)
            search.hold(interrupt)
            search.checkpoint = open_checkpoint(self)
            self._set_status(self._fit_search(search, y, groups))
            if self.collect:
                warn_of_short_list(self)
        progress.finish()
        return self

    def _fit_search(self, search, y, groups):
        """Set all but the status, which is returned."""
        before = self._take_up(search, groups)
        parts = self._parts(search, y, groups) if before is None else before["parts"]
        self._keep_found(parts=parts)
        penalties = self._penalties()
        problem = self._make_problem(search, parts, has_penalty=bool(penalties.any()))
        self._check_sizes(len(problem.kept_features))
        rules = self._rules(problem, penalties)
        best, short_of = self._search_best(search, problem, rules, before)
        self.support_ = np.zeros(search.learner.table.n_columns, dtype=bool)
        self.support_[best[0]] = True
        self.n_features_ = len(best[0])
        self._set_errors(problem, best, short_of, penalties)
        for name in (
            "acceptable_subsets_",
            "n_acceptable_",
            "collect_status_",
            "cv_results_",
            "feature_reliance_",
            "feature_verdicts_",
        ):
            self.__dict__.pop(name, None)
        status = search.status
        if self.collect:
            self._collect(search, problem, best, penalties)
            if status == "optimal":
                search.remote_status = "optimal"  # a limit ended the list, not the search
        self._keep_tree(search, best[0])
        return status if search.remote_status == "optimal" else search.remote_status

    def _check_method(self):
        if self.max_error is not None and (self.delta or np.any(self._raw_penalties())):
            raise ValueError("max_error is not supported together with delta or feature_penalty.")
        if self.method == "on_demand":
            return
        for name, default in ON_DEMAND_PARAMETERS.items():
            value = getattr(self, name)
            if value is not default and not (np.isscalar(value) and value == default):
                raise ValueError(f"{name} is only supported with method='on_demand'.")

    def _check_sizes(self, n_kept):
        check_size("min_features", self.min_features, self.n_features_in_)
        if self.max_features is None:
            return
        for name, least in (("min_features", self.min_features), ("features_to_keep", n_kept)):
            if self.max_features < least:
                raise ValueError(
                    f"max_features={self.max_features} is too small: {name} asks for {least}."
                )

    def _raw_penalties(self):
        penalty = self.feature_penalty
        return list(penalty.values()) if isinstance(penalty, dict) else penalty

    def _penalties(self):
        """What each feature adds to the error."""
        penalties = np.zeros(self.n_features_in_)
        if isinstance(self.feature_penalty, dict):
            columns = list(self.feature_penalty)
            given = np.asarray(list(self.feature_penalty.values()), dtype=np.float64)
            penalties[column_indices(self, columns, "feature_penalty")] = given
        else:
            given = np.asarray(self.feature_penalty, dtype=np.float64)
            if given.ndim and given.shape != penalties.shape:
                raise ValueError(
                    f"feature_penalty has shape {given.shape}, but X has {self.n_features_in_} "
                    "features."
                )
            penalties[:] = given
        if not (np.isfinite(penalties).all() and (penalties >= 0.0).all()):
            raise ValueError("feature_penalty must hold finite numbers that are not negative.")
        return penalties

    def _rules(self, problem, penalties):
        """The rules of the search: which trees it is for, and which is best."""
        rules = {"min_size": self.min_features, "max_size": self.max_features}
        if self.max_error is not None:
            largest = int(np.floor(problem.to_cost(self.max_error, exact=True) * ROUNDED_UP))
            return {**rules, "by_size": True, "cost_limit": largest}
        # Rounded down, so that nothing is cut off that is better by more than delta.
        slack = int(np.floor(problem.to_cost(self.delta, exact=True) * ROUNDED_DOWN))
        prices = None
        if penalties.any():
            prices = [problem.to_cost(penalty) for penalty in penalties]
        return {**rules, "slack": slack, "prices": prices}

    def _set_errors(self, problem, best, short_of, penalties):
        """Set error, objective and bound: no objective is more than `short_of` below the best."""
        # Errors are not negative, but what a callable returns may be.
        is_by_size = self.max_error is not None
        least = -np.inf if problem.is_callable and not is_by_size else 0.0
        if best[1] is None:  # Nothing has been rated.
            self.error_, self.objective_, self.lower_bound_, self.gap_ = (
                np.nan,
                np.inf,
                least,
                np.inf,
            )
            return
        self.error_ = problem.to_error(best[1])
        if is_by_size:
            self.objective_ = float(self.n_features_)
        else:
            self.objective_ = self.error_ + float(penalties[best[0]].sum())
            short_of = problem.to_error(short_of)
        self.lower_bound_ = max(self.objective_ - short_of, least)
        self.gap_ = self.objective_ - self.lower_bound_

    def _take_up(self, search, groups):
        """The state that an earlier search of the same problem has left, or None."""
        if not self.warm_start:
            self.__dict__.pop("_unfinished", None)
            return None
        own = self.get_params(deep=False)
        parameters = {name: own[name] for name in PROBLEM_PARAMETERS}
        if isinstance(self.random_state, Integral):
            parameters["random_state"] = self.random_state
        of_tree = {**search.learner.tree.get_params(), "n_jobs": None}
        table, data = search.learner.table, (search.learner.data.y, search.learner.weights, groups)
        fingerprint = joblib.hash((table.codes, table.values, data, parameters, of_tree))
        key = {
            "fingerprint": fingerprint,
            "scoring": self.scoring,
            **error_key(self.error),
        }
        before = getattr(self, "_unfinished", None)
        if before is not None and is_same(before["key"], key):
            return before
        self._unfinished = {"key": key}
        return None

    def _keep_found(self, **found):
        """Keep something that the search has found for the next fit."""
        if self.warm_start:
            self._unfinished = {**self._unfinished, **found}

    def _search_best(self, search, problem, rules, before):
        """Features, cost and leaves of the best tree, and how much better others may be."""
        if self.method == "dtaccept":
            return self._run_dtaccept(search, problem, rules["slack"], rules["prices"])
        best = None if before is None else before.get("best")
        if best is None:
            best = self._first_tree(search, problem, rules)
        self._keep_found(best=best)
        if best is not None:
            self._grow_ahead(search, best[0])
        run = CompleteRun(
            problem,
            search,
            start=best,
            state=None if before is None else before.get("state"),
            record="best",
            only_best=True,
            **rules,
        )
        best = run.start
        attributes_of = partial(self._attributes_on, search)
        for found in search.watch(
            "subsets", run.pieces(), lambda tree: attributes_of(tree[0]), best
        ):
            best = found
        self.search_stats_ = run.stats
        run.write()
        self._keep_found(best=best, state=run.stream.state)
        if best is None and run.stream.is_done:
            self._refuse_impossible()
        if best is None or (problem.is_callable and not run.stream.is_done):
            return self._nothing(search) if best is None else best, np.inf
        return best, max(0, rating(best, rules)[0] - run.stream.lower_bound)

    def _refuse_impossible(self):
        asked = [
            f"{name}={getattr(self, name)}"
            for name in ("max_error", "min_features", "max_features")
            if getattr(self, name) not in (None, 0)
        ]
        raise ValueError(f"No feature subset has a tree with {', '.join(asked)}.")

    def _first_tree(self, search, problem, rules):
        """The best wanted tree of a backward elimination; None without any."""
        is_by_size = rules.get("by_size", False)
        steps, _ = eliminate(
            problem,
            search.control,
            n_threads=search.learner.n_threads,
            budget=search.budget,
            target_features=0 if is_by_size else None,
            max_features=self.max_features,
        )
        kept = problem.kept_features
        trees = [
            (np.union1d(step["features"], kept), step["cost"], step["n_leaves"]) for step in steps
        ]
        wanted = [tree for tree in trees if is_wanted(tree, rules)]
        return min(wanted, key=lambda tree: rating(tree, rules), default=None)

    @staticmethod
    def _nothing(search):
        """All features, without a rating."""
        return np.arange(search.learner.table.n_columns), None, 0

    def _run_dtaccept(self, search, problem, slack, prices):
        """As `_search_best`, by Algorithms 3 and 4."""
        self._grow_ahead(search, np.arange(search.learner.table.n_columns))
        stream = DistinctStream(
            problem,
            search.control,
            accepts=True,
            slack=slack,
            prices=prices,
            budget=search.budget,
            n_threads=search.learner.n_threads,
        )
        best = None
        for found in search.watch("subsets", ([tree] for tree in stream)):
            best = found
        self.search_stats_ = stream.stats
        if best is None:
            return self._nothing(search), np.inf
        return best, slack if stream.is_done else np.inf

    def _collect(self, search, problem, best, penalties):
        """Set ``acceptable_subsets_``, ``feature_verdicts_``, and how complete they are."""
        n_features = search.learner.table.n_columns
        self.acceptable_subsets_, self.n_acceptable_ = [], 0
        self._set_verdicts(np.full(n_features, "open", dtype=object), np.zeros(n_features))
        self.cv_results_ = results_by_size([], n_features, problem.to_error)
        self.collect_status_ = search.status
        if best[1] is None:
            return
        allowed = self.delta if self.max_error is None else self.max_error
        cost = int(np.floor(problem.to_cost(allowed, exact=True) * ROUNDED_UP))
        slack, largest = (cost, None) if self.max_error is None else (0, cost)
        sizes = {"min_size": self.min_features, "max_size": self.max_features}
        asked = best, slack, self.max_collected, largest
        collection = self._unfinished.get("collection") if self.warm_start else None
        if collection is None or not collection.is_for(*asked, **sizes):
            collection = Collection(*asked, **sizes)
        collection.go_on(problem, search)
        self._keep_found(collection=collection)
        self.collect_status_ = "optimal" if collection.is_done else search.status
        self.n_acceptable_ = collection.n_acceptable
        least = max(self.lower_bound_ - penalties.sum(), -(2.0**20))
        least_cost = int(np.floor(problem.to_cost(least, exact=True)))
        self._set_verdicts(*collection.verdicts(n_features, least_cost))
        found = collection.in_order()
        self.cv_results_ = results_by_size(found, n_features, problem.to_error)
        self.acceptable_subsets_ = [
            {
                "features": self._named(features),
                "error": problem.to_error(tree_cost),
                "n_features": len(features),
                "n_leaves": n_leaves,
                "tree": self._fit_tree_in_time(search, features),
            }
            for features, tree_cost, n_leaves in found
        ]

    def _set_verdicts(self, verdicts, shares):
        """Set what the acceptable trees say about each feature."""
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(shares))])
        self.feature_verdicts_ = verdicts
        self.feature_reliance_ = np.array(
            list(zip(names, verdicts, shares, strict=True)),
            dtype=[("name", object), ("verdict", object), ("share", np.float64)],
        )


def rating(tree, rules):
    """The key to compare trees (features, cost, leaves) by; the least one is best."""
    features, cost, _ = tree
    if rules.get("by_size"):
        return len(features), cost
    prices = rules.get("prices")
    return cost + (0 if prices is None else sum(prices[f] for f in features)), len(features)


def is_wanted(tree, rules):
    """Whether the rules allow a tree."""
    features, cost, _ = tree
    most, dearest = rules["max_size"], rules.get("cost_limit")
    is_small = most is None or len(features) <= most
    return is_small and len(features) >= rules["min_size"] and (dearest is None or cost <= dearest)
