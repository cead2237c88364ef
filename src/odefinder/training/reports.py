"""What is shown and kept while a run goes on: a progress line and TensorBoard scalars."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from odefinder.training.progress import Progress, Report

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

PLAIN_EVERY = 30.0  # seconds between lines where there is no terminal to rewrite one on


class ProgressLine(AbstractContextManager["ProgressLine"]):
    """One line: how far the run is, its loss, its speed and the time left.

    first: where this slice began; budget: its length in minutes or in steps.
    """

    def __init__(
        self,
        first: Progress,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        console: Console | None = None,
    ):
        self.first, self.minutes, self.steps = first, minutes, steps
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None
        self._shown = -PLAIN_EVERY

    def share(self, progress: Progress) -> float:
        """How much of this slice is done, from 0 to 1."""
        if self.minutes is not None:
            done = (progress.minutes - self.first.minutes) / self.minutes
        else:
            done = (progress.step - self.first.step) / max(self.steps or 0, 1)
        return min(done, 1.0)

    def line(self, news: Report) -> str:
        """The report in words."""
        progress, done = news.progress, self.share(news.progress)
        left = (progress.minutes - self.first.minutes) * (1.0 - done) / max(done, 1e-9)
        return (
            f"{done:4.0%}  step {progress.step:,}  {progress.examples:,} examples  loss {news.loss:.3f}  "
            f"{news.examples_per_second:,.0f} examples/s  waiting {news.waiting:.1%}  {left:.1f} min left"
        )

    def __enter__(self) -> ProgressLine:
        if self._live is not None:
            self._live.__enter__()
        return self

    def __call__(self, news: Report) -> None:
        """Show a report."""
        if self._live is not None:
            self._live.update(Text(self.line(news), no_wrap=True, overflow="ellipsis"), refresh=True)
        elif time.monotonic() - self._shown >= PLAIN_EVERY or self.share(news.progress) >= 1.0:
            self.console.print(self.line(news), highlight=False, soft_wrap=True)
            self._shown = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, value, trace)


class Scalars(AbstractContextManager["Scalars"]):
    """The figures of every report for TensorBoard, in the run's folder; nothing if it is not installed."""

    def __init__(self, folder: Path):
        self.folder = folder / "tensorboard"
        self._writer: SummaryWriter | None = None  # from the first report on

    def __call__(self, news: Report) -> None:
        """Keep a report; the horizontal axis is the number of examples seen."""
        if self._writer is None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                return
            self._writer = SummaryWriter(str(self.folder))
        figures = {
            "loss": news.loss,
            "learning rate": news.rate,
            "speed/examples per second": news.examples_per_second,
            "speed/share of time waiting for data": news.waiting,
        }
        for name, value in figures.items():
            self._writer.add_scalar(name, value, news.progress.examples)
        self._writer.flush()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()
