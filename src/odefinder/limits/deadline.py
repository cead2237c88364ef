"""When a fit has to end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Deadline:
    """A time budget, and whether the user has had enough."""

    seconds: float
    begin: float = field(default_factory=time.perf_counter)
    stopped: bool = False

    @property
    def over(self) -> bool:
        """Whether it is time to end."""
        return self.stopped or time.perf_counter() - self.begin > self.seconds
