"""Batches for the network, drawn by background threads while it learns.

Examples are numbered; chunk k holds a fixed run of numbers with a fixed number of points, so the stream
is the same for any number of threads, and a run goes on exactly where it stopped.  Within the stream,
examples wait in one bucket for each shape (points, padded target length) until a batch is full.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill
from odefinder.tokens import MAX_DIMENSION, PAD, Vocabulary, number_ids
from odefinder.training.settings import TrainingSettings

CHUNK = 512  # examples drawn at once by one thread


@dataclass(frozen=True)
class Batch:
    """Arrays of one batch of equal shape."""

    points: NDArray  # (B, P, 1 + D) float32, vacant entries NaN; or (B, P, 1 + D, 3) int16 token ids
    trajectory: NDArray[np.int8]  # (B, P)
    targets: NDArray[np.int16]  # (B, L), padded with PAD
    dimension: NDArray[np.int8]  # (B,)


def observed_points(examples: Examples, as_tokens: bool) -> NDArray:
    """What the network reads of examples with equally many points."""
    n = int(examples["n_points"][0])
    points = np.empty((len(examples), n, 1 + MAX_DIMENSION))
    points[..., 0] = examples["times"][:, :n]
    points[..., 1:] = examples["states"][:, :n]
    vacant = np.arange(MAX_DIMENSION) >= examples["dimension"][:, None]  # (B, D)
    points[..., 1:][np.broadcast_to(vacant[:, None], points[..., 1:].shape)] = np.nan
    return number_ids(points, allow_missing=True) if as_tokens else points.astype(np.float32)


def padded_targets(examples: Examples, length: int) -> NDArray[np.int16]:
    """Target tokens, padded to one length."""
    targets = examples["tokens"][:, :length].copy()
    targets[np.arange(length) >= examples["n_tokens"][:, None]] = PAD
    return targets


class Feed:
    """An endless stream of batches; `state` says where it is, for an exact resume."""

    def __init__(self, settings: TrainingSettings, vocabulary: Vocabulary, as_tokens: bool, state: int = 0):
        self.settings = settings
        self.prior = prior_preset(settings.prior)
        self.layout = vocabulary.layout
        self.as_tokens = as_tokens
        self.next_chunk = state
        self.examples = 0
        cores = os.cpu_count() or 1
        self.threads = settings.threads or max(1, cores - 2)
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="feed")
        self._pending: deque[Future[Examples]] = deque()

    def _draw(self, chunk: int) -> Examples:
        settings = self.settings
        examples = np.zeros(CHUNK, EXAMPLE)
        fill(
            examples,
            new_counts(),
            seed=settings.seed,
            first=chunk * CHUNK,
            prior=self.prior,
            layout=self.layout,
            points=settings.points[chunk % len(settings.points)],
            max_tokens=settings.lengths[-1],
        )
        return examples

    def _chunks(self) -> Iterator[Examples]:
        ahead = 4 * self.threads
        submitted = self.next_chunk
        while True:
            while len(self._pending) < ahead:
                self._pending.append(self._pool.submit(self._draw, submitted))
                submitted += 1
            examples = self._pending.popleft().result()
            self.next_chunk += 1
            yield examples

    def __iter__(self) -> Iterator[Batch]:
        waiting: dict[tuple[int, int], list[Examples]] = defaultdict(list)
        lengths = np.array(self.settings.lengths)
        for examples in self._chunks():
            points = int(examples["n_points"][0])
            bucket = np.searchsorted(lengths, examples["n_tokens"])
            for k in np.unique(bucket):
                length = int(lengths[k])
                size = self.settings.batch_size(points, length)
                group = waiting[points, length]
                group.append(examples[bucket == k])
                if sum(map(len, group)) >= size:
                    joined = np.concatenate(group)
                    waiting[points, length] = [joined[size:]]
                    chosen = joined[:size]
                    self.examples += size
                    yield Batch(
                        observed_points(chosen, self.as_tokens),
                        np.ascontiguousarray(chosen["trajectory"][:, :points]),
                        padded_targets(chosen, length),
                        chosen["dimension"].copy(),
                    )

    def close(self) -> None:
        """Stop the threads."""
        for future in self._pending:
            future.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
