"""What a laboratory does to clean values: as much as was drawn, and never too much."""

import hashlib

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.data.roles import KNOWN, SEEN, UNSEEN, Role
from odefinder.data.units import fit_scaling
from odefinder.inference.propose.decode import network_points
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.presets import network_preset
from odefinder.numerics.randomness import seed_stream
from odefinder.prior.batches import collate
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.laboratory import LEAST_VALUES, NOISE_MAX, OUTLIER_MAX, Measurement, measure
from odefinder.prior.presets import DEFAULT, PAPER, PLAIN, Prior
from odefinder.prior.sampler import fill

COARSE, FOUR_DIGITS = Vocabulary.preset("coarse"), Vocabulary.preset("paper")
POINTS = 150


def draw(
    count: int, prior: Prior = DEFAULT, *, seed: int = 1, vocabulary=COARSE, points: int = 0
) -> Examples:
    examples = np.zeros(count, EXAMPLE)
    fill(examples, new_counts(), seed=seed, prior=prior, layout=vocabulary.layout, points=points)
    return examples


@pytest.fixture(scope="module")
def examples() -> Examples:
    return draw(2000, seed=3)


def measured(dimension: int = 3, points: int = POINTS, *, seed: int = 0, **how) -> tuple[np.ndarray, ...]:
    """Clean values (points, dimension), the same as measured, and the example."""
    t = np.linspace(0.0, 6.0, points)[:, None]
    clean = np.sin(t + np.arange(dimension)) * (1.0 + np.arange(dimension)) + 5.0
    one = np.zeros(1, EXAMPLE)
    one["n_points"], one["dimension"], one["n_trajectories"] = points, dimension, 1
    one["states"][0, :points, :dimension] = clean
    plain = {
        "multiplicative": 0.0,
        "additive": 0.0,
        "step": 0.0,
        "outliers": 0.0,
        "gaps": 0.0,
        "stretches": 0,
    }
    plain |= how
    plain["additive"] = np.full(MAX_DIMENSION, plain["additive"])
    stream = np.empty(4, np.uint64)
    seed_stream(stream, seed, 0)
    measure(stream, Measurement(**plain), one[0])
    return clean, one["states"][0, :points, :dimension].copy(), one[0]


def test_a_perfect_measurement_changes_nothing() -> None:
    clean, seen, _ = measured()
    assert seen.tolist() == clean.tolist()


def test_additive_noise_is_relative_to_the_spread() -> None:
    clean, seen, one = measured(additive=0.05, points=200)
    found = (seen - clean).std(axis=0) / clean.std(axis=0)
    np.testing.assert_allclose(found, 0.05, rtol=0.2)
    assert one["additive"] == 0.05


def test_multiplicative_noise_is_relative_to_the_value() -> None:
    clean, seen, one = measured(multiplicative=0.04, points=200)
    np.testing.assert_allclose((seen / clean - 1.0).std(axis=0), 0.04, rtol=0.2)
    assert one["sigma"] == 0.04


def test_rounding_is_to_multiples_of_a_step() -> None:
    clean, seen, one = measured(step=0.02)
    steps = 0.02 * np.ptp(clean, axis=0)
    np.testing.assert_allclose(seen / steps, np.round(seen / steps), atol=1e-9)
    assert (np.abs(seen - clean) <= 0.5 * steps * (1.0 + 1e-9)).all()
    assert one["step"] == 0.02


def test_outliers_are_few_and_of_the_size_of_spreads() -> None:
    clean, seen, _ = measured(outliers=0.02, points=200, dimension=6)
    errors = np.abs(seen - clean) / clean.std(axis=0)
    hit = errors > 1e-9
    assert 0.005 < hit.mean() < 0.045
    assert errors[hit].min() > 0.99
    assert errors[hit].max() < OUTLIER_MAX * 1.01


@pytest.mark.parametrize(
    ("points", "gaps", "stretches"), [(12, 0.2, 2), (150, 0.2, 0), (150, 0.0, 2), (8, 0.9, 2)]
)
def test_gaps_leave_enough(points: int, gaps: float, stretches: int) -> None:
    for seed in range(20):
        clean, seen, one = measured(points=points, gaps=gaps, stretches=stretches, seed=seed)
        missing = np.isnan(seen)
        assert seen[~missing].tolist() == clean[~missing].tolist()
        assert one["missing"] == missing.mean()
        assert not missing.all(axis=1).any()
        assert ((~missing).sum(axis=0) >= LEAST_VALUES).all()
    assert missing.any()


