"""What the user should know before trusting a result, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from odefinder.data.names import did_you_mean
from odefinder.data.observations import Floats, Observations
from odefinder.inference.choose.criterion import runs_away
from odefinder.inference.law import Law
from odefinder.limits.alarm import alarm_rings
from odefinder.system import ODESystem

ALIKE = 0.1  # weight relative to the best; a system with more explains the data about equally well
ALSO_EXACT = 1e-3  # likewise, of a system that leaves nothing of exact data: it is worth a note
BAD_R2, GOOD_R2 = 0.5, 0.95  # a note calls a fit bad below the first, and incomplete up to the second
UNEXPLAINED = 20.0  # times the variance of the noise: with more left, the system misses clear structure

CUT_SHORT = "The network was interrupted: it proposed fewer systems than it would have."
INTERRUPTED = "The search was interrupted: these are the best systems found so far."


@dataclass(frozen=True)
class Explanation:
    """A system that may be behind the data, in the user's units."""

    system: ODESystem
    starts: Floats  # (trajectories, D): fitted initial values
    r2: float  # of its simulation from `starts`; -inf where that does not reach the end
    criterion: float  # smaller is better
    weight: float  # the chance that it predicts trajectories from elsewhere
    source: str
    constants: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    # Those with names, by name; one that varies has a value for each trajectory.
    law: Law | None = None  # with its parameters; None: every number of the system is one
    r2_windows: float | None = None  # over short windows, where it was found over them

    @property
    def explained(self) -> float:
        """How well it describes the data: R2, over windows where no simulation can follow for long."""
        return self.r2 if self.r2_windows is None else self.r2_windows


def out_of_time(time_budget: float) -> str:
    """A note that more time might have helped."""
    return (
        f"The time budget of {time_budget:g} s ended the search early; with more time "
        "(time_budget, --budget) it may find better systems."
    )


def outliers_left_out(count: int) -> str:
    """A note that some values were not used."""
    if count == 1:
        return "One value is far from a smooth curve through the others and was not used."
    return f"{count} values are far from a smooth curve through the others and were not used."


def taken_for_constants(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """A note about names in known or terms that are not columns; a misspelt column is one of them."""
    if not names:
        return []
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    what = "is not a column of the data and was taken for an unknown constant"
    if len(names) > 1:
        what = "are not columns of the data and were taken for unknown constants"
    near = [did_you_mean(name, columns).replace(";", f"{name}:") for name in names]
    return [" ".join([f"{listed} {what}.", *filter(None, near)])]


def remarks(
    explanations: Sequence[Explanation], data: Observations, noise: Floats, early: bool = False,
    exact: bool = False,
) -> list[str]:  # fmt: skip
    """What to know about the result; data and noise (D,) are in the user's units.

    early: the search ended before its time, so a bad fit says nothing about the data.  exact: the data have
    no noise, and the first system leaves nothing of them.
    """
    notes = []
    best = explanations[0]
    alike = sum(one.weight >= ALIKE * best.weight for one in explanations)
    if alike > 1:
        notes.append(
            f"{alike} different systems explain the data about equally well; look at all of them, and at "
            "trajectories from other initial values, which would tell them apart."
        )
    elif exact and any(one.weight >= ALSO_EXACT * best.weight for one in explanations[1:]):
        notes.append(
            "Other systems leave nothing of these data either (see the next rows): what was observed lies on "
            "a curve along which one can be written as the other. The first one has the simplest constants; "
            "a trajectory from elsewhere would tell."
        )
    share = f"R2 = {best.explained:.2f}" if np.isfinite(best.explained) else "no R2"
    if early and best.explained < GOOD_R2:
        notes.append(f"The chosen system describes the data badly ({share}): time was the limit.")
    elif best.explained < BAD_R2:
        notes.append(
            f"The chosen system describes the data badly ({share}). Perhaps there is no autonomous ODE in "
            "these variables, the noise is too large, or there are too few points."
        )
    elif best.explained < GOOD_R2 and 1.0 - best.explained > UNEXPLAINED * _noise_share(data, noise):
        notes.append(
            f"The chosen system misses clear structure in the data ({share}): perhaps a variable "
            "is missing, or something depends on the time itself, such as an external force."
        )
    elif runs_away(best.system.program, best.starts, data) and not alarm_rings():  # no time: none arrives
        notes.append(
            "From half or twice the initial values the chosen system runs away within the time of the data: "
            "do not trust it outside the data unless you have observed such a trajectory."
        )
    return notes


def _noise_share(data: Observations, noise: Floats) -> float:
    """The share of the variance that is noise: what even the true system does not explain."""
    seen = ~data.unseen
    return float((noise[seen] ** 2).sum() / max(np.nanvar(data.states[:, seen], axis=0).sum(), 1e-300))
