"""Running a complete search: on threads, or on the workers of a distributed joblib backend.

The search consists of rounds of sub-searches (``complete.hpp``), which the threads of this process
share. If a joblib backend for several machines is active, such as dask's or ray's, each round is
handed to it as joblib tasks. The result is the same.
"""

import numpy as np
from joblib.parallel import BACKENDS, get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from sktree_opt.subset.complete._streams import OnDemandStream, search_slices

LOCAL_BACKENDS = ("sequential", "threading", "loky", "multiprocessing")


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

    **rules
        See ``_streams.DEFAULT_RULES``.
    """

    def __init__(self, problem, search, *, start=None, state=None, **rules):
        self.problem, self.search, self.rules = problem, search, rules
        self.stream = OnDemandStream(
            problem,
            search.control,
            start=start,
            state=state,
            n_threads=search.learner.n_threads,
            budget=search.budget,
            **rules,
        )
        self._remote_stats = []

    def pieces(self):
        """Lists of trees in the order of the search; with callbacks, many lists are empty."""
        # A callable and its data are not sent to other processes.
        if not self.problem.is_callable and not has_local_backend():
            return self._run_remotely()
        if self.search.is_watched:
            return iter(self.stream.run_round, None)
        return ([tree] for tree in self.stream)

    def _run_remotely(self):
        with Parallel() as parallel:
            n_workers = max(1, parallel._effective_n_jobs())
            while (planned := self.stream.plan()) is not None:
                yield self.stream.merge(self._run_round(parallel, n_workers, *planned))
                self.search.control.poll()

    def _run_round(self, parallel, n_workers, searches, n_decisions, best):
        """Results of the sub-searches of a round, in their order."""
        control = self.search.control
        time_left = None
        if self.search.time_limit is not None:
            time_left = max(0.0, control.seconds_left)
        chunks = np.array_split(np.arange(len(searches)), min(n_workers, len(searches)))
        answers = parallel(
            delayed(search_slices)(
                self.problem,
                [searches[i] for i in chunk],
                n_decisions,
                best,
                self.rules,
                time_limit=time_left,
                memory_limit=self.search.memory_limit,
                budget=self.search.budget,
            )
            for chunk in chunks
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


def has_local_backend():
    """Whether joblib would run tasks on this machine, where threads do better."""
    backend, _ = get_active_backend()
    local = tuple(BACKENDS[name] for name in LOCAL_BACKENDS if name in BACKENDS)
    return isinstance(backend, local)