def test_a_single_variable_has_no_gaps() -> None:
    assert np.isfinite(measured(dimension=1, gaps=0.2, stretches=2)[1]).all()


# ------------------------------------------------------------------------------------------ the preset


def test_shares_of_the_default_preset(examples: Examples) -> None:
    sigma, additive = examples["sigma"] > 0.0, examples["additive"] > 0.0
    lab, noisy = DEFAULT.laboratory, 1.0 - DEFAULT.clean_share
    multiplicative_only, additive_only, both, _ = noisy * lab.noise_weights / lab.noise_weights.sum()
    assert (sigma & ~additive).mean() == pytest.approx(multiplicative_only, abs=0.03)
    assert (additive & ~sigma).mean() == pytest.approx(additive_only, abs=0.03)
    assert (additive & sigma).mean() == pytest.approx(both, abs=0.03)
    assert (examples["step"] > 0.0).mean() == pytest.approx(noisy * lab.rounded, abs=0.03)
    assert (examples["outliers"] > 0.0).mean() == pytest.approx(noisy * lab.outliers, abs=0.03)
    assert max(examples["sigma"].max(), examples["additive"].max()) < NOISE_MAX
    untouched = ~sigma & ~additive & (examples["step"] == 0) & (examples["outliers"] == 0)
    assert (untouched & (examples["missing"] == 0)).mean() > DEFAULT.clean_share - 0.03
    assert examples["n_points"].min() >= 8
    assert (examples["n_points"] < 40).mean() > 0.25
    assert examples["n_points"].max() > 180


def test_units_are_those_of_inference(examples: Examples) -> None:
    """Canonical units come from what is observed, gaps passed over, as `fit_scaling` does it."""
    for example in examples[:300]:
        n, d = example["n_points"], example["dimension"]
        t, x, which = example["times"][:n], example["states"][:n, :d], example["trajectory"][:n]
        parts = [which == k for k in range(example["n_trajectories"])]
        scaling = fit_scaling([t[part] for part in parts], [x[part] for part in parts])
        np.testing.assert_allclose(scaling.factors, 1.0)
        assert scaling.rate == pytest.approx(1.0)


def test_the_network_reads_gaps_as_it_does_at_inference(examples: Examples) -> None:
    """A missing cell is NaN in a batch exactly where inference has it."""
    roles_of = {SEEN: Role.OBSERVED, UNSEEN: Role.HIDDEN, KNOWN: Role.INPUT}
    for example in examples[examples["missing"] > 0.0][:20]:
        n, d, k = example["n_points"], example["dimension"], example["n_known"]
        bounds = np.searchsorted(example["trajectory"][:n], np.arange(example["n_trajectories"] + 1))
        data = Observations(
            example["times"][:n].copy(),
            example["states"][:n, :d].copy(),
            bounds.astype(np.int64),
            roles=tuple(roles_of[code] for code in example["roles"][: d + k].tolist()),
            known=example["states"][:n, d : d + k].copy(),
        )
        points, trajectory, roles = network_points(data, network_preset("default"))
        batch = collate(np.array([example], EXAMPLE))
        np.testing.assert_array_equal(batch.points, points)
        np.testing.assert_array_equal(batch.trajectory, trajectory)
        np.testing.assert_array_equal(batch.roles, roles)
        assert np.isnan(points[..., 1 : 1 + d]).any()


@pytest.mark.parametrize(
    ("prior", "vocabulary", "points", "digest", "sums"),
    [
        (PAPER, FOUR_DIGITS, 0, "39ac6309c50f95c2", (9.53980945, 50.53423443, 105922.7412, -25401.84373)),
        (PLAIN, COARSE, 48, "0e0e300253a071cc", (7.544454297, 39.04766611, 52512.38438, 3780.377713)),
    ],
    ids=["paper", "plain"],
)
def test_older_presets_are_what_they_were(prior: Prior, vocabulary, points: int, digest: str, sums) -> None:
    """Computed with the version before laboratories (8902e3f)."""
    found = draw(200, prior, seed=7, vocabulary=vocabulary, points=points)
    counts = ("index", "dimension", "family", "n_points", "n_nodes", "n_tokens", "tries")
    words = ("trajectory", "ops", "tokens")
    content = b"".join(np.ascontiguousarray(found[name]).tobytes() for name in (*counts, *words))
    assert hashlib.sha256(content).hexdigest()[:16] == digest
    numbers = [found[name].sum() for name in ("sigma", "rho", "times", "states")]
    np.testing.assert_allclose(numbers, sums, rtol=1e-6)
