"""Systems that data on one curve cannot tell apart."""

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.expressions.form import Form
from odefinder.inference.propose.equivalent import equivalent_systems
from odefinder.numerics.evaluate import evaluate

T = np.linspace(0.0, 6.0, 80)
REACTION = ODESystem.from_text("a' = 0.5*b - 1.3*a*b; b' = 1.3*a*b - 0.5*b")  # a + b stays 1.7
ALONG = REACTION.simulate([1.5, 0.2], T)
PREDATION = ODESystem.from_text("x' = 1.1*x - 0.4*x*y; y' = 0.3*x*y - 0.9*y")


def forms(system: ODESystem, states: np.ndarray, closed: tuple[int, ...] = ()) -> list[Form]:
    return [Form.of(one) for one in equivalent_systems(Form.of(system.program).program, states, closed, 36)]


def test_a_conserved_sum_has_other_forms() -> None:
    others = forms(REACTION, ALONG)
    assert len({other.key for other in others}) == len(others) > 20
    for other in others:
        values = evaluate(REACTION.program, ALONG)
        np.testing.assert_allclose(evaluate(other.program, ALONG), values, atol=1e-4)
    quadratic = ODESystem.from_text("a' = 0.5*b - 1.3*a*b; b' = 1.71*b - 1.3*b^2")  # 1.3*(1.7 - b)*b - 0.5*b
    assert {Form.of(quadratic.program).key, Form.of(REACTION.program).key} <= {other.key for other in others}


def test_equations_that_are_given_stay() -> None:
    others = forms(REACTION, ALONG, closed=(0,))
    assert len(others) > 3
    assert len({other.components()[0].key for other in others}) == 1


def test_where_nothing_is_conserved_there_is_one_form() -> None:
    decay = ODESystem.from_text("x' = 0.3 - x")
    for system, starts in ((PREDATION, [3.0, 1.0]), (decay, [1.0])):
        (only,) = forms(system, system.simulate(starts, T))
        assert only.key == Form.of(system.program).key


def test_what_exact_data_cannot_tell_is_listed() -> None:
    model = ODEFormer(network=False, time_budget=60).fit(ALONG, T, variables=["a", "b"])
    assert model.system_ == REACTION
    assert model.equations_["weight"][0] < 0.8
    away = [system.simulate([3.0, 1.0], T) for system in model.equations_["system"][:2]]
    assert np.abs(away[0] - away[1]).max() > 0.1
    assert any("different systems explain the data about equally well" in note for note in model.notes_)


def test_of_equal_forms_the_one_with_the_simplest_constants_comes_first() -> None:
    """Both have the same terms, but 0.16 and 0.9375 are 1 and 1.7 times other numbers only here."""
    system = ODESystem.from_text("x' = x*y - 1.3*x^2*y; y' = x*y - 1.3*x*y^2")
    states = system.simulate([0.02, 0.11], np.linspace(0.0, 12.0, 120))
    model = ODEFormer(network=False, time_budget=60).fit(
        states, np.linspace(0.0, 12.0, 120), variables=["x", "y"]
    )
    assert model.system_ == system
    assert any("leave nothing of these data either" in note for note in model.notes_)
