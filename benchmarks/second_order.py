"""Random systems of second order of which only positions are seen: do fits hold from another start?

    python benchmarks/second_order.py draw --cases 40 --out runs/second.json
    python benchmarks/second_order.py fit --set runs/second.json --out runs/new.jsonl
    python benchmarks/objective.py show runs/old.jsonl runs/new.jsonl

`draw` writes a set of the laboratory kind (`odefinder bench --set` reads it, too): oscillators and wells with
several kinds of friction, masses that depend on the position, central forces in the plane, and identical
units that are coupled.  `fit` fits the first 60 % of each record.  A reconstruction is a forecast of the
rest; a system generalizes if it holds from the other start.  Which version is measured is what PYTHONPATH
says.  Settings for data of second order are chosen here, never on the laboratory set.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SEED = 577_215_664
POINTS = 150
CROSSINGS = 8  # of the mean, in the whole record
STARTS, TRIES = 100, 20
Random = np.random.Generator


def size(rng: Random, low: float = 0.3, high: float = 3.0) -> float:
    """A constant, log-uniform, with three digits."""
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


def friction(rng: Random, v: str) -> str:
    """None, linear, quadratic or dry."""
    kind, c = rng.choice(["", "linear", "square", "dry"], p=[0.45, 0.35, 0.1, 0.1]), size(rng, 0.02, 0.2)
    return {
        "": "",
        "linear": f" - {c}*{v}",
        "square": f" - {c}*{v}*|{v}|",
        "dry": f" - {c}*tanh({size(rng, 20.0, 100.0)}*{v})",
    }[str(kind)]


def oscillator(rng: Random) -> tuple[list[str], bool]:
    """A spring, a pendulum or the like."""
    k, q = size(rng), size(rng)
    force = rng.choice(
        [f"-{k}*x - {q}*x**3", f"-{k}*sin({q}*x)", f"-{k}*tanh({q}*x)", f"{k}*x - {q}*x**3",
         f"-{k}*x/(1 + {q}*x**2)"]
    )  # fmt: skip
    return [f"x_dot' = {force}{friction(rng, 'x_dot')}"], False


def well(rng: Random) -> tuple[list[str], bool]:
    """Repulsion against attraction: exponentials or powers."""
    k, a, b = size(rng), size(rng), size(rng, 0.5, 2.0)
    kind = rng.integers(4)
    if kind == 0:
        force, positive = f"{k}*exp(-{a}*x) - {b}", False
    elif kind == 1:
        force, positive = f"{k}*exp(-{2 * a:.3g}*x) - {b}*exp(-{a}*x)", False
    elif kind == 2:
        far = int(rng.integers(1, 7))
        near = int(rng.integers(far + 1, 2 * far + 3))
        force, positive = f"{k}*x**(-{near}) - {b}*x**(-{far})", True
    else:
        force, positive = f"{k}*x**(-{int(rng.integers(1, 6))}) - {b}*x", True
    return [f"x_dot' = {force}{friction(rng, 'x_dot')}"], positive


def mass(rng: Random) -> tuple[list[str], bool]:
    """(a + x^2) x'' + x x'^2 = force, and x x'' + c x'^2 = force."""
    k, a = size(rng), size(rng)
    if rng.random() < 0.6:
        return [f"x_dot' = (-{k}*x - x*x_dot**2)/({a} + x**2){friction(rng, 'x_dot')}"], False
    p = int(rng.integers(2, 5))
    return [f"x_dot' = ({k}*x**(-{p}) - {a} - {size(rng, 0.5, 2.0)}*x_dot**2)/x"], True


def central(rng: Random) -> tuple[list[str], bool]:
    """A force towards the origin of a plane."""
    k, power = size(rng), float(rng.choice([-2.0, -1.5, -1.5, -1.25, -1.0, -0.5, 0.5, 1.0]))
    soft = f" + {size(rng, 0.1, 1.0)}" if rng.random() < 0.25 else ""
    drag, turn = (size(rng, 0.02, 0.1) if rng.random() < 0.25 else 0.0), rng.random() < 0.15
    field = size(rng, 0.1, 0.5)
    lines = []
    for one, other, sign in (("x", "y", 1), ("y", "x", -1)):
        line = f"{one}_dot' = -{k}*{one}*(x**2 + y**2{soft})**({power})"
        line += f" - {drag}*{one}_dot" if drag else ""
        line += f" + {sign * field}*{other}_dot" if turn else ""
        lines.append(line)
    return lines, False


def units(rng: Random) -> tuple[list[str], bool]:
    """Two identical units and what couples them."""
    k, q, c = size(rng), size(rng), size(rng, 0.2, 1.0)
    own = str(rng.choice(["-{k}*{x}", "-{k}*sin({x})", "-{k}*{x} - {q}*{x}**3", "-{k}*{x} + {q}*{x}**2"]))
    pull = str(
        rng.choice(["{c}*({y} - {x})", "{c}*({y} - {x})**3", "{c}*sin({y} - {x})", "{c}*tanh({y} - {x})"])
    )
    lines = [
        f"{x}_dot' = " + (own + " + " + pull).format(k=k, q=q, c=c, x=x, y=y)
        for x, y in (("x", "y"), ("y", "x"))
    ]
    damping = size(rng, 0.02, 0.1)
    if rng.random() < 0.4:
        lines = [f"{line} - {damping}*{x}_dot" for line, x in zip(lines, "xy", strict=True)]
    return lines, False


FAMILIES: dict[str, tuple[Callable[[Random], tuple[list[str], bool]], float]] = {
    "oscillator": (oscillator, 0.2), "well": (well, 0.25), "mass": (mass, 0.1), "central": (central, 0.2),
    "units": (units, 0.25),
}  # fmt: skip


def entry(rng: Random, family: str, number: int) -> dict[str, Any] | None:
    """A random system with two starts; None if there are none from which it stays and moves."""
    from odefinder.system import ODESystem

    lines, positive = FAMILIES[family][0](rng)
    names = ["x", "y"][: len(lines)]
    equations = [*(f"{name}' = {name}_dot" for name in names), *lines]
    system = ODESystem.from_text(equations)
    for _ in range(STARTS):
        records = _records(rng, system, names, positive)
        if records is not None:
            return {
                "id": f"{family}-{number}", "name": family, "kind": "order 2", "equations": equations,
                "parameters": {}, "observed": names, "order": 2, "points": POINTS, **records,
            }  # fmt: skip
    return None


def _records(rng: Random, system: Any, names: list[str], positive: bool) -> dict[str, Any] | None:
    """Two starts and the time; None if the system runs off or hardly moves."""
    starts = []
    for _ in range(2):
        place = rng.uniform(0.6, 1.8, len(names)) if positive else rng.normal(0.0, 1.0, len(names))
        starts.append([round(float(one), 2) for one in (*place, *rng.normal(0.0, 0.6, len(names)))])
    t = np.linspace(0.0, 100.0, 4001)
    path = system.simulate(starts[0], t)
    if not np.isfinite(path).all():
        return None
    away = path[:, 0] - path[:, 0].mean()
    crossings = np.flatnonzero(away[1:] * away[:-1] < 0.0)
    if len(crossings) < CROSSINGS or crossings[CROSSINGS - 1] < 40:
        return None
    t_end = float(f"{t[crossings[CROSSINGS - 1]]:.3g}")
    t = np.linspace(0.0, t_end, POINTS)
    for start in starts:
        path = system.simulate(start, t)[:, : len(names)]
        if not np.isfinite(path).all() or np.abs(path).max() > 20.0 or path.std(axis=0).min() < 0.05:
            return None
        step = np.abs(np.diff(path, axis=0)).max(axis=0)
        if (step > 0.4 * np.ptp(path, axis=0)).any():  # passes the centre too closely
            return None
    return {"records": [{"start": one} for one in starts], "t_end": t_end}


def draw(options: argparse.Namespace) -> None:
    """Write random systems."""
    warnings.simplefilter("ignore")  # of systems that run off
    wanted, entries = options.families.split(","), []
    for number in range(options.cases):
        rng = np.random.default_rng([options.seed, number])
        shares = np.array([FAMILIES[name][1] for name in wanted])
        family = str(rng.choice(wanted, p=shares / shares.sum()))
        tried = (entry(rng, family, number) for _ in range(TRIES))
        if (found := next((one for one in tried if one is not None), None)) is not None:
            entries.append(found)
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(entries, indent=1), encoding="utf-8")
    print(f"{len(entries)} systems")


def fit(options: argparse.Namespace) -> None:
    """Fit what the file of results lacks."""
    from odefinder import ODEFormer
    from odefinder.bench.laboratory.entries import chosen, read_laboratory
    from odefinder.bench.laboratory.judging import GOOD, Model, judge
    from odefinder.bench.laboratory.tasks import make_task

    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    known = set()
    if out.exists():
        known = {json.loads(line)["key"] for line in out.read_text(encoding="utf-8").splitlines()}
    for lab in chosen(read_laboratory(Path(options.set)), options.systems):
        for noise in map(float, options.noise.split(",")):
            for split in range(options.starts):
                key = f"{lab.id}|{split}|{noise:g}"
                if key in known:
                    continue
                task = make_task(lab, split, noise)
                begin = time.process_time()
                model = ODEFormer(order=lab.order, time_budget=options.budget).fit(task.dataset)
                cpu = time.process_time() - begin
                scores = [
                    judge(Model(model.choose(k).system_, model.starts_), lab, lab.splits[split])
                    for k in range(min(3, len(model.equations_)))
                ]
                row = {
                    "key": key, "set": "second", "system": lab.id, "cell": f"{lab.name} {noise:g}",
                    "dimension": len(lab.observed), "cpu_s": cpu,
                    "reconstruction": (scores[0].forecast or -1.0) > GOOD,
                    "generalizes": [(score.other or -1.0) > GOOD for score in scores],
                    "weights": [float(one) for one in model.equations_["weight"][:3]],
                    "equations": str(model.choose(0).system_), "notes": model.notes_,
                }  # fmt: skip
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.set_defaults(run=draw)
    command.add_argument("--cases", type=int, default=40)
    command.add_argument("--families", default=",".join(FAMILIES))
    command.add_argument("--seed", type=int, default=SEED)
    command.add_argument("--out", required=True)
    command = commands.add_parser("fit")
    command.set_defaults(run=fit)
    command.add_argument("--set", required=True)
    command.add_argument("--systems", default=None, help="ids, with commas between them")
    command.add_argument("--noise", default="0", help="additive, relative to the spread")
    command.add_argument("--starts", type=int, default=1, help="of each system that are fitted")
    command.add_argument("--budget", type=float, default=40.0, help="seconds per fit")
    command.add_argument("--out", required=True)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
