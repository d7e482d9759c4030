"""The error of a tree by a scorer of scikit-learn: minus its mean score on the search rows."""

import math

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import column_or_1d

from sktree_opt.utils._compat import accepts_weights, safe_indexing
from sktree_opt.utils._params import warn_user
from sktree_opt.utils._validation import as_weights


class ScoredParts:
    """Rates a feature subset by a scorer, with a tree for each part of an error estimate.

    Parameters
    ----------
    scoring : str or callable
        As of the search.

    fit_on : callable
        Takes features and rows, and returns the tree that is grown on them.

    parts : list of EstimatePart

    data : tuple
        `X`, `y` and `sample_weight` as given to ``fit``.

    learner : Learner
        Whose rows the parts count.
    """

    def __init__(self, scoring, fit_on, parts, data, learner):
        X, y, sample_weight = data
        rows = np.arange(len(column_or_1d(y)))[learner.data.kept_rows]
        self._scoring, self._fit_on = scoring, fit_on
        self._scorer, self._sides = None, []
        for part in parts:
            for kept, counted in (
                (part.build_rows, part.build_weights),
                (part.search_rows, part.search_weights),
            ):
                if not np.array_equal(counted, learner.row_weights[kept]):
                    raise ValueError("scoring is not supported with a cv that repeats rows.")
            at = rows[part.search_rows]
            weights = None if sample_weight is None else as_weights(sample_weight, X)[at]
            side = safe_indexing(X, at), safe_indexing(column_or_1d(y), at), weights
            self._sides.append((part.build_rows, *side))

    def error(self, features):
        """Minus the mean score of the trees of some features.

        Parameters
        ----------
        features : ndarray of intp

        Returns
        -------
        error : float
        """
        return -sum(self._score(features, *side) for side in self._sides) / len(self._sides)

    def scale(self):
        """A power of two that is at least the error of the tree without features, and 1."""
        size = abs(self.error(np.empty(0, dtype=np.intp)))
        return 2.0 ** math.ceil(math.log2(max(1.0, size)))

    def _score(self, features, build_rows, X, y, weights):
        tree = self._fit_on(features, build_rows)
        if self._scorer is None:
            self._scorer = check_scoring(tree, scoring=self._scoring)
            if weights is not None and not accepts_weights(self._scorer):
                warn_user(f"scoring={self._scoring!r} takes no weights: all rows count the same.")
                self._sides = [(*side[:3], None) for side in self._sides]
                weights = None
        kept = {} if weights is None else {"sample_weight": weights}
        score = self._scorer(tree, X, y, **kept)
        if not np.isfinite(score):
            raise ValueError(f"scoring={self._scoring!r} gave {score}; a finite number is needed.")
        return float(score)
