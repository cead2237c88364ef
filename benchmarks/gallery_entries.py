"""The entries of the gallery: where data come from, how they are fitted, and how they are tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder import ODEFormer, ODESystem, read
from odefinder.data import Dataset, sample, sample_path
from odefinder.data.bundled import BUNDLED, Sample
from odefinder.inference.fit.starts import starts_of
from odefinder.output.table import as_text

Floats = NDArray[np.float64]
Row = Sequence[str]
Pairs = list[tuple[Floats, Floats]]  # measured and simulated values, for each trajectory
Test = Callable[[ODEFormer], str]  # what is written about a fit, as Markdown
FAILED = "runs away"


@dataclass(frozen=True)
class Entry:
    """A page."""

    name: str
    special: str  # in the table of all pages, as the next
    found: str
    tests: Mapping[str, Test] = field(default_factory=dict)  # by the place on the page
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
    """The first candidates and the notes."""
    return as_text(model.dataset_, model._fitted(), model.chosen_, model.notes_, rows)


def table(rows: list[Row]) -> str:
    """Rows as Markdown, the first one as the header."""
    head, *body = rows
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body))


def also(rows: int = 2, **parameters: Any) -> Test:
    """Another fit of the same data, with other parameters."""

    def test(model: ODEFormer) -> str:
        kept = {"order": model.order, "time_budget": model.time_budget}
        data = model.dataset_.with_variables(model.dataset_.observed)
        other = ODEFormer(**kept | parameters).fit(data)
        return f"```\n{found(other, rows)}\n```"

    return test


def other_record(name: str) -> Dataset:
    """The record that a fit of a sample has not seen."""
    known = BUNDLED[name]
    whole = read(sample_path(f"{name}_test"), inputs=list(known.inputs) or None)
    return whole.with_roles(order=known.parameters.get("order", 1))


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

    def test(model: ODEFormer) -> str:
        data, inputs = other_record(name), list(BUNDLED[name].inputs)
        systems = {"found here": model.system_}
        systems |= {title: ODESystem.from_text(law, inputs=inputs) for title, law in laws.items()}
        values = {title: measure(predicted(system, data, rows)) for title, system in systems.items()}
        shown = ([title, f"{value:.3g}" if np.isfinite(value) else FAILED] for title, value in values.items())
        return table([["system", unit], *shown])

    return test


# ---------------------------------------------------------------------------------------- entries

PENDULUM = "theta' = theta_dot; theta_dot' = 64.219*sin(theta) - 0.06723*theta_dot"

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
    )
}
