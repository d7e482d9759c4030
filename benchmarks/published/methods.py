"""What Ruggieri's papers (000 and 001) compare, each fitted and tried on the same folds.

To add a method: a function of a ``Fold`` that returns an ``Outcome``, and a line in ``METHODS``.

The tree is what fits the papers' figures best: their "m=2" is the least weight of two branches, and
gains of numeric splits carry the penalty of C4.5 release 8. "Not applicable" in Anneal is a
category.
"""

import time
import warnings
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from published.common import quietly
from sktree_opt import (
    AcceptableSubsetSelector,
    DTsbeSelector,
    GreedyTreeClassifier,
    OptimalTreeClassifier,
)


def c45_tree(m=2, **parameters):
    return GreedyTreeClassifier(min_weight_branch=m, numeric_gain_penalty=True, **parameters)


@dataclass(frozen=True)
class Settings:
    """Settings that all folds of an experiment share."""

    tree: GreedyTreeClassifier
    error: str = "search"
    time_limit: float = 3600.0  # of each complete, black-box or optimal search
    n_jobs: int = 1


@dataclass(frozen=True)
class Outcome:
    """What one method gave in one fold; errors in percent."""

    error: float
    seconds: float
    search_error: float = np.nan
    used: np.ndarray | None = None  # mask of the features that the tree tests
    is_finished: bool = True


class Fold:
    """One training and one test part, and what several methods need of them."""

    def __init__(self, X, y, train, test, settings, seed):
        self.X, self.y, self.train, self.test = X, y, train, test
        self.settings, self.seed = settings, seed
        self.X_train, self.y_train = X.iloc[train], y[train]

    def error_of(self, estimator, X_test):
        """Percent of the test rows for which the answer is wrong."""
        return 100.0 * float(np.mean(estimator.predict(X_test) != self.y[self.test]))

    def outcome(self, tree, seconds, **more):
        """The outcome of a tree that takes the whole table."""
        used = np.zeros(self.X.shape[1], dtype=bool)
        used[tree.tree_.features] = True
        error = self.error_of(tree, self.X.iloc[self.test])
        return Outcome(error, seconds, used=used, **more)

    def search(self, selector_class, **options):
        """A fitted selector; with the same seed, all have the same search rows."""
        s = self.settings
        selector = selector_class(
            s.tree, error=s.error, random_state=self.seed, n_jobs=s.n_jobs, **options
        )
        return selector.fit(self.X_train, self.y_train)

    @cached_property
    def dtsbe(self):
        return self.search(DTsbeSelector, time_limit=None)


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def baseline(fold):
    tree, seconds = timed(lambda: clone(fold.settings.tree).fit(fold.X_train, fold.y_train))
    search_error = 100.0 * fold.dtsbe.history_[0]["error"]
    return fold.outcome(tree, seconds, search_error=search_error)


def eliminated(fold, selector):
    """Seconds without reading the table: those of DTsbe and of the black box are compared."""
    return fold.outcome(
        selector.estimator_,
        selector.search_stats_["seconds"],
        search_error=100.0 * selector.error_,
        is_finished=selector.status_ == "optimal",
    )


def dtsbe(fold):
    return eliminated(fold, fold.dtsbe)


def sbe(fold, method="sbe", **options):
    """SBE; as a "black_box" it cannot know which features a tree uses, and ties may differ."""
    limit = fold.settings.time_limit
    selector = fold.search(DTsbeSelector, method=method, time_limit=limit, **options)
    is_finished = selector.status_ == "optimal"
    if (
        method == "sbe"
        and not options
        and is_finished
        and (selector.support_ != fold.dtsbe.support_).any()
    ):
        raise AssertionError("DTsbe and SBE select different features")
    return eliminated(fold, selector)


def dtaccept(fold, delta=0.0, method="on_demand"):
    limit = fold.settings.time_limit
    selector, seconds = timed(
        lambda: fold.search(AcceptableSubsetSelector, delta=delta, method=method, time_limit=limit)
    )
    return fold.outcome(
        selector.estimator_,
        seconds,
        search_error=100.0 * selector.error_,
        is_finished=selector.status_ == "optimal",
    )


N_TREES = 100


