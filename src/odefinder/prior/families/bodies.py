"""Bodies in the plane and in space: central forces, drag, rotation.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, INV, MUL, POW, SQRT, SQUARE, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_function,
    product_term,
    variable_term,
)
from odefinder.prior.features import constant, other_variable, signed

Ints = NDArray[np.int64]


@compiled
def emit_square_sum(d: Assembly, places: Ints, softening: float) -> None:
    """x^2 + y^2 + ..., with a constant if it is not 0."""
    if softening > 0.0:
        emit(d, ADD, 0.0)
        emit(d, CONST, softening)
    for k in range(len(places)):
        if k + 1 < len(places):
            emit(d, ADD, 0.0)
        emit_function(d, SQUARE, places[k])


@compiled
def emit_radius_power(d: Assembly, places: Ints, softening: float, power: float) -> None:
    """(x^2 + y^2 + ...)^power."""
    if power < 0.0 and power in (-1.0, -0.5):
        emit(d, INV, 0.0)
        power = -power
    if power == 0.5:
        emit(d, SQRT, 0.0)
    elif power == 2.0:
        emit(d, SQUARE, 0.0)
    elif power != 1.0:
        emit(d, POW, 0.0)
    emit_square_sum(d, places, softening)
    if power not in (0.5, 1.0, 2.0):
        emit(d, CONST, power)


@compiled
def _central_power(s: Stream) -> float:
    """The power of x^2 + y^2 in a central force: mostly that of gravity, -3/2."""
    u = uniform(s)
    if u < 0.45:
        return -1.5
    if u < 0.6:
        return 1.0
    if u < 0.7:
        return -1.0
    if u < 0.78:
        return -0.5
    if u < 0.86:
        return -2.0
    return np.round(3.5 * uniform(s) - 2.0, 1)


@compiled
def _radial(
    d: Assembly, into: Ints, along: Ints, places: Ints, size: float, softening: float, power: float
) -> None:
    """size * along * (x^2 + y^2)^power, for every direction."""
    for k in range(len(into)):
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, VAR, along[k])
        if power == 0.0:
            emit(d, CONST, 1.0)
        else:
            emit_radius_power(d, places, softening, power)
        add(d, into[k], size, term)


@compiled
def plane(d: Assembly, s: Stream, dimension: int) -> None:
    """A body in the plane or in space, by position and velocity; with two or three variables by one of them.

    Variables that are left over turn or decay next to it.
    """
    moving = dimension >= 4
    axes = min(dimension, 2)
    if dimension in (3, 6) and chance(s, 0.5):
        axes = 3
    x = np.arange(axes)
    v = x + axes if moving else x
    if moving and axes == 2 and chance(s, 0.4):  # x, vx, y, vy
        x, v = 2 * x, 2 * x + 1
    size = constant(s)
    softening = constant(s) if chance(s, 0.2) else 0.0
    if moving:
        for k in range(axes):
            add(d, x[k], 1.0, variable_term(d, v[k]))
        kind = uniform(s)
        if kind < 0.7:
            _radial(d, v, x, x, -size, softening, _central_power(s))
        if kind > 0.5:  # a spring, not alike in all directions
            alike = chance(s, 0.5)
            for k in range(axes):
                add(d, v[k], -size if alike else -constant(s), variable_term(d, x[k]))
    else:  # a velocity, or a plane in which things turn about the origin
        alike = chance(s, 0.7)
        for k in range(axes):
            add(d, x[k], size if alike else signed(s), variable_term(d, x[k]))
        _radial(d, x, x, x, -constant(s), softening, 1.0 if chance(s, 0.6) else 0.5)
    if chance(s, 0.35 if moving else 0.3):  # drag
        drag = constant(s)
        if chance(s, 0.5):
            for k in range(axes):
                add(d, v[k], -drag, variable_term(d, v[k]))
        else:
            _radial(d, v, v, v, -drag, 0.0, 0.5)
    if axes >= 2 and chance(s, 0.3 if moving else 0.8):  # a magnetic field, a rotating frame
        turn = signed(s)
        add(d, v[0], turn, variable_term(d, v[1]))
        add(d, v[1], -turn, variable_term(d, v[0]))
        if chance(s, 0.25):
            _turn(d, v, turn, 1.0)
    if chance(s, 0.2):
        add(d, v[integer(s, 0, axes - 1)], signed(s), begin_term(d))
    used = 2 * axes if moving else axes
    for i in range(used, dimension):  # a companion
        add(d, i, -constant(s), variable_term(d, i))
        j = other_variable(s, i, dimension)
        add(d, i, signed(s), variable_term(d, j))
        if chance(s, 0.5):
            add(d, v[integer(s, 0, axes - 1)], signed(s), product_term(d, i, j))


@compiled
def _turn(d: Assembly, v: Ints, size: float, power: float) -> None:
    """A rotation that depends on the radius."""
    for k in range(2):
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, VAR, v[1 - k])
        emit_radius_power(d, v[:2], 0.0, power)
        add(d, v[k], size if k == 0 else -size, term)
