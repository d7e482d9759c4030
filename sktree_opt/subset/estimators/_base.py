"""Shared parts of the feature-subset searches: parameters, one fit, from a table to a problem."""

from __future__ import annotations

import inspect
from copy import copy
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from operator import itemgetter
from time import perf_counter
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.greedy._learner import Learner, criterion_of, make_learner
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.subset.errors import ERROR_ESTIMATES, estimate_of
from sktree_opt.subset.errors._parts import ErrorEstimate, EstimateRequest
from sktree_opt.subset.errors._scoring import ScoredParts
from sktree_opt.subset.estimators._predictor import SubsetPredictorMixin
from sktree_opt.subset.lattice._subset_problem import LOSSES, SubsetProblem
from sktree_opt.utils._checkpoint import Checkpoint
from sktree_opt.utils._compat import CallbackSupportMixin, StrOptions, n_threads_for
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import HeldInterrupt, Progress
from sktree_opt.utils._params import (
    bytes_from,
    document_shared,
    seconds_from,
    shared_constraints,
    warn_of_limit,
)
from sktree_opt.utils._typing import TableLike
from sktree_opt.utils._validation import check_columns, check_training_data

GreedyTree: TypeAlias = GreedyTreeClassifier | GreedyTreeRegressor

# Bytes of the lattice that a search keeps when no memory_limit is given.
DEFAULT_BUDGET = 1 << 30
# Time for growing the selected tree when the limit is reached: seconds, and a share of the limit.
GRACE_SECONDS = 0.05
GRACE_SHARE = 0.01
# Share of a given limit that the cache may take before it is emptied; the rest cannot be emptied.
CACHE_SHARE = 0.6


@dataclass
class SubsetFit:
    """One fit: its data, its limits, and the learner on all rows.

    Attributes
    ----------
    learner : Learner
        Grows the greedy tree of any features.

    control : SearchControl

    budget : int
        Bytes that the lattice may keep.

    groups : list of ndarray or None
        Columns that are kept or dropped together.

    kept : ndarray
        Columns that every subset has.

    time_limit : float or None
        Seconds; None for no limit.

    memory_limit : int or None
        Bytes; None for no limit.

    estimate : ErrorEstimate or None
        How errors are estimated; None for a function of the user's.

    given : tuple
        What ``fit`` was given: `X`, `y` and `sample_weight`.

    remote_status : str
        The reason why a part of the search under another control ended, as in another process.

    grown : tuple or None
        Features and their tree on all rows, if it was grown before the search.

    progress : Progress or None
        Callbacks to be told.

    interrupt : HeldInterrupt or None
        Ctrl-C, which stops the search and is raised after the fit.

    checkpoint : Checkpoint or None
        Where complete searches are written.
    """

    learner: Learner
    control: SearchControl
    budget: int
    groups: list | None = None
    kept: np.ndarray | tuple = ()
    time_limit: float | None = None
    memory_limit: int | None = None
    estimate: ErrorEstimate | None = None
    given: tuple = ()
    remote_status: str = "optimal"
    grown: tuple | None = None
    progress: Progress | None = None
    interrupt: HeldInterrupt | None = None
    checkpoint: Checkpoint | None = None

    def hold(self, interrupt):
        """From now on Ctrl-C stops the search, and is raised after the fit."""
        self.interrupt = interrupt
        interrupt.stops(self.control)

    def end_remotely(self, status):
        """End the search for the reason that ended a part of it under another control.

        The first reason counts: after Ctrl-C, the last tree has a little time.
        """
        if self.control.status == "optimal":
            self.remote_status = status
        self.control.request_stop()

    @property
    def is_pessimistic(self):
        """Whether errors are C4.5's upper limits of training errors."""
        return self.estimate is not None and self.estimate.is_pessimistic

    @property
    def is_watched(self):
        """Whether there is a callback to be told."""
        return self.progress is not None and self.progress.is_watched

    def watch(self, name, pieces, attributes_of=None, last=None):
        """Items of a search; callbacks are told after each step of the work, and may stop it.

        Parameters
        ----------
        name : str

        pieces : iterable of list
            Items in the order in which the search finds them.

        attributes_of : callable or None
            From the item found last to the attributes of an estimator fitted with it.

        last : object
            An item that is known before.
        """
        if not self.is_watched:
            for piece in pieces:
                yield from piece
            return

        def attributes_after(taken):
            best = taken[0][-1] if taken[0] else last
            is_known = attributes_of is not None and best is not None
            return partial(attributes_of, best) if is_known else None

        work = partial(take_for, self.progress.seconds_a_step, iter(pieces))
        is_done = False
        while not is_done and not self.control.stopped:
            items, is_done = self.progress.step(self.control, name, work, attributes_after)
            last = items[-1] if items else last
            yield from items

    @property
    def status(self):
        """The reason why the search ended; "optimal" at its own end."""
        if self.remote_status != "optimal":
            return self.remote_status
        return self.control.status

    def control_of_last_tree(self):
        """The control for growing the selected tree: the rest of the time, or a short grace."""
        if self.interrupt is not None and self.interrupt.came:
            return SearchControl(GRACE_SECONDS)
        seconds = None
        if self.time_limit is not None:
            grace = GRACE_SECONDS + GRACE_SHARE * self.time_limit
            seconds = max(self.time_limit - self.control.seconds, grace)
        control = SearchControl(seconds)
        if self.interrupt is not None:
            self.interrupt.stops(control)
        return control


