"""The network: what it must not depend on, and one token at a time as all at once."""

import pytest
import torch

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.errors import SettingsError
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.tokens import BOS, EOS
from odefinder.network.model import Network, count_parameters, longer_cache, product_rows, shifted
from odefinder.network.presets import NetworkSettings, network_preset
from tests.networks import observed, small_network


def random_tokens(network: Network, shape: tuple[int, int], seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(EOS, network.vocabulary_size, shape, generator=generator)


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.allclose(a, b, atol=2e-5, rtol=1e-4)


@torch.no_grad()
def test_decoding_step_by_step_is_the_parallel_forward() -> None:
    network = small_network()
    batch, samples, length = 2, 3, 12
    points, trajectory, roles = observed([2, 3])
    targets = random_tokens(network, (batch * samples, length))
    inputs = shifted(targets)
    repeated = (tensor.repeat_interleave(samples, 0) for tensor in (points, trajectory, roles))
    expected = network(*repeated, inputs)
    memory = network.encode(points, trajectory, roles)
    attended = network.memory_cache(memory)
    cache = network.empty_cache(batch * samples, 5, memory)
    for position in range(length):
        if position == cache[0][0].shape[2]:
            cache = longer_cache(cache, length)
        assert close(network.step(inputs[:, position], position, cache, attended), expected[:, position])


def test_weight_of_constants() -> None:
    """Without it, all numbers are one word: what is left is that some number stands there."""
    network = small_network()
    data, targets = observed([2, 3]), random_tokens(network, (2, 9))
    targets[0, 6:] = PAD
    plain = network.loss(*data, targets)
    assert torch.equal(network.loss(*data, targets, constants=1.0), plain)

    first = network.first_number
    logits = network(*data, shifted(targets))
    number = logits[..., first:].logsumexp(-1, keepdim=True)
    kinds = torch.cat((logits[..., :first], number), -1).log_softmax(-1)
    words = targets.clamp(max=first)
    expected = -kinds.gather(-1, words[..., None])[..., 0][targets != PAD].mean()
    assert close(network.loss(*data, targets, constants=0.0), expected)
    assert close(network.loss(*data, targets, constants=0.4), 0.4 * plain + 0.6 * expected)


def test_multiplying_finds_the_rows_of_a_lookup() -> None:
    network = small_network()
    ids = random_tokens(network, (3, 7)).short()
    assert torch.equal(product_rows(network.tokens, ids), network.tokens(ids.int()))


@pytest.mark.parametrize("embedder", ["waves", "tokens"])
@torch.no_grad()
def test_the_order_of_points_does_not_matter(embedder: str) -> None:
    network = small_network(embedder=embedder)
    points, trajectory, roles = observed([1, 4])
    read = torch.from_numpy(number_ids(points, allow_missing=True)) if embedder == "tokens" else points
    inputs = shifted(random_tokens(network, (2, 7)))
    order = torch.randperm(points.shape[1], generator=torch.Generator().manual_seed(1))
    logits = network(read, trajectory, roles, inputs)
    assert close(network(read[:, order], trajectory[:, order], roles, inputs), logits)
    # The values and the trajectory they belong to do matter.
    assert not close(network(read.flip(2), trajectory, roles, inputs), logits)
    assert not close(network(read, 1 - trajectory, roles, inputs), logits)


@torch.no_grad()
def test_vacant_dimensions_are_ignored() -> None:
    network = small_network()
    points, trajectory, roles = observed([2, 5])
    inputs = shifted(random_tokens(network, (2, 7)))
    logits = network(points, trajectory, roles, inputs)
    assert torch.isfinite(logits).all()
    assert torch.equal(network(points.nan_to_num(nan=torch.inf), trajectory, roles, inputs), logits)
    assert not close(network(points.nan_to_num(nan=0.0), trajectory, roles, inputs), logits)  # 0 is a value


@torch.no_grad()
def test_later_tokens_do_not_change_earlier_logits() -> None:
    network = small_network()
    points, trajectory, roles = observed([2])
    tokens = random_tokens(network, (1, 9))
    other = tokens.clone()
    other[:, 5:] = random_tokens(network, (1, 4), seed=1)
    logits, changed = (network(points, trajectory, roles, ids) for ids in (tokens, other))
    assert close(logits[:, :5], changed[:, :5])
    assert not close(logits[:, 5:], changed[:, 5:])


@torch.no_grad()
def test_a_new_network_starts_with_layers_that_do_nothing() -> None:
    network = Network(network_preset("tiny"))
    layers = [*network.encoder_layers, *network.decoder_layers]
    zero = [layer.attention.output.weight for layer in layers]
    zero += [layer.feed_forward.leave.weight for layer in layers]
    zero += [layer.cross.output.weight for layer in network.decoder_layers]
    assert not any(weight.any() for weight in zero)
    x = torch.randn(2, 5, network.settings.width)
    assert all(torch.equal(layer(x), x) for layer in network.encoder_layers)
    # So the first logits do not depend on the data.
    inputs = shifted(random_tokens(network, (2, 6)))
    assert torch.equal(network(*observed([1, 2]), inputs), network(*observed([3, 4], seed=1), inputs))


@torch.no_grad()
def test_padding_does_not_count_in_the_loss() -> None:
    network = small_network()
    points, trajectory, roles = observed([2, 3])
    targets = random_tokens(network, (2, 8))
    padded = torch.cat((targets, torch.zeros(2, 5, dtype=targets.dtype)), 1)
    loss = network.loss(points, trajectory, roles, targets)
    assert torch.allclose(network.loss(points, trajectory, roles, padded.short()), loss, rtol=1e-5)
    assert loss.ndim == 0


def test_inputs_are_the_targets_one_place_later() -> None:
    targets = torch.tensor([[7, 8, EOS, 0]], dtype=torch.int16)
    assert shifted(targets).tolist() == [[BOS, 7, 8, EOS]]


def test_sizes() -> None:
    with torch.device("meta"):  # shapes without numbers
        counts = {name: count_parameters(Network(network_preset(name))) for name in ("default", "paper")}
    assert 20e6 < counts["default"] <= 40e6
    assert 80e6 < counts["paper"] < 110e6
    assert count_parameters(small_network()) < 1e6


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(SettingsError, match="multiple"):
        NetworkSettings(width=100, heads=7)
    with pytest.raises(SettingsError, match="waves or tokens"):
        NetworkSettings(embedder="words")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="default, paper, tiny"):
        network_preset("huge")


@torch.no_grad()
def test_roles_matter_to_numbers_and_not_to_the_papers_words() -> None:
    points, trajectory, roles = observed([3, 2])
    points[0, :, 2] = torch.nan
    unseen, known = roles.clone(), roles.clone()
    unseen[0, 1], known[0, 2] = UNSEEN, KNOWN
    for embedder, read in (("waves", points), ("tokens", number_ids(points, allow_missing=True))):
        network = small_network(embedder=embedder)
        inputs = shifted(random_tokens(network, (2, 7)))
        plain, *others = (
            network(torch.as_tensor(read), trajectory, codes, inputs) for codes in (roles, unseen, known)
        )
        for other in others:
            assert torch.equal(plain, other) == (embedder == "tokens")
            assert close(plain[1], other[1])  # another system of the batch
        assert embedder == "tokens" or not close(*others)
