"""A joblib backend that has the parts of a search as tasks, as dask has, within this process."""

from contextlib import contextmanager
from unittest import mock

import joblib
from joblib._parallel_backends import ParallelBackendBase

from sktree_opt.optimal.run.remote import _rounds
from sktree_opt.utils._workers import has_local_backend


class InProcess(ParallelBackendBase):
    """Runs one task after the other, as joblib does wherever there is one job."""

    # Abstract in joblib 1.4. A single job never asks for it.
    apply_async = None

    def effective_n_jobs(self, n_jobs):
        return 1


joblib.register_parallel_backend("in process", InProcess)


@contextmanager
def in_rounds(n_parts=3, seconds=1e-4):
    """Let fits inside go on in rounds of so many tasks, each of some seconds or one unit."""
    values = {"TASKS_A_WORKER": n_parts, "FIRST_SECONDS": seconds, "MOST_SECONDS": seconds}
    with mock.patch.multiple(_rounds, **values), joblib.parallel_config("in process"):
        assert not has_local_backend()
        yield
