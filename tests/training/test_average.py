import torch
from torch import nn

from odefinder.training.average import WeightAverage


def test_the_mean_of_all_steps_first_then_of_the_last_ones() -> None:
    network = nn.Linear(1, 1, bias=False)
    average = WeightAverage(network, horizon=4)
    for value in (1.0, 2.0, 6.0):
        nn.init.constant_(network.weight, value)
        average.update()
    torch.testing.assert_close(average.tensors["weight"], torch.tensor([[3.0]]))
    for _ in range(60):
        nn.init.constant_(network.weight, 10.0)
        average.update()
    torch.testing.assert_close(average.tensors["weight"], torch.tensor([[10.0]]), atol=1e-5, rtol=0)
    again = WeightAverage(network, horizon=4)
    again.load(average.tensors, average.steps)
    assert again.steps == 63
    assert torch.equal(again.tensors["weight"], average.tensors["weight"])
