"""How commands end: 0 fine, 1 one of our errors, 2 wrong use (from Typer), 130 Ctrl-C.

Where nobody reads what is printed (a pipe that was closed), a command ends as if all was read; where it
cannot be written (a full disk), with a message and 1.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from odefinder.errors import OdefinderError

FAILED, INTERRUPTED = 1, 130
AGAIN = 0.05  # seconds until a lost Ctrl-C is repeated


@contextmanager
def plain_errors() -> Iterator[None]:
    """Our own errors and warnings as one message instead of a traceback."""
    with warnings.catch_warnings():
        warnings.showwarning = _plain_warning
        try:
            yield
            if sys.stdout is not None:
                sys.stdout.flush()
        except OdefinderError as problem:
            say(f"odefinder: {problem}")
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt as stop:
            say(str(stop) or "Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _discard_output()
        except OSError as problem:
            if problem.filename is not None and problem.errno != errno.ENOSPC:
                raise
            if problem.errno == errno.ENOENT:  # what asks for the current folder, as libraries do
                say("odefinder: the current folder does not exist any more; change to another one")
            else:
                say(f"odefinder: cannot write the output: {problem.strerror or problem}")
            _discard_output()
            raise typer.Exit(FAILED) from None


def say(text: str) -> None:
    """A line on the standard error stream, if there is one that takes it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            typer.echo(text, err=True)


def open_streams() -> None:
    """Put the null device where a stream was closed, so that printing does not fail."""
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            if descriptor != number:
                with contextlib.suppress(OSError):
                    os.dup2(descriptor, number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def keep_interrupts() -> None:
    """Repeat a Ctrl-C that is lost in a destructor or a callback, where Python prints it and goes on."""
    usual = sys.unraisablehook

    def hook(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(AGAIN, _thread.interrupt_main)
            again.daemon = True  # a command that ends before need not wait for it
            again.start()
        else:
            usual(lost)

    sys.unraisablehook = hook


def leave_at_once(code: int) -> NoReturn:
    """End without tearing libraries down: a thread that still loads the network would abort the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _discard_output() -> None:
    """What is still to be printed goes nowhere, also when Python ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plain_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    say(f"odefinder: {message}")
