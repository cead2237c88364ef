"""What each part of a fit is worth: whole fits of the same data, with one part missing.

    python benchmarks/parts.py --out runs/parts.jsonl [--every 2] [--processes 2]

Plain systems: one initial value of every system of ODEBench and of the textbook set, 150 points: clean, with
multiplicative noise of 5 % and half of the points dropped, and with additive noise of 3 % of each variable's
spread; R2 > 0.9 on the trajectory and on the one from the other initial value.  Systems with roles: the
laboratory set with additive noise of 3 %; forecast, and other start, input or condition.  The parts:

- network: it proposes nothing and has no say.  judge: it proposes, but has no say in the choice.
- regression: no sparse regression.
- search: proposed systems are fitted as they are: no combinations of their equations, no small changes.
- one trajectory: the other way round, a second trajectory of plain systems is fitted with the first, from
  another start (a factor of exp(0.6 N(0, 1)) for each variable).

The same command goes on where it stopped, and prints the table: shares in %, and, of the fits that all have,
the difference to the whole, with its standard error.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from networks import KINDS, TEXTBOOK, Observed, corrupted, observed

from odefinder.bench.laboratory import ours, study
from odefinder.bench.laboratory.entries import read_laboratory
from odefinder.bench.lines import read_lines, run_rest
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.errors import OdefinderError
from odefinder.estimator import ODEFormer
from odefinder.inference import find as finding
from odefinder.inference.choose.search import Search
from odefinder.numerics.integrate import Status, integrate

LABORATORY = Path(__file__).parent / "sets" / "laboratory.json"
ALL, SECOND = "all", "a second trajectory"
PARTS = (ALL, "network", "judge", "regression", "search", SECOND)
BUDGET, NOISE = 20.0, 0.03
SPREAD = 0.6  # of the logarithm of the factors by which initial values of second trajectories differ
Settings = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One fit with a part missing."""

    part: str
    group: str  # set and noise
    case: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.part, self.group, self.case


@dataclass(frozen=True)
class Outcome:
    """Whether it is right where it was fitted, and elsewhere."""

    part: str
    group: str
    case: str
    here: bool
    elsewhere: bool

    @property
    def key(self) -> tuple[str, str, str]:
        return self.part, self.group, self.case


class Unsearched(Search):
    """Proposed systems, and polynomials, as they are."""

    def collect_equations(self, *_: Any) -> None:
        return None

    def combine(self, votes: bool = True) -> bool:
        return False

    def search_around(self) -> bool:
        return False

    def prune(self) -> None:
        return None

    def fit_equivalents(self) -> None:
        return None


@contextmanager
def without(part: str) -> Iterator[Settings]:
    """In this block a part is missing; yields the parameters of the estimator that go with it."""
    settings: Settings = {}
    with ExitStack() as stack:
        if part == "network":
            settings["network"] = False
        elif part == "regression":
            settings["sparse"] = False
        elif part == "judge":
            stack.enter_context(patch.object(finding, "log_prior_of", lambda *_: None))
        elif part == "search":
            stack.enter_context(patch.object(finding, "Search", Unsearched))
        yield settings


# ---------------------------------------------------------------------------------------- fits


@lru_cache(maxsize=1)
def cases(every: int) -> dict[tuple[str, str], Observed]:
    """The plain cases by group and name."""
    return {(f"{one.set}, {one.kind}", one.name): one for one in observed(["odebench", TEXTBOOK], every)}


