"""The first Ctrl-C asks, the second ends; afterwards everything is as before."""

import signal
from threading import Thread

import pytest

from odefinder.limits.interrupt import Interrupt


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
