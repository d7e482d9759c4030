"""The error on rows that are kept back from growing."""

from dataclasses import replace

import numpy as np
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._cross_validation import integer_folds
from sktree_opt.subset.errors._parts import make_part


def stratified_split(y, search_size, rng):
    """Building and search rows: each class gives its share to the search rows, to within one row.

    Rows are shuffled, ordered by class, and picked at equal steps. Unlike scikit-learn's splitters
    this takes classes with a single row as they come.
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    start = rng.uniform()
    steps = np.floor(np.arange(len(y) + 1) * search_size + start)
    is_search = np.diff(steps) > 0
    if is_search.all() == is_search.any() and min(search_size, 1.0 - search_size) * len(y) >= 0.5:
        # Of few rows chance may leave none to one side.
        is_search[rng.randint(len(y))] ^= True
    return order[~is_search], order[is_search]


class SearchError:
    """One split of the rows: the wrapper model, the paper's estimate."""

    # Whether `cv` and `groups` mean something.
    splits_rows = True

    def parts(self, request):
        """One part: stratified, by groups, or the first split of the user's splitter."""
        rng = check_random_state(request.random_state)
        if isinstance(request.cv, (int, np.integer)):
            split = next(integer_folds(request, request.cv, rng))
        elif request.cv is not None:
            split = first_split(request)
        elif request.groups is not None:
            if len(np.unique(request.kept_groups())) < 2:
                raise ValueError("groups has one group, which cannot be on both sides of a split.")
            cv = GroupShuffleSplit(1, test_size=request.search_size, random_state=rng)
            split = first_split(replace(request, cv=cv))
        else:
            split = stratified_split(request.y, request.search_size, rng)
        return [make_part(request, *split)]


def first_split(request):
    """The first of the user's splits."""
    for split in request.user_splits():
        return split
    raise ValueError("cv gives no split.")
