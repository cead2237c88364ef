"""What is said about states that nobody measured."""

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.data.arrays import from_arrays
from odefinder.inference.unmeasured import turning_notes

T = np.linspace(0.0, 10.0, 60)
NOISE = np.random.default_rng(1).normal(size=60)


def notes(values: np.ndarray, noise: float) -> list[str]:
    return turning_notes(from_arrays(values[:, None], T, ["x"]), np.array([noise]))


def test_one_variable_that_oscillates_is_not_alone() -> None:
    (note,) = notes(np.cos(2.0 * T) + 0.1 * NOISE, 0.1)
    assert "order=2" in note
    assert "hidden=1" in note


def test_noise_on_a_plateau_is_no_oscillation() -> None:
    """The noise of the largest values, 0.1, is more than that of all of them."""
    growth = 5.0 / (1.0 + 24.0 * np.exp(-T))
    assert notes(growth * (1.0 + 0.02 * NOISE), 0.07) == []


def test_rates_that_may_change_places_are_named() -> None:
    """Of a drug that is swallowed, the blood does not tell absorption from elimination."""
    t = np.linspace(0.0, 12.0, 25)
    oral = ODESystem.from_text("depot' = -0.7*depot; c' = 0.14*depot - 0.3*c")
    blood = oral.simulate([100.0, 0.0], t)[:, 1:]
    known = "depot' = -ka*depot; c' = ka*depot/V - k*c"

    def exchanges(**bounds: object) -> list[str]:
        model = ODEFormer(known=known, hidden=1, fixed={"depot(0)": 100, "c(0)": 0}, **bounds)
        return [note for note in model.fit(blood, t, variables=["c"]).notes_ if "places" in note]

    (note,) = exchanges()
    assert note.startswith("ka and k may change places: ka = 0.3, V = 2.143, k = 0.7 describe the data as")
    assert exchanges(bounds={"ka": (0.5, None)}) == []
