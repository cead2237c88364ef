"""How commands end: 0 fine, 1 one of our errors, 2 wrong use (from Typer), 130 Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from odefinder.errors import OdefinderError

FAILED, INTERRUPTED = 1, 130


@contextmanager
def plain_errors() -> Iterator[None]:
    """Our own errors and warnings as one message instead of a traceback."""
    with warnings.catch_warnings():
        warnings.showwarning = _plain_warning
        try:
            yield
        except OdefinderError as problem:
            typer.echo(f"odefinder: {problem}", err=True)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt as stop:
            typer.echo(str(stop) or "Stopped.", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _plain_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"odefinder: {message}", err=True)
