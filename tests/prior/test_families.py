"""The structured families: every draw is a system, and of the kind its name says."""

import numpy as np
import pytest

from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import ADD, CONST, MUL, VAR, Program, check_system, make_program
from odefinder.numerics.evaluate import evaluate, jacobian
from odefinder.numerics.randomness import seed_stream
from odefinder.prior.assembly import assemble, clear, make_assembly
from odefinder.prior.families import (
    FAMILY_NAMES,
    GROWTH,
    INTERACTIONS,
    MECHANICS,
    NEURAL,
    PHASES,
    POLYNOMIALS,
    POTENTIALS,
    QUADRATIC,
    REACTIONS,
    REGULATION,
    TREES,
    WAVES,
    draw_family,
)
from tests.programs import nested

DRAWS = 200
FAMILIES = [family for family in range(len(FAMILY_NAMES)) if family != TREES]


def draw(family: int, dimension: int, count: int = DRAWS, seed: int = 0) -> list[Program]:
    stream = np.empty(4, np.uint64)
    seed_stream(stream, seed, dimension)
    assemblies = make_assembly()
    ops, values = np.empty(2048, np.int8), np.empty(2048)
    found = []
    for _ in range(count):
        clear(assemblies[0])
        assert draw_family(assemblies[0], stream, family, dimension)
        n = assemble(assemblies[0], dimension, ops, values)
        assert n > 0
        found.append(make_program(ops[:n], values[:n]))  # raises if anything is malformed
    return found


def points(dimension: int, positive: bool = False, count: int = 8) -> np.ndarray:
    x = np.random.default_rng(dimension).normal(0.0, 1.0, (count, dimension))
    return np.abs(x) if positive else x


@pytest.mark.parametrize("dimension", range(1, 7))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: FAMILY_NAMES[family])
def test_every_draw_is_a_system(family: int, dimension: int):
    systems = draw(family, dimension)
    without_form = 0
    for system in systems:
        check_system(system, dimension)
        try:
            canonical(system)
        except ExpressionError:
            without_form += 1
    assert without_form <= 0.02 * DRAWS
    assert len(set(systems)) > 0.8 * DRAWS  # random structure and constants, no list
    assert np.isfinite(evaluate(systems[0], points(dimension, positive=True))).all()


def test_families_are_seeded():
    assert draw(REACTIONS, 3, 20, seed=1) == draw(REACTIONS, 3, 20, seed=1)
    assert draw(REACTIONS, 3, 20, seed=1) != draw(REACTIONS, 3, 20, seed=2)


def operators_of(family: int, dimension: int = 3) -> set[str]:
    return set().union(*(system.operators() for system in draw(family, dimension)))


def test_polynomials_are_polynomials():
    assert operators_of(POLYNOMIALS) <= {"add", "mul", "pow2", "pow3", "pow4", "pow5"}
    assert operators_of(QUADRATIC) <= {"add", "mul", "pow2"}


def test_quadratic_flows_have_no_third_derivative():
    for system in draw(QUADRATIC, 3, 50):
        # A quadratic function is exactly its central second-order expansion.
        x, step = points(3, count=1)[0], np.array([0.7, -0.4, 0.3])
        line = evaluate(system, x + np.outer(np.arange(4.0), step))
        third = line[3] - 3 * line[2] + 3 * line[1] - line[0]
        assert np.abs(third).max() < 1e-9 * (1.0 + np.abs(line).max())


def signs_at_zero(system: Program, dimension: int) -> list[float]:
    """Each variable's derivative where it is 0 and the others are positive: amounts never turn negative."""
    x = points(dimension, positive=True, count=dimension)
    np.fill_diagonal(x, 0.0)
    return [evaluate(system, x)[i, i] for i in range(dimension)]


@pytest.mark.parametrize("dimension", [2, 4])
def test_amounts_of_reactions_stay_positive(dimension: int):
    # A reactant that is used up stops its reaction.
    for system in draw(REACTIONS, dimension):
        assert min(signs_at_zero(system, dimension)) >= 0.0


