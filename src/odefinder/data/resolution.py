"""How finely values were written: 0.25 in steps of 0.01, what a computer calculated in none that matter."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LOOKED_AT = 200  # values of a column
COMMON = 0.25  # share of the values with as many digits: others end in zeros, or came out of a calculation


def rounding(values: Floats) -> float:
    """The standard deviation of what was lost when values (N,) were written; 0 if there are none."""
    seen = values[np.isfinite(values)]
    seen = seen[np.unique(np.linspace(0, len(seen) - 1, min(len(seen), LOOKED_AT)).astype(int))]
    seen = seen[seen != 0.0]
    if not len(seen):
        return 0.0
    last = [Decimal(repr(value)).normalize().as_tuple().exponent for value in seen.tolist()]
    step = 10.0 ** float(np.quantile(np.array(last, float), COMMON, method="lower"))
    return step / float(np.sqrt(12.0))
