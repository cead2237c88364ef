"""Known signals that drive a system, as the integrator reads them.

Every signal is piecewise linear between knots and may jump at them: `before` is its value just before a
knot, `after` the one just after it.  Linear interpolation has equal ones; a held value repeats `after` in the
next `before`.  Outside of the knots the first and the last value hold.  Doses are jumps of states at knots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Signals(NamedTuple):
    """The inputs of one trajectory: K knots, I signals, D states.  None of them: K = I = 0."""

    knots: Floats  # (K,), strictly increasing
    before: Floats  # (K, I)
    after: Floats  # (K, I)
    doses: Floats  # (K, D), added to the states just after a knot; (K, 0) where there are none
