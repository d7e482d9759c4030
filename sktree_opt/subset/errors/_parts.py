"""What an error estimate is made of: trees, each with the rows it is grown and tried on."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import check_cv


@dataclass(frozen=True)
class EstimatePart:
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
    return EstimatePart(
        build_rows,
        weights[build_rows] * build_counts,
        search_rows,
        weights[search_rows] * search_counts,
    )
