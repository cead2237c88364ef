"""Decoded metrics: the protocol is the published one, and the truth would score full marks."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.bench import odebench
from odefinder.bench.cases import Case, synthetic_cases
from odefinder.bench.metrics import trajectory_r2
from odefinder.bench.tasks import task_cases
from odefinder.bench.validation import (
    Verdict,
    assess,
    by_group,
    decode_cases,
    summary,
    validate,
)
from odefinder.data.units import T_END, T_START
from odefinder.expressions.form import Form
from odefinder.expressions.program import MUL, Program, check_system
from odefinder.inference.propose.decode import Decoding, Proposal
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.torch_runtime import TorchRuntime
from odefinder.numerics.integrate import integrate
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.prior.presets import prior_preset
from tests.networks import small_network
from tests.programs import words

ODEBENCH = odebench()
SOME = "1,7,24,31,52,63"


def proposed(program: Program) -> Proposal:
    return Proposal(Form.of(program), -1.0, 1)


def oracle(case: Case) -> Proposal:
    return proposed(case.truth)


@pytest.fixture(scope="module")
def clean() -> list[Case]:
    return task_cases("odebench")


@pytest.fixture(scope="module")
def synthetic() -> list[Case]:
    return synthetic_cases(4)


# ---------------------------------------------------------------- cases


def test_both_initial_values_of_every_system(clean: list[Case]) -> None:
    assert len(clean) == 126
    t = np.linspace(0.0, 10.0, 150)
    for k, case in enumerate(clean):
        system = ODEBENCH[k // 2]
        assert case.dimension == system.dimension
        assert case.group == f"{system.dimension}-D"
        assert case.data.states.shape == (150, system.dimension)
        assert case.data.bounds.tolist() == [0, 150]
        # Canonical units: the initial values of this case and of the other one, divided by the same factors.
        own, other = (np.array(system.initial_values[j]) for j in (k % 2, 1 - k % 2))
        factors = np.abs(integrate(system.system().program, own, t, rtol=1e-10, atol=1e-12)[0]).max(axis=0)
        factors[factors == 0.0] = 1.0
        np.testing.assert_allclose(case.dense[0], own / factors, rtol=1e-6)
        np.testing.assert_allclose(case.other[0], other / factors, rtol=1e-6)


def test_clean_cases_are_in_canonical_units(clean: list[Case]) -> None:
    for case in clean:
        assert case.data.times[0] == T_START
        assert case.data.times[-1] == pytest.approx(T_END)
        largest = np.abs(case.data.states).max(axis=0)
        assert np.isclose(largest, 1.0).all() or (largest[~np.isclose(largest, 1.0)] == 0.0).all()
        np.testing.assert_array_equal(case.data.states, case.dense)
        np.testing.assert_allclose(case.data.times, case.dense_times)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_truth_in_scaled_units_draws_the_dense_trajectory(rho: float) -> None:
    for case in task_cases("odebench", systems=SOME, sigma=0.05, rho=rho):
        check_system(case.truth, case.dimension)
        for states in (case.dense, case.other):
            found, status = integrate(case.truth, states[0], case.dense_times, rtol=1e-9, atol=1e-11)
            assert status == 0
            np.testing.assert_allclose(found, states, rtol=1e-4, atol=1e-4 * np.abs(states).max())


def test_noise_first_then_dropping() -> None:
    cases = task_cases("odebench", systems=SOME, sigma=0.05, rho=0.5)
    for case in cases:
        assert len(case.data.times) == 75
        assert len(case.dense) == len(case.other) == 150
        assert case.data.times[0] == T_START
        assert (np.diff(case.data.times) > 0).all()
        # The observed points are points of the dense grid, with a relative error of a twentieth.
        place = np.abs(case.dense_times[:, None] - case.data.times).argmin(axis=0)
        np.testing.assert_allclose(case.dense_times[place], case.data.times, atol=1e-9)
        moved = np.abs(case.dense[place]) > 1e-9
        noise = (case.data.states / np.where(moved, case.dense[place], 1.0) - 1.0)[moved]
        assert 0.03 < noise.std() < 0.07
    assert any(case.dense_times[0] < T_START for case in cases)  # the first point may be dropped, too
    again = task_cases("odebench", systems=SOME, sigma=0.05, rho=0.5)
    assert all(np.array_equal(a.data.states, b.data.states) for a, b in zip(cases, again, strict=True))
    other = task_cases("odebench", systems=SOME, sigma=0.05, rho=0.5, seed=1)
    assert not any(np.array_equal(a.data.states, b.data.states) for a, b in zip(cases, other, strict=True))


def test_the_older_set_has_four_initial_values() -> None:
    assert len(task_cases("strogatz")) == 28


def test_synthetic_cases(synthetic: list[Case]) -> None:
    dimensions = [case.dimension for case in synthetic]
    assert set(dimensions) == set(range(1, MAX_DIMENSION + 1))
    assert len(synthetic) >= 20
    for case in synthetic:
        data = case.data
        assert len(data.times) == 100
        assert data.bounds[0] == 0
        assert data.bounds[-1] == 100
        dimension, noise, trajectories = case.group.split("|")
        assert dimension == f"{case.dimension}-D"
        assert trajectories == f"{len(data.bounds) - 1} traj"
        for a, b in zip(data.bounds, data.bounds[1:], strict=False):
            assert data.times[a] == T_START
            assert (np.diff(data.times[a:b]) > 0).all()
        # The first trajectory is the dense one, up to its noise.
        first = slice(0, data.bounds[1])
        expected = np.column_stack([np.interp(data.times[first], case.dense_times, x) for x in case.dense.T])
        tolerance = 0.05 if noise == "clean" else 0.5
        assert np.abs(data.states[first] - expected).max() < tolerance
    again = synthetic_cases(4)
    assert all(a.truth == b.truth for a, b in zip(synthetic, again, strict=True))


def test_cases_from_a_prior_with_roles_are_fully_observed() -> None:
    cases = synthetic_cases(2, prior=prior_preset("default"), points=20)
    assert len(cases) > 6
    for case in cases:
        check_system(case.truth, case.dimension)  # no inputs, no states that nobody measured


def test_the_other_trajectory_is_another_one(synthetic: list[Case]) -> None:
    """Else generalization would be reconstruction again."""
    for case in synthetic:
        start, other = case.dense[0], case.other[0]
        assert (np.abs(other - start) >= 0.0999).all()
        assert (other * start >= 0.0).all()
        assert trajectory_r2(case.truth, case.other[0], case.dense_times, case.other) > 0.9999
    repeated = [variance_weighted_r2(case.other, case.dense) > 0.9 for case in synthetic]
    assert np.mean(repeated) < 0.3


# ---------------------------------------------------------------- verdicts


def test_the_truth_scores_full_marks(clean: list[Case], synthetic: list[Case]) -> None:
    without_noise = [case for case in synthetic if "clean" in case.group]
    found = summary([assess(case, [oracle(case)], refine=3) for case in [*clean, *without_noise]])
    assert found == {
        "cases": len(clean) + len(without_noise),
        "skeleton": 100.0,
        "decoded reconstruction": 100.0,
        "decoded generalization": 100.0,
        "fitted reconstruction": 100.0,
        "fitted generalization": 100.0,
        "distinct": 1.0,
    }


def test_the_best_candidate_is_chosen_and_fitted(clean: list[Case]) -> None:
    case = clean[2 * 23]  # a harmonic oscillator
    close = case.truth.with_constants(1.3 * case.truth.constants)
    still = Program(
        np.concatenate([words("mul 0 x0").ops] * 2), np.concatenate([words("mul 0.001 x0").values] * 2)
    )
    assert still.ops[0] == MUL
    candidates = [proposed(program) for program in (still, close)]
    outcome = assess(case, candidates, refine=2)
    assert outcome.recovered
    assert outcome.distinct == 2
    assert outcome.decoded[0] < 0.9
    assert min(outcome.fitted) > 0.999


def test_no_candidate_and_only_impossible_ones(clean: list[Case]) -> None:
    case = clean[0]
    nothing = assess(case, [], refine=3)
    assert not nothing.recovered
    assert nothing.decoded == nothing.fitted == (-np.inf, -np.inf)
    singular = words("log add x0 -50")
    impossible = assess(case, [proposed(singular)], refine=3)
    assert impossible.fitted == (-np.inf, -np.inf)


def test_summaries_by_group(clean: list[Case]) -> None:
    good, bad = (0.95, 0.91), (0.95, 0.5)
    verdicts = [
        Verdict(replace(clean[0], group="1-D|clean|1 traj"), True, bad, good, 4),
        Verdict(replace(clean[0], group="1-D|noise|2 traj"), False, bad, bad, 2),
        Verdict(replace(clean[0], group="2-D|clean|1 traj"), False, (-np.inf, -np.inf), good, 3),
    ]
    assert summary(verdicts) == {
        "cases": 3,
        "skeleton": 33.3,
        "decoded reconstruction": 66.7,
        "decoded generalization": 0.0,
        "fitted reconstruction": 100.0,
        "fitted generalization": 66.7,
        "distinct": 3.0,
    }
    assert {name: row["cases"] for name, row in by_group(verdicts, 0).items()} == {"1-D": 2, "2-D": 1}
    assert by_group(verdicts, 2)["2 traj"]["skeleton"] == 0.0


# ---------------------------------------------------------------- decoding


@pytest.mark.parametrize("batch", [0, 3])
def test_validating_a_network_that_knows_nothing(batch: int) -> None:
    cases = task_cases("odebench", systems="1,7,24")
    verdicts = validate(small_network(), cases, samples=6, refine=2, batch=batch)
    assert [outcome.case for outcome in verdicts] == cases
    assert all(outcome.distinct <= 6 for outcome in verdicts)
    again = validate(TorchRuntime(small_network()), cases, samples=6, refine=2, batch=6)
    assert summary(again) == summary(verdicts)  # whatever the batches are


def test_candidates_belong_to_their_cases() -> None:
    cases = [
        *task_cases("odebench", systems=SOME, rho=0.3),
        *task_cases("odebench", systems="1,7"),
    ]  # two numbers of points
    found = decode_cases(small_network(), cases, Decoding(samples=4, temperature=1.0), batch=3)
    assert len(found) == len(cases)
    for case, candidates in zip(cases, found, strict=True):
        for candidate in candidates:
            check_system(candidate.form.program, case.dimension)
