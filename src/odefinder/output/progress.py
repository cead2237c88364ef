"""What a fit is doing: one line on the standard error stream, or calls of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from odefinder.edge.rules import shown
from odefinder.errors import SettingsError


def checked_progress(value: Any) -> bool | Callable[[str], None]:
    """What `ODEFormer(progress=...)` may be: yes or no, or a function of the name of a stage."""
    if callable(value):
        try:
            inspect.signature(value).bind("stage")
            return cast(Callable[[str], None], value)
        except ValueError:  # of one that is not written in Python, nothing is known
            return cast(Callable[[str], None], value)
        except TypeError:
            pass
    elif value is None or isinstance(value, (bool, int, np.bool_)):
        return bool(value)
    raise SettingsError(f"progress is True, False or a function of one argument, not {shown(value)}")


@contextmanager
def stage_line(wanted: bool | Callable[[str], None], budget: float) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the name of each stage as it begins; the line vanishes at the end.

    A function as `wanted` is called instead of showing the line.
    """
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    limit = f" (at most {budget:g} s)" if budget < float("inf") else ""
    with Progress(*columns, console=Console(stderr=True), transient=True) as line:
        task = line.add_task("reading", total=None)

        def report(stage: str) -> None:
            line.update(task, description=stage + (limit if stage == "searching" else ""))

        yield report
