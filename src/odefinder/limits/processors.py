"""How many processors there are for this process, and how many threads linear algebra may take."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def linear_algebra(threads: int) -> AbstractContextManager[object]:
    """Inside it, NumPy's and SciPy's linear algebra takes this many threads at most.

    Matrices are small here: more threads wait for each other most of the time, and far longer where other
    processes are at work.
    """
    limited: AbstractContextManager[object] = _libraries().limit(limits=threads, user_api="blas")
    return limited


@cache
def _libraries() -> ThreadpoolController:
    """Looks for the libraries once."""
    return ThreadpoolController()
