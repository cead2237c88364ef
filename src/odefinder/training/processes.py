"""Several processes that train one network, each on its own device and its own examples (torchrun).

    torchrun --nproc-per-node 4 -m odefinder train --preset default --minutes 25 --out runs/default

Every process draws its own share of the examples; gradients are averaged, so the weights stay the same
everywhere.  Without torchrun there is one process, and nothing here does anything.
"""

from __future__ import annotations

import os
from typing import Any, TypeVar

import torch
import torch.distributed as distributed
from torch import nn

T = TypeVar("T")


class Processes:
    """This process among those that torchrun started."""

    def __init__(self) -> None:
        self.rank = int(os.environ.get("RANK", "0"))
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0"))  # on this machine
        self.count = int(os.environ.get("WORLD_SIZE", "1"))

    @property
    def first(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def join(self, device: torch.device) -> None:
        """Join the other processes."""
        if self.count > 1 and not distributed.is_initialized():
            distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")

    def gathered(self, value: T) -> list[T]:
        """The values of all processes, in their order."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        distributed.all_gather_object(values, value)
        return values

    def totals(self, *numbers: float) -> list[float]:
        """The sums of these numbers over all processes, through the CPU: the device need not wait."""
        if self.count == 1:
            return list(numbers)
        sums = torch.tensor(numbers, dtype=torch.float64)
        distributed.all_reduce(sums)
        return sums.tolist()

    def average_gradients(self, network: nn.Module) -> None:
        """Replace every gradient by its mean over all processes."""
        if self.count == 1:
            return
        gradients = [p.grad for p in network.parameters() if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        for gradient, mean in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))
