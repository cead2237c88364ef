"""The search for systems with hidden states."""

import time

import numpy as np
import pytest

from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.inference.choose.hidden import HiddenSearch
from odefinder.inference.choose.search import SearchSettings
from odefinder.inference.fit.states import estimate_states
from odefinder.limits.deadline import Deadline
from tests.inference.propose.test_unseen import PREDATOR, half_seen

TRUTH = skeleton(Form.of(PREDATOR).program)


def test_the_predator_is_found_from_its_prey() -> None:
    data, _ = half_seen()
    search = HiddenSearch(data, estimate_states(data))
    search.run([])
    best = search.rescored()[0]
    assert best.fit.error < 1e-6
    assert TRUTH in [skeleton(found.fit.program) for found in search.ranked()[:3]]


def test_a_proposal_is_fitted_from_the_path_that_it_asks_for() -> None:
    data, _ = half_seen()
    constants = PREDATOR.constants
    proposal = PREDATOR.with_constants(np.sign(constants) * (0.5 + np.abs(constants)))
    search = HiddenSearch(data, estimate_states(data), SearchSettings(sparse=False))
    search.run([Form.of(proposal)])
    best = search.ranked()[0]
    assert skeleton(best.fit.program) == TRUTH
    assert best.fit.error < 1e-8


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_the_deadline_is_kept(seconds: float) -> None:
    data, _ = half_seen()
    search = HiddenSearch(data, estimate_states(data), deadline=Deadline(seconds))
    begin = time.perf_counter()
    search.run([Form.of(PREDATOR)])
    assert search.ranked()
    assert time.perf_counter() - begin < seconds + 20.0  # the machine may be busy
