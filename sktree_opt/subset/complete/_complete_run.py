"""Running a complete search: on threads, or on the workers of a distributed joblib backend.

The search consists of rounds of sub-searches (``complete.hpp``), which the threads of this process
share. If a joblib backend for several machines is active, such as dask's or ray's, each round is
handed to it as joblib tasks. The result is the same.
"""

import operator

import joblib
import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from sktree_opt.subset.complete._streams import OnDemandStream, search_slices
from sktree_opt.utils._compat import n_workers_of
from sktree_opt.utils._workers import has_local_backend

# The last of the decisions about a feature: undecided, in, out.
OUT = 2


class CompleteRun:
    """Trees found by a complete search, in an order that does not depend on threads or workers.

    Parameters
    ----------
    problem : SubsetProblem

    search : SubsetFit

    start : tuple or None
        (features, cost, number of leaves) of a tree; only better ones are wanted.

    state : dict or None
        Where an earlier run was stopped.

    record : str or None, default=None
        Name of the search in the checkpoint, if the fit has one.

    counts : object or None, default=None
        With a method ``add(features, cost, n_leaves)``, which is told of every tree, a ``state``,
        which is written with that of the search, and ``take_up(state, n_features)``.

    **rules
        See ``_streams.DEFAULT_RULES``.
    """

    def __init__(
        self, problem, search, *, start=None, state=None, record=None, counts=None, **rules
    ):
        self.problem, self.search, self.rules = problem, search, rules
        self.counts, self.record = counts, None
        if search.checkpoint is not None and record is not None:
            self.record = search.checkpoint.begin(record, fingerprint(problem, rules))
        self._remote_stats = []
        if self.record is None or self.record.state is None:
            self._begin(start, state)
        else:
            with self.record.reading():
                self._begin(*self._take_up(self.record.state))

    def _begin(self, start, state):
        search, self.start = self.search, start
        self.stream = OnDemandStream(
            self.problem,
            search.control,
            start=start,
            state=state,
            n_threads=search.learner.n_threads,
            budget=search.budget,
            **self.rules,
        )

    def pieces(self):
        """Lists of trees in the order of the search; with callbacks, many lists are empty."""
        # A callable and its data are not sent to other processes.
        if not self.problem.is_callable and not has_local_backend():
            rounds = self._run_remotely()
        elif self.search.is_watched or self.record is not None:
            rounds = iter(self.stream.run_round, None)
        else:
            rounds = ([tree] for tree in self.stream)
        return self._counted(rounds)

    def _counted(self, rounds):
        """The trees of the rounds; those of a round are counted before they are handed out."""
        for found in rounds:
            if self.counts is not None:
                for tree in found:
                    self.counts.add(*tree)
            if self.record is not None and self.record.is_due:
                self.write()
            yield found

    def write(self):
        """Write where the search is, at the end of a round."""
        if self.record is None:
            return
        state = self.stream.state
        n_units, decisions = self.problem.n_units, b"".join(one[0] for one in state["searches"])
        self.record.write(
            {
                "best": self.stream.best,
                "decisions": np.frombuffer(decisions, dtype=np.uint8).reshape(-1, n_units),
                "searches": [one[1:] for one in state["searches"]],
                "round": state["round"],
                "n_decisions": state["n_decisions"],
                "counts": None if self.counts is None else self.counts.state,
            }
        )

    def _take_up(self, known):
        """The best tree and the state of a search out of a record."""
        decisions, best = known["decisions"], known["best"]
        if decisions.ndim != 2 or decisions.shape[1] != self.problem.n_units:
            raise ValueError("decisions about other features")
        if (decisions > OUT).any():
            raise ValueError("decisions that there are not")
        searches = [
            (bytes(made), *rest) for made, rest in zip(decisions, known["searches"], strict=True)
        ]
        n_features = self.search.learner.table.n_columns
        if best is not None:
            best = checked_tree(*best, n_features)
        if self.counts is not None:
            self.counts.take_up(known["counts"], n_features)
        state = {name: known[name] for name in ("round", "n_decisions")}
        return best, state | {"searches": searches}

    def _run_remotely(self):
        with Parallel() as parallel:
            n_workers = n_workers_of(parallel)
            while (planned := self.stream.plan()) is not None:
                yield self.stream.merge(self._run_round(parallel, n_workers, *planned))
                self.search.control.poll()

    def _run_round(self, parallel, n_workers, searches, n_decisions, best):
        """Results of the sub-searches of a round, in their order."""
        control = self.search.control
        time_left = None
        if self.search.time_limit is not None:
            time_left = max(0.0, control.seconds_left)
        parts = np.array_split(np.arange(len(searches)), min(n_workers, len(searches)))
        answers = parallel(
            delayed(search_slices)(
                self.problem,
                [searches[i] for i in part],
                n_decisions,
                best,
                self.rules,
                time_limit=time_left,
                memory_limit=self.search.memory_limit,
                budget=self.search.budget,
            )
            for part in parts
        )
        results = []
        for found, status, stats in answers:
            results += found
            self._remote_stats.append(stats)
            if status != "optimal":
                self.search.end_remotely(status)
        return results

    @property
    def progress(self):
        """Estimated share of the search that is done."""
        return self.stream.progress

    @property
    def stats(self):
        """Counters, of all workers."""
        totals = self.stream.stats
        for stats in self._remote_stats:
            for name, value in stats.items():
                is_largest = name == "max_open"
                totals[name] = max(totals[name], value) if is_largest else totals[name] + value
        return totals


def fingerprint(problem, rules):
    """Digest of a problem, and of the rules of its search."""
    if problem.is_callable:
        raise ValueError(
            "checkpoint is not supported with a function as error or with scoring: it cannot be "
            "known again."
        )
    return bytes.fromhex(joblib.hash((problem.__reduce__()[1], rules)))


def checked_tree(features, cost, n_leaves, n_features):
    """A tree out of a file; raises unless its features exist and the rest are whole numbers."""
    indices = np.array([whole(feature) for feature in features], dtype=np.int64)
    if (indices >= n_features).any():
        raise ValueError("features that there are not")
    return indices, whole(cost), whole(n_leaves)


def whole(value):
    """A whole number out of a file."""
    number = operator.index(value)
    if not 0 <= number < 2**62:
        raise ValueError(f"{number} is out of range")
    return number
