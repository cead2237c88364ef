"""The entries of the gallery: where data come from, how they are fitted, and how they are tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder import ODEFormer, ODESystem, read
from odefinder.bench.laboratory.judging import Model
from odefinder.bench.laboratory.measured import antibiotic, score
from odefinder.data import Dataset, from_arrays, sample, sample_path
from odefinder.data.bundled import BUNDLED, Sample
from odefinder.inference.fit.starts import starts_of
from odefinder.output.higher_order import equations_text
from odefinder.output.table import as_text

Floats = NDArray[np.float64]
Row = Sequence[str]
Pairs = list[tuple[Floats, Floats]]  # measured and simulated values, for each trajectory
Test = Callable[[ODEFormer, Path], str]  # what is written about a fit of a file in a folder, as Markdown
FAILED = "runs away"
NEAR = 1e-5  # how far apart neighbouring trajectories begin
LONGEST = 170  # characters of a line


@dataclass(frozen=True)
class Entry:
    """A page."""

    name: str
    special: str  # in the table of all pages, as the next
    found: str
    tests: Mapping[str, Test] = field(default_factory=dict)  # by the place on the page
    bands: bool = True  # they take each constant of a program for itself, and known ones occur many times
    file: str = ""  # of data that are not shipped
    reader: Callable[[Path], Dataset] = read
    fitted: Sample | None = None  # how data that are not shipped are fitted

    @property
    def how(self) -> Sample:
        """Roles of columns and parameters of the fit."""
        return self.fitted or BUNDLED[self.name]

    @property
    def command(self) -> str:
        """What a user types."""
        if not self.file:
            return f"odefinder demo {self.name}"
        return f"python benchmarks/gallery.py {self.name} --folder FOLDER   # which has {self.file}"

    def read(self, folder: Path) -> Dataset | None:
        """The data; None where they are not there."""
        if not self.file:
            return sample(self.name)
        return self.reader(folder / self.file) if (folder / self.file).exists() else None


# ---------------------------------------------------------------------------------------- tests


def found(model: ODEFormer, rows: int) -> str:
    """The first candidates and the notes; long equations are cut."""
    text = as_text(model.dataset_, model._fitted(), model.chosen_, model.notes_, rows)
    return "\n".join(line if len(line) <= LONGEST else f"{line[:LONGEST]} ..." for line in text.splitlines())


def table(rows: list[Row]) -> str:
    """Rows as Markdown, the first one as the header."""
    head, *body = rows
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body))


def also(rows: int = 2, **parameters: Any) -> Test:
    """Another fit of the same data, with other parameters."""

    def test(model: ODEFormer, _: Path) -> str:
        plain = {"known": None, "hidden": 0, "network": True, **parameters}
        data = model.dataset_.with_variables(model.dataset_.observed)
        return f"```\n{found(ODEFormer(**model.get_params() | plain).fit(data), rows)}\n```"

    return test


def constants(accepted: Mapping[str, tuple[float, str]], factor: float = 1.0, digits: int = 4) -> Test:
    """Named constants next to accepted values: name -> value, and what it is."""

    def test(model: ODEFormer, _: Path) -> str:
        rows: list[Row] = [["constant", "found", "accepted", ""]]
        for name, (value, meaning) in accepted.items():
            here = float(np.mean(model.constants_[name])) * factor
            rows.append([name, f"{here:.{digits}g}", f"{value:.{digits}g}", meaning])
        return table(rows)

    return test


def other_record(name: str, model: ODEFormer) -> Dataset:
    """The record that a fit of a sample has not seen, with the states that nobody measured."""
    return model._cast(read(sample_path(f"{name}_test"), inputs=list(BUNDLED[name].inputs) or None))


def predicted(system: ODESystem, data: Dataset, rows: int) -> Pairs:
    """Measured and simulated values of each trajectory, from starts fitted to its first rows."""
    starts = starts_of(system, data.with_points([np.arange(rows)] * len(data)))
    columns = [data.variables.index(name) for name in data.observed]
    pairs = []
    for start, t, x, driving in zip(starts, data.times, data.states, data.all_signals(), strict=True):
        states = system.simulate(start, t, driving if system.inputs else None)
        pairs.append((x[:, columns], states[:, columns]))
    return pairs


def rmse(pairs: Pairs) -> float:
    """The root mean square of the differences; infinite where a simulation failed."""
    differences = np.concatenate([(simulated - measured).ravel() for measured, simulated in pairs])
    return float(np.sqrt(np.mean(differences**2))) if np.isfinite(differences).all() else np.inf


def percent(pairs: Pairs) -> float:
    """The length of the differences in % of that of the measured values."""
    return 100.0 * rmse(pairs) / rmse([(0.0 * measured, measured) for measured, _ in pairs])


def unseen(name: str, rows: int, unit: str, measure: Callable[[Pairs], float], laws: dict[str, str]) -> Test:
    """A test on the record that was not seen, of the chosen system and of laws."""

    def test(model: ODEFormer, _: Path) -> str:
        data, inputs = other_record(name, model), list(BUNDLED[name].inputs)
        systems = {"found here": model.system_}
        systems |= {title: ODESystem.from_text(law, inputs=inputs) for title, law in laws.items()}
        values = {title: measure(predicted(system, data, rows)) for title, system in systems.items()}
        shown = ([title, f"{value:.3g}" if np.isfinite(value) else FAILED] for title, value in values.items())
        return table([["system", unit], *shown])

    return test


# ---------------------------------------------------------------------------------------- single tests


def every_ball(_: ODEFormer, __: Path) -> str:
    """Quadratic drag, and any law, for all balls; the first drop is fitted, the second tested."""
    import pandas as pd

    every = pd.read_csv(sample_path("ball_drops"), comment="#")
    rows: list[Row] = [["ball", "g (m/s²)", "drag (1/m)", "RMSE (m)", "any law", "RMSE (m)"]]
    for ball, drops in every.groupby("ball"):
        seen, other = (
            from_arrays(drop[["h (m)"]].to_numpy(), drop["time (s)"].to_numpy(), ["h"], errors=0.1)
            for _, drop in drops.groupby("drop")
        )
        law = ODEFormer(order=2, known="h_dot' = -g + d*h_dot^2").fit(seen)
        free = ODEFormer(order=2).fit(seen)
        errors = []
        for model in (law, free):
            test = other.with_roles(order=2)
            errors.append(rmse(predicted(model.system_, test, len(test.times[0]))))
        g, drag = (float(np.mean(law.constants_[name])) for name in ("g", "d"))
        text = equations_text(free.system_, free.dataset_)
        rows.append(
            [str(ball), f"{g:.2f}", f"{drag:.4f}", f"{errors[0]:.2f}", f"`{text}`", f"{errors[1]:.2f}"]
        )
    return table(rows)


def parting(model: ODEFormer, _: Path) -> str:
    """By how much neighbouring trajectories part within the time of the data."""
    rows: list[Row] = [["run", "neighbours part by a factor of", "rate (1/s)"]]
    for run, (start, t) in enumerate(zip(model.starts_, model.dataset_.times, strict=True)):
        near = start + NEAR * np.eye(len(start))[0]
        apart = [model.system_.simulate(one, t) for one in (start, near)]
        factor = float(np.linalg.norm(apart[1][-1] - apart[0][-1])) / NEAR
        rows.append([str(run + 1), f"{factor:.0f}", f"{np.log(factor) / (t[-1] - t[0]):.1f}"])
    return table(rows)


def epidemic_forecast(model: ODEFormer, _: Path) -> str:
    """The rest of the epidemic from its first days."""
    data = model.dataset_.with_variables(model.dataset_.observed)
    rows: list[Row] = [
        ["days seen", "b (1/d)", "g (1/d)", "susceptible at the start", "RMSE of the rest (boys)"]
    ]
    for days in (6, 8, 10, 14):
        part = data.with_points([np.arange(days)])
        seen = ODEFormer(**model.get_params()).fit(part)
        simulated = seen.simulate(t=data.times[0])[:, [0]]
        rest = rmse([(data.states[0][days:], simulated[days:])]) if days < len(data.times[0]) else np.nan
        b, g = (float(np.mean(seen.constants_[name])) for name in ("b", "g"))
        start = seen.starts_[0][1]
        rows.append(
            [str(days), f"{b:.5f}", f"{g:.3f}", f"{start:.0f}", "-" if np.isnan(rest) else f"{rest:.0f}"]
        )
    return table(rows)


def other_concentration(model: ODEFormer, folder: Path) -> str:
    """The concentration that was left out, in the measure of benchmarks/measured.py."""
    (problem,) = antibiotic(folder / "antibiotic.txt")
    value = score(Model(model.system_, model.starts_), problem)
    return table(
        [["system", problem.unit], ["found here", f"{value:.3g}"], ["SINDy (docs/benchmark.md)", "0.028"]]
    )


# ---------------------------------------------------------------------------------------- files of the user


def spring(path: Path) -> Dataset:
    """Ten seconds of a mass on a spring."""
    rows = np.loadtxt(path, comments="%")[:300]
    return from_arrays(rows[:, 2:3], rows[:, 1], ["x"])


def bacteria(path: Path) -> Dataset:
    """Optical density at eleven concentrations of an antibiotic, the means of four replicates."""
    (problem,) = antibiotic(path)
    return replace(
        problem.task.dataset, errors=tuple(np.full(x.shape, 0.02) for x in problem.task.dataset.states)
    )


def infusion(path: Path) -> Dataset:
    """Remifentanil in the blood of one person, with the rate of infusion."""
    import pandas as pd

    table = pd.read_csv(path)
    table = table.loc[table["ID"] == 1, ["Time", "conc", "Rate", "Amt"]]
    return from_arrays(table.set_axis(["time", "C", "rate", "amt"], axis=1), inputs=["amt"])


# ---------------------------------------------------------------------------------------- entries

PENDULUM = "theta' = theta_dot; theta_dot' = 64.219*sin(theta) - 0.06723*theta_dot"
DRIVE = "q' = q_dot; q_dot' = 0.36958*u - 2.13969*q_dot - 0.21442*tanh(1000*q_dot) + 0.033276"
ARMS = {
    "G": (58.97, "weight of both arms at the first joint (1/s²)"),
    "H": (27.91, "weight of the second arm (1/s²)"),
    "b": (0.4914, "coupling"),
    "w": (0.5569, "inertia of the second arm"),
    "k": (0.0420, "friction of the first joint (1/s)"),
    "m": (0.0018, "friction of the second joint (1/s)"),
}
COMPARTMENTS = {
    "a": (0.196, "1 / central volume (1/l)"),
    "k": (0.51, "elimination (1/min)"),
    "p": (0.402, "into the second compartment (1/min)"),
    "q": (0.209, "and back (1/min)"),
}
INFUSION = {
    "hidden": 1,
    "known": "C' = a*rate - (k + p)*C + q*P; P' = p*C - q*P",
    "bounds": dict.fromkeys(COMPARTMENTS, (0.0, None)),
}
RATES = {f"k{j + 1}": (value, "") for j, value in enumerate((5.93, 2.96, 2.05, 27.5, 4.00))}

ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("hare_lynx", "few points, noise", "the accepted law"),
        Entry(
            "single_pendulum",
            "second order from angles",
            "the accepted law",
            {"test": unseen("single_pendulum", 50, "RMSE (rad)", rmse, {"the authors' constants": PENDULUM})},
        ),
        Entry(
            "double_pendulum",
            "chaos",
            "constants of the accepted law within 1 %; the law itself is not found",
            {
                "accepted": constants(ARMS),
                "parting": parting,
                "test": unseen("double_pendulum", 261, "RMSE (rad and rad/s)", rmse, {}),
                "free": also(1, time_budget=60.0),
            },
            bands=False,
        ),
        Entry(
            "ball_drop",
            "second order, systematic errors",
            "gravity with linear drag; quadratic drag is accepted",
            {"balls": every_ball},
        ),
        Entry(
            "emps",
            "second order, an input, dry friction",
            "constants of the accepted law within 10 %; the law itself is not found",
            {
                "test": unseen(
                    "emps", 20, "relative error (%)", percent, {"constants of the benchmark": DRIVE}
                ),
                "free": also(1, time_budget=60.0),
            },
        ),
        Entry(
            "tanks",
            "an input, a hidden variable",
            "constants of Torricelli's law; overflow is not in it",
            {"test": unseen("tanks", 5, "RMSE (V)", rmse, {}), "free": also(2, order=2, time_budget=60.0)},
        ),
        Entry("boarding_school", "a hidden variable", "constants of SIR", {"forecast": epidemic_forecast}),
        Entry(
            "alpha_pinene",
            "five variables, nine points",
            "rates of the accepted scheme",
            {"rates": constants(RATES, 1e5, 3), "free": also(1, time_budget=300.0)},
        ),
        Entry("warfarin", "an oral dose, a hidden depot, twelve people", "constants of the accepted law"),
        Entry(
            "remifentanil",
            "dosing by infusion, a hidden variable",
            "the clearance; volumes of two compartments, though three are accepted",
            {"accepted": constants(COMPARTMENTS), "free": also(2, bounds=None)},
            file="remifentanil.csv",
            reader=infusion,
            fitted=Sample("", parameters=INFUSION),
        ),
        Entry(
            "antibiotic",
            "conditions",
            "no law, but a sum of terms that predicts another concentration",
            {"test": other_concentration},
            file="antibiotic.txt",
            reader=bacteria,
            fitted=Sample("", parameters={"time_budget": 60.0}),
        ),
        Entry(
            "spring",
            "second order from positions",
            "Hooke's law; the kind of friction is not decided",
            file="real_linear_h_1.txt",
            reader=spring,
            fitted=Sample("", parameters={"order": 2, "time_budget": 120.0}),
        ),
    )
}
