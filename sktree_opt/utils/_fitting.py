"""The frame of every fit: Ctrl-C is held back, a failure is undone, callbacks are told.

Python raises ``KeyboardInterrupt`` between any two lines, and the answer that a search has found
would be lost. A fit therefore holds it back while there is something to keep:

>>> from sktree_opt.utils._control import SearchControl
>>> control = SearchControl()
>>> with HeldInterrupt() as interrupt:
...     interrupt.stops(control)
...     # search until ``control.poll()``, and set the fitted attributes

A signal stops the control with the status "stopped". When the block is left, the handler of before
is called, which raises ``KeyboardInterrupt``. A second Ctrl-C is not held back.
"""

import math
import signal
import threading
from contextlib import contextmanager
from contextvars import ContextVar

from sktree_opt.utils._compat import begin_callbacks

# Seconds of searching between two calls of the callbacks.
_seconds_a_step = ContextVar("seconds_a_step", default=0.2)


@contextmanager
def call_back_every(seconds):
    """Tell callbacks of all fits inside after so many seconds of searching; for tests."""
    token = _seconds_a_step.set(seconds)
    try:
        yield
    finally:
        _seconds_a_step.reset(token)


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


@contextmanager
def all_or_nothing(estimator):
    """Around a fit: whatever is raised inside, the estimator is left as it was before.

    Yields a ``HeldInterrupt``. A search that ``interrupt.stops`` is ended by Ctrl-C, which is
    raised when the block is left: the estimator has been fitted by then.
    """
    before = dict(vars(estimator))
    with HeldInterrupt() as interrupt:
        try:
            yield interrupt
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise


class Progress:
    """The tasks of one fit, as its callbacks see them; does nothing where none is set.

    Parameters
    ----------
    estimator : estimator
        With ``CallbackSupportMixin``. To be made before what its fit undoes when it fails.

    X, y : array-like
        What `fit` was given.

    sample_weight : array-like or None
        For callbacks that score.
    """

    def __init__(self, estimator, X, y, sample_weight=None):
        self._estimator, self._task = estimator, None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._context = begin_callbacks(estimator)
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def is_watched(self):
        """Whether there is a callback."""
        return self._context is not None

    @property
    def seconds_a_step(self):
        """Seconds of searching between two calls of the callbacks."""
        return _seconds_a_step.get() if self.is_watched else math.inf

    def begin(self, name):
        """Say that a step of the work begins."""
        if self.is_watched:
            self._task = self._context.subcontext(task_name=name)
            self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, attributes=None):
        """Say that it is done; True if a callback asks the search to stop.

        Parameters
        ----------
        attributes : callable or None
            What gives the fitted attributes of the best answer so far, for callbacks that predict.
        """
        if not self.is_watched:
            return False
        return self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._data
        )

    def step(self, control, name, work, attributes_of):
        """Do some work, and let callbacks say whether the search is to go on.

        Parameters
        ----------
        control : SearchControl
        name : str
        work : callable
            Without arguments.
        attributes_of : callable
            From what `work` returned to what ``end`` takes.
        """
        if not self.is_watched:
            return work()
        self.begin(name)
        result = work()
        control.raise_pending()
        if self.end(attributes_of(result)):
            control.request_stop()
        return result

    def finish(self):
        """Say that the fit is done; the estimator is fitted."""
        if self.is_watched:
            attributes = {k: v for k, v in vars(self._estimator).items() if k.endswith("_")}
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=attributes, **self._data
            )
