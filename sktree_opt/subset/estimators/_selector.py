"""Shared part of the two selectors: from rows to the selected columns, and back."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from sktree_opt.utils._compat import output_of
from sktree_opt.utils._typing import TableLike


class SubsetSelectorMixin(SelectorMixin):
    """scikit-learn's selector, also for tables with missing values and for polars frames."""

    def transform(self, X: TableLike) -> Any:
        """Select columns.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        X_selected : array or dataframe of shape (n_samples, n_selected_features)
            The rows with the selected columns. With ``set_output(transform="polars")`` columns of a
            polars frame keep their types, as those of a pandas frame do with "pandas".
        """
        if output_of(self) == "polars" and nw.dependencies.is_polars_dataframe(X):
            check_is_fitted(self)
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, np.flatnonzero(self.get_support()).tolist()]
        return super().transform(X)

    def inverse_transform(self, X: TableLike) -> NDArray[Any] | sparse.sparray | sparse.spmatrix:
        """Put selected columns back to their places, with zeros in the other columns.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_selected_features)
            Rows with the selected columns; missing values stay missing.

        Returns
        -------
        X_original : array of shape (n_samples, n_features)
            The rows with all columns.
        """
        if sparse.issparse(X):
            return super().inverse_transform(X)
        support = self.get_support()
        X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_features=0)
        if X.shape[1] != support.sum():
            raise ValueError(f"X has {X.shape[1]} columns, but {support.sum()} were selected.")
        rows = np.zeros((len(X), len(support)), dtype=X.dtype)
        rows[:, support] = X
        return rows

    def _get_support_mask(self):
        check_is_fitted(self, "support_")
        return self.support_
