import sys

import numpy as np
import pandas as pd
import pytest

from odefinder.bench.methods import pysr as method
from odefinder.expressions.parse import parse

from .trajectories import oscillator


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("(x0 * 1.5) - (0.5 * (x0 ^ 2))", "x0*1.5 - 0.5*x0^2"),
        ("neg(x1)^2", "(-x1)^2"),
        ("sin(neg(x0 + neg(x1))) / exp(x1)", "sin(-(x0 + (-x1))) / exp(x1)"),
        ("square(x0) + cube(x1) * inv(x0 + 2.0)", "x0^2 + x1^3 * (1/(x0 + 2))"),
        ("-1.2e-5 * x0", "-0.000012*x0"),
    ],
)
def test_formulas(text, meaning):
    names = ["x0", "x1"]
    assert method.formula(text, names) == parse(meaning, names)


def test_front_of_a_table():
    table = pd.DataFrame(
        {"equation": ["1.0", "x0", "gamma(x0)", "x0 + x0"], "loss": [4.0, 2.0, 1.0, np.inf], "complexity": 1}
    )
    front = method.front(table, ["x0"], spread=4.0)
    assert front == [(1.0, parse("1.0", ["x0"])), (0.5, parse("x0", ["x0"]))]


def test_a_fit_with_what_pysr_would_return(monkeypatch):
    class Fake:
        def __init__(self, **settings):
            assert settings["niterations"] == 50

        def fit(self, x, y, variable_names):
            assert x.shape == y.shape
            equations = (["x0", "x1"], ["-2.0 * x0", "(-2.0 * x0) - (0.2 * x1)"])
            self.equations_ = [pd.DataFrame({"equation": e, "loss": [0.1, 0.2]}) for e in equations]

    monkeypatch.setitem(sys.modules, "pysr", type("pysr", (), {"PySRRegressor": Fake}))
    t, x, system = oscillator()
    assert method.fit(t, x, 0) == system.program


def test_without_pysr_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr("odefinder.bench.methods.method.find_spec", lambda name: None)
    assert "import pysr" in method.METHODS[0].missing


def test_without_julia_the_failure_is_clear(monkeypatch, tmp_path):
    (tmp_path / "pysr.py").write_text("raise RuntimeError('no Julia could be fetched')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pysr", raising=False)
    t, x, _ = oscillator()
    with pytest.raises(method.JuliaError, match=r"no Julia could be fetched.*fetches Julia"):
        method.fit(t, x, 0)
