"""Which token may follow which: every sequence the grammar accepts is a valid system that is not too long.

The state of a half-written sequence is a few small integers, and a token changes them by table lookups
(`open_change`, `next_phase`, `component_change`).  They select one row of `masks`, the allowed tokens.
A batch may mix systems of all dimensions.

A sequence can always be finished in time: the shortest expression is one variable, so each open argument
costs one token, each later component two (SEP and a variable), and the end one.  What is left of `max_length`
after these is the slack, and a token is allowed only if the slack covers what it adds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import SettingsError
from odefinder.expressions.program import ARITY, MAX_NODES, OPCODE_BY_NAME
from odefinder.language.number_words import PAD
from odefinder.language.tokens import EOS, SEP, Vocabulary

MAX_SLACK = 2  # no token adds more: an operator adds its arity, a number the rest of its tokens


@dataclass(frozen=True)
class GrammarState:
    """How far each sequence of a batch is; every array is int64 (batch,)."""

    dimension: NDArray[np.int64]  # components that the sequence will have
    open_arguments: NDArray[np.int64]  # expressions still to be written in this component
    phase: NDArray[np.int64]  # which token of a number must come next; 0: not inside a number
    component: NDArray[np.int64]  # index of this component; the dimension once the sequence has ended
    length: NDArray[np.int64]  # tokens written, EOS included

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which sequences have ended, (batch,)."""
        return self.component == self.dimension

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> GrammarState:
        """The state of the chosen sequences."""
        return GrammarState(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


class Grammar:
    """The systems that a vocabulary can write in at most `max_length` tokens (EOS counts, BOS does not)."""

    def __init__(self, vocabulary: Vocabulary, max_length: int, operators: Collection[str] | None = None):
        if not 2 <= max_length <= MAX_NODES:
            raise SettingsError(
                f"max_length is the number of tokens, from 2 to {MAX_NODES}, not {max_length}"
            )
        allowed_operators = set(vocabulary.operators if operators is None else operators)
        if unknown := allowed_operators - set(vocabulary.operators):
            raise SettingsError(
                f"no operators {sorted(unknown)}; choose from {', '.join(vocabulary.operators)}"
            )
        self.vocabulary = vocabulary
        self.max_length = max_length
        self.max_dimension = min(vocabulary.variables, max_length // 2)
        self.operators = frozenset(allowed_operators)
        self._build_tables()

    def _build_tables(self) -> None:
        vocabulary = self.vocabulary
        opcode, slot = vocabulary.token_opcode, vocabulary.token_slot
        tokens_per_number = len(vocabulary.numbers.order)
        token = np.arange(len(vocabulary))

        arity = np.where(opcode >= 0, ARITY[opcode], 0).astype(np.int64)
        inside_number = (slot >= 0) & (slot < tokens_per_number - 1)
        # How a token changes the state, each (vocabulary,).
        self.open_change: NDArray[np.int64] = np.where(opcode >= 0, arity - 1, 0)
        self.open_change[inside_number] = 0  # only the last token completes a number
        self.open_change[SEP] = 1
        self.next_phase: NDArray[np.int64] = np.where(inside_number, slot + 1, 0).astype(np.int64)
        self.component_change: NDArray[np.int64] = np.isin(token, (SEP, EOS)).astype(np.int64)

        # What may begin an expression: an operator, a variable, an exact number, a number's first token.
        banned = [OPCODE_BY_NAME[name] for name in set(vocabulary.operators) - self.operators]
        written = self._written_number_tokens()
        starts = (opcode >= 0) & (slot <= 0) & ~np.isin(opcode, banned) & written
        added = arity + np.where(slot == 0, tokens_per_number - 1, 0)
        # The masks of one dimension, in order: the start of an expression with slack 0, 1, and 2 or more; the
        # tokens 1, 2 of a number; SEP; EOS; and PAD for ever.  The dimensions follow one another.
        masks: list[NDArray[np.bool_]] = []
        for dimension in range(1, self.max_dimension + 1):
            first_vacant = vocabulary.layout.first_variable + dimension
            vacant = (token >= first_vacant) & (token < vocabulary.layout.first_exact)
            masks += [starts & ~vacant & (added <= slack) for slack in range(MAX_SLACK + 1)]
            masks += [written & (slot == phase) for phase in range(1, tokens_per_number)]
            masks += [token == special for special in (SEP, EOS, PAD)]
        self.masks: NDArray[np.bool_] = np.array(masks)  # (dimensions * masks of one, vocabulary)
        self._masks_of_one = len(masks) // self.max_dimension
        self._mask_of_separator = self._masks_of_one - 3

    def _written_number_tokens(self) -> NDArray[np.bool_]:
        """All ids except mantissas that never occur, such as 0001 to 0999 in the paper's words."""
        numbers, layout = self.vocabulary.numbers, self.vocabulary.layout
        slot, stride, count = layout.field_token[1], layout.field_stride[1], layout.field_count[1]
        offset = np.arange(len(self.vocabulary)) - layout.number_first[slot]
        mantissa = offset // stride % count + numbers.mantissa_min
        unwritten = (mantissa > 0) & (mantissa < 10 ** (numbers.digits - 1))
        return ~(unwritten & (self.vocabulary.token_slot == slot))

    def start(self, dimensions: ArrayLike) -> GrammarState:
        """The state before the first token of sequences of these dimensions (batch,)."""
        dimension = np.asarray(dimensions, dtype=np.int64)
        if dimension.min() < 1 or dimension.max() > self.max_dimension:
            raise SettingsError(
                f"the dimension must be 1 to {self.max_dimension} with at most {self.max_length} tokens, not "
                f"{sorted(set(dimension.tolist()))}"
            )
        zeros = np.zeros_like(dimension)
        return GrammarState(dimension, np.ones_like(dimension), zeros, zeros.copy(), zeros.copy())

    def rows(self, state: GrammarState) -> NDArray[np.int64]:
        """Which of `masks` applies to each sequence, (batch,)."""
        components_left = state.dimension - 1 - state.component  # -1 after the end
        slack = self.max_length - state.length - state.open_arguments - 2 * components_left - 1
        between = self._mask_of_separator + (components_left <= 0) + (components_left < 0)
        begin = np.where(state.open_arguments > 0, np.minimum(slack, MAX_SLACK), between)
        row = np.where(state.phase > 0, MAX_SLACK + state.phase, begin)
        return (state.dimension - 1) * self._masks_of_one + row

    def allowed(self, state: GrammarState) -> NDArray[np.bool_]:
        """The mask of allowed tokens, (batch, vocabulary); a finished sequence may only be padded."""
        return self.masks[self.rows(state)]

    def advance(self, state: GrammarState, tokens: NDArray[np.integer]) -> GrammarState:
        """The state after one more token per sequence, (batch,); the tokens must be allowed ones."""
        return GrammarState(
            dimension=state.dimension,
            open_arguments=state.open_arguments + self.open_change[tokens],
            phase=self.next_phase[tokens],
            component=state.component + self.component_change[tokens],
            length=state.length + (tokens != PAD),
        )
