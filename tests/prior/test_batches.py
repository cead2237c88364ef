"""Batches for training: right, in order, and the same for any number of threads."""

from itertools import islice

import numpy as np
import pytest

from odefinder.errors import SettingsError
from odefinder.prior import batches
from odefinder.prior.batches import Batch, BatchStream, batches_from, collate
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import DEFAULT
from odefinder.prior.sampler import fill
from odefinder.tokens import EOS, MAX_DIMENSION, PAD, Vocabulary, decode_numbers

WORDS = Vocabulary()


def drawn(count: int, points: int = 0, first: int = 0) -> Examples:
    examples = np.zeros(count, EXAMPLE)
    fill(examples, new_counts(), seed=3, first=first, prior=DEFAULT, layout=WORDS.layout, points=points)
    return examples


def stream(**changes) -> BatchStream:
    return BatchStream(
        DEFAULT, WORDS, **{"batch_size": 8, "points": 40, "seed": 3, "queue_size": 3, **changes}
    )


def same(a: Batch, b: Batch) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


def test_a_batch_says_what_its_examples_say() -> None:
    examples = drawn(20, points=40)
    batch = collate(examples, length_multiple=16)
    assert batch.inputs.shape == (20, 40, 1 + MAX_DIMENSION, 3)
    assert batch.targets.shape[1] % 16 == 0
    assert batch.targets.shape[1] - 16 < batch.target_lengths.max() <= batch.targets.shape[1]
    numbers = decode_numbers(batch.inputs)
    np.testing.assert_allclose(numbers[:, :, 0], examples["times"][:, :40], rtol=5.1e-4)
    for k, example in enumerate(examples):
        dimension, length = example["dimension"], example["n_tokens"]
        np.testing.assert_allclose(
            numbers[k, :, 1 : 1 + dimension], example["states"][:40, :dimension], rtol=5.1e-4, atol=1e-90
        )
        assert (batch.inputs[k, :, 1 + dimension :] == PAD).all()
        np.testing.assert_array_equal(batch.targets[k, :length], example["tokens"][:length])
        assert batch.targets[k, length - 1] == EOS
        assert (batch.targets[k, length:] == PAD).all()
    np.testing.assert_array_equal(batch.trajectory, examples["trajectory"][:, :40])
    np.testing.assert_array_equal(batch.dimension, examples["dimension"])


def test_same_batches_for_any_number_of_threads() -> None:
    with stream(threads=1) as one, stream(threads=3) as three, stream(first=16) as later:
        alone, together, skipped = (list(islice(s, n)) for s, n in ((one, 5), (three, 5), (later, 3)))
    assert all(map(same, alone, together))
    assert all(map(same, alone[2:], skipped))
    assert same(alone[1], collate(drawn(8, points=40, first=8)))


def test_max_tokens_holds() -> None:
    with stream(max_tokens=150, batch_size=64) as batches_:
        assert next(batches_).target_lengths.max() <= 150


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


def test_batches_from_shards() -> None:
    examples = drawn(400)
    shards = [examples[:150], examples[150:390], examples[390:]]
    found = list(batches_from(shards, batch_size=2))
    assert {len(batch.dimension) for batch in found} == {2}
    counts = np.unique_counts(examples["n_points"]).counts
    assert len(found) == (counts // 2).sum()  # only what does not fill a batch is dropped
    fixed = list(batches_from([drawn(10, points=40), drawn(10, points=40, first=10)], batch_size=8))
    assert len(fixed) == 2
    assert same(fixed[1], collate(drawn(8, points=40, first=8)))


def test_examples_of_a_batch_need_one_number_of_points() -> None:
    with pytest.raises(SettingsError, match="one number of points"):
        collate(drawn(50))


@pytest.mark.parametrize(
    "change",
    [{"points": 0}, {"points": 500}, {"max_tokens": 100}, {"threads": 0}, {"batch_size": 0}, {"seed": -1}],
)
def test_bad_settings(change: dict) -> None:
    with pytest.raises(SettingsError, match=next(iter(change))):
        stream(**change)
