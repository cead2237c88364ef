"""Batches for training: right, the same for any number of threads, and resumable."""

import json
from itertools import islice

import numpy as np
import pytest

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.errors import SettingsError
from odefinder.language.number_words import PAD, decode_numbers
from odefinder.language.tokens import EOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.prior import batches
from odefinder.prior.batches import Batch, BatchStream, StreamState, collate, joined
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import DEFAULT
from odefinder.prior.sampler import fill

WORDS = Vocabulary()


def drawn(count: int, points: int = 0, first: int = 0) -> Examples:
    examples = np.zeros(count, EXAMPLE)
    fill(examples, new_counts(), seed=3, first=first, prior=DEFAULT, layout=WORDS.layout, points=points)
    return examples


def stream(**changes) -> BatchStream:
    settings = {"batch_size": 50, "points": (24, 40), "lengths": (48, 96, 200), "seed": 3, "threads": 1}
    return BatchStream(DEFAULT, WORDS, **{**settings, **changes})


def same(a: Batch, b: Batch) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name == "points") for name in vars(a)
    )


def test_a_batch_says_what_its_examples_say() -> None:
    examples = drawn(20, points=40)
    batch = collate(examples).padded_to(256)
    assert batch.points.shape == (20, 40, 1 + MAX_DIMENSION)
    assert batch.targets.shape == (20, 256)
    np.testing.assert_allclose(batch.points[:, :, 0], examples["times"][:, :40], rtol=1e-6)
    numbers = decode_numbers(batch.input_ids())
    np.testing.assert_allclose(numbers, batch.points, rtol=5.1e-4, atol=1e-90)
    for k, example in enumerate(examples):
        variables, length = example["dimension"] + example["n_known"], example["n_tokens"]
        np.testing.assert_allclose(
            batch.points[k, :, 1 : 1 + variables], example["states"][:40, :variables], rtol=1e-6
        )
        assert np.isnan(batch.points[k, :, 1 + variables :]).all()
        np.testing.assert_array_equal(batch.targets[k, :length], example["tokens"][:length])
        assert batch.targets[k, length - 1] == EOS
        assert (batch.targets[k, length:] == PAD).all()
    np.testing.assert_array_equal(batch.trajectory, examples["trajectory"][:, :40])
    np.testing.assert_array_equal(batch.dimension, examples["dimension"])


def with_roles(count: int) -> Examples:
    """Examples whose last state is never seen, and which have a known variable if there is room for it."""
    examples = drawn(count, points=40)
    for example in examples:
        dimension = example["dimension"]
        example["roles"][dimension - 1] = UNSEEN
        if dimension < MAX_DIMENSION:
            example["n_known"] = 1
            example["roles"][dimension] = KNOWN
            example["states"][:40, dimension] = np.linspace(-1.0, 1.0, 40)
    return examples


def test_roles_in_a_batch() -> None:
    examples = with_roles(30)
    batch = collate(examples)
    np.testing.assert_array_equal(batch.roles, examples["roles"])
    for points, example in zip(batch.points, examples, strict=True):
        dimension, known = example["dimension"], example["n_known"]
        assert np.isnan(points[:, dimension]).all()  # the last state: column 0 is the time
        assert np.isfinite(points[:, 1 + dimension : 1 + dimension + known]).all()
        assert np.isnan(points[:, 1 + dimension + known :]).all()
    chosen = np.array([7, 3])
    assert same(batch.rows(chosen).padded_to(300), collate(examples[chosen]).padded_to(300))
    assert same(joined([batch.rows(slice(0, 10)), batch.rows(slice(10, 30))]), batch)


def test_shapes_are_few_and_examples_come_once() -> None:
    with stream() as batches_:
        found = list(islice(batches_, 12))
    for batch in found:
        length = batch.targets.shape[1]
        assert batch.points.shape[:2] in {(50, 24), (50, 40)}
        assert length in {48, 96, 200}
        assert batch.target_lengths.max() <= length
        assert length == 48 or batch.target_lengths.min() > {96: 48, 200: 96}[length]
    numbers = np.concatenate([batch.index for batch in found])
    assert len(np.unique(numbers)) == len(numbers)


def test_same_batches_for_any_number_of_threads() -> None:
    with stream() as one, stream(threads=3, ahead=2) as three:
        assert all(map(same, islice(one, 8), islice(three, 8)))


@pytest.mark.parametrize("stop", [1, 4, 7])
def test_a_stream_goes_on_exactly_where_it_stopped(stop: int) -> None:
    with stream() as whole:
        expected = list(islice(whole, stop + 5))
    with stream() as begun:
        list(islice(begun, stop))
        state = StreamState.from_dict(json.loads(json.dumps(begun.state.to_dict())))
    with stream(state=state, threads=2) as resumed:
        assert all(map(same, expected[stop:], islice(resumed, 5)))


def test_batch_size_by_shape() -> None:
    with stream(batch_size=lambda points, length: 4000 // (points + length)) as batches_:
        for batch in islice(batches_, 6):
            assert len(batch) == 4000 // (batch.points.shape[1] + batch.targets.shape[1])


def test_errors_of_threads_reach_the_consumer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_, **__) -> None:
        raise RuntimeError("no examples today")

    monkeypatch.setattr(batches, "fill", broken)
    with stream() as batches_, pytest.raises(RuntimeError, match="no examples today"):
        next(batches_)


def test_a_closed_stream_is_at_its_end() -> None:
    batches_ = stream()
    batches_.close()
    assert list(batches_) == []
    batches_.close()


def test_examples_of_a_batch_need_one_number_of_points() -> None:
    with pytest.raises(SettingsError, match="one number of points"):
        collate(drawn(50))


@pytest.mark.parametrize(
    "change", [{"points": ()}, {"lengths": (96, 48)}, {"lengths": (500,)}, {"threads": -1}, {"batch_size": 0}]
)
def test_bad_settings(change: dict) -> None:
    with pytest.raises(SettingsError, match=next(iter(change))):
        stream(**change)


def test_points_that_no_example_can_have() -> None:
    with stream(points=(4,)) as batches_, pytest.raises(SettingsError, match="points is 8 to 200"):
        next(batches_)
