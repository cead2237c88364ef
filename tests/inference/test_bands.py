"""Bands: what is drawn, and what they hold."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data import from_arrays
from odefinder.errors import SettingsError
from odefinder.inference.bands import (
    FURTHER,
    SOON,
    draw,
    further,
    likely_rows,
    quantiles,
    shares,
    simulated,
    widening,
)
from odefinder.inference.certainty import certainty_of
from odefinder.inference.prepared import Prepared, prepared

TIMES = np.linspace(0.0, 6.0, 60)
GROWTH = ODESystem.from_text("x' = 1.2*x - 0.3*x^2")


def noisy(system: ODESystem, start: list[float], sigma: float, seed: int = 0) -> np.ndarray:
    states = system.simulate(start, TIMES)
    return states + sigma * states.std(axis=0) * np.random.default_rng(seed).normal(size=states.shape)


def given(seed: int = 0) -> Prepared:
    return prepared(from_arrays(noisy(GROWTH, [0.3], 0.05, seed), TIMES))


def test_draws_are_shared_by_weight() -> None:
    assert shares([0.6, 0.3, 0.1], 10).tolist() == [6, 3, 1]
    assert shares([0.5, 0.5, 0.5], 4).sum() == 4
    assert shares([0.0, 0.0], 5).tolist() == [5, 0]
    assert likely_rows([0.9, 0.001, 0.2]) == [0, 2]


def test_draws_spread_as_the_errors_say() -> None:
    data = given()
    found = certainty_of(GROWTH, np.array([[0.3]]), data)
    draws = draw([found], [1.0], count=400)
    constants = np.array([found.constants.in_users_units(one.constants) for one in draws.programs])
    assert constants.std(axis=0) == pytest.approx(found.errors, rel=0.2)
    starts = data.scaling.original_states(draws.starts[:, 0])
    assert starts.std() == pytest.approx(found.start_errors[0, 0], rel=0.2)
    again = draw([found], [1.0], count=400)
    np.testing.assert_array_equal(again.starts, draws.starts)


def test_bands_cover_the_truth() -> None:
    later = np.linspace(0.0, 9.0, 40)
    inside = []
    for seed in range(25):
        data = given(seed)
        draws = draw([certainty_of(GROWTH, np.array([[0.3]]), data)], [1.0], count=100)
        signals = data.dataset.all_signals()[0]
        for start in (None, np.array([8.0])):
            lower, upper, lost = quantiles(simulated(draws, data, later, signals, start), 0.9)
            truth = GROWTH.simulate([0.3] if start is None else start, later)
            inside.append(((truth >= lower - 1e-6) & (truth <= upper + 1e-6)).mean())
            assert lost.max() == 0.0
    assert 0.8 < np.mean(inside) < 0.97


def test_draws_that_run_away_widen_the_band() -> None:
    paths = np.linspace(0.0, 1.0, 101)[:, None, None] * np.ones((1, 3, 1))
    paths[:4, 1:] = np.nan  # 4 of 101
    paths[:30, 2:] = np.nan
    lower, upper, lost = quantiles(paths, 0.9)
    assert lost == pytest.approx([0.0, 4 / 101, 30 / 101])
    assert (lower[0, 0], upper[0, 0]) == pytest.approx((0.05, 0.95))
    assert upper[1, 0] - lower[1, 0] > 0.89
    assert (lower[2, 0], upper[2, 0]) == (-np.inf, np.inf)
    lower, upper, lost = quantiles(paths[:0], 0.9)
    assert lost.tolist() == [1.0, 1.0, 1.0]


@pytest.fixture(scope="module")
def model() -> ODEFormer:
    names = {"network": False, "sparse": False, "guess": ["x' = x - x^2", "x' = 1 - x"]}
    return ODEFormer(**names).fit(noisy(GROWTH, [0.3], 0.03), TIMES, variables=["x"])


def test_simulate_with_bands(model: ODEFormer) -> None:
    bands = model.simulate(bands=True)
    assert bands.states.shape == bands.lower.shape == bands.upper.shape == (60, 1)
    assert (bands.lower <= bands.upper).all()
    np.testing.assert_array_equal(bands.states, model.simulate())
    assert list(bands.frame()) == ["t", "x", "x_lower", "x_upper"]
    wider = model.simulate(bands=True, level=0.99)
    assert (wider.upper - wider.lower).mean() > (bands.upper - bands.lower).mean()
    given = model.simulate({"x": 5.0}, [0.0, 1.0, 2.0], bands=True)
    assert given.lower[0, 0] == given.upper[0, 0] == 5.0
    assert given.lower[1, 0] < given.upper[1, 0]
    assert "90 %" in repr(bands)


def test_bands_of_too_many_points_are_refused(model: ODEFormer) -> None:
    message = "a band of 1 variables has at most 100,000 points, not 1,000,001; give fewer"
    with pytest.raises(SettingsError, match=message):
        model.forecast(1.0, points=1_000_000)
    with pytest.raises(SettingsError, match="at most 100,000 points"):
        model.simulate(t=np.linspace(0.0, 1.0, 200_000), bands=True)
    assert model.simulate(t=np.linspace(0.0, 1.0, 200_000)).shape == (200_000, 1)


def test_another_row_has_bands_of_its_own(model: ODEFormer) -> None:
    if len(model.equations_) < 2:
        pytest.skip("one system only")
    first = model.simulate(bands=True)
    second = model.choose(1).simulate(bands=True)
    model.choose(0)
    assert not np.array_equal(first.lower, second.lower)


def test_forecasts_begin_where_the_data_end(model: ODEFormer) -> None:
    later = model.forecast(3.0, points=11)
    assert later.times[[0, -1]] == pytest.approx([6.0, 9.0])
    assert later.states[-1, 0] == pytest.approx(4.0, abs=0.1)
    with pytest.raises(SettingsError, match="horizon"):
        model.forecast(-1.0)
    with pytest.raises(SettingsError, match="no trajectory 3"):
        model.forecast(1.0, trajectory=3)


def test_inputs_and_velocities_have_bands_too() -> None:
    driven = ODESystem.from_text("x' = v; v' = u - 0.4*v - 2*x", inputs=["u"])
    force = np.sign(np.sin(1.7 * TIMES))
    x = driven.simulate([0.2, 0.0], TIMES, inputs=force[:, None])[:, :1]
    x += 0.02 * np.random.default_rng(0).normal(size=x.shape)
    guess = ODESystem.from_text("x' = x_dot; x_dot' = u - 0.5*x_dot - 2.1*x", inputs=["u"])
    model = ODEFormer(network=False, sparse=False, order=2, guess=guess)
    model.fit(x, TIMES, variables=["x"], inputs={"u": force})
    bands = model.simulate(bands=True)
    assert (bands.upper - bands.lower)[5:].max() < 0.5
    push = np.cos(TIMES)
    other = model.simulate([0.0, 0.0], TIMES, inputs={"u": push}, bands=True)
    truth = driven.simulate([0.0, 0.0], TIMES, inputs=push[:, None])
    assert ((truth >= other.lower - 0.01) & (truth <= other.upper + 0.01)).mean() > 0.8
    assert model.forecast(2.0).lost.max() == 0.0


def test_other_candidates_count_with_more_than_their_distance() -> None:
    first, other = np.full((3, 4, 1), 2.0), np.full((2, 4, 1), 3.0)
    paths = np.concatenate([first, other])
    factors = np.array([1.0, 1.0, 1.5, 2.0])
    assert further(paths, 3, factors)[:3].tolist() == first.tolist()
    assert further(paths, 3, factors)[3, :, 0].tolist() == [3.0, 3.0, 3.5, 4.0]
    assert further(paths, 5, factors) is paths  # one candidate alone
    assert (further(np.concatenate([first, 0.1 * other]), 3, factors) > 0.0).all()  # stays positive
    assert (further(np.concatenate([first, 0.1 * other, -first]), 3, factors) < 0.0).any()
    lost = np.concatenate([first, np.full((1, 4, 1), np.nan)])
    assert np.isnan(further(lost, 3, factors)[3:]).all()


def test_over_the_data_others_count_with_their_own_distance() -> None:
    seen = np.array([0.0, 4.0, 10.0])
    times = np.array([0.0, 7.0, 10.0, 10.0 + 5.0 * SOON, 10.0 + 10.0 * SOON, 30.0])
    half = 0.5 * (1.0 + FURTHER)
    assert widening(times, seen) == pytest.approx([1.0, 1.0, 1.0, half, FURTHER, FURTHER])
