"""The network: an encoder of the set of observed points, a decoder of prefix tokens (paper, section 4).

Shapes: B batch, P points, L target length, D = MAX_DIMENSION, H heads, W width, V vocabulary.

The encoder has no positions: a point carries its time, and an index of its trajectory tells several
trajectories of the same system apart.  The role of each column (`data/roles.py`) says whether it is a state
that is seen, a state that is never seen, or a known input.  Differences from the paper, each of which trains
faster: RMS norm before each block, normalised queries and keys, output projections that start at zero.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.data.units import T_END, T_START
from odefinder.language.number_words import INPUT_SIZE, PAD
from odefinder.language.tokens import BOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION, MAX_TRAJECTORIES
from odefinder.network.presets import NetworkSettings

ROLE_FEATURES = 2 * MAX_DIMENSION  # of every point: two flags per column
Cache = list[tuple[Tensor, Tensor]]  # keys and values (B, H, L, W / H) of each layer


def norm(x: Tensor) -> Tensor:
    """RMS norm without weights."""
    return F.rms_norm(x, (x.shape[-1],), eps=1e-6)


def rows_of(table: nn.Embedding, ids: Tensor) -> Tensor:
    """Rows of a small table; on a GPU not by a lookup, whose gradient cannot be recorded in a CUDA graph."""
    return product_rows(table, ids) if ids.is_cuda else table(ids.int())


def product_rows(table: nn.Embedding, ids: Tensor) -> Tensor:
    """Rows of a table, found by multiplying."""
    one_hot = ids[..., None] == torch.arange(table.num_embeddings, device=ids.device, dtype=ids.dtype)
    return one_hot.to(table.weight.dtype) @ table.weight


class Linear(nn.Linear):
    """A linear map without bias, at the start roughly orthogonal or zero."""

    def __init__(self, inputs: int, outputs: int, *, zero: bool = False):
        super().__init__(inputs, outputs, bias=False)
        if zero:
            nn.init.zeros_(self.weight)
        else:
            nn.init.normal_(self.weight, std=1.0 / math.sqrt(inputs))


class Attention(nn.Module):
    """Multi-head attention with normalised queries and keys."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = Linear(width, width)
        self.key = Linear(width, width)
        self.value = Linear(width, width)
        self.output = Linear(width, width, zero=True)
        self.gain = nn.Parameter(torch.ones(heads))  # sharpness of each head

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, L, W / H)

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of what is attended to."""
        return norm(self._split(self.key(x))), self._split(self.value(x))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, causal: bool = False) -> Tensor:
        query = norm(self._split(self.query(x))) * (3.0 * self.gain).to(x.dtype)[:, None, None]
        mixed = F.scaled_dot_product_attention(query, keys, values, is_causal=causal)
        out: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return out


class FeedForward(nn.Module):
    """Two layers with a squared ReLU between them."""

    def __init__(self, width: int):
        super().__init__()
        self.enter = Linear(width, 4 * width)
        self.leave = Linear(4 * width, width, zero=True)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.leave(F.relu(self.enter(x)).square())
        return out


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = Attention(width, heads)
        self.feed_forward = FeedForward(width)

    def forward(self, x: Tensor) -> Tensor:
        h = norm(x)
        x = x + self.attention(h, *self.attention.keys_values(h))
        out: Tensor = x + self.feed_forward(norm(x))
        return out


class DecoderLayer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = Attention(width, heads)
        self.cross = Attention(width, heads)
        self.feed_forward = FeedForward(width)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """All positions at once (training): x (B, L, W), memory (B, P, W)."""
        h = norm(x)
        x = x + self.attention(h, *self.attention.keys_values(h), causal=True)
        x = x + self.cross(norm(x), *self.cross.keys_values(memory))
        out: Tensor = x + self.feed_forward(norm(x))
        return out

    def step(
        self, x: Tensor, keys: Tensor, values: Tensor, memory: tuple[Tensor, Tensor], position: int
    ) -> Tensor:
        """One position (decoding): x (B * S, 1, W) for S samples of each of B trajectories.

        Writes the position's key and value into the preallocated cache.  The S samples attend to one memory,
        as if they were positions of one sequence, so that it is not copied S times.
        """
        h = norm(x)
        key, value = self.attention.keys_values(h)
        keys[:, :, position] = key[:, :, 0]
        values[:, :, position] = value[:, :, 0]
        x = x + self.attention(h, keys[:, :, : position + 1], values[:, :, : position + 1])
        batch = memory[0].shape[0]
        together = norm(x).view(batch, -1, x.shape[-1])
        x = x + self.cross(together, *memory).view_as(x)
        out: Tensor = x + self.feed_forward(norm(x))
        return out


class WaveEmbedder(nn.Module):
    """Points as real numbers: each as itself, its signed logarithm, and waves of rising frequency.

    Two flags per column, the last features, say which are unseen and which are known.
    """

    frequency: Tensor  # (waves,)

    def __init__(self, settings: NetworkSettings):
        super().__init__()
        self.register_buffer("frequency", math.pi * 2.0 ** torch.arange(settings.waves), persistent=False)
        features = (1 + MAX_DIMENSION) * (3 + 2 * settings.waves)
        self.enter = Linear(features + ROLE_FEATURES, 2 * settings.width)
        self.leave = Linear(2 * settings.width, settings.width)

    @property
    def reads_roles(self) -> bool:
        """Whether any weight belongs to roles."""
        return bool(self.enter.weight[:, -ROLE_FEATURES:].any())

    def forward(self, points: Tensor, roles: Tensor) -> Tensor:
        """points (B, P, 1 + D): time and variables, NaN where there is none; roles (B, D) -> (B, P, W)."""
        time = (points[..., :1] - T_START) * (2.0 / (T_END - T_START)) - 1.0
        x = torch.cat((time, points[..., 1:]), -1)
        present = torch.isfinite(x)
        x = torch.where(present, x, torch.zeros_like(x))
        angle = x[..., None] * self.frequency
        signed_log = torch.asinh(x * 1e3) / math.asinh(1e3)
        features = torch.cat(
            (x[..., None], signed_log[..., None], present[..., None].to(x), angle.sin(), angle.cos()), -1
        )
        flags = torch.cat((roles == UNSEEN, roles == KNOWN), -1).to(x)
        flags = flags[:, None].expand(-1, x.shape[1], -1)
        features = torch.cat((features.flatten(2), flags), -1)
        hidden = F.silu(self.enter(features.to(self.enter.weight.dtype)))
        out: Tensor = self.leave(hidden)
        return out


class TokenEmbedder(nn.Module):
    """Points as the paper's three tokens per number, reduced by a two-layer network; it knows no roles."""

    def __init__(self, settings: NetworkSettings):
        super().__init__()
        inputs = 3 * (1 + MAX_DIMENSION) * settings.token_width
        self.tokens = nn.Embedding(INPUT_SIZE, settings.token_width)
        self.enter = Linear(inputs, inputs)
        self.leave = Linear(inputs, settings.width)

    def forward(self, ids: Tensor, roles: Tensor) -> Tensor:
        """ids (B, P, 1 + D, 3) -> (B, P, W)."""
        out: Tensor = self.leave(F.silu(self.enter(self.tokens(ids.int()).flatten(2))))
        return out


