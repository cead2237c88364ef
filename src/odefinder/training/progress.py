"""How far a run is: its counters, its reports, and what is measured between two reports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from odefinder.prior.batches import Batch


@dataclass(frozen=True)
class Progress:
    """Counters of a run over all its slices."""

    step: int = 0
    examples: int = 0
    minutes: float = 0.0


@dataclass(frozen=True)
class Report:
    """What the loop tells while it runs."""

    progress: Progress
    share: float  # of the plan
    loss: float
    rate: float
    examples_per_second: float
    waiting: float  # share of the time in which the device waited for data


class Meter:
    """Averages since the last report.

    On a GPU, whose work lags behind the loop, the time between the end of a step and the beginning of the
    next counts as waiting; on a CPU, the time until a batch arrives.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._restart()

    def _restart(self) -> None:
        self._since = time.perf_counter()
        self._losses: list[Tensor] = []
        self._examples, self._waited = 0, 0.0
        self._ended: torch.cuda.Event | None = None  # the last step
        self._gaps: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []  # between steps

    def waits_for(self, stream: Iterator[Batch]) -> Batch:
        """The next batch."""
        before = time.perf_counter()
        batch = next(stream)
        self._waited += time.perf_counter() - before
        if self._ended is not None:
            self._gaps.append((self._ended, _mark()))
        return batch

    def add(self, loss: Tensor, examples: int) -> None:
        """Count a step."""
        self._losses.append(loss)
        self._examples += examples
        if self._on_gpu:
            self._ended = _mark()

    def report(self, progress: Progress, share: float, rate: float) -> Report:
        """The averages, which then start again."""
        loss = torch.stack(self._losses).mean().item()  # waits for the device
        seconds = time.perf_counter() - self._since
        if self._on_gpu:
            self._waited = sum(end.elapsed_time(begin) for end, begin in self._gaps) / 1000.0
        news = Report(progress, share, loss, rate, self._examples / seconds, self._waited / seconds)
        self._restart()
        return news


def _mark() -> torch.cuda.Event:
    """A point in the GPU's work, at which it notes the time."""
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event
