"""Rate laws: how fast one process goes, as chemists, biologists and engineers write it (compiled).

Every function begins a new term of an assembly, or emits a part of one.
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ABS, ADD, CONST, EXP, INV, MUL, POW, SQRT, SQUARE, TANH, VAR
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, uniform
from odefinder.prior.assembly import Assembly, begin_term, emit, emit_function, emit_scaled
from odefinder.prior.features import constant


@compiled
def hill_exponent(s: Stream) -> float:
    """A Hill exponent: often 2, sometimes another whole number, sometimes measured and so not whole."""
    u = uniform(s)
    if u < 0.4:
        return 2.0
    if u < 0.58:
        return float(integer(s, 3, 5))
    if u < 0.63:
        return float(integer(s, 6, 10))
    return np.round(1.1 + 3.4 * uniform(s), 1)


@compiled
def emit_to_the(d: Assembly, variable: int, exponent: float) -> None:
    """x to a positive power, whole or not."""
    whole = int(exponent)
    if float(whole) == exponent and whole <= 5:
        if whole > 1:
            emit(d, SQUARE + whole - 2, 0.0)
        emit(d, VAR, variable)
    else:
        emit(d, POW, 0.0)
        emit(d, VAR, variable)
        emit(d, CONST, exponent)


@compiled
def emit_saturation(d: Assembly, s: Stream, variable: int, exponent: float) -> None:
    """x^n / (K + x^n)."""
    emit(d, MUL, 0.0)
    emit_to_the(d, variable, exponent)
    emit(d, INV, 0.0)
    emit(d, ADD, 0.0)
    emit(d, CONST, constant(s))
    emit_to_the(d, variable, exponent)


@compiled
def emit_inhibition(d: Assembly, s: Stream, variable: int, exponent: float) -> None:
    """1 / (1 + a x^n), or 1 / (K + x^n)."""
    emit(d, INV, 0.0)
    emit(d, ADD, 0.0)
    if chance(s, 0.5):
        emit(d, CONST, constant(s))
    else:
        emit(d, CONST, 1.0)
        if chance(s, 0.6):
            emit(d, MUL, 0.0)
            emit(d, CONST, constant(s))
    emit_to_the(d, variable, exponent)


@compiled
def emit_over(d: Assembly, size: float, variable: int) -> None:
    """a / x."""
    emit(d, MUL, 0.0)
    emit(d, CONST, size)
    emit_function(d, INV, variable)


@compiled
def rate_law(d: Assembly, s: Stream, i: int, other: int) -> int:
    """A new term: the rate at which something happens to i; another variable may drive or hinder it."""
    kind = uniform(s)
    t = begin_term(d)
    if other == i and 0.2 < kind < 0.4:
        kind = 0.1 if chance(s, 0.5) else 0.45
    if kind < 0.2:  # first order
        emit(d, VAR, i)
    elif kind < 0.4:  # mass action
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit(d, VAR, other)
    elif kind < 0.52:  # Michaelis-Menten, Monod
        emit_saturation(d, s, i, 1.0)
    elif kind < 0.62:  # driven by another one
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit_saturation(d, s, i, 1.0)
    elif kind < 0.72:
        if chance(s, 0.4):
            emit(d, MUL, 0.0)
            emit(d, VAR, other)
        emit_saturation(d, s, i, hill_exponent(s))
    elif kind < 0.79:  # competitive: x / (K + x + a y)
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, constant(s))
        emit(d, ADD, 0.0)
        emit(d, VAR, i)
        emit_scaled(d, constant(s), other)
    elif kind < 0.85:  # hindered from elsewhere
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit_inhibition(d, s, other, 1.0 if chance(s, 0.5) else hill_exponent(s))
    elif kind < 0.91:  # hindered by too much of itself: x / (K + x + a x^2)
        emit(d, MUL, 0.0)
        if chance(s, 0.4):
            emit(d, MUL, 0.0)
            emit(d, VAR, other)
        emit(d, VAR, i)
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, constant(s))
        emit(d, ADD, 0.0)
        emit(d, VAR, i)
        emit(d, MUL, 0.0)
        emit(d, CONST, constant(s))
        emit_function(d, SQUARE, i)
    elif kind < 0.95:  # two saturations
        emit(d, MUL, 0.0)
        emit_saturation(d, s, i, 1.0)
        emit_saturation(d, s, other, 1.0)
    elif kind < 0.96:
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit(d, EXP, 0.0)
        emit_scaled(d, -constant(s) if chance(s, 0.7) else constant(s), other)
    elif kind < 0.97:  # thermally activated
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit(d, EXP, 0.0)
        emit_over(d, -constant(s), other)
    elif kind < 0.98:  # saturating like an exponential: y (1 - exp(-a x))
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit(d, MUL, 0.0)
        emit(d, CONST, -1.0)
        emit(d, EXP, 0.0)
        emit_scaled(d, -constant(s), i)
    elif kind < 0.99:  # one affine form over another: y (a - x) / (b + x)
        emit(d, MUL, 0.0)
        emit(d, VAR, other)
        emit(d, MUL, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, -constant(s))
        emit(d, VAR, i)
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, constant(s))
        if chance(s, 0.5):
            emit(d, VAR, i)
        else:
            emit_scaled(d, constant(s), i)
    else:
        emit_to_the(d, i, np.round(log_uniform(s, 0.3, 3.0), 1))
    return t


@compiled
def loss_law(d: Assembly, s: Stream, i: int) -> int:
    """A new term: how one variable drains, cools, brakes or dies by itself; grows with it."""
    kind = uniform(s)
    t = begin_term(d)
    if kind < 0.34:
        emit(d, VAR, i)
    elif kind < 0.44:  # through an orifice
        emit_function(d, SQRT, i)
    elif kind < 0.54:  # drag
        emit(d, MUL, 0.0)
        emit(d, VAR, i)
        emit_function(d, ABS, i)
    elif kind < 0.64:
        emit_to_the(d, i, float(integer(s, 2, 4)))
    elif kind < 0.74:
        emit_to_the(d, i, np.round(log_uniform(s, 0.3, 3.5), 1) if chance(s, 0.6) else integer(s, 1, 5) / 3.0)
    elif kind < 0.86:
        emit_saturation(d, s, i, 1.0 if chance(s, 0.5) else hill_exponent(s))
    elif kind < 0.91:  # friction
        emit(d, TANH, 0.0)
        emit_scaled(d, constant(s), i)
    elif kind < 0.94:
        emit(d, EXP, 0.0)
        emit_scaled(d, constant(s) if chance(s, 0.5) else -constant(s), i)
    elif kind < 0.96:
        emit(d, EXP, 0.0)
        emit_over(d, -constant(s), i)
    elif kind < 0.98:  # a power of a sum
        emit(d, POW, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit(d, MUL, 0.0)
        emit(d, CONST, constant(s) if chance(s, 0.5) else -constant(s))
        emit_to_the(d, i, float(integer(s, 1, 2)))
        emit(d, CONST, integer(s, 1, 5) / 2.0 if chance(s, 0.5) else np.round(log_uniform(s, 0.3, 3.5), 1))
    else:
        emit_function(d, INV, i)
    return t
