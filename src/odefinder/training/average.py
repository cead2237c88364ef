"""The running average of the weights: at any time nearly as good as after the learning rate has fallen.

The averaged weights are validated and shipped, so that a run that stops half-way through its plan leaves
something worth having.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WeightAverage:
    """Exponential average over about `horizon` steps; over all of them at first."""

    def __init__(self, network: nn.Module, horizon: int):
        self.horizon = horizon
        self.steps = 0  # averaged so far
        self._live = network.state_dict(keep_vars=False)
        self.tensors = {name: tensor.clone() for name, tensor in self._live.items()}

    @torch.no_grad()
    def update(self) -> None:
        """Add the current weights to the average."""
        self.steps += 1
        weight = max(1.0 / self.horizon, 1.0 / self.steps)
        averages, live = list(self.tensors.values()), [self._live[name] for name in self.tensors]
        torch._foreach_lerp_(averages, live, weight)

    def load(self, tensors: dict[str, Tensor], steps: int) -> None:
        """Load averages over this many steps from a checkpoint."""
        self.steps = steps
        for name, tensor in tensors.items():
            self.tensors[name].copy_(tensor)
