"""Distinct trees one by one, for as long as somebody asks for them."""

import warnings
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.greedy import GreedyTreeClassifier


class TreeIterator:
    """What ``DistinctTreeEnumerator.iter_trees`` returns.

    The iteration can be left and taken up again at any time. Where a limit ends it there is a
    ``ConvergenceWarning``, and `resume` goes on behind the last tree.

    Parameters
    ----------
    search : Search
        The data and the control of the search.

    run : CompleteRun or DistinctStream
        The search, not begun.

    make_pieces : callable
        Trees of `run` as lists, from where it stands.

    fit_tree : callable
        From the features that a tree uses to that tree.

    Attributes
    ----------
    status : str
        "running", "finished", or the limit that has ended the iteration: "time_limit" or
        "memory_limit".

    n_trees : int
        How many trees have been handed out.
    """

    status: str
    n_trees: int

    def __init__(self, search, run, make_pieces, fit_tree):
        self._search, self._run, self._fit_tree = search, run, fit_tree
        self._make_pieces = make_pieces
        self._seconds_left = search.time_limit
        self._memory_limit = search.memory_limit
        self._pieces, self._waiting = make_pieces(), []
        self.status, self.n_trees = "running", 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[NDArray[np.int64], GreedyTreeClassifier]:
        if self.status != "running":
            raise StopIteration
        control = self._search.control
        # What the caller does between two trees takes none of the time.
        control.restart(self._seconds_left, self._memory_limit)
        try:
            while not self._waiting:
                self._waiting = list(next(self._pieces))
        except StopIteration:
            self._end(self._search.status)
            raise StopIteration from None
        if self._seconds_left is not None:
            self._seconds_left = max(0.0, self._seconds_left - control.seconds)
        self.n_trees += 1
        features = self._waiting.pop(0)[0]
        return features, self._fit_tree(features)

    def _end(self, status):
        self.status = "finished" if status == "optimal" else status
        if status != "optimal":
            warnings.warn(
                f"The iteration ended by its {status} after {self.n_trees} trees; resume() goes "
                "on with it.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def progress(self) -> float:
        """Estimated share of the enumeration that is done."""
        return 1.0 if self.status == "finished" else float(self._run.progress)

    def resume(self, time_limit: float | None = None, memory_limit: int | None = None) -> Self:
        """Go on after a limit.

        Parameters
        ----------
        time_limit : float or None, default=None
            Seconds that may be taken from now on; None for no limit.

        memory_limit : int or None, default=None
            Bytes that the search may take; None for no limit.

        Returns
        -------
        self : TreeIterator
            The same iterator.
        """
        if self.status != "finished":
            self._seconds_left, self._memory_limit = time_limit, memory_limit
            self._search.remote_status = "optimal"
            self._search.time_limit, self._search.memory_limit = time_limit, memory_limit
            self._pieces = self._make_pieces()
            self.status = "running"
        return self
