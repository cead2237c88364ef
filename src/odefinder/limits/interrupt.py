"""Ctrl-C and similar signals, politely: the first asks to stop, the second stops; or they wait."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """Inside it, the first of these signals sets `asked`, and the second raises KeyboardInterrupt."""

    def __init__(self, *signals: signal.Signals) -> None:
        self.asked = False
        self.heard: Callable[[], None] = lambda: None  # called at the first one
        self._signals = signals
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        try:
            for number in self._signals:
                self._before[number] = signal.signal(number, self._ask)
        except ValueError:  # not the main thread: whoever runs us handles signals
            pass
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self.heard()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


class Deferred:
    """Inside it, Ctrl-C waits until `heed` is called, or until the end.

    For code that no exception may break off at just any place.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._before: Any = None
        self._ours = False

    def __enter__(self) -> Deferred:
        try:
            self._before = signal.signal(signal.SIGINT, self._note) or signal.SIG_DFL
            self._ours = True
        except ValueError:  # not the main thread, which alone receives Ctrl-C
            pass
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.waiting += 1

    def heed(self) -> None:
        """Whoever handled Ctrl-C before receives those that wait."""
        if self.waiting and threading.current_thread() is threading.main_thread():
            try:
                self._pass_on()
            finally:
                signal.signal(signal.SIGINT, self._note)

    def _pass_on(self) -> None:
        signal.signal(signal.SIGINT, self._before)
        while self.waiting:
            self.waiting -= 1
            signal.raise_signal(signal.SIGINT)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ours:
            self._pass_on()
