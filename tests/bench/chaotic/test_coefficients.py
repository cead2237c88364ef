"""Coefficients of polynomial systems: expanded exactly, compared as in the study."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from odefinder.bench.chaotic.coefficients import coefficient_error, polynomials
from odefinder.expressions.program import Program
from odefinder.numerics.evaluate import evaluate
from odefinder.system import ODESystem


def program(*equations: str) -> Program:
    return ODESystem.from_text(list(equations), ["x", "y", "z"][: len(equations)]).program


LORENZ = program("10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z")


def test_lorenz_expanded() -> None:
    first, second, _ = polynomials(LORENZ) or []
    assert first == {(0, 1, 0): 10.0, (1, 0, 0): -10.0}
    assert second == {(1, 0, 0): 28.0, (1, 0, 1): -1.0, (0, 1, 0): -1.0}


def test_the_way_of_writing_does_not_matter() -> None:
    written = program("10*y - 10*x", "28*x - y - z*x", "y*x - z*8/3")
    assert coefficient_error(written, LORENZ) == pytest.approx(0.0, abs=1e-15)
    assert coefficient_error(program("(x + 1)**2 - x^2 - 2*x"), program("1")) == 0.0


def test_the_error_is_in_the_spectral_norm() -> None:
    """One coefficient of a diagonal matrix is off by 1; the largest is 4."""
    assert coefficient_error(program("4*x", "2*y", "z"), program("4*x", "y", "z")) == pytest.approx(0.25)


def test_terms_that_the_truth_lacks_count() -> None:
    assert coefficient_error(program("x + 0.5*x^5"), program("x")) == pytest.approx(0.5)
    assert coefficient_error(program("0*x"), program("x")) == pytest.approx(1.0)


@pytest.mark.parametrize("side", ["sin(x)", "1/x", "sqrt(x)", "x**2.5", "|x|", "x + exp(-x)", "x**(-1)"])
def test_what_is_not_polynomial_is_infinitely_far(side: str) -> None:
    assert coefficient_error(program(side), program("x")) == np.inf


def test_functions_of_constants_are_constants() -> None:
    assert polynomials(program("sqrt(4)*x + sin(0)*x^2 + 3/2")) == [
        {(1,): 2.0, (2,): 0.0, (0,): pytest.approx(1.5)}
    ]


sides = st.recursive(
    st.sampled_from(["x", "y", "2.5", "-0.75"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", "*"]), inner).map(
            lambda parts: f"({''.join(parts)})"
        ),
        inner.map(lambda text: f"({text})**2"),
    ),
    max_leaves=8,
)


@given(sides, st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
@example("(y + (x - y))", 2.2250738585072014e-308, 1.0)
def test_an_expanded_side_has_the_same_values(side: str, x: float, y: float) -> None:
    one = program(side, "x")
    expanded = (polynomials(one) or [])[0]
    terms = [value * x**i * y**j for (i, j), value in expanded.items()]
    value = evaluate(one, np.array([[x, y]]))[0, 0]
    without_signs = program(side.replace("-0.75", "0.75").replace(" - ", " + "), "x")
    largest = evaluate(without_signs, np.abs([[x, y]]))[0, 0]  # of all that may cancel on the way
    assert sum(terms) == pytest.approx(value, rel=1e-9, abs=1e-9 * largest + 1e-300)
