"""The data that come with odefinder: what they are, what their columns are, and how they are fitted.

Where they come from, and their licences: data/samples/README.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from odefinder.errors import DataError


@dataclass(frozen=True)
class Sample:
    """A file, the roles of its columns, and the parameters of a fit."""

    about: str
    inputs: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    errors: Mapping[str, float] = field(default_factory=dict)  # how close to each variable is close enough
    variables: tuple[str, ...] = ()  # those that are used; none: all
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of ODEFormer

    def options(self) -> list[str]:
        """What the command line needs to read and fit it alike."""
        words = ["--variables", ",".join(self.variables)] if self.variables else []
        for flag, names in (("--input", self.inputs), ("--condition", self.conditions)):
            words += [word for name in names for word in (flag, name)]
        words += [word for name, value in self.errors.items() for word in ("--error", f"{name}={value:g}")]
        for name, value in self.parameters.items():
            flag = "--budget" if name == "time_budget" else f"--{name.replace('_', '-')}"
            words += [flag, shlex.quote(f"{value:g}" if isinstance(value, float) else str(value))]
        return words


BUNDLED: dict[str, Sample] = {
    "hare_lynx": Sample("pelts of hare and lynx, 1900-1920"),
    "pendulum": Sample("a damped pendulum, simulated with noise"),
    "single_pendulum": Sample(
        "a swinging arm, angles only: second order",
        errors={"theta": 0.01},
        parameters={"order": 2, "time_budget": 30.0},
    ),
    "double_pendulum": Sample(
        "two coupled arms, wild swings: chaos; its law is not found",
        parameters={"order": 2, "time_budget": 60.0},
    ),
    "ball_drop": Sample("a light ball that falls 47 m: gravity and drag", parameters={"order": 2}),
    "emps": Sample(
        "a linear drive with friction: second order, input",
        inputs=("u",),
        parameters={"order": 2, "time_budget": 60.0},
    ),
    "tanks": Sample(
        "two tanks in a cascade, one of them unseen: input",
        inputs=("u",),
        parameters={"order": 2, "time_budget": 60.0},
    ),
    "alpha_pinene": Sample("a reaction with five species at nine times"),
}


def bundled(name: str) -> Sample:
    """One of them."""
    if name not in BUNDLED:
        raise DataError(f"there is no sample {name!r}; there are {', '.join(BUNDLED)}")
    return BUNDLED[name]


def sample_path(name: str) -> Path:
    """Where the CSV file of a sample is."""
    return Path(str(files("odefinder.data"))) / "samples" / f"{name}.csv"
