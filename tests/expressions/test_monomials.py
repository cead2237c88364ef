"""Products of variables."""

from odefinder.expressions.drafts import finished
from odefinder.expressions.monomials import exponents, monomial
from odefinder.expressions.printing import to_text


def test_all_monomials_by_rising_degree() -> None:
    found = list(exponents(2, 3))
    assert len(found) == len(set(found)) == 1 + 2 + 3 + 4
    assert found[:6] == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]


def test_how_one_is_written() -> None:
    assert monomial((0, 0)) == []
    assert to_text(finished(monomial((2, 1, 0))), ["x", "y", "z"]) == "x^2*y"
    assert to_text(finished(monomial((0, 7, 1))), ["x", "y", "z"]) == "y^7*z"
