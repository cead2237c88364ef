"""What runs in a worker process: fits, one after the other, until the server closes the line.

Tasks and answers are plain data.  A thread listens while a fit runs, so that "stop" reaches it as Ctrl-C.
Another one speaks, so that Ctrl-C never cuts a message in two.
"""

from __future__ import annotations

import _thread
import os
import queue
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from odefinder.data.dataset import Dataset, Floats
from odefinder.errors import ExpressionError, OdefinderError, SettingsError
from odefinder.system import ODESystem
from odefinder.web.tables import Reading, Table

Answer = tuple[str, Any]
Say = Callable[[Answer], None]
STOP = "stop"
REFUSED = "refused"  # an option is to blame
STOPPED = "The fit was stopped before it had found a system."


@dataclass(frozen=True)
class Task:
    """A fit to be done; the result is written to `target` as a model file."""

    table: Table
    reading: Reading
    options: Mapping[str, Any]  # parameters of ODEFormer
    target: Path


def work(line: Connection) -> None:
    """The main loop.

    Answers are pairs: ("budget", seconds), ("stage", name), ("best", sketch), ("done", ""), ("failed", why),
    ("refused", why), ("stopped", why).
    """
    if hasattr(os, "setsid"):
        os.setsid()  # a group of its own: what it starts ends with it, and Ctrl-C is the server's business
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    busy = threading.Event()

    def listen() -> None:
        while True:
            try:
                message = line.recv()
            except (EOFError, OSError):  # the server is gone: nobody wants the result
                _end_group()
            if message != STOP:
                tasks.put(message)
            elif busy.is_set():
                _thread.interrupt_main()

    def speak() -> None:
        with suppress(OSError):  # the server is gone, as `listen` notices, too
            while True:
                line.send(answers.get())

    for one in (listen, speak):
        threading.Thread(target=one, daemon=True).start()
    with suppress(KeyboardInterrupt):
        while True:
            answers.put(_answer(tasks.get(), answers.put, busy))


def _end_group() -> NoReturn:
    """End this process and those that it started."""
    if hasattr(os, "killpg"):
        os.killpg(os.getpgid(0), signal.SIGKILL)
    os._exit(1)


def _answer(task: Task, say: Say, busy: threading.Event) -> Answer:
    """Do the fit; what to tell the server at the end."""
    try:
        busy.set()
        _fit(task, say)
        busy.clear()
        return "done", ""
    except (SettingsError, ExpressionError) as error:
        return REFUSED, str(error)
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


def _fit(task: Task, say: Say) -> None:
    from odefinder.estimator import ODEFormer
    from odefinder.inference.settings import default_budget

    dataset = task.table.read(task.reading)
    model = ODEFormer(**task.options)
    cast = model._cast(dataset)
    say(("budget", model.time_budget or default_budget(cast.dimension)))
    model.progress = _Progress(say, cast)
    model.fit(dataset)
    model.progress = False
    model.save(task.target)


class _Progress:
    """Says what a fit is doing, and draws the best system so far."""

    def __init__(self, say: Say, dataset: Dataset) -> None:
        self.say, self.dataset = say, dataset

    def __call__(self, stage: str) -> None:
        self.say(("stage", stage))

    def better(self, system: ODESystem, starts: Floats) -> None:
        from odefinder.web.curves import sketch

        with suppress(OdefinderError):  # a picture is not worth a fit
            self.say(("best", sketch(system, starts, self.dataset)))
