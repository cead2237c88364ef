"""A worker of a Dask cluster is killed in the middle: nothing is lost, nothing comes twice."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import odefinder
from odefinder import ODEFormer

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        yield client


def kill_one(client: Any) -> None:
    os.kill(min(client.run(os.getpid).items())[1], signal.SIGKILL)


def test_examples(client: Any, tmp_path: Path) -> None:
    how = {"count": 120, "shard_size": 10, "points": 20, "progress": False}

    def kill() -> None:
        while not list((tmp_path / "there").glob("shard-*.parquet")):
            time.sleep(0.01)
        kill_one(client)

    killer = threading.Thread(target=kill)
    killer.start()
    odefinder.generate(tmp_path / "there", backend="dask", **how)
    killer.join()
    odefinder.generate(tmp_path / "here", **how)
    there, here = (
        {path.name: path.read_bytes() for path in (tmp_path / place).glob("shard-*")}
        for place in ("there", "here")
    )
    assert there == here


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fits(client: Any) -> None:
    t = np.linspace(0.0, 2.0, 20)
    data = [(np.exp(-rate * t)[:, None], t) for rate in np.linspace(0.5, 2.0, 12)]
    killer = threading.Timer(0.5, kill_one, [client])
    killer.start()
    with joblib.parallel_config(backend="dask"):
        models = ODEFormer(network=False).fit_many(data)
    killer.join()
    assert len(models) == len(data)
    for model, (states, _) in zip(models, data, strict=True):
        np.testing.assert_array_equal(model.dataset_.states[0], states)
