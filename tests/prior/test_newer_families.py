"""Processes, networks, bodies and devices: what their names promise."""

from itertools import permutations

import numpy as np
import pytest

from odefinder.expressions.program import ARITY, CONST, MUL, VAR, Program
from odefinder.numerics.evaluate import evaluate, jacobian
from odefinder.numerics.randomness import seed_stream
from odefinder.prior.assembly import add, assemble, clear, make_assembly, shuffle, tie, variable_term
from odefinder.prior.families import COMPARTMENTS, CONTROL, LAGRANGIAN, PLANE, PROCESSES, ROTATORS, UNITS
from odefinder.prior.presets import DEFAULT, PAPER, PLAIN
from tests.prior.test_families import DRAWS, draw, points


def test_processes_share_their_rates():
    """Some rate of one equation is, but for its factor, a rate of another one."""
    shared = 0
    for system in draw(PROCESSES, 3):
        parts = [set(_terms(component)) for component in system.components()]
        shared += bool(parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert shared > 0.7 * DRAWS


def _terms(component: Program) -> list[tuple]:
    """The nonlinear or linear terms without their coefficients, as they were assembled."""
    found, start, ops, values = [], 0, component.ops, component.values
    for i in range(len(ops)):
        if ops[i] == MUL and i + 1 < len(ops) and ops[i + 1] == CONST:
            start = i + 2
            end = _end(component, start)
            found.append((tuple(ops[start:end]), tuple(values[start:end])))
    return found


def _end(program: Program, start: int) -> int:
    left, i = 1, start
    while left > 0:
        left += int(ARITY[program.ops[i]]) - 1
        i += 1
    return i


def test_what_leaves_a_compartment_arrives_in_another():
    """Without supply nothing comes from nothing: the sum of all amounts never grows."""
    for system in draw(COMPARTMENTS, 3):
        supply = evaluate(system, np.zeros((1, 3))).sum()
        rates = evaluate(system, points(3, positive=True)).sum(axis=1)
        assert (rates <= supply + 1e-9 * (1.0 + np.abs(rates))).all()


def test_units_are_alike():
    """Some exchange of two variables (or pairs) leaves the system the same, in most systems."""
    alike = 0
    for system in draw(UNITS, 3):
        x = points(3)
        here = evaluate(system, x)
        for order in permutations(range(3)):
            if order != (0, 1, 2):
                moved = evaluate(system, x[:, order])
                if np.allclose(moved, here[:, order], atol=1e-9, equal_nan=True):
                    alike += 1
                    break
    assert alike > 0.5 * DRAWS


def test_rotators_know_differences_of_angles():
    """Where no angle is pinned, turning all of them changes nothing."""
    free = 0
    for system in draw(ROTATORS, 3):
        x = points(3)
        free += np.allclose(evaluate(system, x), evaluate(system, x + 0.7))
    assert 0.5 * DRAWS < free < 0.95 * DRAWS


@pytest.mark.parametrize("family", [LAGRANGIAN, PLANE])
def test_positions_follow_velocities(family: int):
    for system in draw(family, 4):
        slopes = jacobian(system, points(4, positive=True)[0])  # (4, 4)
        plain = [(row != 0).sum() == 1 and row.max() == 1.0 for row in slopes]
        assert sum(plain) >= 2


def test_controllers_integrate_an_error():
    """In most systems of two variables and more one equation is linear in a single variable."""
    integrating = 0
    for system in draw(CONTROL, 3):
        lines = [component for component in system.components() if (component.ops == VAR).sum() == 1]
        integrating += len(lines) > 0
    assert integrating > 0.5 * DRAWS


def test_shuffled_variables_are_the_same_system():
    stream, parts = np.empty(4, np.uint64), make_assembly()
    seed_stream(stream, 3, 0)
    ops, values = np.empty(64, np.int8), np.empty(64)
    seen = set()
    for _ in range(40):
        clear(parts[0])
        for i in range(3):
            add(parts[0], i, float(i + 1), variable_term(parts[0], i))
        shuffle(parts[0], stream, 3)
        n = assemble(parts[0], 3, ops, values)
        system = Program(ops[:n].copy(), values[:n].copy())
        rates = np.diag(jacobian(system, np.ones(3)))
        assert sorted(rates) == [1.0, 2.0, 3.0]
        seen.add(tuple(rates))
    assert len(seen) == 6


def test_ties_make_constants_equal_and_keep_signs():
    stream, parts = np.empty(4, np.uint64), make_assembly()
    seed_stream(stream, 5, 0)
    sizes = np.array([0.3, -0.7, 1.9, -2.3])
    tied = 0
    for _ in range(50):
        clear(parts[0])
        for i, size in enumerate(sizes):
            add(parts[0], i, size, variable_term(parts[0], i))
        tie(parts[0], stream, 0.25)
        now = parts[0]["coefficient"][:4]
        assert (np.sign(now) == np.sign(sizes)).all()
        assert set(np.abs(now)) <= {1.0, *np.abs(sizes)}
        tied += len(set(np.abs(now))) < 4 or 1.0 in np.abs(now)
    assert 15 < tied < 45


def test_older_presets_know_only_older_families():
    assert not PAPER.family_weights[PROCESSES:].any()
    assert not PLAIN.family_weights[PROCESSES:].any()
    assert (DEFAULT.family_weights > 0.0).all()
    assert DEFAULT.family_weights[0] / DEFAULT.family_weights.sum() < 0.09
