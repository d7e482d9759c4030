"""Error estimators: on which rows trees are grown, and on which they are tried.

An estimate is a list of parts. A part grows DT(S) on its building rows and counts the weight of its
search rows that the tree gets wrong; the error of S is the sum over the parts, by the weight of all
search rows. The parts of S stand side by side like the subtrees of one tree, so everything the
searches know about a tree (Lemma 6, shared subtrees, bounds at nodes) holds for any list.

To add an estimator: a class with ``parts``, and one line in ``ERROR_ESTIMATORS``.
"""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    StratifiedGroupKFold,
    check_cv,
)
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Part:
    """A tree of an estimate.

    Attributes
    ----------
    build_rows : ndarray of intp
        Increasing indices of the rows that the tree is grown on.

    build_weights : ndarray of float64
        Their weights.

    search_rows : ndarray of intp
        Increasing indices of the rows that the tree is tried on.

    search_weights : ndarray of float64
        What a wrong answer to each of them costs.
    """

    build_rows: np.ndarray
    build_weights: np.ndarray
    search_rows: np.ndarray
    search_weights: np.ndarray


@dataclass(frozen=True)
class EstimateRequest:
    """What an error estimator is told.

    Attributes
    ----------
    y : ndarray of int
        Class codes.

    weights : ndarray of float64
        Positive weights.

    groups : ndarray or None
        Rows of a group stay together.

    search_size : float
        Share of the rows that trees are tried on, where the rows are split once.

    cv : int, splitter, iterable or None
        The user's way to split rows.

    all_y : ndarray or None
        Labels of the user's rows, with those of weight zero; None if there are none of those.

    kept_rows : ndarray of intp or slice
        Which of the user's rows are here.

    n_bootstraps : int
        Number of resamples.

    random_state : int, RandomState or None
        Seed of the splits.
    """

    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None = None
    search_size: float = 0.3
    cv: object = None
    all_y: np.ndarray | None = None
    kept_rows: np.ndarray | slice = field(default_factory=lambda: slice(None))
    n_bootstraps: int = 10
    random_state: object = None

    def kept_groups(self):
        """Groups of the rows that are here."""
        return self.groups[self.kept_rows]

    def user_splits(self):
        """Splits of the user's splitter, which sees all of the user's rows."""
        y = self.y if self.all_y is None else self.all_y
        place = np.full(len(y), -1, dtype=np.intp)
        place[self.kept_rows] = np.arange(len(self.y))
        splitter = check_cv(self.cv, y, classifier=True)
        for split in splitter.split(np.zeros((len(y), 1)), y, self.groups):
            try:
                rows_of_sides = [place[side] for side in split]
            except IndexError as error:
                raise ValueError(f"cv gives a row that X does not have: {error}") from None
            sides = tuple(rows[rows >= 0] for rows in rows_of_sides)
            self._check_groups(sides)
            yield sides

    def _check_groups(self, sides):
        """Refuse splits of a group, as by an iterable, which is not told of groups."""
        if self.groups is None:
            return
        groups = self.kept_groups()
        both = np.intersect1d(groups[sides[0]], groups[sides[1]])
        if both.size:
            raise ValueError(f"cv puts rows of the group {both[0]!r} on both sides of a split.")


def make_part(request, build_rows, search_rows):
    """The part that grows on some rows and is tried on others; a row given k times counts so."""
    build_rows, build_counts = np.unique(np.asarray(build_rows, np.intp), return_counts=True)
    search_rows, search_counts = np.unique(np.asarray(search_rows, np.intp), return_counts=True)
    # A class of weight 0 counts for nothing.
    if not np.any(request.weights[build_rows]) or not np.any(request.weights[search_rows]):
        raise ValueError(
            f"n_samples = {len(request.y)} with a weight cannot be split into rows to grow trees "
            "on and rows to try them on: give more rows or another search_size or cv, or use "
            "error='training'."
        )
    weights = request.weights
    return Part(
        build_rows,
        weights[build_rows] * build_counts,
        search_rows,
        weights[search_rows] * search_counts,
    )


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


class TrainingError:
    """The error on the rows that the tree is grown on."""

    splits_rows = False

    def parts(self, request):
        """One part that grows on all rows and is tried on all rows."""
        rows = np.arange(len(request.y))
        return [make_part(request, rows, rows)]


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


class BootstrapError:
    """The .632 bootstrap: out-of-bag error of resampled trees, and training error of one tree.

    R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model
    selection", IJCAI 1995, section 3.2.
    """

    splits_rows = False
    OUT_OF_BAG_SHARE = 0.632

    def parts(self, request):
        """`n_bootstraps` resampled parts, and one of all rows."""
        rng = check_random_state(request.random_state)
        n_rows = len(request.y)
        rows = np.arange(n_rows)
        resampled = []
        for _ in range(request.n_bootstraps):
            counts = np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows)
            build, out_of_bag = np.flatnonzero(counts), np.flatnonzero(counts == 0)
            if not np.any(request.weights[out_of_bag]) or not np.any(request.weights[build]):
                continue
            part = make_part(request, build, out_of_bag)
            share = self.OUT_OF_BAG_SHARE / part.search_weights.sum()
            resampled.append(
                Part(
                    build,
                    part.build_weights * counts[build],
                    out_of_bag,
                    part.search_weights * share,
                )
            )
        if not resampled:
            raise ValueError(f"{n_rows} rows leave none out of a bootstrap sample.")
        of_one = 1.0 / len(resampled)
        parts = [
            Part(p.build_rows, p.build_weights, p.search_rows, p.search_weights * of_one)
            for p in resampled
        ]
        share = (1.0 - self.OUT_OF_BAG_SHARE) / request.weights.sum()
        parts.append(Part(rows, request.weights, rows, request.weights * share))
        return parts


class PessimisticError(TrainingError):
    """C4.5's estimate: the training errors of each leaf, raised to an upper confidence limit.

    J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993, section 4.2. The errors and cases of
    a leaf are those of the growing, fractional cases included; no row is sent down the tree.
    """


ERROR_ESTIMATORS = {
    "search": SearchError(),
    "training": TrainingError(),
    "cross_validation": CrossValidationError(),
    "bootstrap": BootstrapError(),
    "pessimistic": PessimisticError(),
}
