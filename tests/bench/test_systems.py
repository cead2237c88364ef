"""The benchmark data: shape, self-consistency, and derivatives worked out by hand."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from odefinder.bench import BenchSystem, odebench, strogatz

FUNCTIONS = {"sin", "cos", "tan", "cot", "exp", "log", "abs"}
ODEBENCH = odebench()
STROGATZ = strogatz()
EVERY_SYSTEM = pytest.mark.parametrize("bench", [*ODEBENCH, *STROGATZ], ids=lambda bench: str(bench.id))


def odebench_system(number: int) -> BenchSystem:
    return ODEBENCH[number - 1]


def strogatz_system(name: str) -> BenchSystem:
    return next(bench for bench in STROGATZ if bench.id == name)


def test_odebench_has_the_published_counts():
    assert [bench.id for bench in ODEBENCH] == list(range(1, 64))
    assert Counter(bench.dimension for bench in ODEBENCH) == {1: 23, 2: 28, 3: 10, 4: 2}
    assert [bench.id for bench in ODEBENCH if bench.chaotic] == [56, 59, 60, 61]
    assert all(len(bench.initial_values) == 2 for bench in ODEBENCH)


def test_strogatz_has_seven_planar_systems_with_four_initial_values():
    names = [bench.id for bench in STROGATZ]
    assert names == ["bacres", "barmag", "glider", "lv", "predprey", "shearflow", "vdp"]
    assert all(bench.dimension == 2 and len(bench.initial_values) == 4 for bench in STROGATZ)


@EVERY_SYSTEM
def test_fields_agree_with_each_other(bench):
    assert list(bench.variables) == [f"x{i}" for i in range(bench.dimension)]
    assert list(bench.parameters) == [f"c{i}" for i in range(len(bench.parameters))]
    assert len(bench.equations) == bench.dimension
    assert all(len(values) == bench.dimension for values in bench.initial_values)
    assert all(bench.variables.values())
    assert bench.name
    assert bench.description
    assert bench.source


@EVERY_SYSTEM
def test_equations_mention_their_variables_and_all_their_parameters_only(bench):
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(bench.equations))) - FUNCTIONS
    assert words <= bench.variables.keys() | bench.parameters.keys()
    assert words >= bench.parameters.keys()


@EVERY_SYSTEM
def test_every_system_has_a_finite_derivative_at_its_initial_values(bench):
    system = bench.system()
    for values in bench.initial_values:
        derivative = np.asarray(system.derivative(np.array(values)))
        assert derivative.shape == (bench.dimension,)
        assert np.isfinite(derivative).all()


# Written out with plain numbers, so that the data and the parser are checked against arithmetic.
BY_HAND = [
    (odebench_system(1), 0, [(0.7 - 10.0 / 1.2) / 2.31]),
    (odebench_system(4), 0, [1 / (1 + math.exp(0.5 - 0.8 / 0.96)) - 0.5]),
    (odebench_system(10), 1, [0.2 * 0.34**1.2 * 0.66 - 0.34 * 0.8 * 0.66**1.2]),
    (odebench_system(11), 0, [-39.304]),
    (odebench_system(27), 0, [-25.647, 35.5164]),  # 8.3 (1.84 - 4.93) and -3.4 (3 - 13.446)
    (odebench_system(35), 1, [math.cos(2.4) / math.tan(1.7), math.sin(2.4) * (1 + 3.2 * math.sin(1.7) ** 2)]),
    (odebench_system(44), 0, [-0.2, 1.67 + 0.64 * 0.04 - math.sin(1.47)]),
    (odebench_system(56), 0, [58.0, 27.78, 18.63 - 8 * 12.4 / 3]),
    (odebench_system(63), 0, [-0.01512, -0.12588, 0.114, 0.027]),
    (
        strogatz_system("bacres"),
        0,
        [10.985 - 9.015 * 12.802 / (1 + 0.5 * 9.015**2), 10 - 9.015 * 12.802 / (1 + 0.5 * 9.015**2)],
    ),
    (strogatz_system("lv"), 1, [-12.0, -3.0]),
    # The published data file d_vdp1.txt begins with 3.206, at the initial values before rounding.
    (strogatz_system("vdp"), 0, [10 * (0.217 - (0.357**3 - 0.357) / 3), -0.0357]),
]


@pytest.mark.parametrize(
    ("bench", "which", "expected"), BY_HAND, ids=lambda value: getattr(value, "name", "")
)
def test_derivatives_by_hand(bench, which, expected):
    derivative = bench.system().derivative(np.array(bench.initial_values[which]))
    np.testing.assert_allclose(derivative, expected, rtol=1e-12)
