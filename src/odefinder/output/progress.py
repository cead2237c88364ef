"""One line on the standard error stream that says what a fit is doing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stage_line(shown: bool, budget: float) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the name of each stage as it begins; the line vanishes at the end."""
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
