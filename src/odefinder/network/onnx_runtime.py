"""Decoding with onnxruntime: 8-bit integers on a processor, without torch.

The weights file carries two graphs without weights (`graphs.py`); its tensors are given to onnxruntime as
they are in the file.  Keys and values of the written tokens are kept here, in arrays with room to grow.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from odefinder.errors import CheckpointError
from odefinder.language.number_words import PAD
from odefinder.language.tokens import Vocabulary
from odefinder.network.files import damaged, read_weights, settings_of, writes_outlines
from odefinder.network.presets import NetworkSettings
from odefinder.network.runtime import Floats, Ids, draw_tokens

Memory = dict[str, NDArray[np.float32]]
Cache = NDArray[np.float32]
BLOCK = 32  # tokens per block of the cache
SCORED_AT_ONCE = 16  # sequences of similar length that `logits` passes through the network together


class Graph:
    """A graph that is ready to run."""

    def __init__(
        self, path: Path, content: NDArray[np.uint8], weights: dict[str, NDArray[Any]], threads: int
    ):
        self.path = path
        # onnxruntime reads these arrays for as long as the session lives.
        self.weights = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for name, tensor in weights.items()
        }
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_external_initializers(list(self.weights), list(self.weights.values()))
        try:
            self.session = onnxruntime.InferenceSession(
                content.tobytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises a class of its own for each kind of problem
            raise CheckpointError(
                f"onnxruntime {onnxruntime.__version__} cannot run the network of {path} "
                f"({type(error).__name__}: {error}); upgrade it, or copy the file again"
            ) from error

    def run(self, names: list[str], inputs: dict[str, Any]) -> list[NDArray[Any]]:
        """The outputs of these names."""
        try:
            return list(self.session.run(names, inputs))
        except Exception as error:  # as above
            raise CheckpointError(
                f"the network of {self.path} cannot be run ({type(error).__name__}: {str(error)[:200]}); "
                "copy the file again"
            ) from error


class OnnxRuntime:
    """The network of a weights file."""

    together = 1  # a processor gains nothing from more

    def __init__(self, path: Path, threads: int = 1):
        weights, head = read_weights(path)
        self.settings = settings_of(head, str(path), sum(one.size for one in weights.values()))
        needed = head.get("graphs", {"encoder": (), "decoder": ()})
        missing = {"graph.encoder", "graph.decoder", *needed["encoder"], *needed["decoder"]} - set(weights)
        if missing:
            raise damaged(path, f"there is no {min(missing)[:60]!r} in it")
        for name, shape in (("positions.weight", (self.settings.max_length, self.settings.width)),
                            ("decoder.0.attention.gain", (self.settings.heads,))):  # fmt: skip
            if name in weights and weights[name].shape != shape:
                raise damaged(path, f"{name} has shape {weights[name].shape}, its settings say {shape}")
        self.encoder, self.decoder = (
            Graph(path, weights[f"graph.{name}"], {key: weights[key] for key in needed[name]}, threads)
            for name in ("encoder", "decoder")
        )
        self.memory_names = [output.name for output in self.encoder.session.get_outputs()]
        self.knows_roles = "roles" in {entry.name for entry in self.encoder.session.get_inputs()}
        self.writes_outlines = writes_outlines(head)
        self._check_layers(path)

    def _check_layers(self, path: Path) -> None:
        """Raise if the graphs are not those of the settings."""
        kept = {entry.name for entry in self.decoder.session.get_inputs()}
        layers, memory = self.settings.decoder_layers, set(self.memory_names)
        past = {f"past_{part}.{i}" for part in ("key", "value") for i in range(layers)}
        if not past <= kept or f"past_key.{layers}" in kept or not {"key.0", f"key.{layers - 1}"} <= memory:
            raise damaged(path, f"its graphs do not have the {layers} layers of its settings")

    def encode(
        self, points: NDArray[Any], trajectory: NDArray[np.integer], roles: NDArray[np.integer]
    ) -> Memory:
        inputs = {"points": points, "trajectory": trajectory.astype(np.int64)}
        if self.knows_roles:
            inputs["roles"] = roles.astype(np.int64)
        return dict(zip(self.memory_names, self.encoder.run(self.memory_names, inputs), strict=True))

    def begin(self, memory: Memory, samples: int, masks: NDArray[np.bool_]) -> OnnxSequences:
        return OnnxSequences(self, memory, samples, masks)

    def logits(self, memory: Memory, tokens: Ids) -> NDArray[np.float32]:
        samples = len(tokens) // len(memory["key.0"])
        size = len(Vocabulary.preset(self.settings.vocabulary))
        no_masks = np.ones((0, size), dtype=np.bool_)
        result = np.zeros((*tokens.shape, size), np.float32)
        lengths = (tokens != PAD).sum(axis=1)
        for k in range(len(memory["key.0"])):
            own = {name: values[k : k + 1] for name, values in memory.items()}
            rows = k * samples + np.argsort(lengths[k * samples : (k + 1) * samples], kind="stable")
            for first in range(0, samples, SCORED_AT_ONCE):
                chunk = rows[first : first + SCORED_AT_ONCE]
                end = lengths[chunk[-1]]
                sequences = OnnxSequences(self, own, len(chunk), no_masks, block=0)
                result[chunk, :end] = sequences.step(tokens[chunk, :end])
        return result


class OnnxSequences:
    """Sequences with the keys and values (K, N, H, C, W / H) of every layer, in K blocks of C tokens.

    There is room for all tokens from the start; the operating system provides memory as blocks come into use.
    """

    def __init__(
        self,
        runtime: OnnxRuntime,
        memory: Memory,
        samples: int,
        masks: NDArray[np.bool_],
        block: int | None = None,
    ):
        settings: NetworkSettings = runtime.settings
        self.graph = runtime.decoder
        self.memory = memory
        self.masks = masks
        self.position = 0
        self.block = BLOCK if block is None else block  # 0: no cache
        rows, width = len(memory["key.0"]) * samples, settings.width // settings.heads
        blocks = -(-settings.max_length // self.block) if self.block else 1
        shape = (blocks, rows, settings.heads, self.block, width)
        self.room = [np.zeros(math.prod(shape), np.float32) for _ in range(2 * settings.decoder_layers)]
        self.keys, self.values = self._caches(shape)

    def _caches(self, shape: tuple[int, ...]) -> tuple[list[Cache], list[Cache]]:
        """Keys and values of this shape, which share the memory of all others."""
        caches = [room[: math.prod(shape)].reshape(shape) for room in self.room]
        return caches[: len(caches) // 2], caches[len(caches) // 2 :]

    def step(self, tokens: Ids) -> NDArray[np.float32]:
        """Logits (N, T, V) after T more tokens (N, T), which must not cross the end of a block."""
        length = tokens.shape[1]
        full, place = divmod(self.position, self.block) if self.block else (0, 0)
        room = (full + 1) * self.block
        # A token sees what is in the cache, and the new tokens up to itself.
        mask = np.zeros((length, room + length), np.float32)
        mask[:, self.position : room] = -np.inf
        mask[:, room:] = np.triu(np.full((length, length), -np.inf), 1)
        inputs = {
            "tokens": tokens,
            "positions": np.arange(self.position, self.position + length),
            "mask": mask,
            **self.memory,
        }
        names = ["logits"]
        for i, (keys, values) in enumerate(zip(self.keys, self.values, strict=True)):
            inputs |= {f"past_key.{i}": keys[: full + 1], f"past_value.{i}": values[: full + 1]}
            names += [f"new_key.{i}", f"new_value.{i}"] if room else []
        logits: NDArray[np.float32]
        logits, *new = self.graph.run(names, inputs)
        for i in range(len(new) // 2):
            self.keys[i][full, ..., place : place + length, :] = new[2 * i]
            self.values[i][full, ..., place : place + length, :] = new[2 * i + 1]
        self.position += length
        return logits

    def draw(self, tokens: Ids, rows: Ids, uniform: Floats, temperature: float) -> tuple[Ids, Floats]:
        drawn, chance = draw_tokens(np, self.logits(tokens), self.masks[rows], uniform, temperature)
        return drawn, chance

    def logits(self, tokens: Ids) -> Floats:
        return self.step(tokens[:, None])[:, 0].astype(np.float64)

    def keep(self, chosen: NDArray[np.bool_] | Ids) -> None:
        before = self.keys + self.values
        rows = np.arange(before[0].shape[1])[chosen]
        self.keys, self.values = self._caches((len(before[0]), len(rows), *before[0].shape[2:]))
        blocks = range(-(-self.position // self.block))
        grows = len(rows) > before[0].shape[1]
        for old, new in zip(before, self.keys + self.values, strict=True):
            # In this order, no memory is written that is still to be read.
            for k in reversed(blocks) if grows else blocks:
                used = min(self.position - k * self.block, self.block)
                new[k, :, :, :used] = old[k, :, :, :used][rows]
