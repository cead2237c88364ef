"""Fits in worker processes: at most as many at once as there are processors, the others wait their turn.

Each thread of a pool looks after one process, and the pool's own queue is the queue of fits.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from odefinder.inference.find import PREPARING
from odefinder.web.advice import on_the_page
from odefinder.web.options import option_in
from odefinder.web.shelf import Shelf, new_id
from odefinder.web.worker import REFUSED, STOP, STOPPED, Task, work

DIED = (
    "the process of this fit ended without a word: perhaps there was not enough memory, or someone ended it; "
    "press Fit to try again"
)
WAITING, RUNNING, DONE, FAILED, STOPPED_STATE = "waiting", "running", "done", "failed", "stopped"


@dataclass
class Job:
    """One fit, from the moment somebody asked for it."""

    id: str
    task: Task
    state: str = WAITING
    stage: str = ""
    budget: float | None = None  # seconds that the search may take
    best: dict[str, Any] | None = None  # the sketch of the best system so far
    message: str = ""  # why it failed
    option: str | None = None  # which is to blame
    stopping: bool = False
    began: float = field(default_factory=time.monotonic)
    searching: float | None = None  # since when: compiling before does not count
    ended: float | None = None
    line: Connection | None = None  # to its process, while it runs

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in (DONE, FAILED, STOPPED_STATE)


class Fits:
    """All fits of a server."""

    def __init__(self, finished: Callable[[Job], None], processes: int | None = None) -> None:
        self.processes = processes or os.cpu_count() or 1
        self.jobs: Shelf[Job] = Shelf()
        self._finished = finished
        self._pool = ThreadPoolExecutor(self.processes, "fit")
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._lock = threading.Lock()
        self._closed = False

    def start(self, task: Task) -> Job:
        """Put a fit into the queue."""
        job = Job(new_id(), task)
        self.jobs.put(job, job.id)
        self._pool.submit(self._run, job)
        return job

    def stop(self, job: Job) -> None:
        """What Ctrl-C does: a search ends with the best so far; a fit that waits does not begin."""
        with self._lock:
            job.stopping = True
            if job.state == WAITING:
                self._end(job, STOPPED_STATE, STOPPED)
            elif job.line is not None:
                job.line.send(STOP)

    def status(self, job: Job) -> dict[str, Any]:
        """What the page shows of a fit."""
        everyone = list(self.jobs)
        waiting = [one for one in everyone if one.state == WAITING]
        end = time.monotonic() if job.ended is None else job.ended
        return {
            "id": job.id,
            "state": job.state,
            "stage": job.stage,
            "message": job.message,
            "option": job.option,
            "stopping": job.stopping,
            "seconds": round(end - job.began, 1),
            "budget": job.budget,
            "searching": 0.0 if job.searching is None else round(end - job.searching, 1),
            "ahead": waiting.index(job) if job in waiting else 0,
            "running": sum(one.state == RUNNING for one in everyone),
            "waiting": len(waiting),
            "processes": self.processes,
        }

    def close(self) -> None:
        """End all processes at once."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.end()
        self._pool.shutdown(wait=True, cancel_futures=True)

    # ------------------------------------------------------------------------------------ in threads

    def _run(self, job: Job) -> None:
        with self._lock:
            if job.over or self._closed:
                return
            worker = self._idle.pop() if self._idle else Worker()
            self._all.add(worker)
            job.state, job.line, job.began = RUNNING, worker.line, time.monotonic()
        try:
            worker.line.send(job.task)
            while (answer := worker.line.recv())[0] in ("budget", "stage", "best"):
                if answer[0] == "budget":
                    job.budget = answer[1]
                elif answer[0] == "stage":
                    job.stage = answer[1]
                    if job.stage != PREPARING and job.searching is None:
                        job.searching = time.monotonic()
                else:
                    job.best = answer[1]
        except (EOFError, OSError):
            worker.end()
            answer = (STOPPED_STATE, STOPPED) if job.stopping else (FAILED, DIED)
        if answer[0] == DONE:
            self._finished(job)
        with self._lock:
            job.line = None
            self._end(job, *answer)
            if worker.alive:
                self._idle.append(worker)
            else:
                self._all.discard(worker)

    @staticmethod
    def _end(job: Job, state: str, message: str) -> None:
        job.message, job.ended = on_the_page(message), time.monotonic()
        if state == REFUSED:
            state, job.option = FAILED, option_in(message)
        job.state = state


class Worker:
    """A process that fits, and the line to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the server's threads and sockets
        self.line, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def end(self) -> None:
        """End it, whatever it is doing, and what it started itself."""
        if hasattr(os, "killpg") and self.process.pid is not None:
            with suppress(OSError):  # it has no group yet, or nobody is left in it
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
