"""Deadline, memory limit and interrupts of one search (see ``control.hpp``)."""

from libcpp.memory cimport make_shared

from sktree_opt.utils._team cimport run_team


cdef extern from *:
    """
    static inline void go_on(sktree_opt::SearchControl& control) {
        int reason = sktree_opt::TIME_LIMIT;
        control.stop.compare_exchange_strong(reason, sktree_opt::RUNNING);
    }
    """
    void go_on(CppSearchControl& control) noexcept nogil


STATUS_NAMES = {
    RUNNING: "optimal",
    TIME_LIMIT: "time_limit",
    MEMORY_LIMIT: "memory_limit",
    STOPPED: "stopped",
    INTERRUPTED: "interrupted",
}


cdef class SearchControl:
    """What can end a search early: one object for one fit.

    Parameters
    ----------
    time_limit : float or None, default=None
        Seconds from construction; None for no limit.

    memory_limit : int or None, default=None
        Bytes the kernel may book; None for no limit.
    """

    def __cinit__(self):
        self.owner = make_shared[CppSearchControl]()
        self.cpp = self.owner.get()
        self.cpp.run_team = run_team

    def __init__(self, time_limit=None, memory_limit=None):
        self.cpp.time_limit = -1.0 if time_limit is None else time_limit
        self.cpp.memory_limit = -1 if memory_limit is None else memory_limit

    def restart(self, time_limit=None, memory_limit=None):
        """Begin another search in this thread; what kernels have booked stays booked."""
        self.cpp.restart(
            -1.0 if time_limit is None else time_limit,
            -1 if memory_limit is None else memory_limit,
        )

    @property
    def status(self):
        """"optimal" while nothing stopped the search, else the reason."""
        return STATUS_NAMES[self.cpp.stop.load()]

    @property
    def stopped(self):
        """Whether the search has to end."""
        return bool(self.cpp.stopped())

    @property
    def seconds(self):
        """Seconds since construction."""
        return self.cpp.seconds()

    def keep_back(self, seconds):
        """End the search by so many seconds earlier."""
        if self.cpp.time_limit >= 0.0:
            self.cpp.time_limit = max(0.0, self.cpp.time_limit - seconds)

    def begin_share(self, seconds):
        """End the search after so many seconds, or earlier; returns the limit there was."""
        limit, end = self.cpp.time_limit, self.cpp.seconds() + seconds
        if limit < 0.0 or end < limit:
            self.cpp.time_limit = end
        return limit

    def end_share(self, limit):
        """Go on to the limit of before, as ``begin_share`` gave it, if only the share has ended."""
        self.cpp.time_limit = limit
        if limit < 0.0 or self.cpp.seconds() < limit:
            go_on(self.cpp[0])

    @property
    def seconds_left(self):
        """Seconds until the search has to end; infinity without a limit."""
        if self.cpp.time_limit < 0.0:
            return float("inf")
        return self.cpp.time_limit - self.cpp.seconds()

    @property
    def memory_used(self):
        """Bytes booked by kernels now."""
        return self.cpp.memory_used.load()

    def request_stop(self, status="stopped"):
        """End the search at its next poll, as a callback may ask, with this status."""
        self.cpp.request_stop({name: reason for reason, name in STATUS_NAMES.items()}[status])

    def poll(self):
        """Look at the clock and at pending signals; True when the search has to end."""
        cdef bint stopped
        with nogil:
            stopped = self.cpp.poll()
        return bool(stopped)

    def raise_pending(self):
        """Raise what a signal handler raised while a kernel ran."""
        self.cpp.raise_pending()
