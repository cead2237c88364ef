"""The parameters of every public function: one table of types, ranges and sentences."""

from __future__ import annotations

from typing import Any

from odefinder.edge.rules import (
    Choice,
    Either,
    Flag,
    MapOf,
    Number,
    OrNone,
    PairOf,
    PathOf,
    Refused,
    Text,
    Whole,
)
from odefinder.errors import SettingsError

MOST_SAMPLES = 1_000  # the network keeps some megabytes for each
MOST_THREADS = 1_024
RUNTIMES = ("onnx", "torch")
FINITE = Number("a finite number", -1.7e308, 1.7e308)
DIGITS = OrNone(Whole("a whole number from 1 to 17", 1, 17))
POSITIVE = Number("a number above 0, and finite", 0.0, 1.7e308, above=True)

PARAMETERS: dict[str, Any] = {
    # of a fit
    "time_budget": OrNone(Number("a number of seconds above 0", 0.0, above=True)),
    "samples": Whole(f"a whole number from 1 to {MOST_SAMPLES}", 1, MOST_SAMPLES),
    "temperature": POSITIVE,
    "network": Flag(),
    "sparse": Flag(),
    "weights": OrNone(PathOf()),
    "runtime": Choice(RUNTIMES),
    "threads": Whole(f"a whole number from 1 to {MOST_THREADS}", 1, MOST_THREADS),
    "explicit_time": Flag(),
    "fixed": OrNone(MapOf(FINITE, sentence='a mapping of numbers, such as {"g": 9.81}')),
    "bounds": OrNone(MapOf(PairOf(OrNone(FINITE)), sentence='a mapping such as {"b": (0, None)}')),
    "round_constants": Flag(),
    "n_jobs": OrNone(Whole("a whole number from -1024 to 1024", -1024, 1024)),
    "backend": OrNone(Text("the name of a joblib back-end", most=100)),
    # of a simulation
    "rtol": POSITIVE,
    "atol": OrNone(POSITIVE),
    "max_steps": Whole("a whole number, 1 or more", 1, 2**62),
    "horizon": POSITIVE,
    "bands": Flag(),
    "errors_shown": Flag(),
    "level": Number("a number from 0.001 to 0.999999, such as 0.95", 1e-3, 1.0 - 1e-6),
    # of exports and files
    "digits": DIGITS,
    "shown_digits": Either('a whole number from 1 to 17, "enough" or None', (Choice(("enough",)), DIGITS)),
    "dpi": Number("a number from 10 to 2400", 10.0, 2400.0),
    "path": PathOf(),
    "folder": PathOf("the path of a folder, as text or a Path"),
    "function": Text("the name of a Python function: letters and digits", most=1_000),
    # of generate and bench
    "jobs": Whole(f"a whole number from 1 to {MOST_THREADS}", 1, MOST_THREADS),
    "count": Whole("a whole number of examples, 1 or more", 1, 2**48),
    "shard_size": Whole("a whole number of examples, 1 or more", 1, 2**31),
    # of the command line
    "port": Whole("a port, from 1 to 65535, or 0 for a free one", 0, 65_535),
    "budget": OrNone(Number("a number of seconds above 0", 0.0, above=True)),
    "seed": Whole("a whole number, 0 or more", 0, 2**128),
    "points": Whole("a whole number from 2 to 10 million", 2, 10_000_000),
    "t_start": OrNone(Number("a finite number", -1.7e308, 1.7e308)),
    "t_end": OrNone(Number("a finite number", -1.7e308, 1.7e308)),
}


def checked(name: str, value: Any) -> Any:
    """The value as plain Python if the parameter may have it; the error says what it may be."""
    return kept(name, value, PARAMETERS[name])


def kept(name: str, value: Any, rule: Any) -> Any:
    """The same with a rule that its caller has, such as the rows of a table."""
    try:
        return rule.read(value)
    except Refused as problem:
        raise SettingsError(problem.message(name)) from None


def checked_all(given: dict[str, Any]) -> dict[str, Any]:
    """Those of the parameters that the table knows, checked."""
    return {name: checked(name, value) for name, value in given.items() if name in PARAMETERS}
