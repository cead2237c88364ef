"""How much memory does reading a file take?  CSV files of 200 MB, each read in a process of its own.

    python benchmarks/reading.py          # a minute or two
    python benchmarks/reading.py --mb 20

Reading may take three times the size of the file, or of its numbers (8 bytes each) where these are longer
than their text.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from budgets import peak

VARIABLES = 6
ALLOWED = 3.0
FORMATS: dict[str, Callable[[float], str]] = {
    "all digits": repr,
    "four digits": lambda value: f"{value:.4g}",
    "whole numbers": lambda value: str(int(100.0 * value)),
}


def write(path: Path, size: float, shown: Callable[[float], str], name: str = "x") -> int:
    """A table of about `size` bytes; the number of its rows."""
    rng, rows = np.random.default_rng(0), 0
    with path.open("w", encoding="utf-8") as file:
        file.write("t," + ",".join(f"{name}{j}" for j in range(VARIABLES)) + "\n")
        while file.tell() < size:
            for values in rng.normal(size=(1000, VARIABLES)).tolist():
                file.write(f"{rows / 100}," + ",".join(map(shown, values)) + "\n")
                rows += 1
    return rows


def measure(path: str) -> None:
    """Read a file and print the seconds and the megabytes that it took."""
    from odefinder.data import from_arrays, read

    from_arrays(np.arange(5.0), np.arange(5.0))  # everything is imported
    peak()  # what importing took does not count
    before, begin = peak(), time.perf_counter()
    read(path)
    print(time.perf_counter() - begin, peak() - before)


def main() -> None:
    """Write and read each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, default=200.0, help="the size of each file")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        measure(options.read)
        return
    worst = 0.0
    kinds = [(kind, shown, "x") for kind, shown in FORMATS.items()]
    for kind, shown, name in [*kinds, ("wide characters in a title", repr, "Ω")]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.csv"
            rows = write(path, options.mb * 1e6, shown, name)
            size, numbers = path.stat().st_size / 2**20, rows * (VARIABLES + 1) * 8 / 2**20
            command = [sys.executable, __file__, "--read", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, mb = map(float, done.stdout.split())
        worst = max(worst, mb / max(size, numbers))
        print(
            f"{kind}: {size:.0f} MB of text, {numbers:.0f} MB of numbers: {seconds:.1f} s, {mb:.0f} MB = "
            f"{mb / size:.2f} times the text = {mb / numbers:.2f} times the numbers",
            flush=True,
        )
    print(f"at most {worst:.2f} times the file or the numbers; {ALLOWED:g} are allowed")
    sys.exit(worst > ALLOWED)


if __name__ == "__main__":
    main()
