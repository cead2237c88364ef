"""The chaotic set: complete, integrated, and marked where other sets have the same system."""

import json
from pathlib import Path

import numpy as np
import pytest

from odefinder.bench.chaotic.flows import Flow, read_flows
from odefinder.bench.protocol import same_structure
from odefinder.bench.sets import load_set
from odefinder.bench.systems import odebench
from odefinder.errors import DataError
from odefinder.numerics.chaos.lyapunov import lyapunov_spectrum

PATH = Path(__file__).parents[3] / "benchmarks" / "sets" / "chaotic.json"
FLOWS = read_flows(PATH)


def named(name: str) -> Flow:
    return next(flow for flow in FLOWS if flow.id == name)


def test_the_study_has_70_polynomial_systems() -> None:
    study = [flow for flow in FLOWS if flow.study]
    assert len(study) == 70
    assert all(flow.polynomial for flow in study)
    assert len({flow.id for flow in FLOWS}) == len(FLOWS) >= 90


def test_what_is_called_polynomial_is() -> None:
    sympy = pytest.importorskip("sympy")
    for flow in FLOWS:
        symbols = sympy.symbols(flow.system.variables, real=True)
        assert all(side.is_polynomial(*symbols) for side in flow.system.sympy()) == flow.polynomial, flow.id


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.id)
def test_a_flow_moves_on_without_end(flow: Flow) -> None:
    """Finite, and in the last of five periods it still moves; some variables only have rare spikes."""
    t = np.linspace(0.0, 5.0 * flow.period, 251)
    states = flow.trajectory(np.array(flow.start), t)
    assert np.isfinite(states).all()
    covered, late = np.ptp(states, axis=0), np.ptp(states[-51:], axis=0)
    assert (late > 0.0).all()
    assert late.max() > 0.1 * covered[late.argmax()]
    assert len(flow.lyapunov) == flow.system.dimension


def test_systems_whose_structure_other_sets_have_are_marked() -> None:
    textbook = load_set(str(PATH.with_name("textbook.json")))
    others = [(f"odebench {entry.id}", entry.system()) for entry in odebench()]
    others += [(f"textbook {entry.id}", entry.system) for entry in textbook]
    for flow in FLOWS:
        found = [
            name
            for name, other in others
            if other.dimension == flow.system.dimension and same_structure(flow.program, other.program)
        ]
        assert found == list(flow.also_in), flow.id


@pytest.mark.parametrize(
    ("name", "exponent"), [("lorenz", 0.906), ("rossler", 0.0714), ("chen", 2.027), ("halvorsen", 0.69)]
)
def test_exponents_are_those_of_the_literature(name: str, exponent: float) -> None:
    """Sprott, Chaos and Time-Series Analysis (2003); all systems: benchmarks/exponents.py."""
    flow = named(name)
    found = lyapunov_spectrum(flow.program, flow.start, flow.period, periods=150.0, transient=10.0)
    assert found.largest == pytest.approx(exponent, rel=0.15)
    assert found.chaotic


def test_the_benchmark_reads_the_same_file(tmp_path: Path) -> None:
    few = [entry for entry in json.loads(PATH.read_text("utf-8")) if entry["id"] in ("lorenz", "thomas")]
    (tmp_path / "few.json").write_text(json.dumps(few), encoding="utf-8")
    systems = load_set(str(tmp_path / "few.json"))
    assert [system.id for system in systems] == ["lorenz", "thomas"]
    assert len(systems[0].t) == 500


def test_a_file_that_is_no_set_of_flows(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"id": "x"}]')
    with pytest.raises(DataError, match="chaotic flows"):
        read_flows(tmp_path / "bad.json")
