"""The constants of a system: which of them data can tell, and where they stand in canonical units.

A system is written in the user's units, and trajectories are fitted in canonical ones.  The change of units
only multiplies constants and adds others, so every constant keeps a place in the changed program.  There it
becomes a product of its value and a factor of 1, and these factors are the parameters: constants relative to
their values, so that numbers of any size are alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Ints, Observations
from odefinder.data.units import Scaling, in_units
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, MUL, Program
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import given_constants

NUDGE = 1.25  # a factor by which a constant is moved to see whether the canonical form moves it back
ROUNDING_ERROR = 1e-13  # relative
SIMPLE_DIGITS = 4  # a number with at most this many was rounded: no fit ends there by chance


@dataclass(frozen=True)
class Constants:
    """The constants of a system, in the order of its program in explicit form."""

    program: Program  # in the user's units; factors of 1 are written out
    written: Bools  # (C,): whether they appear in the system as it is printed
    free: Bools  # (C,): whether they can be fitted; the form or the user gave the others
    scaled: Program  # the same system in canonical units, with all factors
    places: Ints  # (C,): which constants of `scaled` are the factors of 1, in their order

    @property
    def units(self) -> Floats:
        """(C,): what 1 is in `scaled`."""
        return self.values

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest values (C,): anything."""
        none = np.full(len(self.values), np.inf)
        return -none, none

    @property
    def values(self) -> Floats:
        """In the user's units."""
        return self.program.constants

    @property
    def held(self) -> Bools:
        """Which constants of `scaled` are never fitted."""
        held = np.ones(len(self.scaled.constants), np.bool_)
        held[self.places] = ~self.free
        return held

    @property
    def rounded(self) -> Bools:
        """Which of them were rounded to simple numbers."""
        return self.free & simple_numbers(self.values)

    def in_users_units(self, scaled: Floats) -> Floats:
        """Own constants (..., C) from those of `scaled` (..., all of them)."""
        return np.asarray(scaled[..., self.places] * self.values)


def simple_numbers(values: Floats) -> Bools:
    """Which of the numbers have few digits."""
    shorter = np.array([float(f"{value:.{SIMPLE_DIGITS}g}") for value in values.tolist()])
    return np.asarray(np.abs(shorter - values) <= ROUNDING_ERROR * np.abs(values))


def constants_of(program: Program, scaling: Scaling, data: Observations) -> Constants:
    """The constants of a system in the user's units; data: what it is fitted to, in canonical units."""
    explicit, written = explicit_form(program)
    scaled, places = _in_canonical_units(explicit, scaling)
    free = ~pinned_constants(explicit) & ~given_constants(explicit, data) & (explicit.constants != 0.0)
    return Constants(explicit, written, free, scaled, places)


def explicit_form(program: Program) -> tuple[Program, Bools]:
    """The program with factors of 1 written out, and which of its constants were there before.

    A program that is not in canonical form stays as it is.
    """
    as_it_is = program, np.ones(len(program.constants), np.bool_)
    try:
        explicit = canonical(program, explicit=True)
    except ExpressionError:
        return as_it_is
    ops, values = explicit.ops, explicit.values
    ones = np.flatnonzero((ops[1:] == CONST) & (ops[:-1] == MUL) & (np.abs(values[1:] - 1.0) <= 1e-14)) + 1
    kept = np.ones(len(ops), np.bool_)
    kept[ones] = kept[ones - 1] = False
    if not np.array_equal(ops[kept], program.ops):
        return as_it_is
    return explicit, kept[ops == CONST]


def pinned_constants(explicit: Program) -> Bools:
    """Which constants the canonical form pins to 1 or -1, as in 1/(1 + a x): fitting them is of no use.

    In another form, such as -1*(2*x), all that are 1 or -1 are taken for part of the notation.
    """
    constants = explicit.constants
    pinned = np.zeros(len(constants), np.bool_)
    for k in np.flatnonzero(np.abs(constants) == 1.0).tolist():
        moved = constants.copy()
        moved[k] *= NUDGE
        try:
            again = canonical(explicit.with_constants(moved), explicit=True)
        except ExpressionError:
            continue
        pinned[k] = not np.array_equal(again.ops, explicit.ops) or again.constants[k] == constants[k]
    return pinned


def _in_canonical_units(explicit: Program, scaling: Scaling) -> tuple[Program, Ints]:
    """The program with a factor of 1 at each constant, and the places of these among all constants."""
    marks = np.arange(2.0, len(explicit.constants) + 2.0)  # a change to the same units adds only factors of 1
    own = in_units(explicit.with_constants(marks), np.ones(len(scaling.factors)), 1.0).values >= 2.0
    scaled = in_units(explicit, scaling.factors, scaling.rate)
    own &= scaled.ops == CONST
    repeats = np.where(own, 3, 1)
    ops, values = np.repeat(scaled.ops, repeats), np.repeat(scaled.values, repeats)
    last = np.cumsum(repeats)[own] - 1  # a constant becomes mul, 1, constant
    ops[last - 2], values[last - 2], values[last - 1] = MUL, 0.0, 1.0
    factor = np.zeros(len(ops), np.bool_)
    factor[last - 1] = True
    return Program(ops, values), np.flatnonzero(factor[ops == CONST])
