"""One trajectory as it was given, before anything is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.dosing import Dosing
from odefinder.data.known import NOTHING_ELSE, Extras

Floats = NDArray[np.float64]


@dataclass
class RawTrajectory:
    """One trajectory as it was given."""

    times: Any  # (n,): numbers, or dates, also as text
    states: Floats  # (n, D)
    label: str = ""
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # counted from 1
    extras: Extras = NOTHING_ELSE  # its inputs, conditions and errors
    columns: Mapping[str, Any] | None = None  # (n,) each, by name: what the extras may mean
    dosing: Dosing | None = None

    def __post_init__(self) -> None:
        if len(self.rows) == 0:
            self.rows = np.arange(1, len(self.states) + 1)
        if self.dosing is not None:
            self.states = np.where(self.dosing.unseen[:, None], np.nan, self.states)

    @property
    def of(self) -> str:
        """For messages: which trajectory, where there are several."""
        return f" of trajectory {self.label}" if self.label else ""
