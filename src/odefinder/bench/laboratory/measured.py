"""Measured data as problems: readers for copies of public files, which are not part of this project.

A problem is a task, a record that the model is tested on, and the measure that is usual for these data.
Recorded inputs are linear between their samples.  See docs/benchmark.md for where the files come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.bench.laboratory.judging import Model, observed_columns, start_of
from odefinder.bench.laboratory.records import Record
from odefinder.bench.laboratory.tasks import LabTask, dataset_of
from odefinder.errors import DataError
from odefinder.numerics.signals import linear

Floats = NDArray[np.float64]
Measure = Callable[[Floats, Floats], float]  # of measured and simulated values (N, D)

SIR = "I' = b*S*I - g*I; S' = -b*S*I"
FORECAST = 0.6  # share of a single record that is seen
UNSEEN = 0.078  # mg/l of antibiotic that the fit does not see
SHORTEST = 15  # rows of a drop that is used
EMPS_SCALE, EMPS_OFFSET = 0.125, 0.125  # m: the copy has positions from -1 to 1
_CELLS = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


class Measurement(NamedTuple):
    """Values (N, D) that were measured in one experiment."""

    t: Floats
    x: Floats
    record: Record


@dataclass(frozen=True, eq=False)
class Measured:
    """A problem."""

    name: str
    task: LabTask
    other: Measurement
    unit: str  # of the measure
    measure: Measure
    first: int = 0  # the row from which it is measured; above 0 it is a forecast from the model's own start
    start_rows: int = 5  # from which starts are fitted that nobody sees


def score(model: Model, problem: Measured) -> float:
    """The measure of a simulation of the other record; infinite where there is none."""
    t, x, record = problem.other
    observed = problem.task.dataset.variables
    rows = problem.start_rows
    if problem.first:
        start = model.starts[0]
    else:
        start = start_of(model, record, t[:rows], x[:rows], observed)
    simulated = observed_columns(model, record.simulate(model.system, start, t), observed)[problem.first :]
    if not np.isfinite(simulated).all():
        return float("inf")
    return problem.measure(x[problem.first :], simulated)


def rmse(measured: Floats, simulated: Floats) -> float:
    """The root mean square of the differences."""
    return float(np.sqrt(np.mean((measured - simulated) ** 2)))


def relative_error(measured: Floats, simulated: Floats) -> float:
    """The length of the differences in % of that of the measured values."""
    return float(100.0 * np.linalg.norm(measured - simulated) / np.linalg.norm(measured))


def read_measured(folder: Path) -> Iterator[Measured]:
    """The problems whose files are in a folder."""
    for name, read in READERS.items():
        paths = [folder / one for one in name.split()]
        if all(path.exists() for path in paths):
            yield from read(*paths)


# ---------------------------------------------------------------------------------------- readers


def cascaded_tanks(path: Path) -> Iterator[Measured]:
    """Pump voltage and level of the lower tank (V); the upper tank is hidden, or the order is 2."""
    table = _table(path, ",", ("uEst", "uVal", "yEst", "yVal", "Ts"))
    rows = table["yEst"].notna()
    t = _array(np.arange(int(rows.sum())) * float(table["Ts"].iloc[0]))
    seen, other = (
        _measurement(t, table.loc[rows, f"y{which}"], {"u": table.loc[rows, f"u{which}"]})
        for which in ("Est", "Val")
    )
    for name, order, hidden in (("hidden tank", 1, 1), ("order 2", 2, 0)):
        task = _task([seen], ["y"], ["u"], order=order, hidden=hidden)
        yield Measured(f"cascaded tanks, {name}", task, other, "RMSE (V)", rmse)


def emps(estimation: Path, pulses: Path) -> Iterator[Measured]:
    """Motor voltage and position (m) of an electro-mechanical positioning system."""
    records = []
    for path in (estimation, pulses):
        table = _table(path, ",", ("time_exp", "q_meas", "u_in"))
        position = EMPS_OFFSET + EMPS_SCALE * table["q_meas"]
        records.append(_measurement(_array(table["time_exp"]), position, {"u": table["u_in"]}))
    task = _task(records[:1], ["q"], ["u"], order=2)
    yield Measured("EMPS", task, records[1], "relative error (%)", relative_error, start_rows=20)


def ball_drops(path: Path) -> Iterator[Measured]:
    """Heights (m) of balls that fall, one sheet each: the first drop is seen, the second one tested."""
    for ball, rows in sheets(path).items():
        table = np.array([row[:3] for row in rows if len(row) >= 3 and np.isfinite(row[:3]).all()])
        drops = [table[table[:, 0] == number] for number in np.unique(table[:, 0])]
        drops = [drop for drop in drops if len(drop) >= SHORTEST]
        if len(drops) >= 2:
            seen, other = (_measurement(drop[:, 1] - drop[0, 1], drop[:, 2]) for drop in drops[:2])
            task = _task([seen], ["h"], order=2)
            yield Measured(f"ball drop, {ball}", task, other, "RMSE (m)", rmse, start_rows=SHORTEST)


def boarding_school(path: Path) -> Iterator[Measured]:
    """Boys confined to bed by day; the susceptible are hidden, with the SIR model known or not."""
    table = np.loadtxt(path, ndmin=2)
    whole = _measurement(table[:, 0], table[:, 1])
    count = round(FORECAST * len(table))
    seen = Measurement(whole.t[:count], whole.x[:count], whole.record)
    for name, known in (("hidden state", None), ("SIR known", SIR)):
        task = replace(_task([seen], ["I"], hidden=1), known=known)
        yield Measured(f"boarding school, {name}", task, whole, "RMSE (boys)", rmse, first=count)


def schmidt_lipson(path: Path, name: str, variable: str, unit: str) -> Iterator[Measured]:
    """Positions of a pendulum or a spring in a film; the velocities of the file are not used."""
    table = np.loadtxt(path, comments="%", ndmin=2)
    whole = _measurement(table[:, 1] - table[0, 1], table[:, 2])
    count = round(FORECAST * len(table))
    seen = Measurement(whole.t[:count], whole.x[:count], whole.record)
    yield Measured(name, _task([seen], [variable], order=2), whole, f"RMSE ({unit})", rmse, first=count)


def antibiotic(path: Path) -> Iterator[Measured]:
    """Optical density of bacteria at several concentrations, as the mean over replicates."""
    table = _table(path, "\t", ("time", "value", "conc", "repl"))
    mean = table.groupby(["conc", "time"])["value"].mean()
    seen, other = list[Measurement](), list[Measurement]()
    for concentration in sorted(table["conc"].unique()):
        one = mean.loc[concentration]
        into = other if np.isclose(concentration, UNSEEN) else seen
        into.append(_measurement(_array(one.index), one, conditions={"c": float(concentration)}))
    if not seen or not other:
        raise DataError(f"{path}: the concentration {UNSEEN} and at least one other are needed")
    task = _task(seen, ["OD"], conditions=["c"])
    yield Measured("bacteria under antibiotic", task, other[0], "RMSE (OD)", rmse)


READERS: dict[str, Callable[..., Iterator[Measured]]] = {
    "cascaded_tanks.csv": cascaded_tanks,
    "emps.csv emps_pulses.csv": emps,
    "ball_drops.xlsx": ball_drops,
    "boarding_school.txt": boarding_school,
    "antibiotic.txt": antibiotic,
    "real_pend_h_1.txt": partial(schmidt_lipson, name="pendulum", variable="theta", unit="rad"),
    "real_linear_h_1.txt": partial(schmidt_lipson, name="spring", variable="x", unit="pixels"),
}


def sheets(path: Path) -> dict[str, list[list[float]]]:
    """The numbers in the rows of each sheet of a workbook; NaN for text."""
    try:
        with ZipFile(path) as book:
            names = [
                str(sheet.get("name"))
                for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iterfind(
                    ".//m:sheet", _CELLS
                )
            ]
            pages = [book.read(f"xl/worksheets/sheet{number + 1}.xml") for number in range(len(names))]
    except (BadZipFile, KeyError, OSError) as problem:
        raise DataError(f"{path} is not a workbook that can be read: {problem}") from None
    rows = [ElementTree.fromstring(page).iterfind(".//m:row", _CELLS) for page in pages]
    return {name: [_numbers(row) for row in some] for name, some in zip(names, rows, strict=True)}


def _numbers(row: ElementTree.Element) -> list[float]:
    cells = [(cell.get("t"), cell.findtext("m:v", None, _CELLS)) for cell in row.iterfind("m:c", _CELLS)]
    return [float(text) if text and kind in (None, "n") else float("nan") for kind, text in cells]


def _table(path: Path, separator: str, columns: Sequence[str]) -> pd.DataFrame:
    table = pd.read_csv(path, sep=separator)
    missing = [name for name in columns if name not in table]
    if missing:
        raise DataError(f"{path} has no column {', '.join(missing)}; is it another file?")
    return table


def _array(values: object) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _measurement(
    t: Floats,
    x: object,
    inputs: Mapping[str, object] | None = None,
    conditions: Mapping[str, float] | None = None,
) -> Measurement:
    signals = {name: linear(t, _array(values)[:, None]) for name, values in (inputs or {}).items()}
    return Measurement(t, _array(x)[:, None], Record((), signals, conditions or {}, ()))


def _task(
    seen: Sequence[Measurement],
    observed: Sequence[str],
    inputs: Sequence[str] = (),
    conditions: Sequence[str] = (),
    order: int = 1,
    hidden: int = 0,
) -> LabTask:
    records = tuple(one.record for one in seen)
    times, states = [one.t for one in seen], [one.x for one in seen]
    return LabTask(dataset_of(records, times, states, observed, inputs, conditions), order, hidden)
