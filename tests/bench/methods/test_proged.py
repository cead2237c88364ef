"""Systems drawn from grammars, and the method that fits them."""

import numpy as np
import pytest

from odefinder.bench.grammars import GRAMMARS, MAX_NODES, sample_equation
from odefinder.bench.methods.proged import METHODS, proged_method
from odefinder.bench.metrics import trajectory_r2
from odefinder.errors import OdefinderError
from odefinder.expressions.program import check_system, concatenate
from odefinder.numerics.integrate import integrate
from tests.programs import words

T = np.linspace(0.0, 5.0, 60)
CUBIC = words("add x0 mul -1 pow3 x0")  # x' = x - x^3


@pytest.mark.parametrize("name", GRAMMARS)
def test_samples_are_equations_of_the_grammar(name: str) -> None:
    rules = GRAMMARS[name]
    for productions in rules.values():
        assert sum(share for share, _ in productions) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    equations = [sample_equation(rules, 2, rng) for _ in range(200)]
    assert max(map(len, equations)) <= MAX_NODES
    for equation in equations:
        check_system(concatenate([equation, words("0")]), 2)
    operators = set().union(*(equation.operators() for equation in equations))
    assert operators <= {word for rule in rules.values() for _, text in rule for word in text.split()}
    assert ("sin" in operators) == (name in ("trigonometric", "universal"))


def test_finds_a_cubic_law() -> None:
    path, _ = integrate(CUBIC, [0.1], T)
    program = proged_method(samples=60, fitted=8).fit(T, path, 0)
    assert trajectory_r2(program, path[0], T, path) > 0.999
    other, _ = integrate(CUBIC, [0.5], T)
    assert trajectory_r2(program, other[0], T, other) > 0.99


def test_seed_decides() -> None:
    path, _ = integrate(words("mul -1 x1 x0"), [1.0, 0.0], T)
    noisy = path + 0.05 * np.random.default_rng(0).normal(size=path.shape)
    method = proged_method(samples=15, fitted=4)
    assert method.fit(T, noisy, 3) == method.fit(T, noisy, 3)
    assert method.fit(T, noisy, 3) != method.fit(T, noisy, 4)


def test_hostile_data_end_in_one_of_our_errors_or_a_system() -> None:
    method = proged_method(samples=10, fitted=3)
    assert METHODS[0].missing is None
    with pytest.raises(OdefinderError):
        method.fit(T, np.full((60, 2), np.nan), 0)
    check_system(method.fit(T, np.ones((60, 1)), 0), 1)
    check_system(method.fit(T[:5], T[:5, None], 0), 1)
