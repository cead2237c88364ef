"""When a fit has to end: `with deadline:` lets compiled code inside end with it.

A fit ends within 1.5 times its budget and one second.  The search has the budget; what must follow it,
judging the candidates and simulating them, has limits of its own behind it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from odefinder.limits.alarm import Alarm

READING = 0.7  # of the budget that reading the data may use up: what is fitted then must be found, too
ESTIMATING = 0.4  # of the budget that the estimate of the states may take
POLYNOMIALS, FIRST_FITS = 0.2, 0.35  # of the budget, after which the network writes on, where data are exact
JUDGING = 1.2, 0.3  # the judge's limit: this many budgets, and seconds
VARYING = 1.28, 0.45  # that of constants which differ between trajectories: the result is claimed after it
CLAIMING = 1.35, 0.6  # that of what is said about the result
FIRST = 0.15  # seconds for a first system where the time was over before there was one
DECODING_SHARE = 0.5  # of the budget that decoding may take: systems must be fitted, too
DECODING_LATEST = 0.8, 0.2  # budgets and seconds, as long as no system at all is written


@dataclass
class Deadline:
    """A time budget, and whether the user has had enough."""

    seconds: float
    begin: float = field(default_factory=time.perf_counter)
    stopped: bool = False
    ended: bool = False  # whether it was noticed that it is time to end
    _alarms: list[Alarm] = field(default_factory=list, repr=False, compare=False)

    @property
    def left(self) -> float:
        """Seconds until it is time to end."""
        return 0.0 if self.stopped else self.begin + self.seconds - time.perf_counter()

    @property
    def over(self) -> bool:
        """Whether it is time to end."""
        return self.stopped or time.perf_counter() - self.begin > self.seconds

    def stop(self) -> None:
        """End now."""
        self.stopped = True
        for alarm in self._alarms:
            alarm.ring()

    def within(self, budgets: float, seconds: float = 0.0) -> Deadline:
        """Another one from the same beginning.  Once this one is stopped: this many seconds from now."""
        if self.stopped:
            return Deadline(seconds)
        return Deadline(budgets * self.seconds + seconds, self.begin)

    def __enter__(self) -> Deadline:
        self._alarms.append(Alarm(self.left).__enter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._alarms.pop().__exit__()
