"""Systems that a Lagrangian describes: masses that depend on where they are, potentials of many kinds.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, COS, CUBE, EXP, INV, MUL, SIN, SQUARE, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_difference,
    emit_function,
    emit_power,
    emit_scaled,
    function_term,
    monomial,
    variable_term,
)
from odefinder.prior.features import constant, signed

CONSTANT_MASS, POLAR, SPHERICAL, BENT, SWINGING = range(5)


@compiled
def _emit_mass(d: Assembly, kind: int, a: float, q: int) -> None:
    """m(q)."""
    if kind == POLAR:
        emit_function(d, SQUARE, q)
    elif kind == SPHERICAL:
        emit(d, SQUARE, 0.0)
        emit_function(d, SIN, q)
    else:
        emit(d, ADD, 0.0)
        emit(d, CONST, a)
        emit_function(d, SQUARE if kind == BENT else COS, q)


@compiled
def _emit_half_slope(d: Assembly, kind: int, q: int) -> None:
    """m'(q) / 2."""
    if kind in (POLAR, BENT):
        emit(d, VAR, q)
        return
    emit(d, MUL, 0.0)
    if kind == SPHERICAL:
        emit_function(d, SIN, q)
        emit_function(d, COS, q)
    else:
        emit(d, CONST, -0.5)
        emit_function(d, SIN, q)


@compiled
def _emit_force(d: Assembly, kind: int, q: int) -> None:
    """The slope of a potential of one coordinate."""
    if kind == 0:
        emit(d, VAR, q)
    elif kind == 1:
        emit_function(d, SIN, q)
    elif kind == 2:
        emit_function(d, CUBE, q)
    else:
        emit_function(d, COS, q)


@compiled
def _well(d: Assembly, s: Stream, q: int, v: int) -> None:
    """Repulsion against attraction: powers of the distance, or exponentials of it."""
    if chance(s, 0.6):
        near = integer(s, 2, 5)
        far = integer(s, 1, near - 1)
        for k in range(2):
            term = begin_term(d)
            emit_power(d, q, -near if k == 0 else -far)
            add(d, v, constant(s) if k == 0 else -constant(s), term)
    else:
        steep, size = constant(s), constant(s)
        for k in range(2):
            term = begin_term(d)
            emit(d, EXP, 0.0)
            emit_scaled(d, -2.0 * steep if k == 0 else -steep, q)
            add(d, v, size if k == 0 else (-size if chance(s, 0.6) else -constant(s)), term)


@compiled
def _one_coordinate(d: Assembly, s: Stream, q: int, v: int) -> None:
    """m(q) q'' + m'(q) q'^2 / 2 = -V'(q) - c q', solved for q''."""
    kind = integer(s, BENT, SWINGING)
    a = 1.0 + constant(s)
    add(d, q, 1.0, variable_term(d, v))
    if chance(s, 0.3):
        _well(d, s, q, v)
        if chance(s, 0.4):
            add(d, v, -constant(s), variable_term(d, v))
        return
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
            emit_function(d, SQUARE, v)
        else:
            emit(d, VAR, v)
        add(d, v, -1.0 if part == 1 else -constant(s), term)


@compiled
def _turning(d: Assembly, kind: int, a: float, p: int, vp: int, vq: int) -> None:
    """What a mass m(p) does when it turns: m' q'^2 / 2 acts on p, -m' p' q' / m on q."""
    term = begin_term(d)
    emit(d, MUL, 0.0)
    _emit_half_slope(d, kind, p)
    emit_function(d, SQUARE, vq)
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


