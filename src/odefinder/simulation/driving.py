"""What drives a simulation: inputs, conditions and doses as users give them -> Signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import dose_signals, given_doses
from odefinder.data.inputs import signals_of, sources
from odefinder.data.names import did_you_mean
from odefinder.data.roles import TIME_NAME
from odefinder.edge.arrays import numbers
from odefinder.edge.rules import shown
from odefinder.errors import DataError
from odefinder.numerics.knots import merged
from odefinder.numerics.signals import Signals, linear

Floats = NDArray[np.float64]


def driving_signals(
    names: Sequence[str], inputs: Any, conditions: Mapping[str, Any] | None, times: Floats
) -> tuple[Signals, tuple[str, ...]]:
    """The signals with these names between the first and the last time, and notes about them."""
    if isinstance(inputs, Signals):
        if inputs.before.shape[1] != len(names):
            raise DataError(
                f"there are {inputs.before.shape[1]} signals for the {len(names)} inputs{_of(names)}"
            )
        return inputs, ()
    if conditions is not None and not isinstance(conditions, Mapping):
        raise DataError("conditions are given by name: conditions={'NAME': 1.0}")
    wanted = [name for name in names if name != TIME_NAME]
    given = dict[tuple[str, ...], Any]()
    if inputs is not None:
        open_names = [name for name in wanted if name not in (conditions or {})]
        if not open_names and not isinstance(inputs, Mapping):
            raise DataError(f"the system has no inputs that could be given{_of(names)}; leave inputs out")
        given.update(sources(inputs, float(times[0]), open_names))
    for name, value in (conditions or {}).items():
        if not isinstance(value, Real):
            raise DataError(
                f"the condition {name} is {shown(value)}; give one number (a signal belongs to inputs=)"
            )
        if (name,) in given:
            raise DataError(f"{name} is given twice, in inputs and in conditions; give it once")
        given[str(name),] = value
    _check_names(wanted, [name for group in given for name in group])
    known = signals_of(given, times)
    if TIME_NAME not in names:
        parts = known.signals
    else:
        ends = np.unique(times[[0, -1]])
        parts = merged([known.signals, linear(ends, ends[:, None])])
    columns = [known.names.index(name) if name != TIME_NAME else len(known.names) for name in names]
    signals = parts._replace(
        before=np.ascontiguousarray(parts.before[:, columns]),
        after=np.ascontiguousarray(parts.after[:, columns]),
    )
    return signals, known.notes


def with_doses(signals: Signals, doses: Mapping[str, Any] | None, variables: Sequence[str]) -> Signals:
    """The signals, and jumps of states."""
    added = given_doses(doses, variables)
    return merged([signals, dose_signals(added, variables)]) if added else signals


def input_values(names: Sequence[str], inputs: Any, points: int) -> Floats:
    """The values (points, I) of inputs that are given by name or as an array, not as signals."""
    if not names:
        if inputs is not None:
            raise DataError("the system has no inputs; leave inputs out")
        return np.empty((points, 0))
    if inputs is None:
        raise DataError(f"the system has inputs: {_how(names, 1.0)}")
    if isinstance(inputs, Mapping):
        _check_names(names, [str(name) for name in inputs])
    try:
        if isinstance(inputs, Mapping):
            columns = [numbers(inputs[name], "inputs") for name in names]
            inputs = np.column_stack([np.broadcast_to(column, points) for column in columns])
        return np.array(np.broadcast_to(numbers(inputs, "inputs"), (points, len(names))), order="C")
    except (DataError, ValueError):  # the second: of another shape
        raise DataError(
            f"inputs must be numbers, {len(names)} for each point, in the order {', '.join(names)}"
        ) from None


def _check_names(wanted: Sequence[str], given: Sequence[str]) -> None:
    for name in given:
        if name == TIME_NAME and name not in wanted:
            raise DataError("an input called t is the time itself, which is known; leave it out of inputs")
        if name not in wanted:
            raise DataError(
                f"{name!r} is not an input of the system{_of(wanted)}{did_you_mean(name, wanted)}"
            )
    missing = [name for name in wanted if name not in given]
    if missing:
        raise DataError(f"the system has inputs that were not given: {_how(missing, '...')}")


def _how(names: Sequence[str], example: Any) -> str:
    shown = ", ".join(f"{name!r}: {example}" for name in names)
    return f"{', '.join(names)}. Give inputs={{{shown}}}: an array on the times, a function u(t) or a number"


def _of(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else " (it has none)"
