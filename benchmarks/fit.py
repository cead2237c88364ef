"""What a fit costs: seconds by dimension, points and stage, memory, imports, and pysindy for comparison.

    python benchmarks/fit.py [--part fits growth stages budget memory imports sindy] [--cases 4]
                             [--set odebench] [--budget 10]

Fits run one at a time on two cores, with default settings, on systems that are drawn from the prior with a
seed of their own (or on ODEBench).  CPU seconds are those of the whole process, all threads.  If others use
the machine, they are steadier than wall-clock seconds, and a larger budget keeps fits from being cut short.
Memory and imports are measured in fresh processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np

from odefinder.bench import odebench
from odefinder.bench.cases import synthetic_cases
from odefinder.data import from_arrays
from odefinder.data.corruption import corrupt
from odefinder.errors import OdefinderError
from odefinder.inference import explanations, prepared, proposals
from odefinder.inference import find as finding
from odefinder.inference.choose import equations, fitted
from odefinder.inference.choose import search as searching
from odefinder.inference.find import find
from odefinder.inference.settings import FindSettings
from odefinder.numerics.integrate import Status, integrate

SEED = 16_180_339  # of the systems: nothing was tuned on them
SIGMAS = (0.0, 0.05)
POINTS = (50, 150, 500, 1500, 5000)
BUDGETS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
REPEATS = 5  # of imports
UNHURRIED = 120.0  # seconds: a budget large enough to show how the work grows
GROWN = 150  # points of the trajectories in the other parts


@dataclass(frozen=True)
class System:
    """A clean trajectory."""

    name: str
    curve: Callable[[np.ndarray], np.ndarray | None]  # times in [0, 1] of its length -> (points, D)
    length: float
    dimension: int

    def observed(self, points: int, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Times and noisy states; None if the system cannot be integrated."""
        clean = self.curve(np.linspace(0.0, 1.0, points))
        if clean is None:
            return None
        return corrupt(np.linspace(0.0, self.length, points), clean, sigma=sigma, seed=seed)


def _system(name: str, program: Any, start: np.ndarray, length: float) -> System:
    def curve(share: np.ndarray) -> np.ndarray | None:
        states, status = integrate(program, start, length * share, rtol=1e-8, atol=1e-10)
        return states if status == Status.OK else None

    return System(name, curve, length, len(start))


def systems(which: str, count: int) -> list[System]:
    """`count` drawn systems of each dimension 1 to 6, or all of ODEBench from both initial values."""
    if which == "synthetic":
        return [
            _system(str(k), case.truth, case.dense[0], float(np.ptp(case.dense_times)))
            for k, case in enumerate(synthetic_cases(count, seed=SEED))
        ]
    return [
        _system(f"{one.id} from {k + 1}", one.system().program, states[0], 10.0)
        for one in odebench()
        for k, states in enumerate(one.trajectories(np.linspace(0.0, 10.0, 2)))
    ]


# ---------------------------------------------------------------- seconds


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """CPU and wall seconds; work that ends in one of our errors counts as well."""
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        work()
    except OdefinderError as error:
        print(f"  {type(error).__name__}: {error}", flush=True)
    return time.process_time() - cpu, time.perf_counter() - wall


def fit_times(chosen: list[System], sigma: float, seconds: float, points: int = GROWN) -> np.ndarray:
    """(fits, 2): CPU and wall seconds, with a budget of this many seconds."""
    how = FindSettings(time_budget=seconds)
    times = []
    for seed, system in enumerate(chosen):
        observed = system.observed(points, sigma, seed)
        if observed is not None:
            t, x = observed
            data = from_arrays(x, t)
            times.append(timed(lambda: find(data, how)))  # noqa: B023 (called at once)
    return np.array(times).reshape(-1, 2)


def show(title: str, times: np.ndarray) -> None:
    """Print median, 95th percentile and largest."""
    if len(times) == 0:
        return
    parts = [
        f"{name} median {np.median(column):.2f}, 95 % {np.percentile(column, 95):.2f}, most {max(column):.2f}"
        for name, column in zip(("CPU", "wall"), times.T, strict=True)
    ]
    print(f"{title:28} {len(times):3} fits, seconds: {parts[0]}; {parts[1]}", flush=True)


def fits(chosen: list[System], seconds: float) -> None:
    """Default settings, all systems."""
    for sigma in SIGMAS:
        times = {s.name: fit_times([s], sigma, seconds) for s in chosen}
        show(f"sigma {sigma:g}", np.concatenate(list(times.values())))
        for dimension in sorted({s.dimension for s in chosen}):
            own = [times[s.name] for s in chosen if s.dimension == dimension]
            show(f"sigma {sigma:g}, {dimension}-D", np.concatenate(own))


