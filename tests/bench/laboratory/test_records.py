"""Records: described inputs become signals, and nothing beyond the seen time is given away."""

import numpy as np
import pytest

from odefinder.bench.laboratory.records import read_record, read_signal
from odefinder.errors import DataError
from odefinder.numerics.knots import values_at
from odefinder.system import ODESystem

T = np.linspace(0.0, 10.0, 41)


def at(described: dict[str, object], times: list[float]) -> list[float]:
    return values_at(read_signal(described, T), np.array(times))[:, 0].tolist()


def test_steps_hold_and_ramps_are_linear() -> None:
    assert at({"kind": "steps", "times": [0, 5], "values": [1, 2]}, [0, 4.9, 5, 9]) == [1, 1, 2, 2]
    assert at({"kind": "ramps", "times": [0, 4], "values": [1, 3]}, [0, 2, 4, 9]) == [1, 2, 3, 3]


def test_pulses_return_to_the_base() -> None:
    pulses = {"kind": "pulses", "base": 1, "height": 8, "starts": [3, 7], "width": 1}
    assert at(pulses, [0, 3.5, 5, 7.5, 9]) == [1, 8, 1, 8, 1]


def test_a_multisine_is_exact_at_the_observed_times() -> None:
    sines = {"kind": "multisine", "mean": 4, "amplitudes": [2], "frequencies": [1.3], "phases": [0.4]}
    assert at(sines, T.tolist()) == pytest.approx(4 + 2 * np.sin(1.3 * T + 0.4))


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(DataError, match="one of steps, ramps, pulses, multisine, not 'noise'"):
        read_signal({"kind": "noise"}, T)


def test_a_simulation_reads_inputs_conditions_time_and_doses() -> None:
    entry = {
        "start": [1.0],
        "inputs": {"u": {"kind": "steps", "times": [0, 5], "values": [0, 2]}},
        "conditions": {"k": 0.5},
        "doses": {"x": [[2.0, 10.0]]},
    }
    system = ODESystem.from_text("x' = u + k + 2*t", inputs=["k", "t", "u"])
    states = read_record(entry, T).simulate(system, [1.0], T)[:, 0]
    expected = 1.0 + 0.5 * T + T**2 + 10.0 * (T > 2.0) + 2.0 * np.clip(T - 5.0, 0.0, None)
    assert states == pytest.approx(expected, rel=1e-6)


def test_the_future_of_inputs_and_doses_is_cut_off() -> None:
    entry = {
        "start": [0.0],
        "inputs": {"u": {"kind": "ramps", "times": [0, 4, 10], "values": [0, 4, 100]}},
        "doses": {"x": [[2.0, 1.0], [8.0, 1.0]]},
    }
    known = read_record(entry, T).until(6.0)
    assert [dose.time for dose in known.doses] == [2.0]
    assert values_at(known.inputs["u"], np.array([4.0, 6.0, 9.0]))[:, 0].tolist() == [4.0, 36.0, 36.0]
