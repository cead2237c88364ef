"""Batches from another process are those of the stream itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from odefinder.errors import SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.prior.batches import BatchStream
from odefinder.prior.presets import prior_preset
from odefinder.training.feed import Feed

STREAM = {
    "prior": prior_preset("default"),
    "vocabulary": Vocabulary.preset("coarse"),
    "points": (40,),
    "lengths": (64, 128),
    "batch_size": 32,
    "seed": 3,
    "threads": 1,
}


def test_the_batches_and_states_are_those_of_the_stream() -> None:
    with BatchStream(**STREAM) as stream, Feed(**STREAM) as feed:
        for _ in range(3):
            expected, found = next(stream), next(feed)
            np.testing.assert_array_equal(expected.index, found.index)
            np.testing.assert_array_equal(expected.targets, found.targets)
            assert stream.state.to_dict() == feed.state.to_dict()


def test_an_error_there_is_raised_here() -> None:
    with Feed(**STREAM | {"batch_size": 0}) as feed, pytest.raises(SettingsError, match="batch_size"):
        next(feed)


ORPHAN = """
import os, sys
from tests.training.test_feed import STREAM, Feed
if __name__ == "__main__":
    feed = Feed(**STREAM)
    next(feed)
    print(feed._process.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_nothing_is_left_behind_by_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    pid = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the process that draws examples outlived its parent")
