"""Old paths of modules that documentation once showed; each still works and says where to look now.

This folder is on the search path of the package `odefinder` (see its `__init__`), so that
`odefinder.tokens` is found here.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module


def moved(old: str, new: str) -> None:
    """Let the module `new` answer to its `old` name, with a warning."""
    warnings.warn(f"{old} has moved to {new}; please import it from there", DeprecationWarning, stacklevel=3)
    sys.modules[old] = import_module(new)
