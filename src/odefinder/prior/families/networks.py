"""Networks of identical units: one law with one set of constants, written once for every unit.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, CONST, COS, CUBE, INV, MUL, SIN, SQUARE, TANH, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_difference,
    emit_function,
    emit_scaled,
    function_term,
    product_term,
    variable_term,
)
from odefinder.prior.features import constant, other_variable, signed
from odefinder.prior.rates import emit_to_the, hill_exponent

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@compiled
def topology(s: Stream, units: int) -> Bools:
    """Who acts on whom, (units, units): a ring, one way or both, a row, a star, everyone, or by chance."""
    acts = np.zeros((units, units), np.bool_)
    kind = uniform(s)
    order = np.arange(units)
    if chance(s, 0.3):
        for i in range(units - 1, 0, -1):
            j = integer(s, 0, i)
            order[i], order[j] = order[j], order[i]
    for i in range(units):
        for j in range(units):
            near = abs(order[i] - order[j])
            forward = (order[i] + 1) % units == order[j]
            if kind < 0.25:
                acts[i, j] = forward
            elif kind < 0.45:
                acts[i, j] = forward or (order[j] + 1) % units == order[i]
            elif kind < 0.6:
                acts[i, j] = near == 1
            elif kind < 0.7:
                acts[i, j] = order[i] == 0 or order[j] == 0
            elif kind < 0.9 or units <= 2:
                acts[i, j] = True
            else:
                acts[i, j] = chance(s, 0.5)
            if i == j:
                acts[i, j] = False
    return acts


@compiled
def _couple(d: Assembly, kind: int, size: float, inner: float, into: int, x: int, y: int) -> None:
    """The action of y on x, added to the equation `into`."""
    if kind == 0:  # exchange
        add(d, into, size, variable_term(d, y))
        add(d, into, -size, variable_term(d, x))
        return
    if kind == 1:
        add(d, into, size, variable_term(d, y))
        return
    term = begin_term(d)
    if kind == 2:
        emit(d, SIN, 0.0)
        emit_difference(d, y, x)
    elif kind == 3:
        emit(d, MUL, 0.0)
        emit(d, VAR, x)
        emit(d, VAR, y)
        size = -size
    elif kind == 4:
        emit(d, TANH, 0.0)
        emit_scaled(d, inner, y)
    elif kind == 5:  # repression
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit_to_the(d, y, inner)
    elif kind == 6:  # activation
        emit(d, MUL, 0.0)
        emit_to_the(d, y, inner)
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit_to_the(d, y, inner)
    else:
        emit(d, CUBE, 0.0)
        emit_difference(d, y, x)
    add(d, into, size, term)


@compiled
def _unit(d: Assembly, kind: int, c: Floats, x: int) -> None:
    """A law of one variable for itself."""
    if kind == 0:
        add(d, x, -c[0], variable_term(d, x))
    elif kind in (1, 2):  # growth that limits itself
        add(d, x, c[0], variable_term(d, x))
        add(d, x, -c[1], function_term(d, SQUARE if kind == 1 else CUBE, x))
    elif kind == 3:
        add(d, x, c[2], begin_term(d))
        add(d, x, -c[0], variable_term(d, x))
    elif kind == 4:
        add(d, x, -c[0], function_term(d, SIN, x))


@compiled
def _pair(d: Assembly, kind: int, c: Floats, x: int, y: int) -> None:
    """A law of two variables that make up one unit."""
    if kind == 0:  # a body on a spring
        add(d, x, 1.0, variable_term(d, y))
        add(d, y, -c[0], variable_term(d, x))
        if c[3] < 1.0:
            add(d, y, -c[3], variable_term(d, y))
        if c[4] < 0.8:
            add(d, y, -c[1], function_term(d, CUBE, x))
    elif kind == 1:  # fast and slow
        add(d, x, c[0], variable_term(d, x))
        add(d, x, -c[1], function_term(d, CUBE, x))
        add(d, x, -c[2], variable_term(d, y))
        add(d, y, 0.2 * c[3], variable_term(d, x))
        if c[4] < 1.0:
            add(d, y, -0.2 * c[3] * c[4], variable_term(d, y))
    elif kind == 2:  # one eats the other
        add(d, x, c[0], variable_term(d, x))
        add(d, y, -c[1], variable_term(d, y))
        term = product_term(d, x, y)
        add(d, x, -c[2], term)
        add(d, y, c[3] if c[4] < 1.0 else c[2], term)
    else:  # turning, held at a radius
        add(d, x, c[0], variable_term(d, x))
        add(d, y, c[0], variable_term(d, y))
        add(d, x, -c[1], variable_term(d, y))
        add(d, y, c[1], variable_term(d, x))
        for k in range(2):
            term = begin_term(d)
            emit(d, MUL, 0.0)
            emit(d, VAR, x if k == 0 else y)
            emit(d, ADD, 0.0)
            emit_function(d, SQUARE, x)
            emit_function(d, SQUARE, y)
            add(d, x if k == 0 else y, -c[2], term)


@compiled
def units(d: Assembly, s: Stream, dimension: int) -> None:
    """Identical units of one or two variables with identical couplings; inputs may differ."""
    per = 2 if dimension % 2 == 0 and chance(s, 0.6) else 1
    count = dimension // per
    side_by_side = chance(s, 0.5)
    c = np.empty(5)
    for k in range(5):
        c[k] = constant(s)
    law = integer(s, 0, 4) if per == 1 else integer(s, 0, 3)
    acts = topology(s, count)
    coupling = (0, 0, 0, 1, 2, 3, 4, 5, 6, 7)[integer(s, 0, 9)]
    size = constant(s) if chance(s, 0.75) else -constant(s)
    inner = hill_exponent(s)
    on_second = per == 2 and (law == 0 or chance(s, 0.2))
    driven, own = chance(s, 0.25), chance(s, 0.5)
    drive = signed(s)
    for u in range(count):
        x = per * u if side_by_side else u
        y = per * u + 1 if side_by_side else count + u
        if per == 1:
            _unit(d, law, c, x)
        else:
            _pair(d, law, c, x, y)
        if driven:
            add(d, y if on_second else x, signed(s) if own else drive, begin_term(d))
        for v in range(count):
            if acts[u, v]:
                _couple(d, coupling, size, inner, y if on_second else x, x, per * v if side_by_side else v)
    if per == 1 and count > 2 and chance(s, 0.15):  # each carried by its neighbours
        carried = 1.0 if chance(s, 0.5) else constant(s)
        for u in range(count):
            for shift in (1, -2):
                term = product_term(d, (u - 1) % count, (u + shift) % count)
                add(d, u, carried if shift == 1 else -carried, term)


@compiled
def _emit_lagged_sine(d: Assembly, wave: int, harmonic: float, lag: float, i: int, j: int) -> None:
    """sin(h (x_j - x_i) + lag), or the cosine."""
    emit(d, wave, 0.0)
    if lag != 0.0:
        emit(d, ADD, 0.0)
        emit(d, CONST, lag)
    emit(d, ADD, 0.0)
    emit_scaled(d, harmonic, j)
    emit_scaled(d, -harmonic, i)


@compiled
def rotators(d: Assembly, s: Stream, dimension: int) -> None:
    """Angles that pull at each other by sines of differences; with inertia, each has a speed, too."""
    inertia = dimension % 2 == 0 and chance(s, 0.4)
    count = dimension // 2 if inertia else dimension
    side_by_side = chance(s, 0.5)
    acts = topology(s, count)
    size = constant(s)
    lag = signed(s) if chance(s, 0.2) else 0.0
    wave = SIN if chance(s, 0.9) else COS
    second = 0.5 * constant(s) if chance(s, 0.15) else 0.0
    pinned = constant(s) if count == 1 or chance(s, 0.3) else 0.0
    friction = constant(s)
    turning, common = chance(s, 0.85), chance(s, 0.3)
    speed = signed(s)
    for u in range(count):
        x = 2 * u if inertia and side_by_side else u
        into = x
        if inertia:
            into = x + 1 if side_by_side else count + u
            add(d, x, 1.0, variable_term(d, into))
            add(d, into, -friction, variable_term(d, into))
        if turning:
            add(d, into, speed if common else signed(s), begin_term(d))
        if pinned > 0.0:
            add(d, into, -pinned, function_term(d, SIN, x))
        for v in range(count):
            y = 2 * v if inertia and side_by_side else v
            if acts[u, v]:
                term = begin_term(d)
                _emit_lagged_sine(d, wave, 1.0, lag, x, y)
                add(d, into, size, term)
                if second > 0.0:
                    term = begin_term(d)
                    _emit_lagged_sine(d, SIN, 2.0, 0.0, x, y)
                    add(d, into, second, term)
    if count > 1 and not acts.any():
        term = begin_term(d)
        _emit_lagged_sine(d, wave, 1.0, lag, 0, other_variable(s, 0, count))
        add(d, 0, size, term)
