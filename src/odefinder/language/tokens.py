"""Programs as token ids, and back (paper: "Encoding symbolic functions").

The target words, written by the decoder, are operators, variables and constants in prefix order; a
`NumberScheme` says how a constant is spelled (see `number_words.py`):

    paper    cos(2.4242 x0)  ->  cos mul + 2424 E-3 x0    sign, mantissa, exponent; 2424 * 10**-3
    coarse   cos(2.4242 x0)  ->  cos mul + E0 24 x0       sign, exponent, two digits; 2.4 * 10**0

`coarse` is the default: the network can learn it (four digits cannot be read off the data), and the
constants are fitted after decoding anyway.  Every number has one spelling: a constant that *rounds* to 1
is the word "1" where the scheme has that word, so encode(decode(ids)) == ids.

Functions that work on one example are compiled and allocate nothing, for the generator's compiled loop.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.program import (
    ARITY,
    CONST,
    N_OPCODES,
    OPCODE_BY_NAME,
    OPERATORS,
    VAR,
    Program,
    make_program,
)
from odefinder.expressions.values import arguments_left
from odefinder.language.number_words import FIELDS, NUMBER_SCHEMES, NumberScheme, split_number
from odefinder.limits.sizes import MAX_DIMENSION

BOS, EOS, SEP = 1, 2, 3  # the special target words besides PAD
DOES_NOT_FIT, NO_WORD = -1, -2  # what `encode_program` returns instead of a length


class Layout(NamedTuple):
    """The ids of the target words: a vocabulary as compiled code sees it."""

    operator_ids: NDArray[np.int64]  # by opcode; -1: no such word
    first_variable: int
    variables: int
    first_exact: int
    exact: NDArray[np.int64]  # (n, 3): sign, mantissa, exponent
    digits: int
    decimals: int
    exponent_min: int
    exponent_max: int
    number_first: NDArray[np.int64]  # the first id of each number token, (tokens per number,)
    # A number token's id is its first id + the sum over its fields of (value - minimum) * stride.
    field_token: NDArray[np.int64]  # (3,), by field: which of the number's tokens holds it
    field_stride: NDArray[np.int64]
    field_min: NDArray[np.int64]
    field_count: NDArray[np.int64]


@compiled
def _encode_constant(x: float, layout: Layout, out: NDArray[np.int32], start: int) -> int:
    """Write a finite constant at `start`, where at least one token fits; returns the end, or DOES_NOT_FIT."""
    fields = split_number(x, layout.digits, layout.decimals, layout.exponent_min, layout.exponent_max)
    for k in range(layout.exact.shape[0]):
        exact = layout.exact[k]
        if fields[1] == exact[1] and fields[2] == exact[2] and fields[0] == exact[0]:
            out[start] = layout.first_exact + k
            return start + 1
    size = layout.number_first.shape[0]
    if start + size > out.shape[0]:
        return DOES_NOT_FIT
    for k in range(size):
        out[start + k] = layout.number_first[k]
    for k in range(3):
        out[start + layout.field_token[k]] += (fields[k] - layout.field_min[k]) * layout.field_stride[k]
    return start + size


@compiled
def encode_program(
    ops: NDArray[np.int8], values: NDArray[np.float64], n: int, layout: Layout, out: NDArray[np.int32]
) -> int:
    """Write the ids of a valid program's first n nodes into `out`: SEP between expressions, EOS at the end.

    Returns the length, DOES_NOT_FIT, or NO_WORD for an operator, variable or non-finite constant that
    the vocabulary cannot write.
    """
    length, open_arguments = 0, 1
    for i in range(n):
        op = ops[i]
        if open_arguments == 0:
            out[length] = SEP
            length += 1
        if length >= out.shape[0]:
            return DOES_NOT_FIT
        if op == CONST:
            if not math.isfinite(values[i]):
                return NO_WORD
            length = _encode_constant(values[i], layout, out, length)
        else:
            if op == VAR:
                token = layout.first_variable + int(values[i]) if values[i] < layout.variables else NO_WORD
            else:
                token = layout.operator_ids[op]
            if token < 0:
                return NO_WORD
            out[length] = token
            length += 1
        if length < 0 or length >= out.shape[0]:  # SEP or EOS must follow
            return DOES_NOT_FIT
        open_arguments = arguments_left(open_arguments, op)
    out[length] = EOS
    return length + 1


@dataclass(frozen=True)
class Vocabulary:
    """The target words: specials, operators, variables, exact numbers, number parts; ids in this order."""

    numbers: NumberScheme = NUMBER_SCHEMES["coarse"]
    # By name, in the order of their ids, so that a checkpoint outlives additions to the operator table.
    operators: tuple[str, ...] = tuple(operator.name for operator in OPERATORS)
    variables: int = MAX_DIMENSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", tuple(self.operators))  # JSON has only lists
        unknown = [name for name in self.operators if name not in OPCODE_BY_NAME]
        if unknown:
            raise SettingsError(f"unknown operators {unknown}; this version knows {list(OPCODE_BY_NAME)}")
        if len(set(self.operators)) < len(self.operators):
            raise SettingsError(f"an operator is listed twice: {self.operators}")

    @classmethod
    def preset(cls, name: str) -> Vocabulary:
        """`coarse`, the default, or `paper`."""
        if name not in NUMBER_SCHEMES:
            raise SettingsError(f"no vocabulary {name!r}; choose from {list(NUMBER_SCHEMES)}")
        return cls(NUMBER_SCHEMES[name])

    @property
    def one(self) -> int:
        """The id of the word 1, or -1 where the scheme has none."""
        exact = self.numbers.exact
        return self.layout.first_exact + exact.index(1.0) if 1.0 in exact else -1

    def __len__(self) -> int:
        return len(self.all_words)

    @cached_property
    def all_words(self) -> tuple[str, ...]:
        """The words by id."""
        numbers = self.numbers
        number_words = [
            "".join(words)
            for part in numbers.parts
            for words in itertools.product(*(numbers.field_words(field) for field in part))
        ]
        return (
            *("<pad>", "<bos>", "<eos>", "|"),
            *self.operators,
            *(f"x{i}" for i in range(self.variables)),
            *(f"{value:g}" for value in numbers.exact),
            *number_words,
        )

    @cached_property
    def layout(self) -> Layout:
        """The same for compiled code."""
        numbers = self.numbers
        operator_ids = np.full(N_OPCODES, -1, dtype=np.int64)
        for token, name in enumerate(self.operators, start=SEP + 1):
            operator_ids[OPCODE_BY_NAME[name]] = token
        first_variable = SEP + 1 + len(self.operators)
        first_exact = first_variable + self.variables
        number_first = [first_exact + len(numbers.exact)]
        counts = {field: len(numbers.field_words(field)) for field in FIELDS}
        tokens, strides = {}, {}
        for token, part in enumerate(numbers.parts):
            stride = 1
            for field in reversed(part):
                tokens[field], strides[field] = token, stride
                stride *= counts[field]
            number_first.append(number_first[-1] + stride)
        return Layout(
            operator_ids=operator_ids,
            first_variable=first_variable,
            variables=self.variables,
            first_exact=first_exact,
            exact=np.array([numbers.split(x) for x in numbers.exact], dtype=np.int64).reshape(-1, 3),
            digits=numbers.digits,
            decimals=numbers.decimals,
            exponent_min=numbers.exponent_min,
            exponent_max=numbers.exponent_max,
            number_first=np.array(number_first[:-1], dtype=np.int64),
            field_token=np.array([tokens[field] for field in FIELDS], dtype=np.int64),
            field_stride=np.array([strides[field] for field in FIELDS], dtype=np.int64),
            field_min=np.array([0, numbers.mantissa_min, numbers.exponent_min], dtype=np.int64),
            field_count=np.array([counts[field] for field in FIELDS], dtype=np.int64),
        )

    @cached_property
    def token_opcode(self) -> NDArray[np.int8]:
        """The opcode each id stands for (CONST for all parts of a number), -1 for the specials."""
        opcode = np.full(len(self), CONST, dtype=np.int8)
        opcode[: SEP + 1] = -1
        opcode[SEP + 1 : self.layout.first_variable] = [OPCODE_BY_NAME[name] for name in self.operators]
        opcode[self.layout.first_variable : self.layout.first_exact] = VAR
        return opcode

    @cached_property
    def token_slot(self) -> NDArray[np.int8]:
        """Which token of a number each id is (0, 1, 2), -1 for ids that are not part of one."""
        slot = np.full(len(self), -1, dtype=np.int8)
        for k, first in enumerate(self.layout.number_first):
            slot[first:] = k
        return slot

    def _value(self, token: int, opcode: int, number: Sequence[int]) -> float:
        """A program's value for a node written as `token`, or as the tokens of a number."""
        layout = self.layout
        if number:
            offset = (np.array(number) - layout.number_first)[layout.field_token]
            fields = layout.field_min + offset // layout.field_stride % layout.field_count
            return self.numbers.value(*fields.tolist())
        if opcode == CONST:
            return self.numbers.exact[token - layout.first_exact]
        return float(token - layout.first_variable) if opcode == VAR else 0.0

    def encode(self, program: Program) -> NDArray[np.int32]:
        """The ids of a program: SEP between its expressions, EOS at the end, no BOS."""
        n = len(program)
        out = np.empty(n * (1 + len(self.numbers.order)) + 1, dtype=np.int32)
        length = encode_program(program.ops, program.values, n, self.layout, out)
        if length < 0:
            raise ExpressionError(
                f"the program cannot be written in this vocabulary, which has {self.variables} variables, "
                f"finite constants and the operators {', '.join(self.operators)}"
            )
        return out[:length].copy()

    def decode(self, ids: ArrayLike) -> Program:
        """The program that the ids spell, up to EOS."""
        array = np.asarray(ids, dtype=np.int64)
        ends = np.flatnonzero(array == EOS)
        if array.ndim != 1 or len(ends) == 0:
            raise ExpressionError(f"tokens of shape {array.shape} without an end ('<eos>') are not a program")
        tokens = array[: ends[0] + 1]
        if (outside := tokens[(tokens < 0) | (tokens >= len(self))]).size:
            raise ExpressionError(f"{outside[0]} is not an id of this vocabulary of {len(self)} words")
        opcodes, slots = self.token_opcode[tokens].tolist(), self.token_slot[tokens].tolist()

        ops: list[int] = []
        values: list[float] = []
        number: list[int] = []  # the tokens of an unfinished number
        open_arguments = 1
        for position, (token, opcode, slot) in enumerate(zip(tokens.tolist(), opcodes, slots, strict=True)):
            problem = ""
            if slot != len(number) and (number or slot > 0):
                problem = f"expected the {self.numbers.order[len(number)]} of a number"
            elif token in (SEP, EOS) and open_arguments > 0:
                problem = f"{open_arguments} argument(s) are missing before it"
            elif opcode < 0 and token not in (SEP, EOS):
                problem = "not part of an expression"
            elif opcode >= 0 and open_arguments == 0:
                problem = "the expression before it is complete"
            if problem:
                raise ExpressionError(f"token {position} ({self.all_words[token]!r}): {problem}")
            if token == SEP:
                open_arguments = 1
            elif slot >= 0 and slot + 1 < len(self.numbers.order):
                number.append(token)
            elif opcode >= 0:
                ops.append(opcode)
                values.append(self._value(token, opcode, [*number, token] if slot >= 0 else []))
                number.clear()
                open_arguments += int(ARITY[opcode]) - 1
        return make_program(ops, values)

    def words(self, ids: ArrayLike) -> list[str]:
        """The ids as words, for reading."""
        return [self.all_words[token] for token in np.asarray(ids).tolist()]

    def to_dict(self) -> dict[str, Any]:
        """What a checkpoint's JSON header says about its vocabulary."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary that `to_dict` described."""
        return cls(NumberScheme(**entry["numbers"]), entry["operators"], entry["variables"])

    @property
    def fingerprint(self) -> str:
        """A short hash: equal for equal vocabularies only."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]
