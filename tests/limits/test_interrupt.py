"""The first Ctrl-C asks, the second ends, or they wait; afterwards everything is as before."""

import signal
from threading import Thread

import pytest

from odefinder.limits.interrupt import Deferred, Interrupt


def test_the_first_asks_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt(signal.SIGINT) as interrupt:
        assert not interrupt.asked
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_nothing_is_touched() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Interrupt(signal.SIGINT) as interrupt:
            seen.append((signal.getsignal(signal.SIGINT), interrupt.asked))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(before, False)]


def test_ctrl_c_waits_until_it_may_be_heard() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Deferred() as interrupts:
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                interrupts.heed()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_waits_until_the_end_and_goes_before_errors() -> None:
    def broken() -> None:
        with Deferred():
            signal.raise_signal(signal.SIGINT)
            raise ValueError

    with pytest.raises(KeyboardInterrupt) as found:
        broken()
    assert isinstance(found.value.__context__, ValueError)


def test_whoever_handled_ctrl_c_hears_of_each_that_waited() -> None:
    with Interrupt(signal.SIGINT) as interrupt:
        with Deferred() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert not interrupt.asked
            interrupts.heed()
            assert interrupt.asked
            interrupts.heed()  # nothing waits any more
        with pytest.raises(KeyboardInterrupt), Deferred():
            signal.raise_signal(signal.SIGINT)


def test_nothing_waits_in_another_thread() -> None:
    seen = []

    def work() -> None:
        with Deferred() as interrupts:
            interrupts.heed()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
