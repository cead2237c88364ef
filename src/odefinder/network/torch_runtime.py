"""Decoding with torch: full precision, on a processor or a GPU; for validation and large batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from odefinder.network.model import Cache, Network, longer_cache
from odefinder.network.runtime import Floats, Ids, draw_tokens

CACHE_START = 32  # positions that the cache has room for at first; it doubles when full
TOGETHER_ON_GPU = 64  # on a processor, many at once are slower and take 20 GB


def best_device() -> str:
    """A GPU if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


class TorchRuntime:
    """A torch network, on its current device or moved to another."""

    def __init__(self, network: Network, device: str | None = None):
        self.network = network.to(device).eval() if device else network.eval()
        self.settings = network.settings
        self.device = next(network.parameters()).device
        self.knows_roles = network.knows_roles
        self.writes_outlines = network.writes_outlines
        self.together = TOGETHER_ON_GPU if self.device.type == "cuda" else 1

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    @torch.inference_mode()
    def encode(
        self, points: NDArray[Any], trajectory: NDArray[np.integer], roles: NDArray[np.integer]
    ) -> Tensor:
        return self.network.encode(self._tensor(points), self._tensor(trajectory), self._tensor(roles))

    def begin(self, memory: Tensor, samples: int, masks: NDArray[np.bool_]) -> TorchSequences:
        return TorchSequences(self.network, memory, samples, self._tensor(masks))

    @torch.inference_mode()
    def logits(self, memory: Tensor, tokens: Ids) -> NDArray[np.float32]:
        repeated = memory.repeat_interleave(len(tokens) // len(memory), 0)
        return self.network.logits(repeated, self._tensor(tokens)).float().cpu().numpy()


class TorchSequences:
    """Sequences with their keys and values on the network's device."""

    @torch.inference_mode()
    def __init__(self, network: Network, memory: Tensor, samples: int, masks: Tensor):
        self.network = network
        self.memory: Cache = network.memory_cache(memory)
        self.cache = network.empty_cache(len(memory) * samples, CACHE_START, memory)
        self.masks = masks
        self.position = 0

    @torch.inference_mode()
    def draw(self, tokens: Ids, rows: Ids, uniform: Floats, temperature: float) -> tuple[Ids, Floats]:
        row, level = (torch.from_numpy(x).to(self.masks.device) for x in (rows, uniform))
        drawn, chance = draw_tokens(torch, self._step(tokens), self.masks[row], level, temperature)
        return drawn.cpu().numpy(), chance.cpu().numpy()

    @torch.inference_mode()
    def logits(self, tokens: Ids) -> Floats:
        logits: Floats = self._step(tokens).cpu().numpy()
        return logits

    def _step(self, tokens: Ids) -> Tensor:
        if self.position == self.cache[0][0].shape[2]:
            self.cache = longer_cache(self.cache, 2 * self.position)
        last = torch.from_numpy(tokens).to(self.masks.device)
        logits = self.network.step(last, self.position, self.cache, self.memory).double()
        self.position += 1
        return logits

    def keep(self, chosen: NDArray[np.bool_] | Ids) -> None:
        rows = torch.from_numpy(np.arange(len(self.cache[0][0]))[chosen]).to(self.masks.device)
        self.cache = [(keys[rows], values[rows]) for keys, values in self.cache]
