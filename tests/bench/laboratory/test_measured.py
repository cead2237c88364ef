"""Readers of measured data, on tiny files of the same formats."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from odefinder.bench.laboratory.judging import Model
from odefinder.bench.laboratory.measured import (
    Measured,
    read_measured,
    relative_error,
    rmse,
    score,
    sheets,
)
from odefinder.data.roles import Role
from odefinder.errors import DataError
from odefinder.numerics.knots import values_at
from odefinder.system import ODESystem

SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def only(folder: Path) -> list[Measured]:
    return list(read_measured(folder))


def workbook(path: Path, pages: dict[str, list[tuple[float, ...]]]) -> None:
    with ZipFile(path, "w") as book:
        names = "".join(f'<sheet name="{name}"/>' for name in pages)
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{SPREADSHEET}"><sheets>{names}</sheets></workbook>'
        )
        for number, rows in enumerate(pages.values(), start=1):
            title = '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>'
            cells = [[f'<c t="n"><v>{value!r}</v></c>' for value in row] for row in rows]
            lines = "".join(f"<row>{''.join(row)}</row>" for row in cells)
            page = f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{title}{lines}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{number}.xml", page)


def test_cascaded_tanks_have_their_official_split(tmp_path: Path) -> None:
    rows = ["3.0,1.0,5.0,4.0,4,", *(f"{3 + k},{1 + k},{5 + k},{4 + k},," for k in range(1, 9))]
    text = '"uEst","uVal","yEst","yVal","Ts",\n' + "\n".join(rows) + "\n\n"
    (tmp_path / "cascaded_tanks.csv").write_text(text)
    hidden, second = only(tmp_path)
    assert hidden.task.with_roles().roles == (Role.OBSERVED, Role.HIDDEN)
    assert second.task.with_roles().variables == ("y", "y_dot")
    assert hidden.task.dataset.times[0].tolist() == [4.0 * k for k in range(9)]
    assert hidden.task.dataset.states[0][:, 0].tolist() == [5.0 + k for k in range(9)]
    assert values_at(hidden.task.dataset.signals[0], np.array([0.0, 6.0])).ravel().tolist() == [3.0, 4.5]
    assert hidden.other.x[:, 0].tolist() == [4.0 + k for k in range(9)]
    level = Model(ODESystem.from_text("y' = y_dot; y_dot' = 0", inputs=["u"]), np.array([[5.0, 0.2]]))
    assert score(level, second) == pytest.approx(0.0, abs=1e-6)  # y rises by 1 V every 4 s


def test_emps_positions_are_in_metres(tmp_path: Path) -> None:
    for name, top in (("emps.csv", 1.0), ("emps_pulses.csv", 0.5)):
        rows = [f"{k},{0.005 * k},0,{-1 + top * k / 9},0,{k},{k}" for k in range(30)]
        (tmp_path / name).write_text(",time_exp,q_ref,q_meas,v_est,u_in,u_tot\n" + "\n".join(rows) + "\n")
    (problem,) = only(tmp_path)
    assert problem.task.order == 2
    assert problem.task.dataset.inputs == ("u",)
    assert problem.task.dataset.states[0][[0, 9], 0] == pytest.approx([0.0, 0.125])
    assert problem.other.x[9, 0] == pytest.approx(0.0625)


def test_each_ball_is_tested_on_its_second_drop(tmp_path: Path) -> None:
    t = np.arange(20) / 15
    drops = [
        (float(number), float(time), 47.0 + number - 4.9 * float(time) ** 2, 0.0)
        for number in (1, 2)
        for time in t
    ]
    workbook(tmp_path / "ball_drops.xlsx", {"Golf Ball": drops, "Lost Ball": drops[:20]})
    (problem,) = only(tmp_path)
    assert problem.name == "ball drop, Golf Ball"
    assert problem.task.dataset.states[0][0, 0] == 48.0
    assert problem.other.x[0, 0] == 49.0
    fall = Model(ODESystem.from_text("h' = h_dot; h_dot' = -9.8"), np.array([[48.0, 0.0]]))
    assert score(fall, problem) == pytest.approx(0.0, abs=1e-5)


def test_the_boarding_school_is_a_forecast_with_a_hidden_state(tmp_path: Path) -> None:
    days = np.arange(1, 11)
    (tmp_path / "boarding_school.txt").write_text(
        "#t infected\n" + "\n".join(f"{day} {2.0 * day}" for day in days) + "\n"
    )
    free, known = only(tmp_path)
    assert len(free.task.dataset.times[0]) == free.first == 6
    assert (free.task.hidden, free.task.known) == (1, None)
    assert known.task.known is not None
    assert "b*S*I" in known.task.known
    line = Model(ODESystem.from_text("I' = 2; h1' = 0", ["I", "h1"]), np.array([[2.0, 1.0]]))
    assert score(line, free) == pytest.approx(0.0, abs=1e-6)
    away = Model(ODESystem.from_text("I' = I**3; h1' = 0", ["I", "h1"]), np.array([[2.0, 1.0]]))
    assert score(away, free) == np.inf


def test_replicates_are_averaged_and_one_concentration_is_unseen(tmp_path: Path) -> None:
    rows = [
        f"{time}\tR_{repl}_{conc}\t{time * conc + shift}\t{conc}\t{repl}"
        for conc in (0.0, 0.078, 1.25)
        for repl, shift in (("R3", -0.1), ("R4", 0.1))
        for time in range(6)
    ]
    header = "time\tvariable\tvalue\tconc\trepl\n"
    (tmp_path / "antibiotic.txt").write_text(header + "\n".join(rows) + "\n")
    (problem,) = only(tmp_path)
    assert problem.task.dataset.conditions == ("c",)
    assert problem.task.dataset.settings is not None
    assert problem.task.dataset.settings[:, 0].tolist() == [0.0, 1.25]
    assert problem.other.record.conditions == {"c": 0.078}
    assert problem.task.dataset.states[1][:, 0] == pytest.approx(1.25 * np.arange(6))


def test_files_of_another_kind_are_errors(tmp_path: Path) -> None:
    (tmp_path / "cascaded_tanks.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no column uEst"):
        only(tmp_path)
    (tmp_path / "book.xlsx").write_text("no workbook")
    with pytest.raises(DataError, match="not a workbook"):
        sheets(tmp_path / "book.xlsx")


def test_measures() -> None:
    measured = np.array([[3.0], [4.0]])
    assert rmse(measured, measured - 2.0) == 2.0
    assert relative_error(measured, np.zeros((2, 1))) == 100.0


def test_films_of_schmidt_and_lipson_are_forecast(tmp_path: Path) -> None:
    t = 5.0 + np.arange(20.0)
    rows = [f"0 {time} {np.cos(time - 5.0)} {-np.sin(time - 5.0)}" for time in t]
    for name in ("real_pend_h_1.txt", "real_linear_h_1.txt"):
        (tmp_path / name).write_text("%o v\n" + "\n".join(rows) + "\n")
    pendulum, spring = only(tmp_path)
    assert pendulum.task.with_roles().variables == ("theta", "theta_dot")
    assert (spring.unit, spring.first, len(spring.task.dataset.times[0])) == ("RMSE (pixels)", 12, 12)
    exact = Model(ODESystem.from_text("x' = x_dot; x_dot' = -x"), np.array([[1.0, 0.0]]))
    assert score(exact, spring) == pytest.approx(0.0, abs=1e-6)