@compiled
def _potential_of_both(d: Assembly, s: Stream, kind: int, a: float, p: int, vp: int, q: int, vq: int) -> None:
    """A potential of q, mostly of p as well; sometimes there is none."""
    coupled = uniform(s)
    size = constant(s)
    if coupled < 0.55:  # V = size * f(q), or size * p * f(q)
        force = (0, 1, 1, 1)[integer(s, 0, 3)]
        lever = force == 1 and chance(s, 0.5)
        term = begin_term(d)
        if lever:
            emit(d, MUL, 0.0)
            emit(d, VAR, p)
        if kind != CONSTANT_MASS:
            emit(d, MUL, 0.0)
            emit(d, INV, 0.0)
            _emit_mass(d, kind, a, p)
        _emit_force(d, force, q)
        add(d, vq, -size, term)
        if lever:
            add(d, vp, size, function_term(d, COS, q))
    elif kind == CONSTANT_MASS and chance(s, 0.5):  # V = size * p^m q^n, once or twice
        powers = np.zeros(max(p, q) + 1, np.int64)
        for _ in range(integer(s, 1, 2)):
            m, n = integer(s, 1, 2), integer(s, 0, 2)
            size = signed(s)
            powers[p], powers[q] = m - 1, n
            add(d, vp, -m * size, monomial(d, powers))
            if n > 0:
                powers[p], powers[q] = m, n - 1
                add(d, vq, -n * size, monomial(d, powers))
        add(d, vp, -constant(s), variable_term(d, p))
        add(d, vq, -constant(s), variable_term(d, q))
    elif kind == CONSTANT_MASS:  # V = size * f(p - q)
        wave = chance(s, 0.5)
        term = begin_term(d)
        emit(d, SIN if wave else CUBE, 0.0)
        emit_difference(d, p, q)
        add(d, vp, -size, term)
        add(d, vq, size, term)
        term = begin_term(d)
        _emit_force(d, 1 if wave else 0, q)
        add(d, vq, -constant(s), term)


@compiled
def _two_coordinates(d: Assembly, s: Stream, p: int, vp: int, q: int, vq: int) -> None:
    """L = p'^2 / 2 + m(p) q'^2 / 2 - V(p, q): p'' = m' q'^2 / 2 - V_p, q'' = -(m' p' q' + V_q) / m; drag."""
    kind = (POLAR, POLAR, SPHERICAL, BENT, SWINGING, CONSTANT_MASS)[integer(s, 0, 5)]
    a = 1.0 + constant(s)
    add(d, p, 1.0, variable_term(d, vp))
    add(d, q, 1.0, variable_term(d, vq))
    if kind != CONSTANT_MASS:
        _turning(d, kind, a, p, vp, vq)
    if chance(s, 0.85):
        term = begin_term(d)
        _emit_force(d, (0, 0, 0, 1, 2)[integer(s, 0, 4)], p)
        add(d, vp, -constant(s), term)
    if chance(s, 0.3):
        add(d, vp, signed(s), begin_term(d))
    _potential_of_both(d, s, kind, a, p, vp, q, vq)
    if chance(s, 0.35):
        drag = constant(s)
        add(d, vp, -drag, variable_term(d, vp))
        add(d, vq, -drag if chance(s, 0.6) else -constant(s), variable_term(d, vq))


@compiled
def lagrangian(d: Assembly, s: Stream, dimension: int) -> None:
    """One or two degrees of freedom whose masses depend on where they are; variables left over follow."""
    if dimension == 1:  # overdamped: the force alone
        term = begin_term(d)
        _emit_force(d, integer(s, 0, 3), 0)
        add(d, 0, -constant(s), term)
        add(d, 0, signed(s), begin_term(d) if chance(s, 0.5) else variable_term(d, 0))
        return
    if dimension < 4:
        _one_coordinate(d, s, 0, 1)
        if dimension == 3:
            add(d, 2, -constant(s), variable_term(d, 2))
            add(d, 2, signed(s), variable_term(d, integer(s, 0, 1)))
            add(d, 1, signed(s), variable_term(d, 2))
        return
    vp, q = (1, 2) if chance(s, 0.6) else (2, 1)  # p, p', q, q', or p, q, p', q'
    _two_coordinates(d, s, 0, vp, q, 3)
    for i in range(4, dimension):
        add(d, i, -constant(s), variable_term(d, i))
        add(d, i, signed(s), variable_term(d, integer(s, 0, 3)))
        if chance(s, 0.5):
            add(d, vp if chance(s, 0.5) else 3, signed(s), variable_term(d, i))
