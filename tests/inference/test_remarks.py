"""The sentences that come with a result."""

import numpy as np

from odefinder.data.observations import Observations
from odefinder.inference.remarks import Explanation, remarks, taken_for_constants
from odefinder.limits.alarm import Alarm
from odefinder.system import ODESystem

T = np.linspace(0.0, 6.0, 60)
DATA = Observations.joined([T], [np.sin(T)[:, None]])


def explained(text: str, r2: float, weight: float = 1.0) -> Explanation:
    system = ODESystem.from_text(text)
    return Explanation(system, np.full((1, system.dimension), 0.1), r2, 0.0, weight, "sparse")


def test_the_note_on_smooth_data_needs_little_noise() -> None:
    for noise, expected in ((0.01, True), (0.4, False)):
        notes = remarks([explained("x' = 0*x", 0.8)], DATA, np.array([noise]))
        assert any("misses clear structure" in note for note in notes) == expected


def test_equally_good_systems_are_counted() -> None:
    several = [explained("x' = -x", 0.99, weight) for weight in (0.5, 0.3, 0.15, 0.04)]
    assert any("3 different systems" in note for note in remarks(several, DATA, np.zeros(1)))


def test_a_bad_fit_is_called_bad() -> None:
    assert any("badly (R2 = 0.20)" in note for note in remarks([explained("x' = -x", 0.2)], DATA, np.ones(1)))
    assert any("(no R2)" in note for note in remarks([explained("x' = -x", -np.inf)], DATA, np.ones(1)))


def test_a_system_that_runs_away_from_nearby_is_named() -> None:
    notes = remarks([explained("x' = 5*x", 0.99)], DATA, np.ones(1))
    assert any("runs away" in note for note in notes)
    assert remarks([explained("x' = -x", 0.99)], DATA, np.ones(1)) == []
    with Alarm(0.0):  # then no simulation arrives anywhere
        assert remarks([explained("x' = -x", 0.99)], DATA, np.ones(1)) == []


def test_a_search_that_time_ended_says_nothing_about_the_data() -> None:
    (note,) = remarks([explained("x' = 0*x", 0.8)], DATA, np.array([0.01]), early=True)
    assert "time was the limit" in note


def test_names_that_became_constants_are_listed() -> None:
    assert taken_for_constants([], ["x"]) == []
    (note,) = taken_for_constants(["k"], ["x"])
    assert note == "k is not a column of the data and was taken for an unknown constant."
    (note,) = taken_for_constants(["k", "g", "i"], ["S", "I"])
    assert note.startswith("k, g and i are not columns")
    assert note.endswith("i: did you mean 'I'?")
