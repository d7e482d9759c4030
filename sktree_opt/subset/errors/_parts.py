"""Base class and parts of an error estimate: trees with the rows they are grown and tried on."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from sktree_opt.utils._compat import validate_parameter_constraints


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
        Cost of a wrong answer, or of a loss of 1, to each of them.
    """

    build_rows: np.ndarray
    build_weights: np.ndarray
    search_rows: np.ndarray
    search_weights: np.ndarray


@dataclass(frozen=True)
class EstimateRequest:
    """The data of a fit, as an estimate reads them.

    Attributes
    ----------
    y : ndarray of int or float
        Class codes, or numbers.

    weights : ndarray of float64
        Positive weights.

    groups : ndarray or None
        Group of each row of the user's table; rows of a group stay together.

    all_y : ndarray or None
        Labels of the user's table including rows of weight zero; None means `y`.

    kept_rows : ndarray of intp or slice
        Rows of the user's table that `y` has.

    random_state : int, RandomState or None
        Seed of the splits.

    is_classifier : bool
        Whether `y` has class codes.
    """

    y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None = None
    all_y: np.ndarray | None = None
    kept_rows: np.ndarray | slice = field(default_factory=lambda: slice(None))
    random_state: object = None
    is_classifier: bool = True

    def kept_groups(self):
        """Groups of the rows that `y` has."""
        return self.groups[self.kept_rows]

    def splits_of(self, splitter):
        """Pairs of building and search rows of a scikit-learn splitter.

        The splitter sees all rows of the user's table; rows of weight zero are dropped afterwards.
        """
        y = self.y if self.all_y is None else self.all_y
        place = np.full(len(y), -1, dtype=np.intp)
        place[self.kept_rows] = np.arange(len(self.y))
        for split in splitter.split(np.zeros((len(y), 1)), y, self.groups):
            try:
                rows_of_sides = [place[side] for side in split]
            except IndexError as error:
                raise ValueError(f"cv gives a row that X does not have: {error}") from None
            sides = tuple(rows[rows >= 0] for rows in rows_of_sides)
            self._check_groups(sides)
            yield sides

    def _check_groups(self, sides):
        """Refuse a split that divides a group: an iterable of splits knows no groups."""
        if self.groups is None:
            return
        groups = self.kept_groups()
        both = np.intersect1d(groups[sides[0]], groups[sides[1]])
        if both.size:
            raise ValueError(f"cv puts rows of the group {both[0]!r} on both sides of a split.")


class ErrorEstimate(ABC):
    """Base class of the error estimates.

    An estimate has parameters as a scikit-learn estimator has: ``get_params``, ``set_params``,
    ``clone`` and ``repr`` work. They are checked when it is used.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    # Whether rows are split, so that `groups` have a meaning.
    splits_rows: ClassVar[bool] = False
    # Whether the rows that a tree is tried on can be given to a scorer, each once.
    can_be_scored: ClassVar[bool] = True
    # Whether the training errors of each leaf are raised to C4.5's upper limit.
    is_pessimistic: ClassVar[bool] = False

    @abstractmethod
    def _make_parts(self, request):
        """The trees of the estimate, as a list of EstimatePart, for an EstimateRequest."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            For scikit-learn; no parameter of an estimate has parameters of its own.

        Returns
        -------
        params : dict
            Values by name.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : ErrorEstimate
            The estimate.
        """
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"Invalid parameter {name!r} for {self!r}.")
            setattr(self, name, value)
        return self

    def _validate_params(self):
        """Check the parameters, as scikit-learn's estimators do."""
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(), caller_name=type(self).__name__
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def make_part(request, build_rows, search_rows):
    """The part that grows on some rows and is tried on others; a row given k times counts so."""
    build_rows, build_counts = np.unique(np.asarray(build_rows, np.intp), return_counts=True)
    search_rows, search_counts = np.unique(np.asarray(search_rows, np.intp), return_counts=True)
    # Rows of a class of weight 0 do not count.
    if not np.any(request.weights[build_rows]) or not np.any(request.weights[search_rows]):
        raise ValueError(
            f"n_samples={len(request.y)} with a weight cannot be split into rows to grow trees on "
            "and rows to try them on. Give more rows, another split, or error='training'."
        )
    weights = request.weights
    return EstimatePart(
        build_rows,
        weights[build_rows] * build_counts,
        search_rows,
        weights[search_rows] * search_counts,
    )
