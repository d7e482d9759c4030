"""Ctrl-C is held back until an estimator is fitted."""

import os
import signal
import threading
import time

import pytest

from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import HeldInterrupt, all_or_nothing
from tests.processes import needs_sigint

pytestmark = needs_sigint


class Model:
    """An estimator with one attribute."""


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_search_ends_and_the_estimator_is_fitted():
    model, before = Model(), signal.getsignal(signal.SIGINT)
    first, second = SearchControl(), SearchControl()
    with pytest.raises(KeyboardInterrupt), all_or_nothing(model) as interrupt:
        interrupt.stops(first)
        assert not interrupt.came
        press()
        assert first.stopped
        assert first.status == "stopped"
        assert interrupt.came
        # Whatever begins later does not go far.
        interrupt.stops(second)
        assert second.stopped
        model.tree_ = 1
    assert model.tree_ == 1
    assert signal.getsignal(signal.SIGINT) == before


def test_before_a_search_nothing_is_kept():
    model = Model()
    with pytest.raises(KeyboardInterrupt), all_or_nothing(model):
        model.tree_ = 1
        press()
        time.sleep(1.0)
    assert not vars(model)


def test_an_error_after_ctrl_c_leaves_the_estimator_as_it_was():
    model, before = Model(), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as raised, all_or_nothing(model) as interrupt:
        interrupt.stops(SearchControl())
        press()
        model.tree_ = 1
        raise ValueError("no tree")
    assert isinstance(raised.value.__context__, ValueError)
    assert not vars(model)
    assert signal.getsignal(signal.SIGINT) == before


def test_the_second_one_is_not_held_back():
    model = Model()
    with pytest.raises(KeyboardInterrupt), all_or_nothing(model) as interrupt:
        interrupt.stops(SearchControl())
        press()
        model.tree_ = 1
        press()
        time.sleep(1.0)
    assert not vars(model)


def test_a_handler_of_the_user_is_called_at_the_end(monkeypatch):
    called = []
    before = signal.signal(signal.SIGINT, lambda *arguments: called.append(arguments[0]))
    try:
        with HeldInterrupt() as interrupt:
            interrupt.stops(SearchControl())
            press()
            assert called == []
        assert called == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_the_handler_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with HeldInterrupt() as interrupt:
            interrupt.stops(SearchControl())
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
