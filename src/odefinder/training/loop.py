"""The training loop: draw, learn, save, and go on where it stopped.

    odefinder train --preset default --minutes 25 --out runs/default --resume

The schedule is a share of the plan: the learning rate depends on the minutes trained so far (over all
slices) relative to the planned minutes.  A longer plan given at a resume raises the rate again.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType, MethodType
from typing import Any

import torch
from torch import Tensor

from odefinder.errors import CheckpointError, SettingsError
from odefinder.network import checkpoint
from odefinder.network.model import DecoderLayer, EncoderLayer, Network, WaveEmbedder, count_parameters
from odefinder.network.presets import network_preset
from odefinder.tokens import Vocabulary
from odefinder.training.feed import Batch, Feed
from odefinder.training.optimizer import Optimizer, learning_rate
from odefinder.training.settings import TrainingSettings

SAVE_EVERY = 150.0  # seconds: what a kill -9 may cost
LOG_EVERY = 5.0  # seconds


@dataclass(frozen=True)
class Progress:
    """Counters of a run over all its slices."""

    step: int = 0
    examples: int = 0
    minutes: float = 0.0
    chunk: int = 0  # of the feed


@dataclass(frozen=True)
class Report:
    """What the loop tells while it runs."""

    progress: Progress
    share: float  # of the plan
    loss: float
    rate: float
    examples_per_second: float
    waiting: float  # share of the time spent waiting for data


class Run:
    """A network in training: one folder, resumable."""

    def __init__(self, folder: Path, settings: TrainingSettings, *, resume: bool, device: str | None = None):
        self.folder = folder
        self.settings = settings
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.path = folder / "checkpoint.safetensors"
        self.progress = Progress()
        tensors: dict[str, Tensor] = {}
        if self.path.exists():
            if not resume:
                raise SettingsError(f"{folder} holds a run already; give --resume to go on, or another --out")
            tensors, head = checkpoint.read(self.path)
            self._check_same(head)
            weights = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
            self.network = checkpoint.network_of(weights, head, str(self.path))
            self.progress = Progress(**head["progress"])
        else:
            torch.manual_seed(settings.seed)
            self.network = Network(network_preset(settings.network))
        self.network.to(self.device)
        self.optimizer = Optimizer(self.network, settings.learning_rate, muon=settings.muon)
        state = {k.removeprefix("optimizer."): v for k, v in tensors.items() if k.startswith("optimizer.")}
        if state:
            self.optimizer.load(state)
        if settings.compile and self.device.type == "cuda":
            compile_layers(self.network)

    def _check_same(self, head: dict[str, Any]) -> None:
        before = TrainingSettings(**{k: tuple(v) if isinstance(v, list) else v for k, v in head["training"].items()})
        free = {"threads": 0, "compile": True, "learning_rate": 0.0, "decay": 0.0, "batch_tokens": 0, "warmup": 0.0}
        if replace(before, **free) != replace(self.settings, **free):
            raise CheckpointError(
                f"{self.path} belongs to a run with other settings: {before}; resume it with those, "
                "or choose another --out"
            )

    def save(self) -> None:
        """Write the checkpoint: weights, optimiser, counters."""
        tensors = {f"model.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"optimizer.{k}": v for k, v in self.optimizer.state().items()}
        head = checkpoint.header(
            self.network.settings,
            kind="checkpoint",
            training=asdict(self.settings),
            progress=asdict(self.progress),
            parameters=count_parameters(self.network),
        )
        checkpoint.write(self.path, tensors, head)

    def plain_network(self) -> Network:
        """A copy of the network that is not compiled: decoding meets too many shapes."""
        network = Network(self.network.settings)
        network.load_state_dict(self.network.state_dict())
        return network.to(self.device).eval()

    def _tensors(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        def moved(array: Any) -> Tensor:
            tensor = torch.from_numpy(array)
            if self.device.type == "cuda":
                return tensor.pin_memory().to(self.device, non_blocking=True)
            return tensor

        return moved(batch.points), moved(batch.trajectory), moved(batch.targets)

    def train(
        self,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        plan: float | None = None,
        report: Callable[[Report], None] = lambda _: None,
    ) -> None:
        """Train for so many minutes or steps more; the plan is the total in the same unit."""
        if (minutes is None) == (steps is None):
            raise SettingsError("give either minutes or steps")
        settings = self.settings
        start, first = time.perf_counter(), self.progress
        total = plan or ((first.minutes + minutes) if minutes is not None else (first.step + (steps or 0)))
        vocabulary = Vocabulary.preset(self.network.settings.vocabulary)
        feed = Feed(settings, vocabulary, self.network.settings.embedder == "tokens", first.chunk)
        self.folder.mkdir(parents=True, exist_ok=True)
        log = (self.folder / "log.jsonl").open("a")
        stopping = _Interrupt()
        saved = logged = start
        losses: list[Tensor] = []
        counted, waited = 0, 0.0
        before = time.perf_counter()
        self.network.train()
        try:
            for batch in feed:
                waited += time.perf_counter() - before
                elapsed = first.minutes + (time.perf_counter() - start) / 60
                share = (elapsed if minutes is not None else self.progress.step) / total
                rate = learning_rate(settings.learning_rate, share, settings.warmup, settings.decay)
                losses.append(self._step(batch, rate))
                counted += len(batch.points)
                self.progress = Progress(
                    self.progress.step + 1, self.progress.examples + len(batch.points), elapsed, feed.next_chunk
                )
                now = time.perf_counter()
                done = (
                    elapsed - first.minutes >= minutes
                    if minutes is not None
                    else self.progress.step - first.step >= (steps or 0)
                )
                done = done or stopping.asked
                if now - logged > LOG_EVERY or done:
                    loss = torch.stack(losses).mean().item()
                    now = time.perf_counter()
                    speed = counted / (now - logged)
                    news = Report(self.progress, share, loss, rate, speed, waited / (now - logged))
                    log.write(json.dumps(asdict(news)) + "\n")
                    log.flush()
                    report(news)
                    losses, counted, waited, logged = [], 0, 0.0, now
                if now - saved > SAVE_EVERY or done:
                    self.save()
                    saved = time.perf_counter()
                if done:
                    break
                before = time.perf_counter()
        finally:
            feed.close()
            log.close()
            stopping.restore()

    def _step(self, batch: Batch, rate: float) -> Tensor:
        points, trajectory, targets = self._tensors(batch)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            loss = self.network.loss(points, trajectory, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step(rate)
        return loss.detach()


class _Interrupt:
    """The first Ctrl-C or SIGTERM ends the run after the current step, with its checkpoint saved."""

    def __init__(self) -> None:
        self.asked = False
        self._before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        except ValueError:  # not the main thread: whoever runs us handles signals
            pass

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def compile_layers(network: Network) -> None:
    """Compile one function for all encoder layers and one for all decoder layers, static shapes."""
    torch._dynamo.config.recompile_limit = 64  # type: ignore[attr-defined]
    for kind in (EncoderLayer, DecoderLayer, WaveEmbedder):
        function = torch.compile(kind.forward, dynamic=False)
        for module in network.modules():
            if type(module) is kind:
                module.forward = MethodType(function, module)  # type: ignore[method-assign]
