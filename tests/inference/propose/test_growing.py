"""Systems with one more term."""

from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.inference.propose.growing import grown
from tests.inference.fit.test_refine import program_of
from tests.inference.propose.test_unseen import PREDATOR, half_seen


def test_terms_are_added_and_saturate() -> None:
    data, _ = half_seen()
    found = {skeleton(Form.of(program).program) for program in grown(PREDATOR, data)}
    for text in (
        ["1.2*x - 0.6*x*y + 0.1*x^2", "0.4*x*y - 0.8*y"],
        ["1.2*x - 0.6*x*y/(1 + 0.5*x)", "0.4*x*y - 0.8*y"],
        ["1.2*x - 0.6*x*y", "0.4*x*y - 0.8*y + 1"],
    ):
        assert skeleton(Form.of(program_of(text)).program) in found
