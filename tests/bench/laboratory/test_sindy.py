"""The baseline: it finds what is in its libraries, and says what it cannot do."""

import warnings

import numpy as np
import pytest

from odefinder.bench.laboratory import sindy
from odefinder.bench.laboratory.judging import Model, NotSupported, Scores, judge
from odefinder.bench.laboratory.tasks import make_task
from odefinder.bench.methods.library import TermLibrary
from odefinder.bench.methods.sindy_simulation import ALPHA
from odefinder.expressions.canonical import skeleton
from tests.bench.laboratory.test_entries import named


def fitted(name: str, noise: float = 0.0) -> tuple[Model, Scores]:
    lab = named(name)
    model = sindy.fit(make_task(lab, 0, noise))
    return model, judge(model, lab, lab.splits[0])


@pytest.mark.parametrize("name", ["foucault", "dc-motor"])
def test_linear_systems_are_found_as_they_are(name: str) -> None:
    model, scores = fitted(name)
    assert scores.other == pytest.approx(1.0, abs=1e-3)
    assert skeleton(model.system.program) == skeleton(named(name).system.program)


@pytest.mark.parametrize("name", ["oral-doses", "battery", "house", "natural-convection", "compass"])
def test_doses_steps_waves_conditions_and_velocities(name: str) -> None:
    _, scores = fitted(name)
    assert scores.forecast is not None
    assert scores.forecast > 0.9


def test_a_result_of_order_2_has_its_velocities_fixed() -> None:
    model, _ = fitted("compass", noise=0.03)
    assert model.system.variables == ("theta", "theta_dot")
    assert str(model.system).splitlines()[0].split("=")[1].strip() == "theta_dot"


def test_hidden_states_are_not_supported() -> None:
    with pytest.raises(NotSupported, match="no hidden states"):
        sindy.fit(make_task(named("endemic"), 0))


def test_peaks_of_the_spectrum() -> None:
    t = np.linspace(0.0, 30.0, 301)
    x = np.sin(2.0 * t) + 0.3 * np.cos(7.0 * t)
    assert sindy.spectrum_peaks(t, x[:, None], 2) == pytest.approx((2.0, 7.0), abs=0.05)


def test_sparse_coefficients_keep_only_what_matters() -> None:
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((200, 6)) * [1.0, 10.0, 1e-3, 1.0, 1.0, 100.0]
    target = 2.0 * columns[:, 1] - 5e4 * columns[:, 2] + 1e-3 * rng.standard_normal(200)
    found = sindy.sparse_coefficients(columns, target, 0.01)
    assert np.flatnonzero(found).tolist() == [1, 2]
    assert found[[1, 2]] == pytest.approx([2.0, -5e4], rel=1e-3)


@pytest.mark.parametrize("name", ["foucault", "dc-motor", "battery", "natural-convection", "house"])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_the_sparse_regression_is_that_of_pysindy(name: str, noise: float) -> None:
    """The regressions of these systems have the same coefficients with STLSQ, so pysindy is not needed."""
    pysindy = pytest.importorskip("pysindy")
    task = make_task(named(name), 0, noise)
    regression = sindy._regression(task, task.with_roles())
    for degree in (1, 2):
        columns = TermLibrary(regression.features.shape[1], degree).columns(regression.features)
        for threshold in (0.003, 0.03, 0.2):
            stlsq = pysindy.STLSQ(
                threshold=threshold, alpha=ALPHA, max_iter=sindy.ITERATIONS, normalize_columns=True,
                unbias=False,
            )  # fmt: skip
            for target in regression.targets.T:
                size = np.linalg.norm(target)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # where no term is left
                    theirs = stlsq.fit(columns, target[:, None] / size).coef_[0] * size
                ours = sindy.sparse_coefficients(columns, target, threshold)
                np.testing.assert_array_equal(ours != 0.0, theirs != 0.0)
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-9 * np.abs(theirs).max())
