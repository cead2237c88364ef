"""What competes, and as which of several equal formulas it is shown."""

import numpy as np

from odefinder.inference.choose.candidates import Candidate, merged
from odefinder.inference.fit.refine import Fit
from tests.inference.fit.test_refine import program_of

STATES = np.linspace(0.1, 3.0, 50)[:, None]
SHORT, USUAL = "1.5 - 0.55*x - 1.4/(1 + x^2)", "0.1 - 0.55*x + 1.4*x^2/(1 + x^2)"  # the same function


def candidate(text: str, criterion: float, chance: float | None = None) -> Candidate:
    fit = Fit(program_of([text]), np.zeros((1, 1)), 0.0)
    return Candidate(fit, "network", criterion, chance=chance)


def shown(*candidates: Candidate) -> list[Candidate]:
    return merged(candidates, [one.fit.program for one in candidates], STATES, 1e-8)


def test_of_equal_formulas_the_network_says_which_is_written() -> None:
    short, usual = candidate(SHORT, 1.0, chance=-9.0), candidate(USUAL, 2.0, chance=-4.0)
    (best,) = shown(short, usual)
    assert best.fit is usual.fit
    assert best.criterion == 1.0


def test_without_a_network_the_shorter_one_is_written() -> None:
    short, usual = candidate(SHORT, 2.0), candidate(USUAL, 1.0)
    (best,) = shown(usual, short)
    assert best.fit is short.fit


def test_other_functions_stay_in_order() -> None:
    both = [candidate("x", 1.0), candidate("2*x", 2.0)]
    assert shown(*both) == both
