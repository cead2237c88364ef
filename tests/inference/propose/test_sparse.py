"""Sparse proposals: the equations of known systems are among them, each with its constants."""

import numpy as np
import pytest

from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.data.units import fit_scaling
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.program import Program, check_system
from odefinder.inference.choose.criterion import best_fit
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.sparse import combinations, propose
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

VARIABLES = ["x", "y", "z"]
SYSTEMS = {
    "logistic growth": (["0.8*x - 0.5*x^2"], [0.1]),
    "saturation": (["1.3 - 2.1*x/(0.6 + x)"], [0.05]),
    "pendulum": (["y", "-1.7*sin(x) - 0.2*y"], [2.5, 0.0]),
    "angle that winds": (["1.5 - 0.5*x - 0.6*sin(y)", "x + 0.8*cos(y)/x"], [4.0, 0.0]),
    "Lotka-Volterra": (["1.1*x - 0.8*x*y", "-0.9*y + 0.6*x*y"], [2.0, 1.0]),
    "Lorenz": (["10*y - 10*x", "28*x - x*z - y", "x*y - 2.7*z"], [1.0, 2.0, 20.0]),
}


def observe(
    name: str, *, sigma: float = 0.0, points: int = 150, duration: float = 10.0
) -> tuple[Observations, Program]:
    """Canonical units, and the truth in them."""
    equations, start = SYSTEMS[name]
    truth = ODESystem.from_text(equations, variables=VARIABLES[: len(start)]).program
    t = np.linspace(0.0, duration, points)
    states, status = integrate(truth, start, t, rtol=1e-10, atol=1e-12)
    assert status == 0
    t, states = corrupt(t, states, sigma=sigma)
    scaling = fit_scaling([t], [states])
    data = Observations(scaling.times(t), scaling.states(states), np.array([0, len(t)]))
    return data, scaling.to_scaled(truth)


@pytest.mark.parametrize("name", SYSTEMS)
def test_true_equations_are_the_best_proposals(name: str) -> None:
    data, truth = observe(name, duration=4.0 if name == "Lorenz" else 10.0)
    fronts = propose(data, estimate_states(data))
    for front, component in zip(fronts, truth.components(), strict=True):
        keys = [skeleton(fit.program) for fit in front]
        assert skeleton(component) in keys[:3]
        assert len(set(keys)) == len(keys)
        scores = [fit.score for fit in front]
        assert scores == sorted(scores)
    # Fitted on the trajectory, the best combination is the system itself.
    fits = [fit_constants(program, data) for program in combinations(fronts, 5)]
    best = best_fit(fits, data)
    assert best is not None
    assert best.error < 1e-6


def test_noise() -> None:
    data, truth = observe("Lotka-Volterra", sigma=0.05)
    estimate = estimate_states(data)
    fronts = propose(data, estimate)
    for front, component in zip(fronts, truth.components(), strict=True):
        assert skeleton(component) in [skeleton(fit.program) for fit in front]
        assert front[0].error < 3.0 * (estimate.noise / data.scale).max() ** 2


def test_combinations_are_systems_in_the_order_of_their_scores() -> None:
    data, _ = observe("pendulum")
    fronts = propose(data, estimate_states(data))
    systems = combinations(fronts, 7)
    assert len(systems) == 7
    for program in systems:
        check_system(program, 2)
    assert len(set(systems)) == 7
    first = fronts[0][0].program, fronts[1][0].program
    assert tuple(systems[0].components()) == first


def test_several_trajectories_and_missing_entries() -> None:
    truth = ODESystem.from_text(["0.8*x - 0.6*x*y", "-0.5*y + 0.7*x*y"], variables=["x", "y"]).program
    times = [np.linspace(1.0, 10.0, 60), np.linspace(1.0, 7.0, 40)]
    parts = [integrate(truth, start, t)[0] for start, t in zip(([0.9, 0.4], [0.3, 0.8]), times, strict=True)]
    states = np.concatenate(parts)
    states[3::5, 0], states[4::7, 1] = np.nan, np.nan
    data = Observations(np.concatenate(times), states, np.array([0, 60, 100]))
    fronts = propose(data, estimate_states(data))
    for front, component in zip(fronts, truth.components(), strict=True):
        assert skeleton(component) in [skeleton(fit.program) for fit in front[:3]]


@pytest.mark.parametrize("points", [2, 3, 6])
def test_few_points_still_give_proposals(points: int) -> None:
    t = np.linspace(1.0, 10.0, points)
    data = Observations(t, np.exp(-0.2 * t)[:, None], np.array([0, points]))
    fronts = propose(data, estimate_states(data))
    assert len(fronts[0]) >= 1
    assert np.isfinite(fronts[0][0].error)


def test_variables_that_stand_still() -> None:
    t = np.linspace(1.0, 10.0, 50)
    data = Observations(
        t, np.stack([np.full(50, 0.5), np.exp(-0.2 * t), np.zeros(50)], axis=1), np.array([0, 50])
    )
    fronts = propose(data, estimate_states(data))
    assert all(len(front) >= 1 for front in fronts)
    assert fronts[0][0].error < 1e-12


def test_a_variable_that_is_never_seen_stands_still() -> None:
    t = np.linspace(1.0, 10.0, 50)
    data = Observations(t, np.stack([np.sin(t), np.full(50, np.nan)], axis=1), np.array([0, 50]))
    fronts = propose(data, estimate_states(data))
    np.testing.assert_array_equal(fronts[1][0].program.constants, [0.0])


@pytest.mark.parametrize("dimension", [7, 12])
def test_more_variables_than_six(dimension: int) -> None:
    """A chain x_k' = x_(k+1) - x_k: the linear equations are found."""
    equations = [f"x{(k + 1) % dimension} - x{k}" for k in range(dimension)]
    truth = ODESystem.from_text(equations, variables=[f"x{k}" for k in range(dimension)]).program
    t = np.linspace(1.0, 10.0, 100)
    states, _ = integrate(truth, np.random.default_rng(0).uniform(-1.0, 1.0, dimension), t)
    data = Observations(t, states, np.array([0, 100]))
    fronts = propose(data, estimate_states(data))
    assert max(front[0].error for front in fronts) < 1e-4
