"""Data as they are fitted."""

import numpy as np

from odefinder.data import from_arrays
from odefinder.data.thinning import MOST_TRAJECTORIES
from odefinder.inference.prepared import prepared


def test_constants_that_vary_are_those_of_the_trajectories_that_were_fitted() -> None:
    t = np.linspace(0.0, 1.0, 6)
    rates = np.linspace(0.5, 2.0, MOST_TRAJECTORIES + 100)
    ready = prepared(from_arrays([np.exp(-k * t) for k in rates], [t] * len(rates)))
    assert len(ready.chosen) == MOST_TRAJECTORIES
    data = ready.varied({"k": tuple(rates.tolist())}, ["k"]).data
    assert [one.before[0, 0] for one in data.signals] == rates[ready.chosen].tolist()
