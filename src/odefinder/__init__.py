"""From observed trajectories to the ordinary differential equations behind them, as formulas.

The public names are loaded on first use: `import odefinder` alone is quick and needs nothing compiled.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odefinder.data import Dataset, read, sample
    from odefinder.data.corruption import corrupt
    from odefinder.estimator import ODEFormer
    from odefinder.expressions.program import Program
    from odefinder.prior.generation import generate
    from odefinder.system import ODESystem

    __version__: str

__all__ = [
    "Dataset", "ODEFormer", "ODESystem", "Program", "__version__", "corrupt", "generate", "read", "sample",
]  # fmt: skip

_HOME = {
    "Dataset": "odefinder.data",
    "ODEFormer": "odefinder.estimator",
    "ODESystem": "odefinder.system",
    "Program": "odefinder.expressions.program",
    "corrupt": "odefinder.data.corruption",
    "generate": "odefinder.prior.generation",
    "read": "odefinder.data",
    "sample": "odefinder.data",
}


__path__.append(f"{__path__[0]}/moved")  # the old paths of modules


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("odefinder")
    else:
        raise AttributeError(f"module 'odefinder' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
