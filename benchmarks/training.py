"""Speed of training: examples per second, and how long the device waits for data.

    python benchmarks/training.py [--preset default] [--seconds 60] [--device cuda] [--profile]

Everything comes from the loop's own reports.  If the network is compiled, the warm-up ends with the first
report in which no batch shape (number of points, padded target length) was new and none is missing; otherwise
with the first report.  Afterwards the last batches are trained on again and again: how much faster that is
shows what the data cost the device overall.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import torch

from odefinder.network.model import count_parameters
from odefinder.prior.batches import Batch
from odefinder.training import loop
from odefinder.training.loop import Run
from odefinder.training.progress import Report
from odefinder.training.settings import training_preset

KEPT = 60  # last batches, which are repeated without drawing new ones


class Measured(Run):
    """A run that notes which shapes its batches have, and keeps the last ones."""

    shapes: set[tuple[int, int]]
    last: deque[Batch]

    def _step(self, batch: Batch, rate: float) -> torch.Tensor:
        self.shapes.add((batch.points.shape[1], batch.targets.shape[1]))
        self.last.append(batch)
        return super()._step(batch, rate)

    def speed_without_data(self, rounds: int) -> float:
        """Examples per second on batches that are already there."""
        batches = list(self.last)
        super()._step(batches[0], 0.0).item()
        start = time.perf_counter()
        for batch in batches * rounds:
            loss = super()._step(batch, 0.0)
        loss.item()  # waits for the device
        return rounds * sum(map(len, batches)) / (time.perf_counter() - start)

    def profile(self, steps: int = 8) -> str:
        """Where the time of a step goes, on the host and on the device."""
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        with torch.profiler.profile(activities=activities) as profiler:
            for batch in list(self.last)[:steps]:
                super()._step(batch, 0.0).item()
        table: str = profiler.key_averages().table(sort_by="self_cpu_time_total", row_limit=20)
        return table


class Watch:
    """Collects reports after the warm-up, and ends the run when enough time has passed."""

    def __init__(self, run: Measured, seconds: float, patience: float):
        self.run, self.seconds, self.patience = run, seconds, patience
        self.begin = self.last = time.perf_counter()
        self.warm: float | None = None  # when the measurement began
        self.reports: list[tuple[float, Report]] = []  # with the seconds that each covers
        compiled = run.settings.compile and run.device.type == "cuda"
        self.all_shapes = len(run.settings.points) * len(run.settings.lengths) if compiled else 0
        self.known_shapes = 0

    def __call__(self, news: Report) -> None:
        now = time.perf_counter()
        covered, self.last = now - self.last, now
        print(
            f"{now - self.begin:6.1f} s  {news.examples_per_second:8,.0f} examples/s  "
            f"waiting {news.waiting:6.1%}  loss {news.loss:.3f}"
            f"{'' if self.warm is not None else f'  (warm-up, {len(self.run.shapes)} shapes)'}",
            flush=True,
        )
        if self.warm is None:
            before, self.known_shapes = self.known_shapes, len(self.run.shapes)
            settled = self.all_shapes == 0 or before == self.known_shapes == self.all_shapes
            if settled or now - self.begin > self.patience:
                self.warm = now
        else:
            self.reports.append((covered, news))
            if now - self.warm >= self.seconds:
                raise Enough

    def average(self, name: str) -> float:
        """The average of a figure of the reports, weighted by the time that each covers."""
        total = sum(covered for covered, _ in self.reports)
        return sum(covered * getattr(news, name) for covered, news in self.reports) / total


class Enough(Exception):
    """The measurement is complete."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="default")
    parser.add_argument("--seconds", type=float, default=60.0, help="measured, after the warm-up")
    parser.add_argument("--patience", type=float, default=300.0, help="longest warm-up, in seconds")
    parser.add_argument("--profile", action="store_true", help="show where the time of a few steps goes")
    parser.add_argument("--device", help="such as cpu; by default a GPU if there is one")
    options = parser.parse_args()
    settings = training_preset(options.preset)
    if loop.chosen_device(options.device).type == "cpu":  # a step on a GPU's batch would take minutes
        settings = replace(settings, batch_tokens=min(settings.batch_tokens, loop.CPU_TOKENS))
    with tempfile.TemporaryDirectory() as folder:
        run = Measured(Path(folder), settings, resume=False, device=options.device)
        run.shapes, run.last = set(), deque(maxlen=KEPT if run.compiled else 2)
        watch = Watch(run, options.seconds, options.patience)
        with suppress(Enough):
            run.train(minutes=24 * 60, report=watch)
        print_result(run, watch)
        if options.profile:
            print(run.profile())


def print_result(run: Measured, watch: Watch) -> None:
    """The figures."""
    cuda = run.device.type == "cuda"
    device = torch.cuda.get_device_name(run.device) if cuda else f"CPU, {torch.get_num_threads()} threads"
    print(f"network             {count_parameters(run.network) / 1e6:.1f} M parameters")
    print(f"device              {device}")
    print(f"batch               {run.settings.batch_tokens:,} tokens")
    print(f"examples/s          {watch.average('examples_per_second'):,.0f}")
    print(f"waiting for data    {watch.average('waiting'):.1%} of the time")
    alone = run.speed_without_data(rounds=5 if run.compiled else 1)
    print(f"without new data    {alone:,.0f} examples/s")
    if cuda:
        print(f"device memory       {torch.cuda.max_memory_allocated(run.device) / 2**30:.1f} GiB at most")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB, on Linux
    print(f"memory              {peak / 2**20:.1f} GiB at most")
    print(f"reports             {len(watch.reports)}, about every {loop.LOG_EVERY:g} s")


if __name__ == "__main__":
    main()
