"""Ctrl-C while a command is still being imported: it ends at once, not with a traceback.

Importing this module begins that; `imported` ends it.
"""

from __future__ import annotations

import contextlib
import signal

_before = signal.getsignal(signal.SIGINT)


def _heed(handler: object) -> None:
    """Only Python's own handler is replaced, for a while; threads other than the main one cannot."""
    if _before is signal.default_int_handler:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


def imported() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt again."""
    _heed(_before)


_heed(signal.SIG_DFL)
