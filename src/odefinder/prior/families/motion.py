"""Motion: bodies under forces, flows of a potential, coupled phases, driven angles.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ABS, COS, CUBE, MUL, SIN, SQUARE, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_difference,
    emit_function,
    function_term,
    monomial,
    variable_term,
)
from odefinder.prior.features import constant, nonlinearity, other_variable, signed, wave


@compiled
def _restoring_force(d: Assembly, s: Stream, x: int, v: int) -> None:
    """Force of position alone, added to the equation of the velocity v."""
    kind = uniform(s)
    if kind < 0.45:
        add(d, v, -constant(s), variable_term(d, x))
    elif kind < 0.75:
        add(d, v, -constant(s), function_term(d, SIN, x))
        if chance(s, 0.2):
            term = begin_term(d)
            emit(d, MUL, 0.0)
            emit_function(d, SIN, x)
            emit_function(d, COS, x)
            add(d, v, signed(s), term)
        return
    if kind > 0.75 or chance(s, 0.25):
        if kind > 0.75 and chance(s, 0.7):
            add(d, v, signed(s), variable_term(d, x))
        term = function_term(d, CUBE if chance(s, 0.7) else SQUARE, x)
        add(d, v, -constant(s), term)


@compiled
def _damping(d: Assembly, s: Stream, x: int, v: int) -> None:
    """Friction or its opposite, added to the equation of the velocity v."""
    kind = uniform(s)
    if kind < 0.3:
        return
    if kind < 0.75:
        add(d, v, -constant(s), variable_term(d, v))
        if chance(s, 0.8):
            return
    term = begin_term(d)
    if kind < 0.85:
        emit(d, MUL, 0.0)
        emit(d, VAR, v)
        emit_function(d, ABS, v)
        add(d, v, -constant(s), term)
        return
    if kind < 0.9:
        emit_function(d, CUBE, v)
        add(d, v, -constant(s), term)
        return
    emit(d, MUL, 0.0)
    emit(d, VAR, v)
    emit_function(d, SQUARE if chance(s, 0.7) else COS, x)
    strength = constant(s)
    add(d, v, -strength, term)
    if chance(s, 0.8):
        add(d, v, strength if chance(s, 0.6) else signed(s), variable_term(d, v))


@compiled
def mechanics(d: Assembly, s: Stream, dimension: int) -> None:
    """Second-order systems, x' = v and v' = f(x, v), coupled; an odd variable is driven by the others."""
    bodies = max(1, dimension // 2)
    side_by_side = chance(s, 0.6)
    for k in range(bodies):
        x = 2 * k if side_by_side else k
        v = 2 * k + 1 if side_by_side else bodies + k
        if dimension == 1:
            v = x
        else:
            add(d, x, 1.0 if chance(s, 0.85) else constant(s), variable_term(d, v))
        _restoring_force(d, s, x, v)
        _damping(d, s, x, v)
        if chance(s, 0.2):
            add(d, v, signed(s), begin_term(d))
        if bodies > 1 and chance(s, 0.8):
            other = other_variable(s, k, bodies)
            y = 2 * other if side_by_side else other
            strength = constant(s)
            if chance(s, 0.7):
                add(d, v, strength, variable_term(d, y))
                add(d, v, -strength, variable_term(d, x))
            else:
                term = begin_term(d)
                emit(d, SIN, 0.0)
                emit_difference(d, y, x)
                add(d, v, strength, term)
    if dimension > 1 and dimension % 2 == 1:
        z = dimension - 1
        add(d, z, -constant(s), variable_term(d, z))
        add(d, z, signed(s), nonlinearity(d, s, integer(s, 0, z - 1), dimension))
        powers = np.zeros(dimension, np.int64)
        powers[z] = 1
        if chance(s, 0.6):
            powers[integer(s, 0, z - 1)] += 1
        add(d, 1 if side_by_side else bodies, signed(s), monomial(d, powers))


@compiled
def _add_slope(d: Assembly, i: int, coefficient: float, term: int, hamiltonian: bool) -> None:
    """dV/dx_i where it belongs: its own equation, or with the right sign that of its partner."""
    if not hamiltonian:
        add(d, i, coefficient, term)
    elif i % 2 == 0:
        add(d, i + 1, -coefficient, term)
    else:
        add(d, i - 1, coefficient, term)


@compiled
def potentials(d: Assembly, s: Stream, dimension: int) -> None:
    """Gradient flows x' = -grad V, or Hamiltonian ones in pairs of variables; V of monomials and cosines."""
    hamiltonian = dimension % 2 == 0 and chance(s, 0.5)
    powers = np.zeros(dimension, np.int64)
    slope = np.zeros(dimension, np.int64)
    for k in range(dimension + integer(s, 0, 2)):
        lead = k % dimension
        size = signed(s)
        if chance(s, 0.25):  # V = size * cos(u)
            other = other_variable(s, lead, dimension)
            term = begin_term(d)
            emit(d, SIN, 0.0)
            if other != lead and chance(s, 0.7):
                emit_difference(d, lead, other)
                _add_slope(d, other, -size, term, hamiltonian)
            else:
                emit(d, VAR, lead)
            _add_slope(d, lead, size, term, hamiltonian)
            continue
        powers[:] = 0
        powers[lead] = integer(s, 1, 2)
        if powers[lead] == 2 and chance(s, 0.3):
            powers[lead] = 4
            size = -abs(size) / 4
        for _ in range(integer(s, 0, 2)):
            powers[integer(s, 0, dimension - 1)] += 1
        if powers.max() > 5:
            continue
        for i in range(dimension):
            if powers[i] > 0:
                slope[:] = powers
                slope[i] -= 1
                _add_slope(d, i, size * powers[i], monomial(d, slope), hamiltonian)


@compiled
def phases(d: Assembly, s: Stream, dimension: int) -> None:
    """Coupled oscillators: a frequency and sines of differences."""
    common = constant(s)
    alike = chance(s, 0.5)
    for i in range(dimension):
        if chance(s, 0.8):
            add(d, i, signed(s), begin_term(d))
        if dimension == 1 or chance(s, 0.3):
            add(d, i, -constant(s), function_term(d, SIN, i))
        for j in range(dimension):
            if j != i and chance(s, min(1.0, 2.2 / dimension)):
                term = begin_term(d)
                emit(d, SIN, 0.0)
                emit_difference(d, j, i)
                add(d, i, common if alike else signed(s), term)


@compiled
def waves(d: Assembly, s: Stream, dimension: int) -> None:
    """Angles that drive each other through sines, cosines and their products."""
    for i in range(dimension):
        for _ in range(integer(s, 1, 2)):
            add(d, i, signed(s), wave(d, s, integer(s, 0, dimension - 1), dimension))
        kind = uniform(s)
        if kind < 0.3:
            add(d, i, signed(s), begin_term(d))
        elif kind < 0.5:
            add(d, i, signed(s), variable_term(d, integer(s, 0, dimension - 1)))
        elif kind < 0.6:
            term = function_term(d, SQUARE, integer(s, 0, dimension - 1))
            add(d, i, -constant(s), term)
