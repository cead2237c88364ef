"""Batches from a process of their own, so that putting them together never holds up the training loop.

The threads of a `BatchStream` draw without the interpreter's lock, but collating takes it, a few
milliseconds at a time; a loop that feeds a GPU must not wait for that.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from odefinder.prior.batches import Batch, BatchStream, StreamState

CHECK_EVERY = 1.0  # seconds between checks that the other side is still there


class Feed(Iterator[Batch]):
    """A `BatchStream` in another process; `state` is that of the last batch taken."""

    def __init__(self, *, ahead: int = 8, state: StreamState | None = None, **stream: Any):
        context = multiprocessing.get_context("spawn")
        self.state = state or StreamState()
        self._batches = context.Queue(ahead)
        arguments = (self._batches, os.getpid(), stream | {"state": self.state})
        self._process = context.Process(target=_produce, args=arguments, name="feed", daemon=True)
        self._process.start()

    def __next__(self) -> Batch:
        while True:
            try:
                entry = self._batches.get(timeout=CHECK_EVERY)
            except queue.Empty:
                if self._process.is_alive():
                    continue
                raise RuntimeError(
                    f"the process that draws examples died (exit code {self._process.exitcode}): for lack of "
                    "memory (continue with --resume), or because a script begins the run outside of "
                    "`if __name__ == '__main__'`, which this process reads again"
                ) from None
            if isinstance(entry, BaseException):
                raise entry
            batch, self.state = entry
            return batch

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()
        self._batches.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _produce(batches: multiprocessing.Queue[Any], parent: int, stream: dict[str, Any]) -> None:
    """Draw until the parent ends this process or is gone."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent decides
    try:
        with BatchStream(**stream) as drawn:
            for batch in drawn:
                if not _put(batches, (batch, drawn.state), parent):
                    batches.cancel_join_thread()  # nobody will take what is left
                    break
    except BaseException as error:
        _put(batches, error, parent)


def _put(batches: multiprocessing.Queue[Any], entry: Any, parent: int) -> bool:
    """Hand over an entry when there is room; False if nobody is left to take it (after a kill -9)."""
    while os.getppid() == parent:
        try:
            batches.put(entry, timeout=CHECK_EVERY)
            return True
        except queue.Full:
            pass
    return False
