"""Equations as Matplotlib draws them."""

from matplotlib.figure import Figure

from odefinder.output.equation_image import equation_image
from odefinder.system import ODESystem


def test_lines_are_aligned_and_fit() -> None:
    system = ODESystem.from_text("x0' = -x0/(1 + y); y' = 2*sin(x0); prey' = exp(-prey)")
    image = equation_image(system, 9.0)
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
        return equation_image(
            ODESystem.from_text("x' = " + " + ".join(f"{i}.5*sin({i}*x)" for i in range(1, terms))), 9.0
        )

    assert image(3).size > image(12).size
    assert image(60).lines[0][1].endswith("...")
    assert image(60).right < 9.0 * 72.0


def test_many_equations_are_counted() -> None:
    system = ODESystem.from_text({f"x{j}": "1" for j in range(11)})
    assert len(equation_image(system, 9.0).lines) == 9
    assert "3" in equation_image(system, 9.0).lines[-1][1]
