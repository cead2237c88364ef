"""Families of structured systems: classes in which real laws are frequent, with random structure.

Each function adds a random member of its class to an empty draft.  None of them lists known systems:
which terms occur, between which variables and with which constants, is drawn.
"""

from __future__ import annotations

import numpy as np

from odefinder.compiled import compiled
from odefinder.prior.draft import (
    Draft,
    add,
    begin_term,
    emit,
    emit_scaled,
    has_part,
    is_full,
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
    sigmoid,
    signed,
    wave,
)
from odefinder.program import ABS, ADD, COS, CUBE, EXP, LOG, MUL, POW, SIN, SQUARE, VAR
from odefinder.randomness import Stream, chance, integer, uniform

TREES, REACTIONS, INTERACTIONS, MECHANICS, POTENTIALS, LINEAR, REGULATION, GROWTH = range(8)
NEURAL, PHASES, POLYNOMIALS, QUADRATIC, FLUXES, WAVES = range(8, 14)
FAMILY_NAMES = (
    "trees", "reactions", "interactions", "mechanics", "potentials", "linear", "regulation", "growth",
    "neural", "phases", "polynomials", "quadratic", "fluxes", "waves",
)  # fmt: skip
POSITIVE = (REACTIONS, INTERACTIONS, REGULATION, GROWTH)  # families whose variables are amounts


@compiled
def reactions(d: Draft, s: Stream, dimension: int) -> None:
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
def interactions(d: Draft, s: Stream, dimension: int) -> None:
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
            if not chance(s, density) and not (dimension == 2):
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
def _restoring_force(d: Draft, s: Stream, x: int, v: int) -> None:
    """Force of position alone, added to the equation of the velocity v."""
    kind = uniform(s)
    if kind < 0.45:
        add(d, v, -constant(s), variable_term(d, x))
    elif kind < 0.75:
        term = begin_term(d)
        emit(d, SIN, 0.0)
        emit(d, VAR, x)
        add(d, v, -constant(s), term)
        if chance(s, 0.2):
            term = begin_term(d)
            emit(d, MUL, 0.0)
            emit(d, SIN, 0.0)
            emit(d, VAR, x)
            emit(d, COS, 0.0)
            emit(d, VAR, x)
            add(d, v, signed(s), term)
        return
    if kind > 0.75 or chance(s, 0.25):
        if kind > 0.75 and chance(s, 0.7):
            add(d, v, signed(s), variable_term(d, x))
        term = begin_term(d)
        emit(d, CUBE if chance(s, 0.7) else SQUARE, 0.0)
        emit(d, VAR, x)
        add(d, v, -constant(s), term)


@compiled
def _damping(d: Draft, s: Stream, x: int, v: int) -> None:
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
        emit(d, ABS, 0.0)
        emit(d, VAR, v)
        add(d, v, -constant(s), term)
        return
    if kind < 0.9:
        emit(d, CUBE, 0.0)
        emit(d, VAR, v)
        add(d, v, -constant(s), term)
        return
    emit(d, MUL, 0.0)
    emit(d, VAR, v)
    emit(d, SQUARE if chance(s, 0.7) else COS, 0.0)
    emit(d, VAR, x)
    strength = constant(s)
    add(d, v, -strength, term)
    if chance(s, 0.8):
        add(d, v, strength if chance(s, 0.6) else signed(s), variable_term(d, v))


@compiled
def mechanics(d: Draft, s: Stream, dimension: int) -> None:
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
                emit(d, ADD, 0.0)
                emit(d, VAR, y)
                emit_scaled(d, -1.0, x)
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
def potentials(d: Draft, s: Stream, dimension: int) -> None:
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
                emit(d, ADD, 0.0)
                emit(d, VAR, lead)
                emit_scaled(d, -1.0, other)
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
def _add_slope(d: Draft, i: int, coefficient: float, term: int, hamiltonian: bool) -> None:
    """dV/dx_i where it belongs: its own equation, or with the right sign that of its partner."""
    if not hamiltonian:
        add(d, i, coefficient, term)
    elif i % 2 == 0:
        add(d, i + 1, -coefficient, term)
    else:
        add(d, i - 1, coefficient, term)


@compiled
def linear(d: Draft, s: Stream, dimension: int) -> None:
    """A sparse linear system with a few nonlinear terms."""
    density = min(1.0, 1.8 / dimension)
    for i in range(dimension):
        if chance(s, 0.7):
            add(d, i, -constant(s) if chance(s, 0.8) else constant(s), variable_term(d, i))
        for j in range(dimension):
            if j != i and chance(s, density):
                add(d, i, signed(s), variable_term(d, j))
        if chance(s, 0.25):
            add(d, i, signed(s), begin_term(d))
    powers = np.zeros(dimension, np.int64)
    for _ in range(integer(s, 0, dimension)):
        i = integer(s, 0, dimension - 1)
        if chance(s, 0.5):
            random_powers(s, integer(s, 2, 3), powers)
            add(d, i, signed(s), monomial(d, powers))
        else:
            add(d, i, signed(s), nonlinearity(d, s, integer(s, 0, dimension - 1), dimension))


