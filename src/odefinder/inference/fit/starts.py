"""Where the trajectories of a known system begin, according to data."""

from __future__ import annotations

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.expressions.canonical import canonical
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.states import estimate_states
from odefinder.system import ODESystem


def starts_of(system: ODESystem, dataset: Dataset) -> Floats:
    """Initial values (trajectories, D): the first values, smoothed; those that nobody measured are fitted."""
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    starts = estimate_states(data).starts
    if data.unseen.any():
        program = canonical(scaling.to_scaled(system.program), explicit=True)
        held = np.ones(len(program.constants), np.bool_)
        starts = fit_constants(program, data, starts=starts, fixed=held).starts
    return scaling.original_states(starts)
