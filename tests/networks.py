"""Small networks for tests, and points for them to read."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from odefinder.data.roles import SEEN
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.model import Network
from odefinder.network.presets import network_preset

torch.set_num_threads(1)  # the tests run side by side; more threads than processors are far slower


def small_network(seed: int = 0, **changes: Any) -> Network:
    """A network with random weights everywhere, also where a new one starts with zeros."""
    torch.manual_seed(seed)
    network = Network(replace(network_preset("tiny"), **changes))
    for parameter in network.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.1)
    return network.eval()


def observed(dimensions: list[int], points: int = 20, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Points (B, P, 1 + D) of random curves in canonical units, one or two trajectories (B, P) each.

    All columns are seen: their roles (B, D) are 0.
    """
    rng = np.random.default_rng(seed)
    batch = len(dimensions)
    values = np.full((batch, points, 1 + MAX_DIMENSION), np.nan, np.float32)
    values[..., 0] = np.linspace(1.0, 10.0, points)
    for k, dimension in enumerate(dimensions):
        values[k, :, 1 : 1 + dimension] = rng.uniform(-1.0, 1.0, (points, dimension))
    trajectory = np.zeros((batch, points), np.int8)
    trajectory[1::2, points // 2 :] = 1
    roles = np.full((batch, MAX_DIMENSION), SEEN, np.int8)
    return torch.from_numpy(values), torch.from_numpy(trajectory), torch.from_numpy(roles)


def arrays(dimensions: list[int], **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same as numpy arrays, as runtimes read them."""
    points, trajectory, roles = observed(dimensions, **options)
    return points.numpy(), trajectory.numpy(), roles.numpy()
