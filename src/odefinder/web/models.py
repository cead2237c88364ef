"""What the page shows of a result: candidates, equations, curves, and simulations with other constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.errors import SettingsError
from odefinder.estimator import ODEFormer
from odefinder.inference.remarks import Explanation
from odefinder.numerics.integrate import Status
from odefinder.numerics.signals import Signals
from odefinder.simulation.trajectory import Task, trajectory
from odefinder.system import ODESystem
from odefinder.web.plain import drawn, number, numbers
from odefinder.web.tables import data_of

CURVE_POINTS = 400
RTOL = 1e-6
MAX_STEPS = 20_000  # of the integrator: a slider must not make the page wait
FARTHEST = 100.0  # durations of the data that a forecast may cover


def result_of(model: ODEFormer) -> dict[str, Any]:
    """The whole result, without curves."""
    found = model._fitted()
    return {
        "data": data_of(model.dataset_),
        "notes": model.notes_,
        "noise": numbers(model.noise_),
        "chosen": model.chosen_,
        "parameters": {"time_budget": model.time_budget, "random_state": model.random_state},
        "candidates": [
            {
                "complexity": int(row.complexity),
                "r2": number(row.r2),
                "front": bool(row.front),
                "weight": float(row.weight),
                "source": row.source,
                "text": str(one.system),
            }
            for row, one in zip(model.equations_.itertuples(), found, strict=True)
        ],
    }


def candidate_of(model: ODEFormer, row: int) -> dict[str, Any]:
    """One candidate with its curves over the data and what they leave."""
    one = explanation(model, row)
    return {
        "row": row,
        "latex": one.system.latex(),
        "exports": exports(one.system),
        "constants": constants_of(one.system),
        "starts": [numbers(start) for start in one.starts],
        "curves": curves(one.system, one.starts, model.dataset_),
        "residuals": residuals(one.system, one.starts, model.dataset_),
    }


def explanation(model: ODEFormer, row: Any) -> Explanation:
    """A row of the table of candidates."""
    found = model._fitted()
    if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(found):
        raise SettingsError(f"there is no candidate {row!r}; choose one from 0 to {len(found) - 1}")
    return found[row]


def exports(system: ODESystem) -> dict[str, str]:
    """The system in every form that can be copied."""
    return {"Text": system.to_text(), "LaTeX": system.latex(), "Python": system.python()}


def constants_of(system: ODESystem) -> list[dict[str, Any]]:
    """The constants in the order of the program, each with the equation that it is in."""
    return [
        {"equation": name, "value": value}
        for name, component in zip(system.variables, system.program.components(), strict=True)
        for value in component.constants.tolist()
    ]


def curves(system: ODESystem, starts: Floats, dataset: Dataset, until: float = 1.0) -> list[dict[str, Any]]:
    """The trajectories of a system on a fine grid, `until` so many durations of the data."""
    found = []
    points = int(CURVE_POINTS * max(1.0, until) ** 0.5)
    for start, times, signals in zip(starts, dataset.times, dataset.all_signals(), strict=True):
        grid = np.linspace(times[0], times[0] + until * (times[-1] - times[0]), points)
        states, remark = _simulated(system, start, grid, signals)
        found.append({"times": numbers(grid), "states": [drawn(one) for one in states.T], "remark": remark})
    return found


def residuals(system: ODESystem, starts: Floats, dataset: Dataset) -> list[dict[str, Any]]:
    """Observed minus simulated, at the times of the data that `data_of` keeps."""
    shown = data_of(dataset)["trajectories"]
    found = []
    for start, one, signals in zip(starts, shown, dataset.all_signals(), strict=True):
        times, observed = np.array(one["times"]), np.array(one["states"], dtype=np.float64).T
        states, _ = _simulated(system, start, times, signals)
        found.append({"times": one["times"], "states": [numbers(left) for left in (observed - states).T]})
    return found


def played(model: ODEFormer, wish: Mapping[str, Any]) -> dict[str, Any]:
    """A simulation with the constants and initial values of sliders, and a forecast."""
    one = explanation(model, wish.get("row", model.chosen_))
    constants = _floats(wish.get("constants", one.system.constants.tolist()), "constants")
    starts = _floats(wish.get("starts", one.starts.tolist()), "starts")
    until = _floats([wish.get("until", 1.0)], "until")[0]
    if constants.shape != one.system.constants.shape or starts.shape != one.starts.shape:
        raise SettingsError(
            f"give {len(one.system.constants)} constants and starts of the shape {one.starts.shape}"
        )
    if not 0.0 < until <= FARTHEST:
        raise SettingsError(f"a forecast may last up to {FARTHEST:g} times as long as the data")
    program = one.system.program.with_constants(constants)
    system = ODESystem(program, one.system.variables, one.system.inputs)
    found = curves(system, starts, model.dataset_, until)
    return {"latex": system.latex(), "text": str(system), "curves": found}


def curves_csv(model: ODEFormer, row: int) -> str:
    """The curves of a candidate as a table."""
    one = explanation(model, row)
    lines = [",".join(["trajectory", model.dataset_.clock.name, *one.system.variables])]
    for label, curve in zip(
        model.dataset_.labels, curves(one.system, one.starts, model.dataset_), strict=True
    ):
        for time, *values in zip(curve["times"], *curve["states"], strict=True):
            cells = ["" if value is None else repr(value) for value in (time, *values)]
            lines.append(",".join([_quoted(label), *cells]))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def _simulated(system: ODESystem, start: Floats, times: Floats, signals: Signals) -> tuple[Floats, str]:
    """The states, NaN where there is no solution, and what to say about that."""
    found = trajectory(Task(system.program, start, times, signals, RTOL, MAX_STEPS), None)
    return found.states, "" if found.status == Status.OK else found.status.message


def _floats(values: Sequence[Any], what: str) -> Floats:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        raise SettingsError(f"{what} must be numbers")
    return found


def warm_up() -> None:
    """Make the compiled functions of a simulation ready, so that the first slider moves at once."""
    times = np.linspace(0.0, 1.0, 5)
    dataset = Dataset((times,), (np.exp(-times)[:, None],), ("x",))
    curves(ODESystem.from_text("x' = -x"), np.ones((1, 1)), dataset)


def with_choice(model: ODEFormer, row: int) -> ODEFormer:
    """The same result with another candidate chosen."""
    explanation(model, row)
    other = copy(model)
    return other.choose(row)
