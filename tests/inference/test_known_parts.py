"""What the user knows, on its way to results."""

import numpy as np

from odefinder.expressions.canonical import canonical
from odefinder.inference.known_parts import Named
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