_DOCS = {
    "estimator": """\
estimator : GreedyTreeClassifier, GreedyTreeRegressor or None, default=None
    Parameters of the trees. None means a ``GreedyTreeClassifier()``; pass a ``GreedyTreeRegressor``
    if the target is a number, and either one to tune, for example, ``estimator__max_depth`` in a
    grid search. `max_leaf_nodes`, `max_features` and reduced-error pruning are refused;
    error-based pruning is applied to the fitted trees alone, not during the search. With a
    `cost_matrix`, errors are mean costs.
""",
    "error": """\
error : {"search", "training", "cross_validation", "bootstrap", "pessimistic"}, error estimate \
or callable, default="%(default_error)s"
    How the error of a tree is estimated. A name means the estimate with its default parameters:
    :class:`~sktree_opt.subset.SearchError` (rows kept back from growing the trees),
    :class:`~sktree_opt.subset.TrainingError`, :class:`~sktree_opt.subset.CrossValidationError`,
    :class:`~sktree_opt.subset.BootstrapError` or
    :class:`~sktree_opt.subset.PessimisticTrainingError` (C4.5's estimate). A callable takes a
    fitted tree, grown on all rows, and returns a number; lower is better.
""",
    "scoring": """\
scoring : str, callable or None, default=None
    What rates the answers for the rows that `error` keeps back, as in scikit-learn's
    ``GridSearchCV``: the error of a subset is minus the mean score over the splits. Every tree is
    then grown and scored one by one. None: the share of wrong answers, the mean costs, or `loss`.
""",
    "loss": """\
loss : {"squared_error", "absolute_error"} or None, default=None
    How the answers of a regression tree are rated; an error is the mean loss of the rows. The trees
    are grown for the squared error in either case. None means "squared_error" for regression trees;
    classification trees take no other value.
""",
    "feature_groups": """\
feature_groups : list of array-like or None, default=None
    Lists of columns, by index or name, that are kept or dropped together, such as the dummies of a
    category. Every other column is a group of its own.
""",
    "features_to_keep": """\
features_to_keep : array-like or None, default=None
    Columns, by index, name or mask, that every subset has. With `feature_groups` their groups are
    kept as a whole. They count as selected even if the tree does not use them.
""",
    "estimator_": """\
estimator_ : GreedyTreeClassifier or GreedyTreeRegressor
    The tree fitted on all rows with the selected features. It takes the columns of `X`.
""",
    "fitted": """\
tree_ : Tree
    The nodes of `estimator_`.

classes_ : ndarray of shape (n_classes,)
    Class labels; not for regression.

%(columns)s
""",
    "fit_search": """\
X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
    The rows; NaN, None and NA are missing values.

y : array-like of shape (n_samples,)
    Class labels, or numbers for regression trees.

sample_weight : array-like of shape (n_samples,) or None, default=None
    Weights, of growing and of errors.

groups : array-like of shape (n_samples,) or None, default=None
    Rows of a group stay on one side of a split.
""",
}


