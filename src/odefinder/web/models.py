"""What the page shows of a result: candidates, equations, curves, and simulations with other constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.errors import SettingsError
from odefinder.estimator import ODEFormer
from odefinder.inference.choose.criterion import on_front
from odefinder.inference.remarks import Explanation
from odefinder.numerics.signals import Signals
from odefinder.output.export import target
from odefinder.output.higher_order import equations_text
from odefinder.system import ODESystem
from odefinder.web.curves import curves, residuals
from odefinder.web.plain import number, numbers
from odefinder.web.tables import data_of

MOST_KNOTS = 20_000  # of the inputs, for a simulation on the page
FARTHEST = 100.0  # durations of the data that a forecast may cover


def result_of(model: ODEFormer) -> dict[str, Any]:
    """The whole result, without curves."""
    found = model._fitted()
    sizes = [one.system.complexity for one in found]
    fronts = on_front(sizes, [-one.explained for one in found])
    return {
        "data": data_of(model.dataset_),
        "notes": model.notes_,
        "noise": numbers(model.noise_),
        "chosen": model.chosen_,
        "parameters": {"time_budget": model.time_budget, "random_state": model.random_state},
        "candidates": [
            {
                "complexity": size,
                "r2": number(one.r2),
                "r2_windows": None if one.r2_windows is None else number(one.r2_windows),
                "front": bool(front),
                "weight": float(one.weight),
                "source": one.source,
                "text": equations_text(one.system, model.dataset_),
            }
            for one, size, front in zip(found, sizes, fronts, strict=True)
        ],
    }


def candidate_of(model: ODEFormer, row: int) -> dict[str, Any]:
    """One candidate with its curves over the data and what they leave."""
    one, signals = explanation(model, row), signals_of(model, row)
    return {
        "row": row,
        "latex": one.system.latex(),
        "constants": constants_of(one.system),
        "program": {"ops": one.system.program.ops.tolist(), "values": one.system.program.values.tolist()},
        "driving": driving_of(signals),
        "starts": [numbers(start) for start in one.starts],
        "curves": curves(one.system, one.starts, model.dataset_, signals=signals),
        "residuals": residuals(one.system, one.starts, model.dataset_, signals=signals),
    }


def explanation(model: ODEFormer, row: Any) -> Explanation:
    """A row of the table of candidates."""
    found = model._fitted()
    if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(found):
        raise SettingsError(f"there is no candidate {row!r}; choose one from 0 to {len(found) - 1}")
    return found[row]


def exported(model: ODEFormer, row: int, name: str) -> tuple[str, str]:
    """The text of a candidate for another program, and a name for its file."""
    found = target(name)
    return with_choice(model, row).export(name), f"system_{found.name}{found.suffix}"


def constants_of(system: ODESystem) -> list[dict[str, Any]]:
    """The constants in the order of the program, each with the equation that it is in."""
    return [
        {"equation": name, "value": value}
        for name, component in zip(system.variables, system.program.components(), strict=True)
        for value in component.constants.tolist()
    ]


def played(model: ODEFormer, wish: Mapping[str, Any]) -> dict[str, Any]:
    """A simulation with the constants and initial values of sliders, and a forecast."""
    one = explanation(model, wish.get("row", model.chosen_))
    data = model.dataset_
    constants = _floats(wish.get("constants", one.system.constants.tolist()), "constants")
    starts = _floats(wish.get("starts", one.starts.tolist()), "starts")
    factors = _floats(wish.get("factors", [1.0] * (len(factor_names(data)) + 1)), "factors")
    until = _floats([wish.get("until", 1.0)], "until")[0]
    if constants.shape != one.system.constants.shape or starts.shape != one.starts.shape:
        raise SettingsError(
            f"give {len(one.system.constants)} constants and starts of the shape {one.starts.shape}"
        )
    if factors.shape != (len(factor_names(data)) + 1,):
        raise SettingsError(f"give {len(factor_names(data)) + 1} factors: inputs, conditions, doses")
    if not 0.0 < until <= FARTHEST:
        raise SettingsError(f"a forecast may last up to {FARTHEST:g} times as long as the data")
    program = one.system.program.with_constants(constants)
    system = ODESystem(program, one.system.variables, one.system.inputs)
    written = {"latex": system.latex(), "text": str(system)}
    if wish.get("curves") is False:  # the page simulates itself, and only wants the equations
        return written
    scale, signals = factors.tolist(), signals_of(model, wish.get("row", model.chosen_))
    return {
        **written,
        "curves": curves(system, starts, data, until, scale, signals),
        "residuals": residuals(system, starts, data, scale, signals),
    }


def factor_names(dataset: Dataset) -> list[str]:
    """What a slider can multiply, doses left out."""
    return [*dataset.inputs, *dataset.conditions]


def signals_of(model: ODEFormer, row: int) -> list[Signals]:
    """What drives each trajectory of a candidate; constants may differ between trajectories."""
    chosen = with_choice(model, row)
    return [chosen._signals(number) for number in range(len(model.dataset_))]


def driving_of(found: Sequence[Signals]) -> list[dict[str, Any]] | None:
    """The signals for a simulation on the page; None where they are too many for it."""
    if sum(len(one.knots) for one in found) > MOST_KNOTS:
        return None
    return [
        {
            "knots": one.knots.tolist(),
            "before": one.before.tolist(),
            "after": one.after.tolist(),
            "doses": one.doses.tolist(),
        }
        for one in found
    ]


def curves_csv(model: ODEFormer, row: int) -> str:
    """The curves of a candidate as a table."""
    one = explanation(model, row)
    lines = [",".join(["trajectory", model.dataset_.clock.name, *one.system.variables])]
    found = curves(one.system, one.starts, model.dataset_, signals=signals_of(model, row))
    for label, curve in zip(model.dataset_.labels, found, strict=True):
        for time, *values in zip(curve["times"], *curve["states"], strict=True):
            cells = ["" if value is None else repr(value) for value in (time, *values)]
            lines.append(",".join([_quoted(label), *cells]))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def _floats(values: Sequence[Any], what: str) -> Floats:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        raise SettingsError(f"{what} must be numbers")
    return found


def with_choice(model: ODEFormer, row: int) -> ODEFormer:
    """The same result with another candidate chosen."""
    explanation(model, row)
    other = copy(model)
    return other.choose(row)
