"""Canonical units: data and programs go there and back."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from odefinder.data.units import T_END, T_START, Scaling, fit_scaling
from odefinder.errors import DataError, ExpressionError
from odefinder.expressions.canonical import canonical, skeleton
from odefinder.expressions.program import LOG, Program, concatenate
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.signals import NO_SIGNALS, Signals
from tests.programs import UNARY, flat, trees, words

POINTS = np.random.default_rng(0).normal(0.0, 1.5, (40, 2))
TIMES = np.linspace(0.0, 8.0, 50)
LOTKA_VOLTERRA = concatenate([words("add x0 mul -1 mul x0 x1"), words("add mul -2 x1 mul x0 x1")])

slow = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def random_systems(unary: list[int]) -> st.SearchStrategy[Program]:
    """Systems of two equations."""
    pair = st.tuples(trees(2, unary), trees(2, unary))
    return pair.map(lambda two: concatenate([flat(tree) for tree in two]))


systems = random_systems(UNARY)
without_log = random_systems([op for op in UNARY if op != LOG])
sizes = st.floats(-2.0, 2.0).map(lambda power: float(np.round(10.0**power, 3)))
scalings = st.builds(lambda a, b, rate: Scaling(np.array([a, b]), rate), sizes, sizes, sizes)
signed_scalings = st.builds(
    lambda scaling, signs: Scaling(scaling.factors * signs, scaling.rate),
    scalings,
    st.tuples(st.sampled_from([1.0, -1.0]), st.sampled_from([1.0, -1.0])),
)


def usable(values: np.ndarray) -> np.ndarray:
    return np.isfinite(values) & (np.abs(values) < 1e6)


def assert_same(expected: np.ndarray, found: np.ndarray) -> None:
    here = usable(expected)
    np.testing.assert_allclose(found[here], expected[here], rtol=1e-5, atol=1e-6)


def well_conditioned(program: Program, points: np.ndarray) -> bool:
    """Whether rounding errors of the input do not decide the value."""
    with np.errstate(all="ignore"):
        values, moved = evaluate(program, points), evaluate(program, points * (1 + 1e-13))
    here = usable(values)
    return bool(np.allclose(values[here], moved[here], rtol=1e-8, atol=1e-9))


def canonical_or_skip(program: Program) -> Program:
    try:
        return canonical(program)
    except ExpressionError:
        assume(False)
        raise


# ------------------------------------------------------------------------------------------ programs


@slow
@given(systems, signed_scalings)
def test_the_scaled_program_has_the_scaled_values(program: Program, scaling: Scaling):
    canonical_or_skip(program)
    original = POINTS * scaling.factors
    assume(well_conditioned(program, original))
    expected = evaluate(program, original) / (scaling.rate * scaling.factors)
    assert_same(expected, evaluate(scaling.to_scaled(program), POINTS))


@slow
@given(systems, scalings)
def test_there_and_back(program: Program, scaling: Scaling):
    program = canonical_or_skip(program)
    assume(well_conditioned(program, POINTS))
    scaled = scaling.to_scaled(program)
    assume(well_conditioned(scaled, POINTS / scaling.factors))
    back = scaling.to_original(scaled)
    assert_same(evaluate(program, POINTS), evaluate(back, POINTS))


@slow
@given(without_log, scalings)
def test_scaling_keeps_the_skeleton(program: Program, scaling: Scaling):
    program = canonical_or_skip(program)
    scaled = scaling.to_scaled(program)
    assert skeleton(scaled) == skeleton(program)
    assert skeleton(scaling.to_original(scaled)) == skeleton(program)


def test_only_a_logarithm_changes_shape():
    scaled = Scaling(np.array([10.0]), 1.0).to_scaled(words("log x0"))
    assert scaled == canonical(words("mul 0.1 add log 10 log x0"))


def test_a_worked_example():
    # x = 2 u, t = T / 3: du/dT = (2 u + 4 u^2) / 6
    scaled = Scaling(np.array([2.0]), 3.0).to_scaled(words("add x0 pow2 x0"))
    np.testing.assert_allclose(scaled.constants, [1 / 3, 2 / 3])


def test_the_scaled_system_has_the_scaled_trajectory():
    x, status = integrate(LOTKA_VOLTERRA, np.array([1.5, 0.5]), TIMES)
    scaling = fit_scaling([TIMES], [x])
    t = scaling.times(TIMES)
    found, scaled_status = integrate(scaling.to_scaled(LOTKA_VOLTERRA), scaling.states(x)[0], t)
    assert status == scaled_status == Status.OK
    np.testing.assert_allclose(found, scaling.states(x), rtol=1e-6)
    np.testing.assert_allclose(scaling.original_states(found), x, rtol=1e-6)


def test_a_long_program_can_be_scaled():
    terms = 100
    long = words("add " * (terms - 1) + "mul 2 x0 " * terms)
    assert Scaling(np.array([2.0]), 0.5).to_scaled(long).constants.tolist() == [4.0 * terms]


def test_overflow_is_an_error_that_says_so():
    with pytest.raises(ExpressionError, match="overflow"):
        Scaling(np.array([1e200]), 1.0).to_scaled(words("pow3 x0"))
    with pytest.raises(ExpressionError, match="the change of units overflows"):
        Scaling(np.array([1e-200]), 1e-200).to_scaled(words("1"))


def test_a_system_of_another_dimension_is_an_error():
    with pytest.raises(ExpressionError, match="3 variables need 3 equations"):
        Scaling(np.ones(3), 1.0).to_scaled(LOTKA_VOLTERRA)


# ------------------------------------------------------------------------------------------ data


def test_units_of_one_trajectory():
    t = np.array([3.0, 4.0, 7.5])
    x = np.array([[0.0, 2.0], [0.25, -8.0], [0.5, 1.0]])  # x(t0) = 0 is fine
    scaling = fit_scaling([t], [x])
    assert scaling.factors.tolist() == [0.5, 8.0]
    assert scaling.times(t).tolist() == [T_START, 3.0, T_END]
    assert scaling.states(x).tolist() == [[0.0, 0.25], [0.5, -1.0], [1.0, 0.125]]
    assert scaling.original_states(scaling.states(x)).tolist() == x.tolist()


def test_trajectories_share_one_scale_and_each_begins_at_one():
    times = [np.array([0.0, 2.0]), np.array([5.0, 11.0])]
    states = [np.array([[1.0], [2.0]]), np.array([[-4.0], [0.0]])]
    scaling = fit_scaling(times, states)
    assert scaling.factors.tolist() == [4.0]
    assert [scaling.times(t).tolist() for t in times] == [[1.0, 4.0], [1.0, 10.0]]


def test_zero_and_missing_variables_keep_their_units():
    nan = np.nan
    x = np.array([[0.0, nan, 3.0], [0.0, nan, nan], [0.0, nan, -6.0]])
    scaling = fit_scaling([np.arange(3.0)], [x])
    assert scaling.factors.tolist() == [1.0, 1.0, 6.0]
    assert np.isnan(scaling.states(x)).tolist() == np.isnan(x).tolist()


def test_the_papers_rescaling_makes_the_first_values_one():
    x = np.array([[-2.0, 0.5], [4.0, 1.0]])
    scaling = fit_scaling([np.array([0.0, 1.0])], [x], reference="initial")
    assert scaling.states(x).tolist() == [[1.0, 1.0], [-2.0, 2.0]]
    program = concatenate([words("mul x0 x1"), words("sin x0")])
    expected = evaluate(program, x) / (scaling.rate * scaling.factors)
    np.testing.assert_allclose(evaluate(scaling.to_scaled(program), scaling.states(x)), expected)


@pytest.mark.parametrize("first", [0.0, np.nan])
def test_the_papers_rescaling_needs_first_values(first: float):
    with pytest.raises(DataError, match="use reference='largest'"):
        fit_scaling([np.array([0.0, 1.0])], [np.array([[first], [1.0]])], reference="initial")


@pytest.mark.parametrize("t", [[2.0], [2.0, 2.0]])
def test_no_duration_is_an_error(t: list[float]):
    with pytest.raises(DataError, match="no duration"):
        fit_scaling([np.array(t)], [np.ones((len(t), 1))])


def test_as_many_times_as_trajectories():
    with pytest.raises(DataError, match="1 time arrays for 2 trajectories"):
        fit_scaling([TIMES], [np.ones((50, 1))] * 2)
    with pytest.raises(DataError, match="0 time arrays"):
        fit_scaling([], [])


# ------------------------------------------------------------------------------------------- what is known


def test_programs_that_read_what_is_known() -> None:
    """D equations over D + K variables: there and back, and the same values."""
    program = words("add mul 2 x0 mul x1 x2 sin x3")
    scaling = Scaling(np.array([2.0, 4.0, 8.0, 0.5]), 3.0, known=2)
    scaled = scaling.to_scaled(program)
    point = np.array([[0.3, -0.2, 0.7, 1.1]])
    expected = evaluate(program, point * scaling.factors) / (3.0 * scaling.factors[:2])
    np.testing.assert_allclose(evaluate(scaled, point), expected)
    np.testing.assert_allclose(evaluate(scaling.to_original(scaled), point), evaluate(program, point))
    with pytest.raises(ExpressionError, match="2 variables need 2 equations"):
        scaling.to_scaled(words("x0"))
    with pytest.raises(ExpressionError, match="variable number 4"):
        scaling.to_scaled(words("x0 x4"))


def test_units_of_known_values_and_of_velocities() -> None:
    t = np.linspace(0.0, 3.0, 4)
    x = np.column_stack([[1.0, -5.0, 2.0, 0.0], np.full(4, np.nan), np.full(4, np.nan), np.full(4, np.nan)])
    known = np.array([[0.0, -2.0], [0.0, 1.0]])
    scaling = fit_scaling([t], [x], known=[known], derivative_of=[-1, 0, 1, -1])
    assert scaling.factors.tolist() == [5.0, 15.0, 45.0, 1.0, 1.0, 2.0]
    assert (scaling.rate, scaling.known, scaling.dimension) == (3.0, 2, 4)


def test_signals_in_canonical_units() -> None:
    scaling = Scaling(np.array([2.0, 4.0]), 3.0, known=1)
    signals = Signals(np.array([9.0, 11.0]), np.ones((2, 1)), np.full((2, 1), 8.0), np.array([[0.0], [6.0]]))
    scaled = scaling.signals(signals, 10.0)
    assert scaled.knots.tolist() == [-2.0, 4.0]
    assert scaled.before.tolist() == [[0.25], [0.25]]
    assert scaled.after.tolist() == [[2.0], [2.0]]
    assert scaled.doses.tolist() == [[0.0], [3.0]]
    assert scaling.signals(NO_SIGNALS, 10.0) is NO_SIGNALS
