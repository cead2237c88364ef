"""The pool of equations: votes, the best of every structure, and what is combined."""

import numpy as np

from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.equations import Equations
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.likeliest import Outline
from tests.inference.fit.test_refine import observations, program_of

SPRING = program_of(["y", "-1.7*x - 0.2*y"])
DATA = observations(SPRING, [[1.2, 0.0]])


def pool(operators: frozenset[str] | None = None) -> Equations:
    return Equations(DATA, estimate_states(DATA), operators)


def systems(found: Equations, count: int, by_votes: bool = False, again: bool = False) -> list[Program]:
    return [program for program, _ in found.combinations(5, count, by_votes=by_votes, again=again)]


def collect(found: Equations, *proposals: Program) -> None:
    for proposal in proposals:
        for component, equation in enumerate(Form.of(proposal).components()):
            found.match(component, equation, "network")


def test_the_best_equations_are_combined_each_system_once() -> None:
    found = pool()
    collect(found, program_of(["0.3*y", "0.5*x*y"]), program_of(["x*y", "-x - y"]))
    first, second = systems(found, 2)
    assert Form.of(first).key == Form.of(SPRING).key
    assert Form.of(second).key != Form.of(SPRING).key
    assert len(systems(found, 9)) == 2  # of four, the other two
    assert systems(found, 9) == []
    assert len(systems(found, 9, again=True)) == 4


def test_outlines_vote_as_samples_would() -> None:
    found = pool()
    proposals = [Form.of(program_of(text)) for text in (["y", "x*y"], ["y", "-x"])]
    found.count_votes(proposals, [9, 1])
    of_first, of_second = (
        [Outline(form, float(np.log(share))) for form, share in zip(forms, (0.5, 0.25), strict=True)]
        for forms in zip(*(proposal.components() for proposal in proposals), strict=True)
    )
    found.count_outlines([of_first[:1], of_second], 20)
    first, second = proposals[0].components()
    assert found.votes[0][first.key] == 10.0
    assert found.votes[1][second.key] == 10.0
    assert found.votes[1][proposals[1].components()[1].key] == 5.0


def test_an_equation_is_known_by_its_structure_and_fitted_once() -> None:
    found = pool()
    found.match_program(0, program_of(["2*y", "x"]).components()[0], "network")
    found.match_program(0, program_of(["-7*y", "x"]).components()[0], "search")
    found.match_program(1, program_of(["y", "x"]).components()[1], "sparse")
    ((program, source),) = found.combinations(5, 9, by_votes=False)
    assert source == "search"  # of several sources
    np.testing.assert_allclose(program.components()[0].constants, [1.0], atol=0.02)


def test_what_is_not_allowed_or_has_no_value_is_left_out() -> None:
    found = pool(frozenset({"add", "mul"}))
    collect(found, program_of(["sin(y)", "x"]))
    assert systems(found, 9) == []
    found.match_program(0, program_of(["y/0", "x"]).components()[0], "network")
    found.match_program(0, program_of(["y", "x"]).components()[0], "network")
    assert len(systems(found, 9)) == 1


def test_systems_of_the_equations_that_most_proposals_share() -> None:
    found = pool()
    proposals = [Form.of(program_of(text)) for text in (["y", "x*y"], ["y", "-x"], ["x^2", "-x"])]
    found.count_votes(proposals, [4, 5, 1])
    first, *rest = found.most_voted(proposals, kept=2, count=4)
    assert first.key == Form.of(program_of(["y", "-x"])).key  # 9 and 6 votes
    assert len(rest) == 3
