"""Tutorials: every script of examples/ is run when the site is built, and becomes a page with its output.

A page shows the script in pieces: its docstring as text, its code, what it printed and the figures it wrote.
Runs are cached by the content of the script, the package and its weights, so an unchanged tutorial is not run
again.  `ODEFINDER_TUTORIALS=off` leaves the output out, for a quick check of the links.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
EXAMPLES, PACKAGE, CACHE = ROOT / "examples", ROOT / "src" / "odefinder", ROOT / ".cache" / "tutorials"
TIMEOUT = 600  # seconds, the compilation on a new machine included

# The order of the pages, and their titles; the navigation of mkdocs.yml lists the same.
TITLES = {
    "lynx_and_hare": "Real measurements: hare and lynx",
    "noisy_csv": "A CSV file with noise and gaps",
    "several_trajectories": "Several trajectories",
    "pendulum_angle": "Second order: an angle without its velocity",
    "driven_motor": "Inputs and doses",
    "growth_conditions": "Conditions, and constants that vary",
    "unknown_force": "Explicit time: a force of unknown frequency",
    "errors_and_replicates": "Errors and replicates",
    "hidden_predator": "A variable nobody measured",
    "custom_operators": "Operators and guesses",
    "known_equations": "Known equations",
    "exports": "LaTeX, SymPy, SciPy and JSON",
    "own_system": "Would my system be found?",
    "systems_and_prior": "Systems and the prior",
}


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each example, and its figures."""
    if {path.stem for path in EXAMPLES.glob("*.py")} != set(TITLES):
        raise PluginError("docs/hooks/tutorials.py must list exactly the scripts of examples/")
    sources = {name: (EXAMPLES / f"{name}.py").read_text(encoding="utf-8") for name in TITLES}
    folders = {} if os.environ.get("ODEFINDER_TUTORIALS") == "off" else run_all(sources)
    for name, title in TITLES.items():
        source, folder = sources[name], folders.get(name)
        files.append(
            File.generated(config, f"tutorials/{name}.md", content=page(name, title, source, folder))
        )
        for figure in sorted(folder.glob("*.png")) if folder else ():
            files.append(
                File.generated(config, f"tutorials/{figure.name}", abs_src_path=str(figure.resolve()))
            )
    return files


def page(name: str, title: str, source: str, folder: Path | None) -> str:
    """The text of a tutorial; folder: what the script wrote."""
    introduction = ast.get_docstring(ast.parse(source)) or ""
    code = source[source.index('"""', 3) + 3 :].strip()
    parts = [f"# {title}", introduction, f"```python\n{code}\n```"]
    if folder is not None:
        parts += ["It prints", f"```text\n{(folder / 'output.txt').read_text(encoding='utf-8').strip()}\n```"]
        parts += [f"![What {figure.name} shows]({figure.name})" for figure in sorted(folder.glob("*.png"))]
    parts.append(f"The script is `examples/{name}.py`. It was run when this page was built.")
    return "\n\n".join(parts) + "\n"


def run_all(sources: dict[str, str]) -> dict[str, Path]:
    """The folder of every script: the first alone, because it may compile, then two at a time."""
    first, *others = sources
    folders = {first: run(first, sources[first])}
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda name: run(name, sources[name]), others)
        return folders | dict(zip(others, done, strict=True))


def run(name: str, source: str) -> Path:
    """The folder with what a script prints (output.txt) and draws."""
    key = hashlib.sha256(f"{state_of_the_package()}\n{source}".encode()).hexdigest()[:16]
    done = CACHE / f"{name}-{key}"
    if done.is_dir():
        return done
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(PACKAGE.parent)}
        ended = subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py")],
            cwd=scratch, env=environment, capture_output=True, text=True, timeout=TIMEOUT,
        )  # fmt: skip
        if ended.returncode != 0:
            raise PluginError(f"examples/{name}.py failed:\n{ended.stderr}")
        Path(scratch, "output.txt").write_text(ended.stdout, encoding="utf-8")
        for old in CACHE.glob(f"{name}-*"):
            shutil.rmtree(old)
        shutil.copytree(scratch, done)
    return done


@cache
def state_of_the_package() -> str:
    """Changes whenever the code or the weights of the package do."""
    content = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content.update(path.read_bytes())
    manifest = json.loads((PACKAGE / "network" / "weights" / "manifest.json").read_text())
    content.update(json.dumps(manifest, sort_keys=True).encode())
    return content.hexdigest()
