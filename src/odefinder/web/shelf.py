"""Things that are kept for a while, by an id that nobody can guess."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
KEPT = 3600.0  # seconds after the last use


class Shelf(Generic[Thing]):
    """Keeps things until nobody has asked for them for an hour; `discard` is told of each that goes."""

    def __init__(
        self,
        discard: Callable[[Thing], None] = lambda thing: None,
        kept: float = KEPT,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._things: dict[str, tuple[float, Thing]] = {}
        self._discard, self._kept, self._now = discard, kept, now
        self._lock = threading.Lock()

    def put(self, thing: Thing, name: str | None = None) -> str:
        """Keep it; returns its id."""
        self._clear()
        name = name or new_id()
        with self._lock:
            self._things[name] = self._now(), thing
        return name

    def get(self, name: str) -> Thing | None:
        """The thing, if it is still there; its hour begins again."""
        self._clear()
        with self._lock:
            if name not in self._things:
                return None
            thing = self._things[name][1]
            self._things[name] = self._now(), thing
            return thing

    def __iter__(self) -> Iterator[Thing]:
        with self._lock:
            return iter([thing for _, thing in self._things.values()])

    def _clear(self) -> None:
        with self._lock:
            old = [name for name, (used, _) in self._things.items() if self._now() - used > self._kept]
            gone = [self._things.pop(name)[1] for name in old]
        for thing in gone:
            self._discard(thing)


def new_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(12)
