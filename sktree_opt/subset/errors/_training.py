"""The error on the rows that a tree is grown on."""

import numpy as np

from sktree_opt.subset.errors._parts import ErrorEstimate, make_part


class TrainingError(ErrorEstimate):
    """The error on the rows that the trees are grown on.

    Read more in the :ref:`User Guide <subset_search>`.

    See Also
    --------
    PessimisticTrainingError : C4.5's upper limit of the training error.

    Examples
    --------
    >>> from sktree_opt import AcceptableSubsetSelector, TrainingError
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> selector = AcceptableSubsetSelector(error=TrainingError()).fit(X, y)
    >>> selector.error_, selector.n_features_
    (0.0, 1)
    """

    def _make_parts(self, request):
        """One part that grows on all rows and is tried on all rows."""
        rows = np.arange(len(request.y))
        return [make_part(request, rows, rows)]