def few(chosen: list[System], dimension: int, count: int = 2) -> list[System]:
    """The first ones of a dimension."""
    return [s for s in chosen if s.dimension == dimension][:count]


def growth(chosen: list[System], _: float) -> None:
    """With a budget too large to matter: by points (of 2-D systems), and by dimension."""
    for sigma in SIGMAS:
        for points in POINTS:
            show(f"sigma {sigma:g}, {points} points", fit_times(few(chosen, 2), sigma, UNHURRIED, points))
        for dimension in range(1, 7):
            show(f"sigma {sigma:g}, {dimension}-D", fit_times(few(chosen, dimension), sigma, UNHURRIED))


def budget(chosen: list[System], _: float) -> None:
    """How far fits that would take longer overrun small budgets."""
    large = [s for dimension in (3, 6) for s in few(chosen, dimension, 1)]
    for points in (GROWN, POINTS[-1]):
        for seconds in BUDGETS:
            times = np.concatenate([fit_times(large, sigma, seconds, points) for sigma in SIGMAS])
            show(f"budget {seconds:g} s, {points} points", times)


# ---------------------------------------------------------------- stages

STAGES: dict[str, list[tuple[Any, str]]] = {
    "states": [
        (prepared, "estimate_states"),
        (searching, "estimate_states"),
        (searching, "states_of_model"),
    ],
    "windows": [(finding, "search_windows"), (finding, "defeats")],
    "decoding": [(proposals.Reading, "of"), (proposals, "decode")],
    "sparse regression": [(searching, "propose"), (searching, "propose_polynomials")],
    "equations in integral form": [(equations, "match_component")],
    "fits on trajectories": [
        (searching, "fit_constants"),
        (fitted, "fit_constants"),
        (fitted, "fit_segments"),
        (fitted, "fit_growing"),
    ],
    "recombination and moves": [(searching.Search, "combine"), (searching.Search, "search_around")],
    "scoring by the network": [(searching.Search, "rescored")],
    "rounding and digits": [(explanations, "_rounded"), (explanations, "with_digits")],
    "what is said": [(finding, "outcome_of")],
}


@contextmanager
def stage_clock() -> Iterator[dict[str, float]]:
    """CPU seconds of each stage, without those of the stages inside it."""
    seconds: dict[str, float] = defaultdict(float)
    running: list[float] = []  # what the stages inside each running one have taken

    def clocked(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            running.append(0.0)
            begin = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.process_time() - begin
                seconds[stage] += spent - running.pop()
                if running:
                    running[-1] += spent

        return run

    with ExitStack() as patches:
        for stage, places in STAGES.items():
            for owner, name in places:
                patches.enter_context(patch.object(owner, name, clocked(stage, getattr(owner, name))))
        yield seconds


def stages(chosen: list[System], seconds: float) -> None:
    """The share of each stage, over all systems together."""
    for sigma in SIGMAS:
        with stage_clock() as spent:
            total = fit_times(chosen, sigma, seconds)[:, 0].sum()
        spent["the rest"] = total - sum(spent.values())
        print(f"sigma {sigma:g}: {total:.1f} CPU s of {len(chosen)} fits, in %")
        for stage, own in sorted(spent.items(), key=lambda pair: -pair[1]):
            print(f"  {stage:28} {100 * own / total:5.1f}", flush=True)


# ---------------------------------------------------------------- fresh processes

MEMORY = """
import re, sys
import numpy as np
from odefinder import ODEFormer, ODESystem
points, dimension, sigma = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
names = [f"x{i}" for i in range(dimension)]
chain = "; ".join(f"{a}' = -0.5*{a} + {names[i - 1]}*(1 - {a})" for i, a in enumerate(names))
t = np.linspace(0.0, 10.0, points)
x = ODESystem.from_text(chain).simulate(np.linspace(0.1, 0.9, dimension), t)
x = x * (1.0 + sigma * np.random.default_rng(0).normal(size=x.shape))
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
before = peak()
ODEFormer(time_budget=60.0).fit(x, t)
print(f"{peak():.0f} MiB, {before:.0f} of them before the fit")
"""


def memory(*_: Any) -> None:
    """Peak resident memory (Linux) of a process that does one fit."""
    if not os.path.exists("/proc/self/status"):
        print("memory is measured on Linux only")
        return
    for dimension in (2, 6):
        for sigma in SIGMAS:
            for points in (POINTS[0], POINTS[2], POINTS[-1], 100_000):
                given = [str(points), str(dimension), str(sigma)]
                done = subprocess.run(
                    [sys.executable, "-c", MEMORY, *given], capture_output=True, text=True, check=True
                )
                print(f"{dimension}-D, sigma {sigma:g}, {points:6} points: {done.stdout.strip()}", flush=True)


def imports(*_: Any) -> None:
    """Seconds of fresh processes beyond those of a bare interpreter; medians."""

    def seconds(*command: str) -> tuple[float, float]:
        times = []
        for _ in range(REPEATS + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            wall = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall))
        cpu, wall = np.median(times[1:], axis=0)  # the first reads from the disk
        return float(cpu), float(wall)

    bare = seconds("-c", "pass")
    print(f"{'bare interpreter':40} CPU {bare[0]:.3f}   wall {bare[1]:.3f} s")
    for name, command in {
        "import odefinder": ("-c", "import odefinder"),
        "from odefinder import ODESystem": ("-c", "from odefinder import ODESystem"),
        "from odefinder import ODEFormer": ("-c", "from odefinder import ODEFormer"),
        "  of which: from sklearn import base": ("-c", "from sklearn import base"),
        "  of which: import pandas, numba": ("-c", "import pandas, numba"),
        "odefinder --help": ("-m", "odefinder", "--help"),
    }.items():
        cpu, wall = seconds(*command)
        print(f"{name:40} CPU {cpu - bare[0]:.3f}   wall {wall - bare[1]:.3f} s", flush=True)


