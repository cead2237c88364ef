"""Examples of the prior: what they must be, whoever draws them."""

from dataclasses import dataclass

import numpy as np
import pytest

from odefinder.data.corruption import RHO_MAX, SIGMA_MAX
from odefinder.data.roles import SEEN
from odefinder.data.units import T_END, T_START
from odefinder.errors import SettingsError
from odefinder.expressions.program import CONST, Program, check_system, make_program
from odefinder.language.tokens import EOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.integrate import Status, integrate
from odefinder.prior.examples import ACCEPTED, EXAMPLE, NO_TARGET, REASONS, Example, Examples, new_counts
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.presets import DEFAULT, PAPER, Prior, prior_preset
from odefinder.prior.sampler import fill, points_before_dropping

COARSE, FOUR_DIGITS = Vocabulary.preset("coarse"), Vocabulary.preset("paper")


@dataclass
class Drawn:
    examples: Examples
    counts: np.ndarray


def draw(count: int, prior: Prior, *, seed: int = 1, first: int = 0, vocabulary=COARSE, **options) -> Drawn:
    examples, counts = np.zeros(count, EXAMPLE), new_counts()
    fill(examples, counts, seed=seed, first=first, prior=prior, layout=vocabulary.layout, **options)
    return Drawn(examples, counts)


@pytest.fixture(scope="module")
def paper() -> Drawn:
    return draw(600, PAPER, vocabulary=FOUR_DIGITS)


@pytest.fixture(scope="module")
def default() -> Drawn:
    return draw(1500, DEFAULT)


BOTH = pytest.mark.parametrize("name", ["paper", "default"])


def program(example: Example) -> Program:
    n = example["n_nodes"]
    return make_program(example["ops"][:n], example["values"][:n])


def trajectories(example: Example) -> list[tuple[np.ndarray, np.ndarray]]:
    """Times (n,) and states (n, dimension) of each trajectory."""
    n = example["n_points"]
    which = example["trajectory"][:n]
    times, states = example["times"][:n], example["states"][:n, : example["dimension"]]
    return [(times[which == k], states[which == k]) for k in range(example["n_trajectories"])]


# ------------------------------------------------------------------------------------------ both presets


@BOTH
def test_counts_add_up(name: str, request: pytest.FixtureRequest):
    drawn = request.getfixturevalue(name)
    assert drawn.counts[ACCEPTED].sum() == len(drawn.examples)
    assert drawn.counts.sum() == drawn.examples["tries"].sum()
    by_dimension = np.bincount(drawn.examples["dimension"], minlength=MAX_DIMENSION + 1)
    assert drawn.counts[ACCEPTED].tolist() == by_dimension.tolist()
    assert drawn.counts.shape == (len(REASONS), MAX_DIMENSION + 1)


@pytest.mark.parametrize(("name", "prior"), [("paper", PAPER), ("default", DEFAULT)])
def test_dimensions_are_distributed_as_asked_among_the_accepted(
    name: str, prior: Prior, request: pytest.FixtureRequest
):
    examples = request.getfixturevalue(name).examples
    plain = examples[~examples["roles"].any(axis=1)]
    found = np.bincount(plain["dimension"], minlength=MAX_DIMENSION + 1)[1:]
    expected = found.sum() * prior.dimension_weights / prior.dimension_weights.sum()
    assert ((found - expected) ** 2 / expected).sum() < 20.5  # chi-square, 5 degrees: p = 1e-3


@BOTH
def test_programs_are_systems_of_the_examples_dimension(name: str, request: pytest.FixtureRequest):
    for example in request.getfixturevalue(name).examples:
        variables = int(example["dimension"]) + int(example["n_known"])
        check_system(program(example), int(example["dimension"]), variables)


