"""Bodies: motion in the plane under central forces and drag, and systems that a Lagrangian describes.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, COS, CUBE, INV, MUL, POW, SIN, SQRT, SQUARE, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import Assembly, add, begin_term, emit, emit_scaled, variable_term
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
        emit(d, SQUARE, 0.0)
        emit(d, VAR, places[k])


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

    What is left over turns or decays beside it.
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
            term = begin_term(d)
            emit(d, MUL, 0.0)
            emit(d, VAR, i)
            emit(d, VAR, j)
            add(d, v[integer(s, 0, axes - 1)], signed(s), term)


@compiled
def _turn(d: Assembly, v: Ints, size: float, power: float) -> None:
    """A rotation that depends on the radius."""
    for k in range(2):
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, VAR, v[1 - k])
        emit_radius_power(d, v[:2], 0.0, power)
        add(d, v[k], size if k == 0 else -size, term)


# ---------------------------------------------------------------- Lagrangians

CONSTANT_MASS, POLAR, SPHERICAL, BENT, SWINGING = range(5)


@compiled
def _emit_mass(d: Assembly, kind: int, a: float, q: int) -> None:
    """m(q)."""
    if kind == POLAR:
        emit(d, SQUARE, 0.0)
        emit(d, VAR, q)
    elif kind == SPHERICAL:
        emit(d, SQUARE, 0.0)
        emit(d, SIN, 0.0)
        emit(d, VAR, q)
    else:
        emit(d, ADD, 0.0)
        emit(d, CONST, a)
        emit(d, SQUARE if kind == BENT else COS, 0.0)
        emit(d, VAR, q)


@compiled
def _emit_half_slope(d: Assembly, kind: int, q: int) -> None:
    """m'(q) / 2."""
    if kind in (POLAR, BENT):
        emit(d, VAR, q)
        return
    emit(d, MUL, 0.0)
    if kind == SPHERICAL:
        emit(d, SIN, 0.0)
        emit(d, VAR, q)
        emit(d, COS, 0.0)
    else:
        emit(d, CONST, -0.5)
        emit(d, SIN, 0.0)
    emit(d, VAR, q)


@compiled
def _emit_force(d: Assembly, kind: int, q: int) -> None:
    """The slope of a potential of one coordinate."""
    if kind == 0:
        emit(d, VAR, q)
    elif kind == 1:
        emit(d, SIN, 0.0)
        emit(d, VAR, q)
    elif kind == 2:
        emit(d, CUBE, 0.0)
        emit(d, VAR, q)
    else:
        emit(d, COS, 0.0)
        emit(d, VAR, q)


@compiled
def _one_coordinate(d: Assembly, s: Stream, q: int, v: int) -> None:
    """m(q) q'' + m'(q) q'^2 / 2 = -V'(q) - c q', solved for q''."""
    kind = integer(s, BENT, SWINGING)
    a = 1.0 + constant(s)
    add(d, q, 1.0, variable_term(d, v))
    for part in range(3):
        if part == 2 and chance(s, 0.4):
            break
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, INV, 0.0)
        _emit_mass(d, kind, a, q)
        if part == 0:
            _emit_force(d, (0, 1, 1, 2)[integer(s, 0, 3)], q)
        elif part == 1:
            emit(d, MUL, 0.0)
            _emit_half_slope(d, kind, q)
            emit(d, SQUARE, 0.0)
            emit(d, VAR, v)
        else:
            emit(d, VAR, v)
        add(d, v, -1.0 if part == 1 else -constant(s), term)


@compiled
def lagrangian(d: Assembly, s: Stream, dimension: int) -> None:
    """One or two degrees of freedom whose masses depend on where they are; variables left over follow.

    L = p'^2 / 2 + m(p) q'^2 / 2 - V(p, q) gives p'' = m' q'^2 / 2 - V_p, q'' = -(m' p' q' + V_q) / m.
    """
    if dimension < 4:
        if dimension == 1:  # overdamped: the force alone
            term = begin_term(d)
            _emit_force(d, integer(s, 0, 3), 0)
            add(d, 0, -constant(s), term)
            add(d, 0, signed(s), begin_term(d) if chance(s, 0.5) else variable_term(d, 0))
            return
        _one_coordinate(d, s, 0, 1)
        if dimension == 3:
            add(d, 2, -constant(s), variable_term(d, 2))
            add(d, 2, signed(s), variable_term(d, integer(s, 0, 1)))
            add(d, 1, signed(s), variable_term(d, 2))
        return
    side_by_side = chance(s, 0.6)
    p = 0
    q = 2 if side_by_side else 1
    vp = 1 if side_by_side else 2
    vq = 3
    kind = (POLAR, POLAR, SPHERICAL, BENT, SWINGING, CONSTANT_MASS)[integer(s, 0, 5)]
    a = 1.0 + constant(s)
    add(d, p, 1.0, variable_term(d, vp))
    add(d, q, 1.0, variable_term(d, vq))
    if kind != CONSTANT_MASS:
        term = begin_term(d)
        emit(d, MUL, 0.0)
        _emit_half_slope(d, kind, p)
        emit(d, SQUARE, 0.0)
        emit(d, VAR, vq)
        add(d, vp, 1.0, term)
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, MUL, 0.0)
        emit(d, VAR, vp)
        emit(d, VAR, vq)
        emit(d, MUL, 0.0)
        _emit_half_slope(d, kind, p)
        emit(d, INV, 0.0)
        _emit_mass(d, kind, a, p)
        add(d, vq, -2.0, term)
    if chance(s, 0.85):
        term = begin_term(d)
        _emit_force(d, (0, 0, 0, 1, 2)[integer(s, 0, 4)], p)
        add(d, vp, -constant(s), term)
    if chance(s, 0.3):
        add(d, vp, signed(s), begin_term(d))
    coupled = uniform(s)
    size = constant(s)
    if coupled < 0.55:  # V = size * f(q), or size * p * f(q)
        force = (0, 1, 1, 1)[integer(s, 0, 3)]
        lever = kind == POLAR and force == 1 and chance(s, 0.7)
        term = begin_term(d)
        if lever:
            emit(d, MUL, 0.0)
            emit(d, INV, 0.0)
            emit(d, VAR, p)
        elif kind != CONSTANT_MASS:
            emit(d, MUL, 0.0)
            emit(d, INV, 0.0)
            _emit_mass(d, kind, a, p)
        _emit_force(d, force, q)
        add(d, vq, -size, term)
        if lever:
            term = begin_term(d)
            emit(d, COS, 0.0)
            emit(d, VAR, q)
            add(d, vp, size, term)
    elif kind == CONSTANT_MASS:  # V = size * f(p - q)
        wave = chance(s, 0.5)
        term = begin_term(d)
        emit(d, SIN if wave else CUBE, 0.0)
        emit(d, ADD, 0.0)
        emit(d, VAR, p)
        emit_scaled(d, -1.0, q)
        add(d, vp, -size, term)
        add(d, vq, size, term)
        term = begin_term(d)
        _emit_force(d, 1 if wave else 0, q)
        add(d, vq, -constant(s), term)
    if chance(s, 0.35):
        drag = constant(s)
        add(d, vp, -drag, variable_term(d, vp))
        add(d, vq, -drag if chance(s, 0.6) else -constant(s), variable_term(d, vq))
    for i in range(4, dimension):
        add(d, i, -constant(s), variable_term(d, i))
        add(d, i, signed(s), variable_term(d, integer(s, 0, 3)))
        if chance(s, 0.5):
            add(d, vp if chance(s, 0.5) else vq, signed(s), variable_term(d, i))
