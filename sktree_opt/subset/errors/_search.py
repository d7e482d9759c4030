"""The error on rows that are kept back from growing."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._parts import ErrorEstimate, make_part
from sktree_opt.utils._compat import Interval


class SearchError(ErrorEstimate):
    """The error on a share of the rows that is kept back from growing the trees.

    The rows are split once, stratified by class or by the order of the numbers, or with each group
    on one side where `fit` is given `groups`. This is the wrapper model, and the estimate of [1]_.
    For a split of your own, use ``CrossValidationError(cv=[(build, search)])``.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    size : float, default=0.3
        Share of the rows that is kept back.

    See Also
    --------
    CrossValidationError : The error over several splits, or over your own.

    References
    ----------
    .. [1] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import DTsbeSelector, SearchError
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = DTsbeSelector(error=SearchError(size=0.25), random_state=0).fit(X, y)
    >>> selector.error_ < 0.1
    True
    """

    _parameter_constraints: ClassVar[dict] = {"size": [Interval(Real, 0, 1, closed="neither")]}

    splits_rows = True

    def __init__(self, size: float = 0.3) -> None:
        self.size = size

    def _make_parts(self, request):
        """One part."""
        rng = check_random_state(request.random_state)
        if request.groups is None:
            return [make_part(request, *stratified_split(request.y, self.size, rng))]
        if len(np.unique(request.kept_groups())) < 2:
            raise ValueError("groups has one group, which cannot be on both sides of a split.")
        cv = GroupShuffleSplit(1, test_size=self.size, random_state=rng)
        return [make_part(request, *split) for split in request.splits_of(cv)]


def stratified_split(y, search_size, rng):
    """Building and search rows: each class gives its share to the search rows, to within one row.

    Rows are shuffled, ordered by class or number, and picked at equal steps. Unlike scikit-learn's
    splitters this accepts classes with a single row.
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    start = rng.uniform()
    steps = np.floor(np.arange(len(y) + 1) * search_size + start)
    is_search = np.diff(steps) > 0
    if is_search.all() == is_search.any() and min(search_size, 1.0 - search_size) * len(y) >= 0.5:
        # With few rows, one side may be empty by chance.
        is_search[rng.randint(len(y))] ^= True
    return order[~is_search], order[is_search]
