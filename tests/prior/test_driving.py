"""Signals that drive an example."""

from __future__ import annotations

import numpy as np

from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.randomness import seed_stream
from odefinder.prior.casting import INPUT, Cast
from odefinder.prior.driving import draw_signals


def test_knots_of_inputs_are_in_order_from_zero_to_one() -> None:
    columns = np.zeros(MAX_DIMENSION, np.int64)
    cast = Cast(columns.astype(np.int8), columns - 1, columns + 1.0, np.array([INPUT, 1, 2]))
    stream = np.empty(4, np.uint64)
    for seed in range(200):
        seed_stream(stream, seed, 0)
        signals = draw_signals(stream, cast, 0.0)
        assert signals.knots[0] == 0.0
        assert signals.knots[-1] == 1.0
        assert (np.diff(signals.knots) > 0.0).all()
        assert np.isfinite(signals.after).all()
