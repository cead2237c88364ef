"""What the user knows, on its way to results."""

import numpy as np
import pytest

from odefinder.data.arrays import from_arrays
from odefinder.expressions.canonical import canonical
from odefinder.expressions.form import Form
from odefinder.inference.fit.known_settings import Known, knowledge_of
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.known_parts import Named, found_in, with_given
from odefinder.system import ODESystem


def test_other_constants_are_those_of_the_system_and_of_what_was_found() -> None:
    decay = ODESystem.from_text("x' = -1.001*x")
    named = Named(decay, {}, canonical(decay.program, explicit=True))
    simple = canonical(ODESystem.from_text("x' = -1*x").program, explicit=True)
    rounded = named.with_found(simple, np.zeros(1, np.int64))
    assert str(rounded.system) == "x' = -x"
    assert rounded.found == simple
    assert rounded.ties is not None
    assert rounded.with_found(named.found).ties is None


def test_named_constants_begin_as_a_proposal_has_them() -> None:
    """Their first values know nothing of the other terms: here the sign of K would be wrong."""
    truth = ODESystem.from_text("x' = 0.8*x*(1 - x/6) - 0.5*x*y/(1 + 0.4*x); y' = 0.3*x - 0.3*y")
    t = np.linspace(0.0, 15.0, 60)
    dataset = from_arrays(truth.simulate([2.0, 1.0], t), t, ["x", "y"])
    knowledge, scaling = knowledge_of(Known("x' = r*x*(1 - x/K) + ?"), dataset), dataset.scaling()
    plain = dataset.observations(scaling)
    data = with_given(plain, knowledge, scaling, estimate_states(plain))
    proposal = Form.of(scaling.to_scaled(truth.program))
    found = found_in(proposal, data)
    assert data.given is not None
    assert data.given.user_values(found.program)[:, 0] == pytest.approx([0.8, 6.0], rel=1e-3)
    other = Form.of(scaling.to_scaled(ODESystem.from_text("x' = 2*y - 3*x; y' = x").program))
    first = data.given.numbers
    assert data.given.numbers_of(found_in(other, data).program) == pytest.approx(first)
