"""Tables as the page reads them: roles, units, errors, several files."""

from pathlib import Path

import numpy as np
import pytest

from odefinder.errors import DataError
from odefinder.web.requests import reading_of
from odefinder.web.tables import Reading, Table, preview

UNITS = "time,A,A_sd\nmin,mM,mM\n" + "\n".join(f"{k},{9.0 - k},0.1" for k in range(6))
GROWTH = "temperature,t,OD\n" + "\n".join(f"{T},{k},{0.1 * T * k}" for T in (20, 37) for k in range(5))


def table(folder: Path, *texts: str) -> Table:
    paths = [folder / f"{number}.csv" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return Table(tuple(paths), tuple(f"run{number}.csv" for number in range(len(texts))))


def test_units_below_the_titles(tmp_path: Path) -> None:
    found = preview(table(tmp_path, UNITS))
    roles = {"time (min)": "time", "A (mM)": "observed", "A_sd (mM)": "error"}
    assert found["roles"] == roles
    assert found["head"][0] == [0.0, 9.0, 0.1]
    again = preview(table(tmp_path, UNITS), Reading(roles))
    assert again["data"] == {**found["data"], "notes": again["data"]["notes"]}


def test_what_is_left_out_is_not_read(tmp_path: Path) -> None:
    roles = {"time (min)": "time", "A (mM)": "observed", "A_sd (mM)": "ignore"}
    assert not table(tmp_path, UNITS).read(Reading(roles)).errors


def test_long_tables_have_a_column_for_each_variable(tmp_path: Path) -> None:
    rows = [f"{k},{name},{k * size}" for k in range(5) for name, size in (("x", 1), ("y", 2))]
    found = preview(table(tmp_path, "t,variable,value\n" + "\n".join(rows)))
    assert found["roles"] == {"t": "time", "x": "observed", "y": "observed"}
    roles = {"t": "time", "x": "observed", "y": "input"}
    assert table(tmp_path, "t,variable,value\n" + "\n".join(rows)).read(Reading(roles)).inputs == ("y",)


def test_a_column_that_changes_where_the_times_start_over(tmp_path: Path) -> None:
    found = preview(table(tmp_path, GROWTH))
    assert found["roles"] == {"temperature": "group", "t": "time", "OD": "observed"}
    assert found["chosen"]
    assert "tells trajectories apart" in found["data"]["notes"][0]
    data = table(tmp_path, GROWTH).read(Reading(found["roles"]))
    assert data.labels == ("20", "37")
    assert data.conditions == ("temperature",)
    assert np.array_equal(np.asarray(data.settings), [[20.0], [37.0]])
    names = GROWTH.replace("\n20", "\ncold").replace("\n37", "\nhot")
    assert preview(table(tmp_path, names))["roles"]["temperature"] == "trajectory"


def test_times_that_start_over_for_no_reason(tmp_path: Path) -> None:
    found = preview(table(tmp_path, "t,x\n" + "\n".join(f"{k % 5},{k}" for k in range(10))))
    assert "the times start over in row 6" in found["error"]
    assert "choose “trajectory” over the column that tells them apart" in found["error"]


def test_several_files_are_trajectories(tmp_path: Path) -> None:
    first, second = ("t,x\n" + "\n".join(f"{k},{level * k}" for k in range(5)) for level in (1, 2))
    data = table(tmp_path, first, second).read()
    assert data.labels == ("run0", "run1")
    assert data.states[1][-1, 0] == 8.0
    with pytest.raises(DataError, match=r"^run1\.csv: line 3 has 1 entries"):
        table(tmp_path, first, "t,x\n0,1\n2\n").read()


def test_the_unit_of_time_and_errors_by_number(tmp_path: Path) -> None:
    reading = reading_of({"time_unit": "seconds", "errors": "A = 0.3"})
    assert reading == Reading(None, "seconds", {"A": 0.3})
    data = table(tmp_path, UNITS.replace(",A_sd", ",B")).read(reading)
    assert data.clock.label == "time (seconds)"
    assert data.times[0][-1] == 300.0
    assert np.array_equal(data.errors[0][0], [0.3, np.nan], equal_nan=True)
    roles = {"time (min)": "time", "A (mM)": "observed", "A_sd (mM)": "error"}
    with_column = table(tmp_path, UNITS).read(Reading(roles, None, {}))
    assert with_column.errors[0][0, 0] == 0.1


def test_inputs_that_hold_their_values(tmp_path: Path) -> None:
    text = "t,x,u\n" + "\n".join(f"{k},{k * k},{k % 2}" for k in range(6))
    data = table(tmp_path, text).read(Reading({"t": "time", "x": "observed", "u": "hold"}))
    assert data.inputs == ("u",)
    assert (data.signals[0].before[1:] != data.signals[0].after[1:]).all()  # it jumps at every time


STEADY = "t,x\n" + "\n".join(f"{k},{k * k}" for k in range(6))
FORCE = "time,u\n0,0\n2.5,1\n5,0\n"


def test_inputs_on_times_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "force.csv").write_text(FORCE, encoding="utf-8")
    both = table(tmp_path, STEADY).with_inputs(tmp_path / "force.csv", "force.csv")
    data = both.read()
    assert (data.variables, data.inputs) == (("x",), ("u",))
    assert data.signals[0].knots.tolist() == [0.0, 2.5, 5.0]
    assert preview(both)["inputs_name"] == "force.csv"
    none = both.with_inputs(None)
    assert none.read().inputs == ()
    assert tmp_path / "force.csv" in none.files  # a fit that waits may still need it


def test_inputs_in_two_places(tmp_path: Path) -> None:
    (tmp_path / "force.csv").write_text(FORCE, encoding="utf-8")
    own = "t,x,v\n" + "\n".join(f"{k},{k * k},1" for k in range(6))
    both = table(tmp_path, own).with_inputs(tmp_path / "force.csv", "force.csv")
    found = preview(both, Reading({"t": "time", "x": "observed", "v": "input"}))
    assert found["error"].startswith(
        "inputs are columns of the data or all in a table of their own (force.csv)"
    )
