"""All distinct greedy trees over the subsets of the features."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.subset.complete._collection import BestTrees
from sktree_opt.subset.complete._complete_run import CompleteRun, checked_tree
from sktree_opt.subset.complete._streams import ORDERS, DistinctStream
from sktree_opt.subset.errors import ErrorEstimate
from sktree_opt.subset.estimators._base import (
    BaseSubsetSearch,
    GreedyTree,
    document_search,
    results_by_size,
)
from sktree_opt.subset.estimators._tree_iterator import TreeIterator
from sktree_opt.utils._checkpoint import open_checkpoint
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, shared_constraints
from sktree_opt.utils._typing import ErrorName, FilePath, RandomState, TableLike


@document_search
class DistinctTreeEnumerator(BaseSubsetSearch):
    """Enumerates all and only the distinct greedy trees over the subsets of the features.

    Different feature subsets may lead to the same tree: removing a feature that a tree does not
    use changes nothing. Each distinct tree is found once. The search keeps one tree and one path of
    decisions in memory.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    %(estimator)s

    method : {"on_demand", "dtdistinct"}, default="on_demand"
        "on_demand" decides about a feature when a node asks for it and builds no tree twice;
        "dtdistinct" is Algorithm 2 of [1]_, which may build a tree again and then drops it.

    order : {"frontier", "frontier_cases", "reverse", "fixed"}, default="frontier"
        In which order "dtdistinct" leaves features out: Definition 9 of [1]_, by the cases at the
        nodes that test them as in [2]_, the reverse of "frontier", or by index. "on_demand" has an
        order of its own.

    max_trees : int, default=0
        Maximum number of trees that `fit` keeps, those of least error.

    %(error)s Trees are
        grown on the rows that the estimate leaves for growing; with several trees for each subset,
        two subsets count as the same only if all their trees are.

    %(scoring)s

    %(loss)s

    %(time_limit)s

    %(memory_limit)s

    %(random_state)s

    %(n_jobs)s Those of
        "dtdistinct" share the features of a node. Under a joblib backend for several machines, such
        as dask's, "on_demand" runs on its workers.

    %(checkpoint)s
        "on_demand" only.

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
        Maximum number of trees in memory at a time; at most one more than there are features.

    feature_usage_ : ndarray of shape (n_features,)
        Share of the distinct trees that use each feature.

    supports_ : list of ndarray of int
        Features that the kept trees use, best first: names, or indices where the table has no
        names.

    errors_ : ndarray of float
        Their errors.

    trees_ : list of GreedyTreeClassifier or GreedyTreeRegressor
        The trees of these features, fitted on all rows; None for a tree that was not grown before
        the time was up. They take the columns of `X`.

    cv_results_ : dict of ndarray
        The best distinct tree of each number of features, as scikit-learn's ``RFECV`` tells it:
        ``n_features``, ``n_leaves``, ``support`` (masks) and ``mean_test_score`` (minus the error).

    progress_ : float
        Estimated share of the enumeration that was done; 1 at its end.

    status_ : str
        "optimal" when all trees were found; else "time_limit", "memory_limit", or "stopped" by
        Ctrl-C or a callback.

    search_stats_ : dict
        Counters of the search.

    estimator_ : GreedyTreeClassifier or GreedyTreeRegressor
        The tree fitted on all rows with the features of the best kept tree, or with all features if
        none is kept.

    %(fitted)s

    See Also
    --------
    AcceptableSubsetSelector : The best of all subsets.

    Notes
    -----
    Why "on_demand" finds all and only the distinct trees, each once. The search grows one tree,
    node by node in a fixed order, and knows of each feature whether it is in, out, or undecided. At
    an open node it goes down the ranking of the features by the quality of their splits. A feature
    that is out is passed over; one that is in splits the node; at one that is undecided the search
    branches: the feature is in, and splits the node, or it is out. Where the ranking ends, or the
    stopping rule holds, the node is a leaf.

    *All*: let S be a subset. At each branching take the side on which the feature is in if it is in
    S. Along this path every node is split as DT(S) splits it, since the first feature of the
    ranking that is in S is the one of best quality in S (Assumption 4). The path stops where DT(S)
    stops (Assumption 5), so it ends at DT(S).

    *Only*: a feature is in from the node on that it splits, so at the end of a path the features
    that are in are those that the tree uses. The tree is therefore DT(S) for these features S.

    *Each once*: two paths part at some feature, which the tree of one uses, and the tree of the
    other does not. A binary search whose ends are the n distinct trees has branched n - 1 times; no
    tree is built in vain.

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
    supports_: list[NDArray[Any]]
    errors_: NDArray[np.float64]
    trees_: list[GreedyTree | None]
    cv_results_: dict[str, NDArray[Any]]
    progress_: float

    _parameter_constraints: ClassVar[dict] = {
        **BaseSubsetSearch._parameter_constraints,
        "method": [StrOptions({"on_demand", "dtdistinct"})],
        "order": [StrOptions(set(ORDERS))],
        "max_trees": [Interval(Integral, 0, None, closed="left")],
        **shared_constraints("checkpoint"),
    }

    def __init__(
        self,
        estimator: GreedyTree | None = None,
        *,
        method: Literal["on_demand", "dtdistinct"] = "on_demand",
        order: Literal["frontier", "frontier_cases", "reverse", "fixed"] = "frontier",
        max_trees: int = 0,
        error: ErrorName | ErrorEstimate | Callable[[Any], float] = "training",
        scoring: str | Callable[[Any, Any, Any], float] | None = None,
        loss: Literal["squared_error", "absolute_error"] | None = None,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        checkpoint: FilePath | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.order = order
        self.max_trees = max_trees
        self.error = error
        self.scoring = scoring
        self.loss = loss
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
        """Enumerate the distinct trees.

        Parameters
        ----------
        %(fit_search)s

        Returns
        -------
        self : DistinctTreeEnumerator
            The fitted enumerator.
        """
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            search = self._begin(X, y, sample_weight, progress)
            search.hold(interrupt)
            search.checkpoint = open_checkpoint(self)
            n_columns = search.learner.table.n_columns
            counts = Counts(n_columns, self.max_trees)
            problem, run, make_pieces = self._start(search, y, groups, counts=counts)
            for _ in search.watch("trees", make_pieces()):
                pass
            if self.method == "on_demand":
                run.write()
            kept = self._set_counts(counts)
            best_by_size = counts.best_by_size()
            self.cv_results_ = results_by_size(best_by_size, n_columns, problem.to_error)
            self._set_work(search, run)
            supports = [features for features, _, _ in kept]
            self.supports_ = [self._named(features) for features in supports]
            self.errors_ = np.array([problem.to_error(cost) for _, cost, _ in kept])
            best = supports[0] if kept else np.arange(n_columns)
            self._keep_tree(search, best)
            others = [self._fit_tree_in_time(search, features) for features in supports[1:]]
            self.trees_ = [self.estimator_, *others] if kept else []
            self._set_status(search.status)
        progress.finish()
        return self

    def iter_trees(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> TreeIterator:
        """Hand the distinct trees out as they are found, in constant memory.

        The iteration can be left and taken up again: its limits count what the search takes, not
        what is done between two trees. A limit that ends it gives a ``ConvergenceWarning``; the
        ``resume`` of the iterator goes on from there, its ``status`` and ``progress`` tell how far
        it got. This estimator is left as it is, fitted or not.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        y : array-like of shape (n_samples,)
            Class labels, or numbers for regression trees.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        groups : array-like of shape (n_samples,) or None, default=None
            Rows of a group stay on one side of a split.

        Returns
        -------
        trees : TreeIterator
            Over pairs: the features that a tree uses (names, or indices where the table has no
            names), and the tree,
            grown on the rows of the estimate's first part. It takes the
            columns of `X`. The ``error`` of the iterator is that of the last pair.
        """
        self._validate_params()
        if self.checkpoint is not None:
            raise ValueError("checkpoint is not supported by iter_trees.")
        owner = copy(self)
        search = owner._begin(X, y, sample_weight)
        parts = owner._parts(search, y, groups)
        problem, run, make_pieces = owner._start(search, y, groups, parts)
        rows = parts[0].build_rows
        return TreeIterator(
            search,
            problem,
            run,
            make_pieces,
            lambda features: owner._fit_tree_on(search, features, rows),
            owner._named,
        )

    def _start(self, search, y, groups, parts=None, counts=None):
        """The problem, a search that is not begun, and what makes lists of its trees.

        `counts`, if given, is told of each tree.
        """
        parts = self._parts(search, y, groups) if parts is None else parts
        problem = self._make_problem(search, parts)
        if self.method == "on_demand":
            run = CompleteRun(problem, search, record="trees", counts=counts)
            return problem, run, run.pieces
        if self.checkpoint is not None:
            raise ValueError("checkpoint is only supported with method='on_demand'.")
        stream = DistinctStream(
            problem,
            search.control,
            order=self.order,
            budget=search.budget,
            n_threads=search.learner.n_threads,
        )
        return problem, stream, lambda: counted(stream, counts)

    def _set_counts(self, counts):
        """Set what is counted; returns the best trees as (features, cost, leaves)."""
        self.n_distinct_ = int(counts.by_size.sum())
        self.n_distinct_by_size_ = counts.by_size
        self.feature_usage_ = counts.usage / max(self.n_distinct_, 1)
        return counts.kept.in_order()

    def _set_work(self, search, run):
        """Set the attributes that describe the work of the search."""
        self.search_stats_ = run.stats
        self.n_built_ = run.stats.get("n_built", self.n_distinct_)
        self.overhead_ = self.n_built_ / max(self.n_distinct_, 1)
        self.max_alive_trees_ = run.stats.get("max_alive", 1)
        self.progress_ = 1.0 if search.status == "optimal" else run.progress


class Counts:
    """Counts of the trees that an enumeration has found, and the best ones.

    Parameters
    ----------
    n_features : int

    max_trees : int
        How many of the best ones are kept.

    Attributes
    ----------
    by_size, usage : ndarray of int64
        Number of trees by number of features, and by feature that they use.

    kept : BestTrees
    """

    def __init__(self, n_features, max_trees):
        self.by_size = np.zeros(n_features + 1, dtype=np.int64)
        self.usage = np.zeros(n_features, dtype=np.int64)
        self.kept, self._best = BestTrees(max_trees), {}

    def add(self, features, cost, n_leaves):
        """Count a tree."""
        size = len(features)
        if size not in self._best or cost < self._best[size][1]:
            self._best[size] = features, cost, n_leaves
        self.by_size[size] += 1
        self.usage[features] += 1
        self.kept.add(features, cost, n_leaves)

    def best_by_size(self):
        """The best tree of each number of features."""
        return self._best.values()

    @property
    def state(self):
        """What has been counted, in the form of a checkpoint."""
        return {
            "by_size": self.by_size,
            "usage": self.usage,
            "kept": self.kept.state,
            "best": list(self._best.values()),
        }

    def take_up(self, known, n_features):
        """Begin with what has been written."""
        for mine, name in ((self.by_size, "by_size"), (self.usage, "usage")):
            if known[name].shape != mine.shape or known[name].dtype != mine.dtype:
                raise ValueError("counts of other features")
            mine[:] = known[name]
        self.kept.take_up(known["kept"], n_features)
        trees = [checked_tree(*tree, n_features) for tree in known["best"]]
        self._best = {len(tree[0]): tree for tree in trees}


def counted(stream, counts):
    """Lists of the trees of a stream, which are counted before they are handed out."""
    for tree in stream:
        if counts is not None:
            counts.add(*tree)
        yield [tree]
