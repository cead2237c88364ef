"""Single terms that occur in laws of nature: saturations, sigmoids, periodic forces (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ABS, ADD, CONST, COS, EXP, INV, LOG, MUL, POW, SIN, SQRT, TANH, VAR
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, normal, uniform
from odefinder.prior.assembly import (
    Assembly,
    begin_term,
    emit,
    emit_difference,
    emit_function,
    emit_power,
    emit_product,
    emit_scaled,
)
from odefinder.prior.constants import magnitude

SIMPLE = 0.45  # share of simple constants in the families


@compiled
def constant(s: Stream) -> float:
    """A positive constant of a family."""
    return magnitude(s, SIMPLE)


@compiled
def signed(s: Stream) -> float:
    """A constant of either sign."""
    return constant(s) if chance(s, 0.5) else -constant(s)


@compiled
def other_variable(s: Stream, variable: int, dimension: int) -> int:
    """Another variable than the given one, if there is any."""
    if dimension == 1:
        return 0
    return (variable + integer(s, 1, dimension - 1)) % dimension


@compiled
def random_powers(s: Stream, degree: int, powers: NDArray[np.int64]) -> None:
    """A random monomial of this degree."""
    powers[:] = 0
    for _ in range(degree):
        powers[integer(s, 0, len(powers) - 1)] += 1


@compiled
def hill_power(s: Stream) -> int:
    """An exponent of a saturating term: mostly 1 or 2."""
    u = uniform(s)
    return 1 if u < 0.45 else (2 if u < 0.8 else integer(s, 3, 5))


@compiled
def emit_hill_denominator(d: Assembly, s: Stream, variable: int, power: int) -> None:
    """1 / (1 + a x^n)."""
    emit(d, INV, 0.0)
    emit(d, ADD, 0.0)
    emit(d, CONST, 1.0)
    emit(d, MUL, 0.0)
    emit(d, CONST, constant(s))
    emit_power(d, variable, power)


@compiled
def emit_affine_sum(d: Assembly, s: Stream, variable: int, dimension: int, shift: bool) -> None:
    """a x (+ b y) (+ c): the argument of a sigmoid or a sine."""
    two = dimension > 1 and chance(s, 0.35)
    if shift:
        emit(d, ADD, 0.0)
        emit(d, CONST, 2.0 * normal(s))
    if two:
        emit(d, ADD, 0.0)
        emit_scaled(d, signed(s), other_variable(s, variable, dimension))
    emit_scaled(d, signed(s), variable)


@compiled
def saturating(d: Assembly, s: Stream, variable: int, rising: bool) -> int:
    """A new term: x^n / (1 + a x^n), or 1 / (1 + a x^n)."""
    power = hill_power(s)
    t = begin_term(d)
    if rising:
        emit(d, MUL, 0.0)
        emit_power(d, variable, power)
    emit_hill_denominator(d, s, variable, power)
    return t


@compiled
def sigmoid(d: Assembly, s: Stream, variable: int, dimension: int) -> int:
    """A new term: tanh of an affine form, or 1 / (1 + exp(.))."""
    t = begin_term(d)
    if chance(s, 0.4):
        emit(d, TANH, 0.0)
    else:
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit(d, EXP, 0.0)
    emit_affine_sum(d, s, variable, dimension, chance(s, 0.6))
    return t


@compiled
def emit_wave(d: Assembly, s: Stream, variable: int, dimension: int) -> None:
    """sin or cos of x, of a x, or of a difference of two variables."""
    emit(d, SIN if chance(s, 0.65) else COS, 0.0)
    u = uniform(s)
    if u < 0.5:
        emit(d, VAR, variable)
    elif u < 0.7 or dimension == 1:
        emit_scaled(d, constant(s), variable)
    else:
        emit_difference(d, variable, other_variable(s, variable, dimension))


@compiled
def wave(d: Assembly, s: Stream, variable: int, dimension: int) -> int:
    """A new term: one wave, or a product of two, rarely divided by a wave."""
    t = begin_term(d)
    if chance(s, 0.3):
        emit(d, MUL, 0.0)
        if chance(s, 0.2):
            emit(d, INV, 0.0)
        emit_wave(d, s, integer(s, 0, dimension - 1), dimension)
    emit_wave(d, s, variable, dimension)
    return t


@compiled
def nonlinearity(d: Assembly, s: Stream, variable: int, dimension: int) -> int:
    """A new term: some nonlinear function that mostly depends on one variable."""
    kind = uniform(s)
    if kind < 0.12:
        return wave(d, s, variable, dimension)
    if kind < 0.27:
        return saturating(d, s, variable, chance(s, 0.6))
    if kind < 0.37:
        return sigmoid(d, s, variable, dimension)
    t = begin_term(d)
    other = integer(s, 0, dimension - 1)
    if kind < 0.47:  # decaying or growing exponential
        emit(d, EXP, 0.0)
        emit_scaled(d, -constant(s) if chance(s, 0.8) else constant(s), variable)
    elif kind < 0.53:
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit_function(d, ABS, variable)
    elif kind < 0.60:
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit_function(d, LOG, variable)
    elif kind < 0.65:
        emit_function(d, SQRT, variable)
    elif kind < 0.74:
        emit(d, POW, 0.0)
        emit(d, VAR, variable)
        emit(d, CONST, np.round(log_uniform(s, 0.3, 3.0), 2))
    elif kind < 0.80:
        emit_power(d, variable, -integer(s, 1, 2))
    elif kind < 0.87:  # x / y
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit_power(d, variable, -integer(s, 1, 2))
    elif kind < 0.94:  # a product with a saturation in another variable
        emit(d, MUL, 0.0)
        emit(d, VAR, variable)
        emit_hill_denominator(d, s, other, hill_power(s))
    else:
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit(d, EXP, 0.0)
        emit_scaled(d, -constant(s), variable)
    return t


@compiled
def flux(d: Assembly, s: Stream, powers: NDArray[np.int64], dimension: int) -> int:
    """A new term: a product of powers, sometimes saturated or inhibited by a variable."""
    t = begin_term(d)
    if chance(s, 0.25):
        variable = integer(s, 0, dimension - 1)
        power = hill_power(s)
        for i in range(dimension):  # mostly one of its own factors saturates
            if powers[i] > 0 and chance(s, 0.7):
                variable = i
                power = max(powers[i], power) if chance(s, 0.8) else power
                break
        emit(d, MUL, 0.0)
        emit_hill_denominator(d, s, variable, power)
    if powers.max() == 0:
        emit(d, CONST, 1.0)
    emit_product(d, powers)
    return t
