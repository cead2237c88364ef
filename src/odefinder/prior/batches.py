"""Batches for training: drawn in the background and kept in memory, or taken from shards.

All examples of a batch have the same number of points, so nothing of the input needs a mask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from odefinder.compiled import compiled
from odefinder.errors import SettingsError
from odefinder.prior.examples import (
    EXAMPLE,
    MAX_POINTS,
    MAX_TOKENS,
    MAX_TRAJECTORIES,
    Examples,
    new_counts,
)
from odefinder.prior.presets import Prior
from odefinder.prior.sampler import fill
from odefinder.tokens import MAX_DIMENSION, PAD, Vocabulary, encode_numbers

MIN_TOKENS = (
    150  # of a limit on targets: with less, six-dimensional systems of `paper` are next to never drawn
)


@dataclass(frozen=True)
class Batch:
    """What a training step reads: B examples of P points, targets of at most L tokens."""

    inputs: NDArray[np.int16]  # (B, P, 1 + MAX_DIMENSION, 3): input ids of time and variables, vacant PAD
    trajectory: NDArray[np.int8]  # (B, P): which trajectory a point belongs to, from 0
    targets: NDArray[np.int16]  # (B, L): target ids, EOS included, padded with PAD
    target_lengths: NDArray[np.int16]  # (B,)
    dimension: NDArray[np.int8]  # (B,)


@compiled
def _encode(
    examples: Examples, inputs: NDArray[np.int16], trajectory: NDArray[np.int8], targets: NDArray[np.int16]
) -> None:
    points = inputs.shape[1]
    inputs[:] = PAD
    targets[:] = PAD
    for b in range(len(examples)):
        example = examples[b]
        encode_numbers(example.times[:points], inputs[b, :, 0])
        for j in range(example.dimension):
            encode_numbers(example.states[:points, j], inputs[b, :, 1 + j])
        for i in range(points):
            trajectory[b, i] = example.trajectory[i]
        for i in range(example.n_tokens):
            targets[b, i] = example.tokens[i]


def collate(examples: Examples, *, length_multiple: int = 1) -> Batch:
    """Examples with equally many points as a batch; L is rounded up to a multiple of `length_multiple`."""
    counts = np.unique(examples["n_points"])
    if len(counts) != 1:
        raise SettingsError(f"the examples of a batch need one number of points, got {counts.tolist()}")
    points = int(counts[0])
    length = -(-int(examples["n_tokens"].max()) // length_multiple) * length_multiple
    inputs = np.empty((len(examples), points, 1 + MAX_DIMENSION, 3), np.int16)
    trajectory = np.empty((len(examples), points), np.int8)
    targets = np.empty((len(examples), length), np.int16)
    _encode(examples, inputs, trajectory, targets)
    return Batch(inputs, trajectory, targets, examples["n_tokens"].copy(), examples["dimension"].copy())


class BatchStream(Iterator[Batch]):
    """An endless iterator over batches, drawn ahead of their use by threads without the GIL.

    Batch i holds examples first + i * batch_size, ... of the seed, whatever the number of threads.
    Use it in a `with` statement, or call `close()`.
    """

    def __init__(
        self,
        prior: Prior,
        vocabulary: Vocabulary,
        *,
        batch_size: int,
        points: int,
        seed: int,
        first: int = 0,
        threads: int = 1,
        max_tokens: int = MAX_TOKENS,
        queue_size: int = 8,  # batches drawn ahead
        length_multiple: int = 1,
    ):
        if not 2 * MAX_TRAJECTORIES <= points <= MAX_POINTS:
            raise SettingsError(f"points is {2 * MAX_TRAJECTORIES} to {MAX_POINTS}, got {points}")
        if not MIN_TOKENS <= max_tokens <= MAX_TOKENS:
            raise SettingsError(f"max_tokens is {MIN_TOKENS} to {MAX_TOKENS}, got {max_tokens}")
        if min(batch_size, threads, queue_size, length_multiple) < 1 or min(seed, first) < 0:
            raise SettingsError(
                "batch_size, threads, queue_size and length_multiple are 1 or more; seed and first 0 or more"
            )
        self._prior, self._layout = prior, vocabulary.layout
        self._batch_size, self._points, self._seed, self._next = batch_size, points, seed, first
        self._max_tokens, self._length_multiple = max_tokens, length_multiple
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="batches")
        self._pending: deque[Future[Batch]] = deque()
        for _ in range(queue_size):
            self._request()

    def _request(self) -> None:
        self._pending.append(self._pool.submit(self._draw, self._next))
        self._next += self._batch_size

    def _draw(self, first: int) -> Batch:
        examples = np.zeros(self._batch_size, EXAMPLE)
        fill(
            examples, new_counts(), seed=self._seed, first=first, prior=self._prior, layout=self._layout,
            points=self._points, max_tokens=self._max_tokens,
        )  # fmt: skip
        return collate(examples, length_multiple=self._length_multiple)

    def __next__(self) -> Batch:
        if not self._pending:
            raise StopIteration
        batch = self._pending.popleft()
        self._request()
        return batch.result()

    def close(self) -> None:
        """Stop the threads; what they are drawing is finished and dropped."""
        self._pending.clear()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> BatchStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def batches_from(shards: Iterable[Examples], *, batch_size: int, length_multiple: int = 1) -> Iterator[Batch]:
    """Batches of examples that were drawn before, such as those of `read_examples`.

    Examples with equally many points come together in the order they are read; those that do not fill a
    batch at the end are dropped.  Data generated with a fixed number of points have one shape only.
    """
    waiting: dict[int, Examples] = {}
    for examples in shards:
        for points in np.unique(examples["n_points"]).tolist():
            found = examples[examples["n_points"] == points]
            if points in waiting:
                found = np.concatenate([waiting[points], found])
            full = len(found) - len(found) % batch_size
            for start in range(0, full, batch_size):
                yield collate(found[start : start + batch_size], length_multiple=length_multiple)
            waiting[points] = found[full:].copy()
