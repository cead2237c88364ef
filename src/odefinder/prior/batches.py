"""Batches for training, drawn in the background and kept in memory.

All examples of a batch have the same number of points, so nothing of the input needs a mask, and their
targets are padded to one of a few lengths, so that shapes are few.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.roles import UNSEEN
from odefinder.errors import SettingsError
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.outlines import outline_some
from odefinder.language.points import network_input
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION, MAX_TOKENS
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import Prior
from odefinder.prior.sampler import fill

CHUNK = 256  # examples that one thread draws at once; all of them have equally many points


@dataclass(frozen=True)
class Batch:
    """What a training step reads: B examples of P points, targets of at most L tokens."""

    points: NDArray[np.float32]  # (B, P, 1 + MAX_DIMENSION): time and variables, NaN: vacant or not seen
    trajectory: NDArray[np.int8]  # (B, P): which trajectory a point belongs to, from 0
    roles: NDArray[np.int8]  # (B, MAX_DIMENSION): SEEN, UNSEEN or KNOWN, by column
    targets: NDArray[np.int16]  # (B, L): target ids, EOS included, padded with PAD
    target_lengths: NDArray[np.int16]  # (B,)
    dimension: NDArray[np.int8]  # (B,): states, each with an equation
    index: NDArray[np.int64]  # (B,): the examples' numbers

    def __len__(self) -> int:
        return len(self.index)

    def input_ids(self) -> NDArray[np.int16]:
        """The points as the paper's three tokens per number: (B, P, 1 + MAX_DIMENSION, 3), vacant PAD."""
        return number_ids(self.points, allow_missing=True)

    def rows(self, chosen: NDArray[Any] | slice) -> Batch:
        """Some of the examples."""
        return Batch(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})

    def padded_to(self, length: int) -> Batch:
        """The same with targets of this length, which must hold them all."""
        targets = np.full((len(self), length), PAD, np.int16)
        n = min(length, self.targets.shape[1])
        targets[:, :n] = self.targets[:, :n]
        return replace(self, targets=targets)


def collate(examples: Examples) -> Batch:
    """Examples with equally many points as a batch, as long as its longest target."""
    counts = np.unique(examples["n_points"])
    if len(counts) != 1:
        raise SettingsError(f"the examples of a batch need one number of points, got {counts.tolist()}")
    n, longest = int(counts[0]), int(examples["n_tokens"].max())
    roles, columns = examples["roles"].copy(), examples["dimension"] + examples["n_known"]
    empty = (np.arange(MAX_DIMENSION) >= columns[:, None]) | (roles == UNSEEN)  # (B, D)
    states = np.where(empty[:, None], np.nan, examples["states"][:, :n])
    points = network_input(examples["times"][:, :n], states)
    written = np.arange(longest) < examples["n_tokens"][:, None]
    return Batch(
        points,
        np.ascontiguousarray(examples["trajectory"][:, :n]),
        roles,
        np.where(written, examples["tokens"][:, :longest], np.int16(PAD)),
        examples["n_tokens"].copy(),
        examples["dimension"].copy(),
        examples["index"].copy(),
    )


def joined(parts: Sequence[Batch]) -> Batch:
    """Batches with equally many points as one."""
    longest = max(part.targets.shape[1] for part in parts)
    parts = [part.padded_to(longest) for part in parts]
    return Batch(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Batch)})


class Buckets:
    """Examples that wait, by shape (points, padded target length), until `reserve` batches are full.

    A batch is then a random choice among them, so that examples of one system, which are drawn one after
    the other, seldom meet in it.
    """

    def __init__(self, lengths: Sequence[int], batch_size: Callable[[int, int], int], reserve: int = 1):
        self.lengths = np.array(lengths)
        self.batch_size = batch_size
        self.reserve = reserve
        self.waiting: dict[tuple[int, int], list[Batch]] = {}

    def add(self, drawn: Batch) -> None:
        """Take examples in."""
        points = drawn.points.shape[1]
        bucket = np.searchsorted(self.lengths, drawn.target_lengths)
        for k in np.unique(bucket):
            length = int(self.lengths[k])
            group = self.waiting.setdefault((points, length), [])
            group.append(drawn.rows(bucket == k).padded_to(length))

    def full(self) -> Iterator[Batch]:
        """Hand out the batches that are full."""
        for shape in sorted(self.waiting):
            group, size = self.waiting[shape], self.batch_size(*shape)
            while (count := sum(map(len, group))) >= self.reserve * size:
                together = joined(group)
                order = np.arange(count)
                if self.reserve > 1:  # the same again after a resume: it depends on what waits
                    order = np.random.default_rng(together.index[[0, -1]]).permutation(count)
                group[:] = [together.rows(order[size:])]
                yield together.rows(order[:size])

    def indices(self) -> dict[int, NDArray[np.int64]]:
        """The numbers of the waiting examples, in their order, by number of points."""
        found: dict[int, list[NDArray[np.int64]]] = {}
        for (points, _), group in self.waiting.items():
            found.setdefault(points, []).extend(part.index for part in group)
        return {points: np.concatenate(parts) for points, parts in found.items()}


