"""Tests of several columns at once: differences, ratios and fixed directions as new columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations as pairs_of
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sktree_opt.preprocessing._encoder import NOMINAL, TableEncoder
from sktree_opt.utils._compat import (
    DocLinkMixin,
    Interval,
    StrOptions,
    check_feature_names_in,
    fit_context,
)
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import document_shared
from sktree_opt.utils._validation import check_classes, check_shape, encode_new_rows

# A column whose part of a direction is below this share of the largest part is left out.
LEAST_PART = 0.01


class Difference:
    """One column less another, for every two."""

    needs_classes = False

    @staticmethod
    def fit(rows, labels, digits):
        """The pairs of columns."""
        return list(pairs_of(range(rows.shape[1]), 2))

    @staticmethod
    def name(pair, names):
        """First - second."""
        return f"{names[pair[0]]} - {names[pair[1]]}"

    @staticmethod
    def values(pair, rows):
        """The new column."""
        return rows[:, pair[0]] - rows[:, pair[1]]


class Ratio(Difference):
    """One column divided by another, for every two; missing where the divisor is 0."""

    @staticmethod
    def name(pair, names):
        """First / second."""
        return f"{names[pair[0]]} / {names[pair[1]]}"

    @staticmethod
    def values(pair, rows):
        """The new column."""
        first, second = rows[:, list(pair)].T
        return np.divide(first, second, out=np.full(len(rows), np.nan), where=second != 0)


class Direction:
    """A weighted sum of all columns; the weights are rounded, so that the name tells the truth.

    Subclasses define ``directions(rows, labels)``: the weights of standardised columns, one row for
    each direction.
    """

    needs_classes = True
    directions: ClassVar[Callable]

    @classmethod
    def fit(cls, rows, labels, digits):
        """Rounded weights of each direction; the largest is 1."""
        known = ~np.isnan(rows).any(axis=1)
        if len(np.unique(labels[known])) < 2:
            raise ValueError("Directions need rows of two classes without missing values.")
        spread = rows[known].std(axis=0)
        varies = spread > 0.0
        if not varies.any():
            return []
        scaled = (rows[known][:, varies] - rows[known][:, varies].mean(axis=0)) / spread[varies]
        found = []
        for parts in cls.directions(scaled, labels[known]):
            weights = np.zeros(rows.shape[1])
            is_kept = np.abs(parts) >= LEAST_PART * np.abs(parts).max()
            weights[varies] = np.where(is_kept, parts, 0.0) / spread[varies]
            largest = weights[np.abs(weights).argmax()]
            if largest != 0.0:
                found.append([float(f"{w:.{digits}g}") for w in weights / largest])
        return found

    @staticmethod
    def name(weights, names):
        """The sum, such as ``a - 0.5 b``."""
        text = ""
        for weight, name in zip(weights, names, strict=True):
            if weight != 0.0:
                sign = (" - " if weight < 0 else " + ") if text else ("-" if weight < 0 else "")
                size = "" if abs(weight) == 1.0 else f"{abs(weight):g} "
                text += f"{sign}{size}{name}"
        return text

    @staticmethod
    def values(weights, rows):
        """The new column; a value that is missing counts only where it has a weight."""
        used = np.flatnonzero(weights)
        return rows[:, used] @ np.asarray(weights)[used]


class Discriminant(Direction):
    """The directions of a linear discriminant analysis."""

    @staticmethod
    def directions(rows, labels):
        """At most one less than there are classes."""
        analysis = LinearDiscriminantAnalysis().fit(rows, labels)
        n_directions = min(len(analysis.classes_) - 1, analysis.scalings_.shape[1])
        return analysis.scalings_.T[:n_directions]


class Logistic(Direction):
    """The directions of a logistic regression: one for two classes, else one for each class."""

    @staticmethod
    def directions(rows, labels):
        """Coefficients."""
        return LogisticRegression(max_iter=1000).fit(rows, labels).coef_


COMBINATIONS: dict[str, Any] = {
    "difference": Difference,
    "ratio": Ratio,
    "discriminant": Discriminant,
    "logistic": Logistic,
}


@document_shared
class ColumnCombiner(DocLinkMixin, TransformerMixin, BaseEstimator):
    """Add columns that combine numeric ones, for tests of several columns at once.

    The trees of this package test one column at a time. A test such as ``a - b <= 0`` or
    ``0.3 a + b <= 2`` becomes a test of one column when the difference, the ratio or the weighted
    sum is a column of its own. The names of the new columns say what they are, so that exports and
    explanations stay readable. An optimal tree is then optimal among trees of these tests too, not
    among trees of all weighted sums.

    Read more in the :ref:`User Guide <combined_columns>`.

    Parameters
    ----------
    combinations : str or list of str, default="difference"
        What to add: "difference" or "ratio" of every two columns; "discriminant", the directions of
        a linear discriminant analysis; "logistic", those of a logistic regression. The last two
        need classes.

    keep_columns : bool, default=True
        Whether the columns themselves come first.

    digits : int, default=3
        Significant digits of the weights of a direction. The column is computed from the rounded
        weights, which are those of its name.

    Attributes
    ----------
    combined_ : list of (str, object)
        The kind of each new column, and what it is made of: the two columns, or the weights.

    %(columns_seen)s

    See Also
    --------
    MDLPDiscretizer : Intervals of single columns.
    sklearn.compose.ColumnTransformer : Combines some columns and passes the others through.

    Notes
    -----
    A combination of a missing value is missing, and so is a ratio whose divisor is 0. Directions
    are found on rows without missing values; columns that add less than 1 % of the largest part are
    left out of them.

    Examples
    --------
    >>> from sktree_opt import ColumnCombiner, OptimalTreeClassifier
    >>> from sktree_opt.export import export_text
    >>> X, y = [[1, 2], [3, 1], [5, 9], [8, 7], [2, 3], [4, 1]], [0, 1, 0, 1, 0, 1]
    >>> combiner = ColumnCombiner()
    >>> tree = OptimalTreeClassifier(max_depth=1).fit(combiner.fit_transform(X), y)
    >>> print(export_text(tree, feature_names=combiner.get_feature_names_out()))
    x0 - x1 <= 0: 0 (3)
    x0 - x1 > 0: 1 (3)
    A missing value takes the last branch of a test.
    <BLANKLINE>
    """

    combined_: list[tuple[str, Any]]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _parameter_constraints: ClassVar[dict] = {
        "combinations": [StrOptions(set(COMBINATIONS)), list, tuple],
        "keep_columns": ["boolean"],
        "digits": [Interval(Integral, 1, 15, closed="both")],
    }

    def __init__(
        self,
        combinations: Literal["difference", "ratio", "discriminant", "logistic"]
        | Sequence[str] = "difference",
        *,
        keep_columns: bool = True,
        digits: int = 3,
    ) -> None:
        self.combinations = combinations
        self.keep_columns = keep_columns
        self.digits = digits

    @property
    def _kinds(self):
        """The names of the combinations."""
        given = self.combinations
        return [given] if isinstance(given, str) else list(given)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the combinations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or ordered categories, which count as their codes; NaN is missing.

        y : array-like of shape (n_samples,) or None, default=None
            Class labels, for directions.

        Returns
        -------
        self : ColumnCombiner
            The fitted transformer.
        """
        unknown = [kind for kind in self._kinds if kind not in COMBINATIONS]
        if unknown:
            names = ", ".join(map(repr, COMBINATIONS))
            raise ValueError(f"combinations must be among {names}, got {unknown[0]!r}.")
        with all_or_nothing(self):
            if sparse.issparse(X) or (y is None and self._needs_classes):
                # scikit-learn's own message.
                validate_data(self, X, y)
            self._encoder = TableEncoder()
            rows = self._encoder.fit_transform(X)
            for name, kind in zip(self._encoder.feature_names_, self._encoder.kinds_, strict=True):
                if kind == NOMINAL:
                    raise ValueError(f"Column {name!r} holds categories without an order.")
            check_shape(rows, self)
            validate_data(self, X, skip_check_array=True)
            labels = None
            if self._needs_classes:
                check_consistent_length(X, y)
                labels, _ = check_classes(y)
            self.combined_ = [
                (kind, parts)
                for kind in self._kinds
                for parts in COMBINATIONS[kind].fit(rows, labels, self.digits)
            ]
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Combine columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or ordered categories, which count as their codes; NaN is missing.

        Returns
        -------
        Xt : ndarray of shape (n_samples, n_features_out)
            The columns, if they are kept, and the combinations.
        """
        check_is_fitted(self, "combined_")
        rows = encode_new_rows(self, X)
        columns = list(rows.T) if self.keep_columns else []
        with np.errstate(over="ignore", invalid="ignore"):
            columns += [COMBINATIONS[kind].values(parts, rows) for kind, parts in self.combined_]
        if not columns:
            return np.empty((len(rows), 0))
        combined = np.column_stack(columns)
        # Numbers beyond the largest float are missing.
        combined[np.isinf(combined)] = np.nan
        return combined

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns that ``transform`` makes.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of `X`; None for those seen in `fit`, or x0, x1 and so on.

        Returns
        -------
        names : ndarray of str objects
            Such as ``a - b``, ``a / b`` and ``a - 0.52 b``.
        """
        check_is_fitted(self, "combined_")
        names = list(check_feature_names_in(self, input_features))
        combined = [COMBINATIONS[kind].name(parts, names) for kind, parts in self.combined_]
        return np.array([*(names if self.keep_columns else []), *combined], dtype=object)

    @property
    def _needs_classes(self):
        """Whether some combination is a direction between classes."""
        return any(COMBINATIONS[kind].needs_classes for kind in self._kinds if kind in COMBINATIONS)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._needs_classes
        return tags
