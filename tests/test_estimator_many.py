"""ODEFormer.fit_many: fits side by side, in threads, on a cluster; one that fails costs no other."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from odefinder import ODEFormer, sample
from odefinder.errors import DataError, SettingsError
from tests.test_estimator import TRUTH, T, X, quick


def test_many_fits_of_which_one_fails() -> None:
    data = [(X, T), (X[:1], T[:1]), sample("hare_lynx"), {"t": T, "x": X[:, 0], "y": X[:, 1]}]
    models = quick().fit_many(data, n_jobs=2, backend="threading")
    assert [hasattr(model, "system_") for model in models] == [True, False, True, True]
    assert isinstance(models[1].error_, DataError)
    with pytest.raises(NotFittedError, match="this fit failed: 1 point"):
        models[1].latex()
    assert str(models[0].system_).replace("x0", "x").replace("x1", "y") == str(models[3].system_)
    with pytest.raises(SettingsError, match="joblib does not know the back-end 'abacus'"):
        quick().fit_many(data, backend="abacus")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_many_fits_on_a_dask_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    data, model = [(X, T), (X[:1], T[:1])], quick(guess=TRUTH.to_text(), sparse=False)
    named = [(pd.DataFrame(x, columns=["x", "y"]), t) for x, t in data]
    with distributed.Client(**how), joblib.parallel_config(backend="dask"):
        there = model.fit_many(named)
    here = model.fit_many(named)
    assert str(there[0]) == str(here[0])
    assert [type(one[1].error_) for one in (there, here)] == [DataError, DataError]


def test_many_fits_on_ray() -> None:
    ray = pytest.importorskip("ray")
    register_ray = pytest.importorskip("ray.util.joblib").register_ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray"):
            models = quick().fit_many([(X, T), (X[:1], T[:1])], n_jobs=2)
    finally:
        ray.shutdown()
    assert [hasattr(model, "system_") for model in models] == [True, False]


def test_the_same_on_any_number_of_threads_alone_and_among_others() -> None:
    """As long as the time does not end the search, which the table says."""
    t = T[::4]
    pair = (X[::4, 0] * np.exp(-t), t)  # no equation of x alone explains it

    def told(model: ODEFormer) -> str:
        assert not model.equations_.attrs["early"]
        return model.equations_.drop(columns="errors").to_string()

    one, two = (ODEFormer(time_budget=600.0, samples=4, threads=threads) for threads in (1, 2))
    alone = told(one.copy().fit(*pair))
    assert told(two.copy().fit(*pair)) == alone
    assert [told(model) for model in one.fit_many([pair, pair], n_jobs=2)] == [alone, alone]
