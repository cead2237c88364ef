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
from odefinder.errors import DataError, OdefinderError
from odefinder.inference.find import Outcome
from odefinder.inference.remarks import Explanation
from odefinder.system import ODESystem

FORMAT, VERSION = "odefinder model", 2  # version 1 has no roles


@dataclass(frozen=True)
class Saved:
    """What is in a file."""

    parameters: dict[str, Any]
    dataset: Dataset
    outcome: Outcome
    chosen: int


def write(path: str | Path, saved: Saved) -> None:
    """Write the file."""
    text = json.dumps(as_dict(saved), ensure_ascii=False, allow_nan=False, indent=1)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from None


def read(path: str | Path) -> Saved:
    """Read the file, or say what is wrong with it."""
    try:
        return _from_dict(json.loads(Path(path).read_bytes().decode("utf-8")))
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path (now in {Path.cwd()})") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except OdefinderError as error:
        raise DataError(f"cannot read {path}: {error}") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise DataError(f"cannot read {path}: this is not JSON; give what ODEFormer.save wrote") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise DataError(f"cannot read {path}: it is damaged ({type(error).__name__}: {error})") from None


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
                "criterion": one.criterion,
                "weight": one.weight,
                "source": one.source,
                "starts": one.starts.tolist(),
                "system": one.system.to_dict(),
            }
            for one in outcome.explanations
        ],
        "noise": [_number(value) for value in outcome.noise.tolist()],
        "notes": outcome.notes,
        "data": saved_data.as_dict(data),
    }


def _from_dict(content: Any) -> Saved:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'this is not a saved model: it lacks the entry "format": "{FORMAT}"')
    if content["version"] > VERSION:
        raise DataError(
            f"it was saved in version {content['version']} of the format, and this odefinder reads up to "
            f"version {VERSION}: update odefinder"
        )
    dataset = saved_data.read_dict(content["data"])
    explanations = [
        Explanation(
            ODESystem.from_dict(one["system"]),
            _floats(one["starts"]),
            -np.inf if one["r2"] is None else float(one["r2"]),
            float(one["criterion"]),
            float(one["weight"]),
            str(one["source"]),
        )
        for one in content["systems"]
    ]
    outcome = Outcome(explanations, _floats(content["noise"]), list(content["notes"]))
    return Saved(dict(content["parameters"]), dataset, outcome, int(content["chosen"]))


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
