"""Trajectories with known equations, for the tests of the baselines."""

from __future__ import annotations

import numpy as np

from odefinder import ODESystem


def simulated(equations: str, x0: list[float], points: int = 60, until: float = 6.0):
    """Times and states of a system, and the system."""
    system = ODESystem.from_text(equations)
    t = np.linspace(0.0, until, points)
    return t, system.simulate(x0, t), system


def logistic(points: int = 60):
    """Growth up to a limit."""
    return simulated("x' = 1.5*x - 0.5*x^2", [0.2], points)


def oscillator(points: int = 60):
    """A damped oscillation."""
    return simulated("x' = y; y' = -2*x - 0.2*y", [1.0, 0.5], points)
