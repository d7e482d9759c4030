"""All distinct greedy trees over the subsets of the features."""

import heapq
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset._base import BaseSubsetSearch, one_by_one
from sktree_opt.subset._complete import CompleteRun
from sktree_opt.subset._streams import ORDERS, DistinctStream
from sktree_opt.utils._callbacks import Progress
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._typing import CV, ErrorName, RandomState, TableLike
from sktree_opt.utils._validation import all_or_nothing


class DistinctTreeEnumerator(BaseSubsetSearch):
    """Enumerates all and only the distinct greedy trees over the subsets of the features.

    Different feature subsets may lead to the same tree: removing a feature that a tree does not
    use changes nothing. Each distinct tree is found once, in memory for one tree and one path of
    decisions.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    estimator : GreedyTreeClassifier or None, default=None
        Parameters of the trees; None for the default ones. `max_leaf_nodes` and reduced-error
        pruning are refused; error-based pruning is applied to kept trees alone.

    method : {"on_demand", "dtdistinct"}, default="on_demand"
        "on_demand" decides about a feature when a node asks for it and builds no tree twice;
        "dtdistinct" is Algorithm 2 of [1]_, which may build a tree again and finds that out.

    order : {"frontier", "frontier_cases", "reverse", "fixed"}, default="frontier"
        In which order "dtdistinct" leaves features out: Definition 9 of [1]_, by the cases at the
        nodes that test them as in [2]_, the reverse of "frontier", or by index. "on_demand" has an
        order of its own.

    max_trees : int, default=0
        How many of the trees of least error `fit` keeps.

    error : {"search", "training", "cross_validation", "bootstrap", "pessimistic"} or callable, \
            default="training"
        What trees are rated by: rows kept back from growing the trees, the training rows, folds,
        bootstrap samples, or C4.5's estimate. Trees are grown on the rows that the estimate leaves
        for growing; with several parts, distinct are all parts taken together. A callable takes a
        fitted ``GreedyTreeClassifier`` and returns a number, the lower the better.

    search_size : float, default=0.3
        Share of the rows that "search" keeps back.

    cv : int, cross-validation generator, iterable or None, default=None
        How to split the rows. Of "search", the first split is used; None for a stratified one. For
        "cross_validation", None means 5 stratified folds.

    n_bootstraps : int, default=10
        Number of samples of "bootstrap".

    time_limit : float or None, default=60.0
        Seconds; None for no limit. The number of distinct trees may be exponential.

    memory_limit : int, str or None, default=None
        Bytes that the search may take, or a string such as "2GB".

    random_state : int, RandomState instance or None, default=None
        Seed of the splits.

    n_jobs : int or None, default=None
        Threads; the result and the order of the trees do not depend on them. "dtdistinct" searches
        on one. None means 1, -1 all. Under a joblib backend for several machines, such as dask's,
        "on_demand" is run by its workers.

    Attributes
    ----------
    n_distinct_ : int
        Number of distinct trees found.

    n_built_ : int
        Number of trees built.

    overhead_ : float
        `n_built_` / `n_distinct_`.

    n_distinct_by_size_ : ndarray of shape (n_features + 1,)
        Number of distinct trees by the number of features that they use.

    max_alive_trees_ : int
        Most trees in memory at a time; at most one more than there are features.

    feature_usage_ : ndarray of shape (n_features,)
        Share of the distinct trees that use each feature.

    supports_ : list of ndarray of int
        Features that the kept trees use, best first.

    errors_ : ndarray of float
        Their errors.

    progress_ : float
        Estimated share of the enumeration that was done; 1 at its end.

    status_ : str
        "finished"; else "time_limit", "memory_limit" or "stopped".

    search_stats_ : dict
        Counters of the search.

    estimator_ : GreedyTreeClassifier
        The tree fitted on all rows with the features of the best kept tree, or with all features if
        none is kept.

    tree_ : Tree
        Its tree.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity of `tree_`.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when all are strings.

    See Also
    --------
    AcceptableSubsetSelector : The best of all subsets.

    References
    ----------
    .. [1] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.
    .. [2] S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.subset import DistinctTreeEnumerator
    >>> X, y = load_iris(return_X_y=True)
    >>> enumerator = DistinctTreeEnumerator().fit(X, y)
    >>> enumerator.n_distinct_ <= 2**4, enumerator.overhead_
    (True, 1.0)
    """

    n_distinct_: int
    n_built_: int
    overhead_: float
    n_distinct_by_size_: NDArray[np.int64]
    max_alive_trees_: int
    feature_usage_: NDArray[np.float64]
    supports_: list[NDArray[np.int64]]
    errors_: NDArray[np.float64]
    progress_: float

    _parameter_constraints: ClassVar[dict] = {
        **BaseSubsetSearch._parameter_constraints,
        "method": [StrOptions({"on_demand", "dtdistinct"})],
        "order": [StrOptions(set(ORDERS))],
        "max_trees": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: GreedyTreeClassifier | None = None,
        *,
        method: Literal["on_demand", "dtdistinct"] = "on_demand",
        order: Literal["frontier", "frontier_cases", "reverse", "fixed"] = "frontier",
        max_trees: int = 0,
        error: ErrorName | Callable[[GreedyTreeClassifier], float] = "training",
        search_size: float = 0.3,
        cv: CV = None,
        n_bootstraps: int = 10,
        time_limit: float | None = 60.0,
        memory_limit: int | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.order = order
        self.max_trees = max_trees
        self.error = error
        self.search_size = search_size
        self.cv = cv
        self.n_bootstraps = n_bootstraps
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
        """Enumerate the distinct trees.

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
        self : DistinctTreeEnumerator
            The fitted enumerator.
        """
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self):
            search = self._begin(X, y, sample_weight, progress)
            problem, run, pieces = self._start(search, y, groups)
            kept = self._count(search.watch("trees", pieces), search.table.n_columns)
            self._set_work(search, run)
            self.supports_ = [features for _, features in kept]
            self.errors_ = np.array([problem.to_error(cost) for cost, _ in kept])
            best = kept[0][1] if kept else np.arange(search.table.n_columns)
            self._keep_tree(search, best)
            self._set_status(search, finished="finished")
        progress.finish()
        return self

    def iter_trees(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[tuple[NDArray[np.int64], GreedyTreeClassifier]]:
        """Yield the distinct trees as they are found, in constant memory.

        The iteration can be left and taken up again; limits count from its first step.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        groups : array-like of shape (n_samples,) or None, default=None
            Rows of a group stay on one side of a split.

        Yields
        ------
        features : ndarray of int
            The features that the tree uses.

        tree : GreedyTreeClassifier
            The tree, grown on the rows of the estimate's first part. It takes the columns of `X`.
        """
        self._validate_params()
        search = self._begin(X, y, sample_weight)
        parts = self._parts(search, y, groups)
        _, _, pieces = self._start(search, y, groups, parts)
        for features, _, _ in search.watch("trees", pieces):
            yield features, self._fit_tree_on(search, features, parts[0].build_rows)

    def _start(self, search, y, groups, parts=None):
        """The problem, a search that is not begun, and its trees in lists."""
        parts = self._parts(search, y, groups) if parts is None else parts
        problem = self._make_problem(search, parts, self.error)
        if self.method == "on_demand":
            run = CompleteRun(problem, search)
            return problem, run, run.pieces()
        stream = DistinctStream(problem, search.control, order=self.order, budget=search.budget)
        return problem, stream, one_by_one(stream)

    def _count(self, trees, n_features):
        """Run through all trees; return (cost, features) of the best ones, best first."""
        by_size = np.zeros(n_features + 1, dtype=np.int64)
        usage = np.zeros(n_features, dtype=np.int64)
        heap = []
        for features, cost, _ in trees:
            by_size[len(features)] += 1
            usage[features] += 1
            if self.max_trees == 0:
                continue
            # The worst on top: high cost, then many features, then high indices.
            entry = (-cost, -len(features), tuple((-features).tolist()))
            push = heapq.heappush if len(heap) < self.max_trees else heapq.heappushpop
            push(heap, entry)
        self.n_distinct_ = int(by_size.sum())
        self.n_distinct_by_size_ = by_size
        self.feature_usage_ = usage / max(self.n_distinct_, 1)
        return [
            (-cost, -np.array(features, dtype=np.int64))
            for cost, _, features in sorted(heap, reverse=True)
        ]

    def _set_work(self, search, run):
        """Set what the counts of trees do not say of an ended search."""
        self.search_stats_ = run.stats
        self.n_built_ = run.stats.get("n_built", self.n_distinct_)
        self.overhead_ = self.n_built_ / max(self.n_distinct_, 1)
        self.max_alive_trees_ = run.stats.get("max_alive", 1)
        self.progress_ = 1.0 if search.status == "optimal" else run.progress
