"""Where the trajectories of a known system begin, according to data."""

from __future__ import annotations

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.roles import Role
from odefinder.expressions.canonical import canonical
from odefinder.inference.fit.horizon import fit_growing
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.states import estimate_states
from odefinder.system import ODESystem

FACTORS = (1.0, 0.3, 3.0, -1.0)  # of the values near which hidden states are looked for


def starts_of(system: ODESystem, dataset: Dataset, near: Floats | None = None) -> Floats:
    """Initial values (trajectories, D): the first values, smoothed; those that nobody measured are fitted.

    near (D,): typical values, around which those of hidden states are looked for.
    """
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    starts = estimate_states(data).starts
    if data.unseen.any():
        program = canonical(scaling.to_scaled(system.program), explicit=True)
        held = np.ones(len(program.constants), np.bool_)
        guesses = [starts]
        hidden = [role == Role.HIDDEN for role in dataset.roles]
        if near is not None and any(hidden):
            typical = scaling.states(near)
            guesses += [np.where(hidden, factor * typical, starts) for factor in FACTORS]
        fits = [fit_constants(program, data, starts=guess, fixed=held) for guess in guesses]
        if any(hidden):  # over a long record there are many local minima, and systems that run off
            fits = [*(fit_growing(program, data, starts=guess, fixed=held) for guess in guesses), *fits]
        starts = min(fits, key=lambda fit: fit.error).starts
    return scaling.original_states(starts)
