"""Recorded steps; only a GPU can record."""

import pytest
import torch

from odefinder.training.compilation import Recording, can_be_recorded, prepare_gradients
from tests.networks import observed, small_network


def test_a_network_that_looks_up_its_inputs_is_not_recorded() -> None:
    assert can_be_recorded(small_network())
    assert not can_be_recorded(small_network(embedder="tokens"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_replay_has_the_loss_and_the_gradients_of_a_plain_step() -> None:
    network = small_network().cuda()
    pool = prepare_gradients(network)
    inputs = (*observed([2, 3]), torch.randint(4, 100, (2, 9)))
    other = (*observed([3, 1]), torch.randint(4, 100, (2, 9)))
    recording = Recording(network.loss, network, tuple(tensor.cuda() for tensor in inputs), pool)
    for batch in (inputs, other):
        loss = recording.replay(batch)
        replayed = [
            parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None
        ]
        network.zero_grad(set_to_none=False)
        expected = network.loss(*(tensor.cuda() for tensor in batch))
        torch.autograd.backward(expected)
        torch.testing.assert_close(loss, expected.detach())
        for gradient, parameter in zip(replayed, network.parameters(), strict=True):
            torch.testing.assert_close(gradient, parameter.grad, rtol=1e-3, atol=1e-5)
