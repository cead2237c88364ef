"""The prefix program: the one representation of an ODE system.

An expression is a pair of flat arrays in prefix order: `ops` (one opcode per node) and `values`
(the value of a constant, the index of a variable, 0 for operators).  A system of D equations is
the D programs one after the other; prefix order is self-delimiting, so no separators are needed.
Read from right to left with a small stack, such a program is also its own evaluation code.

Subtraction and division are written with the constant -1 and `inv`, as in the paper (section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import ExpressionError

Ops = NDArray[np.int8]
Values = NDArray[np.float64]

# Opcodes.  Plain module constants, so that compiled code sees them as literals.
CONST, VAR = 0, 1
ADD, MUL, POW = 2, 3, 4
INV, SQUARE, CUBE, POW4, POW5 = 5, 6, 7, 8, 9
SIN, COS, TAN, EXP, LOG, SQRT, ABS, TANH = 10, 11, 12, 13, 14, 15, 16, 17
WAVES = (SIN, COS, TAN)

MAX_NODES = 4096  # of a whole system: far above anything a person would read


@dataclass(frozen=True)
class Operator:
    """One row of the operator table: how to count, print and export an operator."""

    name: str
    arity: int
    numpy: str  # NumPy source, arguments as {0} and {1}
    latex: str
    sympy: Callable[..., Any]  # called with the sympy module and the arguments


def _power(exponent: int) -> Callable[[ModuleType, Any], Any]:
    return lambda sp, a: a ** sp.Integer(exponent)


# Indexed by opcode minus 2: constants and variables are not operators.
OPERATORS: tuple[Operator, ...] = (
    Operator("add", 2, "({0} + {1})", "{0} + {1}", lambda sp, a, b: a + b),
    Operator("mul", 2, "({0} * {1})", "{0} {1}", lambda sp, a, b: a * b),
    Operator("pow", 2, "({0} ** {1})", "{0}^{{{1}}}", lambda sp, a, b: a**b),
    Operator("inv", 1, "(1.0 / {0})", r"\frac{{1}}{{{0}}}", lambda sp, a: 1 / a),
    Operator("pow2", 1, "({0} ** 2)", "{0}^{{2}}", _power(2)),
    Operator("pow3", 1, "({0} ** 3)", "{0}^{{3}}", _power(3)),
    Operator("pow4", 1, "({0} ** 4)", "{0}^{{4}}", _power(4)),
    Operator("pow5", 1, "({0} ** 5)", "{0}^{{5}}", _power(5)),
    Operator("sin", 1, "np.sin({0})", r"\sin\left({0}\right)", lambda sp, a: sp.sin(a)),
    Operator("cos", 1, "np.cos({0})", r"\cos\left({0}\right)", lambda sp, a: sp.cos(a)),
    Operator("tan", 1, "np.tan({0})", r"\tan\left({0}\right)", lambda sp, a: sp.tan(a)),
    Operator("exp", 1, "np.exp({0})", r"e^{{{0}}}", lambda sp, a: sp.exp(a)),
    Operator("log", 1, "np.log({0})", r"\log\left({0}\right)", lambda sp, a: sp.log(a)),
    Operator("sqrt", 1, "np.sqrt({0})", r"\sqrt{{{0}}}", lambda sp, a: sp.sqrt(a)),
    Operator("abs", 1, "np.abs({0})", r"\left|{0}\right|", lambda sp, a: sp.Abs(a)),
    Operator("tanh", 1, "np.tanh({0})", r"\tanh\left({0}\right)", lambda sp, a: sp.tanh(a)),
)
OPCODE_BY_NAME = {operator.name: code for code, operator in enumerate(OPERATORS, start=2)}
N_OPCODES = len(OPERATORS) + 2
ARITY = np.array([0, 0, *(operator.arity for operator in OPERATORS)], dtype=np.int8)


def operator(opcode: int) -> Operator:
    """The table row of an operator's opcode."""
    return OPERATORS[opcode - 2]


