"""What the cache of compiled functions lacks: counted, and compiled in several processes at once.

Run as a module it is one of these processes: `python -m odefinder.compiling.ready package.module:function`
calls the function and prints a line for every compiled function that is done.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from numba.core import event

from odefinder.compiling.cache import child_environment
from odefinder.compiling.entry import Entry, Helper
from odefinder.limits.processors import cores


@dataclass(frozen=True)
class Group:
    """Functions that one process compiles."""

    call: Callable[[], None]  # calls each of them once; found by its name in its module
    functions: tuple[Callable[..., object], ...]

    def missing(self) -> list[Entry]:
        """Those that the cache does not hold."""
        entries = [cast(Any, one) for one in self.functions]
        return [one for one in entries if isinstance(one, Entry) and not one.is_kept()]


def compile_missing(groups: Sequence[Group], report: Callable[[str], None] = lambda text: None) -> None:
    """Fill the cache with what is missing there; report says how far it is, and nothing where nothing is."""
    missing = {group.call: group.missing() for group in groups}
    waiting = [group for group in groups if missing[group.call]]
    needed = [set[Entry]().union(*(one.needed() for one in missing[group.call])) for group in waiting]
    counter = _Counter(sum(map(len, needed)), report)
    # This process takes the first one itself, as it has everything imported already.
    with _processes(waiting[1 : cores()], counter) as processes, _listening(counter.add):
        for group in waiting[:1]:
            group.call()
        for process in processes:
            process.wait()
        for group in waiting[1:]:
            group.call()  # from the cache; what a process could not compile is compiled here


class _Counter:
    """Counts the functions that are done."""

    def __init__(self, total: int, report: Callable[[str], None]) -> None:
        self.total, self.report = total, report
        self.done = 0
        self.lock = threading.Lock()

    def add(self, name: str) -> None:
        with self.lock:
            self.done += 1
            self.total = max(self.total, self.done)
            self.report(f"compiling {self.done} of {self.total} functions, which the next run finds on disk")


class _Listener(event.Listener):
    """Hears which of our functions are compiled, each once; numba's own are parts of them."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self.heard = heard
        self.known = set[str]()

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
        if isinstance(dispatcher, (Entry, Helper)) and name not in self.known:
            self.known.add(name)
            self.heard(name)


@contextmanager
def _listening(heard: Callable[[str], None]) -> Iterator[None]:
    with event.install_listener("numba:compile", _Listener(heard)):
        yield


@contextmanager
def _processes(groups: Sequence[Group], counter: _Counter) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that compile the groups; they end with the block."""
    started: list[subprocess.Popen[str]] = []
    try:
        for group in groups:
            path = f"{group.call.__module__}:{group.call.__qualname__}"
            try:
                process = subprocess.Popen(
                    [sys.executable, "-m", __name__, path],
                    env=child_environment(), text=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                )  # fmt: skip
            except OSError:  # no more processes, or no Python to start: this process does it all
                break
            started.append(process)
            threading.Thread(target=_count_lines, args=(process.stdout, counter), daemon=True).start()
        yield started
    finally:
        for process in started:
            process.terminate()
            process.wait()


def _count_lines(stream: IO[str], counter: _Counter) -> None:
    for line in stream:
        counter.add(line)


def _work(path: str) -> None:
    module, _, name = path.partition(":")
    with _listening(lambda done: print(done, flush=True)):
        getattr(importlib.import_module(module), name)()


if __name__ == "__main__":
    _work(sys.argv[1])
