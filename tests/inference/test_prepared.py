"""Data as they are fitted."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.data.thinning import MOST_TRAJECTORIES
from odefinder.inference import prepared as preparing
from odefinder.inference.prepared import prepared
from odefinder.limits.deadline import Deadline


def test_constants_that_vary_are_those_of_the_trajectories_that_were_fitted() -> None:
    t = np.linspace(0.0, 1.0, 6)
    rates = np.linspace(0.5, 2.0, MOST_TRAJECTORIES + 100)
    ready = prepared(from_arrays([np.exp(-k * t) for k in rates], [t] * len(rates)))
    assert len(ready.chosen) == MOST_TRAJECTORIES
    data = ready.varied({"k": tuple(rates.tolist())}, ["k"]).data
    assert [one.before[0, 0] for one in data.signals] == rates[ready.chosen].tolist()


def test_nothing_is_compiled_while_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that was loaded into a new process has the same certainty as before."""
    order: list[str] = []
    monkeypatch.setattr(preparing, "prepare", lambda: order.append("compiled"))
    monkeypatch.setattr(preparing, "Deadline", lambda seconds: order.append("clock") or Deadline(seconds))
    prepared(from_arrays(np.arange(10.0), np.arange(10.0)))
    assert order == ["compiled", "clock"]
