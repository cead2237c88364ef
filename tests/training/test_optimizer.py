"""Muon and AdamW: what an update looks like, and that their state is complete."""

import pytest
import torch
from torch import Tensor

from odefinder.network.model import Network
from odefinder.training.optimizer import Muon, Optimizer, learning_rate, orthogonalised
from tests.networks import observed, small_network


@pytest.mark.parametrize("shape", [(3, 40, 40), (2, 32, 96), (2, 96, 32), (1, 1, 8)])
def test_orthogonalised_matrices_have_singular_values_near_one(shape: tuple[int, int, int]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = orthogonalised(matrices).float()
    assert found.shape == shape
    values = torch.linalg.svdvals(found).flatten()
    assert values.max() < 1.3
    assert values.quantile(0.05) > 0.5  # five steps do not lift the smallest of a square matrix
    assert 0.65 < values.mean() < 1.15
    # The directions are those of the matrix: the nearest orthogonal matrix is u v.
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    assert torch.nn.functional.cosine_similarity((u @ v).flatten(), found.flatten(), dim=0) > 0.95


def test_a_matrix_does_not_depend_on_those_beside_it() -> None:
    matrices = torch.randn((3, 16, 24), generator=torch.Generator().manual_seed(0))
    together = orthogonalised(matrices)
    assert torch.allclose(together[1], orthogonalised(matrices[1:2])[0], atol=0.02)
    assert torch.allclose(together[1], orthogonalised(1e4 * matrices)[1], atol=0.06)


@pytest.mark.parametrize("shape", [(64, 64), (32, 128), (128, 32)])
def test_updates_of_muon_are_as_large_as_those_of_adam(shape: tuple[int, int]) -> None:
    weight = torch.nn.Parameter(torch.zeros(shape))
    weight.grad = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    Muon([weight], lr=0.01).step()
    assert weight.square().mean().sqrt().item() == pytest.approx(0.2 * 0.01, rel=0.2)
    assert (weight * weight.grad).sum() < 0  # downhill


def learn(network: Network, optimizer: Optimizer, steps: int) -> list[Tensor]:
    targets = torch.randint(4, 100, (2, 9), generator=torch.Generator().manual_seed(2))
    for _ in range(steps):
        network.zero_grad()
        torch.autograd.backward(network.loss(*observed([2, 3]), targets))
        optimizer.step(1e-3)
    return [parameter.detach().clone() for parameter in network.parameters()]


@pytest.mark.parametrize("muon", [True, False])
def test_the_state_comes_back_exactly(muon: bool) -> None:
    network = small_network()
    optimizer = Optimizer(network, 1e-3, muon=muon)
    learn(network, optimizer, 3)
    state = {name: tensor.clone() for name, tensor in optimizer.state().items()}
    again = small_network(seed=1)
    again.load_state_dict(network.state_dict())
    restored = Optimizer(again, 1e-3, muon=muon)
    restored.load(state)
    assert restored.state().keys() == state.keys()
    assert all(torch.equal(tensor, state[name]) for name, tensor in restored.state().items())
    expected, found = learn(network, optimizer, 3), learn(again, restored, 3)
    assert all(map(torch.equal, expected, found))


def test_the_state_takes_on_the_type_of_the_weights() -> None:
    network = small_network()
    optimizer = Optimizer(network, 1e-3)
    learn(network, optimizer, 1)
    lower = {name: tensor.bfloat16() for name, tensor in optimizer.state().items()}
    optimizer.load(lower)
    state = {name: tensor for name, tensor in optimizer.state().items() if not name.endswith(".step")}
    assert {tensor.dtype for tensor in state.values()} == {torch.float32}
    learn(network, optimizer, 1)


def test_which_weights_go_to_muon() -> None:
    network = small_network()
    adam, muon = Optimizer(network, 1e-3).parts
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    inside = [names[id(p)] for group in muon.param_groups for p in group["params"]]
    assert all(name.startswith(("encoder.", "decoder.")) and name.endswith("weight") for name in inside)
    rest = [names[id(p)] for group in adam.param_groups for p in group["params"]]
    assert {"head.weight", "tokens.weight", "encoder.0.attention.gain"} <= set(rest)
    assert len(inside) + len(rest) == len(names)
    assert len(Optimizer(network, 1e-3, muon=False).parts) == 1


def test_the_rate_is_used() -> None:
    network = small_network()
    before = [parameter.detach().clone() for parameter in network.parameters()]
    optimizer = Optimizer(network, 1e-3)
    torch.autograd.backward(network.loss(*observed([2]), torch.tensor([[5, 6, 2]])))
    optimizer.step(0.0)
    assert all(map(torch.equal, before, network.parameters()))


def test_the_learning_rate_rises_stays_and_falls() -> None:
    def rate(progress: float) -> float:
        return learning_rate(2e-3, progress, warmup=0.1, decay=0.4)

    assert 0.0 < rate(0.0) < 1e-5
    assert rate(0.05) == pytest.approx(1e-3, rel=0.01)
    assert rate(0.1) == rate(0.3) == rate(0.6) == 2e-3
    assert rate(0.8) == pytest.approx(1e-3)
    assert rate(1.0) == rate(1.2) == 0.0
    shares = [k / 100 for k in range(101)]
    rates = [rate(share) for share in shares]
    assert rates[:11] == sorted(rates[:11])
    assert rates[60:] == sorted(rates[60:], reverse=True)


def test_a_schedule_without_rise_or_fall() -> None:
    assert {learning_rate(1.0, share, warmup=0.0, decay=0.0) for share in (0.0, 0.5, 1.0)} == {1.0}
