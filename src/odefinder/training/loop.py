"""The training loop: draw, learn, save, and go on where it stopped.

    odefinder train --preset default --minutes 25 --out runs/default --resume

The schedule is a share of the plan: the learning rate depends on the minutes trained so far (over all
slices) relative to the planned minutes.  A longer plan given at a resume raises the rate again.
"""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType, MethodType
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from odefinder.errors import CheckpointError, SettingsError
from odefinder.network import checkpoint
from odefinder.network.model import DecoderLayer, EncoderLayer, Network, WaveEmbedder, count_parameters
from odefinder.network.presets import network_preset
from odefinder.prior.batches import Batch, BatchStream, StreamState
from odefinder.prior.presets import prior_preset
from odefinder.tokens import Vocabulary
from odefinder.training.optimizer import Optimizer, learning_rate
from odefinder.training.settings import TrainingSettings

SAVE_EVERY = 150.0  # seconds: what a kill -9 may cost
LOG_EVERY = 5.0  # seconds
CPU_TOKENS = 4_000  # worked off at once on a CPU, about 2.5 GB with the default network
# What a resume may change; everything else would make it another run.
MAY_CHANGE = {"threads", "compile", "learning_rate", "warmup", "decay", "clip"}


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


class Run:
    """A network in training: one folder, resumable."""

    def __init__(self, folder: Path, settings: TrainingSettings, *, resume: bool, device: str | None = None):
        if folder.exists() and not folder.is_dir():
            raise SettingsError(f"{folder} is a file; give --out a folder for the run")
        self.folder = folder
        self.settings = settings
        self.device = chosen_device(device)
        self.path = folder / "checkpoint.safetensors"
        self.progress = Progress()
        self.stream_state = StreamState()
        tensors: dict[str, Tensor] = {}
        if self.path.exists():
            if not resume:
                raise SettingsError(f"{folder} holds a run already; give --resume to go on, or another --out")
            tensors, head = checkpoint.read(self.path)
            self._check_same(head)
            self.network = checkpoint.network_of(checkpoint.part(tensors, "model."), head, str(self.path))
            try:
                self.progress = Progress(**head["progress"])
                self.stream_state = StreamState.from_dict(head["stream"])
            except (KeyError, TypeError) as error:
                raise CheckpointError(
                    f"{self.path} does not say where its run stopped, in a way that this version reads; "
                    "resume it with the odefinder version that wrote it, or choose another --out"
                ) from error
        else:
            torch.manual_seed(settings.seed)
            self.network = Network(network_preset(settings.network))
        if settings.lengths[-1] > self.network.settings.max_length:
            raise SettingsError(
                f"the network writes at most {self.network.settings.max_length} tokens, the targets have up "
                f"to {settings.lengths[-1]}; choose shorter lengths"
            )
        self.network.to(self.device)
        self.optimizer = Optimizer(self.network, settings.learning_rate, muon=settings.muon)
        if state := checkpoint.part(tensors, "optimizer."):
            self.optimizer.load(state)
        if settings.compile and self.device.type == "cuda":
            compile_layers(self.network)

    def _check_same(self, head: dict[str, Any]) -> None:
        if head.get("kind") != "checkpoint":
            raise CheckpointError(
                f"{self.path} holds weights but no run that could go on; choose another --out"
            )
        before, now = head["training"], json.loads(json.dumps(asdict(self.settings)))
        changed = {name for name in now if before.get(name) != now[name]} - MAY_CHANGE
        if changed:
            differences = ", ".join(
                f"{name} was {before.get(name)}, now {now[name]}" for name in sorted(changed)
            )
            raise CheckpointError(
                f"{self.path} belongs to a run with other settings ({differences}); resume it with those, "
                "or choose another --out"
            )

    def save(self) -> None:
        """Write the checkpoint: weights, optimiser, counters, and where the data stand."""
        tensors = {f"model.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"optimizer.{k}": v for k, v in self.optimizer.state().items()}
        head = checkpoint.header(
            self.network.settings,
            kind="checkpoint",
            training=asdict(self.settings),
            progress=asdict(self.progress),
            stream=self.stream_state.to_dict(),
            parameters=count_parameters(self.network),
        )
        checkpoint.write(self.path, tensors, head)

    def plain_network(self) -> Network:
        """A copy of the network that is not compiled: decoding meets too many shapes."""
        network = Network(self.network.settings)
        network.load_state_dict(self.network.state_dict())
        return network.to(self.device).eval()

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
        if not (minutes if minutes is not None else steps or 0) > 0:
            raise SettingsError("minutes and steps are the training still to be done: more than 0")
        settings, first, start = self.settings, self.progress, time.perf_counter()

        def used(progress: Progress) -> float:
            return progress.minutes if minutes is not None else float(progress.step)

        budget = minutes if minutes is not None else float(steps or 0)
        total = plan if plan is not None else used(first) + budget
        if not total > used(first):
            raise SettingsError(
                f"the plan of {total:g} is used up: {used(first):g} are done already, and beyond the plan "
                "the learning rate is 0; give a longer plan"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        meter, saved = Meter(), start
        self.network.train()
        with self._stream() as stream, (self.folder / "log.jsonl").open("a") as log:
            interrupt = _Interrupt()
            try:
                while True:
                    batch = meter.waits_for(stream)
                    share = used(self.progress) / total
                    rate = learning_rate(settings.learning_rate, share, settings.warmup, settings.decay)
                    meter.add(self._step(batch, rate), len(batch))
                    now = time.perf_counter()
                    self.progress = Progress(
                        self.progress.step + 1,
                        self.progress.examples + len(batch),
                        first.minutes + (now - start) / 60,
                    )
                    self.stream_state = stream.state
                    done = interrupt.asked or used(self.progress) - used(first) >= budget
                    if done or now - meter.since > LOG_EVERY:
                        news = meter.report(self.progress, share, rate)
                        self._check_finite(news)
                        log.write(json.dumps(asdict(news)) + "\n")
                        log.flush()
                        report(news)
                        if done or now - saved > SAVE_EVERY:
                            self.save()
                            saved = time.perf_counter()
                    if done:
                        break
            finally:
                interrupt.restore()

    def _check_finite(self, news: Report) -> None:
        """Stop before weights that are lost replace the last good checkpoint."""
        if not math.isfinite(news.loss):
            raise SettingsError(
                f"the loss is no longer finite at step {news.progress.step}, with a learning rate of "
                f"{news.rate:.2g}; resume from the last checkpoint with a lower learning rate"
            )

    def _stream(self) -> BatchStream:
        settings = self.settings
        return BatchStream(
            prior_preset(settings.prior),
            Vocabulary.preset(self.network.settings.vocabulary),
            points=settings.points,
            lengths=settings.lengths,
            batch_size=settings.batch_size,
            seed=settings.seed,
            threads=settings.threads,
            state=self.stream_state,
        )

    def _step(self, batch: Batch, rate: float) -> Tensor:
        """One update.  On a CPU the batch is worked off in parts, for the sake of memory."""
        rows = len(batch)
        if self.device.type == "cpu":
            rows = max(1, CPU_TOKENS // (batch.points.shape[1] + batch.targets.shape[1]))
        total = torch.zeros((), device=self.device)
        for first in range(0, len(batch), rows):
            part = batch.rows(slice(first, first + rows))
            share = float(part.target_lengths.sum() / batch.target_lengths.sum())
            loss = share * self._loss(part)
            torch.autograd.backward(loss)
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step(rate)
        return total

    def _loss(self, batch: Batch) -> Tensor:
        as_tokens = self.network.settings.embedder == "tokens"
        points = self._moved(batch.input_ids() if as_tokens else batch.points)
        trajectory, targets = self._moved(batch.trajectory), self._moved(batch.targets)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            return self.network.loss(points, trajectory, targets)

    def _moved(self, array: NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor


class Meter:
    """Averages since the last report."""

    def __init__(self) -> None:
        self.since = time.perf_counter()
        self._losses: list[Tensor] = []
        self._examples, self._waited = 0, 0.0

    def waits_for(self, stream: BatchStream) -> Batch:
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


def chosen_device(name: str | None) -> torch.device:
    """The device of this name, tried out; a GPU if there is one and no name is given."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # no such device, or torch built without it
        raise SettingsError(
            f"torch cannot use the device {name!r} here ({str(error).splitlines()[0]}); choose cpu, or leave "
            "the device out"
        ) from error


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
    torch._dynamo.config.recompile_limit = 64
    for kind in (EncoderLayer, DecoderLayer, WaveEmbedder):
        function = torch.compile(kind.forward, dynamic=False)
        for module in network.modules():
            if type(module) is kind:
                module.__dict__["forward"] = MethodType(function, module)
