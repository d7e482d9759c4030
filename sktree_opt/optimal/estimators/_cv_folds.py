"""The searches of a cross-validation: on all rows, on each fold, and for the chosen tree."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed

from sktree_opt.optimal.estimators._base import new_control
from sktree_opt.optimal.estimators._optimal_path import path_of
from sktree_opt.optimal.objectives._for_data import is_metric
from sktree_opt.optimal.run._session import Session
from sktree_opt.optimal.run.queries._path import lower_hull
from sktree_opt.utils._compat import n_threads_for, safe_indexing
from sktree_opt.utils._fitting import HeldInterrupt
from sktree_opt.utils._validation import as_weights

# What may change between two calls with a checkpoint.
MAY_CHANGE = {"time_limit", "memory_limit", "n_jobs", "checkpoint"}

# Shares of the time limit for the search of the chosen tree, and for the first path on all rows.
SHARE_OF_TREE, SHARE_OF_ALL_ROWS = 0.3, 0.1


@dataclass(frozen=True)
class Clock:
    """A time limit that several searches share.

    Attributes
    ----------
    end : float or None
        When all of them have to be done, in seconds of ``time.time``; None for no limit.
    """

    end: float | None

    @classmethod
    def until(cls, seconds):
        """A clock for so many seconds from now on (None for no limit)."""
        return cls(None if seconds is None else time.time() + seconds)

    def earlier(self, share, seconds):
        """A clock that keeps back a share of so many seconds."""
        return Clock(None if self.end is None else self.end - share * seconds)

    def left(self, n_searches=1.0):
        """Seconds for the next of so many searches."""
        return None if self.end is None else max(0.0, self.end - time.time()) / n_searches


@dataclass
class ScoredFold:
    """What is found on the training rows of a fold.

    Attributes
    ----------
    scores : dict of ndarray of shape (max_depth + 1, max_splits + 1)
        By metric, the score of the optimal tree of every depth and number of tests on the rows left
        out.

    objectives : ndarray of the same shape
        The objective of the trees on the training rows.

    unit : float
        The total weight, of which a cost of a test is a share; 1 for a metric.

    status : str
        Whether all of the trees are proved to be optimal.

    stats : dict
        Counters of the search.
    """

    scores: dict[str, NDArray[np.float64]]
    objectives: NDArray[np.float64]
    unit: float
    status: str
    stats: dict[str, Any]

    def score(self, metric, point):
        """Score of the tree that a point of the grid asks for."""
        return self.scores[metric][place_of(point, self.objectives, self.unit)]

    def changes(self, depths):
        """The costs of a test at which the best tree of one of these depths changes."""
        return np.concatenate(
            [lower_hull(self.objectives[depth, : 2**depth])[1] / self.unit for depth in depths]
        )


def checked_fold(entry, path):
    """A fold out of a file; raises unless it has what a path on all rows has."""
    fold = ScoredFold(**entry)
    arrays = [*fold.scores.values(), fold.objectives]
    is_whole = len(arrays) > 1 and all(
        array.shape == path.objectives.shape and array.dtype == np.float64 for array in arrays
    )
    if not is_whole or fold.status != "optimal" or not 0.0 < float(fold.unit) < np.inf:
        raise ValueError("not the scores of a fold")
    for name, value in path.search_stats.items():
        if isinstance(value, (int, float)):
            # These are added up in the end: what cannot be added raises here.
            value + fold.stats.get(name, 0)
    return fold


class CVSearches:
    """All searches of one fit, which share its time limit.

    Parameters
    ----------
    estimator : estimator
        A cross-validated tree: its ``_model`` makes the trees.

    grid : Grid
        What is tried. A search that is stopped leaves the first setting alone.

    data : tuple
        `X`, `y` and `sample_weight`.

    seconds : float or None
        For all searches.

    progress : Progress

    interrupt : HeldInterrupt

    checkpoint : Checkpoint or None
        Where folds that are done are written, and the search of the chosen tree.

    Attributes
    ----------
    folds : list of ScoredFold
        Of the first setting on each fold, then of the second one, and so on.

    n_splits : int
        Number of folds of each setting.

    is_stopped : bool
        Whether a callback or Ctrl-C has ended the search.
    """

    def __init__(self, estimator, grid, data, seconds, progress, interrupt, checkpoint):
        self.estimator, self.grid, self.data = estimator, grid, data
        self.progress, self.interrupt, self.checkpoint = progress, interrupt, checkpoint
        self.clock = Clock.until(seconds)
        self.clock_of_folds = self.clock.earlier(SHARE_OF_TREE, seconds)
        self.folds, self.n_splits, self.is_stopped = [], 0, False
        self.model = self.path = None

    def find_path_on_all_rows(self):
        """Find the path on all rows for the first setting, with the thresholds of the folds."""
        self.progress.begin("all rows")
        self.model = self._model_of_path(0)
        self.model.set_params(time_limit=self.clock.left(1.0 / SHARE_OF_ALL_ROWS))
        self.path = path_of(self.model, *self.data, self.interrupt)
        X, y, weights = self.data
        self.data = X, y, None if weights is None else as_weights(weights, X)
        self.interrupt.release()
        self.is_stopped = bool(self.progress.end()) or self.interrupt.came

    def score_folds(self, splits, scorer, score_params):
        """Score each setting on each fold; a callback or Ctrl-C may end it after any of them."""
        if self.is_stopped:
            return
        n_jobs, self.n_splits = self.estimator.n_jobs, len(splits)
        data = indexable(*self.data)
        tasks = [(k, *rows) for k in range(len(self.grid.settings)) for rows in splits]
        record, done = self._record(splits, score_params)
        missing = [(k, task) for k, task in enumerate(tasks) if str(k) not in done]
        n_workers = n_threads_for(n_jobs)
        searches = (
            delayed(score_fold)(
                self._model_of_path(setting),
                scorer,
                *data,
                train,
                test,
                score_params,
                (self.clock_of_folds, -(-(len(missing) - k) // n_workers)),
            )
            for k, (_, (setting, train, test)) in enumerate(missing)
        )
        try:
            found = Parallel(n_jobs=n_jobs, return_as="generator")(searches)
            for k in range(len(tasks)):
                self.progress.begin(self._name(*divmod(k, self.n_splits)))
                is_done = str(k) in done
                self.folds.append(done[str(k)] if is_done else next(found))
                if record is not None and not is_done and self.folds[-1].status == "optimal":
                    done[str(k)] = self.folds[-1]
                    record.write({name: vars(fold) for name, fold in done.items()})
                if self.progress.end():
                    found.close()
                    self.is_stopped = True
                    break
        except KeyboardInterrupt as error:
            self.interrupt.hold(error)
            self.is_stopped = True
        if len({frozenset(fold.scores) for fold in self.folds}) > 1 and record is not None:
            with record.reading():
                raise ValueError("scores of other names")
        if self.is_stopped:
            self.grid = replace(self.grid, settings=self.grid.settings[:1])
            self.folds = self.folds[: self.n_splits]
            self.n_splits = len(self.folds)

    def _record(self, splits, score_params):
        """The record of the folds, None without a checkpoint, and the folds that are done."""
        if self.checkpoint is None:
            return None, {}
        own = self.estimator.get_params(deep=False)
        asked = {name: own[name] for name in own.keys() - MAY_CHANGE}
        try:
            name = joblib.hash((asked, self.data, splits, score_params))
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise ValueError(
                f"checkpoint needs parameters that can be pickled, to know them again: {error}"
            ) from error
        record = self.checkpoint.begin("folds", bytes.fromhex(name))
        with record.reading():
            state = record.state or {}
            return record, {name: checked_fold(state[name], self.path) for name in state}

    def find_tree(self, point):
        """The tree of a point of the grid, by a search of all rows and all thresholds."""
        estimator = self.estimator
        if self.is_stopped:
            return self._known_tree(point)
        model = estimator._model(
            self.grid.settings[point.setting],
            **self._limits(point),
            time_limit=self.clock.left(),
            n_jobs=estimator.n_jobs,
        )
        # Callbacks may predict with the trees that the search finds.
        estimator._keep_of_data(self.model)
        try:
            with HeldInterrupt() as interrupt:
                # The search for a metric has no record.
                checkpoint = None if is_metric(model.objective) else self.checkpoint
                session = Session(
                    new_control(model), interrupt, self.progress, checkpoint=checkpoint
                )
                model._search(session, *self.data)
                session.control.raise_pending()
        except KeyboardInterrupt as error:
            self.interrupt.hold(error)
        if not hasattr(model, "tree_"):
            return self._known_tree(point)
        if model.status_ != "optimal" and point.setting == 0:
            return self._better_of(model, self._known_tree(point))
        return model

    def _better_of(self, model, known):
        """The tree of a search that was cut short, or one that has been known before."""
        if not known.objective_ < model.objective_:
            return model
        for name in ("lower_bound_", "status_", "search_stats_", "optimality_scope_"):
            setattr(known, name, getattr(model, name))
        known.gap_ = known.objective_ - known.lower_bound_
        last = (model.search_stats_["seconds"], known.objective_, known.lower_bound_)
        known.incumbents_ = [*model.incumbents_, last]
        return known.set_params(thresholds=model.thresholds)

    def _model_of_path(self, setting):
        chosen = self.estimator.fold_thresholds
        return self.estimator._model(
            self.grid.settings[setting],
            max_depth=self.grid.max_depth,
            max_leaf_nodes=self.grid.max_leaf_nodes,
            **({} if chosen is None else {"thresholds": chosen}),
        )

    def _limits(self, point):
        names = ("max_depth", "max_leaf_nodes", "complexity_cost")
        limits = {name: point.params[name] for name in names if name in point.params}
        return {"max_leaf_nodes": self.grid.max_leaf_nodes} | limits

    def _known_tree(self, point):
        """The tree that the path on all rows has for a point, as a fitted estimator."""
        model, path = self.model, self.path
        place = place_of(point, path.objectives, unit_of(model, path))
        use_tree(model, path, path.tree_index[place])
        added = 0.0 if point.cost is None else point.cost * unit_of(model, path) * place[1]
        model.set_params(**self._limits(point))
        model.objective_ = float(path.objectives[place]) + added
        model.lower_bound_ = float(path.lower_bounds[place]) + added
        if point.cost is not None:
            # Smaller trees may be better.
            model.lower_bound_ = float(path.lower_bounds[place[0], -1])
        model.gap_ = model.objective_ - model.lower_bound_
        model.status_, model.search_stats_ = "stopped", path.search_stats
        seconds = path.search_stats["seconds"]
        model.incumbents_ = [(seconds, model.objective_, model.lower_bound_)]
        return model

    def _name(self, setting, fold):
        """Name of a fold for callbacks."""
        if len(self.grid.settings) == 1:
            return f"fold {fold}"
        values = self.grid.settings[setting]
        chosen = ", ".join(f"{name}={values[name]!r}" for name in self.grid.tuned)
        return f"fold {fold}, {chosen}"


def score_fold(model, scorer, X, y, sample_weight, train, test, score_params, time_of):
    """Search on some rows and score on others.

    Parameters
    ----------
    model : estimator
        An optimal tree, not fitted.

    scorer : callable
        Returns a number, or a dict of them.

    X, y, sample_weight
        All rows.

    train, test : ndarray
        Indices of rows.

    score_params : dict
        What the scorer takes beside model and rows.

    time_of : (Clock, int)
        The time for this search and so many later ones.
    """
    clock, n_searches = time_of
    model.set_params(time_limit=clock.left(n_searches))

    def part(values, rows):
        return None if values is None else safe_indexing(values, rows)

    if getattr(model, "cost_matrix", None) is not None:
        model.set_params(cost_matrix=costs_of_present(model.cost_matrix, y, train))
    path = path_of(
        model, safe_indexing(X, train), safe_indexing(y, train), part(sample_weight, train)
    )
    X_test, y_test = safe_indexing(X, test), safe_indexing(y, test)
    score_params = {name: part(*indexable(value), test) for name, value in score_params.items()}
    scores = []
    for k in range(len(path.trees)):
        use_tree(model, path, k)
        score = scorer(model, X_test, y_test, **score_params)
        scores.append(score if isinstance(score, dict) else {"score": score})
    return ScoredFold(
        {
            name: np.array([one[name] for one in scores], dtype=np.float64)[path.tree_index]
            for name in scores[0]
        },
        path.objectives,
        unit_of(model, path),
        path.status,
        path.search_stats,
    )


def place_of(point, objectives, unit):
    """Where a path has the tree that a point of the grid asks for: depth and number of tests."""
    if point.cost is None:
        return point.depth, point.splits
    sizes = np.arange(point.splits + 1)
    totals = objectives[point.depth, : point.splits + 1] / unit
    # The first of equal ones has the fewest tests.
    return point.depth, int((totals + point.cost * sizes).argmin())


def unit_of(model, path):
    """The total weight, of which a cost of a test is a share; 1 for a metric."""
    return 1.0 if is_metric(model.objective) else float(path.trees[0].nodes["weight"][0])


def use_tree(model, path, k):
    """Let an estimator answer with a tree of its path."""
    model.tree_ = path.trees[k]
    if is_classifier(model):
        model._answers = path.answers[k]


def costs_of_present(cost_matrix, y, rows):
    """The cost matrix of the classes that some training rows have."""
    present = np.isin(np.unique(y), np.unique(safe_indexing(y, rows)))
    return np.asarray(cost_matrix)[np.ix_(present, present)]


def summed(stats):
    """Sums of the counters of several searches; other entries are left out."""
    names = [name for name, value in stats[0].items() if isinstance(value, (int, float))]
    return {name: sum(one.get(name, 0) for one in stats) for name in names}
