"""A fitted estimator as a JSON file: readable, versioned, and without code that runs when it is loaded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from odefinder.data import saved as saved_data
from odefinder.data.dataset import Dataset, Floats
from odefinder.edge.documents import MOST_BYTES, check_version, checked_document, parsed
from odefinder.edge.parameters import checked
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import (
    Anything,
    Array,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    Object,
    OrNone,
    Text,
    Whole,
)
from odefinder.edge.writing import write_text
from odefinder.errors import DataError, OdefinderError
from odefinder.inference.law import Law, Parameter
from odefinder.inference.outcome import Outcome
from odefinder.inference.remarks import Explanation
from odefinder.system import ODESystem

FORMAT, VERSION = "odefinder model", 2  # version 1 has no roles


_FINITE = Number("a finite number", -1.7e308, 1.7e308)
_LAW = Object(
    {
        "system": Anything("a saved system"),
        "parameters": ListOf(
            Object(
                {
                    "name": Text(),
                    "values": ListOf(_FINITE, least=1),
                    "varied": Flag(),
                    "lower": OrNone(_FINITE),
                    "upper": OrNone(_FINITE),
                    "equal": ListOf(Text()),
                    "tied": Flag(),
                }
            )
        ),
        "fixed": MapOf(_FINITE),
    }
)
_SYSTEM = Object(
    {
        "r2": OrNone(_FINITE),
        "criterion": _FINITE,
        "weight": Number("a number from 0 to 1", 0.0, 1.0 + 1e-9),
        "source": Text(),
        "starts": Array(2),
        "system": Anything("a saved system"),
    },
    {
        "constants": MapOf(Either("a number, or a list of them", (_FINITE, ListOf(_FINITE)))),
        "law": _LAW,
        "r2_windows": OrNone(_FINITE),
    },
)
MODEL = Object(
    {
        "parameters": Object({}, keep=True),
        "chosen": Whole("the number of a row", 0, 10**6),
        "systems": ListOf(_SYSTEM, least=1, most=100_000, sentence="a list of systems"),
        "noise": Array(1, missing=True),
        "notes": ListOf(Text()),
        "data": saved_data.DATA,
    },
    {"early": Flag()},
)


@dataclass(frozen=True)
class Saved:
    """What is in a file."""

    parameters: dict[str, Any]
    dataset: Dataset
    outcome: Outcome
    chosen: int


def write(path: str | Path, saved: Saved) -> None:
    """Write the file."""
    file = checked("path", path)
    write_text(file, json.dumps(as_dict(saved), ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def read(path: str | Path) -> Saved:
    """Read the file, or say what is wrong with it."""
    file = checked("path", path)
    content = read_bytes(file, MOST_BYTES)
    try:
        return _from_dict(parsed(content))
    except OdefinderError as error:
        raise DataError(f"cannot read {path}: {error}") from None


def as_dict(saved: Saved) -> dict[str, Any]:
    """Plain data; numbers that are not finite become null."""
    data, outcome = saved.dataset, saved.outcome
    return {
        "format": FORMAT,
        "version": 2 if saved_data.has_roles(data) else 1,
        "odefinder": version("odefinder"),
        "parameters": {name: _plain(value) for name, value in saved.parameters.items()},
        "chosen": saved.chosen,
        "systems": [
            {
                "complexity": one.system.complexity,
                "r2": _number(one.r2),
                **({} if one.r2_windows is None else {"r2_windows": _number(one.r2_windows)}),
                "criterion": one.criterion,
                "weight": one.weight,
                "source": one.source,
                "starts": one.starts.tolist(),
                "system": one.system.to_dict(),
                **(
                    {"constants": {name: _plain(value) for name, value in one.constants.items()}}
                    if one.constants
                    else {}
                ),
                **({} if one.law is None else {"law": _law_dict(one.law)}),
            }
            for one in outcome.explanations
        ],
        "noise": [_number(value) for value in outcome.noise.tolist()],
        "notes": outcome.notes,
        "early": outcome.early,
        "data": saved_data.as_dict(data),
    }


def _from_dict(content: Any) -> Saved:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'this is not a saved model: it lacks the entry "format": "{FORMAT}"')
    check_version(content, VERSION)
    content = checked_document(content, MODEL, "the saved model")
    dataset = saved_data.read_dict(content["data"])
    explanations = [
        Explanation(
            ODESystem.from_dict(one["system"]),
            _floats(one["starts"]),
            _share(one["r2"]),
            float(one["criterion"]),
            float(one["weight"]),
            str(one["source"]),
            {
                name: tuple(value) if isinstance(value, list) else float(value)
                for name, value in one.get("constants", {}).items()
            },
            _read_law(one["law"], dataset) if "law" in one else None,
            _share(one["r2_windows"]) if "r2_windows" in one else None,
        )
        for one in content["systems"]
    ]
    early = bool(content.get("early", False))
    outcome = Outcome(explanations, _floats(content["noise"]), list(content["notes"]), early)
    _check_agreement(dataset, outcome, content["chosen"])
    return Saved(dict(content["parameters"]), dataset, outcome, int(content["chosen"]))


def _share(r2: float | None) -> float:
    return -np.inf if r2 is None else float(r2)


def _law_dict(law: Law) -> dict[str, Any]:
    return {
        "system": law.system.to_dict(),
        "parameters": [
            {
                "name": one.name,
                "values": list(one.values),
                "varied": one.varied,
                "lower": _number(one.bounds[0]),
                "upper": _number(one.bounds[1]),
                "equal": list(one.equal),
                "tied": one.tied,
            }
            for one in law.parameters
        ],
        "fixed": dict(law.fixed),
    }


def _read_law(content: Any, dataset: Dataset) -> Law:
    parameters = tuple(
        Parameter(
            one["name"],
            tuple(map(float, one["values"])),
            one["varied"],
            (
                -np.inf if one["lower"] is None else float(one["lower"]),
                np.inf if one["upper"] is None else float(one["upper"]),
            ),
            tuple(one["equal"]),
            one["tied"],
        )
        for one in content["parameters"]
    )
    law = Law(ODESystem.from_dict(content["system"]), parameters, tuple(content["fixed"].items()))
    names, counts = (
        tuple(one.name for one in parameters),
        {len(one.values) for one in parameters if one.varied},
    )
    if law.system.names != (*dataset.names, *names) or counts - {len(dataset)}:
        raise DataError("the saved model is damaged: the parameters do not belong to its data")
    return law


def _check_agreement(dataset: Dataset, outcome: Outcome, chosen: int) -> None:
    """Raise if the parts of a file are not about the same variables and trajectories."""
    shape = (len(dataset), dataset.dimension)
    for row, one in enumerate(outcome.explanations):
        if one.system.variables != dataset.variables or one.starts.shape != shape:
            raise DataError(f"the saved model is damaged: systems/{row} does not belong to its data")
    if outcome.noise.shape != (dataset.dimension,) or chosen >= len(outcome.explanations):
        raise DataError("the saved model is damaged: noise or chosen do not belong to its data")


def _floats(values: Any) -> Floats:
    """An array; null is NaN."""
    return np.array(values, dtype=np.float64)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it; what it cannot (a random generator) is None."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, ODESystem):
        return value.to_text()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else None
