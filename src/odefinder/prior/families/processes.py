"""Processes: what leaves one place arrives at another, at one rate that both equations share.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ABS, MUL, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_difference,
    has_part,
    product_term,
    variable_term,
    with_rest,
)
from odefinder.prior.features import constant, nonlinearity, other_variable, signed
from odefinder.prior.rates import emit_saturation, hill_exponent, loss_law, rate_law


@compiled
def _yield(s: Stream) -> float:
    """How much of a product a process makes of what it uses: mostly as much."""
    return 1.0 if chance(s, 0.65) else constant(s)


@compiled
def processes(d: Assembly, s: Stream, dimension: int) -> None:
    """Processes with stoichiometry: conversions, catalysis, growth, removal, supply and dilution."""
    if chance(s, 0.25):  # everything is washed out at one rate, and some of it flows in
        dilution = constant(s)
        for i in range(dimension):
            add(d, i, -dilution, variable_term(d, i))
            if chance(s, 1.0 / dimension):
                add(d, i, dilution * constant(s), begin_term(d))
    for r in range(integer(s, max(1, dimension - 1), dimension + 1)):
        i = r % dimension if chance(s, 0.6) else integer(s, 0, dimension - 1)
        other = other_variable(s, i, dimension)
        target = other if chance(s, 0.5) else integer(s, 0, dimension - 1)
        rate = constant(s)
        term = rate_law(d, s, i, other)
        kind = uniform(s)
        if dimension == 1 or kind < 0.15:  # removal
            add(d, i, -rate if dimension > 1 or chance(s, 0.65) else rate, term)
        elif kind < 0.5:  # conversion
            add(d, i, -rate, term)
            if target != i:
                add(d, target, rate * _yield(s), term)
            if chance(s, 0.25):  # and back
                back = constant(s)
                term = variable_term(d, target)
                add(d, target, -back, term)
                if target != i:
                    add(d, i, back, term)
        elif kind < 0.72:  # one lives on the other
            add(d, other, rate * _yield(s), term)
            add(d, i, -rate, term)
        elif kind < 0.8:  # what is left of a whole is used up: the fraction that is not yet so
            add(d, i, rate, with_rest(d, term, i, 1.0 if chance(s, 0.7) else constant(s)))
            if chance(s, 0.4):
                add(d, other, rate * (_yield(s) if chance(s, 0.5) else -1.0), term)
        elif kind < 0.9:  # two meet and make a third
            add(d, i, -rate, term)
            add(d, other, -rate, term)
            third = integer(s, 0, dimension - 1)
            if third not in (i, other):
                add(d, third, rate * _yield(s), term)
        else:  # a catalyst
            add(d, target, rate, term)
    for i in range(dimension):
        if not has_part(d, i) or chance(s, 0.35):
            add(d, i, -constant(s), variable_term(d, i))
        if chance(s, 0.15):
            add(d, i, constant(s), begin_term(d))


@compiled
def compartments(d: Assembly, s: Stream, dimension: int) -> None:
    """Places that exchange at linear rates, in a row, around a centre, in a ring; a way out may saturate."""
    shape = integer(s, 0, 2)
    for i in range(1, dimension):
        j = i - 1 if shape != 1 else 0
        there = constant(s)
        term = variable_term(d, j)
        add(d, j, -there, term)
        add(d, i, there, term)
        if chance(s, 0.6):
            back = constant(s) if chance(s, 0.7) else there
            term = variable_term(d, i)
            add(d, i, -back, term)
            add(d, j, back, term)
    if shape == 2 and dimension > 2:
        around = constant(s)
        term = variable_term(d, dimension - 1)
        add(d, dimension - 1, -around, term)
        add(d, 0, around, term)
    for _ in range(integer(s, 1, 2)):
        i = integer(s, 0, dimension - 1)
        if chance(s, 0.45):
            term = begin_term(d)
            emit_saturation(d, s, i, 1.0 if chance(s, 0.7) else hill_exponent(s))
            add(d, i, -constant(s), term)
        else:
            add(d, i, -constant(s), variable_term(d, i))
    if chance(s, 0.4):
        add(d, integer(s, 0, dimension - 1), constant(s), begin_term(d))
    if dimension > 1 and chance(s, 0.25):  # one place holds another's exit open
        i = integer(s, 0, dimension - 1)
        j = other_variable(s, i, dimension)
        term = product_term(d, i, j)
        rate = constant(s)
        add(d, i, -rate, term)
        if chance(s, 0.6):
            add(d, j, rate, term)


@compiled
def balances(d: Assembly, s: Stream, dimension: int) -> None:
    """What flows in and what is lost, by one of many laws; in a row, what one loses the next one gains."""
    row = dimension > 1 and chance(s, 0.5)
    alike = chance(s, 0.5)
    common = constant(s)
    for i in range(dimension):
        if i == 0 or not row:
            kind = uniform(s)
            if kind < 0.55:
                add(d, i, constant(s) if chance(s, 0.85) else -constant(s), begin_term(d))
            if kind > 0.45:
                add(d, i, constant(s) if chance(s, 0.7) else -constant(s), variable_term(d, i))
        for _ in range(1 if chance(s, 0.6) else 2):
            term = loss_law(d, s, i)
            rate = common if alike else constant(s)
            add(d, i, -rate, term)
            if row and i + 1 < dimension:
                add(d, i + 1, rate * _yield(s), term)
        if dimension > 1 and not row and chance(s, 0.8):
            j = other_variable(s, i, dimension)
            kind = uniform(s)
            if kind < 0.5:  # exchange with a neighbour
                rate = constant(s)
                add(d, i, rate, variable_term(d, j))
                add(d, i, -rate, variable_term(d, i))
            elif kind < 0.65:  # the faster, the more they differ
                term = begin_term(d)
                emit(d, MUL, 0.0)
                if chance(s, 0.5):
                    emit(d, VAR, i)
                else:
                    emit_difference(d, i, j)
                emit(d, ABS, 0.0)
                emit_difference(d, i, j)
                add(d, i, -constant(s), term)
            else:
                add(d, i, signed(s), nonlinearity(d, s, j, dimension))
    if row and chance(s, 0.5):  # the end acts back on the beginning
        add(d, 0, signed(s), variable_term(d, dimension - 1))
