"""Sampling systems from the network, constrained to well-formed ones (paper: "Decoding strategy").

Every sequence is drawn token by token from the network's distribution at a temperature.  Tokens that could
not lead to a valid system of the right dimension are masked, and known equations such as x' = v are given
(see `grammar.py`).  What is drawn for a trajectory depends only on its data and the seed, not on what else is
in the batch.

A log-probability is always the network's at temperature 1 under the same mask, so that drawn and given
systems can be compared.

Shapes: B trajectories, S samples of each, N sequences, L tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.data.observations import Observations
from odefinder.data.roles import KNOWN, SEEN, UNSEEN, Role
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, VAR, make_program
from odefinder.language.grammar import Forced, Grammar, Template, template_of
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.points import network_input
from odefinder.language.tokens import BOS, EOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION, MAX_POINTS, MAX_TRAJECTORIES
from odefinder.network.presets import NetworkSettings
from odefinder.network.runtime import Floats, Runtime

Operators = frozenset[str] | None  # operators that may occur; None: all

TOGETHER = 100  # samples that are drawn at once
WORTH_DROPPING = 0.75  # below this share of unfinished rows, the finished ones are dropped


@dataclass(frozen=True)
class Decoding:
    """How systems are drawn."""

    samples: int = 50
    temperature: float = 1.0
    seed: int = 0
    max_length: int | None = None  # tokens per system; None: as many as the network can write
    skipped: int = 0  # samples of the same seed that were drawn before these

    def __post_init__(self) -> None:
        if self.samples < 1 or not self.temperature > 0.0:
            raise SettingsError(
                f"decoding needs at least one sample and a positive temperature, not {self.samples} "
                f"and {self.temperature}"
            )

    def longest(self, network: NetworkSettings) -> int:
        """How many tokens a system may have."""
        return min(self.max_length or network.max_length, network.max_length)


DECODING_PRESETS = {"default": Decoding(), "paper": Decoding(temperature=0.1)}


@dataclass(frozen=True)
class Proposal:
    """A system that the network wrote, and what it thinks of it."""

    form: Form
    log_probability: float
    count: int  # samples with this structure


@lru_cache(maxsize=32)
def _grammar(vocabulary: str, max_length: int, operators: frozenset[str] | None) -> Grammar:
    """The grammar, cached because it takes milliseconds to build."""
    return Grammar(Vocabulary.preset(vocabulary), max_length, operators)


def grammar_of(network: NetworkSettings, how: Decoding, operators: Operators = None) -> Grammar:
    """What a network may write."""
    return _grammar(network.vocabulary, how.longest(network), operators)


# ---------------------------------------------------------------- drawing and scoring


def sample(
    runtime: Runtime,
    memory: Any,
    dimensions: ArrayLike,
    how: Decoding | None = None,
    operators: Operators = None,
    enough: Callable[[int], bool] = lambda finished: False,
    *,
    variables: ArrayLike | None = None,
    forced: Sequence[Forced] | None = None,
) -> tuple[NDArray[np.int16], Floats]:
    """Token ids (B, S, L), padded with PAD, and their log-probabilities (B, S).

    memory: what `runtime.encode` returned for B trajectories; for dimensions, variables and forced (B,) see
    `Grammar.start`.  operators: those that may occur; None: all.  enough: called before every token
    with the number of finished systems; if it returns True, unfinished ones are left empty, with
    log-probability -inf.
    """
    how = how or Decoding()
    batch, samples = len(np.asarray(dimensions)), how.samples
    count = batch * samples
    grammar = grammar_of(runtime.settings, how, operators)
    state, length = grammar.start(dimensions, variables, forced, samples), grammar.max_length
    # In (0, 1], one number per token; a sample's numbers do not depend on how many samples there are.
    numbers = np.random.default_rng(how.seed).random((how.skipped + samples, length))[how.skipped :]
    uniform = np.tile(1.0 - numbers, (batch, 1))
    sequences = runtime.begin(memory, samples, state.plan.masks)
    tokens = np.full(count, BOS, dtype=np.int64)
    ids = np.full((count, length), PAD, dtype=np.int16)
    log_probability = np.zeros(count)
    active, finished = np.arange(count), np.zeros(count, dtype=np.bool_)
    for position in range(length):
        if enough(int(finished.sum())):
            break
        rows = grammar.rows(state)
        tokens, chance = sequences.draw(tokens, rows, uniform[active, position], how.temperature)
        ids[active, position] = tokens
        log_probability[active] += chance  # 0 for padding, the only token after the end
        state = grammar.advance(state, tokens)
        going = (tokens != EOS) & (tokens != PAD)
        finished[active] = ~going
        if not going.any():
            break
        # Finished rows are padded, which costs as much as writing; but copying the cache has a cost too.
        if batch == 1 and going.sum() <= WORTH_DROPPING * len(going):
            state = state.take(going)
            sequences.keep(going)
            tokens, active = tokens[going], active[going]
    ids[~finished], log_probability[~finished] = PAD, -np.inf
    used = int((ids != PAD).sum(axis=1).max())
    return ids[:, :used].reshape(batch, samples, used), log_probability.reshape(batch, samples)


def token_log_probabilities(
    runtime: Runtime,
    memory: Any,
    dimensions: ArrayLike,
    targets: NDArray[np.integer],
    how: Decoding | None = None,
    operators: Operators = None,
    *,
    variables: ArrayLike | None = None,
    forced: Sequence[Forced] | None = None,
) -> tuple[Floats, Floats]:
    """log P of every token of given ids (B, S, L), padded with PAD, by teacher forcing; and of its kind.

    The kind of a token that begins a constant is any constant; for other tokens both are the same, and
    padding has 0.  From a token on that the grammar does not allow in the given dimensions (B,), it is -inf.
    """
    samples, length = targets.shape[1:]
    grammar = grammar_of(runtime.settings, how or Decoding(), operators)
    state = grammar.start(dimensions, variables, forced, samples)
    if length > grammar.max_length:
        raise SettingsError(f"systems of {length} tokens are too long, {grammar.max_length} at most")
    ids = targets.reshape(-1, length).astype(np.int64)
    inputs = np.concatenate((np.full_like(ids[:, :1], BOS), ids[:, :-1]), axis=1)
    logits = runtime.logits(memory, inputs)
    tokens, kinds = np.zeros(ids.shape), np.zeros(ids.shape)
    vocabulary = Vocabulary.preset(runtime.settings.vocabulary)
    constant = (vocabulary.token_opcode == CONST) & (vocabulary.token_slot <= 0)  # words that begin one
    possible = np.ones(len(ids), dtype=np.bool_)
    every = np.arange(len(ids))
    for position in range(length):
        allowed = state.plan.masks[np.where(possible, grammar.rows(state), grammar.padding_row)]
        masked = np.where(allowed, logits[:, position].astype(np.float64), -np.inf)
        possible &= allowed[every, ids[:, position]]
        highest = masked.max(axis=1)
        normaliser = highest + np.log(np.exp(masked - highest[:, None]).sum(axis=1))
        chosen = ids[:, position]
        tokens[:, position] = np.where(possible, masked[every, chosen] - normaliser, -np.inf)
        any_constant = np.exp(masked[:, constant] - highest[:, None]).sum(axis=1)
        with np.errstate(divide="ignore"):
            kind = highest + np.log(any_constant) - normaliser
        kinds[:, position] = np.where(constant[chosen] & possible, kind, tokens[:, position])
        state = grammar.advance(state, chosen)
    wrong = ~(possible & state.finished)
    tokens[wrong], kinds[wrong] = -np.inf, -np.inf
    return tokens.reshape(targets.shape), kinds.reshape(targets.shape)


# ---------------------------------------------------------------- systems


def network_points(
    data: Observations, network: NetworkSettings
) -> tuple[NDArray[Any], NDArray[np.int8], NDArray[np.int8]]:
    """What the network reads: points (1, P, ...), trajectories (1, P), roles (1, MAX_DIMENSION).

    Points are thinned out if there are more than it was trained on, and known variables left out if there
    are more columns than it has.
    """
    count = len(data)
    shown = np.unique(np.linspace(0, count - 1, min(count, MAX_TRAJECTORIES)).astype(int))
    rows = np.concatenate([np.arange(data.bounds[k], data.bounds[k + 1]) for k in shown])
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_POINTS)).astype(int))]
    columns = data.states if data.known is None else np.hstack((data.states, data.known))[:, :MAX_DIMENSION]
    points = network_input(data.times[None, chosen], columns[None, chosen])
    roles = np.full((1, MAX_DIMENSION), SEEN, np.int8)
    codes = [KNOWN if role.is_known else SEEN if role == Role.OBSERVED else UNSEEN for role in data.roles]
    roles[0, : len(codes)] = codes[:MAX_DIMENSION]
    own = data.trajectory_of(chosen)
    trajectory = np.searchsorted(shown, own).astype(np.int8)
    if network.embedder == "tokens":
        return number_ids(points, allow_missing=True), trajectory[None], roles
    return points, trajectory[None], roles


def readable_variables(data: Observations) -> int:
    """How many variables the network's equations may use: states, and known ones as far as it has columns."""
    return min(data.variables, MAX_DIMENSION)


