"""`odefinder doctor`: whether everything is there and works."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from odefinder.cli.exits import FAILED, plain_errors
from odefinder.errors import OdefinderError

PACKAGES = (
    "numpy", "scipy", "numba", "scikit-learn", "pandas", "sympy", "onnxruntime", "matplotlib", "torch",
)  # fmt: skip
TRUTH = "x' = 2*x - x*y; y' = x*y - y"


def doctor(
    test: Annotated[bool, typer.Option(help="Fit a known system, too.")] = True,
) -> None:
    """Show versions, weights, runtime and threads, and time a fit of a known system."""
    with plain_errors():
        fine = True
        for name, check in _checks(test):
            try:
                line, mark = check(), "ok"
            except (OdefinderError, OSError, ImportError) as problem:
                line, mark, fine = str(problem), "WRONG", False
            typer.echo(f"{mark:<6} {name:<12} {line}")
        if not fine:
            raise typer.Exit(FAILED)


def _checks(test: bool) -> list[tuple[str, Callable[[], str]]]:
    checks = [
        ("odefinder", _odefinder),
        ("python", lambda: f"{platform.python_version()} on {platform.platform()}"),
        ("packages", _packages),
        ("processor", _processor),
        ("weights", _weights),
        ("runtime", _runtime),
    ]
    return [*checks, ("self-test", _self_test)] if test else checks


def _odefinder() -> str:
    import odefinder

    return f"{odefinder.__version__} in {os.path.dirname(odefinder.__file__)}"


def _packages() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed" + " (not needed)" * (name == "torch"))
    return ", ".join(found)


def _processor() -> str:
    return f"{os.cpu_count()} cores; a fit uses 1 thread, fit_many as many processes as n_jobs says"


def _weights() -> str:
    from odefinder.network.files import sha256, shipped_weights, verify

    path = shipped_weights()
    verify(path)
    return f"{path}, {path.stat().st_size / 2**20:.1f} MiB, sha256 {sha256(path)[:16]}... as released"


def _runtime() -> str:
    from odefinder.network.loading import load_runtime

    begin = time.perf_counter()
    network = load_runtime().settings
    size = f"{network.encoder_layers} + {network.decoder_layers} layers of width {network.width}"
    return f"onnxruntime; the network, {size}, loaded in {time.perf_counter() - begin:.2f} s"


def _self_test() -> str:
    import numpy as np

    from odefinder.errors import NoSystemError
    from odefinder.estimator import ODEFormer
    from odefinder.inference.warmup import prepare
    from odefinder.system import ODESystem

    begin = time.perf_counter()
    prepare()
    prepared = time.perf_counter()
    t = np.linspace(0.0, 8.0, 100)
    truth = ODESystem.from_text(TRUTH)
    model = ODEFormer().fit(truth.simulate([1.0, 0.5], t), t, variables=["x", "y"])
    seconds = time.perf_counter() - prepared
    found = "; ".join(str(model.system_).splitlines())
    if model.equations_["r2"][0] < 0.999:
        raise NoSystemError(f"{TRUTH} was simulated, but {found} was found")
    return f"{found} found in {seconds:.1f} s (prepared in {prepared - begin:.1f} s)"
