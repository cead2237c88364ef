"""Ctrl-C and similar signals, politely: the first asks to stop, the second stops."""

from __future__ import annotations

import signal
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
