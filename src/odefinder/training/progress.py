"""How far a run is: its counters, its reports, and what is measured between two of them."""

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
    waiting: float  # share of the time spent waiting for data


class Meter:
    """Averages since the last report."""

    def __init__(self) -> None:
        self.since = time.perf_counter()
        self._losses: list[Tensor] = []
        self._examples, self._waited = 0, 0.0

    def waits_for(self, stream: Iterator[Batch]) -> Batch:
        """The next batch; the time until it is there counts as waiting."""
        before = time.perf_counter()
        batch = next(stream)
        self._waited += time.perf_counter() - before
        return batch

    def add(self, loss: Tensor, examples: int) -> None:
        """Count a step."""
        self._losses.append(loss)
        self._examples += examples

    def report(self, progress: Progress, share: float, rate: float) -> Report:
        """The averages, which begin anew."""
        loss = torch.stack(self._losses).mean().item()  # waits for the device
        seconds = time.perf_counter() - self.since
        news = Report(progress, share, loss, rate, self._examples / seconds, self._waited / seconds)
        self.since = time.perf_counter()
        self._losses, self._examples, self._waited = [], 0, 0.0
        return news
