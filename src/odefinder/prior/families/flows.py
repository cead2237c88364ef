"""Plain flows: linear and polynomial systems, and networks of sigmoids.

Each function adds a random member of its class to an empty assembly (compiled).
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, chance, integer
from odefinder.prior.assembly import Assembly, add, begin_term, monomial, variable_term
from odefinder.prior.features import constant, nonlinearity, other_variable, random_powers, sigmoid, signed


@compiled
def linear(d: Assembly, s: Stream, dimension: int) -> None:
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
def neural(d: Assembly, s: Stream, dimension: int) -> None:
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
def polynomials(d: Assembly, s: Stream, dimension: int) -> None:
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
def quadratic(d: Assembly, s: Stream, dimension: int) -> None:
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
