"""Build wheel and sdist, look into both, install the wheel into a new environment and fit there.

    make wheel

`python -m build` makes the sdist first and the wheel from it, so the sdist is known to build.  The new
environment has the core dependencies only; torch must not be among them.  Everything runs outside of the
checkout, so that the installed package is what is tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
NEEDED = (
    "odefinder/py.typed",
    "odefinder/network/weights/default.safetensors",
    "odefinder/network/weights/manifest.json",
    "odefinder/data/samples/hare_lynx.csv",
    "odefinder/data/samples/pendulum.csv",
    "odefinder/bench/odebench.json",
    "odefinder/bench/strogatz.json",
)
NEEDED_FOR_BUILDING = ("pyproject.toml", "README.md", "LICENSE", "tests/test_package.py")
SMALLEST_WEIGHTS = 2**20  # bytes: a pointer in place of the file would be smaller


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT), quiet=True)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as folder:
        python, command = new_environment(Path(folder))
        run(python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", str(wheel))
        for package in ("torch", "mkdocs"):
            absent = f"import importlib.util as u; assert u.find_spec({package!r}) is None"
            run(python, "-c", absent)
        run(command, "doctor", cwd=folder)
        sample = "from odefinder.data import sample_path; print(sample_path('hare_lynx'))"
        path = run(python, "-c", sample, cwd=folder, quiet=True).strip()
        fitted = run(command, "fit", path, "--save", "model.json", cwd=folder, quiet=True)
        if ">>>>" not in fitted or not Path(folder, "model.json").is_file():
            raise SystemExit(f"the installed odefinder did not fit its sample:\n{fitted}")
    print(f"{wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB) installs and fits; {sdist.name} builds.")


def check_wheel(path: Path) -> None:
    """Whether everything is there that is not Python."""
    with zipfile.ZipFile(path) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    require(path, NEEDED, set(sizes))
    if sizes["odefinder/network/weights/default.safetensors"] < SMALLEST_WEIGHTS:
        raise SystemExit(f"the weights in {path.name} are not the real file")
    if strange := [name for name in sizes if not name.startswith("odefinder")]:
        raise SystemExit(f"{path.name} holds what does not belong there: {', '.join(strange[:5])}")


def check_sdist(path: Path) -> None:
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    require(path, (*NEEDED_FOR_BUILDING, *(f"src/{name}" for name in NEEDED)), names)


def require(path: Path, needed: tuple[str, ...], names: set[str]) -> None:
    if missing := [name for name in needed if name not in names]:
        raise SystemExit(f"{path.name} lacks {', '.join(missing)}: see package-data in pyproject.toml")


def new_environment(folder: Path) -> tuple[str, str]:
    """The interpreter and the command odefinder of a new, empty environment."""
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    return str(scripts / "python"), str(scripts / "odefinder")


def run(*command: str, cwd: str | None = None, quiet: bool = False) -> str:
    """Run a command, which must succeed; what it prints, if quiet."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=quiet)
    if done.returncode != 0:
        said = f":\n{done.stdout}\n{done.stderr}" if quiet else ""
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}{said}")
    return done.stdout or ""


if __name__ == "__main__":
    main()
