"""Ctrl-C during a fit: the search ends, the estimator is fitted, then KeyboardInterrupt is raised.

Python raises ``KeyboardInterrupt`` between any two lines, and what a search has found would be
lost. A fit therefore holds it back while there is something to keep:

>>> from sktree_opt.utils._control import SearchControl
>>> control = SearchControl()
>>> with HeldInterrupt() as interrupt:
...     interrupt.stops(control)
...     # search until ``control.poll()``, and set the fitted attributes

A signal stops the control with the status "stopped". When the block is left, the handler of before
is called, which raises ``KeyboardInterrupt``. A second Ctrl-C is not held back.
"""

import signal
import threading


class HeldInterrupt:
    """Context manager that holds Ctrl-C back from the first call of ``stops`` on.

    Signals reach Python's main thread alone. In other threads nothing is held back.
    """

    def __init__(self):
        self._controls, self._previous, self._signal, self._error = [], None, None, None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()
        if self._signal is not None:
            self._previous(*self._signal)
        if self._error is not None and exception[0] is None:
            raise self._error

    def stops(self, control):
        """Let Ctrl-C stop a search; a fit may have several, one after the other or nested.

        Parameters
        ----------
        control : SearchControl
        """
        self._controls.append(control)
        if self._signal is not None:
            control.request_stop()
        if self._previous is None and threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            # Some programs ignore the signal, or handle it in C.
            if callable(previous):
                self._previous = previous
                signal.signal(signal.SIGINT, self._handle)

    @property
    def came(self):
        """Whether Ctrl-C was pressed, so that no other search is worth beginning."""
        return self._signal is not None or self._error is not None

    def release(self):
        """From here on, Ctrl-C is raised at once, as in other code."""
        if self._previous is not None and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._previous)

    def hold(self, error):
        """Hold back a KeyboardInterrupt that was caught, for the end of the block."""
        self._error = error

    def _handle(self, *arguments):
        if self._signal is not None:
            self._signal = None
            self.release()
            self._previous(*arguments)
            return
        self._signal = arguments
        for control in self._controls:
            control.request_stop()
