"""The methods that are compared: ours and the baselines, each family in its own module.

A module of this folder defines `METHODS`, a tuple of `Method`; to add one, put its name in MODULES.
"""

from importlib import import_module

from odefinder.bench.methods.method import Method

MODULES = (
    "ours",
    "sindy_simulation",
    "sindy",
    "operon",
    "pysr",
    "ffx",
    "proged",
    "genetic",
    "oracle",
)

METHODS: dict[str, Method] = {
    method.name: method for module in MODULES for method in import_module(f"{__name__}.{module}").METHODS
}
