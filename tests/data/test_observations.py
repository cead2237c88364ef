import numpy as np

from odefinder.data.observations import Observations

NAN = np.nan
DATA = Observations(
    np.array([0.0, 1.0, 2.0, 0.0, 1.0]),
    np.array([[1.0, 5.0], [3.0, NAN], [NAN, 5.0], [1.0, 5.0], [3.0, 5.0]]),
    np.array([0, 3, 5]),
)


def test_missing_entries_do_not_count():
    assert DATA.dimension == 2
    assert DATA.count == 8
    assert DATA.scale.tolist() == [1.0, 1.0]  # a variable that never changes keeps the scale 1


def test_trajectories_are_separate():
    (t, x), (u, y) = DATA.trajectories()
    assert t.tolist() == [0.0, 1.0, 2.0]
    assert u.tolist() == [0.0, 1.0]
    assert x.shape == (3, 2)
    assert y[:, 0].tolist() == [1.0, 3.0]