def forest_on(fold, columns):
    """100 trees of the fold's kind, each on a bootstrap sample, of log2 of the columns at a node.

    Pruned trees and gain ratio make forests of such trees. Their probabilities are averaged.
    """
    X = fold.X.loc[:, columns]
    if not columns.any():
        # Stumps where nothing is selected.
        X = pd.DataFrame({"constant": np.zeros(len(fold.y))})
    X_train, X_test = X.iloc[fold.train], X.iloc[fold.test]
    classes = np.unique(fold.y)

    def grow(number):
        rng = np.random.default_rng([fold.seed, number])
        counts = rng.multinomial(len(X_train), np.full(len(X_train), 1 / len(X_train)))
        rows = np.flatnonzero(counts)
        tree = clone(fold.settings.tree).set_params(max_features="log2", random_state=number)
        return tree.fit(X_train.iloc[rows], fold.y_train[rows], sample_weight=counts[rows])

    trees, seconds = timed(
        lambda: Parallel(fold.settings.n_jobs, prefer="threads")(
            delayed(grow)(number) for number in range(N_TREES)
        )
    )
    votes = np.zeros((len(X_test), len(classes)))
    for tree in trees:
        votes[:, np.searchsorted(classes, tree.classes_)] += tree.predict_proba(X_test)
    return Outcome(100.0 * np.mean(classes[votes.argmax(axis=1)] != fold.y[fold.test]), seconds)


def forest(fold):
    return forest_on(fold, np.ones(fold.X.shape[1], dtype=bool))


def dtsbe_forest(fold):
    return forest_on(fold, fold.dtsbe.support_)


def optimal(fold, cp=0.0):
    """The optimal tree of the same depth, or the best that was found in time.

    A test costs `cp` of the error of a single leaf, as in OCT.
    """
    base_error = 1.0 - np.bincount(fold.y_train).max() / len(fold.y_train)
    tree = OptimalTreeClassifier(
        max_depth=fold.settings.tree.max_depth,
        complexity_cost=cp * base_error,
        time_limit=fold.settings.time_limit,
        n_jobs=fold.settings.n_jobs,
    )
    _, seconds = timed(lambda: tree.fit(fold.X_train, fold.y_train))
    return fold.outcome(tree, seconds, is_finished=tree.status_ == "optimal")


METHODS = {
    "baseline": baseline,
    "DTsbe": dtsbe,
    "SBE": sbe,
    "black_box": partial(sbe, method="black_box"),
    # As in the paper of 2017: a tie ends the search.
    "PSBE": partial(sbe, method="psbe", on_tie="stop"),
    "SBE_2017": partial(sbe, method="black_box", on_tie="stop"),
    "DTaccept_0": dtaccept,
    "DTaccept_0.02": partial(dtaccept, delta=0.02),
    "DTaccept_0.04": partial(dtaccept, delta=0.04),
    "published": partial(dtaccept, method="dtaccept"),
    "RF": forest,
    "DTsbe+RF": dtsbe_forest,
    "optimal": optimal,
    "optimal_cp": partial(optimal, cp=0.01),
}


def run_methods(X, y, train, test, settings, seed, names):
    """Outcomes of the named methods in one fold, by name."""
    fold = Fold(X, y, train, test, settings, seed)
    return {name: METHODS[name](fold) for name in names}


def one_hot(X):
    """Nominal columns as one column for each category, with missing cells in all of them."""
    columns = []
    for name in X.columns:
        column = X[[name]]
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            column = pd.get_dummies(column, dtype=np.float64)
            column[X[name].isna()] = np.nan
        columns.append(column)
    return pd.concat(columns, axis=1)


def fold_outcomes(X, y, methods, settings, n_repeats, n_folds, n_jobs):
    """Outcomes by method, a list over the folds."""
    splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0)
    with warnings.catch_warnings():
        # Some classes have fewer members than there are folds, in the paper too.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = list(splitter.split(X, y))[:n_folds]
    results = Parallel(n_jobs=n_jobs)(
        delayed(quietly)(run_methods, X, y, train, test, settings, seed, methods)
        for seed, (train, test) in enumerate(folds)
    )
    return {method: [result[method] for result in results] for method in methods}
