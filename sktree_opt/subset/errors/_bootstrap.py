"""The .632 bootstrap."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._parts import ErrorEstimate, EstimatePart, make_part
from sktree_opt.utils._compat import Interval

OUT_OF_BAG_SHARE = 0.632


class BootstrapError(ErrorEstimate):
    """The .632 bootstrap: .632 times the out-of-bag error plus .368 times the training error.

    The out-of-bag error is the mean over trees that are each grown on a bootstrap sample and tried
    on the rows that are not in it.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    n_bootstraps : int, default=10
        Number of bootstrap samples.

    See Also
    --------
    CrossValidationError : The error over folds.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model
       selection", IJCAI 1995, section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import BootstrapError, DTsbeSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = DTsbeSelector(error=BootstrapError(n_bootstraps=30), random_state=0).fit(X, y)
    >>> selector.error_ < 0.1
    True
    """

    can_be_scored = False

    _parameter_constraints: ClassVar[dict] = {
        "n_bootstraps": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, n_bootstraps: int = 10) -> None:
        self.n_bootstraps = n_bootstraps

    def _make_parts(self, request):
        """`n_bootstraps` resampled parts, and one of all rows."""
        rng = check_random_state(request.random_state)
        n_rows = len(request.y)
        rows = np.arange(n_rows)
        resampled = []
        for _ in range(self.n_bootstraps):
            counts = np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows)
            build, out_of_bag = np.flatnonzero(counts), np.flatnonzero(counts == 0)
            if not np.any(request.weights[out_of_bag]) or not np.any(request.weights[build]):
                continue
            part = make_part(request, build, out_of_bag)
            share = OUT_OF_BAG_SHARE / part.search_weights.sum()
            resampled.append(
                EstimatePart(
                    build,
                    part.build_weights * counts[build],
                    out_of_bag,
                    part.search_weights * share,
                )
            )
        if not resampled:
            raise ValueError(f"No bootstrap sample of {n_rows} rows leaves rows to try a tree on.")
        of_one = 1.0 / len(resampled)
        parts = [
            EstimatePart(p.build_rows, p.build_weights, p.search_rows, p.search_weights * of_one)
            for p in resampled
        ]
        share = (1.0 - OUT_OF_BAG_SHARE) / request.weights.sum()
        parts.append(EstimatePart(rows, request.weights, rows, request.weights * share))
        return parts
