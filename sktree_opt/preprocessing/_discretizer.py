"""Numeric columns as intervals that tell the classes apart."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.preprocessing._encoder import NOMINAL, TableEncoder
from sktree_opt.preprocessing._mdlp import mdlp_cuts
from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._compat import DocLinkMixin, StrOptions, check_feature_names_in, fit_context
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import document_shared
from sktree_opt.utils._validation import (
    check_classes,
    check_shape,
    check_weights,
    encode_new_rows,
)


class Ordinal:
    """The number of the interval, from 0; NaN stays."""

    @staticmethod
    def names(name, thresholds):
        """The column's own name."""
        return [name]

    @staticmethod
    def encode(values, thresholds):
        """Count the thresholds below each value."""
        places = np.searchsorted(thresholds, values, side="left").astype(np.float64)
        return np.where(np.isnan(values), np.nan, places)[:, np.newaxis]


class OneHot:
    """A column for each interval; NaN is in none."""

    @staticmethod
    def names(name, thresholds):
        """The column's name and the number of the interval."""
        return [f"{name}_{place}" for place in range(len(thresholds) + 1)]

    @staticmethod
    def encode(values, thresholds):
        """Compare the number of the interval with all."""
        places = Ordinal.encode(values, thresholds)
        return (places == np.arange(len(thresholds) + 1)).astype(np.float64)


class Thresholds:
    """A column for each threshold, 1 for values not above it; NaN stays."""

    @staticmethod
    def names(name, thresholds):
        """The test, with all digits of the threshold."""
        return [f"{name}<={threshold!r}" for threshold in thresholds.tolist()]

    @staticmethod
    def encode(values, thresholds):
        """Compare each value with all thresholds."""
        values = values[:, np.newaxis]
        return np.where(np.isnan(values), np.nan, values <= thresholds)


ENCODINGS: dict[str, Any] = {"ordinal": Ordinal, "onehot": OneHot, "thresholds": Thresholds}


@document_shared
class MDLPDiscretizer(DocLinkMixin, TransformerMixin, BaseEstimator):
    """Cut numeric columns into intervals where the classes change, and nowhere else.

    Each column is cut at the threshold with the lowest class entropy, then both parts are cut in
    the same way. The cutting stops when it no longer shortens the description of the classes: the
    minimum description length principle of Fayyad and Irani [1]_. A column that is unrelated to the
    classes is not cut.

    Read more in the :ref:`User Guide <discretization>`.

    Parameters
    ----------
    encode : {"ordinal", "onehot", "thresholds"}, default="ordinal"
        What ``transform`` returns for each column. "ordinal" gives the number of the interval, from
        0. "onehot" gives a column for each interval, with 1 for the rows inside. "thresholds" gives
        a column for each threshold, with 1 for the rows that are not above it.

    sparse_output : bool, default=False
        Whether ``transform`` returns a sparse matrix (CSR); not for "ordinal".

    Attributes
    ----------
    thresholds_ : list of ndarray
        By column, the thresholds in ascending order, decimals between two values of the training
        data: a row is below if its value is less or equal.

    n_bins_ : ndarray of int64, shape (n_features,)
        Intervals of each column.

    %(columns_seen)s

    See Also
    --------
    sklearn.preprocessing.KBinsDiscretizer : Intervals that do not look at the classes.
    sktree_opt.optimal.OptimalTreeClassifier : Takes such thresholds by ``thresholds="mdlp"``.

    Notes
    -----
    A weight counts as so many rows: weights that sum to 1 are less than two rows, and nothing is
    cut for them. `fit` ignores missing values (NaN). ``transform`` leaves them missing; with
    "onehot" such a row is in none of the column's intervals.

    References
    ----------
    .. [1] U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued
       Attributes for Classification Learning", IJCAI 1993, pages 1022-1027.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.preprocessing import MDLPDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> discretizer = MDLPDiscretizer().fit(X, y)
    >>> [thresholds.round(2).tolist() for thresholds in discretizer.thresholds_]
    [[5.55, 6.15], [2.95, 3.35], [2.0, 4.75], [0.8, 1.75]]
    >>> discretizer.transform([[5.0, 3.0, 4.8, 0.8]])
    array([[0., 1., 2., 0.]])
    """

    thresholds_: list[NDArray[np.float64]]
    n_bins_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _parameter_constraints: ClassVar[dict] = {
        "encode": [StrOptions(set(ENCODINGS))],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        *,
        encode: Literal["ordinal", "onehot", "thresholds"] = "ordinal",
        sparse_output: bool = False,
    ) -> None:
        self.encode = encode
        self.sparse_output = sparse_output

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the thresholds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or ordered categories, which count as their codes; NaN is missing.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones.

        Returns
        -------
        self : MDLPDiscretizer
            The fitted transformer.
        """
        if self.sparse_output and self.encode == "ordinal":
            raise ValueError("sparse_output=True has no meaning for encode='ordinal'.")
        with all_or_nothing(self):
            if y is None or sparse.issparse(X):
                # scikit-learn's own message.
                validate_data(self, X, y)
            # This reader names the column of a cell that is not a number.
            self._encoder = TableEncoder()
            rows = self._encoder.fit_transform(X)
            for name, kind in zip(self._encoder.feature_names_, self._encoder.kinds_, strict=True):
                if kind == NOMINAL:
                    raise ValueError(f"Column {name!r} holds categories without an order.")
            check_shape(rows, self)
            check_consistent_length(X, y)
            validate_data(self, X, skip_check_array=True)
            labels, classes = check_classes(y)
            weights, kept_rows = check_weights(sample_weight, rows)
            table = Table.from_matrix(rows[kept_rows])
            self.thresholds_ = [
                midpoints(table.values[j][codes], table.values[j][codes + 1])
                for j, codes in enumerate(
                    mdlp_codes(table, labels[kept_rows], weights[kept_rows], len(classes))
                )
            ]
            self.n_bins_ = np.array([len(t) + 1 for t in self.thresholds_], dtype=np.int64)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64] | sparse.csr_array:
        """Encode the intervals of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or ordered categories, which count as their codes; NaN is missing.

        Returns
        -------
        Xt : {ndarray, sparse matrix} of shape (n_samples, n_encoded)
            As `encode` says, float64.
        """
        check_is_fitted(self)
        rows = encode_new_rows(self, X)
        encoding = ENCODINGS[self.encode]
        blocks = [
            encoding.encode(rows[:, j], thresholds) for j, thresholds in enumerate(self.thresholds_)
        ]
        if self.sparse_output:
            return sparse.hstack([sparse.csc_array(block) for block in blocks], format="csr")
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns that ``transform`` makes.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of `X`; None for those seen in `fit`, or x0, x1 and so on.

        Returns
        -------
        names : ndarray of str objects
            "ordinal": the same names; "onehot": followed by the number of the interval, as in
            ``x0_1``; "thresholds": by the threshold, as in ``x0<=2.5``.
        """
        check_is_fitted(self, "n_features_in_")
        names = check_feature_names_in(self, input_features)
        encoding = ENCODINGS[self.encode]
        encoded = [
            name
            for given, thresholds in zip(names, self.thresholds_, strict=True)
            for name in encoding.names(given, thresholds)
        ]
        return np.array(encoded, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def mdlp_codes(table, labels, weights, n_classes, control=None):
    """By column of a table, the last code below each cut; fewer cuts after a stop of `control`."""
    control = SearchControl() if control is None else control
    return [
        np.empty(0, dtype=np.int64)
        if control.poll()
        else mdlp_cuts(table, j, labels, weights, n_classes, control)
        for j in range(table.n_columns)
    ]
