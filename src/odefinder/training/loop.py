"""The training loop: draw, learn, save, and continue where it stopped.

    odefinder train --preset default --minutes 25 --out runs/default --resume

The learning rate depends on how much of the plan is done: the minutes trained so far (over all slices)
relative to the planned minutes.  Resuming with a longer plan raises the rate again.
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from odefinder.edge.writing import make_folder
from odefinder.errors import CheckpointError, SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.limits.interrupt import Interrupt
from odefinder.network import checkpoint
from odefinder.network.files import WITH_ROLES
from odefinder.network.model import Network, count_parameters
from odefinder.network.presets import network_preset
from odefinder.prior.batches import Batch, BatchStream, StreamState
from odefinder.prior.presets import prior_preset
from odefinder.training.average import WeightAverage
from odefinder.training.compilation import (
    Recording,
    can_be_recorded,
    compile_layers,
    empty_batch,
    prepare_gradients,
)
from odefinder.training.feed import Feed
from odefinder.training.optimizer import Optimizer, learning_rate
from odefinder.training.processes import Processes
from odefinder.training.progress import Meter, Progress, Report
from odefinder.training.settings import TrainingSettings

POLITE = (signal.SIGINT, signal.SIGTERM)  # after the first, the run ends with its checkpoint saved
SAVE_EVERY = 150.0  # seconds: what a kill -9 may cost
LOG_EVERY = 5.0  # seconds
CPU_TOKENS = 4_000  # processed at once on a CPU: about 2.5 GB with the default network
# What a resume may change; everything else would make it another run.
MAY_CHANGE = {"threads", "compile", "learning_rate", "warmup", "decay", "clip", "constants", "outlines"}


@dataclass(frozen=True)
class Goal:
    """How much training is to be done, in minutes or in steps."""

    in_minutes: bool
    budget: float  # from now on
    total: float  # of the plan, with what is done already

    @classmethod
    def of(cls, done: Progress, minutes: float | None, steps: int | None, plan: float | None) -> Goal:
        """This many more minutes or steps; without a plan, the run ends with them."""
        if (minutes is None) == (steps is None):
            raise SettingsError("give either minutes or steps")
        in_minutes = minutes is not None
        budget = float((minutes if in_minutes else steps) or 0)
        if not budget > 0:
            raise SettingsError("minutes and steps are the training still to be done: more than 0")
        goal = cls(in_minutes, budget, 0.0)
        used = goal.used(done)
        total = plan if plan is not None else used + budget
        if not total > used:
            raise SettingsError(
                f"the plan of {total:g} is used up: {used:g} are already done, and beyond the plan "
                "the learning rate is 0; give a longer plan"
            )
        return replace(goal, total=total)

    def used(self, progress: Progress) -> float:
        """How much of the total is done."""
        return progress.minutes if self.in_minutes else float(progress.step)


class Run:
    """A network in training: one folder, resumable."""

    def __init__(
        self,
        folder: Path,
        settings: TrainingSettings,
        *,
        resume: bool,
        device: str | None = None,
        weights: Path | None = None,
    ):
        """weights: a file with weights from which a new run starts instead of random ones."""
        if os.path.exists(folder) and not folder.is_dir():  # which also takes names that are too long
            raise SettingsError(f"{folder} is a file; give --out a folder for the run")
        if resume and weights is not None:
            raise SettingsError(
                "--resume goes on with the weights of the run, --weights begins a new one; give one of them"
            )
        self.folder = folder
        self.settings = settings
        self.processes = Processes()
        self.device = chosen_device(device, self.processes.local_rank)
        if self.device.type == "cuda":
            torch.set_num_threads(1)  # others would spin while the GPU works; drawing needs the cores
        self.path = folder / "checkpoint.safetensors"
        self.progress = Progress()
        self.stream_state = StreamState()
        self._streams: list[dict[str, Any]] = []  # of all processes, when they were saved
        tensors: dict[str, Tensor] = {}
        head: dict[str, Any] = {}
        if os.path.exists(self.path):
            if not resume:
                raise SettingsError(f"{folder} holds a run already; give --resume to go on, or another --out")
            tensors, head = checkpoint.read(self.path)
            self._check_same(head)
            self.network = checkpoint.network_of(checkpoint.part(tensors, "model."), head, str(self.path))
            self._resume(head)
        else:
            torch.manual_seed(settings.seed)
            self.network = (
                Network(network_preset(settings.network)) if weights is None else _begun(weights, settings)
            )
        if settings.lengths[-1] > self.network.settings.max_length:
            raise SettingsError(
                f"the network writes at most {self.network.settings.max_length} tokens, the targets have up "
                f"to {settings.lengths[-1]}; choose shorter lengths"
            )
        self.network.to(self.device)
        self.optimizer = Optimizer(self.network, settings.learning_rate, muon=settings.muon)
        if state := checkpoint.part(tensors, "optimizer."):
            self.optimizer.load(state)
        self.average = WeightAverage(self.network, settings.average)
        if averages := checkpoint.part(tensors, "average."):
            self.average.load(averages, head["averaged"])
        self.compiled = settings.compile and self.device.type == "cuda"
        self._recordings: dict[tuple[int, int], Recording] = {}  # by points and length of the targets
        if self.compiled:
            compile_layers(self.network)

    def _check_same(self, head: dict[str, Any]) -> None:
        if head.get("kind") != "checkpoint":
            raise CheckpointError(
                f"{self.path} holds weights but no run that could continue; choose another --out"
            )
        if head["network"]["embedder"] == "waves" and head.get("version", 1) < WITH_ROLES:
            raise CheckpointError(
                f"{self.path} belongs to a run whose network does not know the roles of columns; begin a "
                f"new run with its weights: another --out, and --weights {self.path}"
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

    def _resume(self, head: dict[str, Any]) -> None:
        """Take over the counters and the position in the data."""
        try:
            self.progress = Progress(**head["progress"])
            states = [StreamState.from_dict(entry) for entry in head["streams"]]
        except (KeyError, TypeError) as error:
            raise CheckpointError(
                f"{self.path} does not say where its run stopped, in a way that this version reads; "
                "resume it with the odefinder version that wrote it, or choose another --out"
            ) from error
        count = self.processes.count
        if len(states) == count:
            self.stream_state = states[self.processes.rank]
        else:  # a different number of processes: continue after everything that was drawn
            furthest = max(state.next_chunk for state in states)
            self.stream_state = StreamState(-(-furthest * len(states) // count))

    def save(self) -> None:
        """Write the checkpoint: weights, optimiser, counters, and the position in the data."""
        self._streams = self.processes.gathered(self.stream_state.to_dict())
        if not self.processes.first:
            return
        tensors = {f"model.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.tensors.items()}
        tensors |= {f"optimizer.{k}": v for k, v in self.optimizer.state().items()}
        checkpoint.write(self.path, tensors, self._header())

    def save_portable(self, path: Path) -> None:
        """Write the last saved state for another machine: half precision, no momenta, a sixth of the size.

        Copy it to a run's folder to continue from it; the result is not the same to the bit.
        """
        tensors = {f"model.{k}": v.half() for k, v in self.network.state_dict().items()}
        for k, v in self.optimizer.state().items():
            if "momentum" not in k:
                tensors[f"optimizer.{k}"] = v if v.ndim == 0 else v.bfloat16()
        checkpoint.write(path, tensors, self._header())

    def _header(self) -> dict[str, Any]:
        return checkpoint.header(
            self.network.settings,
            kind="checkpoint",
            training=asdict(self.settings),
            progress=asdict(self.progress),
            averaged=self.average.steps,
            streams=self._streams,
            parameters=count_parameters(self.network),
        )

    def plain_network(self) -> Network:
        """A copy with the averaged weights that is not compiled: decoding meets too many shapes."""
        network = Network(self.network.settings)
        network.load_state_dict(self.average.tensors)
        return network.to(self.device).eval()

    def save_snapshot(self) -> None:
        """Keep the current averaged weights as a small file, to be validated later."""
        path = self.folder / "snapshots" / f"{self.progress.examples:012d}.safetensors"
        checkpoint.save_weights(
            path, self.plain_network(), progress=asdict(self.progress), training=asdict(self.settings)
        )

    def train(
        self,
        *,
        minutes: float | None = None,
        steps: int | None = None,
        plan: float | None = None,
        snapshots: float | None = None,
        report: Callable[[Report], None] = lambda _: None,
    ) -> None:
        """Train for this many more minutes or steps; the plan is the total in the same unit.

        snapshots: minutes between small files with the current weights.  Compilation time does not count.
        """
        if snapshots is not None and not snapshots > 0:
            raise SettingsError("snapshots is the number of minutes between snapshots: more than 0")
        settings, first = self.settings, self.progress
        goal = Goal.of(first, minutes, steps, plan)
        make_folder(self.folder)
        self.processes.join(self.device)
        self.network.train()
        log_path = self.folder / "log.jsonl" if self.processes.first else Path(os.devnull)
        with self._stream() as stream, log_path.open("a") as log, Interrupt(*POLITE) as interrupt:
            self._prepare_shapes()  # while the first examples are drawn
            batches = chain([next(stream)], stream)  # the clock starts when the first has arrived
            meter, start = Meter(self.device), time.perf_counter()
            logged = saved = kept = 0.0  # seconds since the start
            while True:
                batch = meter.waits_for(batches)
                share = goal.used(self.progress) / goal.total
                rate = learning_rate(settings.learning_rate, share, settings.warmup, settings.decay)
                loss = self._step(batch, rate)
                # One clock for all processes, so that they agree on the rate and on when to stop.
                examples, asked, seconds = self.processes.totals(
                    len(batch), interrupt.asked, (time.perf_counter() - start) / self.processes.count
                )
                meter.add(loss, int(examples))
                self.progress = Progress(
                    self.progress.step + 1,
                    self.progress.examples + int(examples),
                    first.minutes + seconds / 60,
                )
                self.stream_state = stream.state
                done = asked > 0 or goal.used(self.progress) - goal.used(first) >= goal.budget
                if not done and seconds - logged <= LOG_EVERY:
                    continue
                logged = seconds
                news = meter.report(self.progress, share, rate)
                self._check_finite(news)
                log.write(json.dumps(asdict(news)) + "\n")
                log.flush()
                if self.processes.first:
                    report(news)
                if done or seconds - saved > SAVE_EVERY:
                    self.save()
                    saved = seconds
                if snapshots is not None and (done or seconds - kept > 60 * snapshots):
                    self.save_snapshot()
                    kept = seconds
                if done:
                    break

    def _prepare_shapes(self) -> None:
        """Compile every batch shape and record it if possible: minutes that do not count."""
        if not self.compiled or self._recordings:
            return
        pool = prepare_gradients(self.network) if can_be_recorded(self.network) else None
        for points in self.settings.points:
            for length in self.settings.lengths:
                batch = empty_batch(self.settings.batch_size(points, length), points, length)
                if pool is None:
                    self._learn(batch)
                else:
                    inputs = tuple(tensor.to(self.device) for tensor in self._inputs(batch))
                    self._recordings[points, length] = Recording(self._loss, self.network, inputs, pool)

    def _check_finite(self, news: Report) -> None:
        """Stop before ruined weights replace the last good checkpoint."""
        if not math.isfinite(news.loss):
            raise SettingsError(
                f"the loss is no longer finite at step {news.progress.step}, with a learning rate of "
                f"{news.rate:.2g}; resume from the last checkpoint with a lower learning rate"
            )

    def _stream(self) -> BatchStream | Feed:
        settings = self.settings
        stream = Feed if self.device.type == "cuda" else BatchStream
        return stream(
            prior=prior_preset(settings.prior),
            vocabulary=Vocabulary.preset(self.network.settings.vocabulary),
            points=settings.points,
            lengths=settings.lengths,
            batch_size=settings.batch_size,
            seed=settings.seed,
            threads=settings.threads,
            state=self.stream_state,
            reserve=settings.reserve,
            outlines=settings.outlines,
            part=(self.processes.rank, self.processes.count),
        )

    def _step(self, batch: Batch, rate: float) -> Tensor:
        """One update."""
        recording = self._recordings.get((batch.points.shape[1], batch.targets.shape[1]))
        loss = recording.replay(self._inputs(batch)) if recording else self._learn(batch)
        self.processes.average_gradients(self.network)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step(rate)
        self.average.update()
        return loss

    def _learn(self, batch: Batch) -> Tensor:
        """Loss and gradients.  On a CPU the batch is processed in parts to save memory."""
        self.network.zero_grad(set_to_none=True)
        rows = len(batch)
        if self.device.type == "cpu":
            rows = max(1, CPU_TOKENS // (batch.points.shape[1] + batch.targets.shape[1]))
        total = torch.zeros((), device=self.device)
        for first in range(0, len(batch), rows):
            part = batch.rows(slice(first, first + rows))
            share = float(part.target_lengths.sum() / batch.target_lengths.sum())
            inputs = (tensor.to(self.device, non_blocking=True) for tensor in self._inputs(part))
            loss = share * self._loss(*inputs)
            torch.autograd.backward(loss)
            total += loss.detach()
        return total

    def _inputs(self, batch: Batch) -> tuple[Tensor, ...]:
        """What the loss is computed from: points, trajectories, roles, targets; pinned for a GPU."""
        as_tokens = self.network.settings.embedder == "tokens"
        points = batch.input_ids() if as_tokens else batch.points
        arrays = (points, batch.trajectory, batch.roles, batch.targets)
        tensors = tuple(map(torch.from_numpy, arrays))
        return tuple(tensor.pin_memory() for tensor in tensors) if self.device.type == "cuda" else tensors

    def _loss(self, *inputs: Tensor) -> Tensor:
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            points, trajectory, roles, targets = inputs
            return self.network.loss(points, trajectory, roles, targets, self.settings.constants)


def _begun(weights: Path, settings: TrainingSettings) -> Network:
    """The network of a file if it is the one that the settings name."""
    network = checkpoint.load_network(weights)
    if network.settings != network_preset(settings.network):
        raise SettingsError(
            f"{weights} does not hold the network of the preset {settings.network!r}; choose the "
            "preset that it was trained with"
        )
    return network


def chosen_device(name: str | None, number: int = 0) -> torch.device:
    """The device of this name, tested; without a name, the GPU of this number if there is one."""
    if name is None:
        name = f"cuda:{number}" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:  # no such device, or torch built without it
        raise SettingsError(
            f"torch cannot use the device {name!r} here ({str(error).splitlines()[0]}); choose cpu, or leave "
            "the device out"
        ) from error
