"""A system under construction: terms, and which equation takes how much of each (compiled).

A term is written once and may appear in several equations with its own coefficient each: a reaction's
flux leaves one species and enters another.  `assemble` turns the assembly into a program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, INV, MUL, SQUARE, VAR, Ops, Values
from odefinder.numerics.randomness import Stream, chance, integer

MAX_CODE, MAX_TERMS, MAX_PARTS = 4096, 256, 512
CODE, TERMS, PARTS = 0, 1, 2  # fill levels in `size`

ASSEMBLY = np.dtype(
    [
        ("size", np.int64, 3),
        ("ops", np.int8, MAX_CODE),
        ("values", np.float64, MAX_CODE),
        ("start", np.int64, MAX_TERMS),
        ("stop", np.int64, MAX_TERMS),
        ("component", np.int64, MAX_PARTS),
        ("term", np.int64, MAX_PARTS),
        ("coefficient", np.float64, MAX_PARTS),
    ],
    align=True,
)
Assembly = Any  # a record of ASSEMBLY


def make_assembly() -> NDArray[np.void]:
    """An array of one empty assembly."""
    return np.zeros(1, ASSEMBLY)


@compiled
def clear(d: Assembly) -> None:
    """Begin a new system."""
    d.size[:] = 0


@compiled
def begin_term(d: Assembly) -> int:
    """Begin a term; what is emitted until the next one belongs to it.  A term without code is 1."""
    t = d.size[TERMS]
    d.start[t] = d.stop[t] = d.size[CODE]
    d.size[TERMS] = t + 1
    return t


@compiled
def emit(d: Assembly, op: int, value: float) -> None:
    """Append a node to the newest term."""
    i = d.size[CODE]
    d.ops[i] = op
    d.values[i] = value
    d.size[CODE] = i + 1
    d.stop[d.size[TERMS] - 1] = i + 1


@compiled
def emit_power(d: Assembly, variable: int, power: int) -> None:
    """x^power for power 1..5, 1/x^-power for negative ones."""
    if power < 0:
        emit(d, INV, 0.0)
        power = -power
    if power > 1:
        emit(d, SQUARE + power - 2, 0.0)
    emit(d, VAR, variable)


@compiled
def emit_scaled(d: Assembly, coefficient: float, variable: int) -> None:
    """a x."""
    emit(d, MUL, 0.0)
    emit(d, CONST, coefficient)
    emit(d, VAR, variable)


@compiled
def emit_function(d: Assembly, op: int, variable: int) -> None:
    """f(x), of a unary operator."""
    emit(d, op, 0.0)
    emit(d, VAR, variable)


@compiled
def emit_difference(d: Assembly, i: int, j: int) -> None:
    """x_i - x_j."""
    emit(d, ADD, 0.0)
    emit(d, VAR, i)
    emit_scaled(d, -1.0, j)


@compiled
def emit_product(d: Assembly, powers: NDArray[np.int64]) -> None:
    """The product of variables to powers 0..5; nothing if all are 0."""
    factors = 0
    for p in powers:
        factors += p != 0
    for variable in range(len(powers)):
        if powers[variable] != 0:
            factors -= 1
            if factors > 0:
                emit(d, MUL, 0.0)
            emit_power(d, variable, powers[variable])


@compiled
def monomial(d: Assembly, powers: NDArray[np.int64]) -> int:
    """A new term: the product of variables to powers 0..5."""
    t = begin_term(d)
    emit_product(d, powers)
    return t


@compiled
def variable_term(d: Assembly, variable: int) -> int:
    """A new term: one variable."""
    t = begin_term(d)
    emit(d, VAR, variable)
    return t


@compiled
def function_term(d: Assembly, op: int, variable: int) -> int:
    """A new term: a unary operator of one variable."""
    t = begin_term(d)
    emit_function(d, op, variable)
    return t


@compiled
def product_term(d: Assembly, i: int, j: int) -> int:
    """A new term: x_i x_j."""
    t = begin_term(d)
    emit(d, MUL, 0.0)
    emit(d, VAR, i)
    emit(d, VAR, j)
    return t


@compiled
def with_rest(d: Assembly, term: int, variable: int, whole: float) -> int:
    """A new term: the same with what is left of a whole, whole - x, in place of a variable x."""
    start, stop = d.start[term], d.stop[term]
    t = begin_term(d)
    for k in range(start, stop):
        if d.ops[k] == VAR and int(d.values[k]) == variable:
            emit(d, ADD, 0.0)
            emit(d, CONST, whole)
            emit_scaled(d, -1.0, variable)
        else:
            emit(d, d.ops[k], d.values[k])
    return t


@compiled
def add(d: Assembly, component: int, coefficient: float, term: int) -> None:
    """Add coefficient * term to an equation."""
    i = d.size[PARTS]
    d.component[i] = component
    d.term[i] = term
    d.coefficient[i] = coefficient
    d.size[PARTS] = i + 1


@compiled
def has_part(d: Assembly, component: int) -> bool:
    """Whether an equation has any term yet."""
    for i in range(d.size[PARTS]):
        if d.component[i] == component:
            return True
    return False


@compiled
def is_full(d: Assembly) -> bool:
    """Whether another family's term might not fit."""
    return d.size[CODE] > MAX_CODE - 256 or d.size[TERMS] > MAX_TERMS - 16 or d.size[PARTS] > MAX_PARTS - 32


@compiled
def shuffle(d: Assembly, s: Stream, dimension: int) -> None:
    """Give the variables another order."""
    order = np.arange(dimension)
    for i in range(dimension - 1, 0, -1):
        j = integer(s, 0, i)
        order[i], order[j] = order[j], order[i]
    for i in range(d.size[PARTS]):
        d.component[i] = order[d.component[i]]
    for i in range(d.size[CODE]):
        if d.ops[i] == VAR:
            d.values[i] = order[int(d.values[i])]


@compiled
def tie(d: Assembly, s: Stream, share: float) -> None:
    """Give some coefficients the size of another one, or 1."""
    for i in range(1, d.size[PARTS]):
        if chance(s, share):
            size = 1.0 if chance(s, 0.4) else abs(d.coefficient[integer(s, 0, i - 1)])
            d.coefficient[i] = size if d.coefficient[i] > 0.0 else -size


@compiled
def assemble(d: Assembly, dimension: int, ops: Ops, values: Values) -> int:
    """Write the system as a program; its length, or -1 if it does not fit.  An empty equation is 0."""
    n = 0
    for component in range(dimension):
        left = 0
        for i in range(d.size[PARTS]):
            left += d.component[i] == component
        if left == 0:
            if n >= len(ops):
                return -1
            ops[n], values[n] = CONST, 0.0
            n += 1
        for i in range(d.size[PARTS]):
            if d.component[i] != component:
                continue
            start, stop = d.start[d.term[i]], d.stop[d.term[i]]
            if n + (stop - start) + 3 > len(ops):
                return -1
            left -= 1
            if left > 0:
                ops[n], values[n] = ADD, 0.0
                n += 1
            if stop > start:
                ops[n], values[n] = MUL, 0.0
                n += 1
            ops[n], values[n] = CONST, d.coefficient[i]
            n += 1
            for k in range(start, stop):
                ops[n], values[n] = d.ops[k], d.values[k]
                n += 1
    return n
