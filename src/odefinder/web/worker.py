"""What runs in a worker process: fits, one after the other, until the server closes the line.

Tasks and answers are plain data.  A thread listens while a fit runs, so that "stop" reaches it as Ctrl-C.
"""

from __future__ import annotations

import _thread
import queue
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from odefinder.errors import OdefinderError
from odefinder.web.tables import Table

STOP = "stop"
STOPPED = "The fit was stopped before it had found a system."


@dataclass(frozen=True)
class Task:
    """A fit to be done; the result is written to `target` as a model file."""

    table: Table
    roles: Mapping[str, str] | None
    options: Mapping[str, Any]  # parameters of ODEFormer
    target: Path


def work(line: Connection) -> None:
    """The main loop.  Answers are pairs: ("stage", name), ("done", ""), ("failed", why), ("stopped", why)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    busy = threading.Event()

    def listen() -> None:
        while True:
            try:
                message = line.recv()
            except (EOFError, OSError):
                message = None
            if message != STOP:
                tasks.put(message)
            elif busy.is_set():
                _thread.interrupt_main()
            if message is None:
                return

    threading.Thread(target=listen, daemon=True).start()
    try:
        while (task := tasks.get()) is not None:
            line.send(_answer(task, line, busy))
    except (KeyboardInterrupt, OSError):  # Ctrl-C in the terminal, or the server is gone
        return


def _answer(task: Task, line: Connection, busy: threading.Event) -> tuple[str, str]:
    """Do the fit; what to tell the server at the end."""
    try:
        busy.set()
        _fit(task, line)
        busy.clear()
        return "done", ""
    except OdefinderError as error:
        return "failed", str(error)
    except KeyboardInterrupt:
        return "stopped", STOPPED
    except MemoryError:
        return "failed", "there is not enough memory for this fit; give fewer points or variables"
    except Exception as error:  # a bug of ours must not end the process without a word
        return "failed", f"the fit ended with an error of odefinder itself ({type(error).__name__}: {error})"
    finally:
        busy.clear()


def _fit(task: Task, line: Connection) -> None:
    from odefinder.estimator import ODEFormer

    def report(stage: str) -> None:
        line.send(("stage", stage))

    model = ODEFormer(**task.options, progress=report)
    model.fit(task.table.read(task.roles))
    model.progress = False
    model.save(task.target)