def test_regulated_amounts_stay_positive():
    for system in draw(REGULATION, 3):
        assert min(signs_at_zero(system, 3)) >= 0.0


def test_reactions_share_fluxes():
    """One flux appears in two equations, in most systems."""

    def fluxes(program: Program) -> set:
        found, todo = set(), [nested(program)]
        while todo:
            op, _, children = tree = todo.pop()
            if op == ADD:
                todo.extend(children)
            elif op == MUL and children[0][0] == CONST and children[1][0] != VAR:
                found.add(children[1])
            else:
                found.add(tree)
        return found

    shared = 0
    for system in draw(REACTIONS, 3):
        first, second, third = (fluxes(component) for component in system.components())
        shared += bool(first & second or first & third or second & third)
    assert shared > 0.7 * DRAWS


def test_interacting_populations_do_not_come_from_nothing():
    # But for a rare constant supply, an equation of population x has the factor x.
    zero = [abs(min(signs_at_zero(system, 2))) == 0.0 for system in draw(INTERACTIONS, 2)]
    assert np.mean(zero) > 0.75


@pytest.mark.parametrize("dimension", [2, 4, 6])
def test_mechanics_is_of_second_order(dimension: int):
    unit = 0
    for system in draw(MECHANICS, dimension):
        factors = []
        for component in system.components():
            tree = nested(component)
            if tree[0] == MUL and tree[2][0][0] == CONST and tree[2][1][0] == VAR:  # x' = c v
                factors.append(tree[2][0][1])
        assert len(factors) >= dimension // 2
        unit += 1.0 in factors
    assert unit > 0.8 * DRAWS


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_potentials_are_gradient_or_hamiltonian(dimension: int):
    """A gradient flow has a symmetric Jacobian; a Hamiltonian one J = S H with H symmetric: no divergence."""
    rotation = np.zeros((dimension, dimension))
    for i in range(0, dimension - 1, 2):
        rotation[i, i + 1], rotation[i + 1, i] = 1.0, -1.0
    hamiltonian = 0
    for system in draw(POTENTIALS, dimension):
        slopes = [jacobian(system, x) for x in points(dimension, count=3)]
        size = 1.0 + max(np.abs(slope).max() for slope in slopes)
        symmetric = all(np.abs(slope - slope.T).max() < 1e-9 * size for slope in slopes)
        if not symmetric:
            assert dimension % 2 == 0
            for slope in slopes:
                assert abs(np.trace(slope)) < 1e-9 * size
                hessian = np.linalg.solve(rotation, slope)
                assert np.abs(hessian - hessian.T).max() < 1e-9 * size
            hamiltonian += 1
    assert hamiltonian > 0.3 * DRAWS if dimension % 2 == 0 else hamiltonian == 0


def test_phases_depend_on_differences_and_sines():
    assert operators_of(PHASES) == {"add", "mul", "sin"}
    assert operators_of(WAVES) <= {"add", "mul", "sin", "cos", "inv", "pow2"}
    turns = 2 * np.pi * np.array([1.0, 0.0, -1.0])
    for system in draw(PHASES, 3, 50):
        x = points(3)
        np.testing.assert_allclose(evaluate(system, x + turns), evaluate(system, x), atol=1e-9)


def test_networks_of_sigmoids_are_bounded():
    """x' + decay x is bounded: x' / x tends to constants for large x."""
    assert operators_of(NEURAL) <= {"add", "mul", "tanh", "inv", "exp"}
    for system in draw(NEURAL, 2, 50):
        far, farther = (evaluate(system, np.array([[1.0, 1.0]]) * size)[0] for size in (1e6, 2e6))
        np.testing.assert_allclose(farther, 2 * far, atol=500.0)


def test_growth_in_one_dimension_has_familiar_laws():
    assert {"add", "mul", "pow2", "pow3", "log", "pow", "inv", "exp"} <= operators_of(GROWTH, 1)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: FAMILY_NAMES[family])
def test_exact_ones_are_frequent(family: int):
    constants = np.concatenate([system.constants for system in draw(family, 3)])
    assert (np.abs(constants) == 1.0).mean() > 0.15
