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

from odefinder.edge.rules import shown
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
            flag = "budget" if name == "time_budget" else name.replace("_", "-")
            if name == "bounds":
                for constant, (low, high) in value.items():
                    words += ["--bounds", f"{constant}={_bound(low)}:{_bound(high)}"]
            elif isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                words += [f"--{flag}", _quoted(f"{value:g}" if isinstance(value, float) else str(value))]
        return words


def _quoted(text: str) -> str:
    """As a shell reads it; equations have primes, so double quotes are easier to read."""
    plain = "'" in text and not set(text) & set('"$`\\\\!')
    return f'"{text}"' if plain else shlex.quote(text)


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


# Two coupled arms after Lagrange: inertia and weights relative to the inertia of the first arm, friction.
_APART = "(theta1 - theta2)"
_FIRST = f"(G*sin(theta1) - b*sin{_APART}*theta2_dot^2 - k*theta1_dot)"
_SECOND = f"(H*sin(theta2) + b*sin{_APART}*theta1_dot^2 - m*(theta2_dot - theta1_dot))"
_MASS = f"(w - b^2*cos{_APART}^2)"
_ARMS = (
    f"theta1_dot' = (w*{_FIRST} - b*cos{_APART}*{_SECOND})/{_MASS}; "
    f"theta2_dot' = ({_SECOND} - b*cos{_APART}*{_FIRST})/{_MASS}"
)
_PINENE = (
    "y1' = -(k1 + k2)*y1; y2' = k1*y1; y3' = k2*y1 - (k3 + k4)*y3 + k5*y5; y4' = k3*y3; y5' = k4*y3 - k5*y5"
)
_TANKS = "y' = a*sqrt(x) - b*sqrt(y); x' = c*u - a*sqrt(x)"
_DRIVE = "q_dot' = a*u - b*q_dot - c*tanh(1000*q_dot) + d"

BUNDLED: dict[str, Sample] = {
    "hare_lynx": Sample("pelts of hare and lynx, 1900-1920"),
    "pendulum": Sample("a damped pendulum, simulated with noise"),
    "single_pendulum": Sample(
        "a swinging arm, angles only: second order",
        errors={"theta": 0.01},
        parameters={"order": 2, "time_budget": 30.0},
    ),
    "double_pendulum": Sample(
        "two coupled arms: chaos, the constants of a known law",
        errors={"theta1": 0.02, "theta2": 0.02, "theta1_dot": 0.2, "theta2_dot": 0.2},
        parameters={"order": 2, "known": _ARMS, "time_budget": 30.0},
    ),
    "ball_drop": Sample(
        "a light ball that falls 47 m: gravity and drag", errors={"h": 0.1}, parameters={"order": 2}
    ),
    "emps": Sample(
        "a linear drive with dry friction: second order, input, the constants of a known law",
        inputs=("u",),
        parameters={"order": 2, "known": _DRIVE},
    ),
    "tanks": Sample(
        "two tanks in a cascade, the upper one unseen: input, a hidden variable",
        inputs=("u",),
        parameters={"hidden": 1, "known": _TANKS},
    ),
    "boarding_school": Sample(
        "influenza among 763 boys: the susceptible are hidden",
        parameters={
            "hidden": 1,
            "known": "S' = -b*S*I; I' = b*S*I - g*I",
            "bounds": {"b": (0.0, None), "g": (0.0, None)},
        },
    ),
    "alpha_pinene": Sample(
        "a reaction of five species: rates of a known scheme", parameters={"known": _PINENE}
    ),
    "warfarin": Sample(
        "concentrations after an oral dose, twelve people: the depot is hidden",
        variables=("C",),
        parameters={"hidden": 1, "known": "D' = -a*D; C' = a*D - k*C"},
    ),
}


def bundled(name: str) -> Sample:
    """One of them."""
    if not isinstance(name, str) or name not in BUNDLED:
        raise DataError(f"there is no sample {shown(name)}; there are {', '.join(BUNDLED)}")
    return BUNDLED[name]


def sample_path(name: str) -> Path:
    """Where the CSV file of a sample is."""
    return Path(str(files("odefinder.data"))) / "samples" / f"{name}.csv"
