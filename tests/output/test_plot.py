"""Figures: what they show, for any data, without a display."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from odefinder.data import Dataset, from_arrays, sample
from odefinder.errors import DataError, SettingsError
from odefinder.output.plot import Front, phase_portrait, plot_candidates, plot_fit, save, summary_figure
from odefinder.system import ODESystem

T = np.linspace(0.0, 2.0, 30)
PELTS = sample("hare_lynx")
LOTKA_VOLTERRA = ODESystem.from_text(
    "hare' = 0.55*hare - 0.028*hare*lynx; lynx' = -0.8*lynx + 0.024*hare*lynx"
)
FRONT = Front([3, 7, 11, 11, 15], [0.9, 0.5, 0.05, np.inf, 0.0], 2)


def texts(figure: Any) -> str:
    return " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))


def linear(dimension: int) -> tuple[Dataset, ODESystem]:
    names = [f"x{j}" for j in range(dimension)]
    system = ODESystem.from_text({name: f"-0.5*{name} + 0.1*{names[j - 1]}" for j, name in enumerate(names)})
    return from_arrays(system.simulate(np.arange(1.0, dimension + 1.0), T), T), system


def test_the_fit_over_the_data() -> None:
    figure = plot_fit(PELTS, LOTKA_VOLTERRA, [[34.0, 5.9]])
    hare, lynx = figure.get_axes()
    assert (hare.get_ylabel(), lynx.get_ylabel(), lynx.get_xlabel()) == ("hare", "lynx", "year")
    dots, line = hare.lines
    np.testing.assert_array_equal(dots.get_xydata()[:, 1], PELTS.states[0][:, 0])
    assert line.get_xydata()[0].tolist() == [1900.0, 34.0]
    assert line.get_xydata()[-1, 0] == 1920.0
    assert "R² = 0.9" in hare.get_title(loc="right")
    assert r"\mathrm{hare}" in texts(figure)


def test_titles_of_any_kind(tmp_path: Path) -> None:
    titles = ["cost $x_{ $", "Hare pelts (thousands of dollars)"]
    dataset = from_arrays(np.column_stack([T, T**2]), T, titles)
    figure = summary_figure(dataset, ODESystem.from_text("a' = 1; b' = 2*a"))
    save(figure, tmp_path / "fit.png", dpi=50)
    assert "Hare pelts\n(thousands of dollars)" in texts(figure)


def test_without_a_system_only_the_data() -> None:
    assert [len(axes.lines) for axes in plot_fit(PELTS).get_axes()] == [1, 1]


def test_a_solution_that_ends_early_is_marked() -> None:
    dataset = from_arrays(np.exp(T), T, ["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the figure says it, no warning is needed
        figure = plot_fit(dataset, ODESystem.from_text("x' = x^2"))
    assert "the solution ends at 0.9" in texts(figure)
    assert figure.get_axes()[0].get_ylim()[1] < 2.0 * np.exp(2.0)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6, 10])
def test_every_dimension(dimension: int, tmp_path: Path) -> None:
    dataset, system = linear(dimension)
    figure = summary_figure(dataset, system, front=FRONT)
    assert len(figure.get_axes()) == min(dimension, 8) + 2
    save(figure, tmp_path / "fit.png", dpi=50)
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
    assert len(phase_portrait(dataset, system).get_axes()) == (1 if dimension < 3 else 3)


def test_several_trajectories_have_their_own_colours() -> None:
    for count in (3, 20):
        states = [start * np.exp(-T) for start in np.linspace(1.0, 2.0, count)]
        figure = plot_fit(from_arrays(states, [T] * count), ODESystem.from_text("x0' = -x0"))
        lines = figure.get_axes()[0].lines
        assert len(lines) == 2 * count
        assert len({tuple(np.atleast_1d(line.get_color())) for line in lines}) == count
        assert f"({count} trajectories)" in texts(figure)


def test_the_front_marks_the_choice() -> None:
    (axes,) = plot_candidates(FRONT).get_axes()
    assert axes.get_yscale() == "log"
    chosen = axes.lines[-1].get_xydata()
    np.testing.assert_allclose(chosen, [[11.0, 0.05]])
    for front in (Front([], [], 0), Front([1], [1, 2], 0), Front([1], [1], 3)):
        with pytest.raises(DataError, match="candidate"):
            plot_candidates(front)


@pytest.mark.parametrize(
    ("states", "equations"),
    [
        (np.ones((30, 2)), "x' = 0; y' = 0"),
        (np.zeros((30, 2)), "x' = 1/x; y' = log(y)"),
        (np.column_stack([np.exp(T), np.where(T > 1.0, np.nan, 1.0)]), "x' = x; y' = 1e5*y^2"),
        (1e90 * np.column_stack([T, T**2]), "x' = 1e90; y' = exp(x)"),
        (1e-90 * np.column_stack([T, T**2]), "x' = 1e-90; y' = x"),
        (np.column_stack([T - 1.0, T]), "x' = sqrt(x); y' = |x|^1.5/(1 + e^(-(x/y)^2))"),
        (np.column_stack([T, T]), "x' = " + " + ".join(f"{i}.5*sin({i}*y)" for i in range(40)) + "; y' = 1"),
    ],
)  # fmt: skip
def test_hard_cases_are_drawn(states: np.ndarray, equations: str, tmp_path: Path) -> None:
    dataset = from_arrays(states, T, ["x", "y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = summary_figure(dataset, ODESystem.from_text(equations), front=FRONT)
        save(figure, tmp_path / "fit.png", dpi=50)
    single = from_arrays(states[:, 0], T, ["x"])
    save(phase_portrait(single, ODESystem.from_text("x' = 1/x - x")), tmp_path / "phase.svg")
    assert (tmp_path / "phase.svg").stat().st_size > 1000


def test_what_does_not_fit_together() -> None:
    with pytest.raises(DataError, match="2 variables and the data have 1"):
        plot_fit(from_arrays(T, T), LOTKA_VOLTERRA)
    with pytest.raises(DataError, match=r"starts has shape \(1, 3\)"):
        plot_fit(PELTS, LOTKA_VOLTERRA, [1.0, 2.0, 3.0])


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    figure = plot_fit(PELTS)
    with pytest.raises(SettingsError, match=r"end the name in .png"):
        save(figure, tmp_path / "fit.doc")
    with pytest.raises(SettingsError, match="no folder"):
        save(figure, tmp_path / "none" / "fit.png")


def test_the_style_of_the_user_is_left_alone() -> None:
    before = dict(mpl.rcParams)
    plot_fit(PELTS, LOTKA_VOLTERRA)
    assert dict(mpl.rcParams) == before


def test_no_window_system_is_touched() -> None:
    code = (
        "import sys; from odefinder import plot; from odefinder.data import sample; "
        "assert 'matplotlib' not in sys.modules; plot.plot_fit(sample('pendulum')); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_legend_with_many_conditions_leaves_room_for_r2() -> None:
    growth = ODESystem.from_text("N' = 0.01*weight*N", inputs=["weight"])
    weights = [50.0, 60.0, 70.0, 90.0]
    runs = [growth.simulate([1.0], T, conditions={"weight": one}) for one in weights]
    data = from_arrays(runs, [T] * 4, ["N"], conditions={"weight": weights})
    figure = plot_fit(data, growth, [[1.0]] * 4)
    figure.canvas.draw()
    (axes,) = figure.get_axes()
    legend = axes.get_legend().get_window_extent()
    (share,) = (one for one in figure.findobj(mpl.text.Text) if one.get_text().startswith("R²"))
    assert not legend.overlaps(share.get_window_extent())
    assert legend.width <= axes.get_window_extent().width