def derivative_template(vocabulary: Vocabulary, velocity: int) -> Template:
    """The known equation x' = v, spelled as the network has learned it: in canonical form, 1 * v."""
    return template_of(vocabulary, Form.of(make_program([VAR], [velocity])).program)


@dataclass(frozen=True)
class Reading:
    """A network and its encoding of one set of data, for both decoding and scoring."""

    runtime: Runtime
    memory: Any
    dimension: int  # states, each with an equation
    variables: int  # that equations may use: the states, and as many known ones as there are words for
    forced: Forced = field(default_factory=dict)  # equations that are known, by state

    @classmethod
    def of(cls, runtime: Runtime, data: Observations, forced: Forced | None = None) -> Reading:
        """Let the network read data in canonical units.

        forced: the known equations, in canonical form; for those of velocities see `derivative_template`.
        """
        memory = runtime.encode(*network_points(data, runtime.settings))
        return cls(runtime, memory, data.dimension, readable_variables(data), forced or {})

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the network writes."""
        return Vocabulary.preset(self.runtime.settings.vocabulary)


def decode(
    reading: Reading,
    how: Decoding | None = None,
    operators: Operators = None,
    enough: Callable[[int], bool] = lambda finished: False,
) -> list[Proposal]:
    """Distinct systems that the network proposes, likeliest first; for the arguments see `sample`.

    Many samples are drawn group after group, as the network keeps some megabytes for each.
    """
    how = how or Decoding()
    rows: list[NDArray[np.int16]] = []
    chances: list[float] = []
    for first in range(0, how.samples, TOGETHER):
        before = int(np.isfinite(chances).sum())
        if rows and enough(before):
            break
        ids, drawn = sample(
            reading.runtime,
            reading.memory,
            [reading.dimension],
            replace(how, samples=min(TOGETHER, how.samples - first), skipped=how.skipped + first),
            operators,
            partial(_enough_of_all, enough, before),
            variables=[reading.variables],
            forced=[reading.forced],
        )
        rows += list(ids[0])
        chances += drawn[0].tolist()
    return distinct_proposals(rows, chances, reading.vocabulary)


def _enough_of_all(enough: Callable[[int], bool], before: int, finished: int) -> bool:
    return enough(before + finished)


def distinct_proposals(
    ids: Sequence[NDArray[np.int16]] | NDArray[np.int16],
    log_probability: Sequence[float] | Floats,
    vocabulary: Vocabulary,
) -> list[Proposal]:
    """The systems of one example's samples (S, L), one of each structure: its likeliest, likeliest first."""
    drawn = []
    for row, value in zip(ids, log_probability, strict=True):
        if value != -np.inf:  # the others are unfinished
            with suppress(ExpressionError):  # well-formed but undefined, such as 1 / 0
                drawn.append(Proposal(Form.of(vocabulary.decode(row[row != PAD])), float(value), 1))
    return distinct(drawn)


def distinct(proposals: Sequence[Proposal]) -> list[Proposal]:
    """One of each structure, its likeliest, with the count of all; likeliest first."""
    best: dict[bytes, Proposal] = {}
    for one in sorted(proposals, key=lambda one: -one.log_probability):
        known = best.get(one.form.key)
        best[one.form.key] = one if known is None else replace(known, count=known.count + one.count)
    return list(best.values())
