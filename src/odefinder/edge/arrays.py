"""Numbers as users give them, in whatever wraps them: one array of floats, or one error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import DataError


def numbers(values: Any, what: str) -> NDArray[np.float64]:
    """An array of real numbers."""
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError
        return array.astype(np.float64)
    except Exception:  # an object that poses as an array or a number may raise anything
        raise DataError(f"{what} must be an array of real numbers, with rows of equal length") from None