@compiled
def regulation(d: Draft, s: Stream, dimension: int) -> None:
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
def growth(d: Draft, s: Stream, dimension: int) -> None:
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
                emit(d, LOG, 0.0)
                emit(d, VAR, i)
            else:
                emit(d, POW, 0.0)
                emit(d, VAR, i)
                emit(d, 0, 0.1 * integer(s, 2, 25))
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
def neural(d: Draft, s: Stream, dimension: int) -> None:
    """Rate networks: decay against sigmoids of affine forms; some variables only follow another."""
    for i in range(dimension):
        decay = 1.0 if chance(s, 0.5) else constant(s)
        add(d, i, -decay, variable_term(d, i))
        if dimension > 1 and chance(s, 0.25):
            add(d, i, decay, variable_term(d, other_variable(s, i, dimension)))
            continue
        for _ in range(1 if chance(s, 0.75) else 2):
            source = other_variable(s, i, dimension) if chance(s, 0.75) else i
            add(d, i, constant(s) if chance(s, 0.8) else -constant(s), sigmoid(d, s, source, dimension))
        if chance(s, 0.25):
            add(d, i, signed(s), begin_term(d))


@compiled
def phases(d: Draft, s: Stream, dimension: int) -> None:
    """Coupled oscillators: a frequency and sines of differences."""
    common = constant(s)
    alike = chance(s, 0.5)
    for i in range(dimension):
        if chance(s, 0.8):
            add(d, i, signed(s), begin_term(d))
        if dimension == 1 or chance(s, 0.3):
            term = begin_term(d)
            emit(d, SIN, 0.0)
            emit(d, VAR, i)
            add(d, i, -constant(s), term)
        for j in range(dimension):
            if j != i and chance(s, min(1.0, 2.2 / dimension)):
                term = begin_term(d)
                emit(d, SIN, 0.0)
                emit(d, ADD, 0.0)
                emit(d, VAR, j)
                emit_scaled(d, -1.0, i)
                add(d, i, common if alike else signed(s), term)


@compiled
def polynomials(d: Draft, s: Stream, dimension: int) -> None:
    """Sparse polynomials, mostly of low degree."""
    powers = np.zeros(dimension, np.int64)
    for i in range(dimension):
        for _ in range(integer(s, 1, 4)):
            degree = (0, 1, 1, 1, 2, 2, 3, 3, 4, 5)[integer(s, 0, 9)]
            random_powers(s, degree, powers)
            if chance(s, 0.5) and degree > 0:
                powers[powers.argmax()] -= 1
                powers[i] += 1
            # Odd powers of a variable mostly hold it back in its own equation.
            held = powers[i] % 2 == 1 and powers[i] >= 3
            add(d, i, -constant(s) if held and chance(s, 0.9) else signed(s), monomial(d, powers))


@compiled
def quadratic(d: Draft, s: Stream, dimension: int) -> None:
    """Sparse linear flows with one or two products of variables: the home of chaos."""
    powers = np.zeros(dimension, np.int64)
    for i in range(dimension):
        if chance(s, 0.75):
            add(d, i, -constant(s) if chance(s, 0.75) else constant(s), variable_term(d, i))
        if dimension > 1 and chance(s, 0.75):
            add(d, i, signed(s), variable_term(d, other_variable(s, i, dimension)))
        if chance(s, 0.15):
            add(d, i, signed(s), begin_term(d))
        if chance(s, 0.7):
            random_powers(s, 2, powers)
            if dimension > 1 and powers.max() == 2 and chance(s, 0.6):
                first = int(powers.argmax())
                powers[first] = 1
                powers[other_variable(s, first, dimension)] = 1
            term = monomial(d, powers)
            strength = signed(s)
            add(d, i, strength, term)
            if chance(s, 0.3):
                j = other_variable(s, i, dimension)
                random_powers(s, 2, powers)
                add(d, j, -strength, monomial(d, powers))


@compiled
def fluxes(d: Draft, s: Stream, dimension: int) -> None:
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


@compiled
def waves(d: Draft, s: Stream, dimension: int) -> None:
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
            term = begin_term(d)
            emit(d, SQUARE, 0.0)
            emit(d, VAR, integer(s, 0, dimension - 1))
            add(d, i, -constant(s), term)


@compiled
def draw_family(d: Draft, s: Stream, family: int, dimension: int) -> bool:
    """Fill an empty draft with a member of a family; False if it grew too large."""
    if family == REACTIONS:
        reactions(d, s, dimension)
    elif family == INTERACTIONS:
        interactions(d, s, dimension)
    elif family == MECHANICS:
        mechanics(d, s, dimension)
    elif family == POTENTIALS:
        potentials(d, s, dimension)
    elif family == LINEAR:
        linear(d, s, dimension)
    elif family == REGULATION:
        regulation(d, s, dimension)
    elif family == GROWTH:
        growth(d, s, dimension)
    elif family == NEURAL:
        neural(d, s, dimension)
    elif family == PHASES:
        phases(d, s, dimension)
    elif family == POLYNOMIALS:
        polynomials(d, s, dimension)
    elif family == QUADRATIC:
        quadratic(d, s, dimension)
    elif family == FLUXES:
        fluxes(d, s, dimension)
    else:
        waves(d, s, dimension)
    return not is_full(d)
