"""The error over the folds of a cross-validation."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._parts import ErrorEstimate, make_part
from sktree_opt.utils._typing import CV


class CrossValidationError(ErrorEstimate):
    """The error over all folds of a cross-validation, with one tree for each fold.

    DT(S) then means the trees of all folds: two subsets count as the same if their trees are equal
    in every fold.

    Read more in the :ref:`User Guide <subset_search>`.

    Parameters
    ----------
    cv : int, cross-validation generator, iterable or None, default=None
        An int is the number of folds. They are stratified, by class or by the order of the numbers,
        and shuffled by the `random_state` of the selector. None means 5, or as many as there are
        groups if these are fewer. An iterable yields pairs of rows to grow on and rows to try the
        tree on; one pair is enough. Where `fit` is given `groups`, a group has to stay on one side
        of each split.

    See Also
    --------
    SearchError : The error on one random share of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt import CrossValidationError, DTsbeSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = DTsbeSelector(error=CrossValidationError(cv=10), random_state=0).fit(X, y)
    >>> selector.error_ < 0.1
    True
    """

    _parameter_constraints: ClassVar[dict] = {"cv": ["cv_object"]}

    splits_rows = True

    def __init__(self, cv: CV = None) -> None:
        self.cv = cv

    def _make_parts(self, request):
        """One part for each fold."""
        parts = [make_part(request, *split) for split in self._splits(request)]
        if not parts:
            raise ValueError("cv gives no split.")
        return parts

    def _splits(self, request):
        if self.cv is None:
            n_groups = np.inf if request.groups is None else len(np.unique(request.kept_groups()))
            return integer_folds(request, int(min(5, n_groups)))
        if isinstance(self.cv, int | np.integer):
            return integer_folds(request, self.cv)
        return request.splits_of(check_cv(self.cv, request.y, classifier=request.is_classifier))


def integer_folds(request, n_folds):
    """Pairs of building and search rows of `n_folds` shuffled folds."""
    rng = check_random_state(request.random_state)
    if request.groups is None:
        return stratified_folds(request.y, n_folds, rng)
    return group_folds(request, n_folds, rng)


def stratified_folds(y, n_folds, rng):
    """Pairs of building and search rows; rows are ordered by target and dealt out in turn."""
    if n_folds < 2 or n_folds > len(y):
        raise ValueError(f"cv must be between 2 and the number of rows ({len(y)}), got {n_folds}.")
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    for fold in range(n_folds):
        in_fold = np.arange(len(y)) % n_folds == fold
        yield order[~in_fold], order[in_fold]


def group_folds(request, n_folds, rng):
    """The same with each group in one fold."""
    n_groups = len(np.unique(request.kept_groups()))
    if n_groups < 2:
        raise ValueError("groups has one group, which cannot be on both sides of a split.")
    if not 2 <= n_folds <= n_groups:
        raise ValueError(
            f"cv must be between 2 and the number of groups ({n_groups}), got {n_folds}."
        )
    seed = rng.randint(np.iinfo(np.int32).max)
    if not request.is_classifier:
        yield from request.splits_of(GroupKFold(n_folds, shuffle=True, random_state=seed))
        return
    cv = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Classes of fewer rows than folds are allowed.
        warnings.filterwarnings("ignore", message="The least populated class")
        if np.bincount(request.y).max() < n_folds:
            cv = GroupKFold(n_folds, shuffle=True, random_state=seed)
        yield from request.splits_of(cv)