# ---------------------------------------------------------------- pysindy


def sindy(chosen: list[System], seconds: float) -> None:
    """Our seconds relative to those of pysindy, with its defaults and with a grid of settings."""
    if find_spec("pysindy") is None:
        print("pysindy is not installed: pip install pysindy")
        return
    for sigma in SIGMAS:
        ours, plain, grid = [], [], []
        for seed, system in enumerate(chosen):
            observed = system.observed(GROWN, sigma, seed)
            if observed is not None:
                t, x = observed
                ours.append(timed(lambda: find(from_arrays(x, t), FindSettings(time_budget=seconds))))  # noqa: B023
                plain.append(timed(lambda: sindy_default(t, x)))  # noqa: B023 (called at once)
                grid.append(timed(lambda: sindy_grid(t, x)))  # noqa: B023
        for name, other in (("default", plain), ("grid", grid)):
            show(f"sigma {sigma:g}, pysindy {name}", np.array(other))
            ratio = np.median(np.array(ours)[:, 0] / np.array(other)[:, 0])
            print(f"  a fit of ours takes {ratio:.3g} times the CPU seconds of pysindy, {name} (median)")


def sindy_default(t: np.ndarray, x: np.ndarray) -> None:
    """pysindy.SINDy() with its defaults."""
    from pysindy import SINDy

    with quiet():
        SINDy().fit(x, t=t)


def sindy_grid(t: np.ndarray, x: np.ndarray) -> None:
    """84 settings fitted on the first 70 % and chosen by the derivatives of the rest, as in the paper."""
    from pysindy import SINDy
    from pysindy.differentiation import FiniteDifference, SmoothedFiniteDifference
    from pysindy.feature_library import FourierLibrary, PolynomialLibrary
    from pysindy.optimizers import STLSQ

    cut, best, score = int(0.7 * len(t)), None, -np.inf
    with quiet():
        for differentiation in (FiniteDifference, SmoothedFiniteDifference):
            libraries = [PolynomialLibrary(degree) for degree in (1, 2, 3, 4, 5)]
            libraries += [PolynomialLibrary(2) + FourierLibrary(), PolynomialLibrary(3) + FourierLibrary()]
            for library in libraries:
                for threshold in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
                    model = SINDy(
                        optimizer=STLSQ(threshold=threshold),
                        feature_library=library,
                        differentiation_method=differentiation(),
                    )
                    try:
                        found = model.fit(x[:cut], t=t[:cut]).score(x[cut:], t=t[cut:])
                    except (ValueError, np.linalg.LinAlgError):
                        continue
                    if found > score:
                        best, score = model, found
        if best is not None:
            best.fit(x, t=t)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence pysindy, which warns about every threshold that removes all terms."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


PARTS: dict[str, Callable[[list[System], float], None]] = {
    "fits": fits,
    "growth": growth,
    "stages": stages,
    "budget": budget,
    "memory": memory,
    "imports": imports,
    "sindy": sindy,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--set", default="synthetic", choices=["synthetic", "odebench"])
    parser.add_argument(
        "--budget", type=float, default=FindSettings.time_budget, help="seconds a fit may take"
    )
    parser.add_argument("--cases", type=int, default=4, help="synthetic systems of each dimension 1 to 6")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
    chosen = systems(options.set, options.cases)
    finding.prepare()
    fit_times(chosen[:1], 0.0, 1.0)  # loads the network
    for name in options.part:
        print(f"--- {name}: {PARTS[name].__doc__}")
        PARTS[name](chosen, options.budget)


if __name__ == "__main__":
    main()
