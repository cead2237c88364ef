"""Variables that stay positive: regression proposes no terms that make them negative at zero."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.data.observations import Observations
from odefinder.inference.fit.known_settings import Known, knowledge_of
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.known_parts import with_given
from odefinder.inference.prepared import prepared
from odefinder.inference.propose.sparse import propose, propose_polynomials
from odefinder.system import ODESystem

CHAIN = ODESystem.from_text("a' = -0.9*a; b' = 0.9*a - 0.5*b; c' = 0.5*b")
TIMES = np.linspace(0.0, 6.0, 50)


def observed(seed: int) -> tuple[Observations, StateEstimate]:
    states = CHAIN.simulate([1.0, 0.0, 0.0], TIMES)
    states += 0.05 * states.std(axis=0) * np.random.default_rng(seed).normal(size=states.shape)
    dataset = from_arrays(states, TIMES, ["a", "b", "c"])
    ready = prepared(dataset)
    knowledge = knowledge_of(Known(positive=True), dataset)
    return with_given(ready.data, knowledge, ready.scaling, ready.estimate), ready.estimate


@pytest.mark.parametrize("seed", range(3))
def test_every_front_has_allowed_equations_of_several_sizes(seed: int) -> None:
    data, estimate = observed(seed)
    assert data.given is not None
    for fronts in (*propose_polynomials(data, estimate), propose(data, estimate)):
        for component, front in enumerate(fronts):
            assert front
            assert all(data.given.allows(component, fit.program) for fit in front)
    sizes = [{len(fit.program) for fit in front} for front in propose(data, estimate)]
    assert all(len(own) > 2 for own in sizes)