def execute(job: Job, every: int) -> Outcome:
    """One fit, judged."""
    with without(job.part) as settings:
        if job.group == LABORATORY.stem:
            system, split = job.case.rsplit(" ", 1)
            with patch.dict(study.METHODS, odefinder=partial(ours.fit, **settings)):
                found = study.execute(
                    study.LabJob(LABORATORY, "odefinder", system, int(split), NOISE, seed=0)
                )
            return Outcome(*job.key, *(score is not None and score > GOOD for score in found.scores))
        case = cases(every)[job.group, job.case]
        data = [case.seen]
        if job.part == SECOND:
            data.append(second(case))
        times, states = zip(*data, strict=True)
        try:
            model = ODEFormer(time_budget=BUDGET, **settings).fit(list(states), list(times))
        except OdefinderError:
            return Outcome(*job.key, False, False)
        if model.system_.inputs:  # a constant that differs between the trajectories: no law for others
            return Outcome(*job.key, False, False)
        program = model.system_.program
        good = [trajectory_r2(program, y[0], case.dense, y) > GOOD for y in (case.clean, case.other)]
        return Outcome(*job.key, *map(bool, good))


def second(case: Observed) -> tuple[np.ndarray, np.ndarray]:
    """Another trajectory of the system with the same noise; the same one again if all others run away."""
    rng = np.random.default_rng(zlib.crc32(f"{case.set}|{case.name}|{case.kind}".encode()))
    for _ in range(20):
        start = case.clean[0] * np.exp(SPREAD * rng.normal(size=case.clean.shape[1]))
        path, status = integrate(
            case.truth, start, case.dense, rtol=1e-9, atol=1e-12, bound=1e3 * np.abs(case.clean).max()
        )
        if status == Status.OK:
            return corrupted(case.dense, path, case.kind, int(rng.integers(2**31)))
    return case.seen


def jobs(every: int) -> list[Job]:
    """Everything to be fitted, in an order in which a part of it is a fair sample."""
    groups = list(cases(every))
    labs = [
        (LABORATORY.stem, f"{lab.id} {split}")
        for lab in read_laboratory(LABORATORY)
        for split in range(len(lab.splits))
    ]
    every_job = [Job(part, *where) for where in groups for part in PARTS]
    every_job += [Job(part, *where) for where in labs for part in PARTS if part != SECOND]
    return sorted(every_job, key=lambda job: zlib.crc32(f"{job.group}|{job.case}".encode()))


# ---------------------------------------------------------------------------------------- the table


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """Markdown."""
    names = [f"{set_}, {kind}" for set_ in ("odebench", "textbook") for kind in KINDS] + [LABORATORY.stem]
    known = {one.key: one for one in outcomes}
    yield (
        "| | fits | "
        + " | ".join(part if part in (ALL, SECOND) else f"without {part}" for part in PARTS)
        + " |"
    )
    yield "|---|---|" + "---|" * len(PARTS)
    for group in names:
        parts = [part for part in PARTS if group != LABORATORY.stem or part != SECOND]
        own = {one.case for one in outcomes if one.group == group}
        common = sorted(case for case in own if all((part, group, case) in known for part in parts))
        if common:
            whole = [known[ALL, group, case] for case in common]
            cells = [
                _cell([known[part, group, case] for case in common], whole) if part in parts else ""
                for part in PARTS
            ]
            yield f"| {group} | {len(common)} | " + " | ".join(cells) + " |"


def _cell(own: list[Outcome], whole: list[Outcome]) -> str:
    """Shares here and elsewhere; the difference elsewhere, with its error, where it is not the whole."""
    shares = " / ".join(
        f"{100 * np.mean([getattr(one, name) for one in own]):.0f}" for name in ("here", "elsewhere")
    )
    if own is whole or own[0].part == ALL:
        return shares
    pairs = list(zip(own, whole, strict=True))
    gained = sum(one.elsewhere and not other.elsewhere for one, other in pairs)
    lost = sum(other.elsewhere and not one.elsewhere for one, other in pairs)
    difference, error = 100 * (gained - lost) / len(own), 100 * np.sqrt(gained + lost) / len(own)
    return f"{shares} ({difference:+.0f} ± {error:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take every so-many-th plain case only")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="only the table of what is there")
    options = parser.parse_args()
    if not options.show:
        one: Callable[[Job], Outcome] = partial(execute, every=options.every)
        for _ in run_rest(jobs(options.every), one, Outcome, options.out, options.processes):
            pass
    print("\n".join(table(read_lines(options.out, Outcome))))


if __name__ == "__main__":
    main()
