"""How functions are compiled."""

from pathlib import Path

import numba
import numpy as np
import pytest

from odefinder.compiling.jit import compiled


def twice(x: float) -> float:
    return 2.0 * x


def test_numbas_own_setting_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    function = compiled(twice)
    assert str(tmp_path) == numba.config.CACHE_DIR
    assert function(1.5) == 3.0


def divided(a: float, b: float) -> float:
    return a / b


def test_division_is_numpys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    function = compiled(divided)
    assert function(1.0, 0.0) == np.inf
    assert np.isnan(function(0.0, 0.0))
