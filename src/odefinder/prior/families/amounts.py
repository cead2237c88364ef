"""Amounts: species that react, populations that interact, genes that regulate, things that grow.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import CONST, EXP, LOG, MUL, POW, SQUARE, VAR
from odefinder.numerics.randomness import Stream, chance, integer, uniform
from odefinder.prior.assembly import (
    Assembly,
    add,
    begin_term,
    emit,
    emit_function,
    emit_scaled,
    has_part,
    monomial,
    variable_term,
)
from odefinder.prior.features import (
    constant,
    emit_hill_denominator,
    flux,
    hill_power,
    nonlinearity,
    other_variable,
    random_powers,
    saturating,
    signed,
)


@compiled
def reactions(d: Assembly, s: Stream, dimension: int) -> None:
    """Mass action: one flux leaves its reactants and enters its products."""
    powers = np.zeros(dimension, np.int64)
    for r in range(dimension + integer(s, 0, dimension)):
        order = (0, 1, 1, 1, 1, 2, 2, 2, 2, 3)[integer(s, 0, 9)]
        random_powers(s, order, powers)
        rate = constant(s)
        term = flux(d, s, powers, dimension)
        product = (r + 1) % dimension if chance(s, 0.5) else integer(s, 0, dimension - 1)
        change = np.zeros(dimension)
        for i in range(dimension):
            if powers[i] > 0 and not chance(s, 0.15):  # else a catalyst
                change[i] -= powers[i]
        if order == 0 or chance(s, 0.75):
            change[product] += 1 if chance(s, 0.8) else 2
        for i in range(dimension):
            if change[i] != 0.0:
                add(d, i, rate * change[i], term)
    for i in range(dimension):
        if not has_part(d, i) or chance(s, 0.3):
            add(d, i, -constant(s), variable_term(d, i))


@compiled
def interactions(d: Assembly, s: Stream, dimension: int) -> None:
    """Lotka-Volterra-like: every variable times an affine form of all, some products saturating."""
    powers = np.zeros(dimension, np.int64)
    for i in range(dimension):
        add(d, i, signed(s), variable_term(d, i))
        if chance(s, 0.5):
            powers[:] = 0
            powers[i] = 2
            add(d, i, -constant(s) if chance(s, 0.85) else constant(s), monomial(d, powers))
        if chance(s, 0.08):
            add(d, i, constant(s), begin_term(d))
    density = min(1.0, 1.6 / dimension)
    for i in range(dimension):
        for j in range(i + 1, dimension):
            if not chance(s, density) and dimension != 2:
                continue
            powers[:] = 0
            powers[i] = powers[j] = 1
            term = flux(d, s, powers, dimension) if chance(s, 0.6) else monomial(d, powers)
            first = signed(s)
            second = -first * constant(s) if chance(s, 0.65) else signed(s)
            add(d, i, first, term)
            if chance(s, 0.85):
                add(d, j, second, term)


@compiled
def regulation(d: Assembly, s: Stream, dimension: int) -> None:
    """Production regulated by Hill terms against linear decay, as in gene networks."""
    for i in range(dimension):
        add(d, i, -constant(s), variable_term(d, i))
        if chance(s, 0.35):
            add(d, i, constant(s), begin_term(d))
        for _ in range(1 if chance(s, 0.75) else 2):
            source = i if chance(s, 0.25) else integer(s, 0, dimension - 1)
            term = saturating(d, s, source, chance(s, 0.5))
            add(d, i, constant(s), term)
        if chance(s, 0.2):
            term = begin_term(d)  # enzymatic removal
            emit(d, MUL, 0.0)
            if dimension > 1 and chance(s, 0.5):
                emit(d, MUL, 0.0)
                emit(d, VAR, other_variable(s, i, dimension))
            emit(d, VAR, i)
            emit_hill_denominator(d, s, i, 1)
            add(d, i, -constant(s), term)


@compiled
def growth(d: Assembly, s: Stream, dimension: int) -> None:
    """Every variable grows or decays by a law of its own; others may enter as factors."""
    powers = np.zeros(dimension, np.int64)
    for i in range(dimension):
        rate = constant(s)
        kind = uniform(s)
        if kind < 0.8:
            add(d, i, rate if chance(s, 0.7) else -rate, variable_term(d, i))
        if kind < 0.6:  # logistic, or with a higher power
            powers[:] = 0
            powers[i] = 2 if chance(s, 0.7) else 3
            add(d, i, -rate / (10.0 * constant(s)) if chance(s, 0.5) else -constant(s), monomial(d, powers))
            if chance(s, 0.2):
                powers[i] += 1 if chance(s, 0.5) else 2
                add(d, i, -constant(s), monomial(d, powers))
        elif chance(s, 0.5):
            term = begin_term(d)
            if chance(s, 0.5):  # Gompertz
                emit(d, MUL, 0.0)
                emit(d, VAR, i)
                emit_function(d, LOG, i)
            else:
                emit(d, POW, 0.0)
                emit(d, VAR, i)
                emit(d, CONST, 0.1 * integer(s, 2, 25))
            add(d, i, -constant(s) if chance(s, 0.7) else constant(s), term)
        if chance(s, 0.35):  # harvest, predation
            power = hill_power(s)
            term = begin_term(d)
            emit(d, MUL, 0.0)
            if power > 1:
                emit(d, SQUARE + power - 2, 0.0)
            emit(d, VAR, i)
            emit_hill_denominator(d, s, i, power)
            add(d, i, -constant(s) if chance(s, 0.75) else constant(s), term)
        if chance(s, 0.25):
            add(d, i, signed(s), begin_term(d))
        if chance(s, 0.12):
            term = begin_term(d)
            emit(d, EXP, 0.0)
            emit_scaled(d, -constant(s), i)
            add(d, i, signed(s), term)
        if dimension > 1 and chance(s, 0.7):
            powers[:] = 0
            powers[i] = 1
            powers[other_variable(s, i, dimension)] = 1
            add(d, i, signed(s), monomial(d, powers))


@compiled
def fluxes(d: Assembly, s: Stream, dimension: int) -> None:
    """A few nonlinear terms, each shared by several equations, besides supply and decay."""
    powers = np.zeros(dimension, np.int64)
    for i in range(dimension):
        if chance(s, 0.5):
            add(d, i, signed(s), begin_term(d))
        if chance(s, 0.6):
            add(d, i, -constant(s), variable_term(d, i))
    for _ in range(integer(s, 1, max(1, dimension - 1))):
        if chance(s, 0.6):
            random_powers(s, integer(s, 1, 3), powers)
            term = flux(d, s, powers, dimension)
        else:
            term = nonlinearity(d, s, integer(s, 0, dimension - 1), dimension)
        strength = signed(s)
        first = integer(s, 0, dimension - 1)
        add(d, first, strength, term)
        second = other_variable(s, first, dimension)
        if second != first and chance(s, 0.9):
            kind = uniform(s)
            add(d, second, -strength if kind < 0.45 else (strength if kind < 0.65 else signed(s)), term)
