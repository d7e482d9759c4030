"""C4.5's estimate of the error from the training rows."""

from sktree_opt.subset.errors._training import TrainingError


class PessimisticTrainingError(TrainingError):
    """C4.5's estimate: the training errors of each leaf, raised to an upper confidence limit.

    The errors and cases of a leaf are those of the growing, fractional cases included. The
    confidence is the parameter `confidence` of the trees.

    Read more in the :ref:`User Guide <subset_search>`.

    See Also
    --------
    TrainingError : The training error as it is.

    References
    ----------
    .. [1] J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993, section 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import AcceptableSubsetSelector, PessimisticTrainingError
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = AcceptableSubsetSelector(error=PessimisticTrainingError()).fit(X, y)
    >>> selector.error_ > 0.0
    True
    """

    is_pessimistic = True
    can_be_scored = False
