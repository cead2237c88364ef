"""Splines against SciPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import make_interp_spline

from odefinder.inference.fit.splines import evaluate_spline, knots_of, spline_coefficients


@pytest.mark.parametrize("degree", [1, 3, 5, 7, 9])
@settings(deadline=None, max_examples=25)
@given(points=st.integers(10, 120), seed=st.integers(0, 10**6))
def test_values_and_slopes_are_those_of_scipy(degree: int, points: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.2, 1.0, points))
    x = np.sin(t) + 0.1 * rng.normal(size=points)
    knots = knots_of(t, degree)
    places = np.concatenate([t, rng.uniform(t[0], t[-1], 50)])
    values, slopes = np.empty(len(places)), np.empty(len(places))
    evaluate_spline(knots, spline_coefficients(t, x, knots, degree), degree, places, values, slopes)
    expected = make_interp_spline(t, x, k=degree)
    np.testing.assert_allclose(knots, expected.t)
    np.testing.assert_allclose(values[:points], x, atol=1e-9)
    between = np.arange(points, len(places))
    smooth = np.arange(len(places)) if degree > 1 else between  # straight lines have corners
    size = np.abs(expected(places)).max()
    np.testing.assert_allclose(values, expected(places), atol=1e-8 * size)
    np.testing.assert_allclose(slopes[smooth], expected(places[smooth], 1), atol=1e-6 * size)
