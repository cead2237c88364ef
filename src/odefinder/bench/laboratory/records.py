"""A record: one experiment, with its start, inputs, conditions and doses, and how a system runs through it.

Inputs are described in the file of a set by their "kind":

    {"kind": "steps", "times": [0, 5], "values": [1, 2]}       each value is held until the next time
    {"kind": "ramps", "times": [0, 5], "values": [1, 2]}       linear between the times
    {"kind": "pulses", "base": 0, "height": 8, "starts": [3, 9], "width": 2}
    {"kind": "multisine", "mean": 4, "amplitudes": [1.2], "frequencies": [0.02], "phases": [0.3]}

A multisine is sampled at the observed times and linear between them, as a recorded signal would be;
frequencies are angular ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import Dose
from odefinder.data.roles import TIME_NAME
from odefinder.edge.documents import checked_document
from odefinder.edge.rules import Array, Choice, MapOf, Number, Object
from odefinder.errors import DataError, SimulationWarning, StiffnessWarning
from odefinder.numerics.knots import merged, values_at
from odefinder.numerics.signals import Signals, constant, held, linear
from odefinder.system import ODESystem

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Record:
    """What was done in one experiment."""

    start: tuple[float, ...]  # of all true states
    inputs: Mapping[str, Signals]  # one signal each
    conditions: Mapping[str, float]
    doses: tuple[Dose, ...]

    def until(self, end: float) -> Record:
        """The same experiment as it is known at a time: no input and no dose beyond it."""
        return replace(
            self,
            inputs={name: _until(signal, end) for name, signal in self.inputs.items()},
            doses=tuple(dose for dose in self.doses if dose.time < end),
        )

    def driving(self, names: Sequence[str], t: Floats) -> Signals:
        """The signals with these names: inputs, conditions, the time."""
        return merged([self._signal(name, t) for name in names])

    def _signal(self, name: str, t: Floats) -> Signals:
        if name in self.inputs:
            return self.inputs[name]
        if name == TIME_NAME:
            return linear(t[[0, -1]], t[[0, -1], None])
        if name not in self.conditions:
            known = ", ".join([*self.inputs, *self.conditions]) or "nothing"
            raise DataError(f"the model reads {name}, but this experiment knows {known}")
        return constant([self.conditions[name]])._replace(knots=t[:1])

    def simulate(self, system: ODESystem, start: Sequence[float] | Floats, t: Floats) -> Floats:
        """The states (N, D) of a system in this experiment; NaN from where there is no solution."""
        doses = dict[str, list[tuple[float, float]]]()
        for dose in self.doses:
            doses.setdefault(str(dose.state), []).append((dose.time, dose.amount))
        signals = self.driving(system.inputs, t) if system.inputs else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)
            warnings.simplefilter("ignore", StiffnessWarning)
            return system.simulate(start, t, inputs=signals, doses=doses or None)


def _until(signal: Signals, end: float) -> Signals:
    """The signal up to a time, whose value there is kept."""
    before = signal.knots < end
    if before.all():
        return signal
    last = values_at(signal, np.array([end]), before=True)
    parts = Signals(*(part[before] for part in signal))
    nothing = np.empty((1, signal.doses.shape[1]))
    return Signals(*map(np.concatenate, zip(parts, (np.array([end]), last, last, nothing), strict=True)))


# ---------------------------------------------------------------------------------------- reading


def read_record(entry: Mapping[str, Any], t: Floats) -> Record:
    """The record of an entry of the file, which keeps `RECORD`."""
    doses = [
        Dose(float(time), float(amount), state)
        for state, pairs in entry.get("doses", {}).items()
        for time, amount in pairs
    ]
    return Record(
        tuple(map(float, entry["start"])),
        {name: read_signal(described, t) for name, described in entry.get("inputs", {}).items()},
        {name: float(value) for name, value in entry.get("conditions", {}).items()},
        tuple(sorted(doses)),
    )


def read_signal(described: Mapping[str, Any], t: Floats) -> Signals:
    """The signal of a description such as {"kind": "steps", "times": [0, 5], "values": [1, 2]}."""
    kind = checked_document(described, SIGNAL, "an input")["kind"]
    details = checked_document(described, SIGNALS[kind], f"an input of the kind {kind}")
    return KINDS[kind](t, **details)


def _steps(t: Floats, times: Sequence[float], values: Sequence[float]) -> Signals:
    return held(times, np.array(values, np.float64)[:, None])


def _ramps(t: Floats, times: Sequence[float], values: Sequence[float]) -> Signals:
    return linear(times, np.array(values, np.float64)[:, None])


def _pulses(t: Floats, base: float, height: float, starts: Sequence[float], width: float) -> Signals:
    times, values = [float(t[0])], [base]
    for start in starts:
        times += [start, start + width]
        values += [height, base]
    return _steps(t, times, values)


def _multisine(
    t: Floats, mean: float, amplitudes: Sequence[float], frequencies: Sequence[float], phases: Sequence[float]
) -> Signals:
    waves = np.array(amplitudes) * np.sin(np.outer(t, frequencies) + np.array(phases))
    return linear(t, mean + waves.sum(axis=1, keepdims=True))


KINDS: dict[str, Callable[..., Signals]] = {
    "steps": _steps,
    "ramps": _ramps,
    "pulses": _pulses,
    "multisine": _multisine,
}

_NUMBER = Number("a finite number", -1.7e308, 1.7e308)
_LIST = Array(1)
SIGNALS = {
    "steps": Object({"times": _LIST, "values": _LIST}),
    "ramps": Object({"times": _LIST, "values": _LIST}),
    "pulses": Object({"base": _NUMBER, "height": _NUMBER, "starts": _LIST, "width": _NUMBER}),
    "multisine": Object({"mean": _NUMBER, "amplitudes": _LIST, "frequencies": _LIST, "phases": _LIST}),
}
SIGNAL = Object({"kind": Choice(tuple(KINDS))}, keep=True)
RECORD = Object(
    {"start": _LIST},
    {
        "inputs": MapOf(SIGNAL, sentence="an object of inputs"),
        "conditions": MapOf(_NUMBER),
        "doses": MapOf(Array(2), sentence='an object such as {"A": [[12, 80]]}'),
    },
)
