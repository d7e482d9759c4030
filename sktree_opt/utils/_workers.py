"""The workers of a joblib backend for several machines, such as dask's or ray's."""

from __future__ import annotations

import threading

from joblib.parallel import BACKENDS, get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from sktree_opt.utils._compat import n_workers_of

LOCAL_BACKENDS = ("sequential", "threading", "loky", "multiprocessing")

# A round of tasks is given out again if it fails, as when a backend gives up a worker.
MOST_FAILURES = 2


def has_local_backend():
    """Whether joblib would run tasks on this machine, where threads do better."""
    backend, _ = get_active_backend()
    local = tuple(BACKENDS[name] for name in LOCAL_BACKENDS if name in BACKENDS)
    return isinstance(backend, local)


class Shared:
    """What all tasks of a search read.

    Without references to it, so that no backend keeps the content on one of its workers: that may
    die.

    Parameters
    ----------
    key : bytes
        Of the content: a worker keeps what it has made of it for the next task.

    content : object
        None where a worker is expected to have it.
    """

    __slots__ = ("content", "key")

    def __init__(self, key, content=None):
        self.key, self.content = key, content


class Workers:
    """The workers of the active backend.

    Attributes
    ----------
    number : int
    """

    def __init__(self):
        with Parallel() as parallel:
            self.number = n_workers_of(parallel)
        self._sent = None

    def run(self, function, shared, parts, *arguments):
        """What a function returns for each part, by tasks: ``function(shared, part, *arguments)``.

        The content of `shared` is sent with the first tasks, and to workers that lack it: their
        answer is None. A backend repeats the task of a worker that is lost.
        """
        is_new = self._sent != shared.key
        short = shared if is_new else Shared(shared.key)
        answers = self._map(function, short, parts, arguments)
        lacking = [k for k, answer in enumerate(answers) if answer is None]
        again = self._map(function, shared, [parts[k] for k in lacking], arguments)
        for k, answer in zip(lacking, again, strict=True):
            answers[k] = answer
        self._sent = shared.key
        return answers

    @staticmethod
    def _map(function, shared, parts, arguments):
        for n_failures in range(1 + MOST_FAILURES):
            try:
                return Parallel()(delayed(function)(shared, part, *arguments) for part in parts)
            except Exception:
                if n_failures == MOST_FAILURES:
                    raise
        raise AssertionError


class KeptInWorker:
    """Objects that a worker process keeps from one task of a search to the next.

    Tasks of several threads take what is not in use, or make another one.
    """

    def __init__(self):
        self._lock, self._key, self._free = threading.Lock(), None, []

    def take(self, key):
        """Something that was kept under this key; None if there is none."""
        with self._lock:
            if self._key != key:
                self._key, self._free = key, []
            return self._free.pop() if self._free else None

    def keep(self, key, made):
        """Give back what was taken, or made."""
        with self._lock:
            if self._key == key:
                self._free.append(made)
