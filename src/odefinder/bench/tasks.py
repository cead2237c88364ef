"""Tasks: each is one observed trajectory of a true system, with what a fit of it is judged by.

A task is identified by set, system, initial value, sigma and rho.  Its seed is the first 31 bits of the
SHA-256 of these and the run's seed, so that a task's data are the same on any machine, whatever else is run.
The protocol is the paper's: noise first, x (1 + xi) with xi ~ N(0, sigma), then int(rho N) points dropped.
Additive noise, x + sd(x) xi, uses the same seeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.cases import Case
from odefinder.bench.sets import TrueSystem, load_set
from odefinder.data.corruption import Noise, corrupt
from odefinder.data.observations import Observations
from odefinder.data.units import T_START, fit_scaling
from odefinder.errors import SettingsError
from odefinder.expressions.program import Program

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """One trajectory to be fitted."""

    set: str
    system: str  # the system's id
    name: str
    initial: int  # which initial value, counted from 1
    sigma: float
    rho: float
    seed: int  # of the noise and the subsampling, and of the method
    variables: tuple[str, ...]
    truth: Program
    t: Floats  # (N,)
    clean: Floats  # (N, D): the trajectory without noise, at all times
    other: Floats  # (N, D): from the next initial value
    noise: Noise = "multiplicative"

    def observed(self) -> tuple[Floats, Floats]:
        """Times (n,) and states (n, D) that a method sees."""
        return corrupt(self.t, self.clean, sigma=self.sigma, rho=self.rho, seed=self.seed, noise=self.noise)

    def case(self) -> Case:
        """The task in canonical units, for functions that need them."""
        times, states = self.observed()
        scaling = fit_scaling([times], [states])
        return Case(
            Observations.joined([scaling.times(times)], [scaling.states(states)]),
            scaling.to_scaled(self.truth),
            T_START + scaling.rate * (self.t - times[0]),
            scaling.states(self.clean),
            scaling.states(self.other),
            f"{len(self.variables)}-D",
        )


def task_seed(seed: int, set_name: str, system: str, initial: int, sigma: float, rho: float) -> int:
    """The seed of a task, from 0 to 2**31 - 1."""
    text = f"{seed}|{set_name}|{system}|{initial}|{sigma:.6g}|{rho:.6g}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def make_tasks(
    set_name: str,
    systems: Sequence[TrueSystem],
    *,
    sigmas: Sequence[float] = (0.0,),
    rhos: Sequence[float] = (0.0,),
    seed: int = 0,
    noise: Noise = "multiplicative",
    initials: int | None = None,
) -> Iterator[Task]:
    """Every initial value of every system in every cell of sigma and rho, one cell after the other.

    initials: only this many initial values of each system.
    """
    for sigma in sigmas:
        if not 0.0 <= sigma < np.inf:
            raise SettingsError(f"sigma is a noise level, 0 or larger, got {sigma:g}")
    for rho in rhos:
        if not 0.0 <= rho < 1.0:
            raise SettingsError(f"rho is the share of points to drop, from 0 to below 1, got {rho:g}")
    for sigma in dict.fromkeys(sigmas):
        for rho in dict.fromkeys(rhos):
            for system in systems:
                for k in range(system.fitted if initials is None else min(initials, system.fitted)):
                    yield _task(set_name, system, k, sigma, rho, seed, noise)


def _task(
    set_name: str, system: TrueSystem, k: int, sigma: float, rho: float, seed: int, noise: Noise
) -> Task:
    paths = system.trajectories
    return Task(
        set_name,
        system.id,
        system.name,
        k + 1,
        sigma,
        rho,
        task_seed(seed, set_name, system.id, k + 1, sigma, rho),
        system.system.variables,
        system.program,
        system.t,
        paths[k],
        paths[(k + 1) % len(paths)],
        noise,
    )


def task_cases(
    set_name: str,
    *,
    systems: str | None = None,
    sigma: float = 0.0,
    rho: float = 0.0,
    seed: int = 0,
    noise: Noise = "multiplicative",
) -> list[Case]:
    """The tasks of one cell as cases; systems: see `choose_systems`."""
    chosen = choose_systems(load_set(set_name), systems)
    tasks = make_tasks(set_name, chosen, sigmas=[sigma], rhos=[rho], seed=seed, noise=noise)
    return [task.case() for task in tasks]


def choose_systems(systems: Sequence[TrueSystem], wanted: str | None) -> list[TrueSystem]:
    """The systems with ids as in "1,5,20-25", in the order of the set; None: all."""
    if wanted is None:
        return list(systems)
    known = [system.id for system in systems]
    chosen: set[str] = set()
    for word in filter(None, (word.strip() for word in wanted.split(","))):
        found = _named(word, known)
        if not found:
            raise SettingsError(
                f"there is no system {word!r} in this set; its systems are {_shortened(known)}"
            )
        chosen.update(found)
    if not chosen:
        raise SettingsError("--systems names no system; give ids such as 1,5,20-25")
    return [system for system in systems if system.id in chosen]


def _named(word: str, known: Sequence[str]) -> Sequence[str]:
    """The id, or the ids of a range "first-last"; an id may itself have dashes."""
    if word in known:
        return [word]
    for place in (i for i, letter in enumerate(word) if letter == "-"):
        first, last = word[:place], word[place + 1 :]
        if first in known and last in known:
            return known[known.index(first) : known.index(last) + 1]
    return []


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:6])}, ... {names[-1]}"
