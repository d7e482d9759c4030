"""Processes made by a fork run one thread.

The threads of a process are not copied by a fork, and GNU's OpenMP waits for them forever in the
child if the parent used any. Whether it did, for this package or for another, cannot be asked.
"""

import os
import warnings


class _Process:
    """What is known of this process."""

    is_forked = False
    has_warned = False

    @classmethod
    def note_fork(cls):
        cls.is_forked, cls.has_warned = True, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Process.note_fork)


def is_forked(n_jobs):
    """Whether a fork made this process; warns once that it runs one thread instead of `n_jobs`."""
    if _Process.is_forked and not _Process.has_warned:
        _Process.has_warned = True
        warnings.warn(
            f"n_jobs={n_jobs} is taken for 1 in a forked process, where threads would wait forever "
            "for those of the parent. Use the start method 'spawn' or 'forkserver', or joblib's "
            "default backend.",
            RuntimeWarning,
            stacklevel=2,
        )
    return _Process.is_forked
