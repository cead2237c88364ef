"""Signals put together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odefinder.numerics.knots import merged, values_at, without_idle_knots
from odefinder.numerics.signals import NO_SIGNALS, Signals, constant, held, linear

floats = st.floats(-10.0, 10.0)


@st.composite
def signals(draw: st.DrawFn) -> Signals:
    """One signal with jumps, on knots among whole numbers or anywhere."""
    knots = draw(st.lists(st.integers(-5, 5).map(float) | floats, min_size=1, max_size=6, unique=True))
    values = arrays.arrays(np.float64, (len(knots), 1), elements=st.sampled_from([0.0, 1.0]) | floats)
    return Signals(np.sort(knots), draw(values), draw(values), np.empty((len(knots), 0)))


def test_values_between_at_and_outside_of_knots() -> None:
    ramp = linear([0.0, 2.0], [[0.0], [4.0]])
    times = np.array([-1.0, 0.0, 0.5, 2.0, 3.0])
    for before in (False, True):
        assert values_at(ramp, times, before=before)[:, 0].tolist() == [0.0, 0.0, 1.0, 4.0, 4.0]
    steps = held([0.0, 2.0], [[1.0], [5.0]])
    assert values_at(steps, times)[:, 0].tolist() == [1.0, 1.0, 1.0, 5.0, 5.0]
    assert values_at(steps, times, before=True)[:, 0].tolist() == [1.0, 1.0, 1.0, 1.0, 5.0]


@given(st.lists(signals(), min_size=1, max_size=3), arrays.arrays(np.float64, 7, elements=floats))
def test_merged_signals_are_what_they_were(parts: list[Signals], times: np.ndarray) -> None:
    together = merged(parts)
    assert (np.diff(together.knots) > 0.0).all()
    near = np.abs(times[:, None] - np.concatenate([part.knots for part in parts])).min(axis=1) < 1e-9
    times = times[~near]  # knots that all but coincide are moved
    for before in (False, True):
        apart = np.hstack([values_at(part, times, before=before) for part in parts])
        np.testing.assert_allclose(values_at(together, times, before=before), apart, atol=1e-9)


def test_knots_that_all_but_coincide_are_one() -> None:
    together = merged(
        [held([0.0, 0.3], [[0.0], [1.0]]), linear([0.0, 0.1 + 0.2, 1.0], [[0.0], [1.0], [0.0]])]
    )
    assert together.knots.tolist() == [0.0, 0.3, 1.0]
    assert together.before[1].tolist() == [0.0, 1.0]
    assert together.after[1].tolist() == [1.0, 1.0]


def test_doses_stay_at_their_knots() -> None:
    doses = Signals(np.array([1.0]), np.empty((1, 0)), np.empty((1, 0)), np.array([[0.0, 2.0]]))
    together = merged([constant([3.0]), doses, doses])
    assert together.knots.tolist() == [1.0]
    assert together.doses.tolist() == [[0.0, 4.0]]
    assert together.after.tolist() == [[3.0]]
    assert merged([]) is NO_SIGNALS


def test_idle_knots_are_dropped() -> None:
    t = np.linspace(0.0, 1.0, 11)
    assert without_idle_knots(linear(t, np.ones((11, 1)))).knots.tolist() == [0.0]
    assert without_idle_knots(linear(t, 3.0 * t[:, None])).knots.tolist() == [0.0, 1.0]
    step = without_idle_knots(held(t, (t[:, None] >= 0.5) * 1e-30))
    assert step.knots.tolist() == [0.5]
    assert (step.before[0, 0], step.after[0, 0]) == (0.0, 1e-30)
