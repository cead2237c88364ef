"""The estimator is scikit-learn's kind of thing without importing it."""

import pickle
import subprocess
import sys

import pytest
import sklearn.exceptions
from sklearn.base import clone
from sklearn.utils import get_tags

from odefinder import ODEFormer
from odefinder.errors import OdefinderError, SettingsError
from odefinder.estimator import NotFittedError


def test_parameters_can_be_read_set_copied_and_cloned() -> None:
    model = ODEFormer(samples=7, operators=["sin"])
    assert model.get_params()["samples"] == 7
    assert model.set_params(samples=9) is model
    for other in (model.copy(), clone(model)):
        assert other is not model
        assert other.get_params() == model.get_params()
    assert model.copy().operators is not model.operators
    assert repr(model) == "ODEFormer(operators=['sin'], samples=9)"
    with pytest.raises(SettingsError, match="no parameter 'sample'; it has bounds, conserve, explicit_time"):
        model.set_params(sample=1)


def test_tags_say_that_values_may_be_missing() -> None:
    assert get_tags(ODEFormer()).input_tags.allow_nan


def test_the_error_of_no_result_is_ours_and_theirs() -> None:
    with pytest.raises(NotFittedError) as caught:
        ODEFormer().latex()
    assert isinstance(caught.value, OdefinderError)
    assert isinstance(caught.value, sklearn.exceptions.NotFittedError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), NotFittedError)
    assert not hasattr(ODEFormer(), "equations_")


def test_importing_the_estimator_imports_nothing_that_a_fit_may_not_need() -> None:
    code = "import sys; from odefinder import ODEFormer; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {"sklearn", "pandas", "sympy", "matplotlib", "scipy.stats"}.isdisjoint(found.split())
