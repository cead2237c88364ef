"""Hidden states that do not move, or jitter, are not believed."""

import numpy as np

from odefinder.inference.choose.plausible import plausible
from tests.inference.propose.test_unseen import half_seen


def test_paths() -> None:
    data, truth = half_seen()
    assert plausible(truth, data, [1])
    still, jitter = truth.copy(), truth.copy()
    still[:, 1] = 1.0
    jitter[:, 1] = np.sin(60.0 * data.times)
    assert not plausible(still, data, [1])
    assert not plausible(jitter, data, [1])
    assert not plausible(np.full_like(truth, np.nan), data, [1])
