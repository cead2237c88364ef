"""Our own methods, on a system that all of them find."""

import pickle

import numpy as np
import pytest

from odefinder.bench.methods import METHODS
from odefinder.bench.methods.method import load_compiled
from odefinder.bench.metrics import trajectory_r2
from odefinder.bench.sets import load_set
from odefinder.errors import SettingsError
from odefinder.inference.propose.decode import Decoding

DECAY = load_set("odebench")[0]


def test_decoded_systems_are_in_the_units_of_the_data() -> None:
    truth = DECAY.trajectories[0]
    programs = [
        METHODS[name].fit(DECAY.t, truth, 0)
        for name in ("odefinder-decode", "odefinder-decode", "odefinder-opt")
    ]
    assert programs[0] == programs[1]  # the same seed
    decoded, _, fitted = (trajectory_r2(program, truth[0], DECAY.t, truth) for program in programs)
    assert 0.99 < decoded <= fitted + 1e-9


def test_settings_are_those_used() -> None:
    default = Decoding()
    for name in ("odefinder", "odefinder-network"):
        settings = METHODS[name].settings
        assert settings["samples"] == default.samples
        assert settings["temperature"] == default.temperature
    for method in METHODS.values():
        if method.name.startswith(("odefinder-decode", "odefinder-opt")):
            assert method.settings["samples"] == 50 or not method.listed  # as in the paper
            assert method.settings["temperature"] == 0.7


def test_other_numbers_of_samples() -> None:
    one = METHODS["odefinder-decode-1"]
    assert (one.settings["samples"], one.listed) == (1, False)
    again = pickle.loads(pickle.dumps(one))
    assert again.fit(DECAY.t, DECAY.trajectories[0], 0) == one.fit(DECAY.t, DECAY.trajectories[0], 0)


def test_the_oracle_has_to_be_told() -> None:
    oracle = METHODS["oracle"]
    with pytest.raises(SettingsError, match="has to be told"):
        oracle.fit(np.zeros(3), np.zeros((3, 1)), 0)
    assert oracle.told(DECAY.program).fit(np.zeros(3), np.zeros((3, 1)), 0) is DECAY.program


def test_what_methods_share_is_compiled() -> None:
    load_compiled()
