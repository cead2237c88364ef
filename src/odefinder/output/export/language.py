"""What languages have in common: formulas with named constants, comments, and lines that are not too long."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from odefinder.data.roles import TIME_NAME
from odefinder.expressions.drafts import operator_value
from odefinder.expressions.printing import WHOLE_POWERS, Factor, Text, write
from odefinder.expressions.program import CONST, MUL, POW, VAR, Program, operator, subtree_end
from odefinder.expressions.walk import fold
from odefinder.output.export.names import Names
from odefinder.output.export.problem import Points, Problem

WIDTH = 100  # characters of a line
TERMS = re.compile(r"(?<= [+-]) ")  # a line is broken after one of these,
FACTORS = re.compile(r"(?<=[^*][*/])(?=[^*])")  # or, within a long term, after one of these


@dataclass(frozen=True)
class Language:
    """How a language writes formulas."""

    reserved: frozenset[str]  # its own words, and those that the exported text itself uses
    comment: str = "#"
    power: str = "{0}^{1}"
    any_power: str = ""  # where exponents that are not whole are written in another way
    functions: Mapping[str, str] = field(default_factory=dict)  # those with another name: log -> np.log
    undefined: str = "NaN"
    infinite: str = "Inf"
    continued: str = ""  # ends a line that goes on
    time: str = "t"


Nodes = list[tuple[int, float]]  # opcodes and values


class Constant(NamedTuple):
    """A number of the equations that has a name; it is positive, as signs stay in the formula."""

    name: str
    value: float


class Input(NamedTuple):
    """A known input that changes, as a table."""

    name: str
    table: str  # a name for what holds the times
    values: str  # and one for the values
    points: Points


@dataclass(frozen=True)
class Script:
    """A problem in the words of a language."""

    language: Language
    variables: tuple[str, ...]
    constants: tuple[Constant, ...]
    conditions: tuple[Constant, ...]  # inputs that never change
    inputs: tuple[Input, ...]
    formulas: tuple[str, ...]  # the right-hand sides
    equations: tuple[Program, ...]  # the same as programs, in `symbols`
    symbols: tuple[str, ...]
    remarks: tuple[str, ...]
    names: Names  # for those that a target adds

    def header(self) -> list[str]:
        """The first lines: where this comes from, and what to know."""
        return [f"{self.language.comment} {line}" for line in self.remarks]

    def known(self) -> tuple[Constant, ...]:
        """All numbers with names: constants, then conditions."""
        return (*self.constants, *self.conditions)

    def wrapped(self, line: str) -> str:
        """A line that goes on with deeper indentation where it is too long."""
        return wrapped(line, self.language.continued)


class _Source(Text):
    """Formulas as source; a part without variables is one number."""

    folds = True

    def __init__(self, language: Language):
        super().__init__(None)
        self.language = language
        self.power = language.power

    def number(self, value: float) -> Factor:
        text = number(value, self.language)
        return Factor(text, text, number=True)

    def call(self, opcode: int, argument: str) -> Factor:
        name = operator(opcode).name
        text = f"{self.language.functions.get(name, name)}({argument})"
        return Factor(text, text, opcode=opcode)

    def raised(self, base: Factor, exponent: str, simple: bool) -> str:
        if self.language.any_power and exponent not in WHOLE_POWERS.values():
            return self.language.any_power.format(base.bare, exponent)
        return super().raised(base, exponent, simple)


def number(value: float, language: Language) -> str:
    """The magnitude of a number that stays in a formula: 0, 1, a whole exponent, or none at all."""
    if math.isnan(value):
        return language.undefined
    if math.isinf(value):
        return language.infinite
    return str(int(abs(value))) if 0.0 < abs(value) < 1e9 else repr(abs(value))


def script(problem: Problem, language: Language) -> Script:
    """The problem with names that the language allows, and constants by name."""
    names = Names(language.reserved)
    words = [language.time if name == TIME_NAME else "" for name in problem.inputs]
    variables = [names.take(name) for name in problem.variables]
    words = [word or names.take(name) for word, name in zip(words, problem.inputs, strict=True)]
    conditions, inputs = list[Constant](), list[Input]()
    renamed = names.remarks()  # before names that are ours alone
    for word, signal in zip(words, problem.signals, strict=True):
        if signal is None:
            continue
        if (value := signal.constant) is not None:
            conditions.append(Constant(word, value))
        else:
            table, values = names.take(f"{word}_times"), names.take(f"{word}_values")
            inputs.append(Input(word, table, values, signal.points()))
    symbols, constants, equations = [*variables, *words], list[Constant](), list[Program]()
    for equation in problem.equations:
        program, values_found = named_constants(equation, len(symbols))
        for value in values_found:
            constants.append(Constant(names.take(f"k{len(constants) + 1}"), value))
            symbols.append(constants[-1].name)
        equations.append(program)
    formulas = [write(one, symbols, _Source(language)) for one in equations]
    return Script(
        language,
        tuple(variables),
        tuple(constants),
        tuple(conditions),
        tuple(inputs),
        tuple(formulas),
        tuple(equations),
        tuple(symbols),
        (f"Written by odefinder {version('odefinder')}.", *renamed, *_assumed(problem)),
        names,
    )


def _assumed(problem: Problem) -> list[str]:
    return [f"Nobody gave the {what}: replace what stands here for them." for what in problem.assumed]


def named_constants(equation: Program, first: int) -> tuple[Program, list[float]]:
    """The equation with its constants as variables, numbered from `first`, and their magnitudes.

    What says more about the structure than about the data stays a number: 0, 1, -1 and whole exponents.
    """
    equation = _folded(equation)
    nodes, found, exponents = Nodes(), list[float](), set[int]()
    for place, (op, value) in enumerate(zip(equation.ops.tolist(), equation.values.tolist(), strict=True)):
        if op == POW:
            exponents.add(subtree_end(equation.ops, place + 1))
        structure = abs(value) in (0.0, 1.0) or (place in exponents and value == round(value, 0))
        if op != CONST or not math.isfinite(value) or structure:
            nodes.append((op, value))
            continue
        nodes += [(MUL, 0.0), (CONST, -1.0)] if value < 0.0 else []
        nodes.append((VAR, float(first + len(found))))
        found.append(abs(value))
    return _program(nodes), found


def _folded(equation: Program) -> Program:
    """The equation with every part that has no variable as one number."""

    def build(op: int, value: float, arguments: Sequence[Nodes]) -> Nodes:
        if arguments and all(one[0][0] == CONST for one in arguments):
            return [(CONST, operator_value(op, *(one[0][1] for one in arguments)))]
        return [(op, value), *(node for argument in arguments for node in argument)]

    return _program(fold(equation.ops, equation.values, build))


def _program(nodes: Nodes) -> Program:
    return Program(
        np.array([op for op, _ in nodes], dtype=np.int8), np.array([value for _, value in nodes], np.float64)
    )


def wrapped(line: str, continued: str = "", width: int = WIDTH) -> str:
    """The line, broken after operators where it is too long."""
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    pieces = _pieces(line.strip(), width // 2)
    lines, current = list[str](), line[: len(line) - len(line.lstrip())] + pieces[0]
    for piece in pieces[1:]:
        if len(current) + len(piece) + len(continued) <= width:
            current += piece
        else:
            lines.append(current.rstrip() + continued)
            current = indent + piece.lstrip()
    return "\n".join([*lines, current])


def _pieces(line: str, width: int) -> list[str]:
    """The line cut wherever it may be broken; the pieces joined are the line."""
    terms = _cut(line, TERMS)
    return [piece for term in terms for piece in (_cut(term, FACTORS) if len(term) > width else [term])]


def _cut(text: str, places: re.Pattern[str]) -> list[str]:
    cuts = [0, *(match.start() for match in places.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts) if b > a]


def listed(
    opening: str, values: Sequence[float | str], closing: str, indent: str = "", continued: str = ""
) -> list[str]:
    """Values with commas between an opening and a closing: one line, or as many as they need."""
    items = [value if isinstance(value, str) else repr(value) for value in values]
    line = indent + opening + ", ".join(items) + closing
    if len(line) <= WIDTH:
        return [line]
    inner = f"{indent}    "
    lines = [inner]
    for place, item in enumerate(items):
        item += "," if place < len(items) - 1 else ""
        if lines[-1] != inner and len(lines[-1]) + len(item) + 1 > WIDTH:
            lines.append(inner)
        lines[-1] += item if lines[-1] == inner else f" {item}"
    lines = [one for one in (indent + opening.rstrip(), *lines, indent + closing) if one.strip()]
    return [*(one + continued for one in lines[:-1]), lines[-1]]
