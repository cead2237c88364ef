"""Which token may follow which: every sequence the grammar accepts is a valid system that is not too long.

The state of a half-written sequence is a few small integers, and a token changes them by table lookups
(`open_change`, `next_phase`, `component_change`).  They select one row of the masks, the allowed tokens.
A batch may mix systems of all dimensions.

Equations that are known before anything is written, such as x' = v, are *forced*: a template says which token
comes next, or that any number does.

A sequence can always be finished in time: the shortest expression is one variable, so each open argument
costs one token, each later component two (SEP and a variable) or as many as its template and SEP, and the end
one.  What is left of `max_length` after these is the slack, and a token is allowed only if the slack covers
what it adds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import SettingsError
from odefinder.expressions.program import ARITY, CONST, MAX_NODES, OPCODE_BY_NAME, Program
from odefinder.language.number_words import PAD
from odefinder.language.tokens import EOS, SEP, Vocabulary

MAX_SLACK = 2  # no token adds more: an operator adds its arity, a number the rest of its tokens
ANY_NUMBER = -1  # in a template: a constant that is not known
FREE = 0  # in a plan: where no template begins

Template = tuple[int, ...]  # the token ids of one equation, or ANY_NUMBER
Forced = Mapping[int, Template]  # the known equations of a system, by component


def template_of(vocabulary: Vocabulary, equation: Program) -> Template:
    """The template of one equation; a constant that is NaN is any number, others are rounded to words."""
    ids: list[int] = []
    for op, value in zip(equation.ops, equation.values, strict=True):
        if op == CONST and math.isnan(value):
            ids.append(ANY_NUMBER)
        else:
            ids += vocabulary.encode(Program(np.array([op]), np.array([value])))[:-1].tolist()
    return tuple(ids)


@dataclass(frozen=True)
class Plan:
    """What is fixed about the sequences of a batch, looked up by their kind and component."""

    masks: NDArray[np.bool_]  # (rows, vocabulary): the grammar's own, then one for each entry of the script
    needed: NDArray[np.int64]  # (kinds, components + 1): tokens that the components after this one need
    begins: NDArray[np.int64]  # (kinds, components + 1): where a component's template begins, or FREE
    script: NDArray[np.int64]  # all templates, as rows of the masks; 0 where there is no entry
    numbers: NDArray[np.bool_]  # which entries of the script stand for all tokens of a number


@dataclass(frozen=True)
class GrammarState:
    """How far each sequence of a batch is; every array is int64 (batch,)."""

    plan: Plan
    kind: NDArray[np.int64]  # which row of the plan's tables applies
    dimension: NDArray[np.int64]  # components that the sequence will have
    variables: NDArray[np.int64]  # that it may use: its states and the known ones
    place: NDArray[np.int64]  # in the plan's script, or FREE
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
        arrays = (field.name for field in fields(self) if field.name != "plan")
        return replace(self, **{name: getattr(self, name)[rows] for name in arrays})


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
        self._begins_number: NDArray[np.bool_] = (opcode == CONST) & (slot <= 0) & written
        # The masks for one variable, in order: the start of an expression with slack 0, 1, and 2 or more; the
        # tokens 1, 2 of a number; SEP; EOS; and PAD for ever.  Those for more variables follow.
        masks: list[NDArray[np.bool_]] = []
        for variables in range(1, vocabulary.variables + 1):
            first_vacant = vocabulary.layout.first_variable + variables
            vacant = (token >= first_vacant) & (token < vocabulary.layout.first_exact)
            masks += [starts & ~vacant & (added <= slack) for slack in range(MAX_SLACK + 1)]
            masks += [written & (slot == phase) for phase in range(1, tokens_per_number)]
            masks += [token == special for special in (SEP, EOS, PAD)]
        self.masks: NDArray[np.bool_] = np.array(masks)  # (variables * masks of one, vocabulary)
        self._masks_of_one = len(masks) // vocabulary.variables
        self._mask_of_separator = self._masks_of_one - 3
        self.padding_row = self._masks_of_one - 1  # of the mask that allows nothing but PAD

    def _written_number_tokens(self) -> NDArray[np.bool_]:
        """All ids except mantissas that never occur, such as 0001 to 0999 in the paper's words."""
        numbers, layout = self.vocabulary.numbers, self.vocabulary.layout
        slot, stride, count = layout.field_token[1], layout.field_stride[1], layout.field_count[1]
        offset = np.arange(len(self.vocabulary)) - layout.number_first[slot]
        mantissa = offset // stride % count + numbers.mantissa_min
        unwritten = (mantissa > 0) & (mantissa < 10 ** (numbers.digits - 1))
        return ~(unwritten & (self.vocabulary.token_slot == slot))

    def start(
        self,
        dimensions: ArrayLike,
        variables: ArrayLike | None = None,
        forced: Sequence[Forced] | None = None,
        samples: int = 1,
    ) -> GrammarState:
        """The state before the first token of sequences, `samples` of each of these kinds (kinds,).

        variables: how many there are to use; by default there are only the states, as many as the dimension.
        forced: the known equations of each kind.
        """
        dimension = np.asarray(dimensions, dtype=np.int64)
        usable = dimension if variables is None else np.asarray(variables, dtype=np.int64)
        if dimension.min() < 1 or dimension.max() > self.max_dimension:
            raise SettingsError(
                f"the dimension must be 1 to {self.max_dimension} with at most {self.max_length} tokens, not "
                f"{sorted(set(dimension.tolist()))}"
            )
        if (usable < dimension).any() or usable.max() > self.vocabulary.variables:
            raise SettingsError(
                f"there are words for {self.vocabulary.variables} variables, states and known ones together, "
                f"not for {usable.max()}"
            )
        plan = self._plan(dimension, forced or [{}] * len(dimension))
        kind = np.repeat(np.arange(len(dimension)), samples)
        zeros = np.zeros_like(kind)
        return GrammarState(
            plan=plan,
            kind=kind,
            dimension=dimension[kind],
            variables=usable[kind],
            place=plan.begins[kind, 0],
            open_arguments=np.ones_like(kind),
            phase=zeros,
            component=zeros.copy(),
            length=zeros.copy(),
        )

    def _plan(self, dimension: NDArray[np.int64], forced: Sequence[Forced]) -> Plan:
        """The tables for sequences of these dimensions with these known equations (kinds,)."""
        needed = np.zeros((len(dimension), dimension.max() + 1), dtype=np.int64)
        begins = np.full_like(needed, FREE)
        masks, script, numbers = [self.masks], [0], [False]
        for kind, (count, known) in enumerate(zip(dimension.tolist(), forced, strict=True)):
            for component in reversed(range(count)):
                size = 1
                if component in known:
                    size = self._size(known[component])
                    begins[kind, component] = len(script)
                    row = len(self.masks) + len(masks) - 1
                    script += [*range(row, row + len(known[component])), 0]
                    numbers += [*(entry == ANY_NUMBER for entry in known[component]), False]
                    masks += [self._mask_of(entry) for entry in known[component]]
                if component > 0:
                    needed[kind, component - 1] = needed[kind, component] + 1 + size
                elif 1 + size + needed[kind, 0] > self.max_length:
                    raise SettingsError(
                        f"a system with these known equations has {1 + size + needed[kind, 0]} tokens or "
                        f"more, {self.max_length} at most are possible"
                    )
        together = np.concatenate(masks) if len(masks) > 1 else self.masks
        return Plan(together, needed, begins, np.array(script), np.array(numbers))

    def _size(self, template: Template) -> int:
        """How many tokens a template becomes at most, if it is one whole expression."""
        open_arguments = 1
        for entry in template:
            if open_arguments == 0 or not ANY_NUMBER <= entry < len(self.vocabulary):
                open_arguments = -1
                break
            open_arguments += -1 if entry == ANY_NUMBER else int(self.open_change[entry])
        if open_arguments != 0:
            raise SettingsError(f"the known equation {template} is not one whole expression")
        return len(template) + template.count(ANY_NUMBER) * (len(self.vocabulary.numbers.order) - 1)

    def _mask_of(self, entry: int) -> NDArray[np.bool_]:
        """The tokens that an entry of a template allows, (1, vocabulary)."""
        tokens = np.arange(len(self.vocabulary)) == entry
        return (self._begins_number if entry == ANY_NUMBER else tokens)[None]

    def rows(self, state: GrammarState) -> NDArray[np.int64]:
        """Which mask of the state's plan applies to each sequence, (batch,)."""
        plan = state.plan
        components_left = state.dimension - 1 - state.component  # -1 after the end
        needed = plan.needed[state.kind, self._column(state)]
        slack = self.max_length - state.length - state.open_arguments - needed - 1
        between = self._mask_of_separator + (components_left <= 0) + (components_left < 0)
        begin = np.where(state.open_arguments > 0, np.minimum(slack, MAX_SLACK), between)
        row = np.where(state.phase > 0, MAX_SLACK + state.phase, begin)
        row = (state.variables - 1) * self._masks_of_one + row
        if len(plan.script) == 1:  # nothing is forced
            return row
        entry = plan.script[state.place]
        inside = plan.numbers[state.place] & (state.phase > 0)
        return np.where((entry > 0) & (state.open_arguments > 0) & ~inside, entry, row)

    def allowed(self, state: GrammarState) -> NDArray[np.bool_]:
        """The mask of allowed tokens, (batch, vocabulary); a finished sequence may only be padded."""
        return state.plan.masks[self.rows(state)]

    def advance(self, state: GrammarState, tokens: NDArray[np.integer]) -> GrammarState:
        """The state after one more token per sequence, (batch,); the tokens must be allowed ones."""
        after = GrammarState(
            plan=state.plan,
            kind=state.kind,
            dimension=state.dimension,
            variables=state.variables,
            place=state.place,
            open_arguments=state.open_arguments + self.open_change[tokens],
            phase=self.next_phase[tokens],
            component=state.component + self.component_change[tokens],
            length=state.length + (tokens != PAD),
        )
        if len(state.plan.script) == 1:
            return after
        # A template goes on when a token or a whole number is written; SEP leads to the next one.
        inside = state.plan.numbers[state.place] & (after.phase > 0)
        written = (state.place > FREE) & (state.open_arguments > 0) & ~inside
        place = np.minimum(state.place + written, len(state.plan.script) - 1)
        begins = state.plan.begins[state.kind, self._column(after)]
        return replace(after, place=np.where(tokens == SEP, begins, place))

    @staticmethod
    def _column(state: GrammarState) -> NDArray[np.int64]:
        """The component as a column of the plan's tables, also after tokens that were not allowed."""
        return np.minimum(state.component, state.plan.needed.shape[1] - 1)
