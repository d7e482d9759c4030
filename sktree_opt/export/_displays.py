"""Curves of what fitted estimators keep, as scikit-learn's displays: error by size, gap, fronts.

Each display has ``from_estimator``, which reads fitted attributes and draws. It keeps what it
draws, so that ``plot`` can draw it again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sktree_opt.export._drawing import PALETTE
from sktree_opt.utils._params import document_shared

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORANGE, BLUE, GREEN = PALETTE[4], PALETTE[5], PALETTE[2]
# Around what was chosen.
RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 12,
    "markerfacecolor": "none",
    "markeredgecolor": ORANGE,
    "markeredgewidth": 2,
    "linestyle": "none",
}

_DOCS = {
    "drawn": """\
ax_ : matplotlib Axes
    Where it was drawn.

figure_ : matplotlib Figure
    Its figure.
""",
}
document_display = partial(document_shared, more=_DOCS)


class Display(ABC):
    """The part that all displays share: they find axes, and draw into them."""

    ax_: Axes
    figure_: Figure

    @abstractmethod
    def _draw(self, ax):
        """Draw into axes."""

    @classmethod
    @abstractmethod
    def _read(cls, fitted):
        """The parameters of the display that an estimator's fitted attributes give."""

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, ax: Axes | None = None) -> Self:
        """Draw what a fitted estimator keeps.

        Parameters
        ----------
        estimator : fitted estimator
            One that the display reads, see above.

        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        display : Display
            The display.
        """
        return cls(*cls._read(estimator)).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        display : Display
            The display itself.
        """
        axes: Any = ax
        if axes is None:
            # Only pictures need it.
            import matplotlib.pyplot as plt

            axes = plt.subplots(layout="constrained")[1]
        self._draw(axes)
        self.ax_, self.figure_ = axes, axes.figure
        return self


@document_display
class ErrorBySizeDisplay(Display):
    """Score of trees by number of leaves, in cross-validation, and the chosen size.

    ``from_estimator`` takes an OptimalTreeClassifierCV or OptimalTreeRegressorCV and reads its
    ``cv_results_``; of several scores, the one of `refit`. For trees of equal size, the best score
    counts.

    Parameters
    ----------
    n_leaves : array-like of int
        Numbers of leaves, rising.

    scores : array-like of float
        Best mean score of the trees of at most so many leaves.

    deviations : array-like of float
        Standard errors over folds.

    chosen : int
        Number of leaves that was chosen.

    score_name : str, default="score"
        Label of the vertical axis.

    Attributes
    ----------
    %(drawn)s

    See Also
    --------
    sktree_opt.optimal.OptimalTreeClassifierCV : Keeps the scores in ``cv_results_``.

    Examples
    --------
    >>> from sktree_opt import ErrorBySizeDisplay, OptimalTreeClassifierCV, load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifierCV(max_depth=2).fit(X, y)
    >>> display = ErrorBySizeDisplay.from_estimator(tree)  # doctest: +SKIP
    >>> display.chosen  # doctest: +SKIP
    3
    """

    def __init__(
        self,
        n_leaves: ArrayLike,
        scores: ArrayLike,
        deviations: ArrayLike,
        chosen: int,
        score_name: str = "score",
    ) -> None:
        self.n_leaves, self.scores = np.asarray(n_leaves), np.asarray(scores)
        self.deviations, self.chosen, self.score_name = np.asarray(deviations), chosen, score_name

    @classmethod
    def _read(cls, fitted):
        check_is_fitted(fitted, "cv_results_")
        results = fitted.cv_results_
        if "param_max_leaf_nodes" not in results:
            raise ValueError("The trees of this cross-validation were not chosen by their leaves.")
        name = fitted.refit if getattr(fitted, "multimetric_", False) else "score"
        means, spread = results[f"mean_test_{name}"], results[f"std_test_{name}"]
        # A single leaf has no limit on the leaves.
        leaves = np.ma.filled(results["param_max_leaf_nodes"].astype(float), 1.0).astype(int)
        sizes = np.unique(leaves)
        at = [np.flatnonzero(leaves == size) for size in sizes]
        best = np.array([rows[np.argmax(means[rows])] for rows in at])
        chosen = int(leaves[fitted.best_index_])
        errors = spread[best] / np.sqrt(fitted.n_splits_)
        label = name if name != "score" else "mean score of the folds"
        return sizes, means[best], errors, chosen, label

    def _draw(self, ax):
        ax.set(xlabel="leaves", ylabel=self.score_name)
        ax.errorbar(self.n_leaves, self.scores, self.deviations, color=BLUE, marker="o", capsize=3)
        at = self.n_leaves == self.chosen
        label = f"chosen: {self.chosen} leaves"
        ax.plot(self.n_leaves[at], self.scores[at], **RING, label=label)
        ax.legend()
        ax.locator_params(axis="x", integer=True)


@document_display
class GapDisplay(Display):
    """The best objective found and the lower bound of all trees over the time of a search.

    ``from_estimator`` takes any estimator with ``incumbents_``.

    Parameters
    ----------
    seconds : array-like of float
        Moments at which a better tree or bound was found.

    objectives, lower_bounds : array-like of float
        The best objective and the lower bound from each moment on.

    status : str, default="optimal"
        What ended the search.

    Attributes
    ----------
    %(drawn)s

    Examples
    --------
    >>> from sktree_opt import GapDisplay, OptimalTreeClassifier, load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
    >>> display = GapDisplay.from_estimator(tree)  # doctest: +SKIP
    """

    def __init__(
        self,
        seconds: ArrayLike,
        objectives: ArrayLike,
        lower_bounds: ArrayLike,
        status: str = "optimal",
    ) -> None:
        self.seconds, self.objectives = np.asarray(seconds), np.asarray(objectives)
        self.lower_bounds, self.status = np.asarray(lower_bounds), status

    @classmethod
    def _read(cls, fitted):
        check_is_fitted(fitted, "incumbents_")
        seconds, objectives, bounds = np.array(fitted.incumbents_).T
        return seconds, objectives, bounds, fitted.status_

    def _draw(self, ax):
        ax.set(xlabel="seconds", ylabel="objective")
        # Both lines begin with the search, since a single moment would not make a line.
        moments = np.append(0.0, self.seconds)
        tree, bound = (np.append(v[0], v) for v in (self.objectives, self.lower_bounds))
        ax.plot(moments, tree, drawstyle="steps-post", color=ORANGE, label="best tree found")
        ax.plot(
            moments, bound, drawstyle="steps-post", color=BLUE, label="lower bound of all trees"
        )
        ax.fill_between(moments, bound, tree, step="post", color="#999999", alpha=0.2)
        ax.set_title("proved optimal" if self.status == "optimal" else f"ended by {self.status}")
        ax.legend()


@document_display
class ErrorByFeaturesDisplay(Display):
    """Estimated error by number of features: the path of an elimination, or acceptable subsets.

    ``from_estimator`` takes a DTsbeSelector and reads its ``history_``, or an
    AcceptableSubsetSelector and its ``acceptable_subsets_``, for which `collect` is needed.

    Parameters
    ----------
    n_features : array-like of int
        Numbers of features.

    errors : array-like of float
        Estimated errors of their trees.

    chosen : (int, float)
        Number of features and error of the selected subset.

    is_path : bool, default=False
        Whether the entries are steps, each after the one before.

    Attributes
    ----------
    %(drawn)s

    Examples
    --------
    >>> from sktree_opt import DTsbeSelector, ErrorByFeaturesDisplay, load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> selector = DTsbeSelector(random_state=0).fit(X, y)
    >>> display = ErrorByFeaturesDisplay.from_estimator(selector)  # doctest: +SKIP
    """

    def __init__(
        self,
        n_features: ArrayLike,
        errors: ArrayLike,
        chosen: tuple[int, float],
        is_path: bool = False,
    ) -> None:
        self.n_features, self.errors = np.asarray(n_features), np.asarray(errors)
        self.chosen, self.is_path = chosen, is_path

    @classmethod
    def _read(cls, fitted):
        is_path = hasattr(fitted, "history_")
        check_is_fitted(fitted, "history_" if is_path else "acceptable_subsets_")
        found = fitted.history_ if is_path else fitted.acceptable_subsets_
        sizes = [len(one["features"]) for one in found]
        errors = [one["error"] for one in found]
        chosen = (len(fitted.get_support(indices=True)), fitted.error_)
        return sizes, errors, chosen, is_path

    def _draw(self, ax):
        ax.set(xlabel="features that the tree uses", ylabel="estimated error")
        line = "-" if self.is_path else "none"
        label = "steps" if self.is_path else "acceptable subsets"
        ax.plot(self.n_features, self.errors, color=BLUE, marker="o", ls=line, label=label)
        ax.plot(*self.chosen, **RING, label="selected")
        if self.is_path:
            # The search goes from all features to few.
            ax.invert_xaxis()
        ax.locator_params(axis="x", integer=True)
        ax.legend()


@document_display
class ParetoFrontDisplay(Display):
    """The pairs of errors that no tree betters in both, and the tree of the objective.

    ``from_estimator`` takes an OptimalTreeClassifier with a metric or a function as `objective`.

    Parameters
    ----------
    false_positives, false_negatives : array-like of float
        Weights of the errors, by rising false positives.

    chosen : int
        Position of the tree of the least objective.

    Attributes
    ----------
    %(drawn)s

    Examples
    --------
    >>> from sktree_opt import OptimalTreeClassifier, ParetoFrontDisplay, load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(objective="mcc", max_depth=2).fit(X, y)
    >>> display = ParetoFrontDisplay.from_estimator(tree)  # doctest: +SKIP
    """

    def __init__(self, false_positives: ArrayLike, false_negatives: ArrayLike, chosen: int) -> None:
        self.false_positives = np.asarray(false_positives)
        self.false_negatives, self.chosen = np.asarray(false_negatives), chosen

    @classmethod
    def _read(cls, fitted):
        check_is_fitted(fitted, "pareto_front_")
        front = fitted.pareto_front_
        chosen = int(np.argmin(front["loss"]))
        return front["false_positives"], front["false_negatives"], chosen

    def _draw(self, ax):
        ax.set(xlabel="false positives", ylabel="false negatives")
        x, y = self.false_positives, self.false_negatives
        ax.plot(x, y, drawstyle="steps-post", color=BLUE, lw=1)
        ax.plot(x, y, "o", color=BLUE, ms=4, label="no tree betters both errors")
        best = x[self.chosen], y[self.chosen]
        ax.plot(*best, **RING, label="best objective")
        ax.legend()


@document_display
class FeatureUseDisplay(Display):
    """In which share of a set of trees each feature is needed.

    ``from_estimator`` takes a TreeSetClassifier, a TreeSetRegressor, or an
    AcceptableSubsetSelector with `collect`, and reads its ``feature_reliance_``. Features that no
    tree needs are left out.

    Parameters
    ----------
    names : list of str
        Names of the features.

    shares : array-like of float
        Share of the trees that need each of them.

    n_trees : int
        Number of trees.

    Attributes
    ----------
    %(drawn)s

    See Also
    --------
    sktree_opt.optimal.TreeSetClassifier : ``feature_reliance_`` has the numbers.

    Examples
    --------
    >>> from sktree_opt import FeatureUseDisplay, TreeSetClassifier, load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> trees = TreeSetClassifier(max_depth=2, epsilon=0.05).fit(X, y)
    >>> display = FeatureUseDisplay.from_estimator(trees)  # doctest: +SKIP
    """

    def __init__(self, names: list[str], shares: ArrayLike, n_trees: int) -> None:
        self.names, self.shares, self.n_trees = names, np.asarray(shares), n_trees

    @classmethod
    def _read(cls, fitted):
        table = fitted.feature_reliance_
        table = table[table["share"] > 0.0]
        table = table[np.argsort(-table["share"], kind="stable")]
        is_selector = hasattr(fitted, "n_acceptable_")
        n_trees = fitted.n_acceptable_ if is_selector else fitted.n_trees_
        return table["name"].tolist(), table["share"], n_trees

    def _draw(self, ax):
        label = f"share of {self.n_trees:,} trees that rely on the feature"
        ax.set(xlabel=label)
        places = np.arange(len(self.names))
        colours = [GREEN if share == 1.0 else BLUE for share in self.shares]
        ax.barh(places, self.shares, color=colours)
        ax.set_yticks(places, self.names)
        ax.set_xlim(0.0, 1.0)
        ax.invert_yaxis()
