"""R2 of trajectories against known solutions."""

import numpy as np
import pytest

from odefinder.bench.metrics import trajectory_r2
from odefinder.numerics.r2 import variance_weighted_r2
from tests.programs import words

T = np.linspace(0.0, 2.0, 41)


def test_a_trajectory_in_closed_form() -> None:
    truth = 3.0 * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words("mul -0.7 x0"), truth[0], T, truth) == pytest.approx(1.0, abs=1e-12)
    slower = 3.0 * np.exp(-0.5 * T)[:, None]
    expected = variance_weighted_r2(truth, slower)
    assert trajectory_r2(words("mul -0.5 x0"), truth[0], T, truth) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_unit_of_the_data_does_not_matter(scale: float) -> None:
    truth = scale * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words("mul -0.7 x0"), truth[0], T, truth) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("text", ["mul 100 pow3 x0", "inv add x0 -3", "log add x0 -5"])
def test_what_cannot_be_integrated_is_worst(text: str) -> None:
    truth = 3.0 * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words(text), truth[0], T, truth) == -np.inf
