"""What a fit is doing: one line on the standard error stream, or calls of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stage_line(shown: bool | Callable[[str], None], budget: float) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the name of each stage as it begins; the line vanishes at the end.

    A function as `shown` is called instead of showing the line.
    """
    if callable(shown):
        yield shown
        return
    if not shown:
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