@pytest.mark.parametrize(("name", "vocabulary"), [("paper", FOUR_DIGITS), ("default", COARSE)])
def test_tokens_spell_the_program(name: str, vocabulary: Vocabulary, request: pytest.FixtureRequest):
    accuracy = 0.5 * 10.0 ** (1 - vocabulary.numbers.digits)
    for example in request.getfixturevalue(name).examples:
        tokens = example["tokens"][: example["n_tokens"]]
        assert tokens[-1] == EOS
        stored, decoded = program(example), vocabulary.decode(tokens)
        assert decoded.ops.tolist() == stored.ops.tolist()
        assert decoded.values[decoded.ops != CONST].tolist() == stored.values[stored.ops != CONST].tolist()
        inside = (np.abs(stored.constants) > 1e-11) & (np.abs(stored.constants) < 1e12)
        np.testing.assert_allclose(decoded.constants[inside], stored.constants[inside], rtol=accuracy * 1.001)


def test_corruption_is_within_the_papers_ranges(paper: Drawn):
    examples, prior = paper.examples, PAPER
    for values, largest, none in (
        (examples["sigma"], SIGMA_MAX, prior.clean_share),
        (examples["rho"], RHO_MAX, prior.dense_share),
    ):
        assert values.min() >= 0.0
        assert values.max() < largest
        assert abs((values == 0.0).mean() - none) < 0.05
        assert abs(values[values > 0].mean() - largest / 2) < 0.05 * largest


@BOTH
def test_times_increase_within_each_trajectory(name: str, request: pytest.FixtureRequest):
    for example in request.getfixturevalue(name).examples:
        assert (np.diff(example["trajectory"][: example["n_points"]]) >= 0).all()
        for t, x in trajectories(example):
            assert (np.diff(t) > 0).all()
            assert np.isfinite(x).all() or name == "default"
            assert not np.isnan(x).all(axis=1).any()


@pytest.mark.parametrize("prior", [PAPER, DEFAULT], ids=["paper", "default"])
def test_the_program_explains_the_data(prior: Prior):
    """Without noise, and integrated accurately, the stored system from `starts` gives the observed states."""
    accurate = prior._replace(
        clean_share=1.0, rtol=1e-9, atol=1e-11, max_steps=4000, role_weights=PAPER.role_weights
    )
    close = total = 0
    for example in draw(60, accurate).examples:
        dimension = example["dimension"]
        for k, (t, x) in enumerate(trajectories(example)):
            start = example["starts"][k, :dimension]
            assert start.tolist() == x[0].tolist()
            found, status = integrate(program(example), start, t, rtol=1e-10, atol=1e-12)
            total += 1
            close += status == Status.OK and np.abs(found - x).max() <= 1e-5 * np.abs(x).max()
    assert close >= 0.97 * total  # chaos, and what is singular in between, may differ


@pytest.mark.parametrize("prior", [PAPER, DEFAULT], ids=["paper", "default"])
def test_an_example_is_the_same_whoever_draws_it(prior: Prior):
    together = draw(20, prior, first=100)
    parts = [draw(10, prior, first=first) for first in (110, 100)]
    assert together.examples[:10].tobytes() == parts[1].examples.tobytes()
    assert together.examples[10:].tobytes() == parts[0].examples.tobytes()
    assert together.counts.tolist() == (parts[0].counts + parts[1].counts).tolist()
    other = draw(20, prior, first=100, seed=2)
    assert other.examples.tobytes() != together.examples.tobytes()


@pytest.mark.parametrize("prior", [PAPER, DEFAULT], ids=["paper", "default"])
@pytest.mark.parametrize("points", [8, 64, 200])
def test_a_fixed_number_of_points(prior: Prior, points: int):
    examples = draw(30, prior, points=points).examples
    assert set(examples["n_points"]) == {points}
    assert len(set(examples["rho"])) > 10 or points == 8


@pytest.mark.parametrize("points", [-1, 1, 7, 201])
def test_too_few_or_too_many_points_are_refused(points: int):
    with pytest.raises(SettingsError, match="points is 8 to 200"):
        draw(1, DEFAULT, points=points)


def test_targets_may_be_limited():
    limited, free = (draw(100, DEFAULT, max_tokens=limit) for limit in (130, 400))
    assert limited.examples["n_tokens"].max() <= 130 < free.examples["n_tokens"].max()
    assert limited.counts[NO_TARGET].sum() > 0


def test_points_before_dropping_is_the_inverse_of_dropping():
    for rho in np.linspace(0.0, 0.4999, 40):
        for kept in (8, 25, 50, 101, 200):
            n = points_before_dropping(kept, rho)
            assert n - int(rho * n) == kept
            assert n < 512


