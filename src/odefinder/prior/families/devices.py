"""Devices: electrical circuits, feedback control, and membranes with gates.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ABS, ADD, CONST, CUBE, EXP, INV, MUL, SQUARE, TANH, VAR
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, normal, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_function,
    emit_power,
    emit_scaled,
    function_term,
    variable_term,
)
from odefinder.prior.features import constant, nonlinearity, other_variable, signed
from odefinder.prior.rates import loss_law


@compiled
def _element(d: Assembly, s: Stream, into: int, v: int, scale: float) -> None:
    """The current through a nonlinear element at voltage v, taken from the equation `into`."""
    kind = uniform(s)
    if kind < 0.35:  # negative, then positive resistance
        add(d, into, scale * constant(s), variable_term(d, v))
        add(d, into, -scale * constant(s), function_term(d, CUBE, v))
    elif kind < 0.55:  # a diode
        size = constant(s)
        term = begin_term(d)
        emit(d, EXP, 0.0)
        emit_scaled(d, constant(s), v)
        add(d, into, -scale * size, term)
        add(d, into, scale * size, begin_term(d))
    elif kind < 0.75:
        term = begin_term(d)
        emit(d, TANH, 0.0)
        emit_scaled(d, constant(s), v)
        add(d, into, scale * signed(s), term)
        add(d, into, -scale * constant(s), variable_term(d, v))
    elif kind < 0.87:
        term = begin_term(d)
        emit(d, MUL, 0.0)
        emit(d, VAR, v)
        emit_function(d, ABS, v)
        add(d, into, -scale * constant(s), term)
    else:  # a resistance with kinks
        edge = constant(s)
        size = signed(s)
        for sign in range(2):
            term = begin_term(d)
            emit(d, ABS, 0.0)
            emit(d, ADD, 0.0)
            emit(d, VAR, v)
            emit(d, CONST, edge if sign == 0 else -edge)
            add(d, into, scale * (size if sign == 0 else -size), term)
        add(d, into, -scale * constant(s), variable_term(d, v))


@compiled
def circuits(d: Assembly, s: Stream, dimension: int) -> None:
    """A ladder of capacitors and coils: voltages and currents drive each other; one element is not linear."""
    alike = chance(s, 0.4)
    coil, capacity, resistance = 1.0, 1.0, constant(s)  # in units in which both are 1, or as they are
    if alike and chance(s, 0.5):
        coil, capacity = constant(s), constant(s)
    with_coils = dimension > 1 and chance(s, 0.7)
    for i in range(dimension):
        if not alike:
            coil, capacity, resistance = constant(s), constant(s), constant(s)
        current = with_coils and i % 2 == 1
        if current:  # L i' = v_before - v_after - R i
            add(d, i, 1.0 / coil, variable_term(d, i - 1))
            if i + 1 < dimension:
                add(d, i, -1.0 / coil, variable_term(d, i + 1))
            if chance(s, 0.7):
                add(d, i, -resistance / coil, variable_term(d, i))
            if chance(s, 0.25):
                add(d, i, signed(s) / coil, begin_term(d))
        elif with_coils:  # C v' = i_before - i_after - ...
            if i > 0:
                add(d, i, 1.0 / capacity, variable_term(d, i - 1))
            if i + 1 < dimension:
                add(d, i, -1.0 / capacity, variable_term(d, i + 1))
            if chance(s, 0.4):
                add(d, i, -1.0 / (resistance * capacity), variable_term(d, i))
        else:  # C v' = sum of (v_neighbour - v) / R
            for j in (i - 1, i + 1):
                if 0 <= j < dimension:
                    add(d, i, 1.0 / (resistance * capacity), variable_term(d, j))
                    add(d, i, -1.0 / (resistance * capacity), variable_term(d, i))
            if i == 0 or chance(s, 0.2):
                add(d, i, signed(s) / capacity, begin_term(d))
    for _ in range(1 if chance(s, 0.75) else 2):
        i = integer(s, 0, (dimension - 1) // 2) * 2 if with_coils else integer(s, 0, dimension - 1)
        _element(d, s, i, i, 1.0 / capacity)


@compiled
def control(d: Assembly, s: Stream, dimension: int) -> None:
    """A plant held at a set point by proportional, integral, derivative action; the actuator may saturate."""
    integral = dimension > 1 and chance(s, 0.6)
    order = dimension - 1 if integral else dimension
    chain = order > 1 and chance(s, 0.6)  # x_0' = x_1, ...: else tanks in a row
    for i in range(order):
        if chain and i + 1 < order:
            add(d, i, 1.0, variable_term(d, i + 1))
        elif chain:
            for j in range(order):
                if chance(s, 0.75):
                    add(d, i, -constant(s) if chance(s, 0.8) else constant(s), variable_term(d, j))
        else:
            rate = constant(s)
            add(d, i, -rate, variable_term(d, i))
            if i + 1 < order:
                add(d, i, rate if chance(s, 0.7) else constant(s), variable_term(d, i + 1))
    if chance(s, 0.45):
        i = order - 1 if chance(s, 0.6) else integer(s, 0, order - 1)
        if chance(s, 0.5):
            add(d, i, -constant(s), loss_law(d, s, i))
        else:
            add(d, i, signed(s), nonlinearity(d, s, integer(s, 0, order - 1), order))
    # u = Kp (r - y) + Ki z - Kd v, into the last equation of the plant.
    into, z = order - 1, dimension - 1
    proportional, reference = constant(s), signed(s) if chance(s, 0.7) else 0.0
    slow, damping = constant(s), constant(s)
    damped = order > 1 and chance(s, 0.3)
    if chance(s, 0.4):  # saturating
        term = begin_term(d)
        emit(d, TANH, 0.0)
        if integral:
            emit(d, ADD, 0.0)
            emit_scaled(d, slow, z)
        if damped:
            emit(d, ADD, 0.0)
            emit_scaled(d, -damping, order - 1)
        if reference != 0.0:
            emit(d, ADD, 0.0)
            emit(d, CONST, proportional * reference)
        emit_scaled(d, -proportional, 0)
        add(d, into, constant(s), term)
    else:
        add(d, into, -proportional, variable_term(d, 0))
        if reference != 0.0:
            add(d, into, proportional * reference, begin_term(d))
        if integral:
            add(d, into, slow, variable_term(d, z))
        if damped:
            add(d, into, -damping, variable_term(d, order - 1))
    if integral:  # z' = r - y
        rate = 1.0 if chance(s, 0.7) else constant(s)
        add(d, z, -rate, variable_term(d, 0))
        if reference != 0.0:
            add(d, z, rate * reference, begin_term(d))
        if chance(s, 0.2):
            add(d, z, -constant(s), variable_term(d, z))


@compiled
def _emit_opening(d: Assembly, s: Stream, v: int) -> None:
    """1 / (1 + exp((a - V) / b)), or half of 1 + tanh."""
    steep = log_uniform(s, 1.0, 8.0) * (1.0 if chance(s, 0.65) else -1.0)
    middle = 0.7 * normal(s)
    if chance(s, 0.75):
        emit(d, INV, 0.0)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit(d, EXP, 0.0)
        steep = -2.0 * steep
    else:
        emit(d, MUL, 0.0)
        emit(d, CONST, 0.5)
        emit(d, ADD, 0.0)
        emit(d, CONST, 1.0)
        emit(d, TANH, 0.0)
    emit(d, MUL, 0.0)
    emit(d, CONST, steep)
    emit(d, ADD, 0.0)
    emit(d, CONST, -middle)
    emit(d, VAR, v)


@compiled
def gates(d: Assembly, s: Stream, dimension: int) -> None:
    """A membrane: V' = I - sum of g m^p h (V - E); gates follow their opening at V, or switch by rates."""
    v = 0
    add(d, v, -constant(s), variable_term(d, v))
    if chance(s, 0.8):
        add(d, v, signed(s), begin_term(d))
    if chance(s, 0.3):
        term = function_term(d, CUBE if chance(s, 0.7) else SQUARE, v)
        add(d, v, -constant(s), term)
    instant = dimension == 1 or chance(s, 0.5)
    first = 1
    while first < dimension or instant:
        conductance, reversal = constant(s) * log_uniform(s, 1.0, 5.0), 1.5 * normal(s)
        factors = 1 if first + 1 >= dimension or chance(s, 0.6) else 2
        term = begin_term(d)
        emit(d, MUL, 0.0)
        if instant:
            _emit_opening(d, s, v)
            instant = False
            if first < dimension and chance(s, 0.4):
                emit(d, MUL, 0.0)
                emit(d, VAR, first)
                first += 1
        else:
            if factors == 2:
                emit(d, MUL, 0.0)
            for _ in range(factors):
                emit_power(d, first, 1 if chance(s, 0.6) else integer(s, 2, 4))
                first += 1
        emit(d, ADD, 0.0)
        emit(d, VAR, v)
        emit(d, CONST, -reversal)
        add(d, v, -conductance, term)
    for i in range(1, dimension):
        speed = constant(s) if chance(s, 0.5) else 0.2 * constant(s)
        kind = uniform(s)
        if kind < 0.6:  # towards its opening
            term = begin_term(d)
            _emit_opening(d, s, v)
            add(d, i, speed, term)
            add(d, i, -speed, variable_term(d, i))
        elif kind < 0.8:  # alpha(V) (1 - m) - beta m
            term = begin_term(d)
            emit(d, MUL, 0.0)
            emit(d, EXP, 0.0)
            emit_scaled(d, signed(s), v)
            emit(d, ADD, 0.0)
            emit(d, CONST, 1.0)
            emit_scaled(d, -1.0, i)
            add(d, i, speed, term)
            add(d, i, -constant(s), variable_term(d, i))
        else:  # linear recovery
            add(d, i, speed, variable_term(d, v if chance(s, 0.7) else other_variable(s, i, dimension)))
            add(d, i, -speed * constant(s), variable_term(d, i))
