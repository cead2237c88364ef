"""Families of structured systems: classes in which real laws are frequent, with random structure.

None of them lists known systems: which terms occur, between which variables and with which constants,
is drawn.
"""

from __future__ import annotations

from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, chance
from odefinder.prior.assembly import Assembly, is_full, shuffle
from odefinder.prior.families.amounts import fluxes, growth, interactions, reactions, regulation
from odefinder.prior.families.bodies import plane
from odefinder.prior.families.devices import circuits, control, gates
from odefinder.prior.families.flows import linear, neural, polynomials, quadratic
from odefinder.prior.families.lagrangians import lagrangian
from odefinder.prior.families.motion import mechanics, phases, potentials, waves
from odefinder.prior.families.networks import rotators, units
from odefinder.prior.families.processes import balances, compartments, processes

TREES, REACTIONS, INTERACTIONS, MECHANICS, POTENTIALS, LINEAR, REGULATION, GROWTH = range(8)
NEURAL, PHASES, POLYNOMIALS, QUADRATIC, FLUXES, WAVES = range(8, 14)
PROCESSES, COMPARTMENTS, BALANCES, UNITS, ROTATORS, PLANE, LAGRANGIAN, CIRCUITS, CONTROL, GATES = range(
    14, 24
)
FAMILY_NAMES = (
    "trees", "reactions", "interactions", "mechanics", "potentials", "linear", "regulation", "growth",
    "neural", "phases", "polynomials", "quadratic", "fluxes", "waves",
    "processes", "compartments", "balances", "units", "rotators", "plane", "lagrangian", "circuits",
    "control", "gates",
)  # fmt: skip
SHUFFLED = 0.3  # share of the newer families' systems whose variables come in any order


@compiled
def draw_family(d: Assembly, s: Stream, family: int, dimension: int) -> bool:
    """Fill an empty assembly with a member of a family; False if it grew too large."""
    if family >= PROCESSES:
        _draw_newer(d, s, family, dimension)
        if chance(s, SHUFFLED):
            shuffle(d, s, dimension)
    elif family == REACTIONS:
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


@compiled
def _draw_newer(d: Assembly, s: Stream, family: int, dimension: int) -> None:
    if family == PROCESSES:
        processes(d, s, dimension)
    elif family == COMPARTMENTS:
        compartments(d, s, dimension)
    elif family == BALANCES:
        balances(d, s, dimension)
    elif family == UNITS:
        units(d, s, dimension)
    elif family == ROTATORS:
        rotators(d, s, dimension)
    elif family == PLANE:
        plane(d, s, dimension)
    elif family == LAGRANGIAN:
        lagrangian(d, s, dimension)
    elif family == CIRCUITS:
        circuits(d, s, dimension)
    elif family == CONTROL:
        control(d, s, dimension)
    else:
        gates(d, s, dimension)