@dataclass(frozen=True, eq=False)
class Program:
    """One or several expressions in prefix order; a system when it holds one per variable."""

    ops: Ops
    values: Values

    def __len__(self) -> int:
        return len(self.ops)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Program)
            and np.array_equal(self.ops, other.ops)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.ops.tobytes(), (self.values + 0.0).tobytes()))  # -0.0 equals 0.0

    @property
    def complexity(self) -> int:
        """Operators + variables + constants: in prefix form, the number of nodes (the paper's measure)."""
        return len(self.ops)

    @property
    def constants(self) -> Values:
        """The values of the constants, in program order."""
        return self.values[self.ops == CONST]

    def with_constants(self, constants: Sequence[float] | Values) -> Program:
        """The same structure with other constants, in program order."""
        values = self.values.copy()
        values[self.ops == CONST] = constants
        return Program(self.ops, values)

    def renumbered(self, places: Sequence[int]) -> Program:
        """The same with other numbers of the variables: k becomes places[k]."""
        variable = self.ops == VAR
        index = np.where(variable, self.values, 0.0).astype(np.int64)
        return Program(self.ops, np.where(variable, np.array(places, np.float64)[index], self.values))

    def components(self) -> list[Program]:
        """The expressions, one program each."""
        bounds = component_bounds(self.ops)
        return [Program(self.ops[a:b], self.values[a:b]) for a, b in bounds]

    def operators(self) -> set[str]:
        """The names of the operators that occur."""
        return {operator(op).name for op in self.ops.tolist() if op >= ADD}


def concatenate(programs: Sequence[Program]) -> Program:
    """The system whose equations are the given programs."""
    return Program(
        np.concatenate([p.ops for p in programs]),
        np.concatenate([p.values for p in programs]),
    )


def subtree_end(ops: Ops, start: int) -> int:
    """One past the last node of the subtree that begins at `start`."""
    open_arguments, position = 1, start
    while open_arguments > 0:
        open_arguments += int(ARITY[ops[position]]) - 1
        position += 1
    return position


def component_bounds(ops: Ops) -> list[tuple[int, int]]:
    """Start and end of every top-level expression of a valid program."""

    def walk() -> Iterator[tuple[int, int]]:
        start = 0
        while start < len(ops):
            end = subtree_end(ops, start)
            yield start, end
            start = end

    return list(walk())


def make_program(ops: Sequence[int] | Ops, values: Sequence[float] | Values) -> Program:
    """A checked program from opcodes and values; `ExpressionError` says what is wrong."""
    op_array = np.asarray(ops, dtype=np.int64)
    value_array = np.asarray(values, dtype=np.float64)
    if op_array.ndim != 1 or op_array.shape != value_array.shape:
        raise ExpressionError(
            f"a program needs opcodes and values of one length, got {op_array.shape} and {value_array.shape}"
        )
    if len(op_array) == 0:
        raise ExpressionError("the program is empty")
    if len(op_array) > MAX_NODES:
        raise ExpressionError(f"the program has {len(op_array)} nodes; the limit is {MAX_NODES}")
    if op_array.min() < 0 or op_array.max() >= N_OPCODES:
        bad = op_array[(op_array < 0) | (op_array >= N_OPCODES)][0]
        raise ExpressionError(f"{bad} is not an opcode; opcodes run from 0 to {N_OPCODES - 1}")
    if not np.isfinite(value_array).all():
        raise ExpressionError("a program's constants must be finite numbers")
    indices = value_array[op_array == VAR]
    if (indices < 0).any() or (indices != np.floor(indices)).any():
        raise ExpressionError("a variable's index must be a whole number, 0 or larger")
    open_arguments = 0
    for op in op_array.tolist():
        # A new expression may begin only where the previous one is complete.
        open_arguments = max(open_arguments, 1) + int(ARITY[op]) - 1
    if open_arguments != 0:
        raise ExpressionError(f"the program ends too early: {open_arguments} argument(s) missing")
    value_array = np.where(op_array <= VAR, value_array, 0.0)
    return Program(op_array.astype(np.int8), value_array)


def check_system(program: Program, dimension: int, variables: int | None = None) -> None:
    """Raise unless the program is a system: one equation per state, and no other variables than there are.

    variables: states and signals together; None: states only.
    """
    count = len(component_bounds(program.ops))
    if count != dimension:
        raise ExpressionError(f"{dimension} variables need {dimension} equations, the program has {count}")
    check_variables(program, dimension if variables is None else variables)


def check_variables(program: Program, variables: int) -> None:
    """Raise if the program uses others than the first variables."""
    indices = program.values[program.ops == VAR]
    if len(indices) and indices.max() >= variables:
        raise ExpressionError(
            f"the program uses variable number {int(indices.max())}, but there are only {variables} (from 0)"
        )
