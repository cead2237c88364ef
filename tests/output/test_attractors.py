"""Attractors of data and model side by side."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from odefinder.data import Dataset, from_arrays
from odefinder.errors import DataError
from odefinder.output.plot import plot_attractors
from odefinder.system import ODESystem

LORENZ = ODESystem.from_text("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z")
TIMES = np.linspace(0.0, 15.0, 1001)
STATES = LORENZ.simulate([-9.8, -15.0, 20.5], TIMES)


def data(dimension: int) -> Dataset:
    return from_arrays(STATES[:, :dimension], TIMES, ["x", "y", "z"][:dimension])


def titles(figure: Any) -> list[str]:
    return [axes.get_title(loc=place) for axes in figure.get_axes() for place in ("left", "right")]


def texts(figure: Any) -> str:
    return " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))


def test_data_and_model_with_time_dimension_and_distance() -> None:
    left, distance, right, exponents = titles(figure := plot_attractors(data(3), LORENZ))
    assert (left, right) == ("data", "model")
    assert exponents.startswith("Lyapunov time 1.1, dimension 2.06")
    assert distance.startswith("distance to the model 0.")
    observed, model = (axes.lines[0] for axes in figure.get_axes()[-2:])
    assert np.array_equal(np.stack(observed.get_data_3d(), axis=1), STATES)
    assert len(model.get_data_3d()[0]) > 1000


@pytest.mark.parametrize(("dimension", "system"), [(2, "x' = y; y' = (1 - x^2)*y - x"), (1, "x' = -x")])
def test_fewer_variables_are_drawn_in_a_plane(dimension: int, system: str) -> None:
    figure = plot_attractors(data(dimension), ODESystem.from_text(system))
    assert "not chaotic" in titles(figure)[-1]
    assert ("a quarter of a period later" in texts(figure)) == (dimension == 1)


def test_a_model_that_runs_away() -> None:
    figure = plot_attractors(data(2), ODESystem.from_text("x' = x^2; y' = 1"), [[1.0, 0.0]])
    assert titles(figure)[-1] == "its solution ends"
    assert titles(figure)[1].startswith("distance to the model 1.00")


def test_another_number_of_variables() -> None:
    with pytest.raises(DataError, match="3 variables"):
        plot_attractors(data(2), LORENZ)