class Network(nn.Module):
    """From observed points to the logits of the next target token."""

    def __init__(self, settings: NetworkSettings):
        super().__init__()
        self.settings = settings
        self.writes_outlines = False  # what a file says of its training
        width, heads = settings.width, settings.heads
        vocabulary = Vocabulary.preset(settings.vocabulary)
        self.vocabulary_size = len(vocabulary)
        self.first_number = int(vocabulary.layout.number_first[0])  # the last words are parts of numbers
        self.embedder = TokenEmbedder(settings) if settings.embedder == "tokens" else WaveEmbedder(settings)
        self.trajectory = nn.Embedding(MAX_TRAJECTORIES, width)
        self.encoder = nn.ModuleList(EncoderLayer(width, heads) for _ in range(settings.encoder_layers))
        self.tokens = nn.Embedding(self.vocabulary_size, width)
        self.positions = nn.Embedding(settings.max_length, width)
        self.decoder = nn.ModuleList(DecoderLayer(width, heads) for _ in range(settings.decoder_layers))
        self.head = Linear(width, self.vocabulary_size)
        for embedding in (self.trajectory, self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=0.5)

    @property
    def knows_roles(self) -> bool:
        """Whether roles change anything: weights from before roles have zeros for them."""
        return isinstance(self.embedder, WaveEmbedder) and self.embedder.reads_roles

    @property
    def encoder_layers(self) -> list[EncoderLayer]:
        """The layers of the encoder, first to last."""
        return cast(list[EncoderLayer], list(self.encoder))

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """The layers of the decoder, first to last."""
        return cast(list[DecoderLayer], list(self.decoder))

    def encode(self, points: Tensor, trajectory: Tensor, roles: Tensor) -> Tensor:
        """points as the embedder reads them, trajectory (B, P), roles (B, D) -> memory (B, P, W)."""
        x = self.embedder(points, roles)
        x = x + rows_of(self.trajectory, trajectory).to(x.dtype)
        for layer in self.encoder_layers:
            x = layer(x)
        return norm(x)

    def forward(self, points: Tensor, trajectory: Tensor, roles: Tensor, inputs: Tensor) -> Tensor:
        """Logits (B, L, V) for the tokens that follow each of the inputs (B, L), the first being BOS."""
        return self.logits(self.encode(points, trajectory, roles), inputs)

    def logits(self, memory: Tensor, inputs: Tensor) -> Tensor:
        """The same from the memory (B, P, W)."""
        x = rows_of(self.tokens, inputs) + self.positions.weight[: inputs.shape[1]]
        x = x.to(memory.dtype)
        for layer in self.decoder_layers:
            x = layer(x, memory)
        logits: Tensor = self.head(norm(x))
        return logits

    def loss(
        self, points: Tensor, trajectory: Tensor, roles: Tensor, targets: Tensor, constants: float = 1.0
    ) -> Tensor:
        """Mean cross-entropy of the target tokens (B, L), padded with PAD.

        constants: how much it counts which number a constant is; that one stands there always counts 1.
        """
        logits = self(points, trajectory, roles, shifted(targets)).float().flatten(0, 1)
        wanted = targets.flatten().long()
        loss = F.cross_entropy(logits, wanted, ignore_index=PAD)
        if constants == 1.0:
            return loss
        first = self.first_number
        numbers = torch.where(wanted >= first, wanted - first, -1)
        which = F.cross_entropy(logits[:, first:], numbers, ignore_index=-1, reduction="sum")
        return loss - (1.0 - constants) * which / (wanted != PAD).sum()

    # -------------------------------------------------------------- decoding, one token at a time

    def memory_cache(self, memory: Tensor) -> Cache:
        """Keys and values of the memory for every decoder layer, computed once per trajectory."""
        return [layer.cross.keys_values(memory) for layer in self.decoder_layers]

    def empty_cache(self, batch: int, length: int, like: Tensor) -> Cache:
        """Preallocated keys and values of the decoder's own tokens."""
        heads = self.settings.heads
        shape = (batch, heads, length, self.settings.width // heads)
        return [(like.new_zeros(shape), like.new_zeros(shape)) for _ in self.decoder]

    def step(self, tokens: Tensor, position: int, cache: Cache, memory: Cache) -> Tensor:
        """Logits (B * S, V) after one more token (B * S,) of S samples for each of B memories."""
        x = (self.tokens(tokens) + self.positions.weight[position])[:, None]
        x = x.to(cache[0][0].dtype)
        for layer, (keys, values), attended in zip(self.decoder_layers, cache, memory, strict=True):
            x = layer.step(x, keys, values, attended, position)
        logits: Tensor = self.head(norm(x[:, 0]))
        return logits


def longer_cache(cache: Cache, length: int) -> Cache:
    """The same keys and values with room for this many positions."""
    more = (0, 0, 0, length - cache[0][0].shape[2])
    return [(F.pad(keys, more), F.pad(values, more)) for keys, values in cache]


def shifted(targets: Tensor) -> Tensor:
    """The decoder's inputs for these targets (B, L): BOS first, everything one place later."""
    first = torch.full_like(targets[:, :1], BOS)
    return torch.cat((first, targets[:, :-1]), 1).int()


def count_parameters(network: nn.Module) -> int:
    """The number of trainable parameters."""
    return sum(parameter.numel() for parameter in network.parameters())
