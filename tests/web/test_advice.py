"""What to do next, in the words of the page."""

from pathlib import Path

import numpy as np
import pytest

from odefinder import ODEFormer
from odefinder.data.advice import LEAVE_OUT, SEPARATE
from odefinder.web.advice import on_the_page, suggestions
from odefinder.web.models import result_of
from odefinder.web.tables import Reading, Table, preview

T = np.linspace(0.0, 10.0, 60)


def test_options_of_the_command_line_become_roles() -> None:
    assert on_the_page(f"it has text; {LEAVE_OUT}.") == "it has text; choose “leave out” over the column."
    assert on_the_page(SEPARATE).startswith("choose “trajectory” over the column")
    assert on_the_page("(command line: --budget 5)") == "(command line: --budget 5)"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("u,x\n" + "".join(f"{k % 2},{k % 3}\n" for k in range(9)), "Choose “time” over the one that it is"),
        ("time,x\n" + "".join(f"w{k},{k}\n" for k in range(6)), "choose “time” over another column"),
        ("t,x\n" + "".join(f"{k % 5},{k}\n" for k in range(10)), "or give a file for each"),
    ],
)
def test_errors_say_what_to_do_on_the_page(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "a.csv").write_text(table, encoding="utf-8")
    error = preview(Table((tmp_path / "a.csv",), ("a.csv",)))["error"]
    assert words in error
    assert "command line" not in error
    assert "='" not in error


def test_a_second_file_with_other_variables(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, name in zip(paths, "xu", strict=True):
        path.write_text(f"t,{name}\n" + "".join(f"{k},{k * k}\n" for k in range(6)), encoding="utf-8")
    error = preview(Table(tuple(paths), ("a.csv", "b.csv")))["error"]
    assert error.startswith(
        "b has the variables u, a has x; all files must have the same. For a table of inputs,"
    )


def test_a_column_of_text_that_somebody_calls_observed(tmp_path: Path) -> None:
    table = "t,x,who\n" + "".join(f"{k},{k * k},{'ab'[k % 2]}\n" for k in range(12))
    (tmp_path / "a.csv").write_text(table, encoding="utf-8")
    roles = Reading({"t": "time", "x": "observed", "who": "observed"})
    error = preview(Table((tmp_path / "a.csv",), ("a.csv",)), roles)["error"]
    assert error.endswith(
        "choose “leave out” over the column; if it tells trajectories apart, choose “trajectory” over it"
    )


def test_notes_say_what_to_do_on_the_page() -> None:
    levels = np.repeat([1.0, 5.0, 1.0, 5.0, 1.0], 12)[:, None]
    model = ODEFormer(time_budget=0.5, network=False).fit(levels, T, variables=["x"])
    shown = " ".join(result_of(model)["notes"])
    assert "--" in " ".join(model.notes_)
    assert "--" not in shown
    assert "“" in shown


def test_known_equations_that_do_not_fit_can_be_left_out() -> None:
    swing = np.cos(T)[:, None]
    poor = ODEFormer(time_budget=1.0, network=False, known="x' = -k*x").fit(swing, T, variables=["x"])
    offered = [one["options"] for one in suggestions(poor)]
    assert {"known": ""} in offered
    assert {"order": "2"} not in offered


def test_a_poor_result_comes_with_other_options() -> None:
    swing = np.cos(T)[:, None]
    poor = ODEFormer(time_budget=1.0, network=False).fit(swing, T, variables=["x"])
    offered = [one["options"] for one in suggestions(poor)]
    assert {"order": "2"} in offered
    assert {"time_budget": 6.0} in offered
    good = ODEFormer(time_budget=5.0, network=False, order=2).fit(swing, T, variables=["x"])
    assert {"order": "2"} not in [one["options"] for one in suggestions(good)]
