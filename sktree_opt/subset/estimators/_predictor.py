"""Shared part of the searches: answers for new rows, of a classification or a regression tree."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if

from sktree_opt.greedy import GreedyTreeRegressor
from sktree_opt.tree._mixin import TreeClassifierMixin, TreeRegressorMixin
from sktree_opt.utils._typing import TableLike


def has_classes(search):
    """Whether the trees of a search answer classes; raises where they answer numbers."""
    if search._is_regression:
        raise AttributeError(
            f"{type(search).__name__} has no probabilities, because its trees answer numbers."
        )
    return True


class SubsetPredictorMixin(TreeClassifierMixin):
    """A classifier or a regressor, as the trees that `estimator` asks for."""

    estimator: Any

    @property
    def _is_regression(self):
        """Whether the trees answer numbers."""
        return isinstance(self.estimator, GreedyTreeRegressor)

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Predict the class, or the number, of each row.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels, or the means of the rows' leaves.
        """
        if self._is_regression:
            return TreeRegressorMixin.predict(self, X)
        return super().predict(X)

    def score(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the answers, or the coefficient of determination for numbers.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        y : array-like of shape (n_samples,)
            Labels or numbers.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        score : float
            At most 1.
        """
        if self._is_regression:
            return RegressorMixin.score(self, X, y, sample_weight)
        return super().score(X, y, sample_weight)

    predict_proba = available_if(has_classes)(TreeClassifierMixin.predict_proba)
    predict_log_proba = available_if(has_classes)(TreeClassifierMixin.predict_log_proba)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self._is_regression:
            tags.estimator_type, tags.classifier_tags = "regressor", None
            tags.regressor_tags = RegressorTags(poor_score=False)
        else:
            tags.classifier_tags.poor_score = False
        return tags
