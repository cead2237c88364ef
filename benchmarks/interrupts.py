"""Ctrl-C while functions are compiled, without a command line: is one lost, does the process crash?

    python benchmarks/interrupts.py --compiling 150   # small functions, one after the other in one process
    python benchmarks/interrupts.py --fits 12         # fits with an empty cache, a process each

A fit may end with KeyboardInterrupt or with its result, soon after, and leaves no process behind.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SOON = 0.5  # seconds after which a Ctrl-C counts as lost
LATEST = 45.0  # seconds after which a fit with an empty cache is interrupted, at the latest

FIT = """
import numpy as np
from odefinder import ODEFormer
t = np.linspace(0.0, 6.0, 60)
print("begins", flush=True)
try:
    model = ODEFormer(time_budget=2.0, network=False).fit(np.column_stack([np.exp(-t), np.cos(t)]), t)
    print("result" if not model.early_ else "result, early")
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""


def new_function(number: int, folder: Path) -> Callable[..., Any]:
    """A function that nobody has compiled yet."""
    from odefinder.compiling.jit import compiled

    text = f"def f(x, n):\n    s = {number}.0\n    for i in range(n):\n        s += x[i]\n    return s\n"
    path = folder / f"function_{number}.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    return compiled(names["f"])


def compiling(count: int, seed: int) -> bool:
    """Interrupt the compiler `count` times; whether each was heard."""
    import numba

    rng, x, heard = random.Random(seed), np.ones(5), 0
    with tempfile.TemporaryDirectory() as folder:
        settings: Any = numba.config
        settings.CACHE_DIR = folder
        for number in range(2):  # the second one is typical
            function, begin = new_function(number, Path(folder)), time.perf_counter()
            function(x, 5)
            usual = time.perf_counter() - begin
        for number in range(2, count + 2):
            function, sent = new_function(number, Path(folder)), threading.Event()

            def send(moment: float = rng.uniform(0.0, usual), sent: threading.Event = sent) -> None:
                time.sleep(moment)
                os.kill(os.getpid(), signal.SIGINT)
                sent.set()

            try:
                threading.Thread(target=send, daemon=True).start()
                function(x, 5)
                sent.wait()
                time.sleep(SOON)
            except KeyboardInterrupt:
                heard += 1
    print(f"compiling: {heard} of {count} heard")
    return heard == count


def fits(count: int, seed: int) -> bool:
    """Interrupt fits with an empty cache; whether each ended well."""
    rng, fine = random.Random(seed), True
    for _ in range(count):
        moment = rng.uniform(0.0, LATEST)
        with tempfile.TemporaryDirectory() as cache:
            process = subprocess.Popen(
                [sys.executable, "-c", FIT], env={**os.environ, "ODEFINDER_CACHE": cache}, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            begin = time.perf_counter()
            out, err = process.communicate()
            seconds, left = time.perf_counter() - begin, True
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                left = False
        fine &= process.returncode == 0 and not left and "Traceback" not in err
        print(f"after {moment:.1f} s: {out.strip()}, {seconds:.1f} s later, exit {process.returncode}{err}")
    return fine


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiling", type=int, default=0, help="how many functions")
    parser.add_argument("--fits", type=int, default=0, help="how many fits")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background inherit "ignore"
    fine = compiling(options.compiling, options.seed) if options.compiling else True
    fine &= fits(options.fits, options.seed) if options.fits else True
    sys.exit(not fine)


if __name__ == "__main__":
    main()
