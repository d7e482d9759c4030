"""The error over the folds of a cross-validation."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._parts import make_part


class CrossValidationError:
    """The error over all folds of a cross-validation: one tree for each fold."""

    splits_rows = True

    def parts(self, request):
        """One part for each fold: stratified, shuffled, 5 of them unless the user says more."""
        rng = check_random_state(request.random_state)
        cv = 5 if request.cv is None else request.cv
        is_number = isinstance(cv, (int, np.integer))
        splits = integer_folds(request, cv, rng) if is_number else request.user_splits()
        parts = [make_part(request, *split) for split in splits]
        if not parts:
            raise ValueError("cv gives no split.")
        return parts


def integer_folds(request, n_folds, rng):
    """Pairs of training and test rows of so many folds, shuffled."""
    if request.groups is None:
        return stratified_folds(request.y, n_folds, rng)
    return group_folds(request, n_folds, rng)


def stratified_folds(y, n_folds, rng):
    """Pairs of training and test rows; rows of a class are dealt out to the folds in turn."""
    if n_folds < 2 or n_folds > len(y):
        raise ValueError(f"cv={n_folds} folds need at least 2 folds and as many rows.")
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    for fold in range(n_folds):
        in_fold = np.arange(len(y)) % n_folds == fold
        yield order[~in_fold], order[in_fold]


def group_folds(request, n_folds, rng):
    """The same with each group in one fold; by default there are no more folds than groups."""
    n_groups = len(np.unique(request.kept_groups()))
    if request.cv is None:
        n_folds = min(n_folds, n_groups)
    if not 2 <= n_folds <= n_groups:
        raise ValueError(
            f"cv={n_folds} folds need at least 2 folds and as many groups; {n_groups} are given."
        )
    seed = rng.randint(np.iinfo(np.int32).max)
    cv = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Classes of fewer rows than folds are taken as they come.
        warnings.filterwarnings("ignore", message="The least populated class")
        if np.bincount(request.y).max() < n_folds:
            cv = GroupKFold(n_folds, shuffle=True, random_state=seed)
        yield from replace(request, cv=cv).user_splits()
