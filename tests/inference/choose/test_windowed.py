"""The search over windows: chaotic laws come first, exact without noise and close with it."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.inference.choose.windowed import WindowedSearch
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.fit.windows import long_period
from odefinder.inference.warmup import prepare_windows
from odefinder.limits.deadline import Deadline
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

LORENZ = ODESystem.from_text("x' = 5*(y - x); y' = x*(14 - 14*z) - 0.5*y; z' = 4*x*y - 1.3333*z").program


def search(noise: float, seconds: float = 60.0) -> WindowedSearch:
    t = np.linspace(0.0, 10.0, 500)
    states, _ = integrate(LORENZ, [-0.4, -0.5, 0.8], t, rtol=1e-11, atol=1e-13)
    states += noise * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    data = Observations.joined([t], [states])
    prepare_windows()
    period = long_period(data)
    assert period is not None
    return WindowedSearch(data, estimate_states(data), period, Deadline(seconds))


@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 1e-6), (0.03, 0.05)])
def test_a_chaotic_law_comes_first(noise: float, tolerance: float) -> None:
    windows = search(noise)
    windows.run_polynomials()
    best = windows.rescored()[0]
    terms = sorted(best.fit.program.constants.tolist())
    assert terms == pytest.approx([-14.0, -5.0, -1.3333, -0.5, 4.0, 5.0, 14.0], rel=tolerance)
    assert windows.convincing
    assert windows.spectrum.chaotic
    assert windows.r2(best, np.ones(3)) > 1.0 - 2.0 * noise**2 - 1e-9
    assert windows.weights([best], early=False)[0] > 0.3


def test_noise_too_small_to_be_seen_before_a_fit_is_seen_after_it() -> None:
    windows = search(1e-4)
    windows.estimate = estimate_states(windows.data, smoothed=False)
    windows.run_polynomials()
    assert windows.convincing
    linear = search(1e-4)
    linear.estimate = estimate_states(linear.data, smoothed=False)
    linear.fit_programs([ODESystem.from_text("x' = y - x; y' = x - y; z' = x - z").program], "guess")
    assert not linear.convincing


def test_other_systems_join_and_the_deadline_holds() -> None:
    windows = search(0.02, seconds=0.0)
    windows.run_polynomials()
    assert len(windows.ranked()) <= 1
    windows.deadline = Deadline(60.0)
    windows.fit_programs([LORENZ], "search")
    assert windows.ranked()[0].source == "search"


def test_only_long_autonomous_records_have_windows() -> None:
    t = np.linspace(0.0, 30.0, 400)
    wave = np.stack([np.sin(t), np.cos(t)], axis=1)
    assert long_period(Observations.joined([t], [wave])) == pytest.approx(2 * np.pi, rel=0.1)
    assert long_period(Observations.joined([t[:120]], [wave[:120]])) is None  # 1.4 periods
    assert long_period(Observations.joined([t[::9]], [wave[::9]])) is None  # few points
    decay = np.exp(-t)[:, None]
    assert long_period(Observations.joined([t[:100]], [decay[:100]])) is None
