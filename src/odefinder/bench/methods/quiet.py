"""Silence around libraries that print and warn while they search."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import numpy as np


@contextmanager
def quiet() -> Iterator[None]:
    """No output, no warnings, no floating-point complaints; exceptions pass."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
