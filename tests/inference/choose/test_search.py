"""The search finds known systems, with and without proposals, and keeps to its budget."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.observations import Floats, Observations
from odefinder.data.units import fit_scaling
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.pool import EXACTLY
from odefinder.inference.choose.search import Search, SearchSettings
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.likeliest import Outline
from odefinder.limits.deadline import Deadline
from tests.inference.fit.test_refine import observations, perturbed, program_of

PENDULUM = program_of(["y", "-1.7*sin(x) - 0.2*y"])
STARTS = [[1.2, 0.0]]


def forms(programs: Sequence[Program]) -> list[Form]:
    return [Form.of(program) for program in programs]


def search(data: Observations, proposals: list[Program], **settings: object) -> list[Candidate]:
    return Search(data, estimate_states(data), SearchSettings(**settings)).run(forms(proposals))


def test_proposed_equations_are_recombined() -> None:
    data = observations(PENDULUM, STARTS)
    halves = [program_of(["1.1*y", "0.5*x"]), program_of(["0.1*x*y", "-1.1*sin(x) - 0.1*y"])]
    best = search(data, halves, sparse=False, rounds=0)[0]
    assert skeleton(best.fit.program) == skeleton(PENDULUM)
    assert best.fit.error < 1e-9


@pytest.mark.parametrize("sigma", [0.0, 0.03])
def test_outlines_are_recombined(sigma: float) -> None:
    system = program_of(["1.3*y/(0.4 + y) - 0.5*x", "0.8*cos(1.1*x) - 0.3*y"])
    looking = Search(
        observations(system, [[1.2, 0.5]], sigma=sigma),
        estimate_states(observations(system, [[1.2, 0.5]], sigma=sigma)),
        SearchSettings(sparse=False, rounds=0),
    )
    equations = Form.of(system).components()
    other = Form.of(program_of(["x*y", "y"])).components()
    looking.outlines = [
        [
            Outline(Form(one.program.with_constants(np.ones(len(one.program.constants))), one.key), -1.0)
            for one in pair
        ]
        for pair in zip(other, equations, strict=True)
    ]
    found = [skeleton(one.fit.program) for one in looking.run([], votes=[])]
    assert skeleton(system) in (found[:1] if sigma == 0.0 else found)


def test_without_proposals() -> None:
    system = program_of(["1.1*x - 0.4*x*y", "-0.9*y + 0.3*x*y"])
    best = search(observations(system, [[3.0, 2.0]]), [])[0]
    assert skeleton(best.fit.program) == skeleton(system)
    assert best.source == "sparse"


def test_fitted_systems_are_in_canonical_form() -> None:
    """The 1 in 1/(1 + a x) is a convention, which a fit of all constants leaves behind."""
    data = observations(program_of(["0.8 - 2.5*x/(1 + 1.7*x)"]), [[3.0]], sigma=0.02)
    pool = Search(data, estimate_states(data))
    pool.fit_program(program_of(["0.6 - 2.1*x/(1 + 1.2*x)"]), "guess")
    (found,) = pool.ranked()
    assert np.array_equal(Form.of(found.fit.program).program.values, found.fit.program.values)
    assert 1.0 in found.fit.program.constants


def test_an_exact_system_is_better_than_an_approximation_of_exact_data() -> None:
    """The likelihood stops at the accuracy of most fits, and says that both are as good."""
    data = observations(PENDULUM, STARTS)
    noisy = observations(PENDULUM, STARTS, sigma=0.03)
    gains = []
    for observed in (data, noisy, *(replace(one, resolution=1e-9) for one in (data, noisy))):
        pool = Search(observed, estimate_states(observed))
        for key, error in ((b"approximation", 1e-10), (b"exact", 1e-15)):
            pool.store(key, Fit(PENDULUM, np.array(STARTS), error), "guess")
        gains.append(pool.found[b"approximation"].criterion - pool.found[b"exact"].criterion)
    exact, with_noise, rounded, rounded_with_noise = gains
    assert exact == pytest.approx(rounded + EXACTLY)
    assert with_noise == rounded_with_noise


def test_without_any_time_there_is_a_linear_system() -> None:
    data = observations(program_of(["1.1*x - 0.4*x*y", "-0.9*y + 0.3*x*y"]), [[3.0, 2.0]])
    (only,) = Search(data, estimate_states(data), deadline=Deadline(0.0)).run([])
    assert only.source == "sparse"
    assert only.fit.program.operators() <= {"add", "mul"}


def test_under_noise_equations_with_many_votes_are_combined() -> None:
    data = observations(PENDULUM, STARTS, sigma=0.05)
    halves = [program_of(["y", "0.5*x"]), program_of(["0.1*x*y", "-1.7*sin(x) - 0.2*y"])]
    others = [program_of([f"y + 0.{k}*x^{k}", f"-1.7*x + 0.{k}*y^{k}*x"]) for k in range(2, 7)]
    proposals = forms(halves + others)
    few = SearchSettings(combined=1)
    plain, voted = (Search(data, estimate_states(data), few) for _ in range(2))
    voted.equations.count_votes(proposals, [40, 40, 1, 1, 1, 1, 1])
    for one in (plain, voted):
        one.collect_equations(proposals, "network")
        one.combine()
    assert len(plain.found) == 1
    assert len(voted.found) == 2  # the best fitting one, and the one that most have voted for
    assert skeleton(PENDULUM) in {skeleton(found.fit.program) for found in voted.found.values()}


def test_terms_that_noise_asked_for_are_dropped() -> None:
    """The law is in the pool although only a larger system was ever fitted."""
    data = observations(PENDULUM, STARTS, sigma=0.03)
    pool = Search(data, estimate_states(data))
    pool.fit_program(program_of(["y + 0.01*x^2", "-1.7*sin(x) - 0.2*y + 0.01*x*y^2"]), "search")
    pool.prune()
    assert skeleton(pool.ranked()[0].fit.program) == skeleton(PENDULUM)


def test_a_term_that_does_nothing_is_gone() -> None:
    """Also where it makes two equations alike, which is cheaper to describe than one without it."""
    masses = program_of(["-1.1*x + 0.4*y", "0.3*x - 0.9*y"])
    data = observations(masses, [[1.0, -0.5]])
    pool = Search(data, estimate_states(data))
    pool.fit_program(program_of(["-1.1*x + 0.4*y", "0.3*x - 0.9*y + 0.000000001*x*y"]), "search")
    assert [skeleton(found.fit.program) for found in pool.rescored()] == [skeleton(masses)]


def test_polynomial_systems_are_always_in_the_pool() -> None:
    """Functions are regressed on only where a proposal leaves more than noise."""
    data = observations(PENDULUM, STARTS, sigma=0.05)
    found = search(data, [PENDULUM])
    assert skeleton(PENDULUM) in {skeleton(one.fit.program) for one in found}
    sparse = [one.fit.program for one in found if one.source == "sparse"]
    assert sparse
    assert all(program.operators() <= {"add", "mul", "pow2", "pow3"} for program in sparse)
    wrong = [program_of(["x", "y"])]
    assert any("sin" in one.fit.program.operators() for one in search(data, wrong) if one.source == "sparse")


def test_a_small_signal_on_a_high_level_is_explained_by_a_linear_law() -> None:
    system = program_of(["0.5*(1.0 - x)"])
    found = search(observations(system, [[1.0001]]), [], rounds=0)
    linear = [one for one in found if skeleton(one.fit.program) == skeleton(system)]
    assert linear[0].fit.error < 1e-9


def test_the_prior_is_asked_for_those_that_may_come_first() -> None:
    asked: list[Program] = []

    def log_prior(programs: Sequence[Program]) -> Floats:
        asked.extend(programs)
        return np.full(len(programs), -30.0)

    proposals = [PENDULUM, program_of(["y", "-1.7*x - 0.2*y"]), program_of(["y", "-1.7*sin(x)"])]
    for sigma, hopeful in ((0.0, 1), (0.3, 3)):  # what is exact cannot be beaten
        data = observations(PENDULUM, STARTS, sigma=sigma)
        found = Search(data, estimate_states(data), log_prior=log_prior)
        found.fit_whole(forms(proposals), "network")
        asked.clear()
        ranked = found.rescored()
        assert len(asked) == hopeful
        assert len(ranked) == 3
        assert [one.criterion for one in ranked] == sorted(one.criterion for one in ranked)
        if not sigma:
            assert skeleton(ranked[0].fit.program) == skeleton(asked[0]) == skeleton(PENDULUM)


def test_small_changes_reach_the_truth() -> None:
    data = observations(PENDULUM, STARTS)
    near = [program_of(["y", "-1.7*sin(x)"])]
    best = search(data, near, sparse=False)[0]
    assert skeleton(best.fit.program) == skeleton(PENDULUM)


def test_a_fast_signal_with_few_points_is_not_noise() -> None:
    lorenz = program_of(["10*(y - x)", "x*(28 - z) - y", "x*y - 2.6667*z"])
    data = observations(lorenz, [[2.3, 8.1, 12.4]], lengths=(75,))
    scaling = fit_scaling([data.times], [data.states])
    scaled = Observations(scaling.times(data.times), scaling.states(data.states), data.bounds)
    mistaken = Search(scaled, estimate_states(scaled, smoothed=True))
    best = mistaken.run([])[0]
    assert not mistaken.estimate.smoothed
    assert best.fit.error < 1e-6
    assert skeleton(best.fit.program) == skeleton(lorenz)


def test_equations_that_proposals_share_explain_a_very_fast_signal() -> None:
    """Too few points to tell states between them; and no proposal is right as a whole."""
    lorenz = program_of(["10*(y - x)", "x*(90 - z) - y", "x*y - 2.6667*z"])
    data = observations(lorenz, [[2.3, 8.1, 12.4]], lengths=(40,))
    scaling = fit_scaling([data.times], [data.states])
    scaled = Observations(scaling.times(data.times), scaling.states(data.states), data.bounds)
    first, second, third = perturbed(scaling.to_scaled(lorenz), 0.2).components()
    wrong = program_of(["0.5*x + z", "x*y", "-0.3*y"]).components()
    proposals = [concatenate([first, second, wrong[2]]), concatenate([first, wrong[1], third])]
    estimate = estimate_states(scaled)
    assert estimate.smoothed
    best = Search(scaled, estimate, SearchSettings(sparse=False)).run(forms(proposals), votes=[3, 2])[0]
    assert best.fit.error < 1e-9
    assert skeleton(best.fit.program) == skeleton(lorenz)


@pytest.mark.perf
def test_the_budget_is_kept() -> None:
    data = observations(PENDULUM, STARTS, sigma=0.03)
    estimate = estimate_states(data)
    Search(data, estimate).run(forms([PENDULUM]))  # compiled
    begin = time.perf_counter()
    over = Search(data, estimate, deadline=Deadline(0.0))
    over.run(forms([PENDULUM] * 50))
    assert time.perf_counter() - begin < 2.0


def test_after_a_stop_nothing_is_fitted() -> None:
    data = observations(PENDULUM, STARTS, sigma=0.03)
    estimate = estimate_states(data)
    stopped = Deadline(np.inf)
    stopped.stopped = True
    assert Search(data, estimate, deadline=stopped).run(forms([PENDULUM])) == []
