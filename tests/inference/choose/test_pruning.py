"""Terms that a fit does not need are found and dropped."""

import numpy as np

from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.criterion import criterion
from odefinder.inference.choose.pruning import pruned, weakest, without
from odefinder.inference.fit.refine import Fit, fit_constants
from tests.inference.fit.test_refine import program_of
from tests.inference.propose.test_unseen import PREDATOR, half_seen

RICHER = program_of(["1.2*x - 0.6*x*y + 0.0001*x^2", "0.4*x*y - 0.8*y + 0.0001*y^2"])


def test_needless_terms_go() -> None:
    data, truth = half_seen()
    first = fit_constants(Form.of(RICHER).program, data, starts=truth[:1], iterations=5)
    term = weakest(first, data)[0]
    assert len(without(first.program, term)) < len(first.program)

    def refit(fit: Fit, program: Program) -> tuple[Fit, float]:
        again = fit_constants(Form.of(program).program, data, starts=fit.starts)
        return again, criterion(again, data)

    last = pruned(first, data, refit, criterion(first, data))[-1]
    assert skeleton(last.program) == skeleton(Form.of(PREDATOR).program)
    assert last.error < 1e-8


def test_no_time_no_pruning() -> None:
    data, truth = half_seen()
    fit = Fit(Form.of(RICHER).program, truth[:1], 1.0)
    assert pruned(fit, data, lambda fit, program: None, np.inf) == []
