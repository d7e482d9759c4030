"""The surroundings of a search: the clock, Ctrl-C, callbacks, and the last fit's search."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sktree_opt.optimal.run._trees import fitted_attributes, is_within
from sktree_opt.utils._control import SearchControl

# Maximum share of the remaining time that is kept for reading the answer.
READING_SHARE = 0.25


class KeptSearch:
    """The search of an estimator's last fit, for ``warm_start``.

    A fit takes it out and puts it back when it is done, so that two fits never share one. Copies
    and pickles begin empty: a cache need not be stored, and must not serve two estimators.
    """

    def __init__(self):
        self._stored = None

    def take(self, fingerprint):
        """What was kept for this fingerprint; None for others."""
        stored, self._stored = self._stored, None
        return stored[1:] if stored is not None and stored[0] == fingerprint else None

    def keep(self, fingerprint, *search):
        """Put a search back."""
        self._stored = (fingerprint, *search)

    def __reduce__(self):
        return KeptSearch, ()


@dataclass(frozen=True)
class OpenSearch:
    """An engine at work.

    Attributes
    ----------
    search : object
        The engine.

    known : ndarray or None
        Nodes of a tree that the last fit has found.

    fingerprint : bytes or None
        Under which the search is kept.
    """

    search: Any
    known: np.ndarray | None = None
    fingerprint: bytes | None = None


class Session:
    """The surroundings of one fit's searches.

    Parameters
    ----------
    control : SearchControl
        The clock, which has run since the fit began, and what may end the search.

    interrupt : HeldInterrupt or None, default=None
        Ctrl-C.

    progress : Progress or None, default=None
        Callbacks.

    kept : KeptSearch or None, default=None
        Where the search is kept for the next fit.

    checkpoint : Checkpoint or None, default=None
        Where the search is written.
    """

    def __init__(self, control, interrupt=None, progress=None, kept=None, checkpoint=None):
        self.control, self.interrupt = control, interrupt
        self.progress, self.kept, self.checkpoint = progress, kept, checkpoint

    def begin(self):
        """From here on Ctrl-C ends the search, and the fit keeps the best tree."""
        self._let_interrupts_stop(self.control)

    def alone(self):
        """The same clock, without callbacks and without an earlier search."""
        return Session(self.control, self.interrupt)

    def aside(self, seconds, memory_limit):
        """Surroundings of a search that is shorter, and whose end does not end this one."""
        control = SearchControl(seconds, memory_limit)
        self._let_interrupts_stop(control)
        return Session(control)

    @property
    def is_watched(self):
        """Whether there is a callback to be told."""
        return self.progress is not None and self.progress.is_watched

    @property
    def seconds_a_step(self):
        """Seconds of searching after which an engine comes back, for callbacks or a checkpoint."""
        seconds = self.progress.seconds_a_step if self.is_watched else np.inf
        return seconds if self.checkpoint is None else min(seconds, self.checkpoint.seconds)

    def record(self, name, plan, *settings):
        """The ``Record`` of a search of a plan in the checkpoint; None without one."""
        if self.checkpoint is None:
            return None
        problem = plan.problem.within(time_limit=None, memory_limit=None, n_threads=1)
        return self.checkpoint.begin(
            name, fingerprint(problem, plan.tests, problem.limits, *settings, table=plan.table)
        )

    def may_stop(self, limits):
        """Whether a search may leave a tree before it has a proof."""
        has_limit = limits.time_limit is not None or limits.memory_limit is not None
        return has_limit or self.is_watched

    def step(self, problem, name, work, answer_of):
        """Do a part of a search, and tell callbacks, which may end it.

        Parameters
        ----------
        problem : Problem

        name : str
            Of the part.

        work : callable
            Without arguments.

        answer_of : callable
            From what `work` returned to tests, nodes and, where they are not the most frequent
            classes, the answers of the best tree so far.
        """
        if not self.is_watched:
            return work()
        return self.progress.step(
            self.control,
            name,
            work,
            lambda result: lambda: fitted_attributes(problem, *answer_of(result)),
        )

    def keep_back(self, seconds):
        """End the search so much earlier, for reading its answer; by a quarter of the time at most.

        Returns
        -------
        end : float
            Second of the clock by which the answer should have been read; may be infinity.
        """
        left = self.control.seconds_left
        self.control.keep_back(min(READING_SHARE * left, seconds))
        return self.control.seconds + left

    @contextmanager
    def for_seconds(self, seconds):
        """End what is inside after some time, and then go on with the rest of it."""
        limit = self.control.begin_share(seconds)
        try:
            yield
        finally:
            self.control.end_share(limit)
            if self.interrupt is not None and self.interrupt.came:
                # It may have come when the share had ended the search already.
                self.control.request_stop()

    def open(self, problem, tests, kind, make):
        """The search of the last fit on the same data, or a new one.

        Parameters
        ----------
        problem : Problem

        tests : BinaryTests

        kind : tuple
            What kind of search, and whatever else it depends on.

        make : callable
            From a control to a new search.

        Returns
        -------
        opened : OpenSearch
        """
        if self.kept is None:
            return OpenSearch(make(self.control))
        name = fingerprint(problem, tests, kind)
        found = self.kept.take(name)
        if found is None:
            return OpenSearch(make(self.control), fingerprint=name)
        control, search, nodes = found
        left = self.control.seconds_left
        control.restart(max(0.0, left) if left < np.inf else None, problem.limits.memory_limit)
        self.control = control
        self._let_interrupts_stop(control)
        has_known = nodes is not None and is_within(nodes, problem.limits)
        return OpenSearch(search, nodes if has_known else None, name)

    def close(self, opened, nodes):
        """Keep a search for the next fit, with the nodes of its tree (None for none)."""
        if self.kept is not None:
            self.kept.keep(opened.fingerprint, self.control, opened.search, nodes)

    def _let_interrupts_stop(self, control):
        if self.interrupt is not None:
            self.interrupt.stops(control)


def fingerprint(problem, tests, *settings, table=None):
    """Digest of everything a cache depends on: tests, rows, objective, limits and `settings`.

    `tests` is None for a search of a table of ranks.
    """
    form, limits = problem.form, problem.limits
    digest = hashlib.blake2b(digest_size=16)
    if tests is None:
        arrays = [*table.codes, *table.values, table.is_nominal]
    else:
        names = ("bits", "kind", "feature", "lower", "upper", "category", "missing_branch")
        arrays = [getattr(tests, name) for name in names]
    arrays += [problem.objective.targets, problem.weights, form.class_channels, form.class_mass]
    for array in arrays:
        if array is not None:
            digest.update(repr((array.shape, array.dtype)).encode())
            digest.update(np.ascontiguousarray(array).data)
    numbers = {k: v for k, v in vars(form).items() if not isinstance(v, np.ndarray)}
    minima = (limits.minima, limits.memory_limit)
    digest.update(repr((numbers, minima, settings)).encode())
    return digest.digest()
