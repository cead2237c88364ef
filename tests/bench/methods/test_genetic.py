"""AFP, FE-AFP, EHC and EPLEX as methods of the benchmark, with small budgets."""

import numpy as np
import pytest

from odefinder.bench.methods.genetic import METHODS, genetic_method
from odefinder.bench.metrics import trajectory_r2
from odefinder.errors import OdefinderError
from odefinder.expressions.program import check_system

T = np.linspace(0.0, 6.0, 60)
CIRCLE = np.stack([np.cos(T), -np.sin(T)], axis=1)  # x' = y, y' = -x
SMALL = ((100, 100),)  # enough for seeds 0 to 7; with (60, 40) one or two of the 32 fits fail


def test_the_paper_s_settings_are_on_record() -> None:
    assert [method.name for method in METHODS] == ["afp", "fe-afp", "ehc", "eplex"]
    assert all(method.missing is None for method in METHODS)
    by_name = {method.name: method.settings for method in METHODS}
    assert by_name["afp"]["population, generations"] == ((100, 2500), (500, 500), (1000, 250))
    assert by_name["ehc"]["population, generations"] == ((100, 1000), (500, 200), (1000, 100))


@pytest.mark.parametrize("name", ["afp", "fe-afp", "ehc", "eplex"])
def test_finds_the_harmonic_oscillator(name: str) -> None:
    method = genetic_method(name, search_share=0.1, sizes=SMALL)
    program = method.fit(T, CIRCLE, 0)
    check_system(program, 2)
    assert trajectory_r2(program, CIRCLE[0], T, CIRCLE) > 0.99


def test_seed_decides() -> None:
    noisy = CIRCLE + 0.1 * np.random.default_rng(0).normal(size=CIRCLE.shape)
    method = genetic_method("afp", search_share=0.05, sizes=((30, 20),))
    assert method.fit(T, noisy, 3) == method.fit(T, noisy, 3)
    assert method.fit(T, noisy, 3) != method.fit(T, noisy, 4)


def test_hostile_data_end_in_one_of_our_errors_or_a_system() -> None:
    method = genetic_method("afp", search_share=0.1, sizes=((10, 5),))
    with pytest.raises(OdefinderError):
        method.fit(T, np.full((60, 2), np.nan), 0)
    with pytest.raises(OdefinderError):
        method.fit(T, 1e160 * CIRCLE, 0)
    check_system(method.fit(T, np.ones((60, 1)), 0), 1)  # nothing moves
    check_system(method.fit(T[:5], CIRCLE[:5], 0), 2)
