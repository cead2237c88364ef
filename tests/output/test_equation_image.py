"""Equations as Matplotlib draws them."""

import numpy as np
from matplotlib.figure import Figure

from odefinder.data.forms import dataset_of
from odefinder.output.equation_image import EquationImage, equation_image
from odefinder.system import ODESystem


def image_of(system: ODESystem, order: int = 1) -> EquationImage:
    observed = system.variables[: system.dimension // order]
    values = np.arange(10.0)[:, None] + np.arange(len(observed))
    dataset = dataset_of(values, np.arange(10.0), variables=observed)
    return equation_image(system, dataset.with_roles(order=order), 9.0)


def test_lines_are_aligned_and_fit() -> None:
    system = ODESystem.from_text("x0' = -x0/(1 + y); y' = 2*sin(x0); prey' = exp(-prey)")
    image = image_of(system)
    assert image.lines[0] == (r"$\dot{x}_{0}$", r"$\;=\;{-}\dfrac{x_{0}}{1 + y}$")
    assert [left for left, _ in image.lines[1:]] == [r"$\dot{y}$", r"$\mathrm{prey}'$"]
    assert image.left + image.right < 9.0 * 72.0
    figure = Figure(figsize=(9.0, image.inches))
    image.draw(figure, "black")
    assert len({text.get_position()[0] for text in figure.texts}) == 1
    heights = [text.get_position()[1] for text in figure.texts]
    assert heights == sorted(heights, reverse=True)
    assert 0.0 < heights[-1] < heights[0] < 1.0


def test_long_equations_are_smaller_and_then_cut() -> None:
    def image(terms: int):
        return image_of(
            ODESystem.from_text("x' = " + " + ".join(f"{i}.5*sin({i}*x)" for i in range(1, terms)))
        )

    assert image(3).size > image(12).size
    assert image(60).lines[0][1].endswith("...")
    assert image(60).right < 9.0 * 72.0


def test_many_equations_are_counted() -> None:
    system = ODESystem.from_text({f"x{j}": "1" for j in range(11)})
    assert len(image_of(system).lines) == 9
    assert "3" in image_of(system).lines[-1][1]


def test_velocities_that_nobody_measured_are_derivatives() -> None:
    system = ODESystem.from_text("q' = q_dot; q_dot' = -2*sin(q) - 0.3*q_dot")
    (line,) = image_of(system, order=2).lines
    assert line[0] == r"$\ddot{q}$"
    assert r"\dot{q}" in line[1]
    assert "dot}" not in line[1].replace(r"\dot{q}", "")