@dataclass(frozen=True)
class StreamState:
    """Where a stream stands: the next chunk, and the examples drawn but not yet handed out."""

    next_chunk: int = 0
    waiting: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # by number of points

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, for JSON."""
        waiting = {str(points): indices.tolist() for points, indices in self.waiting.items()}
        return {"next_chunk": self.next_chunk, "waiting": waiting}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> StreamState:
        """What `to_dict` described."""
        waiting = {int(points): np.array(indices, np.int64) for points, indices in entry["waiting"].items()}
        return cls(entry["next_chunk"], waiting)


class BatchStream(Iterator[Batch]):
    """An endless iterator over batches, drawn ahead of their use by threads without the GIL.

    Chunk k of the seed has points[k % len(points)] points per example, so the stream is the same for any
    number of threads; `state` says where it is, and a stream begun with that state goes on exactly there.
    Streams with `part` (0, n) to (n - 1, n) share the examples of one seed between them.
    Use it in a `with` statement, or call `close()`.
    """

    def __init__(
        self,
        prior: Prior,
        vocabulary: Vocabulary,
        *,
        points: Sequence[int],
        lengths: Sequence[int],
        batch_size: int | Callable[[int, int], int],  # examples of a batch with this many points and tokens
        seed: int,
        threads: int = 0,  # 0: all processors but two
        ahead: int = 4,  # batches kept ready
        state: StreamState | None = None,
        part: tuple[int, int] = (0, 1),
        reserve: int = 1,  # batches of every shape among which examples are shuffled
        outlines: float = 0.0,  # share of the examples whose target is an outline (language/outlines.py)
    ):
        if not points or not lengths or sorted(lengths) != list(lengths) or lengths[-1] > MAX_TOKENS:
            raise SettingsError(f"points and lengths must be given, lengths rising to at most {MAX_TOKENS}")
        if (
            threads < 0
            or min(ahead, reserve) < 1
            or seed < 0
            or (isinstance(batch_size, int) and batch_size < 1)
        ):
            raise SettingsError("batch_size, ahead and reserve are 1 or more; threads and seed 0 or more")
        if outlines > 0.0 and vocabulary.one < 0:
            raise SettingsError(
                "outlines need the word 1, which this vocabulary does not have; leave them out"
            )
        self._prior, self._layout = prior, vocabulary.layout
        self._outlines, self._one = outlines, vocabulary.one
        self._points, self._seed, self._max_tokens = tuple(points), seed, lengths[-1]
        self._part = part
        self._threads = threads or max(1, (os.cpu_count() or 1) - 2)
        size = batch_size if callable(batch_size) else lambda points, length: batch_size
        self._buckets = Buckets(lengths, size, reserve)
        self.state = state or StreamState()
        self._ready: queue.Queue[tuple[Batch, StreamState] | BaseException] = queue.Queue(ahead)
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="draw")
        self._producer = threading.Thread(target=self._produce, name="batches", daemon=True)
        self._producer.start()

    def _draw(self, points: int, indices: NDArray[np.int64]) -> Batch:
        examples = np.zeros(len(indices), EXAMPLE)
        fill(
            examples, new_counts(), seed=self._seed, indices=indices, prior=self._prior, layout=self._layout,
            points=points, max_tokens=self._max_tokens,
        )  # fmt: skip
        if self._outlines > 0.0:
            room = examples["tokens"][:, : self._max_tokens]
            outline_some(
                room, examples["n_tokens"], examples["dimension"], indices,
                self._seed, self._outlines, self._one, self._layout,
            )  # fmt: skip
        return collate(examples)

    def _draw_again(self, points: int, indices: NDArray[np.int64]) -> Batch:
        """Examples in any order; drawn in rising order, because neighbours share a system."""
        order = np.argsort(indices)
        parts = np.array_split(indices[order], -(-len(indices) // CHUNK))
        drawn = joined(list(self._pool.map(lambda part: self._draw(points, part), parts)))
        return drawn.rows(np.argsort(order))

    def _chunk(self, k: int) -> Future[Batch]:
        points = self._points[k % len(self._points)]
        part, parts = self._part
        first = (k * parts + part) * CHUNK
        return self._pool.submit(self._draw, points, np.arange(first, first + CHUNK))

    def _produce(self) -> None:
        try:
            for points, indices in self.state.waiting.items():
                if len(indices):
                    self._buckets.add(self._draw_again(points, indices))
            next_chunk = submitted = self.state.next_chunk
            pending: deque[Future[Batch]] = deque()
            while not self._closed.is_set():
                for batch in self._buckets.full():
                    self._hand_out((batch, StreamState(next_chunk, self._buckets.indices())))
                while len(pending) < 3 * self._threads:
                    pending.append(self._chunk(submitted))
                    submitted += 1
                self._buckets.add(pending.popleft().result())
                next_chunk += 1
        except BaseException as error:
            self._hand_out(error)

    def _hand_out(self, item: tuple[Batch, StreamState] | BaseException) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._ready.put(item, timeout=0.2)
                break

    def __next__(self) -> Batch:
        if self._closed.is_set():
            raise StopIteration
        entry = self._ready.get()
        if isinstance(entry, BaseException):
            self.close()
            raise entry
        batch, self.state = entry
        return batch

    def close(self) -> None:
        """Stop the threads; what they are drawing is finished and dropped."""
        self._closed.set()
        if threading.current_thread() is not self._producer:
            self._producer.join()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> BatchStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