# ------------------------------------------------------------------------------------------ preset paper


def test_the_papers_observations(paper: Drawn):
    first_times = []
    for example in paper.examples:
        assert example["n_trajectories"] == 1
        assert FAMILY_NAMES[example["family"]] == "trees"
        ((t, x),) = trajectories(example)
        rho, n = example["rho"], example["n_points"]
        assert 25 <= n <= 200
        assert t[0] >= T_START
        assert t[-1] <= T_END
        first_times.append(t[0])
        # On a grid of N points from 1 to 10, of which int(rho N) were dropped.
        sizes = [size for size in range(50, 201) if size - int(rho * size) == n]
        places = [(t - T_START) * (size - 1) / (T_END - T_START) for size in sizes]
        assert any(np.allclose(place, np.round(place), atol=1e-9) for place in places)
        assert np.abs(x).max() <= PAPER.bound * (1.0 + 6.0 * example["sigma"])
    assert 0.1 < np.mean(np.array(first_times) > T_START) < 0.4  # the first point was dropped


def test_the_papers_numbers_of_points():
    examples = draw(400, PAPER._replace(dense_share=1.0, dimension_weights=np.eye(6)[0])).examples
    assert examples["n_points"].min() < 60
    assert examples["n_points"].max() > 190
    assert abs(examples["n_points"].mean() - 125.0) < 8.0


def test_the_papers_initial_values_are_standard_normal():
    prior = PAPER._replace(dense_share=1.0, clean_share=1.0, dimension_weights=np.eye(6)[0])
    # Without dropped points the first one is the initial value; rejection shifts it a little.
    starts = draw(400, prior).examples["starts"][:, 0, 0]
    assert abs(starts.mean()) < 0.3
    assert 0.6 < starts.std() < 1.3


# ------------------------------------------------------------------------------------------ preset default


def test_canonical_units(default: Drawn):
    for example in default.examples:
        n, dimension = example["n_points"], example["dimension"]
        seen = np.flatnonzero(example["roles"][:dimension] == SEEN)
        largest = np.nanmax(np.abs(example["states"][:n, seen]), axis=0)
        moves = largest > 0.0  # a variable that is always 0 keeps its units
        assert (largest[moves] == 1.0).all()
        parts = trajectories(example)
        assert all(t[0] == T_START for t, _ in parts)
        assert max(t[-1] for t, _ in parts) == pytest.approx(T_END, rel=1e-14)


def test_several_trajectories(default: Drawn):
    counts = np.bincount(default.examples["n_trajectories"], minlength=5)[1:] / len(default.examples)
    np.testing.assert_allclose(counts, DEFAULT.trajectory_weights, atol=0.1)  # few points: fewer of them
    for example in default.examples:
        lengths = [len(t) for t, _ in trajectories(example)]
        assert sum(lengths) == example["n_points"]
        assert max(lengths) - min(lengths) <= 1
        if len(lengths) > 1:
            starts = example["starts"][: len(lengths), : example["dimension"]]
            assert len(np.unique(starts, axis=0)) > 1


def test_every_family_and_many_operators_occur(default: Drawn):
    assert set(default.examples["family"]) == set(range(len(FAMILY_NAMES)))
    operators = set().union(*(program(example).operators() for example in default.examples))
    assert operators >= {
        "add",
        "mul",
        "pow",
        "inv",
        "pow2",
        "pow3",
        "sin",
        "cos",
        "exp",
        "log",
        "abs",
        "tanh",
    }


def test_an_unknown_preset_is_an_error_that_lists_the_known():
    assert prior_preset("paper") is PAPER
    with pytest.raises(SettingsError, match="there is no preset 'papr'; choose one of paper, plain, default"):
        prior_preset("papr")


def test_a_limit_that_no_target_meets_is_an_error_at_last() -> None:
    with pytest.raises(SettingsError, match="raise max_tokens"):
        fill(np.zeros(1, EXAMPLE), new_counts(), seed=0, prior=PAPER, layout=COARSE.layout, max_tokens=5)
