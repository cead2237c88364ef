"""Labels and ticks of axes."""

import pytest
from matplotlib.figure import Figure

from odefinder.output.axis import label, set_label
from odefinder.output.front import Front, draw_front


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("x", "x"),
        ("prey ($)", r"prey (\$)"),
        ("Membrane current of the patch (A)", "Membrane current of the\npatch\n(A)"),
        (
            "one two three four five six seven eight nine ten eleven twelve",
            "one two three four five\nsix seven eight nine ten …",
        ),
    ],
)
def test_titles_are_broken_between_words(title: str, shown: str) -> None:
    assert label(title) == shown


def axis(low: float, high: float, title: str) -> tuple[str, list[str]]:
    """The label and the ticks of an axis from low to high."""
    figure = Figure()
    axes = figure.subplots()
    axes.set_ylim(low, high)
    set_label(axes.yaxis, title)
    figure.canvas.draw()
    return axes.get_ylabel(), [one.get_text() for one in axes.get_yticklabels()]


def test_powers_of_ten_are_in_the_label() -> None:
    text, ticks = axis(0.0, 1.1e-9, "current (A)")
    assert text == "current (10⁻⁹ A)"
    assert {"0", "0.2", "1"} <= set(ticks)
    assert axis(0.0, 3e7, "N")[0] == "N (10⁶)"
    assert axis(0.0, 12.0, "N")[0] == "N"


def test_far_levels_are_in_the_label() -> None:
    text, ticks = axis(101324.0, 101336.0, "p (Pa)")
    assert text == "p − 101320 (Pa)"
    assert {"4", "10", "16"} & set(ticks)
    assert axis(1900.0, 1920.0, "year")[0] == "year"


def test_exact_fits_have_a_place_and_a_name() -> None:
    axes = Figure().subplots()
    draw_front(axes, Front([3, 5, 8], [0.5, 1e-12, 1e-3], 1))
    words = [one.get_text() for one in axes.get_yticklabels()]
    assert words[0] == "exact"
    assert "-3" in words[1]
    assert axes.lines[-1].get_ydata()[0] == pytest.approx(1e-4)
