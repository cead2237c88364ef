"""Sampling systems from the network, constrained to well-formed ones (paper: "Decoding strategy").

Every sequence is drawn token by token from the network's distribution at a temperature, with all tokens
masked that could not lead to a valid system of the right dimension (see `grammar.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from odefinder.canonical import skeleton
from odefinder.errors import ExpressionError
from odefinder.grammar import Grammar
from odefinder.network.model import Network, longer_cache, shifted
from odefinder.number_words import PAD
from odefinder.program import Program
from odefinder.tokens import BOS, EOS, MAX_DIMENSION, Vocabulary

CACHE_START = 32  # positions that the decoder's cache has room for at first; it doubles when it is full
WORTH_DROPPING = 0.75  # share of rows still being written below which the others are dropped


class Constraint:
    """The grammar of a batch with mixed dimensions, on the network's device: `Grammar` in torch."""

    def __init__(self, vocabulary: Vocabulary, dimensions: Tensor, max_length: int):
        grammars = [Grammar(vocabulary, d, max_length) for d in range(1, MAX_DIMENSION + 1)]
        device = dimensions.device
        self.rows = torch.from_numpy(np.stack([g.rows for g in grammars])).to(device)  # (D, rows, V)
        self.open_change = torch.from_numpy(grammars[0].open_change).to(device)
        self.next_phase = torch.from_numpy(grammars[0].next_phase).to(device)
        self.component_change = torch.from_numpy(grammars[0].component_change).to(device)
        self.row_of_separator = grammars[0].row_of_separator
        self.max_slack = 2
        self.max_length = max_length
        self.dimension = dimensions
        self.open_arguments = torch.ones_like(dimensions)
        self.phase = torch.zeros_like(dimensions)
        self.component = torch.zeros_like(dimensions)
        self.length = 0

    def allowed(self) -> Tensor:
        """Mask (batch, V) of the tokens that may come next."""
        left = self.dimension - 1 - self.component
        slack = self.max_length - self.length - self.open_arguments - 2 * left - 1
        between = self.row_of_separator + (left <= 0).long() + (left < 0).long()
        begin = torch.where(self.open_arguments > 0, slack.clamp(max=self.max_slack), between)
        row = torch.where(self.phase > 0, self.max_slack + self.phase, begin)
        return self.rows[self.dimension - 1, row]

    def advance(self, tokens: Tensor) -> None:
        """Take one token of every sequence."""
        self.open_arguments = self.open_arguments + self.open_change[tokens]
        self.phase = self.next_phase[tokens]
        self.component = self.component + self.component_change[tokens]
        self.length += 1

    def keep(self, chosen: Tensor) -> None:
        """Go on with these sequences only."""
        self.dimension, self.open_arguments = self.dimension[chosen], self.open_arguments[chosen]
        self.phase, self.component = self.phase[chosen], self.component[chosen]


@torch.inference_mode()
def sample(
    network: Network,
    points: Tensor,
    trajectory: Tensor,
    dimensions: Tensor,
    *,
    samples: int = 50,
    temperature: float = 0.7,
    max_length: int | None = None,
    generator: torch.Generator | None = None,
) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Token ids (B, samples, L), padded with PAD, and their log-probabilities (B, samples).

    points, trajectory: as the network reads them, for B examples; dimensions (B,).
    """
    batch = len(points)
    length = min(max_length or network.settings.max_length, network.settings.max_length)
    vocabulary = Vocabulary.preset(network.settings.vocabulary)
    memory = network.encode(points, trajectory)
    memory_cache = network.memory_cache(memory)
    count = batch * samples
    cache = network.empty_cache(count, min(length, CACHE_START), memory)
    constraint = Constraint(vocabulary, dimensions.long().repeat_interleave(samples), length)
    tokens = torch.full((count,), BOS, device=points.device)
    ids = torch.full((count, length), PAD, device=points.device)
    log_probability = torch.zeros(count, dtype=torch.float64, device=points.device)
    active = torch.arange(count, device=points.device)
    for position in range(length):
        if position == cache[0][0].shape[2]:
            cache = longer_cache(cache, min(2 * position, length))
        logits = network.step(tokens, position, cache, memory_cache).float()
        logits = logits.masked_fill(~constraint.allowed(), -torch.inf)
        chances = torch.softmax(logits / temperature, -1)
        tokens = torch.multinomial(chances, 1, generator=generator)[:, 0]
        chosen = torch.log_softmax(logits, -1).gather(1, tokens[:, None])[:, 0]
        log_probability[active] += chosen.double()
        ids[active, position] = tokens
        constraint.advance(tokens)
        going = (tokens != EOS) & (tokens != PAD)
        if not going.any():
            break
        # Finished rows are padded, which costs as much as writing; copying the cache costs, too.
        if batch == 1 and int(going.sum()) <= WORTH_DROPPING * len(going):
            constraint.keep(going)
            tokens, active = tokens[going], active[going]
            cache = [(keys[going], values[going]) for keys, values in cache]
    used = int((ids != PAD).sum(1).max())
    return (
        ids[:, :used].view(batch, samples, used).to(torch.int16).cpu().numpy(),
        log_probability.view(batch, samples).cpu().numpy(),
    )


@torch.inference_mode()
def log_probabilities(network: Network, points: Tensor, trajectory: Tensor, targets: Tensor) -> Tensor:
    """log P(system | data) (B,) of given target tokens (B, L), padded with PAD, by teacher forcing."""
    logits = network(points, trajectory, shifted(targets)).float()
    chosen = torch.log_softmax(logits, -1).gather(2, targets[..., None].long())[..., 0]
    total: Tensor = (chosen * (targets != PAD)).sum(1)
    return total


@dataclass(frozen=True)
class Candidate:
    """A decoded system and what the network thinks of it."""

    program: Program
    skeleton: bytes
    log_probability: float
    count: int  # samples with this skeleton


def distinct_candidates(
    ids: NDArray[np.int16], log_probability: NDArray[np.float64], vocabulary: Vocabulary
) -> list[Candidate]:
    """The systems of one example's samples (samples, L), one a skeleton: its likeliest, likeliest first."""
    best: dict[bytes, Candidate] = {}
    for row, value in sorted(zip(ids, log_probability, strict=True), key=lambda pair: -pair[1]):
        try:
            program = vocabulary.decode(row[row != PAD])
            key = skeleton(program)
        except ExpressionError:  # well-formed, but for instance 1 / 0
            continue
        known = best.get(key)
        if known is None:
            best[key] = Candidate(program, key, float(value), 1)
        else:
            best[key] = Candidate(known.program, key, known.log_probability, known.count + 1)
    return list(best.values())
