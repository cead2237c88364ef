"""Writes the measured samples of src/odefinder/data/samples from copies of the public files they come from.

    python benchmarks/gallery_data.py FOLDER

FOLDER has single_pendulum.mat and double_pendulum.mat (dynamicslab/MultiArm-Pendulum, files
*DataForParameterEstimation.mat), ball_drops.xlsx, emps.csv, emps_pulses.csv, cascaded_tanks.csv,
boarding_school.txt and warfarin.csv; those that are not there are passed over.  Long records are thinned.
src/odefinder/data/samples/README.md says where they come from.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from odefinder.bench.laboratory.measured import EMPS_OFFSET, EMPS_SCALE, SHORTEST, sheets

OUT = Path(__file__).parents[1] / "src" / "odefinder" / "data" / "samples"
Tables = Iterator[tuple[str, str, pd.DataFrame]]  # name, what it is, table

ARMS = "github.com/dynamicslab/MultiArm-Pendulum, MIT (licences/multiarm_pendulum.txt)"
DRIVES = "github.com/forgi86/sysid-neural-continuous, Apache-2.0 (licences/sysid_neural_continuous.txt)"
BALLS = "github.com/briandesilva/discovery-of-physics-from-data, MIT (licences/ball_drops.txt)"
SCHOOL = "github.com/benmaier/boarding_school_SIR, MIT (licences/boarding_school.txt)"
PINENE = "github.com/MadNLP/COPSBenchmark.jl, MIT (licences/alpha_pinene.txt)"
WARFARIN = "github.com/MarcLavielle/Rsmlx, BSD-2 (licences/warfarin.txt)"

# Isomerization of alpha-pinene at 189.5 °C (Fuguitt and Hawkins 1947, Box et al. 1973): min, mass in %.
PINENE_TABLE = """
0 100 0 0 0 0
1230 88.35 7.3 2.3 0.4 1.75
3060 76.4 15.6 4.5 0.7 2.8
4920 65.1 23.1 5.3 1.1 5.8
7800 50.4 32.9 6.0 1.5 9.3
10680 37.5 42.7 6.0 1.9 12.0
15030 25.9 49.1 5.9 2.2 17.0
22620 14.0 57.4 5.1 2.6 21.0
36420 4.5 63.1 3.8 2.9 25.7
"""


def single_pendulum(path: Path) -> Tables:
    """Angles every 0.02 s: 4 s of the first and the third run, and of both runs for validation."""
    for name, which, chosen in (("", "id", (0, 2)), ("_test", "vad", (0, 1))):
        table = _runs(path, which, chosen, 4.0, 20, ["theta"])
        yield (
            f"single_pendulum{name}",
            f"angle of a swinging arm, pi is down; thinned to 50 Hz; {ARMS}",
            table,
        )


def double_pendulum(path: Path) -> Tables:
    """Angles and velocities every 0.01 s: three wild runs, and a fourth for validation."""
    names = ["theta1", "theta2", "theta1_dot", "theta2_dot"]
    about = f"angles and velocities of two arms, pi is down; thinned to 100 Hz; {ARMS}"
    for name, chosen in (("double_pendulum", (0, 1, 2)), ("double_pendulum_test", (3,))):
        yield name, about, _runs(path, "id", chosen, 2.6, 10, names)


def ball_drops(path: Path) -> Tables:
    """Heights of all balls, and the two drops of a light one that air slows down."""
    about = f"height of balls dropped from a bridge, 15 Hz; {BALLS}"
    rows = []
    for ball, numbers in sheets(path).items():
        table = np.array([row[:3] for row in numbers if len(row) >= 3 and np.isfinite(row[:3]).all()])
        for number in np.unique(table[:, 0]):
            drop = table[table[:, 0] == number]
            if len(drop) >= SHORTEST:
                rows += [(ball, int(number), round(t - drop[0, 1], 4), round(h, 3)) for _, t, h in drop]
    every = pd.DataFrame(rows, columns=["ball", "drop", "time (s)", "h (m)"])
    yield "ball_drops", about, every
    light = every[every["ball"] == "Whiffle Ball 2"]
    for number, name in ((1, "ball_drop"), (2, "ball_drop_test")):
        yield name, about, light.loc[light["drop"] == number, ["time (s)", "h (m)"]]


def emps(estimation: Path, pulses: Path) -> Tables:
    """Position (m) and motor voltage (V) every 0.02 s."""
    about = (
        f"position of a linear drive and its motor voltage; thinned to 50 Hz, position in metres; {DRIVES}"
    )
    for name, path in (("emps", estimation), ("emps_test", pulses)):
        table = pd.read_csv(path).iloc[::4]
        position = EMPS_OFFSET + EMPS_SCALE * table["q_meas"]
        columns = {
            "time (s)": table["time_exp"].round(4),
            "q (m)": position.round(6),
            "u (V)": table["u_in"].round(4),
        }
        yield name, about, pd.DataFrame(columns)


def tanks(path: Path) -> Tables:
    """Level of the lower tank and pump voltage every 4 s."""
    table = pd.read_csv(path)
    table = table[table["yEst"].notna()]
    times = np.arange(len(table)) * float(table["Ts"].iloc[0])
    for name, part in (("tanks", "Est"), ("tanks_test", "Val")):
        columns = {"time (s)": times, "y (V)": table[f"y{part}"], "u (V)": table[f"u{part}"]}
        about = f"level of the lower of two tanks and pump voltage, both in V; {DRIVES}"
        yield name, about, pd.DataFrame(columns)


def boarding_school(path: Path) -> Tables:
    """Boys confined to bed."""
    about = (
        f"boys confined to bed, influenza, 1978; 763 boys; read off a figure of Brit. Med. J. 1978; {SCHOOL}"
    )
    yield "boarding_school", about, pd.DataFrame(np.loadtxt(path), columns=["time (d)", "I"])


def warfarin(path: Path) -> Tables:
    """Concentrations after one oral dose, of those people who have nine or more of them."""
    table = pd.read_csv(path, na_values=".")
    seen = table[table["dv"].notna() & (table["dvid"] == 1)]
    seen = seen.groupby(["id", "time"], as_index=False)["dv"].mean()
    seen = seen[seen.groupby("id")["time"].transform("size") >= 9].rename(columns={"dv": "C"})
    doses = table[table["amt"] > 0].set_index("id")["amt"]
    seen.insert(1, "dose", seen["id"].map(doses))
    about = f"warfarin after one oral dose at time 0: mg, h, mg/l (O'Reilly and Aggeler 1968); {WARFARIN}"
    yield "warfarin", about, seen.rename(columns={"time": "time (h)"}).round(3)


def alpha_pinene() -> Tables:
    """Alpha-pinene, dipentene, allo-ocimen, pyronen and dimers."""
    numbers = np.array([line.split() for line in PINENE_TABLE.strip().splitlines()], dtype=np.float64)
    about = f"isomerization of alpha-pinene at 189.5 °C, mass in %; Box et al. 1973; {PINENE}"
    yield "alpha_pinene", about, pd.DataFrame(numbers, columns=["time (min)", "y1", "y2", "y3", "y4", "y5"])


MAKERS: dict[str, Callable[..., Tables]] = {
    "single_pendulum.mat": single_pendulum,
    "double_pendulum.mat": double_pendulum,
    "ball_drops.xlsx": ball_drops,
    "emps.csv emps_pulses.csv": emps,
    "cascaded_tanks.csv": tanks,
    "boarding_school.txt": boarding_school,
    "warfarin.csv": warfarin,
    "": alpha_pinene,
}


def _runs(
    path: Path, which: str, chosen: tuple[int, ...], span: float, step: int, names: list[str]
) -> pd.DataFrame:
    """Runs of pendulum arms, each from time 0."""
    from scipy.io import loadmat

    content = loadmat(path, squeeze_me=True)
    tables = []
    for number in chosen:
        rows = slice(0, round(span / float(content["dt"])) + 1, step)
        t, x = content[f"Time_{which}"][number][rows], content[f"Y_{which}"][number][: len(names), rows]
        head = {"run": number + 1, "time (s)": (t - t[0]).round(4)}
        tables.append(pd.DataFrame(head | dict(zip(names, x.round(5), strict=True))))
    return pd.concat(tables)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for names, make in MAKERS.items():
        paths = [folder / name for name in names.split()]
        if not all(path.exists() for path in paths):
            print(f"{names}: not there")
            continue
        for name, about, table in make(*paths):
            text = f"# {about[0].upper()}{about[1:]}.\n{table.to_csv(index=False, lineterminator=chr(10))}"
            (OUT / f"{name}.csv").write_text(text, encoding="utf-8")
            print(f"{name}.csv: {len(table)} rows, {len(text)} bytes")


if __name__ == "__main__":
    main()
