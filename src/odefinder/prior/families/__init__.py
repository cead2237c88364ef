"""Families of structured systems: classes in which real laws are frequent, with random structure.

None of them lists known systems: which terms occur, between which variables and with which constants,
is drawn.
"""

from __future__ import annotations

from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream
from odefinder.prior.assembly import Assembly, is_full
from odefinder.prior.families.amounts import fluxes, growth, interactions, reactions, regulation
from odefinder.prior.families.flows import linear, neural, polynomials, quadratic
from odefinder.prior.families.motion import mechanics, phases, potentials, waves

TREES, REACTIONS, INTERACTIONS, MECHANICS, POTENTIALS, LINEAR, REGULATION, GROWTH = range(8)
NEURAL, PHASES, POLYNOMIALS, QUADRATIC, FLUXES, WAVES = range(8, 14)
FAMILY_NAMES = (
    "trees", "reactions", "interactions", "mechanics", "potentials", "linear", "regulation", "growth",
    "neural", "phases", "polynomials", "quadratic", "fluxes", "waves",
)  # fmt: skip


@compiled
def draw_family(d: Assembly, s: Stream, family: int, dimension: int) -> bool:
    """Fill an empty assembly with a member of a family; False if it grew too large."""
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