def document_search(cls):
    """Class decorator: ``document_shared``, for the parameters and attributes of this room too."""
    default = inspect.signature(cls).parameters["error"].default
    return document_shared(cls, _DOCS | {"default_error": default})


class BaseSubsetSearch(CallbackSupportMixin, SubsetPredictorMixin, BaseEstimator):
    """Parameters and fit of the searches over the feature subsets of a greedy tree."""

    status_: str
    search_stats_: dict[str, Any]
    estimator_: GreedyTree

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [GreedyTreeClassifier, GreedyTreeRegressor, None],
        "loss": [StrOptions(set(LOSSES)), None],
        "scoring": [str, callable, None],
        "error": [StrOptions(set(ERROR_ESTIMATES)), ErrorEstimate, callable],
        **shared_constraints("time_limit", "memory_limit", "random_state", "n_jobs"),
    }

    def _begin(self, X, y, sample_weight, progress=None):
        """Check parameters and data, and encode them. The time limit counts from here."""
        seconds, limit = seconds_from(self.time_limit), bytes_from(self.memory_limit)
        control = SearchControl(seconds, limit)
        tree = GreedyTreeClassifier() if self.estimator is None else clone(self.estimator)
        check_tree_parameters(tree)
        estimate = estimate_of(self.error)
        if estimate is not None:
            estimate._validate_params()
        is_classifier = not self._is_regression
        self._check_scoring(estimate)
        if estimate is not None and estimate.is_pessimistic:
            check_counts_errors(tree)
        if is_classifier and self.loss is not None:
            raise ValueError(f"loss={self.loss!r} is only supported for regression trees.")
        data = check_training_data(
            self,
            TableEncoder(tree.categorical_features),
            X,
            y,
            sample_weight,
            class_weight=getattr(tree, "class_weight", None),
            is_classifier=is_classifier,
        )
        return SubsetFit(
            learner=make_learner(tree, data, n_threads_for(self.n_jobs)),
            control=control,
            budget=DEFAULT_BUDGET if limit is None else int(CACHE_SHARE * limit),
            groups=self._column_groups(),
            kept=self._kept_columns(),
            time_limit=seconds,
            memory_limit=limit,
            estimate=estimate,
            given=(X, y, sample_weight),
            progress=progress,
        )

    def _check_scoring(self, estimate):
        """Refuse what has no meaning beside a scorer."""
        if self.scoring is None:
            return
        if self.loss is not None:
            raise ValueError(f"loss={self.loss!r} is not supported together with scoring.")
        if estimate is None or not estimate.can_be_scored:
            name = "a function" if estimate is None else repr(self.error)
            raise ValueError(
                f"scoring is not supported with error={name}, which keeps no rows to score."
            )

    def _column_groups(self):
        """The columns of each of `feature_groups`, for searches that have them."""
        groups = getattr(self, "feature_groups", None)
        if groups is None:
            return None
        seen, columns = set(), []
        for group in groups:
            if isinstance(group, str) or not np.iterable(group):
                raise TypeError(f"feature_groups must hold lists of columns, got {group!r}.")
            columns.append(column_indices(self, group, "feature_groups"))
            twice = seen.intersection(columns[-1].tolist())
            if twice or len(set(columns[-1].tolist())) < len(columns[-1]):
                raise ValueError(f"feature_groups names a column twice: see {group!r}.")
            seen.update(columns[-1].tolist())
        return [group for group in columns if len(group)]

    def _kept_columns(self):
        """The columns of `features_to_keep`, for searches that have it."""
        kept = getattr(self, "features_to_keep", None)
        return () if kept is None else np.unique(column_indices(self, kept, "features_to_keep"))

    def _named(self, features):
        """Column names, where the table has names; else the indices."""
        names = getattr(self, "feature_names_in_", None)
        return features if names is None else names[features]

    def _parts(self, search, y, groups):
        """The trees of the error estimate; with a function, one tree on all rows."""
        estimate = search.estimate or ERROR_ESTIMATES["training"]()
        if groups is not None:
            groups = column_or_1d(groups)
            check_consistent_length(groups, y)
        if groups is not None and not estimate.splits_rows:
            name = "a function" if search.estimate is None else repr(self.error)
            raise ValueError(f"groups are not supported with error={name}, which splits no rows.")
        return estimate._make_parts(
            EstimateRequest(
                y=search.learner.data.y,
                weights=search.learner.row_weights,
                groups=groups,
                all_y=column_or_1d(y),
                kept_rows=search.learner.data.kept_rows,
                random_state=self.random_state,
                is_classifier=not self._is_regression,
            )
        )

    def _make_problem(self, search, parts, has_penalty=False):
        """The problem that the kernels search: trees of `parts`, rated by the estimate."""
        learner, tree = search.learner, search.learner.tree
        problem = SubsetProblem(
            learner.table,
            learner.data.y,
            learner.n_classes,
            parts,
            **learner.rules,
            confidence=tree.confidence if search.is_pessimistic else None,
            costs=learner.costs,
            loss="squared_error" if self.loss is None else self.loss,
            groups=search.groups,
            kept=search.kept,
            has_penalty=has_penalty,
        )
        fit_on = partial(self._fit_tree_on, search, control=search.control)
        if self.scoring is not None:
            scored = ScoredParts(self.scoring, fit_on, parts, search.given, learner)
            # Losses of numbers have any size.
            scale = scored.scale() if self._is_regression else 1.0
            problem.set_callback(scored.error, search.control, scale)
        elif search.estimate is None:
            rate = self.error
            problem.set_callback(lambda features: rate(fit_on(features)), search.control)
        return problem

    def _fit_tree_on(self, search, features, rows=None, control=None):
        """The learner fitted on some features, and on all rows by default.

        It takes all columns that this estimator was fitted on.
        """
        tree = search.learner.fit_on(features, rows, control)
        if hasattr(self, "feature_names_in_"):
            tree.feature_names_in_ = self.feature_names_in_
        return tree

    def _fit_tree_in_time(self, search, features):
        """The same, on all rows; None if the search has been stopped."""
        if search.control.stopped:
            return None
        tree = self._fit_tree_on(search, features, control=search.control)
        return None if search.control.stopped else tree

    def tree_on(
        self,
        features: ArrayLike,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> GreedyTree:
        """Fit the greedy tree on some features, such as those of an acceptable subset.

        This estimator is left as it is.

        Parameters
        ----------
        features : array-like
            Column indices, column names, or a mask of the columns.

        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows, with the columns of `fit`.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        tree : GreedyTreeClassifier or GreedyTreeRegressor
            It takes the columns of `X`.
        """
        check_is_fitted(self)
        check_columns(self, X)
        owner = copy(self)
        search = owner._begin(X, y, sample_weight)
        return owner._fit_tree_on(search, column_indices(owner, features))

    def _attributes_on(self, search, features, tree=None):
        """The attributes that predicting by the tree of some features needs."""
        tree = self._fit_tree_on(search, features) if tree is None else tree
        return {"estimator_": tree, **search.learner.fitted_attributes(tree.tree_)}

    def _grow_ahead(self, search, features):
        """Grow the tree of some features, and keep back as much time for the last tree."""
        if search.time_limit is None or search.control.stopped:
            return
        control, started = search.control_of_last_tree(), search.control.seconds
        tree = self._fit_tree_on(search, features, control=control)
        if not control.stopped:
            search.grown = (features, tree)
            search.control.keep_back(search.control.seconds - started)

    def _keep_tree(self, search, features):
        """Set ``estimator_`` and what predicting needs."""
        if search.grown is not None and np.array_equal(search.grown[0], features):
            tree = search.grown[1]
        else:
            control = search.control_of_last_tree()
            tree = self._fit_tree_on(search, features, control=control)
            if control.stopped:
                search.end_remotely(control.status)
        vars(self).update(self._attributes_on(search, features, tree))

    def _set_status(self, status):
        """Set ``status_``, and warn of a search that a limit has ended."""
        self.status_ = status
        warn_of_limit(self, status, self._found_before_limit())

    def _found_before_limit(self):
        """A sentence on the result of a search that a limit has ended."""
        if np.isnan(getattr(self, "error_", 0.0)):
            return "No tree was rated: the result has all features."
        return "The result is the best one found so far."

    def _node_probabilities(self):
        self._fitted_tree()
        return self.estimator_._node_probabilities()


def results_by_size(trees, n_columns, to_error):
    """The best tree of each number of features, as ``cv_results_``.

    Parameters
    ----------
    trees : iterable of (ndarray, int, int)
        Features, cost and leaves.

    n_columns : int

    to_error : callable
        From costs to errors.

    Returns
    -------
    results : dict of ndarray
    """
    best = {}
    for tree in trees:
        best[len(tree[0])] = min(best.get(len(tree[0]), tree), tree, key=itemgetter(1))
    found = [best[size] for size in sorted(best)]
    support = np.zeros((len(found), n_columns), dtype=bool)
    for mask, (features, _, _) in zip(support, found, strict=True):
        mask[features] = True
    return {
        "n_features": np.array(sorted(best), dtype=np.int64),
        "n_leaves": np.array([n_leaves for _, _, n_leaves in found], dtype=np.int64),
        "support": support,
        "mean_test_score": np.array([-to_error(cost) for _, cost, _ in found]),
    }


def column_indices(estimator, columns, name="features"):
    """Indices of columns that are given by index, by name, or by a mask of all columns.

    Parameters
    ----------
    estimator : estimator
        One that knows its columns.

    columns : array-like

    name : str
        What the columns are given as, for messages.
    """
    if isinstance(columns, str) or not np.iterable(columns):
        raise TypeError(f"{name} must be a list of columns or a mask, got {columns!r}.")
    columns = list(columns)
    if columns and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != estimator.n_features_in_:
            raise ValueError(
                f"{name} is a mask of {len(columns)} columns; X has {estimator.n_features_in_}."
            )
        return np.flatnonzero(columns)
    return np.array([column_index(estimator, column, name) for column in columns], dtype=np.int64)


def column_index(estimator, column, name):
    """Index of one column that is given by its index or its name."""
    n_columns = estimator.n_features_in_
    if isinstance(column, str):
        if not hasattr(estimator, "feature_names_in_"):
            raise ValueError(f"{name} names {column!r}, but X has no column names.")
        place = np.flatnonzero(estimator.feature_names_in_ == column)
        if not place.size:
            raise ValueError(f"{name} names {column!r}, which is not a column of X.")
        return int(place[0])
    if isinstance(column, bool | np.bool_) or not isinstance(column, Integral):
        raise TypeError(f"{name} must hold indices or names of columns, got {column!r}.")
    if not 0 <= column < n_columns:
        raise ValueError(f"{name} names {column!r}; X has columns 0 to {n_columns - 1}.")
    return int(column)


def check_size(name, value, n_features):
    """Refuse a number of features that is larger than their number."""
    if value is not None and value > n_features:
        raise ValueError(f"{name}={value}, but X has {n_features} features.")


def take_for(seconds, pieces):
    """Items of an iterator of lists that come in some time, and whether it has ended."""
    end, items = perf_counter() + seconds, []
    for piece in pieces:
        items += piece
        if perf_counter() >= end:
            return items, False
    return items, True


def check_counts_errors(tree):
    """Refuse C4.5's estimate of the error where answers are more or less wrong."""
    if isinstance(tree, GreedyTreeRegressor):
        raise ValueError("error='pessimistic' counts wrong classes, but the trees answer numbers.")
    if tree.cost_matrix is not None:
        raise ValueError("error='pessimistic' counts errors, not costs: set cost_matrix=None.")


def check_tree_parameters(tree):
    """Refuse parameters with which the split of a node depends on more than its cases."""
    tree._validate_params()
    if tree.max_leaf_nodes is not None:
        raise ValueError(
            "max_leaf_nodes is not supported: with it the split of a node depends on other nodes. "
            "Use max_depth, min_samples_leaf or min_gain."
        )
    if tree.max_features is not None:
        raise ValueError(
            "max_features is not supported: the split of a node must be the best one of the "
            "features that the search looks at. Use max_features=None."
        )
    if criterion_of(tree).above_average:
        raise ValueError(
            f"criterion={tree.criterion!r} is not supported: its choice depends on features that "
            "are not chosen, so that DT(S) cannot be shared between feature sets; use "
            "criterion='gain_ratio' and min_gain."
        )
    if tree.pruning == "reduced_error":
        raise ValueError(
            "pruning='reduced_error' is not supported: it keeps back rows that the search needs. "
            "Use pruning='error_based', which is applied to the selected tree, or None."
        )
