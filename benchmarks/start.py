"""How quickly the door opens: the first start on a machine, and every later one.

    python benchmarks/start.py [--repeat 3]

Everything is measured in fresh processes, with a cache of compiled functions of its own: empty at first, then
as the first start left it.  CPU seconds are user and system time of a process and its children.  The smallest
of the repeated measurements is printed, as others disturb in one direction only; the cold start runs once.
Memory is the peak resident size of each process; what the libraries of both share is counted in both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from odefinder.compiling.cache import VARIABLE
from odefinder.data import sample_path

FIT = """
import json, resource, time
import numpy as np
from odefinder import ODEFormer
from odefinder.inference.warmup import compile_first

def megabytes():
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return [resource.getrusage(one).ru_maxrss // 1024 for one in who]

t = np.linspace(0.0, 10.0, 100)
X = np.stack([np.exp(-t / 3.0), np.cos(t)], axis=1)
seconds = []
start = time.perf_counter()
compile_first()  # as the first fit does
compiling = megabytes()
for _ in range({fits}):
    ODEFormer().fit(X, t)
    seconds.append(time.perf_counter() - start)
    start = time.perf_counter()
print(json.dumps({{"fits": seconds, "compiling": compiling, "fitting": megabytes()[0]}}))
"""


def timed(arguments: list[str], cache: Path) -> tuple[float, float, str]:
    """Wall and CPU seconds of a process and its children, and what it printed."""
    environment = {**os.environ, VARIABLE: str(cache)}
    wall, before = time.perf_counter(), os.times()
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - wall, cpu, done.stdout


def python(code: str, cache: Path) -> tuple[float, float, str]:
    """The same of Python code in a fresh interpreter."""
    return timed([sys.executable, "-c", code], cache)


def cold_start(cache: Path) -> None:
    """Empty cache to the result of the first fit."""
    wall, cpu, printed = python(FIT.format(fits=1), cache)
    seen = json.loads(printed)
    print(f"cold start to the first result   {wall:6.1f} s wall  {cpu:6.1f} s CPU, aims 25 and 45")
    own, child = seen["compiling"]
    print(f"peak memory of compiling         {own:6d} MB here, {child} MB in the other process, aim 500")
    print(f"peak memory of the first fit     {seen['fitting']:6d} MB")


def first_fit(cache: Path, repeat: int) -> None:
    """How much longer the first fit of a process takes than the second, with a warm cache."""
    pairs = [json.loads(python(FIT.format(fits=2), cache)[2])["fits"] for _ in range(repeat)]
    first, second = min(pairs, key=lambda pair: pair[0] - pair[1])
    print(f"first fit of a warm process      {first:6.2f} s, the second {second:.2f} s:", end=" ")
    print(f"{first - second:.2f} s more, aim 0.3")


def importing(cache: Path, repeat: int) -> None:
    """`from odefinder import ODEFormer`, without what the bare interpreter takes."""
    bare = min(python("pass", cache)[1] for _ in range(repeat))
    whole = min(python("from odefinder import ODEFormer", cache)[1] for _ in range(repeat))
    print(f"import of ODEFormer              {whole - bare:6.2f} s CPU beyond the interpreter, aim 0.7")


def command(cache: Path, repeat: int) -> None:
    """`odefinder fit` of data that come with the package."""
    arguments = [sys.executable, "-m", "odefinder", "fit", str(sample_path("hare_lynx"))]
    wall, cpu, _ = min((timed(arguments, cache) for _ in range(repeat)), key=lambda run: run[1])
    print(f"odefinder fit hare_lynx.csv      {wall:6.2f} s wall  {cpu:6.2f} s CPU, aim 3.5")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, help="measurements of each warm start")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="odefinder-start-") as folder:
        cache = Path(folder)
        cold_start(cache)
        first_fit(cache, options.repeat)
        importing(cache, options.repeat)
        command(cache, options.repeat)


if __name__ == "__main__":
    main()
