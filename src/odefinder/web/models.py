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
from odefinder.output.higher_order import equations_latex, equations_text, state_names
from odefinder.system import ODESystem
from odefinder.web.advice import on_the_page, suggestions
from odefinder.web.curves import curves, residuals
from odefinder.web.plain import number, numbers
from odefinder.web.sliders import sliders_of, varied_of, with_varied
from odefinder.web.tables import data_of

MOST_KNOTS = 20_000  # of the inputs, for a simulation on the page
DIGITS = 4  # of constants that somebody chose
FARTHEST = 100.0  # durations of the data that a forecast may cover


def result_of(model: ODEFormer) -> dict[str, Any]:
    """The whole result, without curves."""
    found = model._fitted()
    sizes = [one.system.complexity for one in found]
    fronts = on_front(sizes, [-one.explained for one in found])
    return {
        "data": data_of(model.dataset_),
        "notes": [on_the_page(one) for one in model.notes_[len(model.dataset_.notes) :]],  # data have theirs
        "suggestions": suggestions(model),
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
    one, signals, chosen = explanation(model, row), signals_of(model, row), with_choice(model, row)
    return {
        "row": row,
        "latex": chosen.latex(),
        **played_with(one, model.dataset_),
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


def played_with(one: Explanation, dataset: Dataset) -> dict[str, Any]:
    """What sliders move, for a simulation on the page."""
    sliders, names = sliders_of(one, dataset), state_names(one.system, dataset)
    rows = zip(sliders.names, sliders.values, sliders.equations, strict=True)
    return {
        "program": {"ops": sliders.program.ops.tolist(), "values": sliders.program.values.tolist()},
        "owners": sliders.owners,
        "signs": sliders.signs,
        "constants": [
            {"name": name, "value": value, "equations": [f"{names[j]}'" for j in equations]}
            for name, value, equations in rows
        ],
        "varied": varied_of(one, dataset),
    }


def played(model: ODEFormer, wish: Mapping[str, Any]) -> dict[str, Any]:
    """A simulation with the constants and initial values of sliders, and a forecast."""
    row = wish.get("row", model.chosen_)
    one, data = explanation(model, row), model.dataset_
    sliders, varied = sliders_of(one, data), varied_of(one, data)
    constants = _floats(wish, "constants", sliders.values)
    starts = _floats(wish, "starts", one.starts.tolist())
    factors = _floats(wish, "factors", [1.0] * (len(data.inputs) + len(data.conditions) + 1))
    own = _floats(wish, "varied", [one["values"] for one in varied])
    until = _floats(wish, "until", 1.0)
    if not 0.0 < until <= FARTHEST:
        raise SettingsError(f"a forecast may last up to {FARTHEST:g} times as long as the data")
    system = ODESystem(sliders.moved(constants), one.system.variables, one.system.inputs)
    written = {"latex": equations_latex(system, data, DIGITS), "text": str(system)}
    if wish.get("curves") is False:  # the page simulates itself, and only wants the equations
        return written
    signals = signals_of(model, row)
    if varied:
        signals = with_varied(signals, [one["column"] for one in varied], own)
    scale = factors.tolist()
    return {
        **written,
        "curves": curves(system, starts, data, float(until), scale, signals),
        "residuals": residuals(system, starts, data, scale, signals),
    }


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


def _floats(wish: Mapping[str, Any], name: str, usual: Any) -> Floats:
    """Numbers of a request, in the shape of the usual ones."""
    shape = np.array(usual, dtype=np.float64).shape
    try:
        found = np.array(wish.get(name, usual), dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != shape or not np.isfinite(found).all():
        what = "a number" if shape == () else f"numbers, {' x '.join(map(str, shape))} of them"
        raise SettingsError(f"{name} must be {what}")
    return found


def with_choice(model: ODEFormer, row: int) -> ODEFormer:
    """The same result with another candidate chosen."""
    explanation(model, row)
    other = copy(model)
    return other.choose(row)
