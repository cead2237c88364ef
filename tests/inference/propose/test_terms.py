"""Sets of terms: the true one is among them, also where inner constants are off the grid."""

import numpy as np

from odefinder.data.observations import Observations
from odefinder.expressions.program import CONST, SIN, VAR
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.library import make_library
from odefinder.inference.propose.terms import Breadth, Problem, make_problem, term_sets
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem


def problem_of(equation: str, start: float) -> Problem:
    truth = ODESystem.from_text([equation], variables=["x"]).program
    t = np.linspace(1.0, 10.0, 100)
    states, status = integrate(truth, [start], t, rtol=1e-10, atol=1e-12)
    assert status == 0
    data = Observations(t, states, np.array([0, 100]))
    estimate = estimate_states(data)
    library = make_library(estimate)
    return make_problem(0, data, estimate, library.features, library.integrals)


def drafts(problem: Problem, terms: tuple[int, ...]) -> set[tuple]:
    return {tuple(op for op, _ in problem.features[c].draft) for c in terms}


def test_columns_and_target_have_no_mean() -> None:
    problem = problem_of("0.5 - 0.8*x", 0.1)
    assert abs(problem.target.mean()) < 1e-12
    used = np.isfinite(problem.lengths)
    assert np.abs(problem.columns[used].mean(axis=1)).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(problem.columns[used], axis=1), 1.0)


def test_the_best_set_of_a_polynomial_equation() -> None:
    problem = problem_of("0.9*x - 0.9*x^3", 0.05)
    score, best = term_sets(problem, Breadth())[0]
    assert {problem.features[c].degree for c in best} == {1, 3}
    assert len(best) == 2
    assert score < term_sets(problem, Breadth())[1][0]


def test_a_function_whose_frequency_is_off_the_grid() -> None:
    """Among all pairs, a constant and a sine are expected to be the best once the frequency is fitted."""
    problem = problem_of("0.1649 + 0.3394*sin(3.55*x)", -0.9)
    pairs = [terms for _, terms in term_sets(problem, Breadth()) if len(terms) == 2]
    sine = next(f for f in problem.features if f.draft and f.draft[0][0] == SIN)
    assert [op for op, _ in sine.draft][2:] == [CONST, VAR]
    wanted = {(), tuple(op for op, _ in sine.draft)}
    assert wanted in [drafts(problem, terms) for terms in pairs[:3]]
