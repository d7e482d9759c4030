"""The distinct trees one by one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.utils._compat import validate_params
from sktree_opt.utils._params import bytes_from, seconds_from, shared_constraints, warn_user


class TreeIterator:
    """What ``DistinctTreeEnumerator.iter_trees`` returns.

    The iteration can be left and entered again at any time. If a limit ends it there is a
    ``ConvergenceWarning``, and `resume` goes on after the last tree.

    Parameters
    ----------
    search : SubsetFit
        The data and the control of the search.

    problem : SubsetProblem
        What is searched.

    run : CompleteRun or DistinctStream
        The search, not begun.

    make_pieces : callable
        Trees of `run` as lists, from where it stands.

    fit_tree : callable
        From the features that a tree uses to that tree.

    named : callable
        From features to their names.

    Attributes
    ----------
    status : str
        "running"; "optimal" when all trees have been handed out; the limit that has ended the
        iteration ("time_limit" or "memory_limit"); or "failed" when something was raised, for
        example by the function given as error: then it cannot go on. Ctrl-C does not end it.

    n_trees : int
        How many trees have been handed out.

    error : float
        Estimated error of the tree that was handed out last; NaN before the first one.
    """

    status: str
    n_trees: int
    error: float

    def __init__(self, search, problem, run, make_pieces, fit_tree, named):
        self._search, self._run = search, run
        self._fit_tree, self._named = fit_tree, named
        self._problem, self._stream = problem, getattr(run, "stream", run)
        self._make_pieces = make_pieces
        self._seconds_left = search.time_limit
        self._memory_limit = search.memory_limit
        self._pieces, self._waiting = make_pieces(), []
        self.status, self.n_trees, self.error = "running", 0, np.nan

    def __iter__(self) -> Self:
        return self

    def __reduce__(self):
        raise TypeError("A TreeIterator cannot be pickled; a fitted DistinctTreeEnumerator can.")

    def __next__(self) -> tuple[NDArray[Any], GreedyTreeClassifier | GreedyTreeRegressor]:
        if self.status == "failed":
            raise RuntimeError("The iteration has failed before, and trees may have been lost.")
        if self.status != "running":
            raise StopIteration
        try:
            return self._next_tree()
        except StopIteration:
            raise
        except BaseException as error:
            self._pieces = self._make_pieces()  # a generator that something is raised in is closed
            if self._stream.n_handed_out > self.n_trees + len(self._waiting):
                self._waiting.append(self._stream.last_handed_out)
            if isinstance(error, Exception):
                self.status = "failed"
            raise

    def _next_tree(self):
        control = self._search.control
        # The time between two calls does not count.
        control.restart(self._seconds_left, self._memory_limit)
        try:
            while not self._waiting:
                self._waiting = list(next(self._pieces))
        except StopIteration:
            self._end(self._search.status)
            raise StopIteration from None
        if self._seconds_left is not None:
            self._seconds_left = max(0.0, self._seconds_left - control.seconds)
        features, cost, _ = self._waiting[0]
        tree = self._fit_tree(features)
        self.error = float(self._problem.to_error(cost))
        # Not before: what is interrupted is handed out next time. Nothing comes between the two.
        rest, n_trees = self._waiting[1:], self.n_trees + 1
        self._waiting, self.n_trees = rest, n_trees
        return self._named(features), tree

    def _end(self, status):
        self.status = status
        if status != "optimal":
            warn_user(
                f"The iteration stopped at its {status} after {self.n_trees} trees. resume() goes "
                "on from there.",
                ConvergenceWarning,
            )

    @property
    def progress(self) -> float:
        """Estimated share of the enumeration that is done."""
        return 1.0 if self.status == "optimal" else float(self._run.progress)

    @validate_params(
        shared_constraints("time_limit", "memory_limit"),
        prefer_skip_nested_validation=True,
    )
    def resume(
        self, time_limit: float | None = None, memory_limit: float | str | None = None
    ) -> Self:
        """Go on after a limit.

        Parameters
        ----------
        time_limit : float or None, default=None
            Seconds that the search may take from now on. None or infinity means no limit.

        memory_limit : int, float, str or None, default=None
            Bytes that the search may take, or a string such as "2GB". None or infinity means no
            limit.

        Returns
        -------
        self : TreeIterator
            The same iterator.
        """
        if self.status not in ("optimal", "failed"):
            seconds, n_bytes = seconds_from(time_limit), bytes_from(memory_limit)
            self._seconds_left, self._memory_limit = seconds, n_bytes
            self._search.remote_status = "optimal"
            self._search.time_limit, self._search.memory_limit = seconds, n_bytes
            self._pieces = self._make_pieces()
            self.status = "running"
        return self
