"""Which token may follow which: every sequence the grammar lets through is a valid system that fits.

The state of a half-written sequence is four small integers, and a token changes them by table lookups
(`open_change`, `next_phase`, `component_change`).  They select one row of `rows`, the mask of allowed
tokens.  All tables are plain arrays, so that another array library can run the same few lines.

A sequence may always be finished in time: the shortest expression is one variable, so each open argument
costs one token, each later component two (SEP and a variable), the end one.  What is left of `max_length`
after these is the slack, and a token is allowed only if the slack covers what it adds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import SettingsError
from odefinder.expressions.program import ARITY, MAX_NODES, OPCODE_BY_NAME
from odefinder.language.number_words import PAD
from odefinder.language.tokens import EOS, SEP, Vocabulary

MAX_SLACK = 2  # no token adds more than two: an operator its arity, a number the rest of its tokens


@dataclass(frozen=True)
class GrammarState:
    """Where each sequence of a batch stands; every array is int64 (batch,)."""

    open_arguments: NDArray[np.int64]  # expressions still to be written in this component
    phase: NDArray[np.int64]  # which token of a number must come next; 0: not inside a number
    component: NDArray[np.int64]  # index of this component; the dimension once the sequence has ended
    length: NDArray[np.int64]  # tokens written, EOS included

    def take(self, rows: NDArray[np.integer]) -> GrammarState:
        """The state of the chosen sequences, when a beam search reorders them."""
        return GrammarState(
            self.open_arguments[rows], self.phase[rows], self.component[rows], self.length[rows]
        )


class Grammar:
    """The systems of one dimension in at most `max_length` tokens (EOS counts, BOS does not)."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        dimension: int,
        max_length: int,
        operators: Collection[str] | None = None,
    ):
        if not 1 <= dimension <= vocabulary.variables:
            raise SettingsError(f"the dimension must be 1 to {vocabulary.variables}, not {dimension}")
        if not 2 * dimension <= max_length <= MAX_NODES:
            raise SettingsError(
                f"a system of dimension {dimension} needs a max_length of {2 * dimension} to {MAX_NODES}, "
                f"not {max_length}"
            )
        allowed_operators = set(vocabulary.operators if operators is None else operators)
        if unknown := allowed_operators - set(vocabulary.operators):
            raise SettingsError(
                f"no operators {sorted(unknown)}; choose from {', '.join(vocabulary.operators)}"
            )
        self.vocabulary = vocabulary
        self.dimension = dimension
        self.max_length = max_length
        self.operators = frozenset(allowed_operators)
        self._build_tables()

    def _build_tables(self) -> None:
        vocabulary, layout = self.vocabulary, self.vocabulary.layout
        opcode, slot = vocabulary.token_opcode, vocabulary.token_slot
        tokens_a_number = len(vocabulary.numbers.order)
        size = len(vocabulary)
        token = np.arange(size)

        arity = np.where(opcode >= 0, ARITY[opcode], 0).astype(np.int64)
        inside_number = (slot >= 0) & (slot < tokens_a_number - 1)
        # How a token changes the state, each (vocabulary,).
        self.open_change: NDArray[np.int64] = np.where(opcode >= 0, arity - 1, 0)
        self.open_change[inside_number] = 0  # only the last token completes a number
        self.open_change[SEP] = 1
        self.next_phase: NDArray[np.int64] = np.where(inside_number, slot + 1, 0).astype(np.int64)
        self.component_change: NDArray[np.int64] = np.isin(token, (SEP, EOS)).astype(np.int64)

        # What may begin an expression: an operator, a variable, an exact number, a number's first token.
        banned = [OPCODE_BY_NAME[name] for name in set(vocabulary.operators) - self.operators]
        first_vacant = layout.first_variable + self.dimension
        starts = (opcode >= 0) & (slot <= 0) & ~np.isin(opcode, banned)
        starts[first_vacant : layout.first_exact] = False
        added = arity + np.where(slot == 0, tokens_a_number - 1, 0)
        written = self._written_number_tokens()
        starts &= written
        # Rows of allowed tokens: an expression begins, with slack 0, 1, 2 or more; a number goes on, with
        # its token 1, 2; then SEP, EOS, and PAD for ever.  (rows, vocabulary)
        self.rows: NDArray[np.bool_] = np.array(
            [starts & (added <= slack) for slack in range(MAX_SLACK + 1)]
            + [written & (slot == phase) for phase in range(1, tokens_a_number)]
            + [token == special for special in (SEP, EOS, PAD)]
        )
        self.row_of_separator = len(self.rows) - 3

    def _written_number_tokens(self) -> NDArray[np.bool_]:
        """All ids but the mantissas that no number is written with, as 0001 to 0999 in the paper's words."""
        numbers, layout = self.vocabulary.numbers, self.vocabulary.layout
        slot, stride, count = layout.field_token[1], layout.field_stride[1], layout.field_count[1]
        offset = np.arange(len(self.vocabulary)) - layout.number_first[slot]
        mantissa = offset // stride % count + numbers.mantissa_min
        unwritten = (mantissa > 0) & (mantissa < 10 ** (numbers.digits - 1))
        return ~(unwritten & (self.vocabulary.token_slot == slot))

    def start(self, batch: int) -> GrammarState:
        """The state before the first token."""
        zeros = np.zeros(batch, dtype=np.int64)
        return GrammarState(np.ones(batch, dtype=np.int64), zeros, zeros.copy(), zeros.copy())

    def row(self, state: GrammarState) -> NDArray[np.int64]:
        """Which of `rows` applies to each sequence, (batch,)."""
        components_left = self.dimension - 1 - state.component  # -1 after the end
        slack = self.max_length - state.length - state.open_arguments - 2 * components_left - 1
        between = self.row_of_separator + (components_left <= 0) + (components_left < 0)
        begin = np.where(state.open_arguments > 0, np.minimum(slack, MAX_SLACK), between)
        return np.where(state.phase > 0, MAX_SLACK + state.phase, begin)

    def allowed(self, state: GrammarState) -> NDArray[np.bool_]:
        """The mask of allowed tokens, (batch, vocabulary); a finished sequence may only be padded."""
        return self.rows[self.row(state)]

    def advance(self, state: GrammarState, tokens: NDArray[np.integer]) -> GrammarState:
        """The state after one more token a sequence, (batch,); the tokens must be allowed ones."""
        refused = ~self.rows[self.row(state), tokens]
        if refused.any():
            words = self.vocabulary.words(tokens[refused])
            raise ValueError(f"tokens that the grammar does not allow here: {words}")
        return GrammarState(
            open_arguments=state.open_arguments + self.open_change[tokens],
            phase=self.next_phase[tokens],
            component=state.component + self.component_change[tokens],
            length=state.length + (tokens != PAD),
        )

    def finished(self, state: GrammarState) -> NDArray[np.bool_]:
        """Which sequences have ended, (batch,)."""
        return state.component == self.dimension
